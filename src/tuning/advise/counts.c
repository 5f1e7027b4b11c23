/* The counts of one launch, from its trace. */
#include "heddle/advise.h"

hd_status hd_facts_measure(const hd_trace *t, const uint32_t grid[3], const hd_reuse_array *arrays,
                           uint32_t n, uint32_t line, hd_facts *out, hd_diag *d) {
  const hd_reuse_options reuse = {.line = line};
  const hd_sharing_options sharing = {.line = line};
  *out = (hd_facts){0};
  hd_status st = hd_reuse_measure(t, arrays, n, &reuse, &out->reuse, d);
  if (st == HD_OK) st = hd_sharing_measure(t, grid, arrays, n, &sharing, &out->sharing, d);
  if (st == HD_OK) st = hd_pattern_measure(t, grid, arrays, n, 0, &out->pattern, d);
  for (uint32_t k = 0; st == HD_OK && k <= n; k++)
    if (out->sharing.arrays[k].stores) out->skewed_reads += out->sharing.arrays[k].skewed;
  out->array_loads = out->sharing.all.loads;
  return st;
}

void hd_facts_free(hd_facts *f) {
  hd_reuse_free(&f->reuse);
  hd_sharing_free(&f->sharing);
  hd_pattern_free(&f->pattern);
}
