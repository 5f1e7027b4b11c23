/* Evaluation of programs: one input at a time, and in batches for whole tables.
 *
 * A batch evaluates one operation for many inputs before the next, so that the
 * compiler vectorises each operation. Where every value fits, lanes are 32 bits
 * wide and divisions by constants are multiplications.
 */
#include "plan/order.h"

#include <stdlib.h>
#include <string.h>

/* ---- One input ----------------------------------------------------------------- */

static uint64_t table_entry(const hd_table *t, uint64_t i) { return t && i < t->n ? t->task[i] : 0; }

void hd_prog_eval(const hd_prog *p, const uint32_t g[3], uint64_t in, const hd_table *t, uint64_t out[3]) {
  hd_prog_eval_in(p, g, 0, in, t, out);
}

void hd_prog_eval_in(const hd_prog *p, const uint32_t g[3], uint64_t cluster, uint64_t in, const hd_table *t,
                     uint64_t out[3]) {
  uint64_t v[HD_PROG_MAX];
  for (uint32_t pc = 0; pc < p->n; pc++) {
    const hd_pval *i = &p->vals[pc];
#define A v[i->a]
#define B v[i->b]
    switch (i->op) {
    case HD_P_CONST: v[pc] = i->imm; break;
    case HD_P_POS: v[pc] = in; break;
    case HD_P_CLUSTER: v[pc] = cluster; break;
    case HD_P_X: v[pc] = in % g[0]; break;
    case HD_P_Y: v[pc] = in / g[0] % g[1]; break;
    case HD_P_Z: v[pc] = in / g[0] / g[1]; break;
    case HD_P_NX: v[pc] = g[0]; break;
    case HD_P_NY: v[pc] = g[1]; break;
    case HD_P_NZ: v[pc] = g[2]; break;
    case HD_P_V: v[pc] = (uint64_t)g[0] * g[1] * g[2]; break;
    case HD_P_A:
    case HD_P_B:
    case HD_P_C: v[pc] = 0; break; /* of no program that is evaluated */
    case HD_P_VAR: v[pc] = A; break;
    case HD_P_ADD: v[pc] = A + B; break;
    case HD_P_SUB: v[pc] = A - B; break;
    case HD_P_MUL: v[pc] = A * B; break;
    case HD_P_DIV: v[pc] = A / B; break;
    case HD_P_REM: v[pc] = A % B; break;
    case HD_P_MIN: v[pc] = A < B ? A : B; break;
    case HD_P_MAX: v[pc] = A > B ? A : B; break;
    case HD_P_AND: v[pc] = A & B; break;
    case HD_P_OR: v[pc] = A | B; break;
    case HD_P_XOR: v[pc] = A ^ B; break;
    case HD_P_SHL: v[pc] = B < 64 ? A << B : 0; break;
    case HD_P_SHR: v[pc] = B < 64 ? A >> B : 0; break;
    case HD_P_LT: v[pc] = A < B; break;
    case HD_P_EQ: v[pc] = A == B; break;
    case HD_P_SELECT: v[pc] = A ? B : v[i->c]; break;
    case HD_P_ASSIGN: A = B; break;
    case HD_P_LOOP: break;
    case HD_P_BREAK_IF:
      if (A) pc = i->b; /* goes on behind the ENDLOOP */
      break;
    case HD_P_ENDLOOP: pc = i->a; break;
    case HD_P_TABLE: v[pc] = table_entry(t, A); break;
    }
#undef A
#undef B
  }
  for (int k = 0; k < 3; k++) out[k] = v[p->out[k]];
}

/* ---- Batches ------------------------------------------------------------------------ */

enum { LANES = 256 };

typedef struct batch {
  const hd_prog *p;
  const uint32_t *g;
  const hd_table *t;
  hd_magic magics[HD_PROG_MAX]; /* of DIV by a constant; multiplier 0: there is none */
} batch;

/* Every lane of a batch runs a loop's body until the last one has left it; which
 * lanes are still inside is kept, all ones or all zeros, in the LOOP's own row. */
#define LANE uint32_t
#define LANE_IS_NARROW 1
#define NAMED(function) function##_narrow
#define TARGET
#include "plan/eval_lanes.h"
#undef NAMED
#undef TARGET
#if defined(__x86_64__)
#define NAMED(function) function##_narrow_avx2
#define TARGET __attribute__((target("avx2")))
#include "plan/eval_lanes.h"
#undef NAMED
#undef TARGET
#endif
#undef LANE
#undef LANE_IS_NARROW

#define LANE uint64_t
#define LANE_IS_NARROW 0
#define NAMED(function) function##_wide
#define TARGET
#include "plan/eval_lanes.h"
#undef NAMED
#undef TARGET
#undef LANE
#undef LANE_IS_NARROW

/* From the best to the one that always works. */
typedef struct runner {
  void (*run)(batch *b, void *rows, hd_table *out);
  bool narrow, avx2;
} runner;

static const runner RUNNERS[] = {
#if defined(__x86_64__)
    {run_narrow_avx2, true, true},
#endif
    {run_narrow, true, false},
    {run_wide, false, false},
};

static bool has_avx2(void) {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

size_t plan_runners(void) { return sizeof RUNNERS / sizeof *RUNNERS; }

bool plan_runner_fits(size_t r, const hd_prog *p) {
  if (RUNNERS[r].avx2 && !has_avx2()) return false;
  for (uint32_t i = 0; i < p->n && RUNNERS[r].narrow; i++)
    if (plan_ops[p->vals[i].op].has_value && p->vals[i].max > UINT32_MAX) return false;
  return true;
}

bool plan_run(size_t r, const hd_prog *p, const uint32_t g[3], const hd_table *t, hd_table *out) {
  size_t row = LANES * (RUNNERS[r].narrow ? sizeof(uint32_t) : sizeof(uint64_t));
  void *rows = aligned_alloc(64, row * (p->n + 1)); /* one more: all lanes running */
  batch *b = calloc(1, sizeof *b);
  bool ok = rows && b;
  if (ok) {
    *b = (batch){.p = p, .g = g, .t = t};
    RUNNERS[r].run(b, rows, out);
  }
  free(rows);
  free(b);
  return ok;
}

static bool run_best(const hd_prog *p, const uint32_t g[3], const hd_table *t, hd_table *out) {
  size_t r = 0;
  while (!plan_runner_fits(r, p)) r++;
  return plan_run(r, p, g, t, out);
}

hd_status hd_plan_tabulate(const hd_plan *p, const hd_grid *g, const hd_table *t, hd_table *out, hd_diag *d) {
  uint64_t V;
  *out = (hd_table){0};
  if (!g->known) return hd_fail(d, HD_ERR_USAGE, "a plan is tabulated for a known grid only");
  hd_prog *prog = malloc(sizeof *prog);
  if (!prog) return hd_nomem(d);
  bool claimed = hd_bind_claims(p->bind);
  hd_status st = claimed ? plan_cluster_program(p, g, prog, d) : plan_task_program(p, g, prog, d);
  if (st == HD_OK && hd_grid_tasks(g->g, &V)) {
    size_t bytes;
    if (V > UINT32_MAX)
      st = hd_fail(d, HD_ERR_UNSUPPORTED, "a table holds fewer than 2^32 tasks, but the grid has %llu",
                   (unsigned long long)V);
    else if (prog->uses_table && (!t || t->n != V))
      st = hd_fail(d, HD_ERR_USAGE, "the order needs its table, of %llu entries", (unsigned long long)V);
    else if (!hd_mul_size((size_t)V, sizeof *out->task, &bytes) || !(out->task = malloc(bytes)) ||
             (out->n = V, !run_best(prog, g->g, t, out)))
      st = hd_fail(d, HD_ERR_NOMEM, "out of memory for a table of %llu tasks", (unsigned long long)V);
  }
  if (st != HD_OK) hd_table_free(out);
  free(prog);
  return st;
}
