/* Variables of a variant's module on a device, and arrays: given their values before each run, read back
 * after it.
 *
 * A kernel may change any .global variable. Each run must begin with the variables' own values, not with
 * those that the run before left.
 */
#include <stdlib.h>
#include <string.h>

#include "launch/placement.h"

static uint32_t buffer_of(const hd_workload *w, const char *name) {
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (w->buffers[i].variable && strcmp(w->buffers[i].name, name) == 0) return i;
  return VARIANT_NO_BUFFER;
}

/* A variable that keeps what it was loaded with. */
static hd_status keep_first(const variant *v, variant_variable *x, hd_diag *d) {
  hd_status st = hd_device_alloc(v->p->device, x->bytes, &x->first, d);
  return st == HD_OK ? hd_device_copy(v->p->device, x->first, x->address, x->bytes, d) : st;
}

static hd_status find(variant *v, const char *name, bool constant, hd_diag *d) {
  const hd_workload *w = v->p->w;
  variant_variable *x = &v->variables[v->n_variables];
  hd_diag why = {0};
  *x = (variant_variable){.buffer = buffer_of(w, name)};
  if (constant && x->buffer == VARIANT_NO_BUFFER) return HD_OK;
  hd_status st = hd_device_symbol(v->module, name, &x->address, &x->bytes, &why);
  /* The compiler left it out, and so no kernel uses it. */
  if (st == HD_ERR_USAGE) return HD_OK;
  if (st != HD_OK && d) *d = why;
  if (st == HD_OK && x->buffer != VARIANT_NO_BUFFER) st = launch_check_variable(w, x->buffer, x->bytes, d);
  if (st != HD_OK || !x->bytes) return st;
  v->n_variables++;
  const bool whole =
      x->buffer != VARIANT_NO_BUFFER && v->p->filled[x->buffer] && w->buffers[x->buffer].bytes == x->bytes;
  return whole ? HD_OK : keep_first(v, x, d);
}

static bool is_named(const hd_ptx_module *m, const char *name) {
  for (uint32_t k = 0; k < m->n_items; k++)
    if (m->items[k].kind == HD_I_VAR && strcmp(m->syms[m->vars[m->items[k].index].sym].name, name) == 0)
      return true;
  return false;
}

hd_status variant_find_variables(variant *v, const hd_ptx_module *m, hd_diag *d) {
  const hd_workload *w = v->p->w;
  hd_status st = HD_OK;
  v->variables = hd_arena_zalloc(&v->setup.arena, (size_t)m->n_items + 1, sizeof *v->variables);
  if (!v->variables) return hd_nomem(d);
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (w->buffers[i].variable && !is_named(m, w->buffers[i].name))
      return hd_fail(d, HD_ERR_INPUT, "%s: %s has no variable %s", w->name, m->name, w->buffers[i].name);
  for (uint32_t k = 0; st == HD_OK && k < m->n_items; k++) {
    const hd_ptx_var *x = &m->vars[m->items[k].index];
    if (m->items[k].kind == HD_I_VAR && x->sym && (x->space == HD_M_GLOBAL || x->space == HD_M_CONST) &&
        hd_ptx_type_size(x->type))
      st = find(v, m->syms[x->sym].name, x->space == HD_M_CONST, d);
  }
  return st;
}

void variant_free_variables(variant *v) {
  for (uint32_t k = 0; k < v->n_variables; k++) hd_device_free(v->p->device, v->variables[k].first, NULL);
}

static uint64_t bytes_of(const variant *v, const variant_variable *x) {
  return v->p->w->buffers[x->buffer].bytes;
}

hd_status variant_restore(variant *v, hd_diag *d) {
  placement *p = v->p;
  hd_status st = placement_restore(p, d);
  for (uint32_t k = 0; st == HD_OK && k < v->n_variables; k++) {
    const variant_variable *x = &v->variables[k];
    if (x->first) st = hd_device_copy(p->device, x->address, x->first, x->bytes, d);
    if (st == HD_OK && x->buffer != VARIANT_NO_BUFFER && p->filled[x->buffer])
      st = hd_device_copy(p->device, x->address, p->addresses[x->buffer], bytes_of(v, x), d);
  }
  if (st == HD_OK) st = variant_follow(v, d);
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_images; i++)
    st = hd_device_image_copy(p->device, v->setup.images[i], p->w->images[i].surface, false, d);
  return st;
}

hd_status variant_fetch(variant *v, hd_diag *d) {
  placement *p = v->p;
  hd_status st = HD_OK;
  for (uint32_t k = 0; st == HD_OK && k < v->n_variables; k++) {
    const variant_variable *x = &v->variables[k];
    if (x->buffer == VARIANT_NO_BUFFER) continue;
    p->fresh = false;
    st = hd_device_copy(p->device, p->addresses[x->buffer], x->address, bytes_of(v, x), d);
  }
  for (uint32_t i = 0; st == HD_OK && i < p->w->n_images; i++) {
    if (!p->w->images[i].surface) continue;
    p->fresh = false;
    st = hd_device_image_copy(p->device, v->setup.images[i], true, true, d);
  }
  return st;
}
