/* Verdicts as JSON, and keys. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/columns.h"

static const char mark[] = "heddle_verdicts";
enum { FORMAT = 1 };

/* ---- Keys ----------------------------------------------------------------------------- */

void hd_verdict_kernel(const char *text, size_t len, const char *kernel, char out[HD_DIGEST_HEX]) {
  hd_digest h = hd_digest_begin();
  hd_digest_bytes(&h, text, len);
  hd_digest_text(&h, kernel);
  hd_digest_hex(&h, out);
}

void hd_verdict_launch(const uint32_t grid[3], const uint32_t block[3], uint32_t shared, const void *args,
                       size_t args_bytes, char out[192]) {
  char digest[HD_DIGEST_HEX] = "any";
  if (args) {
    hd_digest h = hd_digest_begin();
    hd_digest_bytes(&h, args, args_bytes);
    hd_digest_hex(&h, digest);
  }
  snprintf(out, 192,
           "grid=%" PRIu32 "x%" PRIu32 "x%" PRIu32 " block=%" PRIu32 "x%" PRIu32 "x%" PRIu32
           " shared=%" PRIu32 " args=%s",
           grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, digest);
}

/* ---- Writing ------------------------------------------------------------------------------ */

static json_t *column_json(const store_column *c, const hd_verdict *v) {
  const char *field = (const char *)v + c->offset;
  switch (c->type) {
  case STORE_TEXT: return json_string(field);
  case STORE_REAL: return json_real(*(const double *)field);
  case STORE_U32: return json_integer(*(const uint32_t *)field);
  default: return json_integer(*(const int64_t *)field);
  }
}

static bool append(void *ctx, const hd_verdict *v) {
  json_t *o = json_object();
  for (int i = 0; i < STORE_COLUMNS; i++)
    json_object_set_new(o, store_columns[i].name, column_json(&store_columns[i], v));
  return json_array_append_new(ctx, o) == 0;
}

hd_status hd_store_export(hd_store *s, const hd_store_filter *f, hd_buf *out, hd_diag *d) {
  json_t *list = json_array(), *root = json_pack("{s:i, s:O}", mark, FORMAT, "verdicts", list);
  hd_status st = root ? hd_store_each(s, f, append, list, d) : hd_fail(d, HD_ERR_NOMEM, "out of memory");
  char *text = st == HD_OK ? json_dumps(root, JSON_INDENT(2)) : NULL;
  if (text) {
    hd_buf_puts(out, text);
    hd_buf_putc(out, '\n');
  }
  if (st == HD_OK && (!text || out->failed)) st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
  free(text);
  json_decref(root);
  json_decref(list);
  return st;
}

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

static hd_status read_verdict(const json_t *o, size_t number, const char *name, hd_verdict *v, hd_diag *d) {
  memset(v, 0, sizeof *v);
  if (!json_is_object(o))
    return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "verdict %zu is no object", number);
  for (int i = 0; i < STORE_COLUMNS; i++) {
    const json_t *j = json_object_get(o, store_columns[i].name);
    if (!j)
      return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "verdict %zu lacks '%s'", number,
                        store_columns[i].name);
    if (!read_field(&store_columns[i], j, v))
      return hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0,
                        "verdict %zu: '%s' is of the wrong type or too long", number, store_columns[i].name);
  }
  return HD_OK;
}

hd_status store_parse(const char *text, size_t len, const char *name, hd_verdict **out, size_t *n,
                      hd_diag *d) {
  json_error_t e;
  *out = NULL;
  *n = 0;
  json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
  if (!root)
    return hd_fail_at(d, HD_ERR_INPUT, name, text, len, e.position >= 0 ? (size_t)e.position : 0, "%s",
                      e.text);
  const json_t *list = json_object_get(root, "verdicts");
  hd_status st = HD_OK;
  if (json_integer_value(json_object_get(root, mark)) != FORMAT || !json_is_array(list))
    st = hd_fail_at(d, HD_ERR_INPUT, name, NULL, 0, 0, "not an export of verdicts");
  size_t count = json_array_size(list);
  if (st == HD_OK && !(*out = calloc(count + 1, sizeof **out)))
    st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
  for (size_t i = 0; st == HD_OK && i < count; i++)
    st = read_verdict(json_array_get(list, i), i + 1, name, &(*out)[i], d);
  json_decref(root);
  if (st != HD_OK) {
    free(*out);
    *out = NULL;
    return st;
  }
  *n = count;
  return HD_OK;
}
