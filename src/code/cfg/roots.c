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
  uint32_t made[MOST_DEPTH + 1]; /* the same, of is_made_of_names */
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

static bool may_be_address(search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

static bool widens(const hd_ptx_form *f) {
  return f->n_mods >= 2 &&
         hd_ptx_type_of(f->mods[f->n_mods - 1]).bits < hd_ptx_type_of(f->mods[f->n_mods - 2]).bits;
}

/* The address of a variable, or a pointer that the kernel was passed, is part of it: the quotient of two
 * variables' distance leads from one to the other, where that of a number from memory is an index. */
static bool is_made_of_names(search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  const hd_ptx_module *m = s->g->module;
  if (o->kind == HD_O_SYM) return m->syms[o->sym].kind == HD_SYM_VAR;
  if (o->kind != HD_O_REG) return o->kind == HD_O_VEC;
  if (depth > MOST_DEPTH || s->steps++ > MOST_STEPS) return true;
  const uint32_t reg = hd_cfg_reg(s->g, s->g->insts[inst].call, o->sym);
  for (unsigned k = 0; k < depth; k++)
    if (s->made[k] == reg) return false;
  s->made[depth] = reg;
  uint32_t n;
  const uint32_t *w = writers_of(s, inst, o->sym, &n);
  for (uint32_t i = 0; i < n; i++) {
    const hd_ptx_stmt *st = hd_inst_stmt(s->g, w[i]);
    const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, w[i]));
    const hd_ptx_opnd *p = &m->opnds[st->first_opnd];
    if (hd_ptx_access_in(&a, HD_IN_PARAM) && a.bytes == 8 && st->n_opnds > 1 && p[1].kind == HD_O_ADDR &&
        cfg_is_own_param(s->g, p[1].sym))
      return true;
    for (uint32_t k = 1; k < st->n_opnds && !a.kinds; k++)
      if (is_made_of_names(s, w[i], &p[k], depth + 1)) return true;
  }
  return false;
}

static bool any_made_of_names(search *s, uint32_t inst) {
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  for (uint32_t k = 1; k < st->n_opnds; k++)
    if (is_made_of_names(s, inst, &s->g->module->opnds[st->first_opnd + k], 0)) return true;
  return false;
}

/* A product is an index, unless it is one of a distance between variables. */
static bool term_may_be_address(search *s, uint32_t inst, const hd_ptx_opnd *o, const hd_ptx_term *t,
                                unsigned depth) {
  if (!t->by) return may_be_address(s, inst, &o[t->of], depth);
  return is_made_of_names(s, inst, &o[t->of], 0) || is_made_of_names(s, inst, &o[t->by], 0);
}

static bool sum_may_be_address(search *s, uint32_t inst, const hd_ptx_opnd *o, const hd_ptx_result *r,
                               unsigned depth) {
  for (unsigned i = 0; i < r->n_terms; i++)
    if (term_may_be_address(s, inst, o, &r->terms[i], depth)) return true;
  return false;
}

static bool result_may_be_address(search *s, uint32_t inst, unsigned depth) {
  const hd_ptx_module *m = s->g->module;
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_opnd *o = &m->opnds[st->first_opnd];
  const hd_ptx_result *r = hd_ptx_result_of(m, st);
  switch ((hd_ptx_makes)r->makes) {
  case HD_MAKES_ANYTHING:
  case HD_MAKES_PLACE: return true;
  case HD_MAKES_SUM:
    return widens(&m->forms[st->form]) ? any_made_of_names(s, inst)
                                       : sum_may_be_address(s, inst, o, r, depth);
  case HD_MAKES_QUOTIENT:
  case HD_MAKES_REMAINDER:
  case HD_MAKES_MASKED:
  case HD_MAKES_PART: return any_made_of_names(s, inst);
  case HD_MAKES_COMPARISON: return false;
  case HD_MAKES_JOINED:
  case HD_MAKES_NEGATED:
  case HD_MAKES_MIXED:
  case HD_MAKES_LEAST:
  case HD_MAKES_GREATEST:
  case HD_MAKES_CHOICE: break;
  }
  for (uint32_t k = 1; k < st->n_opnds; k++)
    if (may_be_address(s, inst, &o[k], depth)) return true;
  return false;
}

static bool may_be_address(search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
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

/* A number leads out of a variable whose size is known. */
static bool leads_out(const search *s, hd_root r, int64_t by) {
  if (!r.sym || r.loaded || s->g->module->syms[r.sym].kind != HD_SYM_VAR) return false;
  const hd_ptx_var *v = &s->g->module->vars[s->g->module->syms[r.sym].decl];
  const uint64_t size = hd_ptx_var_size(s->g->module, v);
  if (v->space == HD_M_PARAM || v->unsized || v->linkage & HD_LINK_EXTERN || !size) return false;
  return by >= 0 ? (uint64_t)by >= size : -(uint64_t)by >= size;
}

/* That of one term, if the other is no address. */
static hd_root root_of_sum(search *s, uint32_t inst, const hd_ptx_opnd *o, const hd_ptx_result *r,
                           unsigned depth) {
  for (unsigned i = 0; i < r->n_terms; i++) {
    const hd_ptx_term *t = &r->terms[i], *other = r->n_terms == 2 ? &r->terms[1 - i] : NULL;
    if (t->by || t->minus) continue;
    if (other && term_may_be_address(s, inst, o, other, depth)) continue;
    const hd_root root = root_of(s, inst, &o[t->of], depth);
    const bool out =
        other && !other->by && o[other->of].kind == HD_O_INT && leads_out(s, root, o[other->of].imm);
    return out ? (hd_root){0} : root;
  }
  return (hd_root){0};
}

static hd_root root_of_param(search *s, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  hd_root r = root_of(s, inst, &o[1], depth);
  if (!r.sym || r.loaded || o[1].kind != HD_O_ADDR || !cfg_is_own_param(s->g, r.sym)) return (hd_root){0};
  r.loaded = true;
  r.place = hd_wrap_add(r.place, o[1].imm);
  return r;
}

static hd_root root_of_result(search *s, uint32_t inst, unsigned depth) {
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_opnd *o = &s->g->module->opnds[st->first_opnd];
  const hd_ptx_result *r = hd_ptx_result_of(s->g->module, st);
  if (st->n_opnds < 2 || o[0].kind != HD_O_REG || o[0].part) return (hd_root){0};
  if (f->op == HD_OP_LD && hd_ptx_form_has(f, HD_M_PARAM)) return root_of_param(s, inst, o, depth);
  switch (r->makes) {
  case HD_MAKES_PLACE: return root_of(s, inst, &o[r->terms[0].of], depth);
  case HD_MAKES_SUM: return root_of_sum(s, inst, o, r, depth);
  case HD_MAKES_CHOICE:
    return join(root_of(s, inst, &o[r->terms[0].of], depth), root_of(s, inst, &o[r->terms[1].of], depth));
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
  if (m->syms[o->sym].kind == HD_SYM_VAR) {
    const hd_root root = {.sym = hd_storage(m, o->sym)};
    return leads_out(s, root, o->imm) ? (hd_root){0} : root;
  }
  if (m->syms[o->sym].kind != HD_SYM_REG) return (hd_root){0};
  const hd_root root = root_of_register(s, inst, o->sym, depth);
  return o->kind == HD_O_ADDR && leads_out(s, root, o->imm) ? (hd_root){0} : root;
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
