/* cuda:N: times by events, L2 flushed. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "device/cuda.h"

/* ---- Flushing L2 ------------------------------------------------------------------ */

/* Twice L2's size: one and a bit would do were its replacement plain LRU. */
static hd_status allocate_flush(cuda_device *c, hd_diag *d) {
  char about[64];
  c->flush_bytes = c->base.info.l2_bytes ? 2 * c->base.info.l2_bytes : 64u << 20;
  snprintf(about, sizeof about, "of %" PRIu64 " bytes to flush L2", c->flush_bytes);
  hd_status st = CUDA_TRY(c, d, about, cuMemAlloc_v2, &c->flush, c->flush_bytes);
  if (st != HD_OK) c->flush = 0;
  return st;
}

hd_status cuda_flush(hd_device *dev, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  if (!c->flush) st = allocate_flush(c, d);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuMemsetD8Async, c->flush, 0, c->flush_bytes, c->stream);
  return cuda_leave(c, st, d);
}

/* ---- Times ------------------------------------------------------------------------- */

/* One thread that keeps the stream busy for a while, so that kernels launched meanwhile start without waiting
 * for the host. */
static const char delay_ptx[] = ".version 6.0\n"
                                ".target sm_50\n"
                                ".address_size 64\n"
                                ".visible .entry heddle_delay(.param .u64 ns)\n"
                                "{\n"
                                "  .reg .pred %p;\n"
                                "  .reg .b64 %rd<4>;\n"
                                "  ld.param.u64 %rd1, [ns];\n"
                                "  mov.u64 %rd2, %globaltimer;\n"
                                "again:\n"
                                "  mov.u64 %rd3, %globaltimer;\n"
                                "  sub.s64 %rd3, %rd3, %rd2;\n"
                                "  setp.lt.u64 %p, %rd3, %rd1;\n"
                                "  @%p bra again;\n"
                                "  ret;\n"
                                "}\n";
enum { DELAY_NS = 1000 * HD_DEVICE_HEAD_START_US };

hd_status cuda_delay(cuda_device *c, uint64_t ns, hd_diag *d) {
  hd_status st = HD_OK;
  if (!c->tools)
    st = cuda_load(&c->base, delay_ptx, sizeof delay_ptx - 1, "heddle's delay", &(hd_device_load_options){0},
                   &c->tools, d);
  hd_device_launch l = {
      .kernel = "heddle_delay", .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = &ns, .args_bytes = sizeof ns};
  return st == HD_OK ? cuda_run(c->tools, &l, d) : st;
}

hd_status cuda_time_begin(hd_device *dev, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  hd_status st = cuda_delay(c, DELAY_NS, d);
  if (st == HD_OK) st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  return cuda_leave(c, CUDA_TRY(c, d, "", cuEventRecord, c->begin, c->stream), d);
}

hd_status cuda_time_end(hd_device *dev, double *us, hd_diag *d) {
  cuda_device *c = cuda_of(dev);
  float ms = 0;
  hd_status st = cuda_enter(c, d);
  if (st != HD_OK) return st;
  st = CUDA_TRY(c, d, "", cuEventRecord, c->end, c->stream);
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuEventSynchronize, c->end);
  if (st == HD_OK) c->kernel[0] = 0;
  if (st == HD_OK) st = CUDA_TRY(c, d, "", cuEventElapsedTime, &ms, c->begin, c->end);
  *us = 1000.0 * ms;
  return cuda_leave(c, st, d);
}
