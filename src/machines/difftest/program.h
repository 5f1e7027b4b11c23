/* difftest/program.h: one random program: its statements, its inputs, and where its results lie. */
#ifndef HEDDLE_DIFFTEST_PROGRAM_H
#define HEDDLE_DIFFTEST_PROGRAM_H

#include "difftest/catalogue.h"
#include "difftest/values.h"

/* ---- Registers ---------------------------------------------------------------------------- */

typedef enum dt_class { DT_H = 0, DT_W, DT_D, DT_P, DT_CLASSES } dt_class;
enum { DT_REGS = 48, DT_MAX_OPS = 96, DT_SHARED_BYTES = 64 };

/* Registers are numbered through all classes: %h0.., %w0.., %d0.., %p0... */
typedef struct dt_class_info {
  char letter;
  uint8_t first, n, bits; /* of the class's registers; predicates are 1 */
  const char *type;
} dt_class_info;
extern const dt_class_info dt_classes[DT_CLASSES];
dt_class dt_class_of(unsigned reg);

/* ---- Programs ------------------------------------------------------------------------------- */

typedef enum dt_op_kind { DT_OP_INST = 0, DT_OP_IF, DT_OP_ELSE, DT_OP_END } dt_op_kind;
typedef struct dt_op {
  dt_op_kind kind;
  uint32_t pair;             /* of a branch: its number, from 1 */
  uint32_t text, len;        /* in the program's text */
  uint64_t mentions, writes; /* registers */
  const dt_row *row;
} dt_op;

/* A place for 8 bytes of every thread. */
typedef struct dt_slot {
  uint8_t rule;     /* dt_rule */
  uint8_t n_inputs; /* slots after it that hold its inputs */
  uint8_t reg;      /* register that it holds, UINT8_MAX: a result of a place of its own */
} dt_slot;

/* Memory of a program, one block: slots, then 64 scratch bytes per thread. Slot k of thread t is at
 * 8 * (k * threads + t). Results come first, then a slot of random bits, then the registers' first values. */
typedef struct dt_program {
  uint64_t seed, number;
  uint32_t threads;
  dt_op ops[DT_MAX_OPS];
  uint32_t n_ops;
  hd_buf text;
  uint32_t n_inputs;
  uint8_t inputs[DT_REGS]; /* registers */
  HD_VEC(dt_slot) results;
  uint8_t flavours[DT_REGS]; /* at the beginning */
  uint64_t instructions;
  bool failed; /* out of memory */
} dt_program;

/* The forms that programs are drawn from: the rows that fit, each with its forms. */
typedef struct dt_choice {
  dt_pattern pattern;
  uint64_t *forms; /* NULL: all */
  uint64_t n_forms;
} dt_choice;
typedef struct dt_menu {
  dt_choice *rows;
  size_t n;
  unsigned sm;
  uint64_t weight; /* of all rows together */
} dt_menu;
hd_status dt_menu_make(const hd_difftest_select *s, dt_menu *m, hd_diag *d);
void dt_menu_free(dt_menu *m);

void dt_program_make(const dt_menu *m, uint64_t seed, uint64_t number, dt_program *p);
/* Nothing but one form. */
void dt_program_of_form(uint64_t form, dt_program *p);
void dt_program_free(dt_program *p);

uint64_t dt_program_slots(const dt_program *p);
uint64_t dt_program_scratch(const dt_program *p); /* offset */
uint64_t dt_program_bytes(const dt_program *p);
/* Inputs and scratch; results are zero. */
void dt_program_fill(const dt_program *p, void *data);

/* The module's head, and a kernel called p<number> with the operations whose bit in `keep` is set (NULL:
 * all). */
void dt_print_head(unsigned sm, hd_buf *out);
void dt_print_kernel(const dt_program *p, const bool *keep, uint64_t number, hd_buf *out);

/* ---- Comparison (equal.c) --------------------------------------------------------------------- */

int dt_rule_find(const char *name, size_t len); /* -1: none; 0 is "exact" */
uint32_t dt_rule_count(void);                   /* at most 32 */
const char *dt_rule_instruction(unsigned rule);
/* The bound grows with the first input, which is made of the same approximate operation. */
bool dt_rule_is_scaled(unsigned rule);
/* Do the results agree? `inputs` are the emulator's. */
bool dt_agree(unsigned rule, uint64_t emulator, uint64_t device, const uint64_t *inputs);

#endif
