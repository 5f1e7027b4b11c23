#include "tune/runner.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

enum { DEFAULT_ARCH = 80, DEFAULT_SMS = 16 };

/* ---- Rewriting all kernels of a workload ------------------------------------- */

static const hd_wl_launch *first_launch_of(const hd_workload *w, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (strcmp(w->launches[k].kernel, w->launches[i].kernel) == 0) return &w->launches[k];
  return NULL;
}

static bool has_one_grid(const hd_workload *w, uint32_t i) {
  for (uint32_t k = 0; k < w->n_launches; k++)
    if (strcmp(w->launches[k].kernel, w->launches[i].kernel) == 0 &&
        memcmp(w->launches[k].grid, w->launches[i].grid, sizeof w->launches[i].grid) != 0)
      return false;
  return true;
}

static hd_status find_kernel(const hd_ptx_module *m, const char *name, int64_t *func, hd_diag *d) {
  *func = hd_ptx_find_kernel(m, name);
  if (*func >= 0) return HD_OK;
  return hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s' in this module", m->name, name);
}

static hd_status rewrite_one(hd_ptx_module *m, const hd_workload *w, uint32_t i, const hd_plan *p,
                             const hd_run_options *o, hd_diag *d) {
  const hd_wl_launch *l = &w->launches[i];
  int64_t func;
  hd_status st = find_kernel(m, l->kernel, &func, d);
  if (st != HD_OK) return st;
  hd_rewrite_options opt = {.grid = {.known = !o->any_grid && has_one_grid(w, i),
                                     .g = {l->grid[0], l->grid[1], l->grid[2]},
                                     .n_sms = o->n_sms ? o->n_sms : DEFAULT_SMS}};
  hd_table table = {0};
  if (p->order.kind == HD_ORDER_TABLE) {
    uint64_t V;
    if (!hd_grid_tasks(l->grid, &V))
      return hd_fail(d, HD_ERR_INPUT, "%s: the grid has too many tasks", l->kernel);
    if ((st = hd_table_read(p->order.file, V, &table, d)) != HD_OK) return st;
    opt.table = &table;
  }
  st = hd_rewrite(m, (uint32_t)func, p, &opt, d);
  hd_table_free(&table);
  if (st != HD_OK && d) {
    char why[sizeof d->message];
    memcpy(why, d->message, sizeof why);
    if (!d->file[0]) hd_fail(d, st, "%s: %.700s", l->kernel, why);
  }
  return st;
}

hd_status hd_rewrite_workload(hd_ptx_module *m, const hd_workload *w, const hd_plan *p,
                              const hd_run_options *o, hd_diag *d) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    if (first_launch_of(w, i)) continue;
    hd_status st = rewrite_one(m, w, i, p, o, d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

/* ---- Set-up ---------------------------------------------------------------------- */

static hd_status load_module(runner *r, const hd_plan *plan, const hd_run_options *o, hd_diag *d) {
  hd_buf text = {0};
  hd_status st = hd_workload_ptx(r->w, o->arch ? o->arch : DEFAULT_ARCH, &text, NULL, d);
  if (st == HD_OK) st = hd_ptx_parse(text.data, text.len, r->w->name, &r->arena, &r->module, d);
  hd_buf_free(&text);
  if (st == HD_OK && plan) st = hd_rewrite_workload(r->module, r->w, plan, o, d);
  if (st == HD_OK) st = hd_emu_load(r->emu, r->module, &r->program, d);
  for (uint32_t i = 0; st == HD_OK && i < r->w->n_launches; i++)
    st = hd_emu_supported(r->program, r->w->launches[i].kernel, d);
  return st;
}

static hd_status allocate_buffers(runner *r, hd_diag *d) {
  const hd_workload *w = r->w;
  r->addresses = calloc(w->n_buffers + 1, sizeof *r->addresses);
  if (!r->addresses) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  for (uint32_t i = 0; i < w->n_buffers; i++) {
    hd_status st = hd_emu_alloc(r->emu, w->buffers[i].bytes, &r->addresses[i], d);
    if (st != HD_OK) return st;
  }
  return HD_OK;
}

/* The parameter block of launch i, laid out as the kernel declares it. */
static hd_status build_args(runner *r, uint32_t i, hd_diag *d) {
  const hd_wl_launch *l = &r->w->launches[i];
  int64_t func;
  hd_status st = find_kernel(r->module, l->kernel, &func, d);
  if (st != HD_OK) return st;
  const hd_ptx_func *f = &r->module->funcs[func];
  if (f->n_params != l->n_args)
    return hd_fail(d, HD_ERR_INPUT, "%s: kernel '%s' takes %u arguments, the workload gives %u", r->w->name,
                   l->kernel, f->n_params, l->n_args);
  uint64_t *offsets = calloc((size_t)f->n_params + 1, sizeof *offsets);
  if (!offsets) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  uint64_t bytes = hd_ptx_param_layout(r->module, f, offsets);
  r->args_bytes[i] = bytes;
  r->args[i] = bytes == UINT64_MAX ? NULL : calloc(1, bytes ? bytes : 1);
  if (!r->args[i]) st = hd_fail(d, HD_ERR_NOMEM, "out of memory");
  for (uint32_t k = 0; st == HD_OK && k < l->n_args; k++) {
    const hd_wl_arg *a = &l->args[k];
    uint64_t size = hd_ptx_var_size(r->module, &r->module->vars[f->first_param + k]);
    uint64_t have = a->is_buffer ? 8 : hd_elem_bytes(a->type);
    const void *value = a->is_buffer ? (const void *)&r->addresses[a->buffer] : (const void *)&a->bits;
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
  hd_emu_options eo = {.checks = checks, .threads = o->threads, .n_sms = o->n_sms ? o->n_sms : DEFAULT_SMS};
  hd_status st = hd_emu_create(&eo, &r->emu, d);
  if (st == HD_OK) st = load_module(r, plan, o, d);
  if (st == HD_OK) st = allocate_buffers(r, d);
  if (st != HD_OK) return st;
  r->args = calloc(w->n_launches + 1, sizeof *r->args);
  r->args_bytes = calloc(w->n_launches + 1, sizeof *r->args_bytes);
  if (!r->args || !r->args_bytes) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) st = build_args(r, i, d);
  return st;
}

void runner_close(runner *r) {
  if (r->program) hd_emu_unload(r->program);
  if (r->emu) hd_emu_destroy(r->emu);
  for (uint32_t i = 0; r->args && i < r->w->n_launches; i++) free(r->args[i]);
  free(r->args);
  free(r->args_bytes);
  free(r->addresses);
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
  hd_status st = bytes && written ? HD_OK : hd_fail(d, HD_ERR_NOMEM, "out of memory");
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
    hd_emu_stats s = {0};
    hd_status st = hd_emu_launch(r->program, &p, how, hooks ? hooks[i] : NULL, &s, d);
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
