/* workload.toml as untrusted bytes: read, and where it is good, the start of each buffer filled. */
#include "workload/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hd_workload *w;
  hd_diag d;
  const wl_input in = {.text = (const char *)data, .len = size, .path = "fuzz.toml", .folder = "."};
  if (wl_read(&in, &w, &d) != HD_OK) return 0;
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    uint64_t start[32]; /* room for 32 elements of any type */
    uint64_t n = w->buffers[i].count < 32 ? w->buffers[i].count : 32;
    wl_fill_range(w, i, w->buffers[i].count - n, n, start);
  }
  hd_workload_close(w);
  return 0;
}
