/* Every leaf of a statement's operands, with its role in the instruction. */
#include "heddle/ptx_facts.h"

typedef struct visit {
  const hd_ptx_module *m;
  hd_ptx_visitor *fn;
  void *ctx;
  uint8_t operand;
} visit;

static bool has_kids(uint8_t kind) {
  switch ((hd_ptx_opnd_kind)kind) {
  case HD_O_VEC:
  case HD_O_LIST:
  case HD_O_BRACKET:
  case HD_O_PAIR:
  case HD_O_INDEX: return true;
  case HD_O_NONE:
  case HD_O_REG:
  case HD_O_SREG:
  case HD_O_INT:
  case HD_O_F32:
  case HD_O_F64:
  case HD_O_SYM:
  case HD_O_ADDR:
  case HD_O_SINK:
  case HD_O_GENERIC:
  case HD_O_MASKED: /* its kid is found otherwise */
  case HD_O_STRING:
  case HD_O_RAW: return false;
  }
  return false;
}

static bool is_register(const hd_ptx_module *m, hd_sym sym) {
  return sym && (m->syms[sym].kind == HD_SYM_REG || m->syms[sym].kind == HD_SYM_SREG);
}

static bool names_symbol(uint8_t kind) {
  return kind == HD_O_REG || kind == HD_O_SREG || kind == HD_O_SYM || kind == HD_O_ADDR ||
         kind == HD_O_GENERIC;
}

static bool leaf(const visit *v, uint32_t index, unsigned role) {
  const hd_ptx_opnd *o = &v->m->opnds[index];
  hd_ptx_leaf l = {.opnd = o, .index = index, .operand = v->operand};
  if (names_symbol(o->kind)) l.sym = o->sym;
  if (o->kind == HD_O_ADDR) role = (role & ~(unsigned)(HD_ROLE_READ | HD_ROLE_WRITTEN)) | HD_ROLE_BASE;
  if (role & HD_ROLE_BASE) {
    role &= ~(unsigned)HD_ROLE_READ;
    if (is_register(v->m, l.sym)) role |= HD_ROLE_READ;
  }
  /* Nothing else can be written. */
  if (role & HD_ROLE_WRITTEN && o->kind != HD_O_REG && o->kind != HD_O_SINK && o->kind != HD_O_SYM)
    role = (role & ~(unsigned)HD_ROLE_WRITTEN) | HD_ROLE_READ;
  l.role = (uint8_t)role;
  return v->fn(v->ctx, &l);
}

static bool tree(const visit *v, uint32_t index, unsigned role) {
  const hd_ptx_opnd o = v->m->opnds[index];
  if (o.kind == HD_O_MASKED) return tree(v, o.sym, role);
  if (!has_kids(o.kind)) return leaf(v, index, role);
  bool place = o.kind == HD_O_BRACKET || o.kind == HD_O_INDEX;
  for (uint32_t k = 0; k < o.n_kids; k++) {
    unsigned kid_role = role;
    /* Of [a, {b, c}] and a[i] the first is the base, and the others are read. */
    if (place)
      kid_role =
          k == 0 ? (role & HD_ROLE_BASE || o.kind == HD_O_BRACKET ? HD_ROLE_BASE : role) : HD_ROLE_READ;
    if (!tree(v, o.sym + k, kid_role)) return false;
  }
  return true;
}

bool hd_ptx_visit_operand(const hd_ptx_module *m, uint32_t index, unsigned role, hd_ptx_visitor *fn,
                          void *ctx) {
  visit v = {m, fn, ctx, 0};
  return tree(&v, index, role);
}

static bool visit_at(visit *v, const hd_ptx_stmt *s, uint32_t k, unsigned role) {
  v->operand = k < UINT8_MAX ? (uint8_t)k : UINT8_MAX;
  return tree(v, s->first_opnd + k, role);
}

/* call (results), callee, (arguments), prototype or targets; all but the callee may be missing. */
static bool visit_call(visit *v, const hd_ptx_stmt *s) {
  bool callee_seen = false;
  for (uint32_t k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = &v->m->opnds[s->first_opnd + k];
    unsigned role;
    if (o->kind == HD_O_LIST)
      role = callee_seen ? HD_ROLE_READ : HD_ROLE_WRITTEN;
    else if (callee_seen)
      role = HD_ROLE_LIST;
    else
      role = HD_ROLE_CALLEE | (o->kind == HD_O_SYM ? 0 : HD_ROLE_READ);
    callee_seen |= o->kind != HD_O_LIST;
    if (!visit_at(v, s, k, role)) return false;
  }
  return true;
}

static unsigned jump_role(const hd_ptx_module *m, const hd_ptx_opnd *o) {
  if (o->kind != HD_O_SYM) return HD_ROLE_READ;
  return m->syms[o->sym].kind == HD_SYM_TARGETS ? HD_ROLE_LIST : HD_ROLE_LABEL;
}

static bool visit_targets(visit *v, const hd_ptx_stmt *s) {
  unsigned role = s->mod == HD_M_CALLTARGETS ? HD_ROLE_CALLEE : HD_ROLE_LABEL;
  for (uint32_t k = 0; k < s->n_opnds; k++)
    if (!visit_at(v, s, k, role)) return false;
  return true;
}

static bool visit_guard(const visit *v, const hd_ptx_stmt *s) {
  hd_ptx_leaf l = {
      .index = UINT32_MAX, .sym = s->guard, .role = HD_ROLE_READ | HD_ROLE_GUARD, .operand = UINT8_MAX};
  return v->fn(v->ctx, &l);
}

bool hd_ptx_visit(const hd_ptx_module *m, const hd_ptx_stmt *s, hd_ptx_visitor *fn, void *ctx) {
  visit v = {m, fn, ctx, 0};
  if (s->kind == HD_S_TARGETS) return visit_targets(&v, s);
  if (s->kind != HD_S_INST) return true;
  if (s->guard && !visit_guard(&v, s)) return false;
  uint32_t flags = m->forms[s->form].flags;
  if (flags & HD_OPF_CALLS) return visit_call(&v, s);
  for (uint32_t k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = &m->opnds[s->first_opnd + k];
    unsigned role = HD_ROLE_READ;
    if (flags & HD_OPF_JUMPS)
      role = jump_role(m, o);
    else if (k == 0 && flags & HD_OPF_RESULT && o->kind != HD_O_BRACKET)
      role = HD_ROLE_WRITTEN | (flags & HD_OPF_READS_RESULT ? HD_ROLE_READ : 0);
    v.operand = k < UINT8_MAX ? (uint8_t)k : UINT8_MAX;
    if (o->kind == HD_O_REG) { /* most are */
      hd_ptx_leaf l = {
          .opnd = o, .index = s->first_opnd + k, .sym = o->sym, .role = (uint8_t)role, .operand = v.operand};
      if (!fn(ctx, &l)) return false;
    } else if (!tree(&v, s->first_opnd + k, role)) {
      return false;
    }
  }
  return true;
}
