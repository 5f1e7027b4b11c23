/* The interface: names, checks that hold for every device, measuring. */
#include <inttypes.h>
#include <string.h>

#include "device/backend.h"

void hd_device_close(hd_device *dev) {
  if (dev) dev->ops->close(dev);
}

const hd_device_info *hd_device_get_info(const hd_device *dev) { return &dev->info; }
const hd_gpu *hd_device_get_gpu(const hd_device *dev) { return dev->gpu; }

/* ---- Memory --------------------------------------------------------------------- */

hd_status hd_device_alloc(hd_device *dev, uint64_t bytes, uint64_t *address, hd_diag *d) {
  *address = 0;
  return dev->ops->alloc(dev, bytes ? bytes : 1, address, d);
}

hd_status hd_device_free(hd_device *dev, uint64_t address, hd_diag *d) {
  return address ? dev->ops->free(dev, address, d) : HD_OK;
}

hd_status hd_device_write(hd_device *dev, uint64_t address, const void *src, uint64_t bytes, hd_diag *d) {
  return bytes ? dev->ops->write(dev, address, src, bytes, d) : HD_OK;
}

hd_status hd_device_read(hd_device *dev, uint64_t address, void *dst, uint64_t bytes, hd_diag *d) {
  return bytes ? dev->ops->read(dev, address, dst, bytes, d) : HD_OK;
}

hd_status hd_device_set(hd_device *dev, uint64_t address, uint8_t value, uint64_t bytes, hd_diag *d) {
  return bytes ? dev->ops->set(dev, address, value, bytes, d) : HD_OK;
}

hd_status hd_device_copy(hd_device *dev, uint64_t to, uint64_t from, uint64_t bytes, hd_diag *d) {
  return bytes ? dev->ops->copy(dev, to, from, bytes, d) : HD_OK;
}

/* ---- Modules and launches ---------------------------------------------------------- */

hd_status hd_device_load(hd_device *dev, const char *ptx, size_t len, const char *name,
                         const hd_device_load_options *o, hd_device_module **out, hd_diag *d) {
  static const hd_device_load_options defaults;
  *out = NULL;
  return dev->ops->load(dev, ptx, len, name, o ? o : &defaults, out, d);
}

hd_status hd_device_compile_ahead(hd_device *dev, const hd_device_source *sources, size_t n, hd_diag *d) {
  return dev->ops->compile_ahead && n ? dev->ops->compile_ahead(dev, sources, n, d) : HD_OK;
}

void hd_device_unload(hd_device_module *m) {
  if (m) m->device->ops->unload(m);
}

hd_status hd_device_symbol(hd_device_module *m, const char *name, uint64_t *address, uint64_t *bytes,
                           hd_diag *d) {
  *address = *bytes = 0;
  return m->device->ops->symbol(m, name, address, bytes, d);
}

hd_status hd_device_kernel_info(hd_device_module *m, const char *kernel, hd_kernel_info *out, hd_diag *d) {
  memset(out, 0, sizeof *out);
  return m->device->ops->kernel_info(m, kernel, out, d);
}

hd_status hd_device_resident(hd_device_module *m, const char *kernel, uint32_t threads,
                             uint32_t dynamic_shared, uint32_t registers, uint32_t *ctas, hd_diag *d) {
  *ctas = 0;
  if (!threads) return hd_fail(d, HD_ERR_INPUT, "kernel '%s': a CTA without threads", kernel);
  return m->device->ops->resident(m, kernel, threads, dynamic_shared, registers, ctas, d);
}

hd_status hd_device_run(hd_device_module *m, const hd_device_launch *l, hd_diag *d) {
  for (int k = 0; k < 3; k++)
    if (!l->grid[k] || !l->block[k])
      return hd_fail(d, HD_ERR_INPUT, "kernel '%s': a dimension of grid %ux%ux%u, block %ux%ux%u is 0",
                     l->kernel, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2]);
  if (l->has_carveout && l->carveout > 100)
    return hd_fail(d, HD_ERR_INPUT, "kernel '%s': a carve-out of %u%%", l->kernel, l->carveout);
  return m->device->ops->run(m, l, d);
}

hd_status hd_device_sync(hd_device *dev, hd_diag *d) { return dev->ops->sync(dev, d); }

hd_status hd_device_tensor_map(hd_device *dev, const hd_tensor *t, void *map, hd_diag *d) {
  hd_status st = hd_tensor_check(t, d);
  return st == HD_OK ? dev->ops->tensor_map(dev, t, map, d) : st;
}

/* ---- Textures and surfaces ---------------------------------------------------------------- */

hd_status hd_device_image(hd_device *dev, const hd_texture *t, bool surface, uint64_t *handle, hd_diag *d) {
  *handle = 0;
  hd_status st = surface ? hd_surface_check(&t->image, d) : hd_texture_check(t, d);
  return st == HD_OK ? dev->ops->image(dev, t, surface, handle, d) : st;
}

hd_status hd_device_image_copy(hd_device *dev, uint64_t handle, bool surface, bool back, hd_diag *d) {
  return dev->ops->image_copy ? dev->ops->image_copy(dev, handle, surface, back, d) : HD_OK;
}

hd_status hd_device_image_free(hd_device *dev, uint64_t handle, bool surface, hd_diag *d) {
  return handle ? dev->ops->image_free(dev, handle, surface, d) : HD_OK;
}

/* ---- Streams ----------------------------------------------------------------------------- */

static hd_status no_streams(const hd_device *dev, hd_diag *d) {
  return hd_fail(d, HD_ERR_UNSUPPORTED, "device %s runs one launch at a time: it has no streams",
                 dev->info.name);
}

hd_status hd_device_stream_open(hd_device *dev, hd_device_stream **out, hd_diag *d) {
  *out = NULL;
  return dev->ops->stream_open ? dev->ops->stream_open(dev, out, d) : no_streams(dev, d);
}

hd_status hd_device_split(hd_device *dev, uint32_t sms, hd_device_stream *out[2], uint32_t got[2],
                          hd_diag *d) {
  out[0] = out[1] = NULL;
  got[0] = got[1] = 0;
  if (!dev->ops->split) return no_streams(dev, d);
  if (!sms || sms >= dev->info.n_sms)
    return hd_fail(d, HD_ERR_USAGE, "%s has %u SMs: one part cannot have %u of them", dev->info.name,
                   dev->info.n_sms, sms);
  return dev->ops->split(dev, sms, out, got, d);
}

void hd_device_stream_close(hd_device_stream *s) {
  if (s) s->device->ops->stream_close(s);
}

/* ---- Measuring ------------------------------------------------------------------------ */

static hd_status prepare(const hd_device_job *job, hd_diag *d) {
  return job->prepare ? job->prepare(job->ctx, d) : HD_OK;
}

hd_status device_prepare(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_diag *d) {
  hd_status st = prepare(job, d);
  if (st != HD_OK) return st;
  if (!keep_l2) return dev->ops->flush_l2(dev, d);
  st = job->run(job->ctx, d);
  return st == HD_OK ? prepare(job, d) : st;
}

hd_status hd_device_need_times(const hd_device *dev, hd_diag *d) {
  if (dev->info.has_times) return HD_OK;
  return dev->gpu ? hd_gpu_need_clock(dev->gpu, d)
                  : hd_fail(d, HD_ERR_UNSUPPORTED, "device %s measures no times", dev->info.name);
}

static hd_status time_once(hd_device *dev, const hd_device_job *job, bool keep_l2, double *us, hd_diag *d) {
  hd_status st = device_prepare(dev, job, keep_l2, d);
  if (st == HD_OK) st = dev->ops->time_begin(dev, d);
  if (st == HD_OK) st = job->run(job->ctx, d);
  return st == HD_OK ? dev->ops->time_end(dev, us, d) : st;
}

hd_status hd_device_time(hd_device *dev, const hd_device_job *jobs, size_t n, const hd_timing_options *o,
                         double *us, hd_diag *d) {
  const hd_status timed = hd_device_need_times(dev, d);
  if (timed != HD_OK) return timed;
  if (!o->repetitions) return hd_fail(d, HD_ERR_USAGE, "at least one repetition is needed");
  const uint64_t rounds = (uint64_t)o->warmups + o->repetitions;
  hd_meter meter = hd_meter_begin(&o->watch, "timing", rounds * n);
  for (uint64_t round = 0; round < rounds; round++)
    for (size_t k = 0; k < n; k++) {
      /* Rotated, so that no job has the same predecessor all the time. */
      size_t i = (size_t)((k + round) % n);
      double t = 0;
      hd_status st = time_once(dev, &jobs[i], o->keep_l2, &t, d);
      if (st != HD_OK) return st;
      if (round >= o->warmups) us[i * o->repetitions + (round - o->warmups)] = t;
      hd_meter_add(&meter, 1);
    }
  return HD_OK;
}

hd_status hd_device_time_together(hd_device *dev, const hd_device_part *parts, size_t n, double *us,
                                  hd_diag *d) {
  if (!dev->ops->time_together) return no_streams(dev, d);
  if (!n || n > HD_DEVICE_PARTS)
    return hd_fail(d, HD_ERR_USAGE, "%zu jobs at once; 1 to %d can be timed together", n, HD_DEVICE_PARTS);
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < n; i++) st = prepare(&parts[i].job, d);
  if (st == HD_OK) st = dev->ops->flush_l2(dev, d);
  return st == HD_OK ? dev->ops->time_together(dev, parts, n, us, d) : st;
}

hd_status hd_device_count(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_counters *out,
                          bool *have, char *why, size_t cap, hd_diag *d) {
  memset(out, 0, sizeof *out);
  *have = false;
  if (cap) why[0] = 0;
  return dev->ops->count(dev, job, keep_l2, out, have, why, cap, d);
}
