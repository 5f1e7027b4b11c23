/* Writes verdicts and their tables as JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "store/columns.h"
#include "store/packed.h"

static json_t *column_json(const store_column *c, const hd_verdict *v) {
  const char *field = (const char *)v + c->offset;
  switch (c->type) {
  case STORE_TEXT: return json_string(field);
  case STORE_REAL: return json_real(*(const double *)field);
  case STORE_U32: return json_integer(*(const uint32_t *)field);
  default: return json_integer(*(const int64_t *)field);
  }
}

typedef struct export {
  json_t *verdicts, *tables;
  HD_VEC(store_table) named; /* names only */
  bool failed, predicted;    /* predicted: some are */
}
export;

static bool is_named(const export *e, const char *name) {
  for (size_t i = 0; i < e->named.n; i++)
    if (strcmp(e->named.data[i].name, name) == 0) return true;
  return false;
}

static bool append(void *ctx, const hd_verdict *v) {
  export *e = ctx;
  json_t *o = json_object();
  store_table t = {0};
  for (int i = 0; i < STORE_COLUMNS; i++)
    json_object_set_new(o, store_columns[i].name, column_json(&store_columns[i], v));
  e->predicted |= v->confidence == 0;
  e->failed |= json_array_append_new(e->verdicts, o) != 0;
  if (hd_verdict_table_of(v->plan, t.name) && !is_named(e, t.name)) e->failed |= !hd_vec_push(&e->named, t);
  return !e->failed;
}

static hd_status append_table(export *e, hd_store *s, const char *name, hd_diag *d) {
  hd_buf packed = {0}, text = {0};
  uint64_t n = 0;
  bool found;
  hd_status st = store_packed_table(s, name, &packed, &n, &found, d);
  if (st == HD_OK && !found)
    st = hd_fail(d, HD_ERR_INPUT, "the store has verdicts, but not their table %s", name);
  if (st == HD_OK) {
    packed_to_text(packed.data ? packed.data : "", packed.len, &text);
    json_t *o = text.failed ? NULL
                            : json_pack("{s:s, s:I, s:s}", "name", name, "tasks", (json_int_t)n, "packed",
                                        text.data ? text.data : "");
    if (json_array_append_new(e->tables, o) != 0) st = hd_nomem(d);
  }
  hd_buf_free(&packed);
  hd_buf_free(&text);
  return st;
}

hd_status hd_store_export(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d) {
  export e = {.verdicts = json_array(), .tables = json_array()};
  json_t *root =
      json_pack("{s:i, s:O, s:O}", STORE_MARK, STORE_FORMAT, "verdicts", e.verdicts, "tables", e.tables);
  hd_status st = root ? hd_store_each(s, f, append, &e, d) : HD_ERR_NOMEM;
  for (size_t i = 0; st == HD_OK && !e.failed && i < e.named.n; i++)
    st = append_table(&e, s, e.named.data[i].name, d);
  if (e.predicted)
    json_object_set_new(root, "note",
                        json_string("Those of confidence 0 are predictions of a model: nothing "
                                    "has measured their gains."));
  char *text = st == HD_OK && !e.failed ? json_dumps(root, JSON_INDENT(2)) : NULL;
  if (text) {
    hd_buf_puts(out, text);
    hd_buf_putc(out, '\n');
  }
  if (!root || (st == HD_OK && (!text || out->failed))) st = hd_nomem(d);
  free(text);
  json_decref(root);
  json_decref(e.verdicts);
  json_decref(e.tables);
  hd_vec_free(&e.named);
  return st;
}
