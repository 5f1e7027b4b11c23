/* Numbers that may lead from one variable to another.
 *
 * Shared memory has 32 bits, and so may the distance between two of its variables: the size of a number does
 * not tell it from an index. But it is worked out of an address, and an index is not. So a register may hold
 * a distance if the address of a variable goes into it, whatever is done with it: through other registers,
 * and through memory, where the kernel puts such a number there. A difference of two pointers that the launch
 * passes is a distance as well. */
#include <string.h>

#include "rewrite/waits/waits.h"

enum { NARROW = 1, WIDE = 2 }; /* of 32 bits or fewer; of more */
enum { MOST_ROUNDS = 64 };
/* What is known of a register. PASSED: it held none so far, and some conclusion rests on that. */
enum { UNSEEN = 0, MAY_BE, PASSED };

typedef struct wait_distances {
  bool found;
  uint8_t *may_be; /* per register: UNSEEN, MAY_BE, PASSED */
  uint8_t *seen;   /* per instruction: nothing more comes of it */
  unsigned stored; /* sizes of such numbers that some instruction puts into memory */
} wait_distances;

wait_distances *wait_distances_new(const wait_search *w) {
  wait_distances *d = HD_NEW_N(w->arena, 1, wait_distances);
  d->may_be = HD_NEW_N(w->arena, w->g.n_regs + 1u, uint8_t);
  d->seen = HD_NEW_N(w->arena, w->g.n_insts + 1u, uint8_t);
  return d;
}

typedef struct flow {
  const wait_search *w;
  wait_distances *d;
  bool yes;     /* some register that was visited may be one; the result is one */
  bool loaded;  /* some load was looked at, which may find what is stored later */
  bool changed; /* what an earlier conclusion rests on: another round is needed */
} flow;

/* A no is marked as PASSED: if it turns into a yes, another round looks again at those that asked. */
static bool holds_one(wait_distances *d, uint32_t reg) {
  if (d->may_be[reg] != MAY_BE) d->may_be[reg] = PASSED;
  return d->may_be[reg] == MAY_BE;
}

static void see_read(void *ctx, uint32_t reg) {
  flow *x = ctx;
  if (holds_one(x->d, reg)) x->yes = true;
}

static void see_written(void *ctx, uint32_t reg) {
  flow *x = ctx;
  x->changed = x->changed || x->d->may_be[reg] == PASSED;
  x->d->may_be[reg] = MAY_BE;
}

static bool names_variable(const wait_search *w, const hd_ptx_opnd *o) {
  if (o->kind == HD_O_INDEX) o = &w->m->opnds[o->sym];
  return (o->kind == HD_O_SYM || o->kind == HD_O_ADDR) && o->sym && w->m->syms[o->sym].kind == HD_SYM_VAR;
}

/* The operand, or a part of it, may be such a number or the address of a variable. */
static bool operand_may_be(const flow *x, uint32_t inst, const hd_ptx_opnd *o) {
  if (o->kind == HD_O_REG) return holds_one(x->d, hd_cfg_reg(&x->w->g, x->w->g.insts[inst].call, o->sym));
  if (o->kind != HD_O_VEC) return names_variable(x->w, o);
  for (uint32_t k = 0; k < o->n_kids; k++)
    if (operand_may_be(x, inst, &x->w->m->opnds[o->sym + k])) return true;
  return false;
}

static unsigned size_of(const hd_ptx_access *a) {
  const unsigned each = a->elements ? a->bytes / a->elements : a->bytes;
  return !each ? NARROW | WIDE : each <= 4 ? NARROW : WIDE;
}

static bool is_address(const hd_ptx_access *a, uint32_t operand) {
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].operand == operand) return true;
  return false;
}

/* It puts such a number into memory. Narrow ones may be packed into one of 64 bits, which is no address. */
static void see_stored(flow *x, uint32_t inst, const hd_ptx_access *a) {
  const hd_ptx_stmt *s = hd_inst_stmt(&x->w->g, inst);
  if (!(a->kinds & HD_ACC_WRITE)) return;
  for (uint32_t k = 0; k < s->n_opnds; k++) {
    const hd_ptx_opnd *o = &wait_operands(x->w, inst)[k];
    if (is_address(a, k) || !operand_may_be(x, inst, o)) continue;
    const unsigned sizes = wait_root(x->w, inst, o) ? size_of(a) : NARROW | WIDE;
    x->changed = x->changed || (x->loaded && (x->d->stored & sizes) != sizes);
    x->d->stored |= sizes;
  }
}

/* What it loads may be such a number: a wide word may be made of narrow ones. */
static bool loads_one(flow *x, uint32_t inst, const hd_ptx_access *a) {
  if (wait_loads_parameter(x->w, inst)) return false;
  x->loaded = true;
  return size_of(a) & WIDE ? x->d->stored != 0 : (x->d->stored & NARROW) != 0;
}

/* a - b of pointers. What is taken away may be a number of 64 bits as well, which is no pointer. */
static bool is_difference(const wait_search *w, uint32_t inst) {
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const uint32_t n = hd_inst_stmt(&w->g, inst)->n_opnds;
  hd_ptx_type type[2];
  if (f->op != HD_OP_SUB && f->op != HD_OP_NEG && f->op != HD_OP_NOT) return false;
  hd_ptx_types_of(f, type);
  if (type[0].bits != 64) return false;
  if (f->op == HD_OP_SUB && n == 3) return wait_leads_from(w, inst, &wait_operands(w, inst)[2]);
  return f->op != HD_OP_SUB && n == 2 && wait_leads_from(w, inst, &wait_operands(w, inst)[1]);
}

/* What a comparison says of addresses is none. */
static bool is_comparison(const hd_ptx_form *f) { return f->op == HD_OP_SETP || f->op == HD_OP_ISSPACEP; }

/* Of an instruction that only computes, with a register in front and registers, numbers and names behind it:
 * nearly all are such. False: it is another. *yes: its result may be one. */
static bool see_computed(flow *x, uint32_t inst, const hd_ptx_form *f, bool *yes) {
  const uint32_t other = HD_OPF_READS_RESULT | HD_OPF_CALLS | HD_OPF_JUMPS;
  const hd_ptx_stmt *s = hd_inst_stmt(&x->w->g, inst);
  const hd_ptx_opnd *o = wait_operands(x->w, inst);
  if ((f->flags & (HD_OPF_RESULT | other)) != HD_OPF_RESULT || s->guard || o[0].kind != HD_O_REG)
    return false;
  for (uint32_t k = 1; k < s->n_opnds; k++)
    if (o[k].kind != HD_O_REG && o[k].kind != HD_O_INT && o[k].kind != HD_O_SYM) return false;
  *yes = false;
  for (uint32_t k = 1; k < s->n_opnds && !*yes; k++)
    *yes = o[k].kind != HD_O_INT && operand_may_be(x, inst, &o[k]);
  return true;
}

static void see_instruction(flow *x, uint32_t inst) {
  const wait_search *w = x->w;
  const hd_ptx_form *f = hd_inst_form(&w->g, inst);
  const hd_ptx_access *a = &w->access[hd_inst_stmt(&w->g, inst)->form]; /* made for all, by waits.c */
  if (is_comparison(f) || x->d->seen[inst]) return;
  if (a->kinds) see_stored(x, inst, a);
  if (a->kinds & HD_ACC_READ) {
    x->yes = loads_one(x, inst, a);
  } else if (!see_computed(x, inst, f, &x->yes)) {
    x->yes = false;
    for (uint32_t k = 1; k < hd_inst_stmt(&w->g, inst)->n_opnds; k++)
      x->yes = x->yes || names_variable(w, &wait_operands(w, inst)[k]);
    hd_inst_reads(&w->g, inst, see_read, x);
  }
  if (!(a->kinds & HD_ACC_READ)) x->yes = x->yes || is_difference(w, inst);
  if (x->yes) hd_inst_writes(&w->g, inst, see_written, x);
  x->d->seen[inst] = x->yes && !(a->kinds & HD_ACC_WRITE);
}

static void find(const wait_search *w, wait_distances *d) {
  flow x = {.w = w, .d = d, .changed = true};
  d->found = true;
  for (unsigned round = 0; x.changed; round++) {
    x.changed = false;
    for (uint32_t i = 0; i < w->g.n_insts && round < MOST_ROUNDS; i++) see_instruction(&x, i);
    if (round == MOST_ROUNDS) memset(d->may_be, MAY_BE, w->g.n_regs);
  }
}

bool wait_may_be_distance(const wait_search *w, uint32_t inst, const hd_ptx_opnd *o) {
  if (!w->distances->found) find(w, w->distances);
  const flow x = {.w = w, .d = w->distances};
  return operand_may_be(&x, inst, o);
}
