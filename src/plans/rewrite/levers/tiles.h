/* rewrite/levers/tiles.h: the loop over tiles of a persistent kernel.
 *
 *   tiles.c        finds it, and changes the order of its tiles
 *   tile_memory.c  what its rounds leave to each other in memory
 */
#ifndef HEDDLE_REWRITE_TILES_H
#define HEDDLE_REWRITE_TILES_H

#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

/* One copy of the loop: compilers write it out once for each way that a condition outside of it goes. */
typedef struct tile_copy {
  uint32_t loop;
  uint32_t latch, step, test; /* its block that goes back; there: instructions that add and compare */
} tile_copy;

enum { TILES_MOST_COPIES = 8 };

/* A statement that reads R in this copy of the loop, and is to read the permuted number. */
typedef struct tile_read {
  uint32_t stmt, copy;
} tile_read;

typedef struct tile_loop {
  const hd_ptx_module *m;
  hd_cfg g;
  hd_writers writers;
  uint8_t *is_read; /* hd_reads_find */
  hd_liveness live;
  uint32_t reg;  /* R, the tile's number, in every copy */
  hd_sym number; /* its name */
  tile_copy copies[TILES_MOST_COPIES];
  uint32_t n_copies;
  hd_ptx_opnd bound; /* N: a register or a number, the same in every copy */
  HD_VEC(tile_read) reads;
} tile_loop;

/* The copy of the loop that a block is in; HD_NONE: none. */
static inline uint32_t tiles_copy_of(const tile_loop *t, uint32_t block) {
  for (uint32_t k = 0; k < t->n_copies; k++)
    if (hd_loop_contains(&t->g, t->copies[k].loop, t->g.blocks[block].loop)) return k;
  return HD_NONE;
}
static inline bool tiles_inside(const tile_loop *t, uint32_t inst) {
  return tiles_copy_of(t, t->g.insts[inst].block) != HD_NONE;
}

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
