/* Bandwidths of L1, L2 and DRAM, all SMs together. */
#include <stdlib.h>
#include <string.h>

#include "device/probe.h"

typedef struct transfer {
  probe *p;
  const char *kernel;
  uint32_t grid;
  union {
    struct {
      uint64_t in, out, chunk;
      uint32_t rounds;
    } read;
    struct {
      uint64_t to, from, chunk;
    } copy;
  } args;
  uint64_t args_bytes;
  double bytes; /* moved by one run */
} transfer;

static hd_status run(void *ctx, hd_diag *d) {
  const transfer *t = ctx;
  hd_device_launch l = {.kernel = t->kernel,
                        .grid = {t->grid, 1, 1},
                        .block = {PROBE_THREADS, 1, 1},
                        .args = &t->args,
                        .args_bytes = t->args_bytes,
                        .has_carveout = true}; /* 0%: as much L1 as there is */
  return hd_device_run(t->p->m, &l, d);
}

static hd_status measure(transfer *t, double *bytes_per_second) {
  probe *p = t->p;
  hd_device_job job = {.run = run, .ctx = t};
  hd_timing_options o = {.warmups = 1, .repetitions = p->o.repetitions, .keep_l2 = true};
  double *us = calloc(o.repetitions, sizeof *us);
  if (!us) return hd_nomem(p->d);
  hd_status st = hd_device_time(p->dev, &job, 1, &o, us, p->d);
  /* The best of all: disturbances only lower a bandwidth. */
  double least = us[0];
  for (uint32_t i = 1; i < o.repetitions; i++)
    if (us[i] < least) least = us[i];
  *bytes_per_second = st == HD_OK && least > 0 ? t->bytes / least * 1e6 : 0;
  free(us);
  return st;
}

static transfer reading(probe *p, const char *kernel, uint32_t grid, uint64_t chunk, uint32_t rounds) {
  transfer t = {.p = p,
                .kernel = kernel,
                .grid = grid,
                .args_bytes = 28,
                .bytes = (double)grid * (double)chunk * rounds};
  t.args.read.in = p->buffer;
  t.args.read.out = p->out;
  t.args.read.chunk = chunk;
  t.args.read.rounds = rounds;
  return t;
}

/* CTAs per SM of one chunk each that `bytes` hold. */
static uint32_t ctas_within(uint64_t bytes) {
  uint64_t n = bytes / PROBE_CHUNK;
  return (uint32_t)(n < 1 ? 1 : n > PROBE_CTAS_PER_SM ? PROBE_CTAS_PER_SM : n);
}

hd_status probe_bandwidths(probe *p) {
  hd_probe_result *r = p->r;
  uint32_t n_sms = r->device.n_sms, full = n_sms * PROBE_CTAS_PER_SM;
  bool gpu = r->device.kind == HD_DEVICE_CUDA;
  uint64_t chunk = p->buffer_bytes / full / PROBE_CHUNK * PROBE_CHUNK;
  uint64_t half = p->buffer_bytes / 2 / full / PROBE_CHUNK * PROBE_CHUNK;
  hd_status st = hd_device_set(p->dev, p->buffer, 0, p->buffer_bytes, p->d);
  transfer l1 =
      reading(p, "read_ca", n_sms * ctas_within(r->l1_bytes[0] / 4 * 3), PROBE_CHUNK, gpu ? 2000 : 2);
  /* Half of L2 at most: where it is split in two, both halves may hold the same line. */
  transfer l2 =
      reading(p, "read_cg", n_sms * ctas_within(r->device.l2_bytes / 2 / n_sms), PROBE_CHUNK, gpu ? 200 : 2);
  transfer dram = reading(p, "read_cg", full, chunk, 1);
  transfer copy = {.p = p, .kernel = "copy", .grid = full, .args_bytes = 24};
  copy.args.copy.from = p->buffer;
  copy.args.copy.chunk = half;
  copy.args.copy.to = p->buffer + full * half;
  copy.bytes = 2.0 * full * (double)half;
  if (st == HD_OK) st = measure(&l1, &r->l1_bandwidth);
  if (st == HD_OK) st = measure(&l2, &r->l2_bandwidth);
  if (st == HD_OK) st = measure(&dram, &r->dram_read_bandwidth);
  if (st == HD_OK) st = measure(&copy, &r->copy_bandwidth);
  return st;
}
