/* cfg/internal.h: the passes of one graph, in the order in which hd_cfg_build runs them.
 *
 *   inline.c      calls -> one list of instructions
 *   blocks.c      blocks and edges
 *   dominators.c  dominator and post-dominator trees
 *   loops.c       natural loops; strongly connected regions
 *
 * The other files compute facts of a finished graph on demand: registers.c, liveness.c, uniformity.c
 * with reaching.c, roots.c, alike.c, writes.c and ranges.c, members.c, dot.c. calls.c needs no graph.
 */
#ifndef HEDDLE_CFG_INTERNAL_H
#define HEDDLE_CFG_INTERNAL_H

#include "heddle/cfg.h"

typedef struct cfg {
  hd_cfg g;
  hd_arena *arena;
  hd_diag *diag;
} cfg;

/* A list that grows in the arena. */
#define CFG_LIST(T)                                                                                          \
  struct {                                                                                                   \
    T *data;                                                                                                 \
    uint32_t n, cap;                                                                                         \
  }
#define CFG_PUSH(arena, l, x)                                                                                \
  do {                                                                                                       \
    if ((l)->n == (l)->cap) (l)->data = cfg_grow((arena), (l)->data, &(l)->cap, sizeof *(l)->data);          \
    (l)->data[(l)->n++] = (x);                                                                               \
  } while (0)
void *cfg_grow(hd_arena *arena, const void *data, uint32_t *cap, size_t elem);

void cfg_inline(cfg *c, uint32_t func, uint32_t max_insts);
hd_status cfg_blocks(cfg *c);
void cfg_dominators(cfg *c);
void cfg_loops(cfg *c);

/* reaching.c */
typedef struct cfg_reaching {
  const hd_cfg *g;
  hd_arena *arena;
  hd_writers writers;
  uint64_t **in;   /* per register, its writers that reach each block's beginning; NULL: not found so far */
  uint64_t sets;   /* of all registers so far */
  uint32_t *stack; /* scratch, a block each, like the next */
  uint8_t *waits;
} cfg_reaching;
void cfg_reaching_init(cfg_reaching *r, const hd_cfg *g, hd_arena *arena);
/* The writers whose value an instruction may find in a register: bit i is number i of the register's, from 0.
 * UINT64_MAX: any of them. */
uint64_t cfg_reaching_at(cfg_reaching *r, uint32_t inst, uint32_t reg);
/* An instruction that writes the register leaves nothing of what it held: it has no guard, and writes all of
 * its parts. */
bool cfg_replaces(const hd_cfg *g, uint32_t inst, uint32_t reg);
/* Calls visit(ctx, register) for each that an instruction writes and replaces. */
void cfg_replaced(const hd_cfg *g, uint32_t inst, hd_reg_visit *visit, void *ctx);

/* ranges.c. The rest is found when a comparison is asked for first. */
typedef struct cfg_ranges {
  const hd_cfg *g;
  hd_arena *arena;
  uint32_t block_dims[3];
  uint8_t *decided; /* per instruction */
  const hd_writers *writers;
} cfg_ranges;
/* A comparison whose result follows from the number of threads, so that all threads agree. */
bool cfg_is_decided(cfg_ranges *r, uint32_t inst);
/* An operand of an instruction that is not negative in any thread, read as a signed number. */
bool cfg_is_not_negative(const cfg_ranges *r, uint32_t inst, const hd_ptx_opnd *o);

/* The effect of an instruction on the order of a CTA's threads. */
typedef enum cfg_effect {
  CFG_EFFECT_NONE = 0,
  CFG_EFFECT_CLEARS, /* a barrier of the whole CTA: orderings of threads before it no longer matter */
  CFG_EFFECT_ORDERS, /* may order a thread behind another one's earlier instruction */
} cfg_effect;

/* alike.c. The rest is found when a load is asked for first. */
typedef struct cfg_alike {
  const hd_cfg *g;
  hd_arena *arena;
  const hd_writers *writers;
  uint32_t block_dims[3];
  uint8_t *effects; /* per instruction: cfg_effect */
  uint8_t *ordered; /* per block: threads may be ordered at its beginning by more than the last barrier */
  uint8_t *loads;   /* per instruction */
  bool local_addresses, other_params;
} cfg_alike;
/* A variable that is a parameter of the graph's kernel. */
static inline bool cfg_is_own_param(const hd_cfg *g, hd_sym variable) {
  return g->module->funcs[g->calls[0].func].entry && hd_cfg_param(g, variable) != HD_NONE;
}
/* In which threads a load gives one value, if its address is the same for them. */
hd_same cfg_load_is_alike_in(cfg_alike *a, uint32_t inst);
/* writes.c. In which of the threads that run the load the kernel cannot have changed what one finds there
 * before another does. */
hd_same cfg_unchanged_in(const cfg_alike *a, uint32_t load, unsigned space);

#endif
