/* Facts from the traces, launch by launch and together. */
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"

enum { DEFAULT_LAUNCHES = 16 };

static hd_status measure(const advising *a, uint32_t launch, hd_facts *f, hd_diag *d) {
  uint32_t n;
  const hd_reuse_array *arrays = hd_study_arrays(a->s, &n);
  return hd_facts_measure(hd_study_trace(a->s, launch), a->w->launches[launch].grid, arrays, n, a->g->l1.line,
                          f, d);
}

static bool begin_sum(hd_facts *sum, const hd_facts *f) {
  uint32_t n = f->reuse.n_arrays;
  hd_reuse_row *reuse = malloc(((size_t)n + 1) * sizeof *reuse);
  sum->sharing.arrays = calloc((size_t)n + 1, sizeof *sum->sharing.arrays);
  sum->pattern.arrays = calloc((size_t)n + 1, sizeof *sum->pattern.arrays);
  if (!reuse || !sum->sharing.arrays || !sum->pattern.arrays) {
    free(reuse);
    return false;
  }
  memcpy(reuse, f->reuse.arrays, ((size_t)n + 1) * sizeof *reuse);
  sum->reuse = f->reuse;
  sum->reuse.arrays = reuse;
  sum->sharing.n_arrays = sum->pattern.n_arrays = n;
  sum->sharing.sampled = 1;
  return true;
}

static hd_status add(hd_facts *sum, const hd_facts *f, hd_diag *d) {
  if (sum->reuse.arrays)
    hd_reuse_add(&sum->reuse, &f->reuse);
  else if (!begin_sum(sum, f))
    return hd_nomem(d);
  for (uint32_t i = 0; i <= f->sharing.n_arrays; i++) {
    hd_sharing_add(&sum->sharing.arrays[i], &f->sharing.arrays[i]);
    hd_pattern_add(&sum->pattern.arrays[i], &f->pattern.arrays[i]);
    if (f->sharing.arrays[i].stores) sum->skewed_reads += f->sharing.arrays[i].skewed;
  }
  hd_sharing_add(&sum->sharing.all, &f->sharing.all);
  hd_pattern_add(&sum->pattern.all, &f->pattern.all);
  sum->array_loads += f->sharing.all.loads;
  if (f->sharing.sampled < sum->sharing.sampled) sum->sharing.sampled = f->sharing.sampled;
  return HD_OK;
}

/* Whether the launch is among the `most`, evenly spread, that are measured of its kernel's launches, but for
 * those that a sample leaves out. */
static bool is_measured(const advising *a, uint32_t launch, uint32_t most) {
  const hd_workload *w = a->w;
  uint32_t number = 0, all = 0;
  if (hd_study_leaves_out(a->s, launch)) return false;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    if (hd_study_leaves_out(a->s, i) || strcmp(w->launches[i].kernel, w->launches[launch].kernel) != 0)
      continue;
    number += i < launch;
    all++;
  }
  if (all <= most) return true;
  const uint64_t k = most;
  return number * k / all != (number + 1) * k / all;
}

hd_status advice_facts(advising *a, hd_diag *d) {
  hd_advice *out = a->out;
  uint32_t n = a->w->n_launches, most = a->o.launches ? a->o.launches : DEFAULT_LAUNCHES;
  out->launches = calloc((size_t)n + 1, sizeof *out->launches);
  if (!out->launches) return hd_nomem(d);
  out->n_launches = n;
  for (uint32_t i = 0; i < n; i++) {
    if (!is_measured(a, i, most)) continue;
    hd_facts *f = &out->launches[i];
    hd_status st = measure(a, i, f, d);
    if (st == HD_OK) st = add(&out->sum, f, d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}
