/* A probe beside a GPU's file. */
#include <math.h>

#include "heddle/results.h"
#include "report/beside.h"
#include "report/fields.h"

/* Files' values are JSON's, but for words; "": there is none. */
static json_t *value_json(const char *text) {
  json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
  return v ? v : text[0] ? json_string(text) : json_null();
}

static bool is_alone(const hd_gpu_difference *k) { return !k->file[0] || !k->other[0]; }

static bool has_both(const void *row) { return !is_alone(row); }
static const hd_gpu_difference *key_of(const void *row) { return row; }
static json_t *file_json(const void *row) { return value_json(key_of(row)->file); }
static json_t *probed_json(const void *row) { return value_json(key_of(row)->other); }
static void put_key(const void *row, hd_buf *out) {
  const hd_gpu_difference *k = row;
  hd_buf_printf(out, "%s%s%s", k->table ? k->table : "", k->table ? "." : "", k->key);
}
static void put_difference(const void *row, hd_buf *out) {
  const double percent = key_of(row)->percent;
  if (isfinite(percent)) hd_buf_printf(out, percent != 0 ? "%+.1f%%" : "%.0f", percent);
}
static const char *verdict(const void *row) { return is_alone(row) || key_of(row)->agrees ? "" : "differs"; }

#define OF(member) MEMBER(hd_gpu_difference, member)
static const field key_fields[] = {
    {"table", .null = true, OF(table)},
    {"key", OF(key)},
    {.heading = "key", .put = put_key},
    {"file", .tree = file_json},
    {.heading = "file", .align = 'r', .has = report_is_said, OF(file)},
    {"probed", .tree = probed_json},
    {.heading = "probed", .align = 'r', .has = report_is_said, OF(other)},
    {"percent", .null = true, OF(percent)},
    {.heading = "difference", .align = 'r', .put = put_difference},
    {"agrees", .null = true, .when = has_both, OF(agrees)},
    {.heading = "", .text = verdict},
    {0},
};
static json_t *keys_json(const void *row) {
  const hd_gpu_comparison *c = &((const hd_probe_beside *)row)->keys;
  return report_rows_json(key_fields, c->keys, c->n, sizeof *c->keys);
}

#define ALL(member) MEMBER(hd_probe_beside, member)
static const field beside_fields[] = {
    {"file", ALL(file)},
    {"within_percent", ALL(percent)},
    {"agree", ALL(keys.agree)},
    {"differ", ALL(keys.differ)},
    {"not_in_file", ALL(keys.alone)},
    {"not_measured", ALL(keys.left_out)},
    {"keys", .tree = keys_json},
    {0},
};

json_t *report_beside_json(const hd_probe_beside *b) { return report_fields_json(beside_fields, b); }

void report_put_beside(const hd_probe_beside *b, hd_buf *out) {
  const hd_gpu_comparison *c = &b->keys;
  hd_buf_printf(out, "\nBeside %s:\n\n", b->file);
  report_put_rows(key_fields, c->keys, c->n, sizeof *c->keys, out);
  hd_buf_printf(out, "\n%u of %u keys agree within %g%%.\n", c->agree, c->agree + c->differ, b->percent);
  if (c->alone)
    hd_buf_printf(out, "%u more %s not in %s.\n", c->alone, c->alone == 1 ? "is" : "are", b->file);
  if (c->left_out)
    hd_buf_printf(out, "%u of its keys %s not measured.\n", c->left_out, c->left_out == 1 ? "was" : "were");
}
