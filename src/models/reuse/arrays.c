#include "reuse/arrays.h"

#include <stdlib.h>

hd_status reuse_arrays_open(reuse_arrays *a, const hd_reuse_array *array, uint32_t n, hd_diag *d) {
  *a = (reuse_arrays){.array = array, .n = n, .last = n};
  a->sorted = malloc(((size_t)n + 1) * sizeof *a->sorted);
  if (!a->sorted) return hd_nomem(d);
  for (uint32_t i = 0; i < n; i++) { /* few, and mostly in order already */
    uint32_t at = i;
    for (; at && array[a->sorted[at - 1]].start > array[i].start; at--) a->sorted[at] = a->sorted[at - 1];
    a->sorted[at] = i;
  }
  for (uint32_t i = 1; i < n; i++) {
    const hd_reuse_array *low = &array[a->sorted[i - 1]], *high = &array[a->sorted[i]];
    if (high->start - low->start < low->bytes)
      return hd_fail(d, HD_ERR_USAGE, "the arrays '%s' and '%s' overlap", low->name, high->name);
  }
  return HD_OK;
}

void reuse_arrays_close(reuse_arrays *a) {
  free(a->sorted);
  *a = (reuse_arrays){0};
}

uint32_t reuse_arrays_find(reuse_arrays *a, uint64_t address) {
  if (a->last < a->n && address - a->array[a->last].start < a->array[a->last].bytes) return a->last;
  uint32_t low = 0, high = a->n; /* in the end: how many arrays start at or below the address */
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    if (a->array[a->sorted[middle]].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low) return a->n;
  uint32_t found = a->sorted[low - 1];
  if (address - a->array[found].start >= a->array[found].bytes) return a->n;
  return a->last = found;
}
