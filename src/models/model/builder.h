/* model/builder.h: a path's segments under construction (pace.h): the warp's registers, the loads that are
 * under way, and the instructions that ptxas puts off for them. */
#ifndef HEDDLE_MODEL_BUILDER_H
#define HEDDLE_MODEL_BUILDER_H

#include "model/pace.h"

enum {
  PACE_CHUNK = 32,  /* issue cycles after which a step ends, so that other warps get their turn */
  PACE_RING = 4096, /* loads of a warp of which is known that they were waited for: a power of two */
  PACE_GROUPS = 64, /* of asynchronous copies */
};

enum { GLOBAL = 0, SHARED, SPACES };

/* An instruction that waits for a load, and with which ptxas makes wait none that follow. */
typedef struct later {
  const model_inst *inst;
  uint32_t first_reg, wavefronts;
  uint32_t token, n_tokens; /* of the loads that its operands come from: into builder.tokens */
  bool issued;              /* a store: only its operands are to be waited for */
  uint32_t events;          /* its accesses, which are made then, or before the next event of the warp */
} later;

/* A load, and the registers that it takes until its result has been used. */
typedef struct held {
  uint32_t token, words;
} held;

typedef struct pace_builder {
  model_pace *pace;
  const model_code *code;
  const hd_gpu *gpu;
  double cycles[MODEL_UNITS]; /* of a pipeline for one warp instruction, per scheduler; LSU: per SM */
  uint32_t latency[MODEL_UNITS];
  uint32_t issue; /* cycles of a scheduler for one instruction */
  bool failed;

  /* The segment under construction. */
  HD_VEC(model_step) steps;
  model_step step;
  uint64_t began, now; /* cycles; only differences count */
  double busy[MODEL_UNITS];

  /* The warp. The registers of all functions lie one after the other. */
  uint32_t *first_reg; /* per function */
  uint64_t *ready;     /* per register: cycle */
  uint32_t *token;     /* per register: number of the load that brings it, from 1 on; 0: none */
  bool *put_off;       /* per register: a later instruction writes it */
  uint32_t n_regs;
  uint32_t loads;             /* so far */
  uint32_t waited[PACE_RING]; /* numbers of loads that were waited for */
  HD_VEC(later) laters;
  bool later_stores[SPACES];
  uint32_t copies[PACE_GROUPS]; /* asynchronous copies: number of the last load of each group, a ring */
  uint32_t n_copies, waited_copies;
  uint32_t ahead;     /* groups that may be under way when the warp waits at a barrier for copies */
  uint32_t open_copy; /* of the group that is not committed; 0: none */
  uint64_t joined;    /* when the last load arrives that others are joined with */
  bool goes_on;       /* the turn of a loop goes on in the block of the turn before */
  bool stays;         /* the next turn will */
  uint32_t repeats;   /* of the atomic whose event comes next */
  size_t unsent;      /* of `laters`, the first whose accesses may not have been made */
  size_t next_later;  /* of `laters`, the first that is not done */
  uint32_t
      room; /* registers for loads that are under way: ptxas keeps as many warps resident as there can be */
  const uint8_t *words; /* the function's */
  HD_VEC(uint32_t) tokens;
  HD_VEC(held) held; /* loads since everything that was put off was done */

  model_pace_worker *out;
} pace_builder;

/* The step under construction ends here; the next one begins when load number `wait` has arrived (0: at
 * once). */
void pace_close_step(pace_builder *b, uint32_t wait);
/* So does the segment, with an event. Events of stores that were put off come first: their order is the
 * program's. */
void pace_event(pace_builder *b, model_event_kind kind, bool joined);
/* The accesses of one that was put off. */
void pace_send(pace_builder *b, later *l);
/* A block begins. */
void pace_begin_block(pace_builder *b, const model_func *f, const model_inst *in);
/* The warp runs an instruction, which makes so many accesses. */
void pace_process(pace_builder *b, const model_inst *in, uint32_t first_reg, uint32_t events,
                  uint32_t wavefronts);
/* All that was put off is done, in its order. */
void pace_catch_up(pace_builder *b);

#endif
