#include "device/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t choose_buffer(const hd_device_info *i, const hd_probe_options *o) {
  uint64_t bytes = o->dram_bytes ? o->dram_bytes : UINT64_C(2) << 30;
  if (!o->dram_bytes && i->memory_bytes && bytes > i->memory_bytes / 4) bytes = i->memory_bytes / 4;
  /* The chain through DRAM must be far larger than L2, and every CTA of the copy has a chunk to read and one
   * to write. */
  uint64_t least[] = {8u << 20, 4 * i->l2_bytes, 2ull * i->n_sms * PROBE_CTAS_PER_SM * PROBE_CHUNK};
  for (size_t k = 0; k < sizeof least / sizeof *least; k++)
    if (bytes < least[k]) bytes = least[k];
  return bytes;
}

static hd_status allocate(probe *p) {
  const hd_device_info *i = &p->r->device;
  p->buffer_bytes = choose_buffer(i, &p->o);
  p->out_bytes = 8ull * p->r->n_ctas;
  if (p->out_bytes < 4096) p->out_bytes = 4096;
  hd_status st = hd_device_alloc(p->dev, p->buffer_bytes, &p->buffer, p->d);
  if (st == HD_OK) st = hd_device_alloc(p->dev, p->out_bytes, &p->out, p->d);
  if (st == HD_OK) st = hd_device_set(p->dev, p->out, 0, p->out_bytes, p->d);
  return st;
}

double hd_probe_value(const hd_probe_result *r, const char *name) {
  for (uint32_t i = 0; i < r->n_figures; i++)
    if (strcmp(r->figures[i].name, name) == 0) return r->figures[i].value;
  return NAN;
}

static hd_status run_benchmarks(probe *p) {
  static hd_status (*const benchmarks[])(probe *) = {
      probe_latencies, probe_l1_sizes,   probe_footprints, probe_sectors, probe_dispatch, probe_units,
      probe_wgmma,     probe_bandwidths, probe_ways,       probe_loads,   probe_starts,   probe_partitions,
      probe_gpcs,      probe_sharing,    probe_atomics,    probe_l2_ways, probe_dirty};
  const size_t n = sizeof benchmarks / sizeof *benchmarks;
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) {
    hd_watch_tell(&p->o.watch, "measuring", i, n);
    if (benchmarks[i] != probe_bandwidths || p->r->device.has_times) st = benchmarks[i](p);
  }
  hd_watch_tell(&p->o.watch, "measuring", n, n);
  return st;
}

hd_status hd_probe(hd_device *dev, const hd_probe_options *o, hd_probe_result *out, hd_diag *d) {
  probe p = {.dev = dev, .o = o ? *o : (hd_probe_options){0}, .r = out, .d = d};
  *out = (hd_probe_result){.device = *hd_device_get_info(dev)};
  const hd_gpu *modelled = hd_device_get_gpu(dev);
  if (modelled) {
    out->gpu = *modelled;
    return HD_OK;
  }
  if (!p.o.launches) p.o.launches = 5;
  if (!p.o.delay) p.o.delay = 3000;
  if (!p.o.repetitions) p.o.repetitions = 7;
  out->n_ctas = 2 * out->device.n_sms * (out->device.max_ctas ? out->device.max_ctas : 16);
  hd_status st = hd_device_load(dev, probe_ptx, probe_ptx_bytes, "heddle's probe", NULL, &p.m, d);
  if (st == HD_OK)
    st = hd_device_load(dev, probe_l2_ptx, probe_l2_ptx_bytes, "heddle's probe of L2", NULL, &p.m_l2, d);
  if (st == HD_OK) st = allocate(&p);
  if (st == HD_OK) st = run_benchmarks(&p);
  if (st == HD_OK && p.failed) st = hd_nomem(d);
  free(p.gpc);
  out->figures = p.figures.data;
  out->n_figures = (uint32_t)p.figures.n;
  hd_device_free(dev, p.buffer, NULL);
  hd_device_free(dev, p.out, NULL);
  hd_device_unload(p.m_l2);
  hd_device_unload(p.m);
  if (st != HD_OK) hd_probe_free(out);
  return st;
}

void hd_probe_free(hd_probe_result *r) {
  for (uint32_t i = 0; r->launches && i < r->n_launches; i++) {
    free(r->launches[i].sm);
    free(r->launches[i].ticks);
  }
  free(r->launches);
  free(r->figures);
  r->launches = NULL;
  r->figures = NULL;
  r->n_figures = 0;
  r->n_launches = 0;
}
