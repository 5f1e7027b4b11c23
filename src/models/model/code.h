/* model/code.h: a kernel's instructions for the clock: the pipeline of each, its time there, and the operands
 * it waits for.
 *
 * PTX is no machine code. Each instruction counts for as many machine instructions as ptxas makes of it on
 * recent architectures (units.def), none where it folds it away (moves, address conversions, parameters). */
#ifndef HEDDLE_MODEL_CODE_H
#define HEDDLE_MODEL_CODE_H

#include "heddle/ptx.h"

/* Pipelines. hd_gpu.units says how many lanes each serves per cycle and SM. */
typedef enum model_unit {
  UNIT_FMA = 0, /* single and half precision */
  UNIT_ALU,     /* integers, comparisons, logic */
  UNIT_IMAD,    /* products of integers, which run beside UNIT_ALU and as fast */
  UNIT_FP64,
  UNIT_XU,     /* special functions, conversions */
  UNIT_LSU,    /* addresses of loads and stores, shared memory, shuffles */
  UNIT_TENSOR, /* in multiply-adds of f16, not instructions */
  UNIT_MMA,    /* the same, by instructions of one warp */
  UNIT_CONST,  /* constants at addresses from registers: the SM's, a word that lanes name after the other */
  UNIT_BRANCH, /* issued, and occupies no pipeline */
  MODEL_UNITS
} model_unit;

typedef enum model_class {
  CLASS_PLAIN = 0, /* works on registers */
  CLASS_LOAD,      /* loads from global memory; waited for where its result is used */
  CLASS_STORE,
  CLASS_FETCH,  /* a prefetch of global memory: no instruction waits for its data */
  CLASS_ATOMIC, /* of global memory, as a load when its result is used */
  CLASS_SHARED_LOAD,
  CLASS_SHARED_STORE,
  CLASS_COPY, /* asynchronous: waited for by CLASS_COPY_WAIT */
  CLASS_COPY_COMMIT,
  CLASS_COPY_WAIT,
  CLASS_BARRIER, /* of the CTA */
  CLASS_FENCE,   /* for other CTAs to see */
  CLASS_CONTROL, /* ends a basic block */
} model_class;

/* A product of two words and the sum of 64 bits that it goes into are one instruction. */
typedef enum model_pair { PAIR_NONE = 0, PAIR_PRODUCT, PAIR_SUM } model_pair;

typedef struct model_inst {
  uint32_t stmt;
  uint8_t cls, unit;
  bool leader;   /* some branch comes here */
  uint8_t skips; /* CLASS_CONTROL: a branch over so many plain instructions, to which no other branch leads */
  uint8_t skipped;  /* a leader to which such a branch alone leads: the instructions that it skips; else 0 */
  bool joins;       /* CLASS_CONTROL that ends a loop: other branches come to the loop's beginning, too */
  bool unordered;   /* a load that no store can change (.nc): ptxas moves it ahead of stores */
  bool releases;    /* at a wider scope than the CTA's: ptxas writes a fence for the GPU before it */
  uint8_t late;     /* cycles for which its result takes longer than others of its pipeline */
  uint16_t n;       /* machine instructions */
  uint16_t refined; /* and as many more of UNIT_FMA: Newton's method */
  uint16_t alu, imad; /* and as many more of these pipelines, one after the other */
  uint8_t
      words;    /* of a load that is joined with those beside it: all their words; n is 0 but for the first */
  uint8_t pair; /* model_pair */
  uint32_t work; /* UNIT_TENSOR, UNIT_MMA: multiply-adds of f16 */
  uint8_t keep;  /* CLASS_COPY_WAIT: groups that may still be under way */
  bool polls;    /* CLASS_COPY_WAIT: stands in a loop until the data is there */
  bool expects;  /* says what the copies beside it bring: another group than that before */
  bool counts;   /* adds a constant to a register */
  bool compares; /* sets predicates from registers */
  uint32_t
      loop; /* CLASS_CONTROL: ends a loop of one block that ptxas unrolls, of so many instructions; else 0 */
  uint16_t live;        /* the first of a block: registers that are taken there; else 0 */
  const uint32_t *regs; /* the n_src registers that it reads, then the n_dst that it writes */
  uint32_t n_src, n_dst;
} model_inst;

typedef struct model_func {
  model_inst *insts; /* and one more behind them: the return at a function's end */
  uint32_t n, n_regs;
  uint8_t *words;     /* per register: 32-bit registers that it takes; predicates have their own */
  uint32_t most_live; /* the most that are taken where a block begins */
} model_func;

typedef struct model_code {
  hd_arena arena;
  model_func *funcs; /* as the module's; n 0: a declaration */
  uint32_t n_funcs;
  uint32_t n_copy_barriers; /* mbarriers that its code makes, each named once */
} model_code;

hd_status model_code_make(const hd_ptx_module *m, model_code *out, hd_diag *d);
void model_code_free(model_code *c);
/* Fills `live` and `most_live`, from the PTX's own registers. */
hd_status model_code_pressure(const hd_ptx_module *m, uint32_t func, model_func *f, hd_diag *d);

#endif
