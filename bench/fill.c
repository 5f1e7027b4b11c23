/* How fast buffers are filled: each fill over 64 Mi elements of f32 by all processors, and one
 * million of them by a single thread. Medians of five. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "workload/workload.h"

enum { RUNS = 5, COUNT = 64 << 20, ONE_THREAD = 1 << 20 };

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static hd_status open_fill(const char *fill, hd_workload **w, hd_diag *d) {
  char text[512];
  snprintf(
      text, sizeof text,
      "source = \"k.cu\"\n[sizes.small]\nn = %d\n[[buffer]]\nname = \"a\"\ntype = \"f32\"\ncount = \"n\"\n"
      "fill = \"%s\"\n[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [\"a\"]\n",
      COUNT, fill);
  const wl_input in = {.text = text, .len = strlen(text), .path = "fill", .folder = "."};
  return wl_read(&in, w, d);
}

int main(void) {
  static const char *const fills[] = {"zero",         "iota", "uniform(-1, 1)", "uniform_int(0, 255)",
                                      "normal(0, 1)", "bytes"};
  void *memory = malloc((size_t)COUNT * sizeof(float));
  if (!memory) return 1;
  memset(memory, 1, (size_t)COUNT * sizeof(float)); /* pages are there before the clock starts */
  printf("%-20s %16s %20s\n", "fill (f32)", "all: GB/s", "1 thread: ns/element");
  for (size_t f = 0; f < sizeof fills / sizeof *fills; f++) {
    hd_workload *w;
    hd_diag d;
    double all[RUNS], one[RUNS];
    if (open_fill(fills[f], &w, &d) != HD_OK) {
      fprintf(stderr, "%s\n", d.message);
      return 1;
    }
    for (int i = 0; i < RUNS; i++) {
      bool written;
      double start = hd_seconds();
      if (hd_workload_fill(w, 0, memory, &written, &d) != HD_OK) return 1;
      all[i] = hd_seconds() - start;
      start = hd_seconds();
      wl_fill_range(w, 0, 0, ONE_THREAD, memory);
      one[i] = hd_seconds() - start;
    }
    qsort(all, RUNS, sizeof *all, by_value);
    qsort(one, RUNS, sizeof *one, by_value);
    printf("%-20s %16.2f %20.2f\n", fills[f], COUNT * 4e-9 / all[RUNS / 2], one[RUNS / 2] * 1e9 / ONE_THREAD);
    hd_workload_close(w);
  }
  free(memory);
  return 0;
}
