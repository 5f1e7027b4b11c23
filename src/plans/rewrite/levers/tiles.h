/* rewrite/levers/tiles.h: the loop over tiles of a persistent kernel.
 *
 *   tiles.c        finds it, and changes the order of its tiles
 *   tile_memory.c  what its rounds leave to each other in memory
 */
#ifndef HEDDLE_REWRITE_TILES_H
#define HEDDLE_REWRITE_TILES_H

#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

typedef struct tile_loop {
  const hd_ptx_module *m;
  hd_cfg g;
  hd_writers writers;
  uint8_t *is_read; /* hd_reads_find */
  hd_liveness live;
  uint32_t loop, reg;         /* the loop; R, its tile's number */
  uint32_t latch, step, test; /* its block that goes back; there: instructions that add and compare */
  hd_ptx_opnd bound;          /* N: a register or a number */
  HD_VEC(uint32_t) reads;     /* statements of the loop that read R and are to read the permuted number */
} tile_loop;

/* Operand k of an instruction; NULL: it has fewer. */
static inline const hd_ptx_opnd *tiles_operand(const tile_loop *t, uint32_t inst, unsigned k) {
  const hd_ptx_stmt *s = hd_inst_stmt(&t->g, inst);
  return k < s->n_opnds ? &t->m->opnds[s->first_opnd + k] : NULL;
}
/* A register as it is. */
static inline bool tiles_is_register(const tile_loop *t, const hd_ptx_opnd *o) {
  return o && o->kind == HD_O_REG && !o->part && !o->flags && t->m->syms[o->sym].kind == HD_SYM_REG;
}

/* Refused if a round may read or overwrite what an earlier one of the CTA left in memory, without the word
 * that none does; *rests: with it. There are `tiles` tiles. */
hd_status tiles_check_memory(const rewrite_job *j, const tile_loop *t, uint64_t tiles, hd_arena *arena,
                             bool *rests, hd_diag *d);

#endif
