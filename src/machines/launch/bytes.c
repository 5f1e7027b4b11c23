/* Buffers on the host: their contents before a run, and the comparison of results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/launch.h"

/* ---- Memory ------------------------------------------------------------------------ */

void launch_bytes_free(const hd_workload *w, void **bytes) {
  for (uint32_t i = 0; bytes && i < w->n_buffers; i++) free(bytes[i]);
  free(bytes);
}

void **launch_bytes_new(const hd_workload *w) {
  void **bytes = calloc((size_t)w->n_buffers + 1, sizeof *bytes);
  for (uint32_t i = 0; bytes && i < w->n_buffers; i++) {
    uint64_t n = w->buffers[i].bytes;
    bytes[i] = w->buffers[i].variable ? calloc(1, n) : malloc(n ? n : 1);
    if (!bytes[i]) {
      launch_bytes_free(w, bytes);
      return NULL;
    }
  }
  return bytes;
}

uint64_t launch_bytes_total(const hd_workload *w) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < w->n_buffers; i++) sum += w->buffers[i].bytes;
  return sum;
}

/* ---- First contents ------------------------------------------------------------------ */

/* First touches of large memory take the time: all processors share them. */
typedef struct poisoning {
  char *at;
  uint64_t bytes;
  unsigned workers;
} poisoning;

static void poison_part(void *ctx, unsigned worker) {
  const poisoning *p = ctx;
  uint64_t part = p->bytes / p->workers, from = part * worker;
  memset(p->at + from, LAUNCH_POISON, worker + 1 == p->workers ? p->bytes - from : part);
}

void launch_poison(void *at, uint64_t bytes) {
  enum { WORTH_A_THREAD = 16 << 20 };
  uint64_t most = bytes / WORTH_A_THREAD + 1, cpus = hd_cpu_count();
  poisoning p = {at, bytes, (unsigned)(most < cpus ? most : cpus)};
  if (p.workers > 1 && hd_parallel(p.workers, poison_part, &p)) return;
  memset(at, LAUNCH_POISON, bytes);
}

hd_status launch_first_contents(const hd_workload *w, void **bytes, bool *filled, hd_diag *d) {
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (!w->buffers[i].variable) launch_poison(bytes[i], w->buffers[i].bytes);
  return hd_workload_fill_all(w, bytes, filled, d);
}

/* ---- Results --------------------------------------------------------------------------- */

bool launch_same_buffer(const hd_wl_buffer *b, const void *got, const void *want, uint64_t count, char *what,
                        size_t cap) {
  hd_compare_kind how = b->atomics ? HD_COMPARE_NEAR : HD_COMPARE_EXACT;
  return hd_elem_compare(b->type, how, b->abs, b->rel, got, want, count, what, cap);
}

bool launch_keeps_word(const hd_workload *w, void *const *before, const bool *filled, void *const *after,
                       char *what, size_t cap) {
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    char difference[512];
    if (!b->unwritten || !filled[i]) continue;
    if (hd_elem_compare(b->type, HD_COMPARE_EXACT, 0, 0, after[i], before[i], b->count, difference,
                        sizeof difference))
      continue;
    snprintf(what, cap, "buffer %s was said to be unwritten, but is written: %s", b->name, difference);
    return false;
  }
  return true;
}

bool launch_same(const hd_workload *w, void *const *got, void *const *want, char *what, size_t cap) {
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    char difference[512];
    if (launch_same_buffer(b, got[i], want[i], b->count, difference, sizeof difference)) continue;
    snprintf(what, cap, "buffer %s: %s", b->name, difference);
    return false;
  }
  return true;
}

hd_status launch_as_answer(hd_status st, const hd_diag *e, const char *who, hd_check_result *r, hd_diag *d) {
  if (st != HD_OK && st != HD_ERR_FAULT && d) *d = *e;
  if (st != HD_ERR_FAULT) return st;
  char line[sizeof r->what];
  hd_diag_line(e, line, sizeof line);
  r->equal = false;
  hd_fit(r->what, sizeof r->what, "%s: %s", who, line);
  return HD_OK;
}
