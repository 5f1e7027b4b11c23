#include "tune/runner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Set-up ---------------------------------------------------------------------- */

static hd_status load_module(runner *r, const hd_plan *plan, const hd_run_options *o, hd_diag *d) {
  hd_ptx_module *own;
  hd_status st = hd_workload_compiled(r->w, hd_launch_arch(NULL, o->arch), &r->code, d);
  if (st != HD_OK) return st;
  r->module = r->code->module;
  if (plan) {
    st = hd_ptx_parse(r->code->text, r->code->len, r->w->name, &r->arena, &own, d);
    if (st == HD_OK) st = hd_rewrite_workload(own, r->w, plan, o, r->recipes, d);
    r->module = own;
  }
  if (st == HD_OK) st = hd_emu_load(r->emu, r->module, &r->program, d);
  for (uint32_t i = 0; st == HD_OK && i < r->w->n_launches; i++)
    st = hd_emu_supported(r->program, r->w->launches[i].kernel, d);
  return st;
}

static hd_status allocate_buffers(runner *r, hd_diag *d) {
  const hd_workload *w = r->w;
  r->addresses = calloc(w->n_buffers + 1, sizeof *r->addresses);
  if (!r->addresses) return hd_nomem(d);
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    hd_status st = hd_emu_alloc(r->emu, w->buffers[i].bytes, &r->addresses[i], d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

/* ---- What recipes ask for ---------------------------------------------------- */

static hd_status allocate_written(runner *r, uint64_t bytes, uint64_t *address, hd_diag *d) {
  hd_status st = hd_emu_alloc(r->emu, bytes, address, d);
  if (st != HD_OK) return st;
  memset(hd_emu_ptr(r->emu, *address, bytes), 0, bytes);
  hd_emu_mark_written(r->emu, *address, bytes);
  return HD_OK;
}

static hd_status upload_table(runner *r, uint32_t i, const hd_plan *plan, const hd_run_options *o,
                              uint64_t *address, hd_diag *d) {
  hd_table own;
  const hd_table *table;
  hd_status st = apply_table(r->w, i, apply_plan_of(o, r->w->launches[i].kernel, plan), o, &own, &table, d);
  if (st == HD_OK) st = allocate_written(r, r->recipes[i].table_bytes, address, d);
  if (st == HD_OK)
    memcpy(hd_emu_ptr(r->emu, *address, r->recipes[i].table_bytes), table->task, r->recipes[i].table_bytes);
  hd_table_free(&own);
  return st;
}

/* The extra parameters of launch i. */
static hd_status add_recipe(runner *r, uint32_t i, const hd_plan *plan, const hd_run_options *o, hd_diag *d) {
  const hd_recipe *recipe = &r->recipes[i];
  uint32_t first = apply_first_launch(r->w, i);
  uint64_t table = 0;
  hd_status st = HD_OK;
  if (first < i)
    r->states[i] = r->states[first];
  else if (recipe->state_bytes)
    st = allocate_written(r, recipe->state_bytes, &r->states[i], d);
  if (st == HD_OK && recipe->table_bytes) st = upload_table(r, i, plan, o, &table, d);
  if (st == HD_OK && recipe->params_bytes)
    hd_recipe_params(recipe, r->w->launches[i].grid, r->states[i], table, r->args[i]);
  return st;
}

static bool is_zero(const char *p, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    if (p[i]) return false;
  return true;
}

static hd_status check_state(const runner *r, uint32_t i, hd_diag *d) {
  uint64_t bytes = r->recipes[i].state_bytes;
  if (!bytes || r->recipes[i].ballot || is_zero(hd_emu_ptr(r->emu, r->states[i], bytes), bytes)) return HD_OK;
  return hd_fail(d, HD_ERR_FAULT, "%s: the rewritten kernel did not clear its queues",
                 r->w->launches[i].kernel);
}

/* The parameter block of launch i, laid out as the kernel declares it. */
static hd_status build_args(runner *r, uint32_t i, hd_diag *d) {
  const hd_wl_launch *l = &r->w->launches[i];
  int64_t func;
  hd_status st = apply_find_kernel(r->module, l->kernel, &func, d);
  if (st != HD_OK) return st;
  const hd_ptx_func *f = &r->module->funcs[func];
  const hd_recipe *recipe = &r->recipes[i];
  uint32_t own = recipe->params_bytes ? recipe->n_params : f->n_params;
  if (own != l->n_args)
    return hd_fail(d, HD_ERR_INPUT, "%s: kernel '%s' takes %u arguments, the workload gives %u", r->w->name,
                   l->kernel, own, l->n_args);
  uint64_t *offsets = calloc((size_t)f->n_params + 1, sizeof *offsets);
  if (!offsets) return hd_nomem(d);
  uint64_t bytes = hd_ptx_param_layout(r->module, f, offsets);
  r->args_bytes[i] = bytes;
  r->args[i] = bytes == UINT64_MAX ? NULL : calloc(1, bytes ? bytes : 1);
  if (!r->args[i]) st = hd_nomem(d);
  for (uint32_t k = 0; st == HD_OK && k < l->n_args; k++) {
    const hd_wl_arg *a = &l->args[k];
    uint64_t size = hd_ptx_var_size(r->module, &r->module->vars[f->first_param + k]);
    unsigned char map[HD_TENSOR_MAP_BYTES];
    uint64_t have = a->is_buffer ? 8 : hd_elem_bytes(a->type);
    const void *value = a->is_buffer ? (const void *)&r->addresses[a->buffer] : (const void *)&a->bits;
    if (a->tensor) {
      hd_tensor t = *a->tensor;
      t.address += r->addresses[a->buffer];
      have = sizeof map;
      value = map;
      st = hd_emu_tensor_map(&t, map, d);
      if (st != HD_OK) break;
    }
    if (size != have)
      st = hd_fail(d, HD_ERR_INPUT,
                   "%s: argument %u of kernel '%s' is %" PRIu64 " bytes wide, the workload gives %" PRIu64,
                   r->w->name, k + 1, l->kernel, size, have);
    else
      memcpy((char *)r->args[i] + offsets[k], value, have);
  }
  free(offsets);
  return st;
}

hd_status runner_open(runner *r, const hd_workload *w, const hd_plan *plan, const hd_run_options *o,
                      unsigned checks, hd_diag *d) {
  memset(r, 0, sizeof *r);
  r->w = w;
  hd_arena_init(&r->arena);
  hd_emu_options eo = {.checks = checks, .threads = o->threads, .n_sms = o->n_sms ? o->n_sms : RUNNER_SMS};
  r->n_sms = eo.n_sms;
  r->recipes = calloc((size_t)w->n_launches + 1, sizeof *r->recipes);
  r->states = calloc((size_t)w->n_launches + 1, sizeof *r->states);
  if (!r->recipes || !r->states) return hd_nomem(d);
  hd_status st = hd_emu_create(&eo, &r->emu, d);
  if (st == HD_OK) st = load_module(r, plan, o, d);
  if (st == HD_OK) st = allocate_buffers(r, d);
  if (st != HD_OK) return st;
  r->args = calloc(w->n_launches + 1, sizeof *r->args);
  r->args_bytes = calloc(w->n_launches + 1, sizeof *r->args_bytes);
  if (!r->args || !r->args_bytes) return hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    st = build_args(r, i, d);
    if (st == HD_OK && plan) st = add_recipe(r, i, plan, o, d);
  }
  return st;
}

void runner_close(runner *r) {
  if (r->program) hd_emu_unload(r->program);
  if (r->emu) hd_emu_destroy(r->emu);
  for (uint32_t i = 0; r->args && i < r->w->n_launches; i++) free(r->args[i]);
  free(r->args);
  free(r->args_bytes);
  free(r->addresses);
  free(r->recipes);
  free(r->states);
  hd_arena_free(&r->arena);
  memset(r, 0, sizeof *r);
}

/* ---- Runs --------------------------------------------------------------------------- */

void *runner_bytes(const runner *r, uint32_t buffer) {
  return hd_emu_ptr(r->emu, r->addresses[buffer], r->w->buffers[buffer].bytes);
}

hd_status runner_fill(runner *r, hd_diag *d) {
  uint32_t n = r->w->n_buffers;
  void **bytes = calloc((size_t)n + 1, sizeof *bytes);
  bool *written = calloc((size_t)n + 1, sizeof *written);
  hd_status st = bytes && written ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    bytes[i] = runner_bytes(r, i);
    /* What a run leaves unwritten must not hold an earlier run's result. */
    memset(bytes[i], 0xCD, r->w->buffers[i].bytes);
  }
  if (st == HD_OK) st = hd_workload_fill_all(r->w, bytes, written, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    if (written[i])
      hd_emu_mark_written(r->emu, r->addresses[i], r->w->buffers[i].bytes);
    else
      hd_emu_mark_unwritten(r->emu, r->addresses[i], r->w->buffers[i].bytes);
  }
  free(bytes);
  free(written);
  return st;
}

void runner_fill_from(runner *r, void *const *initial, const bool *filled) {
  for (uint32_t i = 0; i < r->w->n_buffers; i++) {
    uint64_t bytes = r->w->buffers[i].bytes;
    memcpy(runner_bytes(r, i), initial[i], bytes);
    if (filled[i])
      hd_emu_mark_written(r->emu, r->addresses[i], bytes);
    else
      hd_emu_mark_unwritten(r->emu, r->addresses[i], bytes);
  }
}

hd_status runner_run(runner *r, const hd_dispatch *how, const hd_emu_hooks *const *hooks, hd_emu_stats *stats,
                     hd_diag *d) {
  hd_emu_stats sum = {0};
  for (uint32_t i = 0; i < r->w->n_launches; i++) {
    const hd_wl_launch *l = &r->w->launches[i];
    hd_emu_launch_params p = {.kernel = l->kernel,
                              .grid = {l->grid[0], l->grid[1], l->grid[2]},
                              .block = {l->block[0], l->block[1], l->block[2]},
                              .dynamic_shared = l->dynamic_shared,
                              .args = r->args[i],
                              .args_bytes = r->args_bytes[i]};
    hd_recipe_grid(&r->recipes[i], l->grid, r->n_sms, how && how->resident ? how->resident : 1, p.grid);
    hd_emu_stats s = {0};
    hd_status st = hd_emu_launch(r->program, &p, how, hooks ? hooks[i] : NULL, &s, d);
    if (st == HD_OK) st = check_state(r, i, d);
    if (st != HD_OK) return st;
    sum.ctas += s.ctas;
    sum.warps += s.warps;
    sum.warp_instructions += s.warp_instructions;
    sum.thread_instructions += s.thread_instructions;
    sum.seconds += s.seconds;
  }
  if (stats) *stats = sum;
  return HD_OK;
}
