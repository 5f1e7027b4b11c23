/* emu and model:NAME: the emulator, alone or with a model that replays each launch's accesses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"

typedef struct emulated {
  hd_device base;
  hd_emu *emu;
  hd_dispatch dispatch;
  hd_gpu gpu;      /* model:NAME */
  hd_model *model; /* NULL: emu */
  bool timed;      /* by a clock; else there are no times */
  bool cold;       /* the next launch finds empty caches */
  unsigned workers;
  hd_counters sum;   /* of the launches since time_begin */
  uint32_t launches; /* so many */
} emulated;

typedef struct emulated_module {
  hd_device_module base;
  hd_arena arena;
  hd_ptx_module *parsed;
  hd_emu_program *program;
} emulated_module;

static emulated *of(hd_device *dev) { return (emulated *)dev; }

static void emulated_close(hd_device *dev) {
  emulated *e = of(dev);
  if (e->model) hd_model_destroy(e->model);
  if (e->emu) hd_emu_destroy(e->emu);
  free(e);
}

/* ---- Memory --------------------------------------------------------------------- */

static hd_status emulated_alloc(hd_device *dev, uint64_t bytes, uint64_t *address, hd_diag *d) {
  return hd_emu_alloc(of(dev)->emu, bytes, address, d);
}

static hd_status emulated_free(hd_device *dev, uint64_t address, hd_diag *d) {
  return hd_emu_free(of(dev)->emu, address, d);
}

static hd_status host_pointer(hd_device *dev, uint64_t address, uint64_t bytes, void **p, hd_diag *d) {
  *p = hd_emu_ptr(of(dev)->emu, address, bytes);
  if (*p) return HD_OK;
  return hd_fail(d, HD_ERR_INPUT, "%s: %llu bytes at 0x%llx are not inside one allocation", dev->info.name,
                 (unsigned long long)bytes, (unsigned long long)address);
}

static hd_status emulated_write(hd_device *dev, uint64_t address, const void *src, uint64_t bytes,
                                hd_diag *d) {
  return hd_emu_write(of(dev)->emu, address, src, bytes, d);
}

/* Memory never written may be read from the host: only kernels that do so are at fault. */
static hd_status emulated_read(hd_device *dev, uint64_t address, void *dst, uint64_t bytes, hd_diag *d) {
  void *p;
  hd_status st = host_pointer(dev, address, bytes, &p, d);
  if (st == HD_OK) memcpy(dst, p, bytes);
  return st;
}

static hd_status emulated_set(hd_device *dev, uint64_t address, uint8_t value, uint64_t bytes, hd_diag *d) {
  void *p;
  hd_status st = host_pointer(dev, address, bytes, &p, d);
  if (st != HD_OK) return st;
  memset(p, value, bytes);
  hd_emu_mark_written(of(dev)->emu, address, bytes);
  return HD_OK;
}

static hd_status emulated_copy(hd_device *dev, uint64_t to, uint64_t from, uint64_t bytes, hd_diag *d) {
  void *dst, *src;
  hd_status st = host_pointer(dev, to, bytes, &dst, d);
  if (st == HD_OK) st = host_pointer(dev, from, bytes, &src, d);
  if (st != HD_OK) return st;
  memmove(dst, src, bytes);
  hd_emu_mark_written(of(dev)->emu, to, bytes);
  return HD_OK;
}

/* ---- Modules ---------------------------------------------------------------------- */

static emulated_module *module_of(hd_device_module *m) { return (emulated_module *)m; }

static void emulated_unload(hd_device_module *base) {
  emulated_module *m = module_of(base);
  if (m->program) hd_emu_unload(m->program);
  hd_arena_free(&m->arena);
  free(m);
}

static hd_status emulated_load(hd_device *dev, const char *ptx, size_t len, const char *name,
                               const hd_device_load_options *o, hd_device_module **out, hd_diag *d) {
  emulated_module *m = calloc(1, sizeof *m);
  if (!m) return hd_nomem(d);
  m->base.device = dev;
  hd_arena_init(&m->arena);
  hd_status st = hd_ptx_parse(ptx, len, name, &m->arena, &m->parsed, d);
  if (st == HD_OK) st = hd_emu_load(of(dev)->emu, m->parsed, &m->program, d);
  if (st != HD_OK) {
    emulated_unload(&m->base);
    return st;
  }
  *out = &m->base;
  return HD_OK;
}

static hd_status emulated_symbol(hd_device_module *m, const char *name, uint64_t *address, uint64_t *bytes,
                                 hd_diag *d) {
  return hd_emu_symbol(module_of(m)->program, name, address, bytes, d);
}

static hd_status emulated_kernel_info(hd_device_module *m, const char *kernel, hd_kernel_info *out,
                                      hd_diag *d) {
  const emulated_module *em = module_of(m);
  hd_status st = hd_emu_supported(em->program, kernel, d);
  if (st != HD_OK) return st;
  out->static_shared = hd_emu_static_shared(em->program, kernel);
  out->max_threads = 1024;
  return HD_OK;
}

static hd_status emulated_resident(hd_device_module *m, const char *kernel, uint32_t threads,
                                   uint32_t dynamic_shared, uint32_t registers, uint32_t *ctas, hd_diag *d) {
  const emulated *e = of(m->device);
  hd_status st = hd_emu_supported(module_of(m)->program, kernel, d);
  if (st != HD_OK) return st;
  if (!e->model) return hd_fail(d, HD_ERR_UNSUPPORTED, "the emulator has no limit on resident CTAs");
  uint32_t fixed = hd_emu_static_shared(module_of(m)->program, kernel), shared;
  if (!__builtin_add_overflow(fixed, dynamic_shared, &shared))
    *ctas = hd_gpu_occupancy(&e->gpu, threads, registers, shared);
  return HD_OK;
}

/* ---- Launches ------------------------------------------------------------------------ */

/* A replay takes a launch that finds L2 as another left it for one of a row. The first since time_begin is
 * none, whatever L2 holds. */
static void add_launch(emulated *e, hd_counters *c, bool follows) {
  const hd_launch_cost *l = &e->gpu.launch;
  if (e->timed && follows && !e->launches) c->time_us += l->first_us - l->next_us;
  if (e->timed)
    hd_counters_add_launch(&e->sum, c, &e->gpu, e->launches, HD_DEVICE_HEAD_START_US);
  else
    hd_counters_add(&e->sum, c);
  e->launches++;
}

static hd_status replay(emulated *e, const emulated_module *m, const hd_device_launch *l, const hd_trace *t,
                        hd_diag *d) {
  hd_counters c;
  hd_replay_options o = {.dispatch = {.kind = e->gpu.dispatch, .seed = e->dispatch.seed},
                         .registers = l->registers,
                         .shared_bytes = hd_emu_static_shared(m->program, l->kernel) + l->dynamic_shared,
                         .timed = e->timed,
                         .keep_caches = !e->cold};
  hd_status st = hd_model_replay(e->model, t, &o, &c, d);
  if (st != HD_OK) return st;
  add_launch(e, &c, o.keep_caches);
  e->cold = false;
  return HD_OK;
}

static hd_status emulated_run(hd_device_module *base, const hd_device_launch *l, hd_diag *d) {
  emulated *e = of(base->device);
  const emulated_module *m = module_of(base);
  hd_emu_launch_params p = {.kernel = l->kernel,
                            .grid = {l->grid[0], l->grid[1], l->grid[2]},
                            .block = {l->block[0], l->block[1], l->block[2]},
                            .dynamic_shared = l->dynamic_shared,
                            .args = l->args,
                            .args_bytes = l->args_bytes,
                            .cooperative = l->cooperative};
  if (!e->model) return hd_emu_launch(m->program, &p, &e->dispatch, NULL, NULL, d);
  hd_trace *t;
  hd_status st = hd_trace_create(l->grid, l->block, e->workers, 0, &t, d);
  if (st != HD_OK) return st;
  if (e->timed) st = hd_trace_keep_paths(t, m->parsed, d);
  if (st == HD_OK) st = hd_emu_launch(m->program, &p, &e->dispatch, hd_trace_hooks(t), NULL, d);
  if (st == HD_OK) st = hd_trace_finish(t, d);
  if (st == HD_OK) st = replay(e, m, l, t, d);
  hd_trace_destroy(t);
  return st;
}

static hd_status emulated_sync(hd_device *dev, hd_diag *d) { return HD_OK; }

static hd_status emulated_tensor_map(hd_device *dev, const hd_tensor *t, void *map, hd_diag *d) {
  return hd_emu_tensor_map(t, map, d);
}

static hd_status emulated_image(hd_device *dev, const hd_texture *t, bool surface, uint64_t *handle,
                                hd_diag *d) {
  hd_emu *e = of(dev)->emu;
  return surface ? hd_emu_surface(e, &t->image, handle, d) : hd_emu_texture(e, t, handle, d);
}

static hd_status emulated_image_free(hd_device *dev, uint64_t handle, bool surface, hd_diag *d) {
  return hd_emu_release(of(dev)->emu, handle, d);
}

/* ---- Times and counters ------------------------------------------------------------------ */

static hd_status emulated_flush(hd_device *dev, hd_diag *d) {
  of(dev)->cold = true;
  return HD_OK;
}

static void begin_row(emulated *e) {
  e->sum = (hd_counters){0};
  e->launches = 0;
}

static hd_status model_time_begin(hd_device *dev, hd_diag *d) {
  begin_row(of(dev));
  return HD_OK;
}

static hd_status model_time_end(hd_device *dev, double *us, hd_diag *d) {
  *us = of(dev)->sum.time_us;
  return HD_OK;
}

static hd_status emulated_count(hd_device *dev, const hd_device_job *job, bool keep_l2, hd_counters *out,
                                bool *have, char *why, size_t cap, hd_diag *d) {
  emulated *e = of(dev);
  if (!e->model) {
    snprintf(why, cap, "the emulator alone counts nothing; model:NAME does");
    return HD_OK;
  }
  hd_status st = device_prepare(dev, job, keep_l2, d);
  if (st != HD_OK) return st;
  begin_row(e);
  if ((st = job->run(job->ctx, d)) != HD_OK) return st;
  *out = e->sum;
  *have = true;
  return HD_OK;
}

/* ---- Opening ------------------------------------------------------------------------------ */

#define EMULATED_OPS                                                                                         \
  .close = emulated_close, .alloc = emulated_alloc, .free = emulated_free, .write = emulated_write,          \
  .read = emulated_read, .set = emulated_set, .copy = emulated_copy, .load = emulated_load,                  \
  .unload = emulated_unload, .symbol = emulated_symbol, .kernel_info = emulated_kernel_info,                 \
  .resident = emulated_resident, .run = emulated_run, .sync = emulated_sync,                                 \
  .tensor_map = emulated_tensor_map, .image = emulated_image, .image_free = emulated_image_free,             \
  .flush_l2 = emulated_flush, .count = emulated_count

static const device_ops emulator_ops = {EMULATED_OPS};
static const device_ops clock_ops = {EMULATED_OPS, .time_begin = model_time_begin,
                                     .time_end = model_time_end};

static void describe_model(hd_device_info *i, const hd_gpu *g) {
  i->kind = HD_DEVICE_MODEL;
  i->has_times = hd_gpu_has_clock(g);
  memcpy(i->title, g->title, sizeof g->title);
  i->arch = g->arch;
  i->n_sms = g->n_sms;
  i->max_ctas = g->max_ctas;
  i->max_threads = g->max_threads;
  i->registers = g->registers;
  i->shared_bytes = g->shared_bytes;
  i->shared_per_cta = g->shared_bytes - g->shared_reserved;
  i->shared_reserved = g->shared_reserved;
  i->l2_bytes = g->l2.bytes;
  i->clock_mhz = g->clock_mhz;
}

hd_status device_open_emulated(const char *name, const char *gpu, const hd_device_options *o, hd_device **out,
                               hd_diag *d) {
  emulated *e = calloc(1, sizeof *e);
  if (!e) return hd_nomem(d);
  e->base.ops = &emulator_ops;
  e->dispatch = o->dispatch;
  e->cold = true;
  hd_emu_options eo = o->emu;
  hd_device_info *i = &e->base.info;
  snprintf(i->name, sizeof i->name, "%s", name);
  snprintf(i->title, sizeof i->title, "emulator");
  hd_status st = gpu ? hd_gpu_load(gpu, o->gpu_dir, &e->gpu, d) : HD_OK;
  if (st == HD_OK && gpu) {
    describe_model(i, &e->gpu);
    e->base.gpu = &e->gpu;
    e->timed = i->has_times;
    if (e->timed) e->base.ops = &clock_ops;
    eo.n_sms = e->gpu.n_sms;
    /* The emulator runs today's PTX on any model; only %smid and the like differ. */
    st = hd_model_create(&e->gpu, &e->model, d);
  } else if (st == HD_OK) {
    i->arch = eo.sm ? eo.sm : 90;
    i->n_sms = eo.n_sms ? eo.n_sms : 132;
  }
  e->workers = eo.threads = eo.threads ? eo.threads : hd_cpu_count();
  if (st == HD_OK) st = hd_emu_create(&eo, &e->emu, d);
  if (st != HD_OK) {
    emulated_close(&e->base);
    return st;
  }
  *out = &e->base;
  return HD_OK;
}
