/* Reads [[buffer]] and [[variable]], a workload's data. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "workload/reader.h"

#define MAX_BYTES (1ull << 40) /* of all buffers together */

static const char *const BUFFER_KEYS[] = {"name", "type", "count",   "fill",      "seed", "compare",
                                          "abs",  "rel",  "atomics", "unwritten", "at",   NULL};

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
  if ((st = wl_get_flag(r, t, "atomics", &b->atomics)) != HD_OK) return st;
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

/* PTX names have $ as well. */
static bool is_name(const char *s, bool variable) {
  for (size_t k = 0; s[k]; k++)
    if (!wl_is_identifier(s + k, 1) && !(s[k] >= '0' && s[k] <= '9' && k) && !(variable && s[k] == '$'))
      return false;
  return true;
}

/* A copy is filled as the other buffer is, from the same seed. */
static hd_status copy_fill(wl_reader *r, const json_t *t, uint32_t i) {
  hd_wl_buffer *b = &r->w->buffers[i];
  const char *name = wl_fill_copies(&r->fills[i]);
  uint32_t of;
  if (!wl_find_buffer(r, name, &of) || of >= i)
    return wl_bad(r, t, "fill", "there is no buffer '%.60s' before this one", name);
  const hd_wl_buffer *o = &r->w->buffers[of];
  if (o->type != b->type || o->count != b->count)
    return wl_bad(r, t, "fill", "'%.60s' is %llu elements of %s, and so no copy of it is %llu of %s", name,
                  (unsigned long long)o->count, hd_elem_name(o->type), (unsigned long long)b->count,
                  hd_elem_name(b->type));
  if (wl_fill_is_generated(&r->fills[of]))
    return wl_bad(r, t, "fill", "'%.60s' is generated, and may be written after the copy is made", name);
  r->fills[i] = r->fills[of];
  b->seed = o->seed;
  return HD_OK;
}

/* Elements that are addresses differ from run to run, and so are neither compared with a reference's nor by
 * somebody's word the same afterwards. */
static hd_status find_pointed(wl_reader *r, const json_t *t, uint32_t i) {
  hd_wl_buffer *b = &r->w->buffers[i];
  const char *name = wl_fill_points_to(&r->fills[i]);
  const bool recorded = wl_fill_is_recorded(&r->fills[i]);
  if (!name && !recorded) return HD_OK;
  if (recorded && (!b->at || b->variable))
    return wl_bad(r, t, "fill", "a recorded buffer has an address, 'at', and is no variable");
  b->pointed = i;
  if (!recorded && (!wl_find_buffer(r, name, &b->pointed) || r->w->buffers[b->pointed].variable))
    return wl_bad(r, t, "fill", "there is no buffer '%.60s'", name);
  if (b->compare != HD_COMPARE_NONE || b->unwritten)
    return wl_bad(r, t, b->unwritten ? "unwritten" : "compare", "a buffer of addresses has no '%s'",
                  b->unwritten ? "unwritten" : "compare");
  b->points = true;
  return HD_OK;
}

/* "0x7f0012000000": where a buffer lay. Its last byte has an address, too. */
static hd_status read_address(wl_reader *r, const json_t *t, hd_wl_buffer *b) {
  const char *text = "";
  char *end;
  if (!json_object_get(t, "at")) return HD_OK;
  hd_status st = wl_get_string(r, t, "at", NULL, &text);
  if (st != HD_OK) return st;
  errno = 0;
  b->at = strtoull(text, &end, 16);
  if (strncmp(text, "0x", 2) != 0 || *end || errno || !b->at || b->bytes > UINT64_MAX - b->at)
    return wl_bad(r, t, "at", "an address is written as \"0x7f0012000000\", not '%.40s'", text);
  return HD_OK;
}

/* Buffer i; *total is the bytes of those before it, and then of it too. */
static hd_status read_buffer(wl_reader *r, const json_t *t, uint32_t i, bool variable, uint64_t *total) {
  hd_wl_buffer *b = &r->w->buffers[i];
  hd_status st = wl_only(r, t, BUFFER_KEYS);
  b->variable = variable;
  if (st != HD_OK || (st = wl_get_string(r, t, "name", NULL, &b->name)) != HD_OK) return st;
  if (!is_name(b->name, variable))
    return wl_bad(r, t, "name", "a %s is named by letters, digits and '_', not '%.60s'",
                  variable ? "variable" : "buffer", b->name);
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
  if ((st = wl_get_flag(r, t, "unwritten", &b->unwritten)) != HD_OK ||
      (st = wl_get_string(r, t, "fill", "none", &b->fill)) != HD_OK)
    return st;
  wl_error e = {0};
  if (!wl_fill_parse(b->fill, b->type, r->names, r->arena, &r->fills[i], &e))
    return wl_bad_text(r, t, "fill", b->fill, &e);
  if ((st = read_address(r, t, b)) != HD_OK) return st;
  if (wl_fill_copies(&r->fills[i]) && (st = copy_fill(r, t, i)) != HD_OK) return st;
  if (wl_fill_is_generated(&r->fills[i]) && !r->w->reference)
    return wl_bad(r, t, "fill", "'generate' needs a 'reference', whose heddle_generate makes the buffer");
  return read_compare(r, t, b);
}

/* The tables under `key`; there may be none. */
static hd_status get_tables(wl_reader *r, const json_t *root, const char *key, const json_t **out,
                            size_t *n) {
  *out = NULL;
  *n = 0;
  if (!json_object_get(root, key)) return HD_OK;
  return wl_get_tables(r, root, key, WL_MAX_BUFFERS, out, n);
}

hd_status wl_read_buffers(wl_reader *r, const json_t *root) {
  static const char *const kinds[] = {"buffer", "variable"};
  const json_t *tables[2];
  size_t n[2];
  hd_status st = get_tables(r, root, "variable", &tables[1], &n[1]);
  if (st == HD_OK) st = get_tables(r, root, "buffer", &tables[0], &n[0]);
  if (st != HD_OK) return st;
  if (n[0] + n[1] > WL_MAX_BUFFERS)
    return wl_bad(r, root, "variable", "%zu [[buffer]] and [[variable]] are given, at most %d are allowed",
                  n[0] + n[1], WL_MAX_BUFFERS);
  r->w->buffers = HD_NEW_N(r->arena, n[0] + n[1], hd_wl_buffer);
  r->fills = HD_NEW_N(r->arena, n[0] + n[1], wl_fill);
  uint64_t total = 0;
  bool compared = false;
  for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
    for (size_t i = 0; i < n[kind]; i++) {
      const uint32_t at = r->w->n_buffers;
      if ((st = read_buffer(r, json_array_get(tables[kind], i), at, kind == 1, &total)) != HD_OK) return st;
      r->w->n_buffers++;
      compared |= r->w->buffers[at].compare != HD_COMPARE_NONE;
    }
  for (uint32_t i = 0; i < r->w->n_buffers; i++) {
    const bool variable = r->w->buffers[i].variable;
    st = find_pointed(r, json_array_get(tables[variable], variable ? i - n[0] : i), i);
    if (st != HD_OK) return st;
  }
  if (r->w->reference && !compared)
    return wl_bad(r, root, "reference",
                  "no [[buffer]] has 'compare': there is nothing to hold against the reference");
  return HD_OK;
}
