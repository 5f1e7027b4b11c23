/* The sites of one array over the whole launch. Those that sweep over the same kind of stretch, less than a
 * line apart, are joined: unrolled loops, stencils. */
#include <stdlib.h>
#include <string.h>

#include "polyhedral/internal.h"

static bool is_plain(const polyhedral_footprint *f) {
  return !(f->bound >> POLYHEDRAL_TID) && !f->n_guards && !f->n_assumed && !f->address.n_functions;
}

static int by_shape(const void *pa, const void *pb) {
  const polyhedral_swept *x = pa, *y = pb;
  bool px = x->plain, py = y->plain;
  if (px != py || !px) return px != py ? py - px : (x->site > y->site) - (x->site < y->site);
  int c = memcmp(x->f.address.coefficient, y->f.address.coefficient, sizeof x->f.address.coefficient);
  if (!c) c = (x->f.bound > y->f.bound) - (x->f.bound < y->f.bound);
  if (!c) c = (x->f.n_dims > y->f.n_dims) - (x->f.n_dims < y->f.n_dims);
  if (!c) c = memcmp(x->f.dims, y->f.dims, sizeof x->f.dims);
  if (!c) c = memcmp(&x->f.box, &y->f.box, sizeof x->f.box);
  return c ? c
           : (x->f.address.constant > y->f.address.constant) -
                 (x->f.address.constant < y->f.address.constant);
}

static bool joins(const polyhedral_swept *x, const polyhedral_swept *y, uint32_t line) {
  polyhedral_swept moved = *y;
  moved.f.address.constant = x->f.address.constant;
  if (!x->plain || !y->plain || by_shape(x, &moved)) return false;
  return y->f.address.constant - x->f.address.constant < x->f.width + (int64_t)line;
}

static uint32_t join_all(polyhedral_swept *all, uint32_t n, uint32_t line) {
  uint32_t kept = 0;
  if (!n) return 0;
  qsort(all, n, sizeof *all, by_shape);
  for (uint32_t i = 1; i < n; i++) {
    if (joins(&all[kept], &all[i], line)) {
      int64_t end = all[i].f.address.constant + all[i].f.width - all[kept].f.address.constant;
      if (end > all[kept].f.width) all[kept].f.width = end;
      free(all[i].guards);
    } else {
      all[++kept] = all[i];
    }
  }
  return kept + 1;
}

hd_polyhedral_inexact polyhedral_sweep(const polyhedral_launch *l, const polyhedral_site *sites,
                                       const uint32_t *which, uint32_t n, polyhedral_swept **out,
                                       uint32_t *n_out) {
  int64_t lo[3] = {0, 0, 0}, hi[3];
  uint32_t kept = 0;
  polyhedral_swept *all = calloc((size_t)n + 1, sizeof *all);
  hd_polyhedral_inexact why = all ? HD_INEXACT_NO : HD_INEXACT_BUDGET;
  for (uint32_t i = 0; i < 3; i++) hi[i] = (int64_t)l->grid[i] - 1;
  for (uint32_t i = 0; i < n && !why; i++) {
    polyhedral_swept *one = &all[kept];
    one->site = which[i];
    one->guards = calloc((size_t)sites[which[i]].n_guards + 1, sizeof *one->guards);
    why = one->guards ? polyhedral_site_footprint(&sites[which[i]], lo, hi, l->line, one->guards, &one->f)
                      : HD_INEXACT_BUDGET;
    if (why == HD_INEXACT_OVERFLOW) { /* for all CTAs together: one by one they may do */
      memset(&one->f, 0, sizeof one->f);
      one->f.n_assumed = 1;
      why = HD_INEXACT_NO;
    }
    one->plain = is_plain(&one->f);
    if (why || one->f.never)
      free(one->guards);
    else
      kept++;
  }
  *out = all;
  *n_out = why ? kept : join_all(all, kept, l->line);
  return why;
}

void polyhedral_sweep_free(polyhedral_swept *all, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) free(all[i].guards);
  free(all);
}
