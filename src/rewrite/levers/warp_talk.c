/* Lanes of one warp that talk through memory without a barrier, which threads= would part.
 *
 * What a lane stored is there for another lane of its warp once the first has passed a fence, or where the
 * store itself, or the atomic, is ordered. A kernel without a barrier behind that may rely on the warp to run
 * together, and each instruction that may read it is refused:
 *
 *   - a weak load behind a fence that stands behind a store, or behind an ordered store;
 *   - an atomic whose result is read, behind another instruction that wrote in order. Beside itself alone it
 *     counts, or draws numbers, and then no thread of the program may rely on which it gets.
 *
 * Barriers of all of the CTA's threads, and waits for mbarriers, come between. Loads that are ordered
 * themselves are threads.c's. Space by space: shared memory here, global memory there. */
#include <setjmp.h>

#include "heddle/cfg.h"
#include "rewrite/levers/threads.h"

enum { IN_GLOBAL = 1, IN_SHARED = 2, N_SPACES = 2, NOBODY = 0, MANY = UINT32_MAX };

/* What was done since the last barrier, on some path. */
typedef struct said {
  uint8_t wrote, shown;    /* spaces */
  uint32_t site[N_SPACES]; /* the instruction that wrote in order, counted from 1; NOBODY, MANY */
} said;

typedef struct search {
  rewrite_scan *scan;
  const uint32_t *block_dims;
  hd_cfg g;
  uint8_t *is_read; /* registers */
  bool reports;
} search;

static uint8_t spaces_of(unsigned space) {
  if (space & HD_IN_GENERIC) return IN_GLOBAL | IN_SHARED;
  if (space & (HD_IN_ANY_SHARED | HD_IN_TMEM)) return IN_SHARED;
  return space & HD_IN_ANY_GLOBAL ? IN_GLOBAL : 0;
}

static uint8_t spaces(const hd_ptx_access *a, unsigned kinds) {
  uint8_t in = 0;
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].kinds & kinds) in |= spaces_of(a->touches[k].space);
  return in;
}

static bool is_fence(const hd_ptx_form *f) {
  return (f->op == HD_OP_FENCE || f->op == HD_OP_MEMBAR) && !hd_ptx_form_has(f, HD_M_PROXY);
}

static bool releases(const hd_ptx_access *a) {
  return a->order == HD_ORDERED_RELEASE || a->order == HD_ORDERED_ACQ_REL || a->order == HD_ORDERED_SC;
}

/* Nobody talks in a kernel without such an instruction. */
static bool may_show(const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  return is_fence(f) || (a.order >= HD_ORDERED_RELAXED && a.kinds & HD_ACC_WRITE);
}

static bool may_talk(rewrite_scan *s) {
  bool may = false;
  for (const hd_ptx_func *f; (f = rewrite_scan_next(s));)
    for (uint32_t i = 0; i < f->n_stmts && !may; i++)
      may = f->stmts[i].kind == HD_S_INST && may_show(&s->m->forms[f->stmts[i].form]);
  s->next = 0;
  return may;
}

/* ---- Instructions -------------------------------------------------------------------------------------- */

static void note_read(void *ctx, uint32_t reg) {
  uint8_t *is_read = ctx;
  is_read[reg] = 1;
}

typedef struct results {
  const uint8_t *is_read;
  bool read;
} results;

static void see_result(void *ctx, uint32_t reg) {
  results *r = ctx;
  r->read |= r->is_read[reg];
}

static bool result_is_read(const search *s, uint32_t inst) {
  results r = {.is_read = s->is_read};
  hd_inst_writes(&s->g, inst, see_result, &r);
  return r.read;
}

static void refuse(const search *s, uint32_t inst) {
  if (s->reports)
    rewrite_scan_refuse(s->scan, HD_REFUSE_WORKS_TOGETHER, hd_inst_stmt(&s->g, inst), REWRITE_PARTS_A_WARP);
}

static void add_site(said *x, uint8_t in, uint32_t site) {
  for (unsigned k = 0; k < N_SPACES; k++)
    if (in >> k & 1) x->site[k] = x->site[k] == NOBODY || x->site[k] == site ? site : MANY;
}

/* A function that is not followed may do all of that; one without a body is the system's. */
static void see_call(const search *s, uint32_t inst, said *x) {
  const uint32_t callee = hd_callee(s->g.module, hd_inst_stmt(&s->g, inst));
  if (s->g.insts[inst].body || (callee != HD_NONE && !s->g.module->funcs[callee].has_body)) return;
  if (x->shown) refuse(s, inst);
  x->wrote = x->shown = IN_GLOBAL | IN_SHARED;
  add_site(x, IN_GLOBAL | IN_SHARED, MANY);
}

static void see_atomic(const search *s, uint32_t inst, const hd_ptx_access *a, said *x) {
  const uint8_t in = spaces(a, HD_ACC_ATOMIC);
  bool others = false;
  for (unsigned k = 0; k < N_SPACES; k++)
    others |= in >> k & 1 && x->site[k] != NOBODY && x->site[k] != inst + 1;
  if (others && result_is_read(s, inst)) refuse(s, inst);
  if (releases(a)) x->shown |= x->wrote;
  x->wrote |= in;
  add_site(x, in, inst + 1);
}

static void see(const search *s, uint32_t inst, said *x) {
  const hd_ptx_form *f = hd_inst_form(&s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  const bool all = !hd_inst_stmt(&s->g, inst)->guard;
  if (f->flags & HD_OPF_CALLS) {
    see_call(s, inst, x);
  } else if (f->op == HD_OP_MBARRIER || hd_inst_is_full_barrier(&s->g, inst, s->block_dims)) {
    if (all && (f->op != HD_OP_MBARRIER || a.order == HD_ORDERED_ACQUIRE)) *x = (said){0};
  } else if (is_fence(f)) {
    x->shown |= x->wrote;
  } else if (f->op == HD_OP_ATOM || f->op == HD_OP_RED) {
    see_atomic(s, inst, &a, x);
  } else {
    const uint8_t writes = spaces(&a, HD_ACC_WRITE);
    if (a.order == HD_ORDERED_WEAK && !a.noncoherent && x->shown & spaces(&a, HD_ACC_READ)) refuse(s, inst);
    x->wrote |= writes;
    if (writes && a.order >= HD_ORDERED_RELAXED) {
      x->shown |= releases(&a) ? x->wrote : writes;
      add_site(x, writes, inst + 1);
    }
  }
}

/* ---- Paths --------------------------------------------------------------------------------------------- */

/* True: `into` has grown. */
static bool join(said *into, const said *from) {
  const said before = *into;
  into->wrote |= from->wrote;
  into->shown |= from->shown;
  for (unsigned k = 0; k < N_SPACES; k++)
    if (from->site[k]) add_site(into, (uint8_t)(1u << k), from->site[k]);
  return into->wrote != before.wrote || into->shown != before.shown || into->site[0] != before.site[0] ||
         into->site[1] != before.site[1];
}

static said behind(const search *s, uint32_t block, said x) {
  const hd_block *b = &s->g.blocks[block];
  for (uint32_t i = b->first; i < b->first + b->n_insts; i++) see(s, i, &x);
  return x;
}

static void go_through(search *s, hd_arena *arena) {
  const hd_cfg *g = &s->g;
  said *at = HD_NEW_N(arena, g->n_blocks, said);
  bool grows = true;
  s->is_read = HD_NEW_N(arena, g->n_regs + 1u, uint8_t);
  for (uint32_t i = 0; i < g->n_insts; i++) hd_inst_reads(g, i, note_read, s->is_read);
  while (grows) {
    grows = false;
    for (uint32_t k = 0; k < g->n_blocks; k++) {
      const said x = behind(s, k, at[k]);
      for (uint32_t e = 0; e < g->blocks[k].n_succ; e++)
        grows |= join(&at[g->edges[g->blocks[k].first_succ + e]], &x);
    }
  }
  s->reports = true;
  for (uint32_t k = 0; k < g->n_blocks; k++) behind(s, k, at[k]);
}

void rewrite_scan_warp_talk(rewrite_scan *scan, uint32_t func, const uint32_t block[3]) {
  search s = {.scan = scan, .block_dims = block};
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_diag d;
  if (!may_talk(scan)) return;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  if (setjmp(out_of_memory))
    rewrite_scan_refuse(scan, HD_REFUSE_NO_MEMORY, NULL, "out of memory while looking at the kernel");
  else if (hd_cfg_build(scan->m, func, rewrite_can_inline(scan) ? REWRITE_MOST_INSTS : 0, &arena, &s.g, &d) !=
           HD_OK)
    rewrite_scan_refuse(scan, HD_REFUSE_NO_BODY, NULL, d.message);
  else
    go_through(&s, &arena);
  hd_arena_free(&arena);
}
