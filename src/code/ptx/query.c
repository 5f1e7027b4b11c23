/* Questions about a module: sizes, layouts, functions by name. */
#include "heddle/ptx_facts.h"

#include <string.h>

bool hd_ptx_form_has(const hd_ptx_form *f, hd_mod mod) {
  for (unsigned i = 0; i < f->n_mods; i++)
    if (f->mods[i] == mod) return true;
  return false;
}

int64_t hd_ptx_find_func(const hd_ptx_module *m, const char *name) {
  size_t n = strlen(name);
  int64_t declared = -1;
  for (uint32_t i = 0; i < m->n_funcs; i++) {
    const hd_ptx_sym *s = &m->syms[m->funcs[i].sym];
    if (s->len != n || memcmp(s->name, name, n) != 0) continue;
    if (m->funcs[i].has_body) return i;
    if (declared < 0) declared = i;
  }
  return declared;
}

int64_t hd_ptx_find_kernel(const hd_ptx_module *m, const char *name) {
  if (name) return hd_ptx_find_func(m, name);
  int64_t only = -1;
  for (uint32_t i = 0; i < m->n_funcs; i++) {
    if (!m->funcs[i].entry || !m->funcs[i].has_body) continue;
    if (only >= 0) return -1;
    only = i;
  }
  return only;
}

const hd_ptx_dir *hd_ptx_func_dir(const hd_ptx_module *m, const hd_ptx_func *f, hd_mod name) {
  for (uint32_t i = 0; i < f->n_dirs; i++)
    if (m->dirs[f->first_dir + i].name == name) return &m->dirs[f->first_dir + i];
  return NULL;
}

hd_status hd_ptx_check_block(const hd_ptx_module *m, const hd_ptx_func *f, const uint32_t block[3],
                             hd_diag *d) {
  const hd_ptx_dir *required = hd_ptx_func_dir(m, f, HD_M_REQNTID),
                   *max = hd_ptx_func_dir(m, f, HD_M_MAXNTID);
  const char *kernel = m->syms[f->sym].name;
  for (uint32_t k = 0; required && k < 3; k++) { /* dimensions that are left out are 1 */
    uint32_t want = k < required->n_vals ? required->vals[k] : 1;
    if (block[k] != want)
      return hd_fail(d, HD_ERR_USAGE, "%s requires a block of %u threads in %c, not %u", kernel, want,
                     "xyz"[k], block[k]);
  }
  uint64_t most = 1, threads = (uint64_t)block[0] * block[1] * block[2];
  for (uint32_t k = 0; max && k < max->n_vals && k < 3; k++) most *= max->vals[k];
  if (max && threads > most)
    return hd_fail(d, HD_ERR_USAGE, "%s allows blocks of at most %llu threads, not %llu", kernel,
                   (unsigned long long)most, (unsigned long long)threads);
  return HD_OK;
}

uint64_t hd_ptx_type_size(hd_mod type) {
  hd_ptx_type t = hd_ptx_type_of(type);
  return t.number == HD_NUM_OPAQUE ? 0 : t.bits / 8;
}

/* Bytes of one element, a vector counting as one; 0: the type has no size. */
static uint64_t element_size(const hd_ptx_var *v) {
  if (hd_ptx_type_of(v->type).number == HD_NUM_OPAQUE) return 8;
  return hd_ptx_type_size(v->type) * v->vec;
}

/* Elements of an open first dimension: as many as its initialiser has. */
static uint64_t open_dimension(const hd_ptx_module *m, const hd_ptx_var *v) {
  if (!v->init) return 0;
  const hd_ptx_opnd *o = &m->opnds[v->init - 1];
  if (o->kind == HD_O_VEC) return o->n_kids;
  return o->kind == HD_O_STRING ? (uint64_t)m->syms[o->sym].len + 1 : 1;
}

uint64_t hd_ptx_var_size(const hd_ptx_module *m, const hd_ptx_var *v) {
  uint64_t size = element_size(v);
  if (!size) return UINT64_MAX;
  for (uint32_t i = 0; i < v->n_dims; i++) {
    uint64_t n = i == 0 && v->unsized ? open_dimension(m, v) : m->dims[v->first_dim + i];
    if (__builtin_mul_overflow(size, n, &size)) return UINT64_MAX;
  }
  return size;
}

uint32_t hd_ptx_var_align(const hd_ptx_var *v) {
  if (v->align) return v->align;
  uint64_t size = element_size(v);
  return size ? (uint32_t)size : 1;
}

uint64_t hd_ptx_param_layout(const hd_ptx_module *m, const hd_ptx_func *f, uint64_t *offsets) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < f->n_params; i++) {
    const hd_ptx_var *v = &m->vars[f->first_param + i];
    uint64_t align = hd_ptx_var_align(v), size = hd_ptx_var_size(m, v), at;
    if (size == UINT64_MAX || __builtin_add_overflow(end, align - 1, &at)) return UINT64_MAX;
    at &= ~(align - 1);
    offsets[i] = at;
    if (__builtin_add_overflow(at, size, &end)) return UINT64_MAX;
  }
  return end;
}
