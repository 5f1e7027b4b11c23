/* Whether the kernel may change the memory that a load reads before all threads of the CTA have run the load.
 *
 * Shared memory is written by the CTA's own threads, between the same two barriers as the load: those
 * stretches of code are searched. Global memory may be written by other CTAs at any time. A program without
 * data races does not do so where it matters, but flags that end a search are often set without
 * synchronisation. So a load counts as changing if any instruction of the kernel writes into the same
 * array. */
#include <string.h>

#include "base/arith.h"
#include "cfg/internal.h"
#include "heddle/ptx_facts.h"

enum { MOST_DEPTH = 12, MOST_STEPS = 1 << 22 };

/* The array that an address leads into. */
typedef struct root {
  hd_sym sym;    /* a variable, or a parameter; 0: not known */
  int64_t place; /* of the pointer in the parameter */
  bool loaded;   /* the parameter holds the pointer */
} root;

static root root_of(const cfg_alike *a, uint32_t inst, const hd_ptx_opnd *o, unsigned depth);

static root either(root x, root y) { return x.sym && y.sym ? (root){0} : x.sym ? x : y; }

/* The array that the result of a register's only definition leads into. */
static root root_of_result(const cfg_alike *a, uint32_t inst, unsigned depth) {
  const hd_ptx_stmt *s = hd_inst_stmt(a->g, inst);
  const hd_ptx_form *f = &a->g->module->forms[s->form];
  const hd_ptx_opnd *o = &a->g->module->opnds[s->first_opnd];
  if (s->guard || s->n_opnds < 2 || o[0].kind != HD_O_REG) return (root){0};
  switch (f->op) {
  case HD_OP_MOV:
  case HD_OP_CVTA:
  case HD_OP_CVT: return root_of(a, inst, &o[1], depth);
  case HD_OP_ADD:
    return s->n_opnds == 3 ? either(root_of(a, inst, &o[1], depth), root_of(a, inst, &o[2], depth))
                           : (root){0};
  case HD_OP_SUB: return root_of(a, inst, &o[1], depth);
  case HD_OP_MAD: return s->n_opnds == 4 ? root_of(a, inst, &o[3], depth) : (root){0};
  case HD_OP_LD: {
    root r = hd_ptx_form_has(f, HD_M_PARAM) ? root_of(a, inst, &o[1], depth) : (root){0};
    if (r.loaded || o[1].kind != HD_O_ADDR) return (root){0};
    r.loaded = r.sym != 0;
    r.place = hd_wrap_add(r.place, o[1].imm);
    return r;
  }
  default: return (root){0};
  }
}

static root root_of(const cfg_alike *a, uint32_t inst, const hd_ptx_opnd *o, unsigned depth) {
  const hd_ptx_module *m = a->g->module;
  if (o->kind == HD_O_BRACKET && o->n_kids) o = &m->opnds[o->sym];
  if ((o->kind != HD_O_REG && o->kind != HD_O_ADDR && o->kind != HD_O_SYM) || !o->sym || o->part ||
      depth > MOST_DEPTH)
    return (root){0};
  if (m->syms[o->sym].kind == HD_SYM_VAR) return (root){.sym = o->sym};
  if (m->syms[o->sym].kind != HD_SYM_REG) return (root){0};
  const uint32_t *at = &a->writers->first[hd_cfg_reg(a->g, a->g->insts[inst].call, o->sym)];
  return at[1] - at[0] == 1 ? root_of_result(a, a->writers->insts[at[0]], depth + 1) : (root){0};
}

static bool same_root(root x, root y) { return x.sym == y.sym && x.place == y.place && x.loaded == y.loaded; }

/* Whether an instruction, or a function that it calls, may write into the array of `from`, in one of
 * `spaces`; `unknown`: the result for a write into an unknown array. */
static bool writes_there(const cfg_alike *a, uint32_t inst, root from, unsigned spaces, bool unknown) {
  const hd_ptx_stmt *s = hd_inst_stmt(a->g, inst);
  const hd_ptx_form *f = &a->g->module->forms[s->form];
  const hd_ptx_access x = hd_ptx_access_of(f);
  if (f->flags & HD_OPF_CALLS && !a->g->insts[inst].body) return true;
  if (!(x.kinds & HD_ACC_WRITE)) return x.unknown;
  for (unsigned k = 0; k < x.n; k++) {
    if (!(x.touches[k].kinds & HD_ACC_WRITE) || !(x.touches[k].space & (spaces | HD_IN_GENERIC)) ||
        x.touches[k].operand >= s->n_opnds)
      continue;
    root to = root_of(a, inst, &a->g->module->opnds[s->first_opnd + x.touches[k].operand], 0);
    if (to.sym && from.sym ? same_root(to, from) : unknown) return true;
  }
  return false;
}

/* ---- Between two barriers ---------------------------------------------------------------------- */

typedef struct stretch {
  const cfg_alike *a;
  root from;
  uint8_t *seen; /* per block: FORWARD, BACKWARD */
  uint32_t *work, n_work;
  uint32_t steps;
  bool found;
} stretch;

enum { FORWARD = 1, BACKWARD = 2 };

static void push(stretch *s, uint32_t block, uint8_t way) {
  if (s->seen[block] & way) return;
  s->seen[block] |= way;
  s->work[s->n_work++] = 2 * block + (way == BACKWARD);
}

/* Searches from an instruction on, up to the next barrier. */
static void go_forward(stretch *s, uint32_t block, uint32_t from) {
  const hd_block *b = &s->a->g->blocks[block];
  for (uint32_t i = from; i < b->first + b->n_insts; i++) {
    s->steps++;
    if (s->a->effects[i] == CFG_EFFECT_CLEARS) return;
    s->found |= writes_there(s->a, i, s->from, HD_IN_ANY_SHARED, true);
  }
  for (uint32_t k = 0; k < b->n_succ; k++) push(s, s->a->g->edges[b->first_succ + k], FORWARD);
}

/* Searches back from an instruction, to the beginning of the stretch. */
static void go_backward(stretch *s, uint32_t block, uint32_t to) {
  const hd_block *b = &s->a->g->blocks[block];
  for (uint32_t i = to; i-- > b->first;) {
    s->steps++;
    if (s->a->effects[i] != CFG_EFFECT_CLEARS) continue;
    go_forward(s, block, i + 1);
    return;
  }
  if (!block) push(s, 0, FORWARD);
  for (uint32_t k = 0; k < b->n_pred; k++) push(s, s->a->g->edges[b->first_pred + k], BACKWARD);
}

static bool changes_between_barriers(const cfg_alike *a, uint32_t load, root from) {
  const hd_cfg *g = a->g;
  stretch s = {.a = a,
               .from = from,
               .seen = HD_NEW_N(a->arena, g->n_blocks, uint8_t),
               .work = HD_NEW_N(a->arena, 2 * (size_t)g->n_blocks + 1, uint32_t)};
  uint32_t block = g->insts[load].block;
  go_backward(&s, block, load);
  while (s.n_work && !s.found && s.steps < MOST_STEPS) {
    uint32_t at = s.work[--s.n_work];
    const hd_block *b = &g->blocks[at / 2];
    if (at % 2)
      go_backward(&s, at / 2, b->first + b->n_insts);
    else
      go_forward(&s, at / 2, b->first);
  }
  return s.found || s.steps >= MOST_STEPS;
}

bool cfg_may_change(const cfg_alike *a, uint32_t load, unsigned space) {
  const hd_ptx_stmt *s = hd_inst_stmt(a->g, load);
  root from = root_of(a, load, &a->g->module->opnds[s->first_opnd + 1], 0);
  if (space & HD_IN_ANY_SHARED) return changes_between_barriers(a, load, from);
  for (uint32_t i = 0; from.sym && i < a->g->n_insts; i++)
    if (writes_there(a, i, from, HD_IN_GLOBAL, false)) return true;
  return false;
}
