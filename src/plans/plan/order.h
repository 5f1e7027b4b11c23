/* plan/order.h: the orders as programs; shared by this floor's files.
 *
 * "Position" is a place in an order, "task" a task number, which is the place in
 * row order. Bounds are stated for positions and tasks below V.
 */
#ifndef PLAN_ORDER_H
#define PLAN_ORDER_H

#include "plan/prog.h"

typedef struct plan_cell {
  plan_val x, y, z;
} plan_cell;

/* The grid as values: constants when it is known. */
typedef struct plan_space {
  plan_val n[3];  /* x, y, z: at least 1 */
  plan_val plane; /* n[0] * n[1] */
  plan_val tasks; /* n[0] * n[1] * n[2] */
  bool known;
  bool packed;   /* tables hold cells of a plane (hd_plan_pack) */
  plan_cell own; /* the worker's cell, where that is the input, and its number; else PLAN_NONE */
  plan_val worker;
} plan_space;

/* A position's task and its cell. Both are given; the program keeps the one that is used. */
typedef struct plan_at {
  plan_cell cell;
  plan_val task;
} plan_at;

/* Words of packed tables: x below, y above. */
enum { PLAN_PACKED_BITS = 16, PLAN_PACKED_MASK = 0xffff };

/* Check plan and grid; begin a program with the grid's values. */
hd_status plan_open(plan_builder *b, const hd_plan *p, const hd_grid *g, plan_space *s, hd_diag *d);
/* The linear input: a worker's id, a position or a task; below V. */
plan_val plan_linear_input(plan_builder *b, const plan_space *s);
/* The same from the worker's own cell, s->own then: s->worker. */
plan_val plan_cell_input(plan_builder *b, plan_space *s);

plan_val plan_parameter(plan_builder *b, hd_pop op, uint32_t value);

/* From a position to where an order without shape or binding has it (order.c), and back (inverse.c). */
plan_at plan_order_at(plan_builder *b, const plan_space *s, const hd_order *o, plan_val position);
plan_val plan_order_position(plan_builder *b, const plan_space *s, const hd_order *o, plan_at at);

/* ---- Shapes (shape.c) --------------------------------------------------------- */

/* The grid that a plan's orders and splits see, of the launch's grid. */
typedef struct plan_view {
  bool shaped;      /* else `cells` is the launch's grid */
  plan_space cells; /* where the order goes */
  plan_space lines; /* the same, but with all tasks: those behind the cells are split like any others */
} plan_view;
plan_view plan_see(plan_builder *b, const hd_plan *p, const plan_space *launch);
/* A position's task and cell in the launch's grid, by the plan's order and shape, and back. */
plan_at plan_view_at(plan_builder *b, const plan_view *v, const hd_plan *p, const plan_space *launch,
                     plan_val position);
plan_val plan_view_position(plan_builder *b, const plan_view *v, const hd_plan *p, const plan_space *launch,
                            plan_val task);

/* Tiles in rows of o->c positions (hd_order of the kind HD_ORDER_TILE), whatever the grid's rows are: from a
 * position to where it is, and back. */
plan_at plan_rows_at(plan_builder *b, const plan_space *s, const hd_order *o, plan_val position);
plan_val plan_rows_position(plan_builder *b, const plan_space *s, const hd_order *o, plan_at at);

/* The position-to-cell program for any grid, with the order's parameters as inputs HD_P_A to HD_P_C; rows: of
 * tiles in rows of HD_P_C. */
hd_status plan_symbolic_program(hd_order_kind kind, bool rows, hd_prog *out, hd_diag *d);

/* The worker-to-task program with the task number in out[0] to out[2]. */
hd_status plan_task_program(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d);

/* The same from a place in the clusters laid end to end. */
hd_status plan_cluster_program(const hd_plan *p, const hd_grid *g, hd_prog *out, hd_diag *d);

/* The batch evaluators, from the best to the one that always works: numbers 0 to plan_runners() - 1. A runner
 * fits a program when the processor has the instructions and its lanes hold every value. plan_run sets
 * out->task[u] to the program's first result for u = 0 .. out->n - 1; false when out of memory. */
size_t plan_runners(void);
bool plan_runner_fits(size_t runner, const hd_prog *p);
bool plan_run(size_t runner, const hd_prog *p, const uint32_t g[3], const hd_table *t, hd_table *out);

/* x * y of dimensions, or of parts of them: at most V. */
plan_val plan_cells(plan_builder *b, const plan_space *s, plan_val x, plan_val y);
plan_cell plan_row_cell(plan_builder *b, const plan_space *s, plan_val task);
plan_at plan_at_task(plan_builder *b, const plan_space *s, plan_val task);
plan_val plan_row_task(plan_builder *b, const plan_space *s, plan_cell c);

/* ---- Pieces of a dimension -------------------------------------------------- */

/* A dimension cut into pieces of `size`; the last may be shorter. One piece: */
typedef struct plan_piece {
  plan_val length;
  plan_val full;       /* 1: `size` long, 0: `last` long; PLAN_NONE: see length */
  plan_val size, last; /* constants, when `full` is a value */
} plan_piece;

/* Piece `index` of a dimension of n; index * size < n. */
plan_piece plan_piece_at(plan_builder *b, plan_val n, plan_val size, plan_val index);
/* x / (length * k) and length * k, where k is 1 or cells along another dimension. Two divisions by constants
 * and a select where the length is one of two constants: cheaper than one by a variable. */
plan_val plan_piece_div(plan_builder *b, const plan_piece *p, plan_val x, plan_val k);
plan_val plan_piece_mul(plan_builder *b, const plan_piece *p, plan_val k);
/* n is known to be a multiple of size. */
bool plan_divides(const plan_builder *b, plan_val size, plan_val n);
/* The tile that order=tile cuts with, no larger than the plane; false when tiles
 * as wide as the grid or one row high make it row order. */
bool plan_tile_shape(plan_builder *b, const plan_space *s, const hd_order *o, plan_val *W, plan_val *H);

/* ---- Orders over linear positions (linear.c, cluster.c) ------------------------ */

/* position -> task of zigzag:AxB, which is its own inverse. With `cell` not NULL
 * also the coordinates, which cost less than decoding the task where a row of
 * the zigzag is a row or plane of the grid. */
plan_val plan_zigzag(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val position,
                     plan_cell *cell);
plan_val plan_stride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val position);
plan_val plan_unstride(plan_builder *b, const plan_space *s, uint32_t A, uint32_t B, plan_val task);

/* M clusters of V items (CLU 4.2). Deal: item u of a round robin over the clusters
 * (eq. 8) to its place v in the clusters laid end to end (eq. 7). Collect: back
 * (eq. 4, 5). u = V is allowed and gives V or less. */
plan_val plan_deal(plan_builder *b, plan_val V, uint32_t M, plan_val u);
plan_val plan_collect(plan_builder *b, plan_val V, uint32_t M, plan_val v);
/* The same with M as a value; the number of tasks of cluster i, and the position of place w in it. */
plan_val plan_deal_by(plan_builder *b, plan_val V, plan_val M, plan_val u);
plan_val plan_collect_by(plan_builder *b, plan_val V, plan_val M, plan_val v);
plan_val plan_quota_by(plan_builder *b, plan_val V, plan_val M, plan_val i);
plan_val plan_place_by(plan_builder *b, plan_val V, plan_val M, plan_val i, plan_val w);

/* ---- Splits (cluster.c) ---------------------------------------------------------- */

/* M clusters of the V positions, by `split`. Tasks of cluster i; the position of place w < quota in it. */
plan_val plan_quota(plan_builder *b, const plan_space *s, uint32_t M, plan_val i);
plan_val plan_place(plan_builder *b, const plan_space *s, const hd_split *split, uint32_t M, plan_val i,
                    plan_val w);
/* As plan_deal and plan_collect, for any split. */
plan_val plan_split_deal(plan_builder *b, const plan_space *s, const hd_split *split, uint32_t M, plan_val u);
plan_val plan_split_collect(plan_builder *b, const plan_space *s, const hd_split *split, uint32_t M,
                            plan_val v);

/* ---- Hilbert curve of a plane (hilbert.c) --------------------------------------- */

/* position within the plane <-> x, y. z is left alone. */
void plan_hilbert_cell(plan_builder *b, const plan_space *s, plan_val position, plan_val *x, plan_val *y);
plan_val plan_hilbert_position(plan_builder *b, const plan_space *s, plan_val x, plan_val y);

#endif
