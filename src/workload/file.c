/* workload.toml -> hd_workload: every table has a list of its keys and one reader. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text/toml.h"
#include "workload/workload.h"

enum {
  MAX_BUFFERS = 256,
  MAX_LAUNCHES = 1 << 16, /* repetitions counted */
  MAX_ARGS = 512,         /* of one launch: 4 KB of 8-byte parameters */
  MAX_ALL_ARGS = 1 << 18, /* of all launches */
  MAX_FILE = 4 << 20,     /* bytes of workload.toml */
};
#define MAX_BYTES (1ull << 40) /* of all buffers together */
#define ITERATION "iteration"  /* 0, 1, ... in a repeated launch or loop */

/* What every current GPU can launch; shared memory is the most an sm_90 CTA may ask for. */
static const int64_t GRID_LIMIT[3] = {2147483647, 65535, 65535}, BLOCK_LIMIT[3] = {1024, 1024, 64};
enum { MAX_THREADS = 1024, MAX_SHARED = 227 << 10, MAX_REGISTERS = 255 };

static const char *const CATEGORIES[] = {"algorithm", "cache-line", "data", "write",
                                         "streaming"}; /* CLU 3.2 */

static const char *const TOP_KEYS[] = {"title", "paper",  "category", "source", "reference", "registers",
                                       "sizes", "ranges", "buffer",   "launch", NULL};
static const char *const RANGE_KEYS[] = {"least", "most", "step", NULL};
static const char *const BUFFER_KEYS[] = {"name",    "type", "count", "fill",    "seed",
                                          "compare", "abs",  "rel",   "atomics", NULL};
static const char *const LAUNCH_KEYS[] = {"kernel", "grid", "block", "shared", "args", "repeat", NULL};
static const char *const LOOP_KEYS[] = {"repeat", "body",
                                        NULL}; /* a [[launch]] with [[launch.body]] tables */
static const char *const BODY_KEYS[] = {"kernel", "grid", "block", "shared", "args", NULL};
static const char *const SCALAR_KEYS[] = {"type", "value", NULL};
static const char *const TENSOR_KEYS[] = {"tensormap",       "shape",  "strides",    "box",
                                          "element-strides", "offset", "interleave", "swizzle",
                                          "promotion",       "fill",   NULL};

typedef struct reader {
  const char *path, *text;
  size_t len;
  hd_diag *d;
  hd_arena *arena;
  hd_workload *w;
  wl_fill *fills;
  wl_names names;         /* parameters of the chosen size; in launches, `iteration` behind them */
  const char *const *set; /* "NAME=VALUE": in place of the size's own values */
  size_t n_set;
} reader;

/* ---- Places ------------------------------------------------------------------------- */

static size_t line_start(const reader *r, uint32_t line) {
  size_t at = 0;
  for (uint32_t i = 1; i < line; i++) {
    const char *nl = memchr(r->text + at, '\n', r->len - at);
    if (!nl) break;
    at = (size_t)(nl + 1 - r->text);
  }
  return at;
}

/* Offset of `key` where it is given a value on the line that starts at `start`. Tables may
 * share a line: a key written twice there is ambiguous, and the line's first word stands for it. */
static size_t key_offset(const reader *r, size_t start, const char *key) {
  const char *nl = memchr(r->text + start, '\n', r->len - start);
  size_t end = nl ? (size_t)(nl - r->text) : r->len, n = strlen(key), found = 0, at = 0, first = start;
  while (first < end && (r->text[first] == ' ' || r->text[first] == '\t')) first++;
  for (size_t i = start; n && i + n <= end; i++) {
    if (memcmp(r->text + i, key, n) != 0 || (i > start && wl_is_identifier(r->text + i - 1, 1))) continue;
    size_t after = i + n;
    if (after < end && r->text[after] == '"') after++;
    while (after < end && (r->text[after] == ' ' || r->text[after] == '\t')) after++;
    if (after >= end || r->text[after] != '=') continue;
    at = i;
    found++;
  }
  return found == 1 ? at : first;
}

static uint32_t line_of(const json_t *table, const char *key) {
  uint32_t line = toml_line(table, key);
  return line ? line : toml_line(table, NULL);
}

/* Fail at table[key], or at the table when key is NULL. */
static hd_status bad(reader *r, const json_t *table, const char *key, const char *fmt, ...) HD_PRINTF(4, 5);
static hd_status bad(reader *r, const json_t *table, const char *key, const char *fmt, ...) {
  char message[sizeof r->d->message];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(message, sizeof message, fmt, ap);
  va_end(ap);
  size_t at = key_offset(r, line_start(r, line_of(table, key)), key ? key : "");
  return hd_fail_at(r->d, HD_ERR_INPUT, r->path, r->text, r->len, at, "%s", message);
}

/* Fail at byte e->offset of the string `value`, an element or the value of table[key]. */
static hd_status bad_text(reader *r, const json_t *table, const char *key, const char *value,
                          const wl_error *e) {
  size_t at = key_offset(r, line_start(r, line_of(table, key)), key), n = strlen(value);
  for (size_t i = at; n && n + 2 <= r->len && i <= r->len - n - 2; i++) {
    char quote = r->text[i];
    if ((quote == '"' || quote == '\'') && r->text[i + n + 1] == quote &&
        memcmp(r->text + i + 1, value, n) == 0) {
      at = i + 1 + e->offset;
      break;
    }
  }
  return hd_fail_at(r->d, HD_ERR_INPUT, r->path, r->text, r->len, at, "%s: %s", key, e->message);
}

static hd_status only(reader *r, const json_t *table, const char *const *known) {
  hd_status st = toml_only(r->path, table, known, r->d);
  if (st == HD_OK || !r->d) return st;
  char message[sizeof r->d->message];
  snprintf(message, sizeof message, "%s", r->d->message);
  size_t start = line_start(r, r->d->line);
  return hd_fail_at(r->d, st, r->path, r->text, r->len, key_offset(r, start, ""), "%s", message);
}

/* ---- Values ---------------------------------------------------------------------------- */

/* table[key] as a string of the arena; `fallback` when it is missing and not NULL. */
static hd_status get_string(reader *r, const json_t *table, const char *key, const char *fallback,
                            const char **out) {
  const json_t *v = json_object_get(table, key);
  if (!v && fallback) {
    *out = fallback;
    return HD_OK;
  }
  if (!v) return bad(r, table, NULL, "'%s' is missing", key);
  if (!json_is_string(v)) return bad(r, table, key, "'%s' should be a string", key);
  const char *s = json_string_value(v);
  size_t n = json_string_length(v);
  if (n == 0) return bad(r, table, key, "'%s' is empty", key);
  if (strlen(s) != n) return bad(r, table, key, "'%s' holds a NUL byte", key);
  *out = hd_arena_strndup(r->arena, s, n);
  return HD_OK;
}

/* An integer or an expression, in [low, high]. */
static hd_status get_integer(reader *r, const json_t *table, const char *key, const json_t *v,
                             const char *what, int64_t low, int64_t high, int64_t *out) {
  wl_error e = {0};
  const char *text = json_is_string(v) ? json_string_value(v) : NULL;
  if (text) {
    if (!wl_eval(text, json_string_length(v), r->names, out, &e)) return bad_text(r, table, key, text, &e);
  } else if (json_is_integer(v)) {
    *out = json_integer_value(v);
  } else {
    return bad(r, table, key, "%s should be an integer or an expression in quotes", what);
  }
  if (*out >= low && *out <= high) return HD_OK;
  if (!text)
    return bad(r, table, key, "%s is %lld, allowed are %lld to %lld", what, (long long)*out, (long long)low,
               (long long)high);
  wl_error_set(&e, 0, "%s is %lld, allowed are %lld to %lld", what, (long long)*out, (long long)low,
               (long long)high);
  return bad_text(r, table, key, text, &e);
}

static hd_status get_number(reader *r, const json_t *table, const char *key, double *out) {
  const json_t *v = json_object_get(table, key);
  *out = 0;
  if (!v) return HD_OK;
  if (!json_is_number(v) || json_number_value(v) < 0)
    return bad(r, table, key, "'%s' should be a number >= 0", key);
  *out = json_number_value(v);
  return HD_OK;
}

/* table[key] as an array of tables; *n is 0 when it is missing. */
static hd_status get_tables(reader *r, const json_t *table, const char *key, size_t max, const json_t **out,
                            size_t *n) {
  *out = json_object_get(table, key);
  *n = *out ? json_array_size(*out) : 0;
  if (*out && !json_is_array(*out))
    return bad(r, table, key, "'%s' should be tables, each under a line [[%s]]", key, key);
  for (size_t i = 0; i < *n; i++)
    if (!json_is_object(json_array_get(*out, i)))
      return bad(r, table, key, "'%s' should be tables, each under a line [[%s]]", key, key);
  if (*n == 0) return bad(r, table, NULL, "no [[%s]] is given", key);
  if (*n > max) return bad(r, table, key, "%zu [[%s]] are given, at most %zu are allowed", *n, key, max);
  return HD_OK;
}

/* ---- Sizes -------------------------------------------------------------------------------- */

typedef struct size_entry {
  const char *name;
  const json_t *table;
  uint32_t line;
} size_entry;

static int by_line(const void *a, const void *b) {
  const size_entry *x = a, *y = b;
  return x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const wl_name *)a)->name, ((const wl_name *)b)->name);
}

static bool is_place_key(const char *key) { return key[0] == TOML_LINE[0]; }

static bool is_size_name(const char *s) {
  for (const char *p = s; *p; p++)
    if (!wl_is_identifier(p, 1) && !(*p >= '0' && *p <= '9') && *p != '-') return false;
  return *s != 0;
}

static hd_status read_parameters(reader *r, const json_t *table, wl_names *out) {
  wl_name *names = HD_NEW_N(r->arena, json_object_size(table), wl_name);
  const char *key;
  json_t *v;
  json_object_foreach((json_t *)table, key, v) {
    if (is_place_key(key)) continue;
    if (!wl_is_identifier(key, strlen(key)))
      return bad(r, table, key, "a size's parameter is named by letters, digits and '_', not '%s'", key);
    if (strcmp(key, ITERATION) == 0)
      return bad(r, table, key, "'%s' is the name of a repeated launch's counter", key);
    if (!json_is_integer(v)) return bad(r, table, key, "'%s' should be an integer", key);
    names[out->n].name = hd_arena_strndup(r->arena, key, strlen(key));
    names[out->n++].value = json_integer_value(v);
  }
  if (out->n) qsort(names, out->n, sizeof *names, by_name);
  out->data = names;
  return HD_OK;
}

static const char *missing_in(wl_names a, wl_names b) {
  for (size_t i = 0; i < a.n; i++) {
    size_t k = 0;
    while (k < b.n && strcmp(a.data[i].name, b.data[k].name) != 0) k++;
    if (k == b.n) return a.data[i].name;
  }
  return NULL;
}

/* [sizes.NAME] tables, all with the same parameters; those of the chosen size go into r->names. */
static hd_status read_sizes(reader *r, const json_t *root, const char *chosen) {
  const json_t *sizes = json_object_get(root, "sizes"), *small = json_object_get(sizes, "small");
  if (!json_is_object(sizes)) return bad(r, root, sizes ? "sizes" : NULL, "no [sizes.small] is given");
  if (!json_is_object(small)) return bad(r, root, "sizes", "no [sizes.small] is given");
  size_entry *entries = HD_NEW_N(r->arena, json_object_size(sizes), size_entry);
  uint32_t n = 0;
  const char *key;
  json_t *v;
  json_object_foreach((json_t *)sizes, key, v) {
    if (is_place_key(key)) continue;
    if (!is_size_name(key))
      return bad(r, sizes, key, "a size is named by letters, digits, '_' and '-', not '%s'", key);
    if (!json_is_object(v)) return bad(r, sizes, key, "'%s' should be a table: [sizes.%s]", key, key);
    entries[n].name = hd_arena_strndup(r->arena, key, strlen(key));
    entries[n].table = v;
    entries[n++].line = toml_line(v, NULL);
  }
  qsort(entries, n, sizeof *entries, by_line);
  wl_names reference = {0};
  hd_status st = read_parameters(r, small, &reference);
  bool found = false;
  hd_buf list = {0};
  for (uint32_t i = 0; i < n && st == HD_OK; i++) {
    wl_names names = {0};
    if ((st = read_parameters(r, entries[i].table, &names)) != HD_OK) break;
    const char *lacks = missing_in(reference, names), *extra = missing_in(names, reference);
    if (lacks || extra)
      st = bad(r, entries[i].table, NULL, "size '%s' %s '%s', size 'small' %s", entries[i].name,
               lacks ? "lacks" : "has", lacks ? lacks : extra, lacks ? "has it" : "lacks it");
    hd_buf_printf(&list, "%s%s", i ? ", " : "", entries[i].name);
    if (strcmp(entries[i].name, chosen) != 0) continue;
    found = true;
    r->names = names;
    r->w->size = entries[i].name;
  }
  if (st == HD_OK && !found) {
    st = hd_fail(r->d, HD_ERR_USAGE, "there is no size '%.60s', known are: %s", chosen,
                 list.data ? list.data : "");
    if (r->d) snprintf(r->d->file, sizeof r->d->file, "%s", r->path);
  }
  hd_buf_free(&list);
  if (st != HD_OK) return st;
  r->w->n_sizes = n;
  r->w->sizes = HD_NEW_N(r->arena, n, hd_wl_size);
  for (uint32_t i = 0; i < n; i++) r->w->sizes[i].name = entries[i].name;
  return HD_OK;
}

/* ---- Parameters --------------------------------------------------------------------------------- */

static wl_name *find_parameter(const reader *r, const char *name, size_t len) {
  for (size_t i = 0; i < r->names.n; i++)
    if (strlen(r->names.data[i].name) == len && memcmp(r->names.data[i].name, name, len) == 0)
      return (wl_name *)&r->names.data[i];
  return NULL;
}

/* "n=53" */
static hd_status set_parameter(reader *r, const char *text) {
  size_t len = strcspn(text, "=");
  wl_name *p = find_parameter(r, text, len);
  uint64_t value;
  if (!p) {
    hd_buf list = {0};
    for (size_t i = 0; i < r->names.n; i++)
      hd_buf_printf(&list, "%s%s", i ? ", " : "", r->names.data[i].name);
    hd_fail(r->d, HD_ERR_USAGE, "%s: there is no parameter '%.*s', known are: %s", r->w->name,
            (int)(len < 60 ? len : 60), text, list.data ? list.data : "");
    hd_buf_free(&list);
    return HD_ERR_USAGE;
  }
  if (!text[len] || !hd_parse_u64(text + len + 1, strlen(text + len + 1), INT64_MAX, &value))
    return hd_fail(r->d, HD_ERR_USAGE, "%s: '%.80s' should be %s=NUMBER", r->w->name, text, p->name);
  p->value = (int64_t)value;
  return HD_OK;
}

/* The values of the chosen size or those set instead of them, each within its range. A value that was set is
 * the caller's mistake, the file's own is the file's. */
static hd_status read_range(reader *r, const json_t *t, hd_wl_param *p) {
  const json_t *least = json_object_get(t, "least"), *most = json_object_get(t, "most"),
               *step = json_object_get(t, "step");
  hd_status st = only(r, t, RANGE_KEYS);
  if (st == HD_OK && !least) return bad(r, t, NULL, "'least' is missing");
  p->most = INT64_MAX;
  p->step = 1;
  if (st == HD_OK) st = get_integer(r, t, "least", least, "least", INT64_MIN, INT64_MAX, &p->least);
  if (st == HD_OK && most) st = get_integer(r, t, "most", most, "most", INT64_MIN, INT64_MAX, &p->most);
  if (st == HD_OK && step) st = get_integer(r, t, "step", step, "step", 1, INT64_MAX, &p->step);
  if (st != HD_OK) return st;
  uint64_t above = (uint64_t)p->value - (uint64_t)p->least;
  if (p->value >= p->least && p->value <= p->most && above % (uint64_t)p->step == 0) return HD_OK;
  char what[256];
  snprintf(what, sizeof what, "%s is %lld, allowed are %lld to %lld in steps of %lld", p->name,
           (long long)p->value, (long long)p->least, (long long)p->most, (long long)p->step);
  return r->n_set ? hd_fail(r->d, HD_ERR_USAGE, "%s: %s", r->w->name, what) : bad(r, t, NULL, "%s", what);
}

static hd_status read_ranges(reader *r, const json_t *root) {
  const json_t *ranges = json_object_get(root, "ranges"), *v;
  hd_workload *w = r->w;
  hd_status st = HD_OK;
  const char *key;
  for (size_t i = 0; st == HD_OK && i < r->n_set; i++) st = set_parameter(r, r->set[i]);
  if (st != HD_OK) return st;
  if (ranges && !json_is_object(ranges)) return bad(r, root, "ranges", "'ranges' should be a table");
  json_object_foreach((json_t *)ranges, key, v) {
    if (is_place_key(key)) continue;
    if (!find_parameter(r, key, strlen(key)))
      return bad(r, ranges, key, "'%s' is no parameter of the sizes", key);
    if (!json_is_object(v)) return bad(r, ranges, key, "'%s' should be a table: { least = 1 }", key);
  }
  w->n_params = (uint32_t)r->names.n;
  w->params = HD_NEW_N(r->arena, r->names.n, hd_wl_param);
  for (uint32_t i = 0; st == HD_OK && i < w->n_params; i++) {
    w->params[i] = (hd_wl_param){.name = r->names.data[i].name, .value = r->names.data[i].value};
    v = json_object_get(ranges, w->params[i].name);
    if (v) st = read_range(r, v, &w->params[i]);
  }
  return st;
}

/* ---- Buffers --------------------------------------------------------------------------------- */

static hd_status get_elem(reader *r, const json_t *table, const char *key, hd_elem *out) {
  const char *name = NULL;
  hd_status st = get_string(r, table, key, NULL, &name);
  if (st == HD_OK && !wl_elem_parse(name, out))
    st = bad(r, table, key, "unknown type '%.40s' (known: %s)", name, wl_elem_list());
  return st;
}

static hd_status read_compare(reader *r, const json_t *t, hd_wl_buffer *b) {
  const char *how = NULL;
  hd_status st = get_string(r, t, "compare", "none", &how);
  if (st != HD_OK) return st;
  if (strcmp(how, "exact") == 0)
    b->compare = HD_COMPARE_EXACT;
  else if (strcmp(how, "near") == 0)
    b->compare = HD_COMPARE_NEAR;
  else if (strcmp(how, "none") != 0)
    return bad(r, t, "compare", "unknown comparison '%.40s' (known: exact, near, none)", how);
  if ((st = get_number(r, t, "abs", &b->abs)) != HD_OK || (st = get_number(r, t, "rel", &b->rel)) != HD_OK)
    return st;
  const json_t *atomics = json_object_get(t, "atomics");
  if (atomics && !json_is_boolean(atomics)) return bad(r, t, "atomics", "'atomics' should be true or false");
  b->atomics = json_is_true(atomics);
  bool has_bound = b->abs > 0 || b->rel > 0;
  if (b->compare == HD_COMPARE_NEAR && !has_bound)
    return bad(r, t, "compare", "compare = \"near\" needs 'abs' or 'rel' above 0");
  if (b->compare != HD_COMPARE_NEAR && (json_object_get(t, "abs") || json_object_get(t, "rel")))
    return bad(r, t, json_object_get(t, "abs") ? "abs" : "rel", "'abs' and 'rel' go with compare = \"near\"");
  if (b->atomics && b->compare != HD_COMPARE_NEAR)
    return bad(r, t, "atomics",
               "'atomics' goes with compare = \"near\": it lets sums differ within 'abs' and 'rel'");
  return HD_OK;
}

static hd_status read_buffer(reader *r, const json_t *t, uint32_t i, uint64_t *total) {
  hd_wl_buffer *b = &r->w->buffers[i];
  hd_status st = only(r, t, BUFFER_KEYS);
  if (st != HD_OK || (st = get_string(r, t, "name", NULL, &b->name)) != HD_OK) return st;
  if (!wl_is_identifier(b->name, strlen(b->name)))
    return bad(r, t, "name", "a buffer is named by letters, digits and '_', not '%.60s'", b->name);
  for (uint32_t k = 0; k < i; k++)
    if (strcmp(r->w->buffers[k].name, b->name) == 0)
      return bad(r, t, "name", "there are two buffers '%.60s'", b->name);
  if ((st = get_elem(r, t, "type", &b->type)) != HD_OK) return st;
  const json_t *count = json_object_get(t, "count"), *seed = json_object_get(t, "seed");
  if (!count) return bad(r, t, NULL, "'count' is missing");
  int64_t n = 0, s = i + 1; /* buffers with the same fill must not hold the same numbers */
  if ((st = get_integer(r, t, "count", count, "count", 1, INT64_MAX, &n)) != HD_OK) return st;
  b->count = (uint64_t)n;
  if (b->count > MAX_BYTES / hd_elem_bytes(b->type) || b->count * hd_elem_bytes(b->type) > MAX_BYTES - *total)
    return bad(r, t, "count", "the buffers take more than 1 TB with the %llu elements of '%s'",
               (unsigned long long)b->count, b->name);
  b->bytes = b->count * hd_elem_bytes(b->type);
  *total += b->bytes;
  if (seed && (st = get_integer(r, t, "seed", seed, "seed", 0, INT64_MAX, &s)) != HD_OK) return st;
  b->seed = (uint64_t)s;
  if ((st = get_string(r, t, "fill", "none", &b->fill)) != HD_OK) return st;
  wl_error e = {0};
  if (!wl_fill_parse(b->fill, b->type, r->names, r->arena, &r->fills[i], &e))
    return bad_text(r, t, "fill", b->fill, &e);
  if (wl_fill_is_generated(&r->fills[i]) && !r->w->reference)
    return bad(r, t, "fill", "'generate' needs a 'reference', whose heddle_generate makes the buffer");
  return read_compare(r, t, b);
}

/* ---- Launches ----------------------------------------------------------------------------------- */

/* grid or block: one to three numbers, the rest 1. */
static hd_status read_dims(reader *r, const json_t *t, const char *key, const int64_t limit[3],
                           uint32_t out[3]) {
  const json_t *v = json_object_get(t, key);
  if (!v) return bad(r, t, NULL, "'%s' is missing", key);
  size_t n = json_array_size(v);
  if (!json_is_array(v) || n < 1 || n > 3)
    return bad(r, t, key, "'%s' should be an array of 1 to 3 numbers", key);
  for (size_t i = 0; i < 3; i++) {
    char what[32];
    int64_t x = 1;
    snprintf(what, sizeof what, "%s's %c", key, "xyz"[i]);
    hd_status st = i < n ? get_integer(r, t, key, json_array_get(v, i), what, 1, limit[i], &x) : HD_OK;
    if (st != HD_OK) return st;
    out[i] = (uint32_t)x;
  }
  return HD_OK;
}

/* { type = "s32", value = "n" } */
static hd_status read_scalar(reader *r, const json_t *t, hd_wl_arg *a) {
  hd_status st = only(r, t, SCALAR_KEYS);
  if (st != HD_OK || (st = get_elem(r, t, "type", &a->type)) != HD_OK) return st;
  const json_t *v = json_object_get(t, "value");
  if (!v) return bad(r, t, "type", "an argument's 'value' is missing");
  if (json_is_real(v)) {
    if (!wl_elem(a->type)->is_float)
      return bad(r, t, "value", "a %s argument needs an integer", hd_elem_name(a->type));
    a->bits = wl_elem_from_double(a->type, json_real_value(v));
    return HD_OK;
  }
  int64_t x = 0;
  if ((st = get_integer(r, t, "value", v, "value", INT64_MIN, INT64_MAX, &x)) != HD_OK) return st;
  if (!wl_elem_holds(a->type, x))
    return bad(r, t, "value", "%lld does not fit in %s", (long long)x, hd_elem_name(a->type));
  a->bits = wl_elem_from_int(a->type, x);
  return HD_OK;
}

/* The buffer of this name; false: none. */
static bool find_buffer(const reader *r, const char *name, uint32_t *index) {
  for (uint32_t i = 0; i < r->w->n_buffers; i++)
    if (strcmp(r->w->buffers[i].name, name) == 0) {
      *index = i;
      return true;
    }
  return false;
}

/* ---- Tensor maps ---------------------------------------------------------------------------- */

/* table[key]: `n` integers or expressions, outermost dimension first, into out[n - 1 .. 0]. Left alone when
 * it is missing and `needed` is not set. */
static hd_status get_extents(reader *r, const json_t *t, const char *key, bool needed, uint32_t n,
                             int64_t high, uint64_t *out) {
  const json_t *v = json_object_get(t, key);
  if (!v && !needed) return HD_OK;
  if (!v) return bad(r, t, "tensormap", "a tensor map's '%s' is missing", key);
  if (!json_is_array(v) || json_array_size(v) != n)
    return bad(r, t, key, "'%s' should be an array of %u integers or expressions", key, n);
  hd_status st = HD_OK;
  for (uint32_t i = 0; i < n && st == HD_OK; i++) {
    int64_t x = 0;
    st = get_integer(r, t, key, json_array_get(v, i), key, 0, high, &x);
    out[n - 1 - i] = (uint64_t)x;
  }
  return st;
}

/* table[key] as one of the words, which end with NULL; the first when it is missing. */
static hd_status get_word(reader *r, const json_t *t, const char *key, const char *const *words,
                          unsigned *out) {
  const char *text;
  hd_status st = get_string(r, t, key, words[0], &text);
  for (*out = 0; st == HD_OK && words[*out]; ++*out)
    if (strcmp(words[*out], text) == 0) return HD_OK;
  if (st != HD_OK) return st;
  hd_buf all = {0};
  for (unsigned i = 0; words[i]; i++) hd_buf_printf(&all, "%s\"%s\"", i ? ", " : "", words[i]);
  st = bad(r, t, key, "'%s' is \"%.40s\", allowed are %s", key, text, all.data ? all.data : "");
  hd_buf_free(&all);
  return st;
}

static hd_tensor_type tensor_type(hd_elem e) {
  static const hd_tensor_type of[] = {
      [HD_ELEM_U8] = HD_TENSOR_U8,     [HD_ELEM_S8] = HD_TENSOR_U8,   [HD_ELEM_U16] = HD_TENSOR_U16,
      [HD_ELEM_S16] = HD_TENSOR_U16,   [HD_ELEM_U32] = HD_TENSOR_U32, [HD_ELEM_S32] = HD_TENSOR_S32,
      [HD_ELEM_U64] = HD_TENSOR_U64,   [HD_ELEM_S64] = HD_TENSOR_S64, [HD_ELEM_F16] = HD_TENSOR_F16,
      [HD_ELEM_BF16] = HD_TENSOR_BF16, [HD_ELEM_F32] = HD_TENSOR_F32, [HD_ELEM_F64] = HD_TENSOR_F64};
  return of[e];
}

static hd_status get_modes(reader *r, const json_t *t, hd_tensor *x) {
  static const char *const interleaves[] = {"none", "16B", "32B", NULL};
  static const char *const swizzles[] = {
      "none", "32B", "64B", "128B", "128B-atom-32B", "128B-atom-32B-flip-8B", "128B-atom-64B", NULL};
  static const char *const promotions[] = {"none", "64B", "128B", "256B", NULL};
  static const char *const fills[] = {"zero", "nan", NULL};
  unsigned interleave, swizzle, promotion, fill;
  hd_status st = get_word(r, t, "interleave", interleaves, &interleave);
  if (st != HD_OK || (st = get_word(r, t, "swizzle", swizzles, &swizzle)) != HD_OK ||
      (st = get_word(r, t, "promotion", promotions, &promotion)) != HD_OK ||
      (st = get_word(r, t, "fill", fills, &fill)) != HD_OK)
    return st;
  x->interleave = (hd_tensor_interleave)interleave;
  x->swizzle = (hd_tensor_swizzle)swizzle;
  x->promotion = (hd_tensor_promotion)promotion;
  x->fill = (hd_tensor_fill)fill;
  return HD_OK;
}

/* { tensormap = "a", shape = ["m", "k"], box = [64, 64], swizzle = "128B" } */
static hd_status read_tensor(reader *r, const json_t *t, hd_wl_arg *a) {
  static const int64_t most = INT64_C(1) << 40; /* of anything in a tensor map */
  const char *name;
  hd_status st = only(r, t, TENSOR_KEYS);
  if (st != HD_OK || (st = get_string(r, t, "tensormap", NULL, &name)) != HD_OK) return st;
  if (!find_buffer(r, name, &a->buffer)) return bad(r, t, "tensormap", "there is no buffer '%.60s'", name);
  const hd_wl_buffer *b = &r->w->buffers[a->buffer];
  const json_t *shape = json_object_get(t, "shape"), *offset = json_object_get(t, "offset");
  const size_t rank = json_is_array(shape) ? json_array_size(shape) : 0;
  if (rank < 1 || rank > HD_TENSOR_DIMS)
    return bad(r, t, shape ? "shape" : "tensormap", "'shape' should be an array of 1 to %d sizes",
               HD_TENSOR_DIMS);
  hd_tensor *x = HD_NEW(r->arena, hd_tensor);
  uint64_t box[HD_TENSOR_DIMS] = {0}, step[HD_TENSOR_DIMS] = {1, 1, 1, 1, 1};
  uint64_t stride[HD_TENSOR_DIMS] = {0}; /* in elements, of dimensions 1 and up */
  const uint64_t bytes = hd_elem_bytes(b->type);
  int64_t first = 0;
  *x = (hd_tensor){.rank = (uint32_t)rank, .type = tensor_type(b->type)};
  if ((st = get_extents(r, t, "shape", true, x->rank, most, x->dim)) != HD_OK ||
      (st = get_extents(r, t, "box", true, x->rank, most, box)) != HD_OK ||
      (st = get_extents(r, t, "element-strides", false, x->rank, most, step)) != HD_OK ||
      (offset && (st = get_integer(r, t, "offset", offset, "offset", 0, most, &first)) != HD_OK))
    return st;
  bool overflow = false;
  for (uint32_t k = 1; k < x->rank; k++)
    overflow |= __builtin_mul_overflow(k > 1 ? stride[k - 2] : 1, x->dim[k - 1], &stride[k - 1]);
  if ((st = get_extents(r, t, "strides", false, x->rank - 1, most, stride)) != HD_OK ||
      (st = get_modes(r, t, x)) != HD_OK)
    return st;
  uint64_t end = bytes; /* behind the last element */
  x->address = (uint64_t)first * bytes;
  for (uint32_t k = 0; k < x->rank; k++) {
    uint64_t reach;
    x->box[k] = box[k] > UINT32_MAX ? UINT32_MAX : (uint32_t)box[k];
    x->element_stride[k] = step[k] > UINT32_MAX ? UINT32_MAX : (uint32_t)step[k];
    const uint64_t apart = k ? stride[k - 1] : 1;
    overflow |= __builtin_mul_overflow(apart, bytes, &reach);
    if (k) x->stride[k - 1] = reach;
    overflow |= __builtin_mul_overflow(reach, x->dim[k] ? x->dim[k] - 1 : 0, &reach) ||
                __builtin_add_overflow(end, reach, &end);
  }
  hd_diag why = {0};
  if (!overflow && hd_tensor_check(x, &why) != HD_OK) return bad(r, t, "tensormap", "%s", why.message);
  if (overflow || end > b->bytes || x->address > b->bytes - end)
    return bad(r, t, "shape", "the tensor reaches beyond the %llu bytes of '%s'",
               (unsigned long long)b->bytes, name);
  a->tensor = x;
  return HD_OK;
}

static hd_status read_arg(reader *r, const json_t *launch, const json_t *v, hd_wl_arg *a) {
  if (json_is_object(v)) return json_object_get(v, "tensormap") ? read_tensor(r, v, a) : read_scalar(r, v, a);
  if (!json_is_string(v))
    return bad(
        r, launch, "args",
        "an argument is a buffer's name, { type = \"s32\", value = \"n\" } or { tensormap = \"a\", ... }");
  const char *name = json_string_value(v);
  uint32_t buffer;
  if (find_buffer(r, name, &buffer)) {
    *a = (hd_wl_arg){.is_buffer = true, .buffer = buffer, .type = r->w->buffers[buffer].type};
    return HD_OK;
  }
  wl_error e = {0};
  for (size_t i = 0; i < r->names.n; i++)
    if (strcmp(r->names.data[i].name, name) == 0) {
      wl_error_set(&e, 0, "'%s' is no buffer but a size: write { type = \"s32\", value = \"%s\" }", name,
                   name);
      return bad_text(r, launch, "args", name, &e);
    }
  wl_error_set(&e, 0, "there is no buffer '%.60s'", name);
  return bad_text(r, launch, "args", name, &e);
}

/* One repetition of one [[launch]]. */
static hd_status read_launch(reader *r, const json_t *t, hd_wl_launch *l) {
  hd_status st = get_string(r, t, "kernel", NULL, &l->kernel);
  if (st != HD_OK || (st = read_dims(r, t, "grid", GRID_LIMIT, l->grid)) != HD_OK ||
      (st = read_dims(r, t, "block", BLOCK_LIMIT, l->block)) != HD_OK)
    return st;
  uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
  if (threads > MAX_THREADS)
    return bad(r, t, "block", "a block of %llu threads, at most %d are allowed", (unsigned long long)threads,
               MAX_THREADS);
  const json_t *shared = json_object_get(t, "shared"), *args = json_object_get(t, "args");
  int64_t bytes = 0;
  if (shared && (st = get_integer(r, t, "shared", shared, "shared", 0, MAX_SHARED, &bytes)) != HD_OK)
    return st;
  l->dynamic_shared = (uint32_t)bytes;
  if (!json_is_array(args)) return bad(r, t, args ? "args" : NULL, "'args' should be an array of arguments");
  size_t n = json_array_size(args);
  if (n > MAX_ARGS) return bad(r, t, "args", "%zu arguments, at most %d are allowed", n, MAX_ARGS);
  l->n_args = (uint32_t)n;
  l->args = HD_NEW_N(r->arena, n, hd_wl_arg);
  for (size_t i = 0; i < n && st == HD_OK; i++) st = read_arg(r, t, json_array_get(args, i), &l->args[i]);
  return st;
}

/* The launches of one round of a [[launch]]: its [[launch.body]] tables, or itself. */
static size_t round_size(const json_t *t) {
  const json_t *body = json_object_get(t, "body");
  return body ? json_array_size(body) : 1;
}

static const json_t *round_launch(const json_t *t, size_t i) {
  const json_t *body = json_object_get(t, "body");
  return body ? json_array_get(body, i) : t;
}

/* Keys of a [[launch]] and its bodies, how often it is run, the arguments of one round. */
static hd_status check_launch(reader *r, const json_t *t, int64_t *times, int64_t *args) {
  const json_t *repeat = json_object_get(t, "repeat"), *body = json_object_get(t, "body");
  *times = 1;
  *args = 0;
  if (body && (!json_is_array(body) || !json_array_size(body) || !json_is_object(json_array_get(body, 0))))
    return bad(r, t, "body", "'body' should be [[launch.body]] tables, at least one");
  hd_status st = only(r, t, body ? LOOP_KEYS : LAUNCH_KEYS);
  for (size_t i = 0; st == HD_OK && body && i < json_array_size(body); i++) {
    if (!json_is_object(json_array_get(body, i)))
      return bad(r, t, "body", "'body' should be [[launch.body]] tables, all of it");
    st = only(r, json_array_get(body, i), BODY_KEYS);
  }
  if (st == HD_OK && repeat) st = get_integer(r, t, "repeat", repeat, "repeat", 1, MAX_LAUNCHES, times);
  for (size_t i = 0; i < round_size(t); i++)
    *args += (int64_t)json_array_size(json_object_get(round_launch(t, i), "args"));
  return st;
}

/* Every [[launch]] in order, repeated ones written out. */
static hd_status read_launches(reader *r, const json_t *tables, size_t n) {
  wl_names sizes = r->names;
  wl_name *names = HD_NEW_N(r->arena, sizes.n + 1, wl_name);
  if (sizes.n) memcpy(names, sizes.data, sizes.n * sizeof *names);
  int64_t *times = HD_NEW_N(r->arena, n, int64_t), total = 0, all_args = 0;
  for (size_t i = 0; i < n; i++) {
    const json_t *t = json_array_get(tables, i);
    int64_t args;
    hd_status st = check_launch(r, t, &times[i], &args);
    if (st != HD_OK) return st;
    /* Both factors are small: a file of MAX_FILE bytes holds fewer than 2^22 tables and arguments. */
    if ((total += times[i] * (int64_t)round_size(t)) > MAX_LAUNCHES)
      return bad(r, t, "repeat", "more than %d launches in all", MAX_LAUNCHES);
    if ((all_args += times[i] * args) > MAX_ALL_ARGS)
      return bad(r, t, "args", "more than %d arguments of all launches together", MAX_ALL_ARGS);
  }
  r->w->launches = HD_NEW_N(r->arena, (size_t)total, hd_wl_launch);
  for (size_t i = 0; i < n; i++) {
    const json_t *t = json_array_get(tables, i);
    for (int64_t k = 0; k < times[i]; k++) {
      names[sizes.n] = (wl_name){ITERATION, k};
      r->names = (wl_names){names, sizes.n + (json_object_get(t, "repeat") != NULL)};
      for (size_t j = 0; j < round_size(t); j++) {
        hd_status st = read_launch(r, round_launch(t, j), &r->w->launches[r->w->n_launches++]);
        if (st != HD_OK) return st;
      }
    }
  }
  return HD_OK;
}

/* ---- The file ---------------------------------------------------------------------------------------- */

char *wl_join(hd_arena *a, const char *folder, const char *name) {
  if (name[0] == '/' || strcmp(folder, ".") == 0) return hd_arena_strndup(a, name, strlen(name));
  size_t n = strlen(folder);
  return hd_arena_printf(a, "%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

static hd_status get_file(reader *r, const json_t *root, const char *key, bool check, const char **out) {
  const char *name = "";
  hd_status st = get_string(r, root, key, NULL, &name);
  if (st != HD_OK) return st;
  *out = wl_join(r->arena, r->w->folder, name);
  if (check && access(*out, R_OK) != 0) return bad(r, root, key, "%s '%s' cannot be read", key, *out);
  return HD_OK;
}

static bool ends_in(const char *s, const char *end) {
  size_t n = strlen(s), m = strlen(end);
  return n > m && strcmp(s + n - m, end) == 0;
}

/* "data" or several joined by '+': "data+write". */
static bool is_category(const char *s) {
  for (;;) {
    size_t n = strcspn(s, "+"), i = 0, known = sizeof CATEGORIES / sizeof *CATEGORIES;
    while (i < known && !(strlen(CATEGORIES[i]) == n && memcmp(CATEGORIES[i], s, n) == 0)) i++;
    if (i == known) return false;
    if (!s[n]) return true;
    s += n + 1;
  }
}

static __attribute__((noinline)) hd_status read_root(reader *r, const json_t *root, const char *size,
                                                     bool check) {
  hd_workload *w = r->w;
  hd_status st = only(r, root, TOP_KEYS);
  if (st != HD_OK || (st = get_string(r, root, "title", "", &w->title)) != HD_OK ||
      (st = get_string(r, root, "paper", "", &w->paper)) != HD_OK ||
      (st = get_string(r, root, "category", "", &w->category)) != HD_OK ||
      (st = get_file(r, root, "source", check, &w->source)) != HD_OK)
    return st;
  if (*w->category && !is_category(w->category))
    return bad(r, root, "category",
               "unknown category '%.60s' (known: algorithm, cache-line, data, write, streaming)",
               w->category);
  if (!ends_in(w->source, ".cu") && !ends_in(w->source, ".ptx"))
    return bad(r, root, "source", "'source' should end in .cu or .ptx");
  if (json_object_get(root, "reference") &&
      (st = get_file(r, root, "reference", check, &w->reference)) != HD_OK)
    return st;
  if ((st = read_sizes(r, root, size)) != HD_OK || (st = read_ranges(r, root)) != HD_OK) return st;
  const json_t *registers = json_object_get(root, "registers"), *tables;
  int64_t regs = 0;
  if (registers &&
      (st = get_integer(r, root, "registers", registers, "registers", 1, MAX_REGISTERS, &regs)) != HD_OK)
    return st;
  w->registers = (uint32_t)regs;
  size_t n;
  if ((st = get_tables(r, root, "buffer", MAX_BUFFERS, &tables, &n)) != HD_OK) return st;
  w->buffers = HD_NEW_N(r->arena, n, hd_wl_buffer);
  r->fills = HD_NEW_N(r->arena, n, wl_fill);
  uint64_t total = 0;
  bool compared = false;
  for (uint32_t i = 0; i < n; i++) {
    if ((st = read_buffer(r, json_array_get(tables, i), i, &total)) != HD_OK) return st;
    w->n_buffers++;
    compared |= w->buffers[i].compare != HD_COMPARE_NONE;
  }
  if (w->reference && !compared)
    return bad(r, root, "reference",
               "no [[buffer]] has 'compare': there is nothing to hold against the reference");
  wl_names sizes = r->names;
  if ((st = get_tables(r, root, "launch", MAX_LAUNCHES, &tables, &n)) != HD_OK) return st;
  st = read_launches(r, tables, n);
  r->names = sizes;
  return st;
}

/* The folder's own name, also for "." */
static const char *base_name(hd_arena *a, const char *folder) {
  char real[WL_PATH];
  char *resolved = realpath(folder, NULL);
  snprintf(real, sizeof real, "%s", resolved ? resolved : folder);
  free(resolved);
  size_t n = strlen(real);
  while (n > 1 && real[n - 1] == '/') real[--n] = 0;
  const char *slash = strrchr(real, '/');
  const char *base = slash && slash[1] ? slash + 1 : real;
  return hd_arena_strndup(a, base, strlen(base));
}

/* Everything below may longjmp to the escape when memory runs out; kept apart from read_root,
 * none of whose variables then lives across the setjmp. */
static hd_status read_tree(reader *r, const json_t *root, const char *folder, const char *size, bool check,
                           wl_private *p) {
  jmp_buf escape;
  if (setjmp(escape)) {
    r->arena->escape = NULL;
    return hd_fail(r->d, HD_ERR_NOMEM, "%s: out of memory", r->path);
  }
  r->arena->escape = &escape;
  r->w = HD_NEW(r->arena, hd_workload);
  r->w->priv = p;
  r->w->folder = hd_arena_strndup(r->arena, folder, strlen(folder));
  r->w->name = base_name(r->arena, folder);
  hd_status st = read_root(r, root, size ? size : "small", check);
  p->sizes = r->names;
  p->fills = r->fills;
  r->arena->escape = NULL;
  return st;
}

hd_status wl_read(const char *text, size_t len, const char *path, const char *folder, const char *size,
                  bool check_files, hd_workload **out, hd_diag *d) {
  return wl_read_set(text, len, path, folder, size, NULL, 0, check_files, out, d);
}

hd_status wl_read_set(const char *text, size_t len, const char *path, const char *folder, const char *size,
                      const char *const *set, size_t n_set, bool check_files, hd_workload **out, hd_diag *d) {
  *out = NULL;
  if (len > MAX_FILE)
    return hd_fail_at(d, HD_ERR_INPUT, path, NULL, 0, 0, "%zu bytes, a workload file has at most %d", len,
                      MAX_FILE);
  json_t *root;
  hd_status st = toml_parse(text, len, path, &root, d);
  if (st != HD_OK) return st;
  wl_private *p = calloc(1, sizeof *p);
  if (!p) {
    json_decref(root);
    return hd_fail(d, HD_ERR_NOMEM, "%s: out of memory", path);
  }
  hd_arena_init(&p->arena);
  reader r = {.path = path, .text = text, .len = len, .d = d, .arena = &p->arena, .set = set, .n_set = n_set};
  st = read_tree(&r, root, folder, size, check_files, p);
  json_decref(root);
  if (st == HD_OK) {
    *out = r.w;
  } else {
    hd_arena_free(&p->arena);
    free(p);
  }
  return st;
}

void hd_workload_close(hd_workload *w) {
  if (!w) return;
  wl_private *p = w->priv;
  hd_arena_free(&p->arena); /* holds *w too */
  free(p);
}
