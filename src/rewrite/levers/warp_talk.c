/* Lanes of one warp that talk through memory without a barrier, which threads= would part.
 *
 * What a lane stored is there for another lane of its warp once the first has passed a fence, or where the
 * store itself, or the atomic, is ordered. A kernel without a barrier behind that may rely on the warp to run
 * together, and each instruction that may read it is refused:
 *
 *   - a weak load behind a fence that stands behind a store, or behind an ordered store;
 *   - a weak load of an array behind an atomic on it, but for one that a compare-and-swap compares with;
 *   - an atomic whose result is read, behind another instruction that wrote in order, behind a store into its
 *     array, or behind itself, on the way round a loop.
 *
 * An atomic beside itself alone counts, or draws numbers, and then no thread of the program may rely on which
 * it gets. So it does in a loop if it adds the same number each time, if it is a compare-and-swap, whose
 * first one stays, or if its result decides whether the loop goes on: a lock, a try again.
 *
 * Barriers of all of the CTA's threads, and waits for mbarriers, come between. Loads that are ordered
 * themselves are threads.c's. Fences and ordered stores count space by space: shared memory here, global
 * memory there. Two arrays are those of two parameters or variables. */
#include <setjmp.h>
#include <string.h>

#include "heddle/cfg.h"
#include "rewrite/levers/threads.h"

enum { IN_GLOBAL = 1, IN_SHARED = 2, N_SPACES = 2, NOBODY = 0, MANY = UINT32_MAX };
/* Sets of arrays have a bit each; the highest are for those of a space that are not known. */
enum { MOST_ARRAYS = 64 - N_SPACES };

/* What was done since the last barrier, on some path. */
typedef struct said {
  uint8_t wrote, shown;     /* spaces */
  uint32_t site[N_SPACES];  /* the instruction that wrote in order, counted from 1; NOBODY, MANY */
  uint64_t stored, counted; /* arrays: by stores, by atomics */
} said;

typedef struct search {
  rewrite_scan *scan;
  const uint32_t *block_dims;
  hd_cfg g;
  hd_writers writers;
  hd_root arrays[MOST_ARRAYS];
  unsigned n_arrays;
  uint64_t in_space[N_SPACES]; /* arrays */
  uint8_t *is_read;            /* registers */
  uint8_t *tainted;            /* scratch, registers */
  uint8_t *talks_to_itself;    /* per instruction: an atomic in a cycle, whose next round may read others' */
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
  return is_fence(f) || (rewrite_is_strong(&a) && a.kinds & HD_ACC_WRITE);
}

static bool may_talk(rewrite_scan *s) {
  bool may = false;
  for (const hd_ptx_func *f; (f = rewrite_scan_next(s));)
    for (uint32_t i = 0; i < f->n_stmts && !may; i++)
      may = f->stmts[i].kind == HD_S_INST && may_show(&s->m->forms[f->stmts[i].form]);
  s->next = 0;
  return may;
}

/* ---- Arrays -------------------------------------------------------------------------------------------- */

static uint64_t unknown_in(uint8_t spaces_there) {
  uint64_t set = 0;
  for (unsigned k = 0; k < N_SPACES; k++)
    if (spaces_there >> k & 1) set |= UINT64_C(1) << (MOST_ARRAYS + k);
  return set;
}

static uint64_t array_of(search *s, uint32_t inst, const hd_ptx_touch *t) {
  const hd_ptx_stmt *st = hd_inst_stmt(&s->g, inst);
  if (t->operand >= st->n_opnds || !spaces_of(t->space)) return 0;
  const hd_root array =
      hd_root_of(&s->g, &s->writers, inst, &s->g.module->opnds[st->first_opnd + t->operand]);
  const uint8_t there = spaces_of(t->space & HD_IN_GENERIC ? hd_root_spaces(s->g.module, array) : t->space);
  unsigned i = 0;
  while (i < s->n_arrays && hd_roots_differ(s->arrays[i], array)) i++;
  if (!array.sym || i == MOST_ARRAYS) return unknown_in(there);
  if (i == s->n_arrays) s->arrays[s->n_arrays++] = array;
  for (unsigned k = 0; k < N_SPACES; k++)
    if (there >> k & 1) s->in_space[k] |= UINT64_C(1) << i;
  return UINT64_C(1) << i;
}

static uint64_t arrays_of(search *s, uint32_t inst, const hd_ptx_access *a, unsigned kinds) {
  uint64_t set = 0;
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].kinds & kinds) set |= array_of(s, inst, &a->touches[k]);
  return set;
}

/* Some array of the one set may be one of the other. */
static bool meet(const search *s, uint64_t a, uint64_t b) {
  bool do_meet = a & b;
  for (unsigned k = 0; k < N_SPACES; k++) {
    const uint64_t unknown = unknown_in((uint8_t)(1u << k)), all = s->in_space[k] | unknown;
    do_meet |= (a & unknown && b & all) || (b & unknown && a & all);
  }
  return do_meet;
}

/* ---- Instructions -------------------------------------------------------------------------------------- */

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
  x->stored = x->counted = unknown_in(IN_GLOBAL | IN_SHARED);
  add_site(x, IN_GLOBAL | IN_SHARED, MANY);
}

static void see_atomic(search *s, uint32_t inst, const hd_ptx_access *a, said *x) {
  const uint8_t in = spaces(a, HD_ACC_ATOMIC);
  const uint64_t arrays = arrays_of(s, inst, a, HD_ACC_ATOMIC);
  bool others = meet(s, arrays, x->stored) || s->talks_to_itself[inst];
  for (unsigned k = 0; k < N_SPACES; k++)
    others |= in >> k & 1 && x->site[k] != NOBODY && x->site[k] != inst + 1;
  if (others && hd_result_is_read(&s->g, s->is_read, inst)) refuse(s, inst);
  if (releases(a)) x->shown |= x->wrote;
  x->wrote |= in;
  x->counted |= arrays;
  add_site(x, in, inst + 1);
}

/* Some writer of the register is the instruction, or a move of what it wrote. */
static bool comes_from(const search *s, uint32_t inst, hd_sym reg, uint32_t at, unsigned moves) {
  const hd_cfg *g = &s->g;
  const uint32_t *w = &s->writers.first[hd_cfg_reg(g, g->insts[at].call, reg)];
  for (uint32_t k = w[0]; k < w[1]; k++) {
    const uint32_t writer = s->writers.insts[k];
    const hd_ptx_stmt *st = hd_inst_stmt(g, writer);
    const hd_ptx_opnd *o = &g->module->opnds[st->first_opnd + 1];
    if (writer == inst) return true;
    if (moves && hd_inst_form(g, writer)->op == HD_OP_MOV && st->n_opnds == 2 && o->kind == HD_O_REG &&
        comes_from(s, inst, o->sym, writer, moves - 1))
      return true;
  }
  return false;
}

/* The load guesses what a compare-and-swap then finds: a wrong guess is tried again. */
static bool is_guess(const search *s, uint32_t load) {
  enum { MOVES = 2 };
  for (uint32_t i = 0; i < s->g.n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(&s->g, i);
    const hd_ptx_stmt *st = hd_inst_stmt(&s->g, i);
    if (f->op != HD_OP_ATOM || !hd_ptx_form_has(f, HD_M_CAS) || st->n_opnds < 4) continue;
    const hd_ptx_opnd *o = &s->g.module->opnds[st->first_opnd + 2];
    if (o->kind == HD_O_REG && comes_from(s, load, o->sym, i, MOVES)) return true;
  }
  return false;
}

static void see_other(search *s, uint32_t inst, const hd_ptx_access *a, said *x) {
  const uint8_t writes = spaces(a, HD_ACC_WRITE), reads = spaces(a, HD_ACC_READ);
  if (reads && a->order == HD_ORDERED_WEAK && !a->noncoherent &&
      (x->shown & reads ||
       (meet(s, x->counted, arrays_of(s, inst, a, HD_ACC_READ)) && !(s->reports && is_guess(s, inst)))))
    refuse(s, inst);
  if (!writes) return;
  x->wrote |= writes;
  x->stored |= arrays_of(s, inst, a, HD_ACC_WRITE);
  if (!rewrite_is_strong(a)) return;
  x->shown |= releases(a) ? x->wrote : writes;
  add_site(x, writes, inst + 1);
}

static void see(search *s, uint32_t inst, said *x) {
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
    see_other(s, inst, &a, x);
  }
}

/* ---- Atomics in cycles --------------------------------------------------------------------------------- */

typedef struct taint {
  uint8_t *registers;
  bool grows;
} taint;

static void add_taint(void *ctx, uint32_t reg) {
  taint *t = ctx;
  t->grows |= !t->registers[reg];
  t->registers[reg] = 1;
}

typedef struct reader {
  const uint8_t *registers;
  bool reads;
} reader;

static void see_read(void *ctx, uint32_t reg) {
  reader *r = ctx;
  r->reads |= r->registers[reg];
}

static bool reads_any(const search *s, const uint8_t *registers, uint32_t inst) {
  reader r = {.registers = registers};
  hd_inst_reads(&s->g, inst, see_read, &r);
  return r.reads;
}

static bool leaves(const hd_cfg *g, const uint8_t *inside, uint32_t inst) {
  const hd_block *b = &g->blocks[g->insts[inst].block];
  if (!(hd_inst_form(g, inst)->flags & HD_OPF_LEAVES)) return false;
  for (uint32_t e = 0; e < b->n_succ; e++)
    if (!inside[g->edges[b->first_succ + e]]) return true;
  return false;
}

/* The registers that the blocks inside work out from an instruction's result. */
static void spread(const search *s, const uint8_t *inside, uint32_t from) {
  const hd_cfg *g = &s->g;
  taint t = {.registers = s->tainted};
  memset(s->tainted, 0, g->n_regs);
  hd_inst_writes(g, from, add_taint, &t);
  while (t.grows) {
    t.grows = false;
    for (uint32_t i = 0; i < g->n_insts; i++)
      if (inside[g->insts[i].block] && reads_any(s, s->tainted, i)) hd_inst_writes(g, i, add_taint, &t);
  }
}

/* And they decide a way out of the blocks. */
static bool decides_an_exit(const search *s, const uint8_t *inside, uint32_t from) {
  spread(s, inside, from);
  for (uint32_t i = 0; i < s->g.n_insts; i++)
    if (inside[s->g.insts[i].block] && leaves(&s->g, inside, i) && reads_any(s, s->tainted, i)) return true;
  return false;
}

static bool decides_a_loop(const search *s, uint8_t *inside, uint32_t atomic) {
  const hd_cfg *g = &s->g;
  for (uint32_t l = g->blocks[g->insts[atomic].block].loop; l != HD_NONE; l = g->loops[l].parent) {
    for (uint32_t b = 0; b < g->n_blocks; b++) inside[b] = hd_loop_contains(g, l, g->blocks[b].loop);
    if (decides_an_exit(s, inside, atomic)) return true;
  }
  return false;
}

/* In every round of the cycle, and not zero: its result counts on. */
static bool adds_the_same(const search *s, const uint8_t *inside, uint32_t atomic) {
  const hd_cfg *g = &s->g;
  const hd_ptx_stmt *st = hd_inst_stmt(g, atomic);
  const hd_ptx_opnd *o = &g->module->opnds[st->first_opnd + 2];
  const hd_mod operation = hd_ptx_access_of(hd_inst_form(g, atomic)).operation;
  if ((operation != HD_M_ADD && operation != HD_M_INC) || st->n_opnds < 3) return false;
  if (o->kind == HD_O_INT) return o->imm;
  if (o->kind != HD_O_REG) return false;
  const uint32_t *w = &s->writers.first[hd_cfg_reg(g, g->insts[atomic].call, o->sym)];
  for (uint32_t k = w[0]; k < w[1]; k++) {
    const uint32_t writer = s->writers.insts[k];
    const hd_ptx_stmt *by = hd_inst_stmt(g, writer);
    const hd_ptx_opnd *value = &g->module->opnds[by->first_opnd + 1];
    const bool number = hd_inst_form(g, writer)->op == HD_OP_MOV && value->kind == HD_O_INT && value->imm;
    if (inside[g->insts[writer].block] && !(number && w[1] - w[0] == 1)) return false;
  }
  return w[0] < w[1];
}

/* The comparison takes what the swap before found: some thread's swap is done in each round. */
static bool tries_again(const search *s, const uint8_t *inside, uint32_t inst) {
  const hd_cfg *g = &s->g;
  const hd_ptx_stmt *st = hd_inst_stmt(g, inst);
  const hd_ptx_opnd *o = &g->module->opnds[st->first_opnd + 2];
  if (!hd_ptx_form_has(hd_inst_form(g, inst), HD_M_CAS) || st->n_opnds < 4 || o->kind != HD_O_REG)
    return false;
  spread(s, inside, inst);
  return s->tainted[hd_cfg_reg(g, g->insts[inst].call, o->sym)];
}

/* Reads what it may wait for. */
static bool looks(const search *s, uint32_t inst) {
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(&s->g, inst));
  return rewrite_is_strong(&a) && spaces(&a, HD_ACC_READ) && hd_result_is_read(&s->g, s->is_read, inst);
}

#define WAITS                                                                                                \
  "a loop goes on until another thread has done something, and threads= may put that one into its warp, "    \
  "which needs sm_70"

static void look_at_cycle(search *s, const uint32_t *blocks, uint32_t n, uint8_t *inside, uint8_t *of_loop) {
  const hd_cfg *g = &s->g;
  memset(inside, 0, g->n_blocks);
  for (uint32_t k = 0; k < n; k++) inside[blocks[k]] = 1;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(g, i);
    if (!inside[g->insts[i].block] || !looks(s, i)) continue;
    const bool decides = decides_an_exit(s, inside, i) || decides_a_loop(s, of_loop, i);
    if (decides && !rewrite_lanes_can_part(g->module) && !tries_again(s, inside, i))
      rewrite_scan_refuse(s->scan, HD_REFUSE_WORKS_TOGETHER, hd_inst_stmt(g, i), WAITS);
    s->talks_to_itself[i] =
        f->op == HD_OP_ATOM && !decides && !hd_ptx_form_has(f, HD_M_CAS) && !adds_the_same(s, inside, i);
  }
}

static void look_at_cycles(search *s, hd_arena *arena) {
  const hd_cfg *g = &s->g;
  hd_regions regions;
  uint32_t *all = HD_NEW_N(arena, g->n_blocks, uint32_t), *members = HD_NEW_N(arena, g->n_blocks, uint32_t),
           *first = HD_NEW_N(arena, g->n_blocks + 1u, uint32_t);
  uint8_t *inside = HD_NEW_N(arena, g->n_blocks, uint8_t), *of_loop = HD_NEW_N(arena, g->n_blocks, uint8_t);
  hd_regions_init(&regions, g, arena);
  for (uint32_t b = 0; b < g->n_blocks; b++) all[b] = b;
  const uint32_t n = hd_regions_find(&regions, all, g->n_blocks, members, first);
  for (uint32_t k = 0; k < n; k++)
    look_at_cycle(s, &members[first[k]], first[k + 1] - first[k], inside, of_loop);
}

/* ---- Paths --------------------------------------------------------------------------------------------- */

/* True: `into` has grown. */
static bool join(said *into, const said *from) {
  const said before = *into;
  into->wrote |= from->wrote;
  into->shown |= from->shown;
  into->stored |= from->stored;
  into->counted |= from->counted;
  for (unsigned k = 0; k < N_SPACES; k++)
    if (from->site[k]) add_site(into, (uint8_t)(1u << k), from->site[k]);
  return into->wrote != before.wrote || into->shown != before.shown || into->stored != before.stored ||
         into->counted != before.counted || into->site[0] != before.site[0] ||
         into->site[1] != before.site[1];
}

static said behind(search *s, uint32_t block, said x) {
  const hd_block *b = &s->g.blocks[block];
  for (uint32_t i = b->first; i < b->first + b->n_insts; i++) see(s, i, &x);
  return x;
}

static void go_through(search *s, hd_arena *arena) {
  const hd_cfg *g = &s->g;
  said *at = HD_NEW_N(arena, g->n_blocks, said);
  bool grows = true;
  s->is_read = hd_reads_find(g, arena);
  s->tainted = HD_NEW_N(arena, g->n_regs + 1u, uint8_t);
  s->talks_to_itself = HD_NEW_N(arena, g->n_insts + 1u, uint8_t);
  hd_writers_find(g, arena, &s->writers);
  look_at_cycles(s, arena);
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
