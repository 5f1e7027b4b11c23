/* The array that an address leads into, as far as all writers of its registers agree.
 *
 * An address is a base and an index. Of two terms one must be no address for the other to be the base: a
 * 64-bit value that was loaded, or came from a call, may be a pointer of its own. */
#include "base/arith.h"
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

enum { MOST_DEPTH = 12, MOST_STEPS = 128 };

typedef struct search {
  const hd_cfg *g;
  const hd_writers *writers;
  uint32_t path[MOST_DEPTH + 1]; /* the registers that are looked at, by depth */
  unsigned steps;
} search;

/* A register on the path: it is what its other writers are. */
static const hd_root ITSELF = {.place = -1};

static hd_root root_of(search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

static const uint32_t *writers_of(const search *s, uint32_t inst, hd_sym reg, uint32_t *n) {
  const uint32_t *at = &s->writers->first[hd_cfg_reg(s->g, s->g->insts[inst].call, reg)];
  *n = at[1] - at[0];
  return &s->writers->insts[at[0]];
}

/* ---- Indices ------------------------------------------------------------------------------------ */

static bool may_be_address(const search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

static bool widens(const hd_ptx_form *f) {
  return f->n_mods >= 2 &&
         hd_ptx_type_of(f->mods[f->n_mods - 1]).bits < hd_ptx_type_of(f->mods[f->n_mods - 2]).bits;
}

static bool result_may_be_address(const search *s, uint32_t inst, unsigned depth) {
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  uint32_t k = st->first_opnd + 1;
  switch (f->op) {
  case HD_OP_MUL:
  case HD_OP_SHL:
  case HD_OP_SHR:
  case HD_OP_BFE:
  case HD_OP_AND:
  case HD_OP_DIV:
  case HD_OP_REM: return false;
  case HD_OP_CVT:
    if (widens(f)) return false;
    break;
  case HD_OP_MAD: k = st->first_opnd + 3; break;
  case HD_OP_MOV:
  case HD_OP_ADD:
  case HD_OP_SUB:
  case HD_OP_NEG:
  case HD_OP_OR:
  case HD_OP_XOR:
  case HD_OP_MIN:
  case HD_OP_MAX:
  case HD_OP_SELP: break;
  default: return true;
  }
  for (; k < st->first_opnd + st->n_opnds; k++)
    if (may_be_address(s, inst, &s->g->module->opnds[k], depth)) return true;
  return false;
}

static bool may_be_address(const search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  if (o->kind == HD_O_INT || o->kind == HD_O_SREG) return false;
  if (o->kind != HD_O_REG || depth > MOST_DEPTH) return true;
  uint32_t n;
  const uint32_t *w = writers_of(s, inst, o->sym, &n);
  if (!n || n > 2) return true;
  for (uint32_t i = 0; i < n; i++)
    if (w[i] != inst && result_may_be_address(s, w[i], depth + 1)) return true;
  return false;
}

/* ---- Bases -------------------------------------------------------------------------------------- */

static bool is_itself(hd_root r) { return !r.sym && r.place == ITSELF.place; }

static hd_root join(hd_root a, hd_root b) {
  if (is_itself(a)) return b;
  return is_itself(b) || (a.sym && b.sym && !hd_roots_differ(a, b)) ? a : (hd_root){0};
}

static hd_root root_of_sum(search *s, uint32_t inst, const hd_ptx_opnd *a, const hd_ptx_opnd *b,
                           unsigned depth) {
  if (!may_be_address(s, inst, b, depth)) return root_of(s, inst, a, depth);
  return may_be_address(s, inst, a, depth) ? (hd_root){0} : root_of(s, inst, b, depth);
}

static hd_root root_of_result(search *s, uint32_t inst, unsigned depth) {
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_opnd *o = &s->g->module->opnds[st->first_opnd];
  if (st->n_opnds < 2 || o[0].kind != HD_O_REG || o[0].part) return (hd_root){0};
  switch (f->op) {
  case HD_OP_MOV:
  case HD_OP_CVTA:
  case HD_OP_CVT: return root_of(s, inst, &o[1], depth);
  case HD_OP_ADD: return st->n_opnds == 3 ? root_of_sum(s, inst, &o[1], &o[2], depth) : (hd_root){0};
  case HD_OP_SUB:
    return st->n_opnds == 3 && !may_be_address(s, inst, &o[2], depth) ? root_of(s, inst, &o[1], depth)
                                                                      : (hd_root){0};
  case HD_OP_MAD: return st->n_opnds == 4 ? root_of(s, inst, &o[3], depth) : (hd_root){0};
  case HD_OP_LD: {
    hd_root r = hd_ptx_form_has(f, HD_M_PARAM) ? root_of(s, inst, &o[1], depth) : (hd_root){0};
    if (!r.sym || r.loaded || o[1].kind != HD_O_ADDR || !cfg_is_own_param(s->g, r.sym)) return (hd_root){0};
    r.loaded = true;
    r.place = hd_wrap_add(r.place, o[1].imm);
    return r;
  }
  case HD_OP_SELP:
    return st->n_opnds == 4 ? join(root_of(s, inst, &o[1], depth), root_of(s, inst, &o[2], depth))
                            : (hd_root){0};
  default: return (hd_root){0};
  }
}

/* All shared variables whose size the launch says begin at one place. */
static bool is_dynamic(const hd_ptx_var *v) {
  return v->linkage & HD_LINK_EXTERN && hd_ptx_mod_value(v->space) & HD_IN_ANY_SHARED;
}

hd_sym hd_storage(const hd_ptx_module *m, hd_sym var) {
  if (!is_dynamic(&m->vars[m->syms[var].decl])) return var;
  uint32_t i = 0;
  while (!is_dynamic(&m->vars[i])) i++;
  return m->vars[i].sym;
}

static hd_root root_of_register(search *s, uint32_t inst, hd_sym sym, unsigned depth) {
  const uint32_t reg = hd_cfg_reg(s->g, s->g->insts[inst].call, sym);
  hd_root root = ITSELF;
  uint32_t n;
  const uint32_t *w = writers_of(s, inst, sym, &n);
  for (unsigned k = 0; k < depth; k++)
    if (s->path[k] == reg) return ITSELF;
  s->path[depth] = reg;
  for (uint32_t i = 0; i < n; i++) {
    if (s->steps++ > MOST_STEPS) return (hd_root){0};
    root = join(root, root_of_result(s, w[i], depth + 1));
  }
  return root;
}

static hd_root root_of(search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  const hd_ptx_module *m = s->g->module;
  if (o->kind == HD_O_BRACKET && o->n_kids) o = &m->opnds[o->sym];
  if ((o->kind != HD_O_REG && o->kind != HD_O_ADDR && o->kind != HD_O_SYM) || !o->sym || o->part ||
      depth > MOST_DEPTH)
    return (hd_root){0};
  if (m->syms[o->sym].kind == HD_SYM_VAR) return (hd_root){.sym = hd_storage(m, o->sym)};
  return m->syms[o->sym].kind == HD_SYM_REG ? root_of_register(s, inst, o->sym, depth) : (hd_root){0};
}

hd_root hd_root_of(const hd_cfg *g, const hd_writers *writers, uint32_t inst, const hd_ptx_opnd *o) {
  search s = {.g = g, .writers = writers};
  const hd_root root = root_of(&s, inst, o, 0);
  return root.sym ? root : (hd_root){0};
}

unsigned hd_root_spaces(const hd_ptx_module *m, hd_root r) {
  if (!r.sym) return HD_IN_SHARED | HD_IN_GLOBAL;
  return r.loaded ? HD_IN_GLOBAL : hd_ptx_mod_value(m->vars[m->syms[r.sym].decl].space);
}

bool hd_roots_differ(hd_root a, hd_root b) {
  return a.sym && b.sym && (a.sym != b.sym || a.place != b.place || a.loaded != b.loaded);
}
