/* Fills that make whole buffers: out of files, and those whose elements hang together. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zstd.h>

#include "workload/fill.h"

/* ---- Files ---------------------------------------------------------------------------------------- */

static hd_status raw(const hd_file *in, const wl_numbers *to, hd_diag *d) {
  const uint64_t bytes = to->count * hd_elem_bytes(to->type);
  if (in->len != bytes)
    return hd_fail_at(d, HD_ERR_INPUT, to->path, NULL, 0, 0, "holds %zu bytes; buffer '%s' needs %llu",
                      in->len, to->buffer, (unsigned long long)bytes);
  memcpy(to->out, in->data, in->len);
  return HD_OK;
}

/* One frame or several, one behind the other. */
static hd_status unpack(const hd_file *in, const wl_numbers *to, hd_diag *d) {
  const uint64_t bytes = to->count * hd_elem_bytes(to->type);
  const size_t got = ZSTD_decompress(to->out, bytes, in->data, in->len);
  if (ZSTD_isError(got))
    return hd_fail_at(d, HD_ERR_INPUT, to->path, NULL, 0, 0, "cannot be unpacked into buffer '%s': %s",
                      to->buffer, ZSTD_getErrorName(got));
  if (got != bytes)
    return hd_fail_at(d, HD_ERR_INPUT, to->path, NULL, 0, 0, "holds %zu bytes; buffer '%s' needs %llu", got,
                      to->buffer, (unsigned long long)bytes);
  return HD_OK;
}

static bool ends_in(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  return n > m && strcasecmp(path + n - m, ending) == 0;
}

static hd_status read_file(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, uint64_t column,
                           void *out, hd_diag *d) {
  hd_arena a;
  hd_arena_init(&a);
  const char *path = wl_join(&a, w->folder, f->file);
  const wl_numbers to = {path, b->name, b->type, b->count, out};
  hd_status st = path ? HD_OK : hd_nomem(d);
  hd_file in = {0};
  if (st == HD_OK && access(path, F_OK) == 0 && !wl_is_file(path))
    st = hd_fail_at(d, HD_ERR_INPUT, path, NULL, 0, 0, "is no file; it should hold buffer '%s'", b->name);
  if (st == HD_OK) st = hd_file_open(path, &in, d);
  if (st == HD_OK && (column != UINT64_MAX || ends_in(path, ".csv") || ends_in(path, ".txt")))
    st = wl_read_csv(in.data, in.len, column, &to, d);
  else if (st == HD_OK)
    st = ends_in(path, ".npy")   ? wl_read_npy(in.data, in.len, &to, d)
         : ends_in(path, ".zst") ? unpack(&in, &to, d)
                                 : raw(&in, &to, d);
  hd_file_close(&in);
  hd_arena_free(&a);
  return st;
}

hd_status hd_workload_fill_path(const hd_workload *w, uint32_t buffer, char *path, size_t cap, bool *found,
                                hd_diag *d) {
  const wl_fill *f = &((const wl_private *)w->priv)->fills[buffer];
  hd_arena a;
  *found = f->file != NULL;
  if (!*found) return HD_OK;
  hd_arena_init(&a);
  const char *full = wl_join(&a, w->folder, f->file);
  hd_status st = full ? HD_OK : hd_nomem(d);
  if (st == HD_OK && strlen(full) >= cap) st = hd_fail(d, HD_ERR_USAGE, "%s: this path is too long", full);
  if (st == HD_OK) memcpy(path, full, strlen(full) + 1);
  hd_arena_free(&a);
  return st;
}

hd_status wl_fill_file(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, void *out, hd_diag *d) {
  return read_file(w, f, b, UINT64_MAX, out, d);
}

hd_status wl_fill_column(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, void *out,
                         hd_diag *d) {
  return read_file(w, f, b, (uint64_t)f->integer[1], out, d);
}

/* ---- Expressions ---------------------------------------------------------------------------------- */

/* The numbers of its elements one after the other. The names are a copy, of which i changes. */
static hd_status each_begin(const wl_fill *f, wl_name **names, hd_diag *d) {
  *names = malloc(f->names.n * sizeof **names);
  if (!*names) return hd_nomem(d);
  memcpy(*names, f->names.data, f->names.n * sizeof **names);
  return HD_OK;
}

static hd_status each_at(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, wl_name *names,
                         uint64_t i, int64_t *v, hd_diag *d) {
  wl_error e;
  names[0].value = (int64_t)i;
  if (wl_eval(f->text, strlen(f->text), (wl_names){names, f->names.n}, v, &e)) return HD_OK;
  return hd_fail(d, HD_ERR_INPUT, "%s: element %llu of buffer '%s': %s", w->name, (unsigned long long)i,
                 b->name, e.message);
}

hd_status wl_fill_each(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, void *out, hd_diag *d) {
  const unsigned size = hd_elem_bytes(b->type);
  wl_name *names;
  hd_status st = each_begin(f, &names, d);
  if (st != HD_OK) return st;
  for (uint64_t i = 0; st == HD_OK && i < b->count; i++) {
    int64_t v;
    st = each_at(w, f, b, names, i, &v, d);
    if (st == HD_OK && !wl_elem_holds(b->type, v))
      st = hd_fail(d, HD_ERR_INPUT, "%s: element %llu of buffer '%s' is %lld, which does not fit in %s",
                   w->name, (unsigned long long)i, b->name, (long long)v, hd_elem_name(b->type));
    if (st == HD_OK) wl_elem_put_ints(b->type, &v, 1, (char *)out + i * size);
  }
  free(names);
  return st;
}

/* ---- Addresses ------------------------------------------------------------------------------------ */

/* Words of a recorded buffer that are addresses of where buffers lay then. */
static hd_status move(const hd_workload *w, uint32_t buffer, const uint64_t *addresses, uint64_t *words,
                      hd_diag *d) {
  const hd_wl_buffer *b = &w->buffers[buffer];
  hd_status st = wl_fill_file(w, &((const wl_private *)w->priv)->fills[buffer], b, words, d);
  uint64_t low = UINT64_MAX, high = 0;
  for (uint32_t k = 0; k < w->n_buffers; k++) {
    const hd_wl_buffer *to = &w->buffers[k];
    if (to->at && to->at < low) low = to->at;
    if (to->at && to->at + to->bytes > high) high = to->at + to->bytes;
  }
  for (uint64_t i = 0; st == HD_OK && i < b->count; i++) {
    if (words[i] - low >= high - low) continue;
    const hd_wl_buffer *in = NULL; /* what lies behind one buffer may be the beginning of another */
    for (const hd_wl_buffer *k = w->buffers; k < w->buffers + w->n_buffers; k++)
      if (k->at && words[i] - k->at < k->bytes && (!in || k->at > in->at)) in = k;
    if (in) words[i] += addresses[in - w->buffers] - in->at;
  }
  return st;
}

hd_status hd_workload_point(const hd_workload *w, uint32_t buffer, const uint64_t *addresses, void *dst,
                            hd_diag *d) {
  const hd_wl_buffer *b = &w->buffers[buffer], *to = &w->buffers[b->pointed];
  const wl_fill *f = &((const wl_private *)w->priv)->fills[buffer];
  wl_name *names;
  if (!b->points) return hd_fail(d, HD_ERR_USAGE, "%s: buffer '%s' holds no addresses", w->name, b->name);
  if (wl_fill_is_recorded(f)) return move(w, buffer, addresses, dst, d);
  hd_status st = each_begin(f, &names, d);
  if (st != HD_OK) return st;
  for (uint64_t i = 0; st == HD_OK && i < b->count; i++) {
    int64_t v = 0;
    st = each_at(w, f, b, names, i, &v, d);
    /* The address behind the last element is one that C has too; numbers below 0 are the null pointer. */
    if (st == HD_OK && v > 0 && (uint64_t)v > to->count)
      st = hd_fail(d, HD_ERR_INPUT,
                   "%s: element %llu of buffer '%s' points to element %lld of '%s', which has %llu", w->name,
                   (unsigned long long)i, b->name, (long long)v, to->name, (unsigned long long)to->count);
    ((uint64_t *)dst)[i] =
        st != HD_OK || v < 0 ? 0 : addresses[b->pointed] + (uint64_t)v * hd_elem_bytes(to->type);
  }
  free(names);
  return st;
}

/* ---- Orders --------------------------------------------------------------------------------------- */

/* Fisher and Yates. */
hd_status wl_fill_permutation(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, void *out,
                              hd_diag *d) {
  const unsigned size = hd_elem_bytes(b->type);
  char *at = out, held[8];
  if (!wl_elem_holds(b->type, (int64_t)(b->count - 1)))
    return hd_fail(d, HD_ERR_INPUT, "%s: buffer '%s' has more elements than %s has numbers", w->name, b->name,
                   hd_elem_name(b->type));
  for (uint64_t i = 0; i < b->count; i++) {
    const uint64_t k = (uint64_t)(((wl_u128)hd_random_at(b->seed, i) * (i + 1)) >> 64);
    const int64_t v = (int64_t)i;
    wl_elem_put_ints(b->type, &v, 1, held);
    memcpy(at + i * size, at + k * size, size);
    memcpy(at + k * size, held, size);
  }
  return HD_OK;
}

static int by_number(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static int by_integer(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

hd_status wl_fill_sorted(const hd_workload *w, const wl_fill *f, const hd_wl_buffer *b, void *out,
                         hd_diag *d) {
  enum { BLOCK = 256 };
  const unsigned size = hd_elem_bytes(b->type);
  const bool floats = wl_elem(b->type)->is_float;
  void *all = b->count <= SIZE_MAX / 8 ? malloc(b->count * 8) : NULL;
  if (!all) return hd_nomem(d);
  for (uint64_t at = 0; at < b->count; at += BLOCK) {
    const unsigned n = b->count - at < BLOCK ? (unsigned)(b->count - at) : BLOCK;
    if (floats)
      wl_uniform(f, b->seed, at, n, (double *)all + at);
    else
      wl_uniform_int(f, b->seed, at, n, (int64_t *)all + at);
  }
  qsort(all, b->count, 8, floats ? by_number : by_integer);
  for (uint64_t at = 0; at < b->count; at += BLOCK) {
    const unsigned n = b->count - at < BLOCK ? (unsigned)(b->count - at) : BLOCK;
    if (floats)
      wl_elem_put_doubles(b->type, (double *)all + at, n, (char *)out + at * size);
    else
      wl_elem_put_ints(b->type, (int64_t *)all + at, n, (char *)out + at * size);
  }
  free(all);
  return HD_OK;
}
