/* plan/prog.h: the builder of hd_prog.
 *
 * The orders are written once, as calls of this builder; known dimensions of the grid arrive as constants and
 * fold away. The builder
 *   - keeps a range [lo, hi] of every value; hi becomes hd_pval.max, a range of
 *     one number becomes a constant,
 *   - folds identities (x*1, x/1, x%n with x < n, min and select that are decided),
 *   - reuses an equal value where that value is current (see plan_assign),
 *   - drops what no output needs, and puts constants and inputs first.
 *
 * Ranges are facts, not wishes: plan_bound may only state a range that holds for every valid input and,
 * inside a loop, in every iteration.
 */
#ifndef PLAN_PROG_H
#define PLAN_PROG_H

#include "heddle/plan.h"

typedef uint32_t plan_val; /* value number in the program under construction */

enum { PLAN_LOOP_DEPTH = 4, PLAN_DIVISIONS = 4 };
#define PLAN_NONE UINT32_MAX

/* q = x / n and r = x mod n, known without dividing. */
typedef struct plan_division {
  plan_val x, n, q, r;
} plan_division;

typedef struct plan_builder {
  hd_prog prog; /* in order of construction, dead values included */
  uint64_t lo[HD_PROG_MAX];
  uint32_t loop_of[HD_PROG_MAX]; /* innermost LOOP around a value; PLAN_NONE */
  uint32_t epoch_of[HD_PROG_MAX];
  bool closed[HD_PROG_MAX]; /* computed in a loop that has ended: out of reach */
  uint32_t epoch;           /* rises when a variable may have changed */
  uint32_t loops[PLAN_LOOP_DEPTH], depth;
  plan_division divisions[PLAN_DIVISIONS];
  uint32_t n_divisions;
  bool symbolic; /* an order's parameters are inputs */
  bool overflow; /* more than HD_PROG_MAX values */
} plan_builder;

void plan_begin(plan_builder *b);

plan_val plan_const(plan_builder *b, uint64_t k);
/* HD_P_POS to HD_P_C: inputs, with their ranges. */
plan_val plan_input(plan_builder *b, hd_pop op, uint64_t lo, uint64_t hi);
/* Any operation of two values. Subtraction must never go below zero and a divisor must never be zero: orders
 * are written so (asserted on ranges). */
plan_val plan_op(plan_builder *b, hd_pop op, plan_val x, plan_val y);
plan_val plan_select(plan_builder *b, plan_val cond, plan_val x, plan_val y);
plan_val plan_table(plan_builder *b, plan_val index, uint64_t hi);
/* State that v lies in [lo, hi]; returns v, or a constant when that decides it. */
plan_val plan_bound(plan_builder *b, plan_val v, uint64_t lo, uint64_t hi);
/* q = x / n, r = x - q*n: one division for both, or none where they have been stated. */
void plan_state_division(plan_builder *b, plan_val x, plan_val n, plan_val q, plan_val r);
void plan_divmod(plan_builder *b, plan_val x, plan_val n, plan_val *q, plan_val *r);

/* Variables. A variable's range [0, hi] holds at all times. Loops run until a
 * plan_break_if; values made in a body are out of reach after plan_end_loop, so
 * results leave a loop in variables. plan_assign sets n variables at once: every
 * value is taken before any variable changes. */
plan_val plan_var(plan_builder *b, plan_val init, uint64_t hi);
void plan_loop(plan_builder *b);
void plan_break_if(plan_builder *b, plan_val cond);
void plan_end_loop(plan_builder *b);
void plan_assign(plan_builder *b, uint32_t n, const plan_val *vars, const plan_val *vals);

/* Write the program that computes out[]; HD_ERR_UNSUPPORTED when it has grown
 * beyond HD_PROG_MAX values. */
hd_status plan_finish(plan_builder *b, const plan_val out[3], hd_prog *p, hd_diag *d);

/* The properties of an operation that the printer, the evaluator and the tests need. */
typedef struct plan_op_info {
  const char *name;
  uint8_t operands; /* how many of a, b, c are values */
  bool has_value;
  bool commutes;
} plan_op_info;
extern const plan_op_info plan_ops[HD_P_TABLE + 1];

static inline uint64_t plan_hi(const plan_builder *b, plan_val v) { return b->prog.vals[v].max; }
static inline uint64_t plan_lo(const plan_builder *b, plan_val v) { return b->lo[v]; }
static inline bool plan_is_const(const plan_builder *b, plan_val v) {
  return b->prog.vals[v].op == HD_P_CONST;
}
static inline bool plan_equals(const plan_builder *b, plan_val v, uint64_t k) {
  return plan_is_const(b, v) && b->prog.vals[v].imm == k;
}

static inline plan_val plan_add(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_ADD, x, y);
}
static inline plan_val plan_sub(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_SUB, x, y);
}
static inline plan_val plan_mul(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_MUL, x, y);
}
static inline plan_val plan_div(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_DIV, x, y);
}
static inline plan_val plan_min(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_MIN, x, y);
}
static inline plan_val plan_max(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_MAX, x, y);
}
static inline plan_val plan_and(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_AND, x, y);
}
static inline plan_val plan_or(plan_builder *b, plan_val x, plan_val y) { return plan_op(b, HD_P_OR, x, y); }
static inline plan_val plan_xor(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_XOR, x, y);
}
static inline plan_val plan_shr(plan_builder *b, plan_val x, plan_val y) {
  return plan_op(b, HD_P_SHR, x, y);
}
static inline plan_val plan_lt(plan_builder *b, plan_val x, plan_val y) { return plan_op(b, HD_P_LT, x, y); }
static inline plan_val plan_eq(plan_builder *b, plan_val x, plan_val y) { return plan_op(b, HD_P_EQ, x, y); }
/* x + y*k, the form that becomes one multiply-add. */
static inline plan_val plan_mad(plan_builder *b, plan_val y, plan_val k, plan_val x) {
  return plan_add(b, plan_mul(b, y, k), x);
}

#endif
