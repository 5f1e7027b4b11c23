/* keep_ptx FOLDER: compiles the kernels of all workloads below it, and keeps the text beside their sources:
 * for a package, which is to run on machines without a compiler. */
#include <stdio.h>

#include "heddle/launch.h"
#include "heddle/workload.h"

enum { MANY = 10 }; /* workloads for each line that says how far it is */

int main(int argc, char **argv) {
  hd_workload **workloads = NULL;
  char **names = NULL;
  size_t n = 0;
  hd_diag d = {0};
  if (argc != 2) return 2;
  hd_status st = hd_workload_open_all(argv[1], &workloads, &names, &n, &d);
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    if (i % MANY == 0) {
      printf("kernels of %zu of %zu workloads are compiled\n", i, n);
      fflush(stdout);
    }
    st = hd_workload_keep_ptx(workloads[i], hd_launch_arch(NULL, 0), &d);
  }
  if (st != HD_OK) fprintf(stderr, "keep_ptx: %s\n", d.message);
  hd_workload_close_all(workloads, names, n);
  return st != HD_OK;
}
