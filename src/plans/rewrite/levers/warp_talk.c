/* Lanes of one warp that talk through memory without a barrier, which threads= would part.
 *
 * What a lane stored is there for another lane of its warp once the first has passed a fence, or where the
 * store itself, or the atomic, is ordered. What it looked at is what was there before other lanes wrote,
 * where all lanes look first. A kernel without a barrier between may rely on the warp to run together, and
 * each instruction that may be the other side of it is refused:
 *
 *   - a weak load behind a fence that stands behind a store, or behind an ordered store;
 *   - a weak load of an array behind an atomic on it, or in front of an atomic or an ordered store to it;
 *   - an atomic whose value shows, behind another instruction that wrote in order, behind a store into its
 *     array, or behind itself, on the way round a loop;
 *   - a store or an atomic behind another atomic on its array whose value shows;
 *   - a wait at an mbarrier whose answer shows. An arrival is an atomic, whose value shows where its state
 * goes elsewhere than into waits.
 *
 * An atomic beside itself alone counts, or draws numbers, and then no thread of the program may rely on which
 * it gets. warp_cycles.c says which do so in a loop, and whose values do not show. Weak loads in front of
 * weak stores are the program's own races, or of places of its own.
 *
 * Barriers of all of the CTA's threads come between. So do the waits at mbarriers that warp_phase.c finds.
 * Loads that are ordered themselves are threads.c's. Fences and ordered stores count space by space: shared
 * memory here, global memory there. Two arrays are those of two parameters or variables. */
#include <setjmp.h>
#include <string.h>

#include "rewrite/levers/warp_talk.h"

enum { IN_GLOBAL = WARP_IN_GLOBAL, IN_SHARED = WARP_IN_SHARED, N_SPACES = WARP_SPACES };
enum { NOBODY = 0, MANY = UINT32_MAX, MOST_LIVE_BYTES = 64 << 20 };

/* What was done since the last barrier, on some path. */
typedef struct said {
  uint8_t wrote, shown;      /* spaces */
  uint32_t site[N_SPACES];   /* the instruction that wrote in order, counted from 1; NOBODY, MANY */
  uint32_t looker[N_SPACES]; /* likewise, the atomic whose value shows */
  uint64_t stored, counted;  /* arrays: by stores, by atomics */
  uint64_t looked, peeked;   /* arrays: by atomics whose values show, by weak loads */
} said;

typedef warp_search search;

static bool is_fence(const hd_ptx_form *f) {
  return f->flags & HD_OPF_FENCES && !hd_ptx_form_has(f, HD_M_PROXY);
}

static bool releases(const hd_ptx_access *a) {
  return a->order == HD_ORDERED_RELEASE || a->order == HD_ORDERED_ACQ_REL || a->order == HD_ORDERED_SC;
}

/* Threads do not talk in a kernel without such an instruction. */
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

static uint64_t arrays_of(search *s, uint32_t inst, const hd_ptx_access *a, unsigned kinds) {
  uint64_t set = 0;
  for (unsigned k = 0; k < a->n; k++)
    if (a->touches[k].kinds & kinds) set |= warp_array_of(s, inst, &a->touches[k]);
  return set;
}

/* ---- Instructions -------------------------------------------------------------------------------------- */

static void refuse(const search *s, uint32_t inst) {
  if (s->reports)
    rewrite_scan_refuse(s->scan, HD_REFUSE_WORKS_TOGETHER, hd_inst_stmt(&s->g, inst), REWRITE_PARTS_A_WARP);
}

static void add_site(uint32_t *sites, uint8_t in, uint32_t site) {
  for (unsigned k = 0; k < N_SPACES; k++)
    if (in >> k & 1) sites[k] = sites[k] == NOBODY || sites[k] == site ? site : MANY;
}

static bool others(const uint32_t *sites, uint8_t in, uint32_t site) {
  bool any = false;
  for (unsigned k = 0; k < N_SPACES; k++) any |= in >> k & 1 && sites[k] != NOBODY && sites[k] != site;
  return any;
}

/* A function that is not followed may do all of that; a quiet one is the system's. */
static void see_call(const search *s, uint32_t inst, said *x) {
  if (s->g.insts[inst].body || hd_call_writes_nothing(s->g.module, hd_inst_stmt(&s->g, inst))) return;
  if (x->shown || x->looked || x->peeked) refuse(s, inst);
  x->wrote = x->shown = IN_GLOBAL | IN_SHARED;
  x->stored = x->counted = x->looked = x->peeked = warp_unknown_in(IN_GLOBAL | IN_SHARED);
  add_site(x->site, IN_GLOBAL | IN_SHARED, MANY);
  add_site(x->looker, IN_GLOBAL | IN_SHARED, MANY);
}

/* Some instruction reads what it brings; of an arrival, more than waits. */
static bool is_used(const search *s, uint32_t inst) {
  if (hd_inst_form(&s->g, inst)->op == HD_OP_MBARRIER) return s->shows[inst];
  return hd_result_is_read(&s->g, s->is_read, inst);
}

static void see_atomic(search *s, uint32_t inst, const hd_ptx_access *a, said *x) {
  const uint8_t in = warp_spaces(a, HD_ACC_ATOMIC);
  const uint64_t arrays = arrays_of(s, inst, a, HD_ACC_ATOMIC);
  if (is_used(s, inst) &&
      (s->talks_to_itself[inst] || others(x->site, in, inst + 1) || warp_meet(s, arrays, x->stored)))
    refuse(s, inst);
  if (warp_meet(s, arrays, x->peeked) || (warp_meet(s, arrays, x->looked) && others(x->looker, in, inst + 1)))
    refuse(s, inst);
  if (releases(a)) x->shown |= x->wrote;
  x->wrote |= in;
  x->counted |= arrays;
  add_site(x->site, in, inst + 1);
  if (!s->shows[inst]) return;
  x->looked |= arrays;
  add_site(x->looker, in, inst + 1);
}

static void see_read(search *s, uint32_t inst, const hd_ptx_access *a, said *x) {
  const uint8_t in = warp_spaces(a, HD_ACC_READ);
  const uint64_t arrays = arrays_of(s, inst, a, HD_ACC_READ);
  const bool shows = s->shows[inst] || hd_inst_form(&s->g, inst)->op != HD_OP_LD;
  if (x->shown & in || (shows && warp_meet(s, x->counted, arrays))) refuse(s, inst);
  if (shows) x->peeked |= arrays;
}

static void see_write(search *s, uint32_t inst, const hd_ptx_access *a, said *x) {
  const uint8_t in = warp_spaces(a, HD_ACC_WRITE);
  const uint64_t arrays = arrays_of(s, inst, a, HD_ACC_WRITE);
  if (warp_meet(s, arrays, x->looked) || (rewrite_is_strong(a) && warp_meet(s, arrays, x->peeked)))
    refuse(s, inst);
  x->wrote |= in;
  x->stored |= arrays;
  if (!rewrite_is_strong(a)) return;
  x->shown |= releases(a) ? x->wrote : in;
  add_site(x->site, in, inst + 1);
}

static void see(search *s, uint32_t inst, said *x) {
  const hd_ptx_form *f = hd_inst_form(&s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (f->flags & HD_OPF_CALLS) {
    see_call(s, inst, x);
  } else if (hd_inst_is_full_barrier(&s->g, inst, s->block_dims)) {
    if (!hd_inst_stmt(&s->g, inst)->guard) *x = (said){0};
  } else if (is_fence(f)) {
    x->shown |= x->wrote;
  } else if (f->flags & HD_OPF_UPDATES || (f->op == HD_OP_MBARRIER && a.kinds & HD_ACC_ATOMIC)) {
    see_atomic(s, inst, &a, x);
  } else if (f->op == HD_OP_MBARRIER && a.order == HD_ORDERED_ACQUIRE) {
    if (s->shows[inst]) refuse(s, inst);
    if (s->comes_between[inst]) *x = (said){0};
  } else {
    if (warp_spaces(&a, HD_ACC_READ) && a.order == HD_ORDERED_WEAK && !a.noncoherent)
      see_read(s, inst, &a, x);
    if (warp_spaces(&a, HD_ACC_WRITE)) see_write(s, inst, &a, x);
  }
}

/* ---- Paths --------------------------------------------------------------------------------------------- */

/* True: `into` has grown. */
static bool join(said *into, const said *from) {
  const said before = *into;
  into->wrote |= from->wrote;
  into->shown |= from->shown;
  into->stored |= from->stored;
  into->counted |= from->counted;
  into->looked |= from->looked;
  into->peeked |= from->peeked;
  bool grows = into->wrote != before.wrote || into->shown != before.shown || into->stored != before.stored ||
               into->counted != before.counted || into->looked != before.looked ||
               into->peeked != before.peeked;
  for (unsigned k = 0; k < N_SPACES; k++) {
    if (from->site[k]) add_site(into->site, (uint8_t)(1u << k), from->site[k]);
    if (from->looker[k]) add_site(into->looker, (uint8_t)(1u << k), from->looker[k]);
    grows |= into->site[k] != before.site[k] || into->looker[k] != before.looker[k];
  }
  return grows;
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
  s->inside = HD_NEW_N(arena, g->n_blocks, uint8_t);
  s->talks_to_itself = HD_NEW_N(arena, g->n_insts + 1u, uint8_t);
  s->shows = HD_NEW_N(arena, g->n_insts + 1u, uint8_t);
  hd_writers_find(g, arena, &s->writers);
  s->has_live = hd_liveness_find(g, MOST_LIVE_BYTES, arena, &s->live);
  s->comes_between = HD_NEW_N(arena, g->n_insts + 1u, uint8_t);
  warp_find_phases(s);
  warp_look_at_cycles(s, arena);
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
