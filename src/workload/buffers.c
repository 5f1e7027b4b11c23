/* [[buffer]]: what a workload computes on. */
#include <string.h>

#include "workload/reader.h"

#define MAX_BYTES (1ull << 40) /* of all buffers together */

static const char *const BUFFER_KEYS[] = {"name",    "type", "count", "fill",    "seed",
                                          "compare", "abs",  "rel",   "atomics", NULL};

bool wl_find_buffer(const wl_reader *r, const char *name, uint32_t *index) {
  for (uint32_t i = 0; i < r->w->n_buffers; i++)
    if (strcmp(r->w->buffers[i].name, name) == 0) {
      *index = i;
      return true;
    }
  return false;
}

static hd_status read_compare(wl_reader *r, const json_t *t, hd_wl_buffer *b) {
  const char *how = NULL;
  hd_status st = wl_get_string(r, t, "compare", "none", &how);
  if (st != HD_OK) return st;
  if (strcmp(how, "exact") == 0)
    b->compare = HD_COMPARE_EXACT;
  else if (strcmp(how, "near") == 0)
    b->compare = HD_COMPARE_NEAR;
  else if (strcmp(how, "none") != 0)
    return wl_bad(r, t, "compare", "unknown comparison '%.40s' (known: exact, near, none)", how);
  if ((st = wl_get_number(r, t, "abs", &b->abs)) != HD_OK ||
      (st = wl_get_number(r, t, "rel", &b->rel)) != HD_OK)
    return st;
  const json_t *atomics = json_object_get(t, "atomics");
  if (atomics && !json_is_boolean(atomics))
    return wl_bad(r, t, "atomics", "'atomics' should be true or false");
  b->atomics = json_is_true(atomics);
  bool has_bound = b->abs > 0 || b->rel > 0;
  if (b->compare == HD_COMPARE_NEAR && !has_bound)
    return wl_bad(r, t, "compare", "compare = \"near\" needs 'abs' or 'rel' above 0");
  if (b->compare != HD_COMPARE_NEAR && (json_object_get(t, "abs") || json_object_get(t, "rel")))
    return wl_bad(r, t, json_object_get(t, "abs") ? "abs" : "rel",
                  "'abs' and 'rel' go with compare = \"near\"");
  if (b->atomics && b->compare != HD_COMPARE_NEAR)
    return wl_bad(r, t, "atomics",
                  "'atomics' goes with compare = \"near\": it lets sums differ within 'abs' and 'rel'");
  return HD_OK;
}

hd_status wl_read_buffer(wl_reader *r, const json_t *t, uint32_t i, uint64_t *total) {
  hd_wl_buffer *b = &r->w->buffers[i];
  hd_status st = wl_only(r, t, BUFFER_KEYS);
  if (st != HD_OK || (st = wl_get_string(r, t, "name", NULL, &b->name)) != HD_OK) return st;
  if (!wl_is_identifier(b->name, strlen(b->name)))
    return wl_bad(r, t, "name", "a buffer is named by letters, digits and '_', not '%.60s'", b->name);
  for (uint32_t k = 0; k < i; k++)
    if (strcmp(r->w->buffers[k].name, b->name) == 0)
      return wl_bad(r, t, "name", "there are two buffers '%.60s'", b->name);
  if ((st = wl_get_elem(r, t, "type", &b->type)) != HD_OK) return st;
  const json_t *count = json_object_get(t, "count"), *seed = json_object_get(t, "seed");
  if (!count) return wl_bad(r, t, NULL, "'count' is missing");
  int64_t n = 0, s = i + 1; /* buffers with the same fill must not hold the same numbers */
  if ((st = wl_get_integer(r, t, "count", count, "count", 1, INT64_MAX, &n)) != HD_OK) return st;
  b->count = (uint64_t)n;
  if (b->count > MAX_BYTES / hd_elem_bytes(b->type) || b->count * hd_elem_bytes(b->type) > MAX_BYTES - *total)
    return wl_bad(r, t, "count", "the buffers take more than 1 TB with the %llu elements of '%s'",
                  (unsigned long long)b->count, b->name);
  b->bytes = b->count * hd_elem_bytes(b->type);
  *total += b->bytes;
  if (seed && (st = wl_get_integer(r, t, "seed", seed, "seed", 0, INT64_MAX, &s)) != HD_OK) return st;
  b->seed = (uint64_t)s;
  if ((st = wl_get_string(r, t, "fill", "none", &b->fill)) != HD_OK) return st;
  wl_error e = {0};
  if (!wl_fill_parse(b->fill, b->type, r->names, r->arena, &r->fills[i], &e))
    return wl_bad_text(r, t, "fill", b->fill, &e);
  if (wl_fill_is_generated(&r->fills[i]) && !r->w->reference)
    return wl_bad(r, t, "fill", "'generate' needs a 'reference', whose heddle_generate makes the buffer");
  return read_compare(r, t, b);
}
