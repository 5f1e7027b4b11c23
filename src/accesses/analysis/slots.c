/* Variables that pass values into and out of inlined functions, in the pieces in which they are accessed. */
#include <string.h>

#include "analysis/internal.h"

static uint64_t slot_hash(const an_slot *s) {
  return an_mix(an_mix(an_mix(an_mix(1, s->call), s->var), s->offset), s->bytes);
}
static uint64_t slot_rehash(const void *of, uint32_t i) {
  const an *a = of;
  return slot_hash(&a->slots.list.data[i]);
}
static bool slot_equal(const void *of, uint32_t i, const void *key) {
  const an *a = of;
  const an_slot *s = &a->slots.list.data[i], *k = key;
  return s->call == k->call && s->var == k->var && s->offset == k->offset && s->bytes == k->bytes;
}

/* The operand that a call passes for a formal parameter or result of the function; NULL: none. */
static const hd_ptx_opnd *actual_of(const an *a, uint32_t call, hd_sym formal) {
  const hd_ptx_module *m = a->m;
  const hd_inlined *c = &a->pub.cfg.calls[call];
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
  while (is_formal(a, a->pub.cfg.calls[call].func, var)) {
    if (call == 0) return HD_NONE;
    const hd_ptx_opnd *o = actual_of(a, call, var);
    if (!o || (o->kind != HD_O_SYM && o->kind != HD_O_ADDR) || !o->sym) return HD_NONE;
    var = o->sym;
    offset += (uint64_t)o->imm;
    call = a->pub.cfg.calls[call].parent;
  }
  an_slot s = {call, var, offset, bytes};
  uint64_t h = slot_hash(&s);
  uint32_t i = an_hash_find(&a->slots.hash, h, slot_equal, a, &s);
  if (i == HD_NONE && make) {
    i = (uint32_t)a->slots.list.n;
    AN_PUSH(&a->arena, &a->slots.list, s);
    an_hash_add(&a->arena, &a->slots.hash, h, i, slot_rehash, a);
  }
  return i == HD_NONE ? HD_NONE : a->pub.cfg.n_regs + i;
}

void an_slots(an *a) {
  for (uint32_t i = 0; i < a->pub.cfg.n_insts; i++) {
    const hd_ptx_form *f = an_form(a, i);
    if (f->op != HD_OP_LD && f->op != HD_OP_ST) continue;
    hd_ptx_access access = hd_ptx_access_of(f);
    const hd_ptx_stmt *st = an_stmt(a, i);
    if (!hd_ptx_access_in(&access, HD_IN_PARAM) || st->n_opnds < 2) continue;
    const hd_ptx_opnd *o = &a->m->opnds[st->first_opnd + access.touches[0].operand];
    if (o->kind != HD_O_ADDR || !o->sym || a->m->syms[o->sym].kind != HD_SYM_VAR) continue;
    uint32_t bytes = access.bytes / access.elements;
    for (uint32_t k = 0; k < access.elements; k++)
      an_slot_of(a, a->pub.cfg.insts[i].call, o->sym, (uint64_t)o->imm + (uint64_t)k * bytes, bytes, true);
  }
}
