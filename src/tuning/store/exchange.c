/* Reads verdicts and their tables from JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/columns.h"
#include "store/packed.h"

/* ---- Reading -------------------------------------------------------------------------------- */

static bool read_field(const store_column *c, const json_t *j, hd_verdict *v) {
  char *field = (char *)v + c->offset;
  switch (c->type) {
  case STORE_TEXT:
    if (!json_is_string(j) || json_string_length(j) >= c->size ||
        strlen(json_string_value(j)) != json_string_length(j))
      return false;
    memcpy(field, json_string_value(j), json_string_length(j) + 1);
    return true;
  case STORE_REAL:
    if (!json_is_number(j)) return false;
    *(double *)field = json_number_value(j);
    return true;
  case STORE_U32:
    if (!json_is_integer(j) || json_integer_value(j) < 0 || json_integer_value(j) > UINT32_MAX) return false;
    *(uint32_t *)field = (uint32_t)json_integer_value(j);
    return true;
  default:
    if (!json_is_integer(j)) return false;
    *(int64_t *)field = json_integer_value(j);
    return true;
  }
}

/* A file's place on one machine says nothing on another. */
static bool names_file(const char *plan) {
  static const char *const marks[] = {"order=table:", "threads=table:", "threads=cta:table:"};
  char own[HD_DIGEST_HEX];
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (strstr(plan, marks[i])) return i > 0 || !hd_verdict_table_of(plan, own);
  return false;
}

static hd_status read_verdict(const json_t *o, size_t number, json_int_t format, const char *name,
                              hd_verdict *v, hd_diag *d) {
  memset(v, 0, sizeof *v);
  if (!json_is_object(o))
    return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "verdict %zu is no object", number);
  for (int i = 0; i < STORE_COLUMNS; i++) {
    const json_t *j = json_object_get(o, store_columns[i].name);
    if (store_columns[i].since > format) continue;
    if (!j)
      return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "verdict %zu lacks '%s'", number,
                        store_columns[i].name);
    if (!read_field(&store_columns[i], j, v))
      return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0,
                        "verdict %zu: '%s' is of the wrong type or too long", number, store_columns[i].name);
  }
  if (names_file(v->plan))
    return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0,
                      "verdict %zu: its plan names a file, which did not come with it: %.120s", number,
                      v->plan);
  return HD_OK;
}

static hd_status bad_table(const char *name, size_t number, const char *why, hd_diag *d) {
  return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "table %zu: %.600s", number, why);
}

static hd_status read_table(const json_t *o, size_t number, const char *name, store_table *t, hd_diag *d) {
  const json_t *own = json_object_get(o, "name"), *tasks = json_object_get(o, "tasks"),
               *packed = json_object_get(o, "packed");
  hd_diag e = {0};
  uint32_t *task;
  t->number = number;
  if (!json_is_string(own) || json_string_length(own) != HD_DIGEST_HEX - 1 || !json_is_integer(tasks) ||
      json_integer_value(tasks) <= 0 || !json_is_string(packed))
    return bad_table(name, number, "it needs a name, its tasks and what is packed", d);
  memcpy(t->name, json_string_value(own), sizeof t->name);
  t->n = (uint64_t)json_integer_value(tasks);
  if (!packed_from_text(json_string_value(packed), json_string_length(packed), &t->packed))
    return t->packed.failed ? hd_nomem(d) : bad_table(name, number, "what is packed is not base 64", d);
  hd_status st = packed_read(t->packed.data ? t->packed.data : "", t->packed.len, t->n, t->name, &task, &e);
  free(task);
  if (st == HD_ERR_INPUT) return bad_table(name, number, e.message, d);
  if (st != HD_OK && d) *d = e;
  return st;
}

/* Tasks of a launch, as hd_verdict_launch wrote it; 0: it did not. */
static uint64_t tasks_of(const char *launch) {
  uint32_t g[3];
  uint64_t n;
  if (sscanf(launch, "grid=%" SCNu32 "x%" SCNu32 "x%" SCNu32 " ", &g[0], &g[1], &g[2]) != 3) return 0;
  return __builtin_mul_overflow((uint64_t)g[0] * g[1], (uint64_t)g[2], &n) ? 0 : n;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const store_table *)a)->name, ((const store_table *)b)->name);
}

static hd_status match_table(const hd_verdict *v, size_t number, store_import *in, const char *name,
                             hd_diag *d) {
  store_table key = {0};
  if (!hd_verdict_table_of(v->plan, key.name)) return HD_OK;
  store_table *t = bsearch(&key, in->tables, in->n_tables, sizeof key, by_name);
  if (!t)
    return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "verdict %zu: its table %s is missing", number,
                      key.name);
  t->used = true;
  if (t->n == tasks_of(v->key.launch)) return HD_OK;
  return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0,
                    "verdict %zu: its table has %" PRIu64 " tasks, which is not what is launched: %.150s",
                    number, t->n, v->key.launch);
}

/* Every table that is named is there and fits, and every table that is there is named. */
static hd_status match_tables(store_import *in, const char *name, hd_diag *d) {
  hd_status st = HD_OK;
  qsort(in->tables, in->n_tables, sizeof *in->tables, by_name);
  for (size_t i = 0; st == HD_OK && i < in->n; i++) st = match_table(&in->verdicts[i], i + 1, in, name, d);
  for (size_t k = 0; st == HD_OK && k < in->n_tables; k++) {
    const store_table *t = &in->tables[k];
    if (k && strcmp(t->name, t[-1].name) == 0)
      st = bad_table(name, t->number > t[-1].number ? t->number : t[-1].number, "it comes twice", d);
    else if (!t->used)
      st = bad_table(name, t->number, "no verdict names it", d);
  }
  return st;
}

void store_import_free(store_import *in) {
  for (size_t i = 0; in->tables && i < in->n_tables; i++) hd_buf_free(&in->tables[i].packed);
  free(in->tables);
  free(in->verdicts);
  *in = (store_import){0};
}

static hd_status read_lists(const json_t *root, const char *name, store_import *out, hd_diag *d) {
  json_int_t format = json_integer_value(json_object_get(root, STORE_MARK));
  const json_t *verdicts = json_object_get(root, "verdicts"), *tables = json_object_get(root, "tables");
  if (format < STORE_FIRST_FORMAT || format > STORE_FORMAT || !json_is_array(verdicts) ||
      (format > STORE_FIRST_FORMAT && !json_is_array(tables)))
    return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "not an export of verdicts");
  out->n = json_array_size(verdicts);
  out->n_tables = json_array_size(tables);
  out->verdicts = calloc(out->n + 1, sizeof *out->verdicts);
  out->tables = calloc(out->n_tables + 1, sizeof *out->tables);
  if (!out->verdicts || !out->tables) return hd_nomem(d);
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < out->n; i++)
    st = read_verdict(json_array_get(verdicts, i), i + 1, format, name, &out->verdicts[i], d);
  for (size_t i = 0; st == HD_OK && i < out->n_tables; i++)
    st = read_table(json_array_get(tables, i), i + 1, name, &out->tables[i], d);
  return st == HD_OK ? match_tables(out, name, d) : st;
}

hd_status store_parse(const char *text, size_t len, const char *name, store_import *out, hd_diag *d) {
  json_error_t e;
  *out = (store_import){0};
  json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
  if (!root && len && text[0] == '<')
    return hd_fail_at(
        d, HD_ERR_INPUT, name, NULL, 0, 0,
        "is a page, not verdicts: predictions.json beside it, or what heddle verdicts export writes");
  if (!root)
    return hd_fail_at(d, HD_ERR_INPUT, name, text, len, e.position >= 0 ? (size_t)e.position : 0, "%s",
                      e.text);
  hd_status st = read_lists(root, name, out, d);
  json_decref(root);
  return st;
}
