#include "plan/prog.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

const plan_op_info plan_ops[HD_P_TABLE + 1] = {
    [HD_P_CONST] = {"const", 0, true, false},
    [HD_P_POS] = {"pos", 0, true, false},
    [HD_P_CLUSTER] = {"cluster", 0, true, false},
    [HD_P_X] = {"x", 0, true, false},
    [HD_P_Y] = {"y", 0, true, false},
    [HD_P_Z] = {"z", 0, true, false},
    [HD_P_NX] = {"nx", 0, true, false},
    [HD_P_NY] = {"ny", 0, true, false},
    [HD_P_NZ] = {"nz", 0, true, false},
    [HD_P_V] = {"tasks", 0, true, false},
    [HD_P_A] = {"a", 0, true, false},
    [HD_P_B] = {"b", 0, true, false},
    [HD_P_C] = {"c", 0, true, false},
    [HD_P_VAR] = {"var", 1, true, false},
    [HD_P_ADD] = {"add", 2, true, true},
    [HD_P_SUB] = {"sub", 2, true, false},
    [HD_P_MUL] = {"mul", 2, true, true},
    [HD_P_DIV] = {"div", 2, true, false},
    [HD_P_REM] = {"rem", 2, true, false},
    [HD_P_MIN] = {"min", 2, true, true},
    [HD_P_MAX] = {"max", 2, true, true},
    [HD_P_AND] = {"and", 2, true, true},
    [HD_P_OR] = {"or", 2, true, true},
    [HD_P_XOR] = {"xor", 2, true, true},
    [HD_P_SHL] = {"shl", 2, true, false},
    [HD_P_SHR] = {"shr", 2, true, false},
    [HD_P_LT] = {"lt", 2, true, false},
    [HD_P_EQ] = {"eq", 2, true, true},
    [HD_P_SELECT] = {"select", 3, true, false},
    [HD_P_ASSIGN] = {"assign", 2, false, false},
    [HD_P_LOOP] = {"loop", 0, false, false},
    [HD_P_BREAK_IF] = {"break_if", 1, false, false},
    [HD_P_ENDLOOP] = {"endloop", 0, false, false},
    [HD_P_TABLE] = {"table", 1, true, false},
};

/* Inputs and constants have no operands and mean the same everywhere. */
static bool is_leaf(hd_pop op) { return op <= HD_P_C; }

/* ---- Ranges ---------------------------------------------------------------- */

typedef struct range {
  uint64_t lo, hi;
} range;

static const range ANY = {0, UINT64_MAX};

static uint64_t low_ones(uint64_t x) { return x ? UINT64_MAX >> __builtin_clzll(x) : 0; }

static range range_of(hd_pop op, range x, range y) {
  bool single = x.lo == x.hi && y.lo == y.hi;
  range r = ANY;
  switch (op) {
  case HD_P_ADD:
    if (__builtin_add_overflow(x.hi, y.hi, &r.hi)) return ANY;
    r.lo = x.lo + y.lo;
    break;
  case HD_P_SUB:
    r.hi = x.hi > y.lo ? x.hi - y.lo : 0;
    r.lo = x.lo > y.hi ? x.lo - y.hi : 0;
    break;
  case HD_P_MUL:
    if (__builtin_mul_overflow(x.hi, y.hi, &r.hi)) return ANY;
    r.lo = x.lo * y.lo;
    break;
  case HD_P_DIV:
    if (y.lo == 0) return ANY;
    r = (range){x.lo / y.hi, x.hi / y.lo};
    break;
  case HD_P_REM:
    if (y.lo == 0) return ANY;
    if (single) return (range){x.lo % y.lo, x.lo % y.lo};
    r = (range){0, x.hi < y.hi ? x.hi : y.hi - 1};
    break;
  case HD_P_MIN: r = (range){x.lo < y.lo ? x.lo : y.lo, x.hi < y.hi ? x.hi : y.hi}; break;
  case HD_P_MAX: r = (range){x.lo > y.lo ? x.lo : y.lo, x.hi > y.hi ? x.hi : y.hi}; break;
  case HD_P_AND:
    if (single) return (range){x.lo & y.lo, x.lo & y.lo};
    r = (range){0, x.hi < y.hi ? x.hi : y.hi};
    break;
  case HD_P_OR:
    if (single) return (range){x.lo | y.lo, x.lo | y.lo};
    r = (range){x.lo > y.lo ? x.lo : y.lo, low_ones(x.hi | y.hi)};
    break;
  case HD_P_XOR:
    if (single) return (range){x.lo ^ y.lo, x.lo ^ y.lo};
    r = (range){0, low_ones(x.hi | y.hi)};
    break;
  case HD_P_SHL:
    if (y.hi > 63 || (x.hi << y.hi) >> y.hi != x.hi) return ANY;
    r = (range){x.lo << y.lo, x.hi << y.hi};
    break;
  case HD_P_SHR:
    if (y.hi > 63) return ANY;
    r = (range){x.lo >> y.hi, x.hi >> y.lo};
    break;
  case HD_P_LT: r = (range){x.hi < y.lo, x.lo < y.hi}; break;
  case HD_P_EQ: r = (range){single && x.lo == y.lo, x.lo <= y.hi && y.lo <= x.hi}; break;
  default: break;
  }
  return r;
}

/* ---- Emission and reuse ------------------------------------------------------ */

void plan_begin(plan_builder *b) {
  memset(b, 0, sizeof *b);
  plan_const(b, 0); /* value 0 exists even when there is no more room */
}

static uint32_t open_loop(const plan_builder *b) { return b->depth ? b->loops[b->depth - 1] : PLAN_NONE; }

static plan_val emit(plan_builder *b, hd_pval v, uint64_t lo) {
  if (b->prog.n == HD_PROG_MAX) {
    b->overflow = true;
    return 0;
  }
  plan_val i = b->prog.n++;
  b->prog.vals[i] = v;
  b->lo[i] = lo;
  b->loop_of[i] = open_loop(b);
  b->epoch_of[i] = b->epoch;
  return i;
}

static bool is_var(const plan_builder *b, plan_val v) { return b->prog.vals[v].op == HD_P_VAR; }

/* An earlier value that is the same thing now: computed on every path to here,
 * and from no variable that may have changed since. */
static plan_val find_equal(const plan_builder *b, const hd_pval *v) {
  unsigned n = plan_ops[v->op].operands;
  bool reads_var = (n > 0 && is_var(b, v->a)) || (n > 1 && is_var(b, v->b)) || (n > 2 && is_var(b, v->c));
  for (plan_val i = 0; i < b->prog.n; i++) {
    const hd_pval *w = &b->prog.vals[i];
    if (w->op == v->op && w->a == v->a && w->b == v->b && w->c == v->c && w->imm == v->imm && !b->closed[i] &&
        (!reads_var || b->epoch_of[i] == b->epoch))
      return i;
  }
  return PLAN_NONE;
}

static plan_val emit_once(plan_builder *b, hd_pval v, range r) {
  if (r.lo == r.hi && v.op != HD_P_CONST) return plan_const(b, r.lo);
  plan_val i = find_equal(b, &v);
  if (i != PLAN_NONE) return i;
  v.max = r.hi;
  return emit(b, v, r.lo);
}

plan_val plan_const(plan_builder *b, uint64_t k) {
  return emit_once(b, (hd_pval){.op = HD_P_CONST, .imm = k}, (range){k, k});
}

plan_val plan_input(plan_builder *b, hd_pop op, uint64_t lo, uint64_t hi) {
  assert(op >= HD_P_POS && op <= HD_P_C);
  return emit_once(b, (hd_pval){.op = op}, (range){lo, hi});
}

plan_val plan_bound(plan_builder *b, plan_val v, uint64_t lo, uint64_t hi) {
  hd_pval *p = &b->prog.vals[v];
  assert(lo <= hi && lo <= p->max && hi >= b->lo[v]);
  if (p->op == HD_P_VAR) return v; /* true now, but not when it is assigned */
  if (lo > b->lo[v]) b->lo[v] = lo;
  if (hi < p->max) p->max = hi;
  return b->lo[v] == p->max ? plan_const(b, p->max) : v;
}

/* ---- Folding ----------------------------------------------------------------- */

static range range_at(const plan_builder *b, plan_val v) { return (range){plan_lo(b, v), plan_hi(b, v)}; }

static const plan_division *find_division(const plan_builder *b, plan_val x, plan_val n) {
  for (uint32_t i = 0; i < b->n_divisions; i++)
    if (b->divisions[i].x == x && b->divisions[i].n == n) return &b->divisions[i];
  return NULL;
}

/* A value already there that op(x, y) equals, or PLAN_NONE. A constant operand
 * of a commutative operation is y. */
static plan_val identity(plan_builder *b, hd_pop op, plan_val x, plan_val y) {
  range rx = range_at(b, x), ry = range_at(b, y);
  bool zero = plan_equals(b, y, 0), one = plan_equals(b, y, 1);
  switch (op) {
  case HD_P_ADD: return zero ? x : PLAN_NONE;
  case HD_P_SUB: {
    if (zero) return x;
    if (x == y) return plan_const(b, 0);
    /* x - (x - z) is z; a variable may have changed in between. */
    const hd_pval *inner = &b->prog.vals[y];
    if (inner->op == HD_P_SUB && inner->a == x && !is_var(b, x) && !is_var(b, inner->b)) return inner->b;
    return PLAN_NONE;
  }
  case HD_P_MUL: return one ? x : PLAN_NONE;
  case HD_P_DIV: {
    const plan_division *known = find_division(b, x, y);
    return one ? x : x == y ? plan_const(b, 1) : known ? known->q : PLAN_NONE;
  }
  case HD_P_REM: return rx.hi < ry.lo ? x : PLAN_NONE;
  case HD_P_MIN: return x == y || rx.hi <= ry.lo ? x : ry.hi <= rx.lo ? y : PLAN_NONE;
  case HD_P_MAX: return x == y || rx.lo >= ry.hi ? x : ry.lo >= rx.hi ? y : PLAN_NONE;
  case HD_P_AND:
    if (x == y) return x;
    return plan_is_const(b, y) && ry.hi == low_ones(ry.hi) && rx.hi <= ry.hi ? x : PLAN_NONE;
  case HD_P_OR: return zero || x == y ? x : PLAN_NONE;
  case HD_P_XOR: return zero ? x : x == y ? plan_const(b, 0) : PLAN_NONE;
  case HD_P_SHL:
  case HD_P_SHR: return zero ? x : PLAN_NONE;
  case HD_P_LT: return x == y ? plan_const(b, 0) : PLAN_NONE;
  case HD_P_EQ: return x == y ? plan_const(b, 1) : one && rx.hi <= 1 ? x : PLAN_NONE;
  default: return PLAN_NONE;
  }
}

plan_val plan_op(plan_builder *b, hd_pop op, plan_val x, plan_val y) {
  assert(plan_ops[op].operands == 2 && plan_ops[op].has_value);
  assert(!b->closed[x] && !b->closed[y]);
  assert((op != HD_P_DIV && op != HD_P_REM) || plan_lo(b, y) > 0);
  assert(op != HD_P_SUB || plan_hi(b, x) >= plan_lo(b, y));
  if (plan_ops[op].commutes) {
    bool swap = plan_is_const(b, x) != plan_is_const(b, y) ? plan_is_const(b, x) : x > y;
    if (swap) {
      plan_val t = x;
      x = y;
      y = t;
    }
  }
  range r = range_of(op, range_at(b, x), range_at(b, y));
  if (r.lo == r.hi) return plan_const(b, r.lo);
  plan_val same = identity(b, op, x, y);
  if (same != PLAN_NONE) return same;
  return emit_once(b, (hd_pval){.op = op, .a = x, .b = y}, r);
}

plan_val plan_select(plan_builder *b, plan_val cond, plan_val x, plan_val y) {
  assert(!b->closed[cond] && !b->closed[x] && !b->closed[y]);
  range c = range_at(b, cond), rx = range_at(b, x), ry = range_at(b, y);
  if (c.lo > 0 || x == y) return x;
  if (c.hi == 0) return y;
  if (c.hi == 1 && plan_equals(b, x, 1) && plan_equals(b, y, 0)) return cond;
  range r = {rx.lo < ry.lo ? rx.lo : ry.lo, rx.hi > ry.hi ? rx.hi : ry.hi};
  return emit_once(b, (hd_pval){.op = HD_P_SELECT, .a = cond, .b = x, .c = y}, r);
}

plan_val plan_table(plan_builder *b, plan_val index, uint64_t hi) {
  assert(!b->closed[index]);
  return emit_once(b, (hd_pval){.op = HD_P_TABLE, .a = index}, (range){0, hi});
}

void plan_state_division(plan_builder *b, plan_val x, plan_val n, plan_val q, plan_val r) {
  assert(b->n_divisions < PLAN_DIVISIONS);
  b->divisions[b->n_divisions++] = (plan_division){x, n, q, r};
}

void plan_divmod(plan_builder *b, plan_val x, plan_val n, plan_val *q, plan_val *r) {
  const plan_division *known = find_division(b, x, n);
  if (known) {
    *q = known->q;
    *r = known->r;
    return;
  }
  *q = plan_div(b, x, n);
  uint64_t k = plan_hi(b, n);
  if (plan_is_const(b, n) && (k & (k - 1)) == 0) /* one operation, and it need not wait for q */
    *r = plan_and(b, x, plan_const(b, k - 1));
  else
    *r = plan_bound(b, plan_sub(b, x, plan_bound(b, plan_mul(b, *q, n), 0, plan_hi(b, x))), 0, k - 1);
}

/* ---- Variables and loops ------------------------------------------------------ */

plan_val plan_var(plan_builder *b, plan_val init, uint64_t hi) {
  assert(!b->closed[init] && plan_hi(b, init) <= hi);
  return emit(b, (hd_pval){.op = HD_P_VAR, .a = init, .max = hi}, 0);
}

void plan_loop(plan_builder *b) {
  assert(b->depth < PLAN_LOOP_DEPTH);
  uint32_t outer = open_loop(b);
  plan_val loop = emit(b, (hd_pval){.op = HD_P_LOOP}, 0);
  b->loop_of[loop] = outer;
  b->loops[b->depth++] = loop;
  b->epoch++; /* the body also runs after its own assignments */
}

void plan_break_if(plan_builder *b, plan_val cond) {
  assert(b->depth > 0 && !b->closed[cond]);
  emit(b, (hd_pval){.op = HD_P_BREAK_IF, .a = cond}, 0);
}

void plan_end_loop(plan_builder *b) {
  assert(b->depth > 0);
  plan_val loop = b->loops[b->depth - 1];
  plan_val end = emit(b, (hd_pval){.op = HD_P_ENDLOOP}, 0);
  for (plan_val i = loop; i < b->prog.n; i++)
    if (!is_leaf(b->prog.vals[i].op)) b->closed[i] = true;
  b->depth--;
  b->loop_of[end] = loop;
  b->epoch++;
}

void plan_assign(plan_builder *b, uint32_t n, const plan_val *vars, const plan_val *vals) {
  enum { MOST = 16 };
  plan_val taken[MOST];
  assert(n <= MOST);
  for (uint32_t i = 0; i < n; i++) {
    assert(is_var(b, vars[i]) && !b->closed[vals[i]] && plan_hi(b, vals[i]) <= plan_hi(b, vars[i]));
    taken[i] = vals[i];
    /* Another variable's value is copied out before that variable may change:
     * a bare value number would be read at the assignment. */
    if (is_var(b, vals[i]) && vals[i] != vars[i])
      taken[i] = emit(
          b, (hd_pval){.op = HD_P_ADD, .a = vals[i], .b = plan_const(b, 0), .max = plan_hi(b, vals[i])}, 0);
  }
  for (uint32_t i = 0; i < n; i++)
    if (taken[i] != vars[i]) emit(b, (hd_pval){.op = HD_P_ASSIGN, .a = vars[i], .b = taken[i]}, 0);
  b->epoch++;
}

/* ---- Finishing ---------------------------------------------------------------- */

static bool mark(bool *live, plan_val v) {
  bool fresh = !live[v];
  live[v] = true;
  return fresh;
}

/* Mark the operands of a live instruction, and the loop around it. */
static bool mark_needs(const plan_builder *b, bool *live, plan_val i) {
  const hd_pval *v = &b->prog.vals[i];
  unsigned n = plan_ops[v->op].operands;
  bool changed = false;
  if (n > 0) changed |= mark(live, v->a);
  if (n > 1) changed |= mark(live, v->b);
  if (n > 2) changed |= mark(live, v->c);
  if (b->loop_of[i] != PLAN_NONE && !plan_ops[v->op].has_value) changed |= mark(live, b->loop_of[i]);
  return changed;
}

/* An assignment lives when its variable does; a loop when something in it that
 * is not a plain value does, and then with its breaks and its end. */
static void find_live(const plan_builder *b, const plan_val out[3], bool *live) {
  for (int i = 0; i < 3; i++) live[out[i]] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (plan_val i = b->prog.n; i-- > 0;) {
      const hd_pval *v = &b->prog.vals[i];
      if (v->op == HD_P_ASSIGN && live[v->a]) changed |= mark(live, i);
      bool structure = v->op == HD_P_BREAK_IF || v->op == HD_P_ENDLOOP;
      if (structure && live[b->loop_of[i]]) changed |= mark(live, i);
      if (live[i]) changed |= mark_needs(b, live, i);
    }
  }
}

/* Loops know their ends and ends their loops (see hd_pop). */
static void link_loops(hd_prog *p) {
  uint32_t open[PLAN_LOOP_DEPTH] = {0}, depth = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    hd_pval *v = &p->vals[i];
    if (v->op == HD_P_LOOP) {
      open[depth++] = i;
    } else if (v->op == HD_P_BREAK_IF) {
      v->b = open[depth - 1];
    } else if (v->op == HD_P_ENDLOOP) {
      v->a = open[--depth];
      p->vals[v->a].a = i;
    }
  }
  for (uint32_t i = 0; i < p->n; i++)
    if (p->vals[i].op == HD_P_BREAK_IF) p->vals[i].b = p->vals[p->vals[i].b].a;
}

hd_status plan_finish(plan_builder *b, const plan_val out[3], hd_prog *p, hd_diag *d) {
  assert(b->depth == 0);
  if (b->overflow) return hd_fail(d, HD_ERR_UNSUPPORTED, "the plan's program exceeds %d values", HD_PROG_MAX);
  bool live[HD_PROG_MAX] = {false};
  uint32_t number[HD_PROG_MAX] = {0};
  find_live(b, out, live);
  p->n = 0;
  p->uses_table = false;
  p->any_size = true;
  for (int leaves = 1; leaves >= 0; leaves--)
    for (plan_val i = 0; i < b->prog.n; i++) {
      hd_pval v = b->prog.vals[i];
      if (!live[i] || is_leaf(v.op) != (leaves == 1)) continue;
      unsigned n = plan_ops[v.op].operands;
      if (n > 0) v.a = number[v.a];
      if (n > 1) v.b = number[v.b];
      if (n > 2) v.c = number[v.c];
      number[i] = p->n;
      p->vals[p->n++] = v;
      p->uses_table |= v.op == HD_P_TABLE;
      p->any_size &= v.op != HD_P_POS && v.op != HD_P_V && v.op != HD_P_MUL;
    }
  for (int i = 0; i < 3; i++) p->out[i] = number[out[i]];
  link_loops(p);
  return HD_OK;
}

/* ---- Printing ------------------------------------------------------------------ */

static void print_operand(const hd_prog *p, uint32_t v, hd_buf *out) {
  if (p->vals[v].op == HD_P_CONST)
    hd_buf_printf(out, "%" PRIu64, p->vals[v].imm);
  else
    hd_buf_printf(out, "v%u", v);
}

void hd_prog_print(const hd_prog *p, hd_buf *out) {
  unsigned depth = 0;
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_pval *v = &p->vals[i];
    const plan_op_info *op = &plan_ops[v->op];
    if (v->op == HD_P_ENDLOOP) depth--;
    hd_buf_printf(out, "%*s", (int)(2 * depth), "");
    if (v->op == HD_P_LOOP) depth++;
    if (v->op == HD_P_ASSIGN) {
      hd_buf_printf(out, "v%u := ", v->a);
      print_operand(p, v->b, out);
      hd_buf_putc(out, '\n');
      continue;
    }
    if (op->has_value) hd_buf_printf(out, "v%u = ", i);
    hd_buf_puts(out, op->name);
    if (v->op == HD_P_CONST) hd_buf_printf(out, " %" PRIu64, v->imm);
    const uint32_t operand[3] = {v->a, v->b, v->c};
    for (unsigned k = 0; k < 3 && k < op->operands; k++) {
      hd_buf_puts(out, k ? ", " : " ");
      print_operand(p, operand[k], out);
    }
    if (op->has_value && v->op != HD_P_CONST) hd_buf_printf(out, "  # <= %" PRIu64, v->max);
    hd_buf_putc(out, '\n');
  }
  hd_buf_puts(out, "out");
  for (int i = 0; i < 3; i++) {
    hd_buf_putc(out, ' ');
    print_operand(p, p->out[i], out);
  }
  hd_buf_putc(out, '\n');
}
