/* Questions about a module: sizes, layouts, functions by name. */
#include "heddle/ptx.h"

#include <string.h>

bool hd_ptx_form_has(const hd_ptx_form *f, hd_mod mod) {
  for (unsigned i = 0; i < f->n_mods; i++)
    if (f->mods[i] == mod) return true;
  return false;
}

bool hd_ptx_form_writes(const hd_ptx_form *f) {
  switch (f->op) {
  case HD_OP_ST:
  case HD_OP_RED:
  case HD_OP_BRA:
  case HD_OP_BRX:
  case HD_OP_CALL:
  case HD_OP_RET:
  case HD_OP_EXIT:
  case HD_OP_TRAP:
  case HD_OP_BRKPT:
  case HD_OP_MEMBAR:
  case HD_OP_FENCE:
  case HD_OP_PREFETCH:
  case HD_OP_PREFETCHU:
  case HD_OP_DISCARD:
  case HD_OP_APPLYPRIORITY:
  case HD_OP_CP:
  case HD_OP_STMATRIX:
  case HD_OP_SUST:
  case HD_OP_SURED:
  case HD_OP_NANOSLEEP:
  case HD_OP_SETMAXNREG:
  case HD_OP_PMEVENT:
  case HD_OP_STACKRESTORE:
  case HD_OP_GRIDDEPCONTROL:
  case HD_OP_TENSORMAP: return false;
  case HD_OP_BAR:
  case HD_OP_BARRIER: return hd_ptx_form_has(f, HD_M_RED);
  case HD_OP_WMMA: return !hd_ptx_form_has(f, HD_M_STORE);
  case HD_OP_MULTIMEM: return !hd_ptx_form_has(f, HD_M_ST) && !hd_ptx_form_has(f, HD_M_RED);
  default: return true;
  }
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

uint64_t hd_ptx_type_size(hd_mod type) {
  switch (type) {
  case HD_M_U8:
  case HD_M_S8:
  case HD_M_B8:
  case HD_M_E4M3:
  case HD_M_E5M2:
  case HD_M_UE8M0: return 1;
  case HD_M_U16:
  case HD_M_S16:
  case HD_M_B16:
  case HD_M_F16:
  case HD_M_BF16:
  case HD_M_E4M3X2:
  case HD_M_E5M2X2: return 2;
  case HD_M_U32:
  case HD_M_S32:
  case HD_M_B32:
  case HD_M_F32:
  case HD_M_F16X2:
  case HD_M_BF16X2:
  case HD_M_U16X2:
  case HD_M_S16X2:
  case HD_M_TF32: return 4;
  case HD_M_U64:
  case HD_M_S64:
  case HD_M_B64:
  case HD_M_F64:
  case HD_M_F32X2: return 8;
  case HD_M_B128: return 16;
  default: return 0;
  }
}

/* Bytes of one element, a vector counting as one; 0: the type has no size. */
static uint64_t element_size(const hd_ptx_var *v) {
  switch (v->type) {
  case HD_M_TEXREF:
  case HD_M_SAMPLERREF:
  case HD_M_SURFREF: return 8;
  default: return hd_ptx_type_size(v->type) * v->vec;
  }
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
