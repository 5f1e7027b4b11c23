/* A workload's compiled kernels: one text and one module for each architecture, shared by all callers. */
#include <stdlib.h>
#include <string.h>

#include "workload/workload.h"

static void free_one(wl_compiled *c) {
  if (!c) return;
  hd_buf_free(&c->text);
  hd_arena_free(&c->arena);
  free(c);
}

void wl_compiled_free(wl_compiled *c) {
  while (c) {
    wl_compiled *next = c->next;
    free_one(c);
    c = next;
  }
}

static bool same_dims(const uint32_t a[3], const uint32_t b[3]) {
  return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Count launch i as one of its kernel's, which it may be the first of. */
static hd_status add_launch(hd_compiled *c, uint32_t i, hd_diag *d) {
  const hd_wl_launch *launches = c->workload->launches, *l = &launches[i];
  uint32_t k = 0;
  while (k < c->n_kernels && strcmp(c->kernels[k].name, l->kernel) != 0) k++;
  hd_wl_kernel *kernel = &c->kernels[k];
  if (k == c->n_kernels) {
    int64_t func = hd_ptx_find_kernel(c->module, l->kernel);
    if (func < 0)
      return hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s' in this module", c->module->name, l->kernel);
    *kernel = (hd_wl_kernel){
        .name = l->kernel, .func = (uint32_t)func, .first = i, .one_grid = true, .one_block = true};
    c->n_kernels++;
  }
  hd_status st = hd_ptx_check_block(c->module, &c->module->funcs[kernel->func], l->block, d);
  if (st != HD_OK) return st;
  kernel->n_launches++;
  kernel->one_grid &= same_dims(l->grid, launches[kernel->first].grid);
  kernel->one_block &= same_dims(l->block, launches[kernel->first].block);
  c->kernel_of[i] = k;
  return HD_OK;
}

static hd_status compile(wl_compiled *c, const hd_workload *w, hd_diag *d) {
  hd_compiled *of = &c->of;
  hd_ptx_module *module;
  hd_status st = hd_workload_ptx(w, c->arch, &c->text, &of->compiler, d);
  of->label = hd_arena_printf(&c->arena, "%s's PTX", w->name);
  if (st == HD_OK && !of->label) st = hd_nomem(d);
  if (st == HD_OK) st = hd_ptx_parse(c->text.data, c->text.len, of->label, &c->arena, &module, d);
  if (st != HD_OK) return st;
  of->workload = w;
  of->arch = strcmp(of->compiler, "ptx") == 0 ? 0 : c->arch;
  of->text = c->text.data;
  of->len = c->text.len;
  of->module = module;
  of->kernels = HD_NEW_N(&c->arena, (size_t)w->n_launches + 1, hd_wl_kernel);
  of->kernel_of = HD_NEW_N(&c->arena, (size_t)w->n_launches + 1, uint32_t);
  if (!of->kernels || !of->kernel_of) return hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) st = add_launch(of, i, d);
  return st;
}

static hd_status compiled(wl_private *p, const hd_workload *w, unsigned arch, const hd_compiled **out,
                          hd_diag *d) {
  for (wl_compiled *c = p->compiled; c; c = c->next)
    if (!c->of.arch || c->arch == arch) {
      *out = &c->of;
      return HD_OK;
    }
  wl_compiled *c = calloc(1, sizeof *c);
  if (!c) return hd_nomem(d);
  c->arch = arch;
  hd_arena_init(&c->arena);
  hd_status st = compile(c, w, d);
  if (st != HD_OK) {
    free_one(c);
    return st;
  }
  c->next = p->compiled;
  p->compiled = c;
  *out = &c->of;
  return HD_OK;
}

hd_status hd_workload_compiled(const hd_workload *w, unsigned arch, const hd_compiled **out, hd_diag *d) {
  wl_private *p = w->priv;
  *out = NULL;
  pthread_mutex_lock(&p->lock);
  hd_status st = compiled(p, w, arch, out, d);
  pthread_mutex_unlock(&p->lock);
  return st;
}
