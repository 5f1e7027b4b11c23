/* A quick test, which spares most kernels the graph: no foreign value decides about any branch of their
 * loops, and no load in them is made to see what others write. Nor do the text's loads look as often as a
 * poll that is written out.
 *
 * It reads the text alone. Every cycle of a function lies between the target of a backward branch and the
 * branch. In there, registers are followed from the conditions of all branches to every instruction that
 * writes them, in any order. If no memory is met, nothing foreign decides. */
#include <stdlib.h>
#include <string.h>

#include "rewrite/waits/waits.h"

enum { MANY_LOOKS = 3 };

/* The kinds of instructions that the test tells apart. */
typedef enum quick_kind {
  QUICK_NOT_LOOKED_AT = 0,
  QUICK_PLAIN,
  QUICK_SOURCE, /* reads memory that may be global */
  QUICK_LOOK,   /* the same, by a load or an atomic that is made to see what others write, or by other code */
  QUICK_FENCE,  /* makes loads see it */
  QUICK_MEMORY, /* reads other memory, or the carry, which may hold a foreign value */
  QUICK_BRANCH, /* may go elsewhere, or end */
} quick_kind;

/* Statements first .. last hold cycles. */
typedef struct stretch {
  uint32_t first, last;
} stretch;

typedef struct quick {
  const hd_ptx_module *m;
  const hd_ptx_func *f;
  hd_arena *arena;
  uint8_t *kinds; /* per form: quick_kind */
  stretch *stretches;
  uint32_t n_stretches, cap;
  uint32_t *head, *next, *writer,
      n; /* per register: 1 + its last writer; per writer: the one before, the statement */
  uint64_t *seen;
  uint32_t *work, n_work;
} quick;

static quick_kind kind_of(quick *q, uint32_t form) {
  if (q->kinds[form]) return (quick_kind)q->kinds[form];
  const hd_ptx_form *f = &q->m->forms[form];
  quick_kind kind = QUICK_PLAIN;
  if (f->flags & HD_OPF_LEAVES) {
    kind = QUICK_BRANCH;
  } else if (f->flags & HD_OPF_CALLS) {
    kind = QUICK_LOOK;
  } else if (f->flags & HD_OPF_READS_CARRY) {
    kind = QUICK_MEMORY;
  } else {
    hd_ptx_access a = hd_ptx_access_of(f);
    bool fresh = a.order > HD_ORDERED_WEAK || (a.cache && a.cache != HD_M_CA) ||
                 a.l1_priority == HD_M_L1_NO_ALLOCATE || a.bulk;
    if (hd_ptx_access_in(&a, HD_IN_ANY_GLOBAL) & HD_ACC_READ || a.unknown)
      kind = fresh && f->op != HD_OP_RED ? QUICK_LOOK : QUICK_SOURCE;
    else if (wait_form_is_wide_fence(f, &a))
      kind = QUICK_FENCE;
    else if (a.kinds & HD_ACC_READ && !hd_ptx_access_in(&a, HD_IN_CONST))
      kind = QUICK_MEMORY;
  }
  q->kinds[form] = (uint8_t)kind;
  return kind;
}

/* ---- Stretches --------------------------------------------------------------------------------- */

/* Adds one that ends where no other did so far; those that it holds or touches become part of it. */
static void add_stretch(quick *q, uint32_t first, uint32_t last) {
  while (q->n_stretches && q->stretches[q->n_stretches - 1].last >= first) {
    q->n_stretches--;
    if (q->stretches[q->n_stretches].first < first) first = q->stretches[q->n_stretches].first;
  }
  if (q->n_stretches == q->cap) {
    stretch *grown = hd_arena_alloc(q->arena, (2 * q->cap + 16) * sizeof *grown, 4);
    if (q->cap) memcpy(grown, q->stretches, q->cap * sizeof *grown);
    q->stretches = grown;
    q->cap = 2 * q->cap + 16;
  }
  q->stretches[q->n_stretches++] = (stretch){first, last};
}

/* The earliest label among these operands, or in a list that one of them names. */
static uint32_t earliest_target(const quick *q, uint32_t first, uint32_t n) {
  uint32_t earliest = UINT32_MAX;
  for (uint32_t k = first; k < first + n; k++) {
    const hd_ptx_opnd *o = &q->m->opnds[k];
    const hd_ptx_sym *y = o->kind == HD_O_SYM ? &q->m->syms[o->sym] : NULL;
    uint32_t target = UINT32_MAX;
    if (y && y->kind == HD_SYM_LABEL)
      target = y->index;
    else if (y && y->kind == HD_SYM_TARGETS && y->index < q->f->n_stmts)
      target = earliest_target(q, q->f->stmts[y->index].first_opnd, q->f->stmts[y->index].n_opnds);
    if (target < earliest) earliest = target;
  }
  return earliest;
}

static void find_stretches(quick *q) {
  for (uint32_t i = 0; i < q->f->n_stmts; i++) {
    const hd_ptx_stmt *st = &q->f->stmts[i];
    if (st->kind != HD_S_INST || !(q->m->forms[st->form].flags & HD_OPF_JUMPS)) continue;
    uint32_t target = earliest_target(q, st->first_opnd, st->n_opnds);
    if (target <= i) add_stretch(q, target, i);
  }
}

static bool has_kind(quick *q, quick_kind kind) {
  for (uint32_t s = 0; s < q->n_stretches; s++)
    for (uint32_t i = q->stretches[s].first; i <= q->stretches[s].last; i++)
      if (q->f->stmts[i].kind == HD_S_INST && kind_of(q, q->f->stmts[i].form) == kind) return true;
  return false;
}

/* So often that these may be the rounds of a poll, written out; of plain loads, if a fence stands between one
 * and the next. */
static bool looks_often(quick *q) {
  unsigned n[QUICK_BRANCH + 1] = {0};
  for (uint32_t i = 0; i < q->f->n_stmts && n[QUICK_LOOK] < MANY_LOOKS; i++)
    if (q->f->stmts[i].kind == HD_S_INST) n[kind_of(q, q->f->stmts[i].form)]++;
  return n[QUICK_LOOK] >= MANY_LOOKS ||
         (n[QUICK_FENCE] + n[QUICK_LOOK] + 1 >= MANY_LOOKS && n[QUICK_LOOK] + n[QUICK_SOURCE] >= MANY_LOOKS);
}

/* ---- Registers --------------------------------------------------------------------------------- */

static void add_writers(quick *q, uint32_t stmt, const hd_ptx_opnd *o) {
  if (o->kind == HD_O_REG) {
    uint32_t reg = q->m->syms[o->sym].index;
    q->writer[q->n] = stmt;
    q->next[q->n] = q->head[reg];
    q->head[reg] = ++q->n;
  } else if (o->kind == HD_O_VEC || o->kind == HD_O_PAIR || o->kind == HD_O_LIST) {
    for (uint32_t k = 0; k < o->n_kids; k++) add_writers(q, stmt, &q->m->opnds[o->sym + k]);
  }
}

static uint32_t count_results(const quick *q, const hd_ptx_opnd *o) {
  if (o->kind != HD_O_VEC && o->kind != HD_O_PAIR && o->kind != HD_O_LIST) return 1;
  uint32_t n = 0;
  for (uint32_t k = 0; k < o->n_kids; k++) n += count_results(q, &q->m->opnds[o->sym + k]);
  return n;
}

static void list_writers(quick *q) {
  uint32_t most = 0;
  for (unsigned pass = 0; pass < 2; pass++) {
    for (uint32_t s = 0; s < q->n_stretches; s++)
      for (uint32_t i = q->stretches[s].first; i <= q->stretches[s].last; i++) {
        const hd_ptx_stmt *st = &q->f->stmts[i];
        if (st->kind != HD_S_INST || !st->n_opnds) continue;
        const hd_ptx_opnd *o = &q->m->opnds[st->first_opnd];
        if (pass)
          add_writers(q, i, o);
        else
          most += o->kind == HD_O_REG ? 1 : count_results(q, o);
      }
    if (pass) return;
    q->head = HD_NEW_N(q->arena, q->f->n_regs + 1u, uint32_t);
    q->next = hd_arena_alloc(q->arena, (most + 1u) * sizeof *q->next, 4);
    q->writer = hd_arena_alloc(q->arena, (most + 1u) * sizeof *q->writer, 4);
  }
}

static void want(quick *q, hd_sym sym) {
  if (!sym || q->m->syms[sym].kind != HD_SYM_REG) return;
  uint32_t reg = q->m->syms[sym].index;
  if (q->seen[reg / 64] >> reg % 64 & 1) return;
  q->seen[reg / 64] |= UINT64_C(1) << reg % 64;
  q->work[q->n_work++] = reg;
}

static bool want_leaf(void *ctx, const hd_ptx_leaf *leaf) {
  want(ctx, leaf->sym);
  return true;
}

static void want_operands(quick *q, const hd_ptx_stmt *st) {
  want(q, st->guard);
  for (uint32_t k = st->first_opnd; k < st->first_opnd + st->n_opnds; k++) {
    const hd_ptx_opnd *o = &q->m->opnds[k];
    if (o->kind == HD_O_REG || o->kind == HD_O_ADDR)
      want(q, o->sym);
    else if (o->kind == HD_O_VEC || o->kind == HD_O_PAIR || o->kind == HD_O_BRACKET || o->kind == HD_O_INDEX)
      hd_ptx_visit_operand(q->m, k, HD_ROLE_READ, want_leaf, q);
  }
}

static bool memory_decides(quick *q) {
  q->seen = HD_NEW_N(q->arena, q->f->n_regs / 64u + 1u, uint64_t);
  q->work = hd_arena_alloc(q->arena, (q->f->n_regs + 1u) * sizeof *q->work, 4);
  list_writers(q);
  for (uint32_t s = 0; s < q->n_stretches; s++)
    for (uint32_t i = q->stretches[s].first; i <= q->stretches[s].last; i++) {
      const hd_ptx_stmt *st = &q->f->stmts[i];
      if (st->kind == HD_S_INST && kind_of(q, st->form) == QUICK_BRANCH) want_operands(q, st);
    }
  while (q->n_work)
    for (uint32_t w = q->head[q->work[--q->n_work]]; w; w = q->next[w - 1]) {
      const hd_ptx_stmt *st = &q->f->stmts[q->writer[w - 1]];
      quick_kind kind = kind_of(q, st->form);
      if (kind == QUICK_SOURCE || kind == QUICK_LOOK || kind == QUICK_MEMORY || kind == QUICK_FENCE)
        return true;
      want_operands(q, st);
    }
  return false;
}

bool wait_may_be(const hd_ptx_module *m, uint32_t func, hd_arena *arena) {
  quick q = {.m = m, .f = &m->funcs[func], .arena = arena};
  find_stretches(&q);
  q.kinds = HD_NEW_N(arena, m->n_forms + 1u, uint8_t);
  if (looks_often(&q)) return true;
  if (!q.n_stretches) return false;
  return has_kind(&q, QUICK_LOOK) ||
         (has_kind(&q, QUICK_SOURCE) && (has_kind(&q, QUICK_FENCE) || memory_decides(&q)));
}
