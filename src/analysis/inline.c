/* One list of instructions: the kernel's body with the module's functions in place of their calls.
 *
 * A call is inlined when its function is known, has a body, and does not call itself on the way; the
 * budget of instructions stops the rest. What is not inlined stays a call, whose results are unknown.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/internal.h"

enum { MAX_CALL_DEPTH = 64 };

/* ---- Slots -------------------------------------------------------------------------- */

static uint64_t slot_hash(const an_slot *s) {
  return an_mix(an_mix(an_mix(an_mix(1, s->call), s->var), s->offset), s->bytes);
}
static uint64_t slot_rehash(const an *a, uint32_t i) { return slot_hash(&a->slots.data[i]); }
static bool slot_equal(const an *a, uint32_t i, const void *key) {
  const an_slot *s = &a->slots.data[i], *k = key;
  return s->call == k->call && s->var == k->var && s->offset == k->offset && s->bytes == k->bytes;
}

/* The operand that a call passes for a formal parameter or result of the function; NULL: none. */
static const hd_ptx_opnd *actual_of(const an *a, uint32_t call, hd_sym formal) {
  const hd_ptx_module *m = a->m;
  const hd_inlined *c = &a->calls.data[call];
  const hd_ptx_func *f = &m->funcs[c->func];
  const hd_ptx_stmt *st = an_stmt(a, c->site);
  /* (results), function, (arguments): the lists before and behind the name */
  const hd_ptx_opnd *results = NULL, *arguments = NULL;
  bool named = false;
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + i];
    if (o->kind == HD_O_SYM) named = true;
    if (o->kind == HD_O_LIST && !named) results = o;
    if (o->kind == HD_O_LIST && named && !arguments) arguments = o;
  }
  for (uint32_t i = 0; i < f->n_params; i++)
    if (m->vars[f->first_param + i].sym == formal)
      return arguments && i < arguments->n_kids ? &m->opnds[arguments->sym + i] : NULL;
  for (uint32_t i = 0; i < f->n_rets; i++)
    if (m->vars[f->first_ret + i].sym == formal)
      return results && i < results->n_kids ? &m->opnds[results->sym + i] : NULL;
  return NULL;
}

static bool is_formal(const an *a, uint32_t func, hd_sym var) {
  const hd_ptx_func *f = &a->m->funcs[func];
  for (uint32_t i = 0; i < f->n_params; i++)
    if (a->m->vars[f->first_param + i].sym == var) return true;
  for (uint32_t i = 0; i < f->n_rets; i++)
    if (a->m->vars[f->first_ret + i].sym == var) return true;
  return false;
}

uint32_t an_slot_of(an *a, uint32_t call, hd_sym var, uint64_t offset, uint32_t bytes, bool make) {
  while (is_formal(a, a->calls.data[call].func, var)) {
    if (call == 0) return HD_NONE;
    const hd_ptx_opnd *o = actual_of(a, call, var);
    if (!o || (o->kind != HD_O_SYM && o->kind != HD_O_ADDR) || !o->sym) return HD_NONE;
    var = o->sym;
    offset += (uint64_t)o->imm;
    call = a->calls.data[call].parent;
  }
  an_slot s = {call, var, offset, bytes};
  uint64_t h = slot_hash(&s);
  uint32_t i = an_hash_find(a, &a->slot_hash, h, slot_equal, &s);
  if (i == HD_NONE && make) {
    i = (uint32_t)a->slots.n;
    AN_PUSH(a, &a->slots, s);
    an_hash_add(a, &a->slot_hash, h, i, slot_rehash);
  }
  return i == HD_NONE ? HD_NONE : a->n_regs + i;
}

/* ---- Bodies ----------------------------------------------------------------------------- */

/* The function a call names, or HD_NONE. */
static uint32_t callee_of(const hd_ptx_module *m, const hd_ptx_stmt *st) {
  for (uint32_t i = 0; i < st->n_opnds; i++) {
    const hd_ptx_opnd *o = &m->opnds[st->first_opnd + i];
    if (o->kind != HD_O_SYM) continue;
    const hd_ptx_sym *s = &m->syms[o->sym];
    return s->kind == HD_SYM_FUNC && m->funcs[s->decl].has_body ? s->decl : HD_NONE;
  }
  return HD_NONE;
}

static bool may_inline(const an *a, uint32_t call, uint32_t callee, unsigned depth) {
  if (depth >= MAX_CALL_DEPTH || a->m->funcs[callee].entry) return false;
  for (uint32_t c = call;; c = a->calls.data[c].parent) {
    if (a->calls.data[c].func == callee) return false;
    if (c == 0) break;
  }
  return a->insts.n + a->m->funcs[callee].n_stmts <= a->opt.max_insts;
}

static void set_inlined(an *a, uint32_t inst) { a->inlined[inst >> 3] |= (uint8_t)(1u << (inst & 7)); }

static void add_body(an *a, uint32_t func, uint32_t site, uint32_t parent, unsigned depth) {
  const hd_ptx_func *f = &a->m->funcs[func];
  uint32_t call = (uint32_t)a->calls.n;
  AN_PUSH(a, &a->calls, ((hd_inlined){func, site, parent}));
  an_call info = {.reg_base = a->n_regs,
                  .position = hd_arena_alloc(&a->arena, ((size_t)f->n_stmts + 1) * sizeof(uint32_t), 4)};
  AN_PUSH(a, &a->call_info, info);
  a->n_regs += f->n_regs;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *st = &f->stmts[i];
    info.position[i] = (uint32_t)a->insts.n;
    if (st->kind != HD_S_INST) continue;
    uint32_t inst = (uint32_t)a->insts.n;
    AN_PUSH(a, &a->insts, ((hd_inst){func, i, 0, call}));
    if (a->m->forms[st->form].op != HD_OP_CALL) continue;
    uint32_t callee = callee_of(a->m, st);
    if (callee == HD_NONE || !may_inline(a, call, callee, depth)) continue;
    uint32_t body = (uint32_t)a->calls.n;
    add_body(a, callee, inst, call, depth + 1);
    a->call_info.data[body].after = (uint32_t)a->insts.n;
  }
  info.position[f->n_stmts] = (uint32_t)a->insts.n;
}

hd_status an_inline(an *a) {
  add_body(a, a->pub.func, HD_NONE, 0, 0);
  a->call_info.data[0].after = HD_NONE;
  a->inlined = HD_NEW_N(&a->arena, a->insts.n / 8 + 1, uint8_t);
  for (uint32_t c = 1; c < a->calls.n; c++) set_inlined(a, a->calls.data[c].site);
  /* The pieces of the variables that pass values. */
  for (uint32_t i = 0; i < a->insts.n; i++) {
    const hd_ptx_form *f = an_form(a, i);
    if (f->op != HD_OP_LD && f->op != HD_OP_ST) continue;
    bool param = false;
    uint32_t bytes = 0, lanes = 1;
    for (unsigned k = 0; k < f->n_mods; k++) {
      hd_mod mod = f->mods[k];
      if (mod == HD_M_PARAM || mod == HD_M_PARAM_FUNC) param = true;
      if (mod == HD_M_V2) lanes = 2;
      if (mod == HD_M_V4) lanes = 4;
      if (hd_ptx_type_size(mod)) bytes = (uint32_t)hd_ptx_type_size(mod);
    }
    const hd_ptx_stmt *st = an_stmt(a, i);
    if (!param || st->n_opnds < 2) continue;
    const hd_ptx_opnd *o = &a->m->opnds[st->first_opnd + (f->op == HD_OP_LD)];
    if (o->kind != HD_O_ADDR || !o->sym || a->m->syms[o->sym].kind != HD_SYM_VAR) continue;
    for (uint32_t k = 0; k < lanes; k++)
      an_slot_of(a, a->insts.data[i].call, o->sym, (uint64_t)o->imm + (uint64_t)k * bytes, bytes, true);
  }
  return HD_OK;
}
