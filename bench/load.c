/* Loading kernels on a GPU: the driver compiles one after the other, or heddle ahead on all processors.
 *
 *     bench_load [DEVICE [WORKLOAD [N]]]      (cuda:0, matmul-naive, 64)
 *
 * N texts that differ in a comment, so that no cache of the driver's knows them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/device.h"
#include "heddle/workload.h"

static void must(hd_status st, const hd_diag *d) {
  char line[1400];
  if (st == HD_OK) return;
  fprintf(stderr, "bench_load: %s\n", hd_diag_line(d, line, sizeof line));
  exit(2);
}

static double load_all(hd_device *dev, const hd_device_source *s, size_t n, bool ahead) {
  hd_diag d = {0};
  double start = hd_seconds();
  if (ahead) must(hd_device_compile_ahead(dev, s, n, &d), &d);
  for (size_t i = 0; i < n; i++) {
    hd_device_module *m;
    must(hd_device_load(dev, s[i].ptx, s[i].len, "bench", NULL, &m, &d), &d);
    hd_device_unload(m);
  }
  return hd_seconds() - start;
}

int main(int argc, char **argv) {
  const char *data = getenv("HEDDLE_DATA"), *name = argc > 2 ? argv[2] : "matmul-naive";
  size_t n = argc > 3 ? strtoul(argv[3], NULL, 10) : 64;
  char kernels[4096];
  hd_diag d = {0};
  hd_device *dev;
  hd_workload *w;
  const hd_compiled *c;
  snprintf(kernels, sizeof kernels, "%s/kernels", data ? data : SOURCE_DIR);
  must(hd_device_open(argc > 1 ? argv[1] : "cuda:0", NULL, &dev, &d), &d);
  must(hd_workload_open(name, kernels, NULL, &w, &d), &d);
  must(hd_workload_compiled(w, hd_device_get_info(dev)->arch, &c, &d), &d);
  hd_buf *texts = calloc(2 * n + 1, sizeof *texts);
  hd_device_source *s = calloc(2 * n + 1, sizeof *s);
  if (!texts || !s) return 2;
  for (size_t i = 0; i < 2 * n; i++) {
    hd_buf_printf(&texts[i], "%s\n// %zu at %.6f\n", c->text, i, hd_seconds());
    s[i] = (hd_device_source){.ptx = texts[i].data, .len = texts[i].len};
  }
  double serial = load_all(dev, s, n, false), ahead = load_all(dev, s + n, n, true);
  printf("%s: %zu texts of %zu bytes: %.2f ms each one after the other, %.2f ms each ahead (%u processors)\n",
         name, n, s[0].len, serial / (double)n * 1e3, ahead / (double)n * 1e3, hd_cpu_count());
  for (size_t i = 0; i < 2 * n; i++) hd_buf_free(&texts[i]);
  free(texts);
  free(s);
  hd_workload_close(w);
  hd_device_close(dev);
  return 0;
}
