/* Plans against others, where the buffers lie. */
#include <stdlib.h>
#include <string.h>

#include "contest/search.h"

hd_status search_compare(const tuner_bench *b, const hd_plan_set *first, const hd_plan_set *second,
                         uint32_t rounds, double confidence, hd_speedup *speedup, double *before_us,
                         double *after_us, hd_diag *d) {
  /* Two halves, each with both loaded again: where code and tables come to lie is chance as well. */
  bool slow = rounds <= SEARCH_LEAST_TEST;
  uint32_t halves = slow ? 1 : 2, done = 0;
  double *before = calloc(2 * (size_t)rounds, sizeof *before), *after = before ? before + rounds : NULL;
  double *us = calloc(2 * (size_t)rounds, sizeof *us);
  hd_status st = before && us ? HD_OK : hd_nomem(d);
  for (uint32_t h = 0; st == HD_OK && h < halves; h++) {
    uint32_t n = h + 1 < halves ? rounds / 2 : rounds - done, slots[2], held = 0;
    double rough;
    st = b->admit(b->ctx, h ? second : first, &slots[h ? 1 : 0], &rough, d);
    held += st == HD_OK;
    if (st == HD_OK) st = b->admit(b->ctx, h ? first : second, &slots[h ? 0 : 1], &rough, d);
    held += st == HD_OK;
    if (st == HD_OK) st = b->time(b->ctx, slots, 2, slow ? 0 : 1, n, us, d);
    if (st == HD_OK) {
      memcpy(before + done, us, n * sizeof *us);
      memcpy(after + done, us + n, n * sizeof *us);
      done += n;
    }
    if (held) b->release(b->ctx, slots[h ? 1 : 0]);
    if (held > 1) b->release(b->ctx, slots[h ? 0 : 1]);
  }
  if (st == HD_OK) st = hd_paired_speedup(before, after, done, confidence, speedup, d);
  if (st == HD_OK) {
    *before_us = hd_median(before, done);
    *after_us = hd_median(after, done);
  }
  free(before);
  free(us);
  return st;
}

uint32_t search_rounds(double us, double seconds, uint32_t most) {
  double n = us > 0 ? seconds * 1e6 / us : most;
  return n < SEARCH_LEAST_TEST ? SEARCH_LEAST_TEST : n > most ? most : (uint32_t)n;
}
