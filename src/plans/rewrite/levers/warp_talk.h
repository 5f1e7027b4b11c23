/* rewrite/levers/warp_talk.h: what lanes of a warp leave to each other in memory, or wait for there.
 *
 *   warp_arrays.c  spaces and arrays
 *   warp_talk.c    what is done since the last barrier, on each path
 *   warp_phase.c   waits at mbarriers that are barriers of the CTA
 *   warp_cycles.c  atomics and waits in loops; values that show in nothing but how often a loop goes round
 */
#ifndef HEDDLE_REWRITE_WARP_TALK_H
#define HEDDLE_REWRITE_WARP_TALK_H

#include "heddle/cfg.h"
#include "heddle/ptx_facts.h"
#include "rewrite/levers/threads.h"

enum { WARP_IN_GLOBAL = 1, WARP_IN_SHARED = 2, WARP_SPACES = 2 };
/* Sets of arrays have a bit each; the highest are for those of a space that are not known. */
enum { WARP_ARRAYS = 64 - WARP_SPACES };

/* Where a value from memory goes. */
typedef enum warp_shows {
  WARP_SHOWS_NOWHERE = 0, /* it is not read, a lock is waited for, or a swap is tried again */
  WARP_SHOWS_IN_LOOP,     /* into no more than how often a loop goes round */
  WARP_SHOWS,
} warp_shows;

typedef struct warp_search {
  rewrite_scan *scan;
  const uint32_t *block_dims;
  hd_cfg g;
  hd_writers writers;
  hd_liveness live;
  bool has_live; /* else the kernel is too large for it */
  hd_root arrays[WARP_ARRAYS];
  unsigned n_arrays;
  uint64_t in_space[WARP_SPACES]; /* arrays */
  uint8_t *is_read;               /* registers */
  uint8_t *tainted;               /* scratch, registers */
  uint8_t *inside;                /* scratch, blocks */
  uint8_t *talks_to_itself; /* per instruction: an atomic in a cycle, whose next round may read others' */
  uint8_t *shows;           /* per instruction that reads memory: warp_shows */
  uint32_t *swaps, n_swaps; /* the compare-and-swaps */
  uint8_t *comes_between;   /* per instruction: a wait for all threads of the CTA */
  bool reports;
} warp_search;

/* NULL: it has none. */
static inline const hd_ptx_opnd *warp_operand(const hd_cfg *g, uint32_t inst, unsigned k) {
  const hd_ptx_stmt *st = hd_inst_stmt(g, inst);
  return k < st->n_opnds ? &g->module->opnds[st->first_opnd + k] : NULL;
}
/* HD_NONE: it is none. */
static inline uint32_t warp_reg(const hd_cfg *g, uint32_t inst, unsigned k) {
  const hd_ptx_opnd *o = warp_operand(g, inst, k);
  return o && o->kind == HD_O_REG && !o->part && !o->flags ? hd_cfg_reg(g, g->insts[inst].call, o->sym)
                                                           : HD_NONE;
}
static inline bool warp_waits_at_mbarrier(const hd_ptx_form *f) {
  return f->op == HD_OP_MBARRIER && (hd_ptx_form_has(f, HD_M_TEST_WAIT) || hd_ptx_form_has(f, HD_M_TRY_WAIT));
}

uint8_t warp_spaces_of(unsigned space);
/* The spaces in which an access does one of these things. */
uint8_t warp_spaces(const hd_ptx_access *a, unsigned kinds);
/* The arrays of these spaces that are not known, as a set. */
uint64_t warp_unknown_in(uint8_t spaces);
/* The array that a touch leads into, as a set. */
uint64_t warp_array_of(warp_search *s, uint32_t inst, const hd_ptx_touch *t);
/* Some array of the one set may be one of the other. */
bool warp_meet(const warp_search *s, uint64_t a, uint64_t b);

/* Fills comes_between. */
void warp_find_phases(warp_search *s);
/* Fills talks_to_itself and shows; refuses loops that wait where lanes cannot part. */
void warp_look_at_cycles(warp_search *s, hd_arena *arena);

#endif
