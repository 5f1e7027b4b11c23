/* plan/eval_lanes.h: the batch evaluator, for one lane width.
 *
 * Included by eval.c once per width, with LANE (the type), LANE_IS_NARROW, NAMED (a function's name for this
 * width) and TARGET (attributes) defined. Row i of `rows` holds value i of all lanes.
 */
#define EACH for (unsigned l = 0; l < LANES; l++)

/* Leaves come first in a program; all but the position are the same in each batch. Returns the number of the
 * first value that depends on the position or comes after it. */
TARGET static uint32_t NAMED(set_leaves)(const batch *w, LANE *rows) {
  const hd_prog *p = w->p;
  uint32_t first = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_pval *v = &p->vals[i];
    LANE *d = rows + (size_t)i * LANES;
    if (v->op > HD_P_C) continue;
    const LANE leaf = (LANE)(v->op == HD_P_CONST ? v->imm
                             : v->op == HD_P_NX  ? w->g[0]
                             : v->op == HD_P_NY  ? w->g[1]
                             : v->op == HD_P_NZ  ? w->g[2]
                             : v->op == HD_P_V   ? (uint64_t)w->g[0] * w->g[1] * w->g[2]
                                                 : 0);
    EACH d[l] = leaf;
    first = i + 1;
  }
  return first;
}

/* Divisions by constants become multiplications where lanes have 32 bits. */
static void NAMED(set_magics)(batch *w) {
  const hd_prog *p = w->p;
  for (uint32_t i = 0; i < p->n && LANE_IS_NARROW; i++) {
    const hd_pval *v = &p->vals[i];
    if (v->op == HD_P_DIV && p->vals[v->b].op == HD_P_CONST &&
        !hd_find_magic(p->vals[v->b].imm, p->vals[v->a].max, 32, &w->magics[i]))
      w->magics[i].multiplier = 0;
  }
}

/* The positions from `base` on; lanes beyond the end repeat the last one. */
TARGET static void NAMED(set_positions)(const hd_prog *p, uint32_t first, uint64_t base, uint64_t n,
                                        LANE *rows) {
  for (uint32_t i = 0; i < first; i++)
    if (p->vals[i].op == HD_P_POS) EACH rows[(size_t)i * LANES + l] = (LANE)(base + l < n ? base + l : n - 1);
}

/* Values other than those of control. */
TARGET static void NAMED(compute)(const batch *w, uint32_t pc, LANE *rows) {
  const hd_pval *v = &w->p->vals[pc];
  LANE *restrict d = rows + (size_t)pc * LANES;
  const LANE *a = rows + (size_t)v->a * LANES, *b = rows + (size_t)v->b * LANES;
  const LANE *c = rows + (size_t)v->c * LANES;
  switch (v->op) {
  case HD_P_VAR: EACH d[l] = a[l]; break;
  case HD_P_ADD: EACH d[l] = a[l] + b[l]; break;
  case HD_P_SUB: EACH d[l] = a[l] - b[l]; break;
  case HD_P_MUL: EACH d[l] = a[l] * b[l]; break;
  case HD_P_DIV:
    if (w->magics[pc].multiplier) {
      uint64_t mul = w->magics[pc].multiplier;
      unsigned shift = w->magics[pc].shift;
      EACH d[l] = (LANE)(((uint64_t)(uint32_t)a[l] * (uint32_t)mul) >> shift);
    } else {
      EACH d[l] = a[l] / (b[l] | (b[l] == 0)); /* a lane that has left may hold 0 */
    }
    break;
  case HD_P_REM: EACH d[l] = a[l] % (b[l] | (b[l] == 0)); break;
  case HD_P_MIN: EACH d[l] = a[l] < b[l] ? a[l] : b[l]; break;
  case HD_P_MAX: EACH d[l] = a[l] > b[l] ? a[l] : b[l]; break;
  case HD_P_AND: EACH d[l] = a[l] & b[l]; break;
  case HD_P_OR: EACH d[l] = a[l] | b[l]; break;
  case HD_P_XOR: EACH d[l] = a[l] ^ b[l]; break;
  case HD_P_SHL: EACH d[l] = (LANE)(b[l] < 64 ? (uint64_t)a[l] << b[l] : 0); break;
  case HD_P_SHR: EACH d[l] = (LANE)(b[l] < 64 ? (uint64_t)a[l] >> b[l] : 0); break;
  case HD_P_LT: EACH d[l] = a[l] < b[l]; break;
  case HD_P_EQ: EACH d[l] = a[l] == b[l]; break;
  case HD_P_SELECT: EACH d[l] = a[l] ? b[l] : c[l]; break;
  case HD_P_TABLE: EACH d[l] = (LANE)table_entry(w->t, a[l]); break;
  case HD_P_CONST:
  case HD_P_POS:
  case HD_P_CLUSTER:
  case HD_P_X:
  case HD_P_Y:
  case HD_P_Z:
  case HD_P_NX:
  case HD_P_NY:
  case HD_P_NZ:
  case HD_P_V:
  case HD_P_A:
  case HD_P_B:
  case HD_P_C:
  case HD_P_ASSIGN:
  case HD_P_LOOP:
  case HD_P_BREAK_IF:
  case HD_P_ENDLOOP: break; /* leaves are set already; control() */
  }
}

/* ASSIGN and the loops' values, in the lanes *running. Returns the value after which the program goes on. */
TARGET static uint32_t NAMED(control)(const hd_prog *p, uint32_t pc, LANE *rows, const LANE **running) {
  const hd_pval *v = &p->vals[pc];
  const LANE *a = rows + (size_t)v->a * LANES, *b = rows + (size_t)v->b * LANES, *in = *running;
  LANE any = 0;
  if (v->op == HD_P_ASSIGN) {
    LANE *var = rows + (size_t)v->a * LANES;
    EACH var[l] = (var[l] & ~in[l]) | (b[l] & in[l]);
    return pc;
  }
  if (v->op == HD_P_LOOP) {
    LANE *d = rows + (size_t)pc * LANES;
    EACH d[l] = in[l];
    *running = d;
    return pc;
  }
  if (v->op == HD_P_BREAK_IF) {
    LANE *inside = rows + (size_t)p->vals[v->b].a * LANES;
    EACH {
      inside[l] &= (LANE) - (LANE)(a[l] == 0);
      any |= inside[l];
    }
    return any ? pc : v->b - 1; /* at the ENDLOOP no lane is left */
  }
  EACH any |= in[l];
  if (any) return v->a;
  /* Back to the enclosing loop's lanes. */
  *running = rows + (size_t)p->n * LANES;
  for (uint32_t i = 0; i < v->a; i++)
    if (p->vals[i].op == HD_P_LOOP && p->vals[i].a > pc) *running = rows + (size_t)i * LANES;
  return pc;
}

TARGET static void NAMED(run)(batch *w, void *memory, hd_table *out) {
  LANE *rows = memory;
  const hd_prog *p = w->p;
  LANE *all = rows + (size_t)p->n * LANES;
  EACH all[l] = (LANE)-1;
  const uint32_t first = NAMED(set_leaves)(w, rows);
  NAMED(set_magics)(w);
  for (uint64_t base = 0; base < out->n; base += LANES) {
    const LANE *running = all;
    NAMED(set_positions)(p, first, base, out->n, rows);
    for (uint32_t pc = first; pc < p->n; pc++) {
      if (p->vals[pc].op >= HD_P_ASSIGN && p->vals[pc].op <= HD_P_ENDLOOP)
        pc = NAMED(control)(p, pc, rows, &running);
      else
        NAMED(compute)(w, pc, rows);
    }
    const LANE *task = rows + (size_t)p->out[0] * LANES;
    uint64_t n = out->n - base < LANES ? out->n - base : LANES;
    for (uint64_t l = 0; l < n; l++) out->task[base + l] = (uint32_t)task[l];
  }
}
#undef EACH
