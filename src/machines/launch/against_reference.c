/* The reference of a workload, run on the kernel's initial buffers, and compared with the kernel's result. */
#include "launch/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Run the reference on the first contents; buffers that the workload leaves alone begin as zeros. */
static hd_status compute(const hd_workload *w, void *const *initial, const bool *filled, void **want,
                         hd_diag *d) {
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    uint64_t bytes = w->buffers[i].bytes;
    want[i] = calloc(1, bytes ? bytes : 1);
    if (!want[i]) return hd_nomem(d);
    if (filled[i]) memcpy(want[i], initial[i], bytes);
  }
  uint64_t *addresses = calloc((size_t)w->n_buffers + 1, sizeof *addresses);
  hd_status st = addresses ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++) addresses[i] = (uint64_t)(uintptr_t)want[i];
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++)
    if (w->buffers[i].points) st = hd_workload_point(w, i, addresses, want[i], d);
  free(addresses);
  return st == HD_OK ? hd_workload_reference(w, want, d) : st;
}

hd_status reference_compare(const hd_workload *w, void *const *initial, const bool *filled,
                            void *const *result, hd_check_result *out, hd_diag *d) {
  void **want = calloc((size_t)w->n_buffers + 1, sizeof *want);
  if (!want) return hd_nomem(d);
  hd_status st = compute(w, initial, filled, want, d);
  for (uint32_t i = 0; st == HD_OK && out->equal && i < w->n_buffers; i++) {
    const hd_wl_buffer *b = &w->buffers[i];
    char what[512];
    if (b->compare == HD_COMPARE_NONE ||
        hd_elem_compare(b->type, b->compare, b->abs, b->rel, result[i], want[i], b->count, what, sizeof what))
      continue;
    out->equal = false;
    snprintf(out->what, sizeof out->what, "original kernel against reference: buffer %s: %s", b->name, what);
  }
  if (st == HD_OK) out->against_reference = true;
  for (uint32_t i = 0; i < w->n_buffers; i++) free(want[i]);
  free(want);
  return st;
}
