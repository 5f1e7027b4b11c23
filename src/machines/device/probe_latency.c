/* Latencies by a chain of pointers, and the cache sizes that follow from them. */
#include <stdlib.h>
#include <string.h>

#include "device/probe.h"

enum { RING_MIN = 4096, RING_STEP = 4096, RING_MAX = 1 << 20, LINE = 128, DRAM_STRIDE = 8192 };

/* ---- Chains ---------------------------------------------------------------------- */

/* A ring through `n` elements `stride` bytes apart in a random order, one cycle (Sattolo's shuffle), written
 * to the buffer's beginning. */
static hd_status write_ring(probe *p, uint64_t n, uint64_t stride) {
  uint64_t *image = calloc(n * stride / 8, 8);
  uint32_t *order = calloc(n, sizeof *order);
  hd_status st = image && order ? HD_OK : hd_nomem(p->d);
  if (st == HD_OK) {
    for (uint64_t i = 0; i < n; i++) order[i] = (uint32_t)i;
    for (uint64_t i = n - 1; i > 0; i--) {
      uint64_t j = hd_random_at(n, i) % i;
      uint32_t t = order[i];
      order[i] = order[j];
      order[j] = t;
    }
    /* order, read as a permutation, is one cycle: element i is followed by order[i]. */
    for (uint64_t i = 0; i < n; i++) image[i * stride / 8] = p->buffer + order[i] * stride;
    st = hd_device_write(p->dev, p->buffer, image, n * stride, p->d);
  }
  free(image);
  free(order);
  return st;
}

/* Cycles per step; *mhz, if not NULL, the clock's frequency. */
static hd_status chase(probe *p, bool l1, uint64_t warm, uint64_t steps, int carveout, double *cycles,
                       double *mhz) {
  struct {
    uint64_t start, out;
    uint32_t warm, steps;
  } args = {p->buffer, p->out, (uint32_t)warm, (uint32_t)steps};
  uint64_t got[3];
  hd_status st = probe_launch(p, l1 ? "chase_ca" : "chase_cg", 1, 1, &args, sizeof args, carveout);
  if (st == HD_OK) st = hd_device_read(p->dev, p->out, got, sizeof got, p->d);
  if (st != HD_OK) return st;
  *cycles = (double)got[0] / (double)steps;
  if (mhz) *mhz = got[1] ? 1000.0 * (double)got[0] / (double)got[1] : 0;
  return HD_OK;
}

/* How loads along the ring that was written last differ. */
static hd_status measure_spread(probe *p, const char *level) {
  enum { STEPS = 1000 };
  uint32_t cycles[STEPS];
  struct {
    uint64_t start, out;
    uint32_t steps;
  } args = {p->buffer, p->out, STEPS};
  static const uint32_t parts[] = {1, 5, 25, 50, 75, 95, 99};
  hd_status st = probe_launch(p, "spread", 1, 1, &args, 20, 0);
  if (st == HD_OK) st = hd_device_read(p->dev, p->out, cycles, sizeof cycles, p->d);
  if (st != HD_OK) return st;
  qsort(cycles, STEPS, sizeof *cycles, probe_ascending);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const size_t at = (size_t)STEPS * parts[i] / 100;
    probe_figure(p, cycles[at], "cycles", "%s latency, %u%%", level, parts[i]);
  }
  return HD_OK;
}

/* ---- Latencies ---------------------------------------------------------------------- */

hd_status probe_latencies(probe *p) {
  hd_probe_result *r = p->r;
  enum { SMALL = 8192 / LINE };
  hd_status st = write_ring(p, SMALL, LINE);
  /* The clock's frequency wants some milliseconds; on an emulated device they would take long. */
  uint64_t steps = r->device.kind == HD_DEVICE_CUDA ? 200000 : 1000;
  if (st == HD_OK) st = chase(p, true, 2 * SMALL, steps, 0, &r->l1_cycles, &r->clock_mhz);
  /* A part of L2 that is larger than any L1, all of it read before. */
  uint64_t n = (r->device.l2_bytes ? r->device.l2_bytes / 16 : RING_MAX) / 512;
  if (st == HD_OK) st = write_ring(p, n, 512);
  if (st == HD_OK) st = chase(p, false, n, n, 0, &r->l2_cycles, NULL);
  if (st == HD_OK) st = measure_spread(p, "L2");
  n = 4 * (r->device.l2_bytes ? r->device.l2_bytes : RING_MAX) / DRAM_STRIDE;
  if (st == HD_OK) st = write_ring(p, n, DRAM_STRIDE);
  if (st == HD_OK) st = p->dev->ops->flush_l2(p->dev, p->d);
  /* Few enough steps that no fetched line is met again. */
  if (st == HD_OK) st = chase(p, false, 16, n < 4096 ? n / 2 : 2048, 0, &r->dram_cycles, NULL);
  if (st == HD_OK) st = p->dev->ops->flush_l2(p->dev, p->d);
  return st == HD_OK ? measure_spread(p, "DRAM") : st;
}

/* ---- The size of L1 ------------------------------------------------------------------ */

/* The largest ring, in steps of 4 KB, of which L1 misses fewer than one access in twenty. */
static hd_status find_span(probe *p, uint64_t stride, int carveout, uint64_t *span) {
  double most = p->r->l1_cycles + 0.05 * (p->r->l2_cycles - p->r->l1_cycles);
  uint64_t low = 0, high = RING_MAX / RING_STEP * (stride > LINE ? stride / LINE : 1);
  while (high - low > 1) {
    uint64_t mid = (low + high) / 2, n = mid * RING_STEP / stride;
    double cycles = 0;
    hd_status st = n < 2 ? HD_OK : write_ring(p, n, stride);
    if (st == HD_OK && n >= 2) st = chase(p, true, 2 * n, n, carveout, &cycles, NULL);
    if (st != HD_OK) return st;
    if (cycles <= most)
      low = mid;
    else
      high = mid;
  }
  *span = low * RING_STEP;
  return HD_OK;
}

hd_status probe_l1_sizes(probe *p) {
  static const uint32_t carveouts[HD_PROBE_CARVEOUTS] = {0, 25, 50, 75, 100};
  static const uint32_t strides[HD_PROBE_STRIDES] = {64, 128, 256, 512};
  hd_probe_result *r = p->r;
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < HD_PROBE_CARVEOUTS; i++) {
    r->carveout[i] = carveouts[i];
    st = find_span(p, LINE, (int)carveouts[i], &r->l1_bytes[i]);
  }
  for (int i = 0; st == HD_OK && i < HD_PROBE_STRIDES; i++) {
    r->stride[i] = strides[i];
    st = find_span(p, strides[i], 0, &r->stride_span[i]);
    if (st == HD_OK && (double)r->stride_span[i] < 1.3 * (double)r->stride_span[0]) r->line = strides[i];
  }
  return st;
}

/* ---- Footprints ------------------------------------------------------------------------ */

/* 4 KB, 6 KB, 8 KB, 12 KB, ... */
hd_status probe_footprints(probe *p) {
  enum { MOST_STEPS = 8192 };
  hd_probe_result *r = p->r;
  uint64_t most = r->device.l2_bytes ? 2 * r->device.l2_bytes : RING_MAX / 4;
  hd_status st = HD_OK;
  if (most > p->buffer_bytes) most = p->buffer_bytes;
  for (uint64_t bytes = RING_MIN; st == HD_OK && bytes <= most && r->n_footprints < HD_PROBE_FOOTPRINTS;) {
    hd_probe_footprint *f = &r->footprints[r->n_footprints];
    uint64_t n = bytes / LINE;
    f->bytes = bytes;
    st = write_ring(p, n, LINE);
    if (st == HD_OK) st = chase(p, true, n, n < MOST_STEPS ? n : MOST_STEPS, 0, &f->cycles, NULL);
    r->n_footprints += st == HD_OK;
    bytes = (bytes & (bytes - 1)) == 0 ? bytes / 2 * 3 : bytes / 3 * 4;
  }
  return st;
}

/* ---- Sectors ----------------------------------------------------------------------------- */

/* The distance behind a fetched word from which loads take longer than `cycles`. */
static uint32_t reach(const hd_probe_result *r, double cycles) {
  uint32_t i = 1;
  while (i < HD_PROBE_SECTORS && r->sector_cycles[i] < cycles) i++;
  return 16 * i;
}

hd_status probe_sectors(probe *p) {
  hd_probe_result *r = p->r;
  struct {
    uint64_t in, out;
  } args = {p->buffer, p->out};
  hd_status st = hd_device_set(p->dev, p->buffer, 0, 4096 * (HD_PROBE_SECTORS + 1), p->d);
  if (st == HD_OK) st = p->dev->ops->flush_l2(p->dev, p->d);
  if (st == HD_OK) st = probe_launch(p, "sectors", 1, 1, &args, sizeof args, 0);
  if (st == HD_OK) st = hd_device_read(p->dev, p->out, r->sector_cycles, sizeof r->sector_cycles, p->d);
  if (st != HD_OK) return st;
  r->l1_sector = reach(r, 0.5 * (r->l1_cycles + r->l2_cycles));
  r->l2_sector = reach(r, 0.5 * (r->l2_cycles + r->dram_cycles));
  return HD_OK;
}
