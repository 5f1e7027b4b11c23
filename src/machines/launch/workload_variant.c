/* A workload's kernels on a device, under plans. */
#include <stdlib.h>
#include <string.h>

#include "launch/placement.h"

/* ---- The device's memory ----------------------------------------------------------- */

static hd_status allocate(void *ctx, uint64_t bytes, uint64_t *address, hd_diag *d) {
  return hd_device_alloc(ctx, bytes, address, d);
}

static void give_back(void *ctx, uint64_t address) { hd_device_free(ctx, address, NULL); }

static hd_status write_bytes(void *ctx, uint64_t address, const void *bytes, uint64_t n, hd_diag *d) {
  return bytes ? hd_device_write(ctx, address, bytes, n, d) : hd_device_set(ctx, address, 0, n, d);
}

static hd_status make_image(void *ctx, const hd_texture *t, bool surface, uint64_t *handle, hd_diag *d) {
  return hd_device_image(ctx, t, surface, handle, d);
}

static void free_image(void *ctx, uint64_t handle, bool surface) {
  hd_device_image_free(ctx, handle, surface, NULL);
}

static hd_status tensor_map(void *ctx, const hd_tensor *t, void *map, hd_diag *d) {
  return hd_device_tensor_map(ctx, t, map, d);
}

/* ---- Properties of the device -------------------------------------------------------- */

static bool any_binds(const hd_resolved *plans, hd_bind_kind bind) {
  for (uint32_t k = 0; k < plans->code->n_kernels; k++)
    if (plans->kernels[k].plan.bind == bind) return true;
  return false;
}

/* A cluster for each SM that there is, where their numbers have holes. */
static hd_status learn_sms(placement *p, hd_diag *d) {
  const uint32_t all = hd_device_get_info(p->device)->n_sms;
  if (p->run.compile.sms) return HD_OK;
  hd_status st = hd_device_sms(p->device, &p->sms, d);
  const uint32_t n = st == HD_OK ? hd_numbers_count(&p->sms) : 0;
  if (!n || (n == all && hd_numbers_below(&p->sms, all) == n)) return st;
  p->run.compile.sms = &p->sms;
  if (p->run.machine.n_sms == all) p->run.machine.n_sms = n;
  return HD_OK;
}

/* Find out the original's registers on this device: rewritten kernels get their limits from them. */
static hd_status learn_kernels(placement *p, hd_diag *d) {
  size_t n = (size_t)p->w->n_launches + 1;
  hd_device_module *m = NULL;
  if (p->registers || hd_device_get_info(p->device)->kind != HD_DEVICE_CUDA) return HD_OK;
  p->registers = HD_NEW_N(&p->arena, n, uint32_t);
  p->local = HD_NEW_N(&p->arena, n, uint32_t);
  if (!p->registers || !p->local) return hd_nomem(d);
  hd_status st = hd_device_load(p->device, p->code->text, p->code->len, p->code->label, NULL, &m, d);
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_launches; i++) {
    hd_kernel_info info = {0};
    st = hd_device_kernel_info(m, p->w->launches[i].kernel, &info, d);
    p->registers[i] = info.registers;
    p->local[i] = info.local_bytes;
  }
  hd_device_unload(m);
  p->run.compile.registers = p->registers;
  return st;
}

/* Compare the registers and the local memory of kernels with agents with the originals'. */
static hd_status find_growth(const variant *v, const hd_resolved *plans, bool *spills, int64_t *added,
                             hd_diag *d) {
  const placement *p = v->p;
  *spills = false;
  *added = 0;
  for (uint32_t i = 0; p->local && i < p->w->n_launches; i++) {
    hd_kernel_info info;
    if (hd_resolved_plan(plans, i)->bind != HD_BIND_AGENTS) continue;
    hd_status st = hd_device_kernel_info(v->module, p->w->launches[i].kernel, &info, d);
    if (st != HD_OK) return st;
    int64_t more = (int64_t)info.registers - p->registers[i];
    *spills |= info.local_bytes > p->local[i];
    if (more > *added) *added = more;
  }
  return HD_OK;
}

/* ---- Kernels -------------------------------------------------------------------------- */

/* Rewrite and load, one way. */
static hd_status load_way(variant *v, const hd_resolved *plans, const hd_compile_options *o,
                          hd_rewritten *own, hd_diag *d) {
  const placement *p = v->p;
  hd_status st = hd_apply_resolved(plans, o, p->run.machine.n_sms, HD_TEXT_CANONICAL, own, d);
  if (st != HD_OK) return st;
  launch_setup_take(&v->setup, own->recipes);
  return hd_device_load(p->device, own->text.data, own->text.len, p->code->label, NULL, &v->module, d);
}

/* Kernels with agents are loaded in the first way that takes few registers. */
static hd_status load_rewritten(variant *v, const hd_resolved *plans, hd_rewritten *own, hd_diag *d) {
  hd_compile_options way = v->p->run.compile;
  agents_search s = {.apply = &way};
  bool agents = any_binds(plans, HD_BIND_AGENTS);
  for (;;) {
    bool spills;
    int64_t added;
    hd_rewritten_free(own);
    hd_status st = load_way(v, plans, &way, own, d);
    if (st != HD_OK || !agents) return st;
    st = find_growth(v, plans, &spills, &added, d);
    if (st != HD_OK || !agents_try_next(&s, spills, added)) return st;
    hd_device_unload(v->module);
    v->module = NULL;
  }
}

/* The grid of launch i. */
static hd_status find_grid(variant *v, uint32_t i, hd_diag *d) {
  const placement *p = v->p;
  const hd_recipe *recipe = &v->setup.recipes[i];
  const hd_wl_launch *l = &p->w->launches[i];
  const hd_device_info *info = hd_device_get_info(p->device);
  uint32_t resident = 1;
  hd_status st = HD_OK;
  /* A model replays each task's accesses on the SM that its dispatcher gives the task. It cannot replay a
   * kernel that chooses tasks by its SM. */
  if (info->kind == HD_DEVICE_MODEL && (recipe->agents || recipe->state_bytes))
    return hd_fail(d, HD_ERR_UNSUPPORTED, "kernels that bind tasks to SMs do not run on %s", info->name);
  if (recipe->agents && info->kind == HD_DEVICE_CUDA)
    st = hd_device_resident(v->module, l->kernel, l->block[0] * l->block[1] * l->block[2], l->dynamic_shared,
                            0, &resident, d);
  hd_recipe_grid(recipe, l->grid, info->n_sms, resident, v->grids[i]);
  return st;
}

/* Find out the facts of the device that rewriting for these plans needs. */
static hd_status learn_for(placement *p, const hd_resolved *plans, hd_diag *d) {
  hd_status st = HD_OK;
  bool agents = any_binds(plans, HD_BIND_AGENTS);
  if (agents || any_binds(plans, HD_BIND_CLAIM)) st = learn_sms(p, d);
  return st == HD_OK && agents ? learn_kernels(p, d) : st;
}

static hd_status load(variant *v, const hd_resolved *plans, hd_rewritten *own, hd_diag *d) {
  placement *p = v->p;
  const hd_ptx_module *m = p->code->module;
  hd_status st = HD_OK;
  if (plans) {
    st = learn_for(p, plans, d);
    if (st == HD_OK) st = load_rewritten(v, plans, own, d);
    m = own->module;
  } else {
    /* The original is loaded as it came, so that nothing of heddle is in the baseline. */
    st = hd_device_load(p->device, p->code->text, p->code->len, p->code->label, NULL, &v->module, d);
  }
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_launches; i++) st = find_grid(v, i, d);
  if (st == HD_OK) st = variant_find_variables(v, m, d);
  return st == HD_OK ? launch_setup_build(&v->setup, m, plans, p->addresses, d) : st;
}

hd_status variant_open(variant *v, placement *p, const hd_resolved *plans, hd_diag *d) {
  launch_memory memory = {.ctx = p->device,
                          .alloc = allocate,
                          .free = give_back,
                          .write = write_bytes,
                          .tensor_map = tensor_map,
                          .image = make_image,
                          .release = free_image};
  *v = (variant){.p = p, .moves = p->moves};
  if (plans && plans->code != p->code)
    return hd_fail(d, HD_ERR_USAGE, "%s: the plans were resolved for another architecture", p->w->name);
  for (uint32_t i = 0; i < p->w->n_images; i++)
    if (p->w->images[i].reference)
      return hd_fail(d, HD_ERR_UNSUPPORTED,
                     "%s: texture and surface references work only in the emulator's check", p->w->name);
  hd_status st = launch_setup_open(&v->setup, p->code, memory, d);
  if (st != HD_OK) return st;
  v->grids = hd_arena_zalloc(&v->setup.arena, (size_t)p->w->n_launches + 1, sizeof *v->grids);
  if (!v->grids) return hd_nomem(d);
  hd_rewritten own = {0};
  st = load(v, plans && !hd_resolved_is_baseline(plans) ? plans : NULL, &own, d);
  hd_rewritten_free(&own);
  return st;
}

void variant_compile_ahead(placement *p, const hd_resolved *plans, size_t n) {
  hd_rewritten *own = calloc(n + 1, sizeof *own);
  hd_device_source *sources = calloc(n + 1, sizeof *sources);
  size_t made = 0;
  for (size_t i = 0; own && sources && i < n; i++)
    if (!hd_resolved_is_baseline(&plans[i]) && learn_for(p, &plans[i], NULL) == HD_OK &&
        hd_apply_resolved(&plans[i], &p->run.compile, p->run.machine.n_sms, HD_TEXT_CANONICAL, &own[i],
                          NULL) == HD_OK)
      sources[made++] = (hd_device_source){.ptx = own[i].text.data, .len = own[i].text.len};
  if (made) hd_device_compile_ahead(p->device, sources, made, NULL);
  for (size_t i = 0; own && i < n; i++) hd_rewritten_free(&own[i]);
  free(own);
  free(sources);
}

void variant_close(variant *v) {
  if (!v->p) return;
  variant_free_variables(v);
  hd_device_unload(v->module);
  launch_setup_close(&v->setup);
  *v = (variant){0};
}

/* ---- Runs ----------------------------------------------------------------------------- */

hd_status variant_launch_one(variant *v, uint32_t i, hd_diag *d) {
  const hd_wl_launch *l = &v->p->w->launches[i];
  const uint32_t *grid = v->grids[i];
  hd_device_launch launch = {.kernel = l->kernel,
                             .grid = {grid[0], grid[1], grid[2]},
                             .block = {l->block[0], l->block[1], l->block[2]},
                             .dynamic_shared = l->dynamic_shared,
                             .args = v->setup.launches[i].args,
                             .args_bytes = v->setup.launches[i].args_bytes,
                             .registers =
                                 hd_workload_registers(v->p->w, hd_device_get_info(v->p->device)->arch),
                             .cooperative = l->cooperative};
  v->p->fresh = false;
  hd_status st = variant_follow(v, d);
  return st == HD_OK ? hd_device_run(v->module, &launch, d) : st;
}

hd_status variant_run(variant *v, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i < v->p->w->n_launches; i++) st = variant_launch_one(v, i, d);
  return st;
}

hd_status variant_run_once(variant *v, hd_diag *d) {
  hd_status st = variant_restore(v, d);
  if (st == HD_OK) st = placement_poison(v->p, d);
  if (st == HD_OK) st = variant_run(v, d);
  if (st == HD_OK) st = variant_fetch(v, d);
  return st == HD_OK ? hd_device_sync(v->p->device, d) : st;
}

hd_status variant_compare(variant *original, variant *v, uint64_t *compared, hd_diag *d) {
  void **want = NULL;
  hd_status st = variant_run_once(original, d);
  if (st == HD_OK) st = placement_read(v->p, &want, d);
  if (st == HD_OK) st = variant_run_once(v, d);
  if (st == HD_OK) st = placement_compare(v->p, want, compared, d);
  launch_bytes_free(v->p->w, want);
  return st;
}

static hd_status prepare(void *ctx, hd_diag *d) { return variant_restore(ctx, d); }
static hd_status run(void *ctx, hd_diag *d) { return variant_run(ctx, d); }

hd_device_job variant_job(variant *v) { return (hd_device_job){.prepare = prepare, .run = run, .ctx = v}; }
