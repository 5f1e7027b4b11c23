/* [sizes.NAME] and [ranges]: the parameters of the chosen size, and their ranges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/reader.h"

static const char *const RANGE_KEYS[] = {"least", "most", "step", NULL};

/* ---- Sizes -------------------------------------------------------------------------- */

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

/* True for the entries of a table that hold places instead of values. */
static bool is_place_key(const char *key) { return key[0] == TOML_LINE[0]; }

static bool is_size_name(const char *s) {
  for (const char *p = s; *p; p++)
    if (!wl_is_identifier(p, 1) && !(*p >= '0' && *p <= '9') && *p != '-') return false;
  return *s != 0;
}

static hd_status read_parameters(wl_reader *r, const json_t *table, wl_names *out) {
  wl_name *names = HD_NEW_N(r->arena, json_object_size(table), wl_name);
  const char *key;
  json_t *v;
  json_object_foreach((json_t *)table, key, v) {
    if (is_place_key(key)) continue;
    if (!wl_is_identifier(key, strlen(key)))
      return wl_bad(r, table, key, "a size's parameter is named by letters, digits and '_', not '%s'", key);
    if (strcmp(key, WL_ITERATION) == 0)
      return wl_bad(r, table, key, "'%s' is the name of a repeated launch's counter", key);
    if (!json_is_integer(v)) return wl_bad(r, table, key, "'%s' should be an integer", key);
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

hd_status wl_read_sizes(wl_reader *r, const json_t *root, const char *chosen) {
  const json_t *sizes = json_object_get(root, "sizes"), *small = json_object_get(sizes, "small");
  if (!json_is_object(sizes)) return wl_bad(r, root, sizes ? "sizes" : NULL, "no [sizes.small] is given");
  if (!json_is_object(small)) return wl_bad(r, root, "sizes", "no [sizes.small] is given");
  size_entry *entries = HD_NEW_N(r->arena, json_object_size(sizes), size_entry);
  uint32_t n = 0;
  const char *key;
  json_t *v;
  json_object_foreach((json_t *)sizes, key, v) {
    if (is_place_key(key)) continue;
    if (!is_size_name(key))
      return wl_bad(r, sizes, key, "a size is named by letters, digits, '_' and '-', not '%s'", key);
    if (!json_is_object(v)) return wl_bad(r, sizes, key, "'%s' should be a table: [sizes.%s]", key, key);
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
      st = wl_bad(r, entries[i].table, NULL, "size '%s' %s '%s', size 'small' %s", entries[i].name,
                  lacks ? "lacks" : "has", lacks ? lacks : extra, lacks ? "has it" : "lacks it");
    hd_buf_printf(&list, "%s%s", i ? ", " : "", entries[i].name);
    if (strcmp(entries[i].name, chosen) != 0) continue;
    found = true;
    r->names = names;
    r->w->size = entries[i].name;
  }
  if (st == HD_OK && !found) {
    char near[HD_NEAR];
    const char *known = list.data ? list.data : "";
    st = hd_fail_unknown(r->d, "there is no size '%.60s', known are: %s%s", chosen, known,
                         hd_near(known, chosen, strlen(chosen), near));
    if (r->d) snprintf(r->d->file, sizeof r->d->file, "%s", r->path);
  }
  hd_buf_free(&list);
  if (st != HD_OK) return st;
  r->w->n_sizes = n;
  r->w->sizes = HD_NEW_N(r->arena, n, hd_wl_size);
  for (uint32_t i = 0; i < n; i++) r->w->sizes[i].name = entries[i].name;
  return HD_OK;
}

/* ---- Parameters and their ranges ------------------------------------------------------ */

static wl_name *find_parameter(const wl_reader *r, const char *name, size_t len) {
  for (size_t i = 0; i < r->names.n; i++)
    if (strlen(r->names.data[i].name) == len && memcmp(r->names.data[i].name, name, len) == 0)
      return (wl_name *)&r->names.data[i];
  return NULL;
}

/* "n=53" */
static hd_status set_parameter(wl_reader *r, const char *text) {
  size_t len = strcspn(text, "=");
  wl_name *p = find_parameter(r, text, len);
  uint64_t value;
  if (!p) {
    hd_buf list = {0};
    for (size_t i = 0; i < r->names.n; i++)
      hd_buf_printf(&list, "%s%s", i ? ", " : "", r->names.data[i].name);
    char near[HD_NEAR];
    const char *known = list.data ? list.data : "";
    hd_fail_unknown(r->d, "%s: there is no parameter '%.*s', known are: %s%s", r->w->name,
                    (int)(len < 60 ? len : 60), text, known, hd_near(known, text, len, near));
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
static hd_status read_range(wl_reader *r, const json_t *t, hd_wl_param *p) {
  const json_t *least = json_object_get(t, "least"), *most = json_object_get(t, "most"),
               *step = json_object_get(t, "step");
  hd_status st = wl_only(r, t, RANGE_KEYS);
  if (st == HD_OK && !least) return wl_bad(r, t, NULL, "'least' is missing");
  p->most = INT64_MAX;
  p->step = 1;
  if (st == HD_OK) st = wl_get_integer(r, t, "least", least, "least", INT64_MIN, INT64_MAX, &p->least);
  if (st == HD_OK && most) st = wl_get_integer(r, t, "most", most, "most", INT64_MIN, INT64_MAX, &p->most);
  if (st == HD_OK && step) st = wl_get_integer(r, t, "step", step, "step", 1, INT64_MAX, &p->step);
  if (st != HD_OK) return st;
  uint64_t above = (uint64_t)p->value - (uint64_t)p->least;
  if (p->value >= p->least && p->value <= p->most && above % (uint64_t)p->step == 0) return HD_OK;
  char what[256];
  snprintf(what, sizeof what, "%s is %lld, allowed are %lld to %lld in steps of %lld", p->name,
           (long long)p->value, (long long)p->least, (long long)p->most, (long long)p->step);
  return r->n_set ? hd_fail(r->d, HD_ERR_USAGE, "%s: %s", r->w->name, what) : wl_bad(r, t, NULL, "%s", what);
}

hd_status wl_read_ranges(wl_reader *r, const json_t *root) {
  const json_t *ranges = json_object_get(root, "ranges"), *v;
  hd_workload *w = r->w;
  hd_status st = HD_OK;
  const char *key;
  for (size_t i = 0; st == HD_OK && i < r->n_set; i++) st = set_parameter(r, r->set[i]);
  if (st != HD_OK) return st;
  if (ranges && !json_is_object(ranges)) return wl_bad(r, root, "ranges", "'ranges' should be a table");
  json_object_foreach((json_t *)ranges, key, v) {
    if (is_place_key(key)) continue;
    if (!find_parameter(r, key, strlen(key)))
      return wl_bad(r, ranges, key, "'%s' is no parameter of the sizes", key);
    if (!json_is_object(v)) return wl_bad(r, ranges, key, "'%s' should be a table: { least = 1 }", key);
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
