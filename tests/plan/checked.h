/* A second evaluator that holds a program to its promises: no value exceeds its
 * `max`, nothing wraps, no divisor is 0, shifts stay below 64, an operand was
 * computed before, and nothing behind a loop reads a value of its body. */
#ifndef TESTS_PLAN_CHECKED_H
#define TESTS_PLAN_CHECKED_H

#include "plan/cmocka_env.h"
#include "plan/prog.h"

typedef struct checked_run {
  const hd_prog *p;
  uint64_t v[HD_PROG_MAX];
  bool known[HD_PROG_MAX]; /* holds a value that may be read here */
  unsigned iterations;     /* BREAK_IFs met */
  char why[128];           /* the first broken promise, or "" */
} checked_run;

static inline bool broken(checked_run *c, uint32_t pc, const char *what) {
  snprintf(c->why, sizeof c->why, "v%u: %s", pc, what);
  return false;
}

static inline bool check_operands(checked_run *c, uint32_t pc) {
  const hd_pval *i = &c->p->vals[pc];
  const uint32_t operand[3] = {i->a, i->b, i->c};
  for (unsigned k = 0; k < plan_ops[i->op].operands; k++) {
    if (operand[k] >= c->p->n || !plan_ops[c->p->vals[operand[k]].op].has_value)
      return broken(c, pc, "an operand is no value");
    if (!c->known[operand[k]]) return broken(c, pc, "an operand is out of reach");
  }
  return true;
}

static inline bool checked_step(checked_run *c, uint32_t *pc, const uint32_t g[3], uint64_t in,
                                const hd_table *t) {
  const hd_pval *i = &c->p->vals[*pc];
  if (!check_operands(c, *pc)) return false;
  uint64_t a = c->v[i->a], b = c->v[i->b], r = 0;
  switch (i->op) {
  case HD_P_CONST: r = i->imm; break;
  case HD_P_POS: r = in; break;
  case HD_P_CLUSTER: break; /* of programs that are checked elsewhere */
  case HD_P_X: r = in % g[0]; break;
  case HD_P_Y: r = in / g[0] % g[1]; break;
  case HD_P_Z: r = in / g[0] / g[1]; break;
  case HD_P_NX: r = g[0]; break;
  case HD_P_NY: r = g[1]; break;
  case HD_P_NZ: r = g[2]; break;
  case HD_P_V: r = (uint64_t)g[0] * g[1] * g[2]; break;
  case HD_P_A:
  case HD_P_B:
  case HD_P_C: r = 0; break;
  case HD_P_VAR: r = a; break;
  case HD_P_ADD:
    if (__builtin_add_overflow(a, b, &r)) return broken(c, *pc, "a sum wraps");
    break;
  case HD_P_SUB:
    if (__builtin_sub_overflow(a, b, &r)) return broken(c, *pc, "a difference wraps");
    break;
  case HD_P_MUL:
    if (__builtin_mul_overflow(a, b, &r)) return broken(c, *pc, "a product wraps");
    break;
  case HD_P_DIV:
  case HD_P_REM:
    if (b == 0) return broken(c, *pc, "division by zero");
    r = i->op == HD_P_DIV ? a / b : a % b;
    break;
  case HD_P_MIN: r = a < b ? a : b; break;
  case HD_P_MAX: r = a > b ? a : b; break;
  case HD_P_AND: r = a & b; break;
  case HD_P_OR: r = a | b; break;
  case HD_P_XOR: r = a ^ b; break;
  case HD_P_SHL:
  case HD_P_SHR:
    if (b > 63) return broken(c, *pc, "a shift by 64 or more");
    r = i->op == HD_P_SHL ? a << b : a >> b;
    break;
  case HD_P_LT: r = a < b; break;
  case HD_P_EQ: r = a == b; break;
  case HD_P_SELECT: r = a ? b : c->v[i->c]; break;
  case HD_P_TABLE:
    if (!t || a >= t->n) return broken(c, *pc, "an index beyond the table");
    r = t->task[a];
    break;
  case HD_P_ASSIGN:
    if (c->p->vals[i->a].op != HD_P_VAR) return broken(c, *pc, "an assignment to no variable");
    if (b > c->p->vals[i->a].max) return broken(c, *pc, "a variable exceeds its max");
    c->v[i->a] = b;
    return true;
  case HD_P_LOOP: return true;
  case HD_P_BREAK_IF:
    c->iterations++;
    if (a) {
      uint32_t end = i->b, loop = c->p->vals[end].a;
      for (uint32_t k = loop; k < end; k++) c->known[k] = false;
      *pc = end;
    }
    return true;
  case HD_P_ENDLOOP: *pc = i->a; return true;
  }
  if (r > i->max) return broken(c, *pc, "a value exceeds its max");
  c->v[*pc] = r;
  c->known[*pc] = true;
  return true;
}

/* Run p; false, with c->why filled, when a promise is broken. */
static inline bool checked_eval(checked_run *c, const hd_prog *p, const uint32_t g[3], uint64_t in,
                                const hd_table *t, uint64_t out[3]) {
  c->p = p;
  c->why[0] = 0;
  c->iterations = 0;
  memset(c->known, 0, sizeof c->known);
  uint64_t steps = 0;
  for (uint32_t pc = 0; pc < p->n; pc++) {
    if (++steps > 100000) return broken(c, pc, "a loop without end");
    if (!checked_step(c, &pc, g, in, t)) return false;
  }
  for (int i = 0; i < 3; i++) {
    if (p->out[i] >= p->n || !c->known[p->out[i]]) return broken(c, p->out[i], "a result is out of reach");
    out[i] = c->v[p->out[i]];
  }
  return true;
}

#endif
