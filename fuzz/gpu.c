/* Every byte string is a GPU file whose values are in range, or is refused with one line that says where. */
#include "heddle/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(bool ok) {
  if (!ok) abort();
}

/* A model divides by these fields and sizes arrays by them. None may be 0, and a cache holds at least one
 * line. */
static void check_gpu(const hd_gpu *g) {
  const hd_cache_config *caches[] = {&g->l1, &g->l2};
  require(g->n_sms && g->max_ctas && g->max_warps && g->schedulers && g->register_unit && g->shared_unit);
  for (unsigned k = 0; k < 2; k++)
    require(caches[k]->line && caches[k]->sector && caches[k]->ways && caches[k]->bytes >= caches[k]->line &&
            caches[k]->bytes_per_cycle > 0);
  for (uint32_t threads = 1; threads <= 1024; threads += 93) {
    uint32_t ctas = hd_gpu_occupancy(g, threads, 32, 1024);
    require(ctas <= g->max_ctas);
  }
  hd_model *m;
  if (g->l2.bytes + g->n_sms * g->l1.bytes < 64 << 20 && hd_model_create(g, &m, NULL) == HD_OK)
    hd_model_destroy(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char path[64], line[2048];
  hd_gpu g;
  hd_diag d = {0};
  int fd = memfd_create("gpu", 0);
  require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  hd_status st = hd_gpu_load(path, "/", &g, &d);
  if (st == HD_OK) {
    check_gpu(&g);
  } else {
    require(d.status == st && d.message[0]);
    hd_diag_line(&d, line, sizeof line);
    require(!strchr(line, '\n'));
  }
  close(fd);
  return 0;
}
