/* Variables of the module that the workload does not describe: kernels may leave results in them, and a proof
 * compares those too. One whose initial value holds addresses is left out, for modules lie at different ones.
 */
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "launch/runner.h"

static bool is_described(const hd_workload *w, const char *name) {
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (w->buffers[i].variable && strcmp(w->buffers[i].name, name) == 0) return true;
  return false;
}

static bool is_number(void *ctx, const hd_ptx_leaf *leaf) { return leaf->sym == 0; }

static bool is_wanted(const runner *r, const hd_ptx_var *v) {
  const hd_ptx_module *m = r->code->module;
  return v->space == HD_M_GLOBAL && v->sym && !(v->linkage & HD_LINK_EXTERN) && hd_ptx_type_size(v->type) &&
         hd_ptx_var_size(m, v) && !is_described(r->w, m->syms[v->sym].name) &&
         (!v->init || hd_ptx_visit_operand(m, v->init - 1, HD_ROLE_READ, is_number, NULL));
}

hd_status runner_find_undescribed(runner *r, hd_diag *d) {
  const hd_ptx_module *m = r->code->module;
  r->undescribed = HD_NEW_N(&r->arena, (size_t)m->n_items + 1, runner_variable);
  hd_status st = r->undescribed ? HD_OK : hd_nomem(d);
  for (uint32_t k = 0; st == HD_OK && k < m->n_items; k++) {
    const hd_ptx_var *v = &m->vars[m->items[k].index];
    if (m->items[k].kind != HD_I_VAR || !is_wanted(r, v)) continue;
    runner_variable *x = &r->undescribed[r->n_undescribed++];
    x->name = m->syms[v->sym].name;
    st = hd_emu_symbol(r->program, x->name, &x->address, &x->bytes, d);
  }
  return st;
}

static const void *bytes_of(const runner *r, uint32_t i) {
  return hd_emu_ptr(r->emu, r->undescribed[i].address, r->undescribed[i].bytes);
}

hd_status runner_keep_undescribed(const runner *r, char **out, hd_diag *d) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < r->n_undescribed; i++) bytes += r->undescribed[i].bytes;
  *out = malloc(bytes + 1);
  if (!*out) return hd_nomem(d);
  char *at = *out;
  for (uint32_t i = 0; i < r->n_undescribed; at += r->undescribed[i++].bytes)
    memcpy(at, bytes_of(r, i), r->undescribed[i].bytes);
  return HD_OK;
}

const char *runner_compare_undescribed(const runner *r, const char *kept, uint64_t *compared, char *what,
                                       size_t cap) {
  for (uint32_t i = 0; i < r->n_undescribed; kept += r->undescribed[i++].bytes) {
    const runner_variable *x = &r->undescribed[i];
    *compared += x->bytes;
    if (!hd_elem_compare(HD_ELEM_U8, HD_COMPARE_EXACT, 0, 0, bytes_of(r, i), kept, x->bytes, what, cap))
      return x->name;
  }
  return NULL;
}
