/* The cost of looking up a verdict in a launch path: nanoseconds per call of hd_apply, for launches that were
 * seen before. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/verdict.h"

enum { KERNELS = 64, GRIDS = 16, CALLS = 1 << 20, BATCH = 256 };

static const char head[] = ".version 7.8\n.target sm_80\n.address_size 64\n";

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void put_kernel(hd_buf *text, unsigned k) {
  hd_buf_printf(
      text,
      ".visible .entry _Z20some_kernel_number_%uPfS_i(.param .u64 out)\n{\n.reg .b32 %%r<4>;\n"
      ".reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [out];\nmov.u32 %%r1, %%ctaid.x;\n"
      "mul.wide.u32 %%rd2, %%r1, 4;\nadd.s64 %%rd3, %%rd1, %%rd2;\nst.global.u32 [%%rd3], %%r1;\nret;\n}\n",
      k);
}

int main(void) {
  char folder[] = "/tmp/heddle-bench-XXXXXX", path[64], names[KERNELS][64];
  static const uint32_t block[3] = {256, 1, 1};
  static double first[KERNELS * GRIDS], later[CALLS / BATCH];
  hd_diag d;
  hd_store *s;
  hd_applier *a;
  hd_applier_module *m;
  hd_buf text = {0};
  if (!mkdtemp(folder)) return 1;
  snprintf(path, sizeof path, "%s/v.db", folder);
  hd_buf_puts(&text, head);
  for (unsigned k = 0; k < KERNELS; k++) {
    put_kernel(&text, k);
    snprintf(names[k], sizeof names[k], "_Z20some_kernel_number_%uPfS_i", k);
  }
  if (hd_store_open(path, &s, &d) != HD_OK) return 1;
  for (unsigned k = 0; k < KERNELS; k += 2) { /* every other kernel has a verdict */
    hd_verdict v = {
        .speedup = 1.1, .low = 1, .high = 1.2, .confidence = 0.99, .before_us = 10, .after_us = 9, .when = 1};
    const uint32_t grid[3] = {8, 8, 1};
    hd_verdict_kernel(text.data, text.len, names[k], v.key.kernel);
    hd_verdict_launch(grid, block, 0, NULL, 0, v.key.launch);
    strcpy(v.key.gpu, "GPU");
    strcpy(v.key.driver, "1");
    strcpy(v.plan, "order=tile:4x4");
    if (hd_store_put(s, &v, &d) != HD_OK) return 1;
  }
  if (hd_applier_open(s, "GPU", "1", 132, &a, &d) != HD_OK) return 1;
  if (hd_applier_add(a, text.data, text.len, "bench", &m, &d) != HD_OK) return 1;
  unsigned changed = 0;
  for (unsigned k = 0; k < KERNELS; k++)
    for (unsigned g = 0; g < GRIDS; g++) {
      const uint32_t grid[3] = {8 + g, 8, 1};
      double start = hd_seconds();
      const hd_applied *r = hd_apply(a, m, names[k], grid, block, 0);
      first[k * GRIDS + g] = hd_seconds() - start;
      if (!r) return 1;
      changed += r->changed;
    }
  for (unsigned i = 0; i < CALLS / BATCH; i++) {
    double start = hd_seconds();
    for (unsigned j = 0; j < BATCH; j++) {
      uint64_t x = hd_random_at(1, (uint64_t)i * BATCH + j);
      const uint32_t grid[3] = {8 + (uint32_t)(x >> 32) % GRIDS, 8, 1};
      if (!hd_apply(a, m, names[x % KERNELS], grid, block, 0)) return 1;
    }
    later[i] = (hd_seconds() - start) / BATCH;
  }
  qsort(first, KERNELS * GRIDS, sizeof *first, compare);
  qsort(later, CALLS / BATCH, sizeof *later, compare);
  printf("%u kernels, %u launches of each, %u of all rewritten\n", KERNELS, GRIDS, changed);
  printf("first call   %9.1f us median, %9.1f us at 99%%\n", first[KERNELS * GRIDS / 2] * 1e6,
         first[KERNELS * GRIDS * 99 / 100] * 1e6);
  printf("later calls  %9.1f ns median, %9.1f ns at 99%% (means of %u calls)\n",
         later[CALLS / BATCH / 2] * 1e9, later[CALLS / BATCH * 99 / 100] * 1e9, BATCH);
  hd_applier_close(a);
  hd_store_close(s);
  hd_buf_free(&text);
  static const char *const ends[] = {"", "-wal", "-shm"};
  for (size_t i = 0; i < 3; i++) {
    char file[80];
    snprintf(file, sizeof file, "%s%s", path, ends[i]);
    remove(file);
  }
  return remove(folder) != 0;
}
