/* Programs (plan.h) to PTX text.
 *
 * A value lives in a 32-bit register when the builder knows it to fit, else in a 64-bit one.
 * Comparisons live in predicates and become 0 or 1 only where a value is asked for. Dead
 * values, the parts of loops included, are left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rewrite/rewrite_internal.h"

typedef struct lower {
  const hd_prog *p;
  const rewrite_lowering *l;
  hd_buf *text;
  bool needed[HD_PROG_MAX];
  bool as_value[HD_PROG_MAX]; /* a comparison whose 0/1 is used as a number */
  bool both[HD_PROG_MAX];     /* x and a comparison, only asked whether it is 0: a predicate, too */
  bool joined[HD_PROG_MAX];  /* a comparison that its only reader, such a predicate, makes with another one */
  bool fused[HD_PROG_MAX];   /* a product that its only reader computes, as one multiply-add */
  bool negated[HD_PROG_MAX]; /* a choice between constants that is kept negated, for a difference's mad */
  uint32_t uses[HD_PROG_MAX]; /* readers, wanted results among them */
  unsigned n_temps32, n_temps64, n_preds, n_loops;
  hd_status status;
} lower;

static bool is_wide(const lower *c, uint32_t v) { return c->p->vals[v].max > UINT32_MAX; }
static bool is_compare(const lower *c, uint32_t v) {
  return c->p->vals[v].op == HD_P_LT || c->p->vals[v].op == HD_P_EQ || c->both[v];
}
/* Whether value v's register is 64 bits wide: inputs have the width they come in. */
static bool reg_is_wide(const lower *c, uint32_t v) {
  if (c->p->vals[v].op == HD_P_POS) return c->l->wide_in;
  return is_wide(c, v);
}
static bool is_const(const lower *c, uint32_t v) { return c->p->vals[v].op == HD_P_CONST; }

static unsigned n_operands(hd_pop op) {
  switch (op) {
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
  case HD_P_LOOP:
  case HD_P_ENDLOOP: return 0;
  case HD_P_VAR:
  case HD_P_BREAK_IF:
  case HD_P_TABLE: return 1;
  case HD_P_SELECT: return 3;
  default: return 2;
  }
}

/* Such a value may be different where its reader stands. */
static bool reads_variable(const lower *c, uint32_t v) {
  const hd_pval *p = &c->p->vals[v];
  return c->p->vals[p->a].op == HD_P_VAR || c->p->vals[p->b].op == HD_P_VAR;
}

/* ---- Values that are needed ---------------------------------------------------- */

static bool need(lower *c, uint32_t v) {
  if (c->needed[v]) return false;
  c->needed[v] = true;
  return true;
}

static bool need_operands(lower *c, const hd_pval *v) {
  const uint32_t operands[3] = {v->a, v->b, v->c};
  bool changed = false;
  for (unsigned k = 0; k < 3 && k < n_operands(v->op); k++) changed |= need(c, operands[k]);
  return changed;
}

/* A loop is needed when an assignment in it is; then so are its exits. */
static bool need_loops(lower *c) {
  const hd_prog *p = c->p;
  uint32_t stack[HD_PROG_MAX] = {0}, depth = 0;
  bool changed = false;
  for (uint32_t i = 0; i < p->n; i++) {
    hd_pop op = p->vals[i].op;
    if (op == HD_P_LOOP) {
      stack[depth++] = i;
    } else if (op == HD_P_ENDLOOP && depth) {
      uint32_t begin = stack[--depth];
      bool used = c->needed[begin];
      for (uint32_t k = begin; k < i && !used; k++) used = p->vals[k].op == HD_P_ASSIGN && c->needed[k];
      if (!used) continue;
      changed |= need(c, begin);
      changed |= need(c, i);
      for (uint32_t k = begin; k < i; k++)
        if (p->vals[k].op == HD_P_BREAK_IF) changed |= need(c, k);
    }
  }
  return changed;
}

static void find_needed(lower *c) {
  const hd_prog *p = c->p;
  for (unsigned k = 0; k < 3; k++)
    if (c->l->want[k]) c->needed[p->out[k]] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t i = p->n; i-- > 0;) {
      const hd_pval *v = &p->vals[i];
      if (v->op == HD_P_ASSIGN && c->needed[v->a]) changed |= need(c, i);
      if (c->needed[i]) changed |= need_operands(c, v);
    }
    changed |= need_loops(c);
  }
  for (unsigned k = 0; k < 3; k++)
    if (c->l->want[k]) c->uses[p->out[k]]++;
  for (uint32_t i = 0; i < p->n; i++) {
    const uint32_t operands[3] = {p->vals[i].a, p->vals[i].b, p->vals[i].c};
    for (unsigned k = 0; c->needed[i] && k < n_operands(p->vals[i].op); k++) c->uses[operands[k]]++;
  }
  for (unsigned k = 0; k < 3; k++)
    if (c->l->want[k]) c->as_value[p->out[k]] = true;
  /* Readers come before their operands. */
  for (uint32_t i = p->n; i-- > 0;) {
    const hd_pval *v = &p->vals[i];
    if (!c->needed[i]) continue;
    const uint32_t operands[3] = {v->a, v->b, v->c};
    bool a = is_compare(c, v->a), b = is_compare(c, v->b);
    c->both[i] = v->op == HD_P_AND && !c->as_value[i] && (a || b);
    c->joined[v->b] |= c->both[i] && a && b && c->uses[v->b] == 1 && !reads_variable(c, v->b);
    for (unsigned k = 0; k < n_operands(v->op); k++) {
      bool condition = (v->op == HD_P_SELECT || v->op == HD_P_BREAK_IF) && k == 0;
      condition |= c->both[i] && is_compare(c, operands[k]);
      if (!condition && !(v->op == HD_P_ASSIGN && k == 0)) c->as_value[operands[k]] = true;
    }
  }
}

/* ---- Multiply-adds -------------------------------------------------------------- */

/* The product that sum or difference i takes in, negated in differences. False: there is none that a mad in
 * 32 bits can do. The low half of the result needs the low halves of the operands only. */
static bool product_of(const lower *c, uint32_t i, uint32_t *product, uint32_t *other) {
  const hd_pval *v = &c->p->vals[i];
  if ((v->op != HD_P_ADD && v->op != HD_P_SUB) || is_wide(c, i)) return false;
  *product = v->op == HD_P_ADD && c->p->vals[v->a].op == HD_P_MUL && c->fused[v->a] ? v->a : v->b;
  *other = *product == v->a ? v->b : v->a;
  return c->p->vals[*product].op == HD_P_MUL && c->fused[*product];
}

/* The factor of product m that can be negated for nothing: a constant, or a choice between constants that has
 * no other reader. HD_PROG_MAX: none. */
static uint32_t negatable(const lower *c, const hd_pval *m) {
  const uint32_t factors[2] = {m->b, m->a};
  for (unsigned k = 0; k < 2; k++) {
    const hd_pval *f = &c->p->vals[factors[k]];
    if (is_const(c, factors[k])) return factors[k];
    if (f->op == HD_P_SELECT && c->uses[factors[k]] == 1 && is_const(c, f->b) && is_const(c, f->c) &&
        !is_wide(c, factors[k]))
      return factors[k];
  }
  return HD_PROG_MAX;
}

/* Quotient i is of a product by a constant, both by one multiplier. */
static bool scaled_magic(const lower *c, uint32_t i, hd_magic *out) {
  const hd_pval *v = &c->p->vals[i], *m = &c->p->vals[v->a];
  return v->op == HD_P_DIV && m->op == HD_P_MUL && c->uses[v->a] == 1 && !reads_variable(c, v->a) &&
         is_const(c, m->b) && is_const(c, v->b) && !is_wide(c, v->a) && !is_wide(c, v->b) &&
         !reg_is_wide(c, m->a) &&
         hd_find_scaled_magic(c->p->vals[m->b].imm, c->p->vals[v->b].imm, c->p->vals[m->a].max, 32, out);
}

/* A choice between two quotients of one value by constants, without other readers: the multiplier is chosen,
 * which need not wait for the value, and multiplied by once. */
static bool multipliers_of(const lower *c, uint32_t i, hd_magic magic[2]) {
  const hd_pval *v = &c->p->vals[i], *q[2] = {&c->p->vals[v->b], &c->p->vals[v->c]};
  if (v->op != HD_P_SELECT || is_wide(c, i) || q[0]->op != HD_P_DIV || q[1]->op != HD_P_DIV ||
      q[0]->a != q[1]->a || reads_variable(c, v->b) || reg_is_wide(c, q[0]->a) || c->uses[v->b] != 1 ||
      c->uses[v->c] != 1)
    return false;
  for (unsigned k = 0; k < 2; k++)
    if (!is_const(c, q[k]->b) ||
        !hd_find_magic(c->p->vals[q[k]->b].imm, c->p->vals[q[k]->a].max, 32, &magic[k]) ||
        magic[k].shift != 32)
      return false;
  return true;
}

/* Products that one sum or difference reads; in differences, of a factor that can be negated. A variable may
 * change between the product and its reader. Products, too, that are divided in one with it; and quotients of
 * which one is chosen. */
static void find_fused(lower *c) {
  const hd_prog *p = c->p;
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_pval *v = &p->vals[i];
    if (!c->needed[i] || is_wide(c, i) || (v->op != HD_P_ADD && v->op != HD_P_SUB)) continue;
    const uint32_t operands[2] = {v->b, v->a};
    for (unsigned k = 0; k < (v->op == HD_P_ADD ? 2u : 1u); k++) {
      const hd_pval *m = &p->vals[operands[k]];
      if (m->op != HD_P_MUL || c->uses[operands[k]] != 1 || v->a == v->b) continue;
      if (reads_variable(c, operands[k])) continue;
      uint32_t factor = v->op == HD_P_SUB ? negatable(c, m) : HD_PROG_MAX;
      if (v->op == HD_P_SUB && factor == HD_PROG_MAX) continue;
      if (factor != HD_PROG_MAX && !is_const(c, factor)) c->negated[factor] = true;
      c->fused[operands[k]] = true;
      break;
    }
  }
  for (uint32_t i = 0; i < p->n; i++) {
    const hd_pval *v = &p->vals[i];
    hd_magic magic[2];
    if (c->needed[i] && scaled_magic(c, i, magic)) c->fused[v->a] = true;
    if (c->needed[i] && multipliers_of(c, i, magic)) c->fused[v->b] = c->fused[v->c] = true;
  }
}

/* ---- Names ------------------------------------------------------------------------ */

typedef struct name {
  char s[64];
} name;

static name immediate(uint64_t v) {
  name n = {{0}};
  if (v <= INT64_MAX)
    snprintf(n.s, sizeof n.s, "%" PRIu64, v);
  else
    snprintf(n.s, sizeof n.s, "0x%" PRIx64 "U", v);
  return n;
}

static name reg(const lower *c, uint32_t v) {
  name n = {{0}};
  const rewrite_lowering *l = c->l;
  const char *given = NULL;
  switch (c->p->vals[v].op) {
  case HD_P_CONST: return immediate(c->p->vals[v].imm);
  case HD_P_POS: snprintf(n.s, sizeof n.s, "%s", l->in); return n;
  case HD_P_CLUSTER: snprintf(n.s, sizeof n.s, "%s", l->cluster); return n;
  case HD_P_X:
  case HD_P_Y:
  case HD_P_Z: given = l->own[c->p->vals[v].op - HD_P_X]; break;
  case HD_P_NX:
  case HD_P_NY:
  case HD_P_NZ:
  case HD_P_V: given = l->dims[c->p->vals[v].op - HD_P_NX]; break;
  default: break;
  }
  if (given)
    snprintf(n.s, sizeof n.s, "%s", given);
  else
    snprintf(n.s, sizeof n.s, "%%%s_%c%u", l->prefix, is_wide(c, v) ? 'd' : 'r', v);
  return n;
}

static name temp(lower *c, bool wide) {
  name n;
  snprintf(n.s, sizeof n.s, "%%%s_%s%u", c->l->prefix, wide ? "s" : "t",
           wide ? c->n_temps64++ : c->n_temps32++);
  return n;
}

static name pred_of(const lower *c, uint32_t v) {
  name n;
  snprintf(n.s, sizeof n.s, "%%%s_p%u", c->l->prefix, v);
  return n;
}

static void emit(lower *c, const char *fmt, ...) HD_PRINTF(2, 3);
static void emit(lower *c, const char *fmt, ...) {
  char line[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  hd_buf_printf(c->text, "\t%s\n", line);
}

/* Operand v as a 64- or 32-bit register or immediate; the low half when narrowed. */
static name operand(lower *c, uint32_t v, bool wide) {
  name n = reg(c, v);
  if (is_const(c, v)) return wide ? n : immediate((uint32_t)c->p->vals[v].imm);
  if (reg_is_wide(c, v) == wide) return n;
  name t = temp(c, wide);
  emit(c, "cvt.u%d.u%d %s, %s;", wide ? 64 : 32, wide ? 32 : 64, t.s, n.s);
  return t;
}

static name condition(lower *c, uint32_t v) {
  if (is_compare(c, v)) return pred_of(c, v);
  name p;
  snprintf(p.s, sizeof p.s, "%%%s_q%u", c->l->prefix, c->n_preds++);
  bool wide = reg_is_wide(c, v);
  emit(c, "setp.ne.u%d %s, %s, 0;", wide ? 64 : 32, p.s, operand(c, v, wide).s);
  return p;
}

/* ---- Operations ---------------------------------------------------------------------- */

static const char *const simple_text[] = {
    [HD_P_ADD] = "add.u", [HD_P_SUB] = "sub.u", [HD_P_MUL] = "mul.lo.u", [HD_P_MIN] = "min.u",
    [HD_P_MAX] = "max.u", [HD_P_AND] = "and.b", [HD_P_OR] = "or.b",      [HD_P_XOR] = "xor.b",
};

/* The low half of the result depends on the low halves of the operands only. */
static bool is_modular(hd_pop op) {
  return op == HD_P_ADD || op == HD_P_SUB || op == HD_P_MUL || op == HD_P_AND || op == HD_P_OR ||
         op == HD_P_XOR;
}

static void lower_simple(lower *c, uint32_t i) {
  const hd_pval *v = &c->p->vals[i];
  bool wide = is_wide(c, i);
  if (v->op == HD_P_MUL && wide && !reg_is_wide(c, v->a) && !reg_is_wide(c, v->b) && !is_wide(c, v->a) &&
      !is_wide(c, v->b)) {
    uint32_t a = is_const(c, v->a) ? v->b : v->a, b = is_const(c, v->a) ? v->a : v->b;
    emit(c, "mul.wide.u32 %s, %s, %s;", reg(c, i).s, operand(c, a, false).s, operand(c, b, false).s);
    return;
  }
  /* min and max look at whole operands: compute at the wider width, then narrow. */
  bool compute_wide = wide || (!is_modular(v->op) && (is_wide(c, v->a) || is_wide(c, v->b)));
  name a = operand(c, v->a, compute_wide), b = operand(c, v->b, compute_wide);
  name r = compute_wide == wide ? reg(c, i) : temp(c, true);
  emit(c, "%s%d %s, %s, %s;", simple_text[v->op], compute_wide ? 64 : 32, r.s, a.s, b.s);
  if (compute_wide != wide) emit(c, "cvt.u32.u64 %s, %s;", reg(c, i).s, r.s);
}

static void lower_mad(lower *c, uint32_t i, uint32_t product, uint32_t other) {
  const hd_pval *m = &c->p->vals[product];
  bool negate = c->p->vals[i].op == HD_P_SUB && is_const(c, m->b); /* else a choice has been */
  name factor = negate ? immediate((uint32_t) - (uint32_t)c->p->vals[m->b].imm) : operand(c, m->b, false);
  name x = operand(c, m->a, false), y = operand(c, other, false);
  emit(c, "mad.lo.u32 %s, %s, %s, %s;", reg(c, i).s, x.s, factor.s, y.s);
}

/* mul.hi has shifted by `bits` already. */
static void put_high_shift(lower *c, int bits, const char *q, hd_magic m) {
  if (m.shift > (unsigned)bits) emit(c, "shr.u%d %s, %s, %u;", bits, q, q, m.shift - (unsigned)bits);
}

/* Quotient of v->a by v->b into a register of the wanted width. */
static void lower_div(lower *c, uint32_t i, const char *dst, bool dst_wide) {
  const hd_pval *v = &c->p->vals[i];
  bool wide = is_wide(c, v->a) || is_wide(c, v->b);
  int bits = wide ? 64 : 32;
  name n = c->fused[v->a] ? (name){{0}} : operand(c, v->a, wide), q;
  snprintf(q.s, sizeof q.s, "%s", dst);
  if (wide != dst_wide) q = temp(c, wide);
  uint64_t d = is_const(c, v->b) ? c->p->vals[v->b].imm : 0, max = c->p->vals[v->a].max;
  hd_magic magic;
  unsigned twos = d ? (unsigned)__builtin_ctzll(d) : 0;
  /* First: a product that is folded in so has no register. */
  if (scaled_magic(c, i, &magic)) {
    emit(c, "mul.hi.u32 %s, %s, %s;", q.s, operand(c, c->p->vals[v->a].a, false).s,
         immediate(magic.multiplier).s);
    put_high_shift(c, bits, q.s, magic);
  } else if (d && (d & (d - 1)) == 0) {
    emit(c, "shr.u%d %s, %s, %u;", bits, q.s, n.s, twos);
  } else if (d && hd_find_magic(d, max, (unsigned)bits, &magic)) {
    emit(c, "mul.hi.u%d %s, %s, %s;", bits, q.s, n.s, immediate(magic.multiplier).s);
    put_high_shift(c, bits, q.s, magic);
  } else if (d && twos && hd_find_magic(d >> twos, max >> twos, (unsigned)bits, &magic)) {
    /* An even divisor: shifting the operand first makes room for the multiplier. */
    emit(c, "shr.u%d %s, %s, %u;", bits, q.s, n.s, twos);
    emit(c, "mul.hi.u%d %s, %s, %s;", bits, q.s, q.s, immediate(magic.multiplier).s);
    put_high_shift(c, bits, q.s, magic);
  } else {
    emit(c, "div.u%d %s, %s, %s;", bits, q.s, n.s, operand(c, v->b, wide).s);
  }
  if (wide != dst_wide) emit(c, "cvt.u%d.u%d %s, %s;", dst_wide ? 64 : 32, bits, dst, q.s);
}

static bool lower_quotients(lower *c, uint32_t i) {
  const hd_pval *v = &c->p->vals[i];
  hd_magic magic[2];
  if (!c->fused[v->b] || !multipliers_of(c, i, magic)) return false;
  name m = temp(c, false), p = condition(c, v->a);
  emit(c, "selp.u32 %s, %s, %s, %s;", m.s, immediate(magic[0].multiplier).s, immediate(magic[1].multiplier).s,
       p.s);
  emit(c, "mul.hi.u32 %s, %s, %s;", reg(c, i).s, operand(c, c->p->vals[v->b].a, false).s, m.s);
  return true;
}

static void lower_rem(lower *c, uint32_t i) {
  const hd_pval *v = &c->p->vals[i];
  uint64_t d = is_const(c, v->b) ? c->p->vals[v->b].imm : 0;
  bool wide = is_wide(c, v->a) || is_wide(c, v->b), dst_wide = is_wide(c, i);
  int bits = wide ? 64 : 32;
  name n = operand(c, v->a, wide), r = wide == dst_wide ? reg(c, i) : temp(c, wide);
  if (d && (d & (d - 1)) == 0) {
    emit(c, "and.b%d %s, %s, %s;", bits, r.s, n.s, immediate(d - 1).s);
  } else {
    name q = temp(c, wide), back = temp(c, wide);
    lower_div(c, i, q.s, wide);
    emit(c, "mul.lo.u%d %s, %s, %s;", bits, back.s, q.s, operand(c, v->b, wide).s);
    emit(c, "sub.u%d %s, %s, %s;", bits, r.s, n.s, back.s);
  }
  if (wide != dst_wide) emit(c, "cvt.u%d.u%d %s, %s;", dst_wide ? 64 : 32, bits, reg(c, i).s, r.s);
}

static void lower_shift(lower *c, uint32_t i) {
  const hd_pval *v = &c->p->vals[i];
  bool dst_wide = is_wide(c, i), wide = dst_wide || is_wide(c, v->a);
  name r = wide == dst_wide ? reg(c, i) : temp(c, wide);
  emit(c, "%s%d %s, %s, %s;", v->op == HD_P_SHL ? "shl.b" : "shr.u", wide ? 64 : 32, r.s,
       operand(c, v->a, wide).s, operand(c, v->b, false).s);
  if (wide != dst_wide) emit(c, "cvt.u32.u64 %s, %s;", reg(c, i).s, r.s);
}

/* Comparison i to the predicate of value `to`; with `also`, that predicate must hold, too. PTX takes
 * constants on the right only. */
static void put_compare(lower *c, uint32_t i, uint32_t to, const char *also) {
  const hd_pval *v = &c->p->vals[i];
  bool wide = is_wide(c, v->a) || is_wide(c, v->b), turned = is_const(c, v->a) && v->op == HD_P_LT;
  name a = operand(c, turned ? v->b : v->a, wide), b = operand(c, turned ? v->a : v->b, wide);
  emit(c, "setp.%s%s.u%d %s, %s, %s%s%s;",
       v->op == HD_P_EQ ? "eq"
       : turned         ? "gt"
                        : "lt",
       also ? ".and" : "", wide ? 64 : 32, pred_of(c, to).s, a.s, b.s, also ? ", " : "", also ? also : "");
}

static void lower_compare(lower *c, uint32_t i) {
  if (c->joined[i]) return;
  put_compare(c, i, i, NULL);
  if (c->as_value[i]) emit(c, "selp.u32 %s, 1, 0, %s;", reg(c, i).s, pred_of(c, i).s);
}

static void lower_both(lower *c, uint32_t i) {
  const hd_pval *v = &c->p->vals[i];
  if (is_compare(c, v->a) && is_compare(c, v->b)) {
    if (c->joined[v->b])
      put_compare(c, v->b, i, pred_of(c, v->a).s);
    else
      emit(c, "and.pred %s, %s, %s;", pred_of(c, i).s, pred_of(c, v->a).s, pred_of(c, v->b).s);
    return;
  }
  uint32_t compare = is_compare(c, v->a) ? v->a : v->b, x = compare == v->a ? v->b : v->a;
  bool wide = reg_is_wide(c, x);
  emit(c, "setp.ne.and.u%d %s, %s, 0, %s;", wide ? 64 : 32, pred_of(c, i).s, operand(c, x, wide).s,
       pred_of(c, compare).s);
}

static void lower_move(lower *c, uint32_t to, uint32_t from) {
  bool wide = is_wide(c, to);
  emit(c, "mov.u%d %s, %s;", wide ? 64 : 32, reg(c, to).s, operand(c, from, wide).s);
}

static void lower_table(lower *c, uint32_t i) {
  const hd_pval *v = &c->p->vals[i];
  name base = temp(c, true), at = temp(c, true);
  unsigned bytes = c->l->table->bytes;
  if (c->l->table->name[0] == '%')
    snprintf(base.s, sizeof base.s, "%.60s", c->l->table->name);
  else
    emit(c, "mov.u64 %s, %s;", base.s, c->l->table->name);
  if (is_wide(c, v->a))
    emit(c, "mad.lo.u64 %s, %s, %u, %s;", at.s, operand(c, v->a, true).s, bytes, base.s);
  else
    emit(c, "mad.wide.u32 %s, %s, %u, %s;", at.s, operand(c, v->a, false).s, bytes, base.s);
  emit(c, "ld.%s.u%u %s, [%s];", c->l->table->constant ? "const" : "global", bytes * 8, reg(c, i).s, at.s);
}

static void lower_value(lower *c, uint32_t i, uint32_t *loops, uint32_t *depth) {
  const hd_pval *v = &c->p->vals[i];
  uint32_t product, other;
  if (c->fused[i]) return;
  if (c->both[i]) {
    lower_both(c, i);
    return;
  }
  if (product_of(c, i, &product, &other)) {
    lower_mad(c, i, product, other);
    return;
  }
  switch (v->op) {
  case HD_P_CONST:
  case HD_P_POS:
  case HD_P_CLUSTER:
  case HD_P_V: break;
  case HD_P_X:
  case HD_P_Y:
  case HD_P_Z:
    if (!c->l->own[v->op - HD_P_X])
      emit(c, "mov.u32 %s, %%%s.%c;", reg(c, i).s, c->l->clusters ? "clusterid" : "ctaid",
           "xyz"[v->op - HD_P_X]);
    break;
  case HD_P_NX:
  case HD_P_NY:
  case HD_P_NZ:
    if (!c->l->dims[v->op - HD_P_NX])
      emit(c, "mov.u32 %s, %%n%s.%c;", reg(c, i).s, c->l->clusters ? "clusterid" : "ctaid",
           "xyz"[v->op - HD_P_NX]);
    break;
  case HD_P_VAR: lower_move(c, i, v->a); break;
  case HD_P_ASSIGN: lower_move(c, v->a, v->b); break;
  case HD_P_DIV: lower_div(c, i, reg(c, i).s, is_wide(c, i)); break;
  case HD_P_REM: lower_rem(c, i); break;
  case HD_P_SHL:
  case HD_P_SHR: lower_shift(c, i); break;
  case HD_P_LT:
  case HD_P_EQ: lower_compare(c, i); break;
  case HD_P_SELECT: {
    if (lower_quotients(c, i)) break;
    bool wide = is_wide(c, i);
    name a = operand(c, v->b, wide), b = operand(c, v->c, wide), p = condition(c, v->a);
    if (c->negated[i]) {
      a = immediate((uint32_t) - (uint32_t)c->p->vals[v->b].imm);
      b = immediate((uint32_t) - (uint32_t)c->p->vals[v->c].imm);
    }
    emit(c, "selp.u%d %s, %s, %s, %s;", wide ? 64 : 32, reg(c, i).s, a.s, b.s, p.s);
    break;
  }
  case HD_P_LOOP:
    loops[(*depth)++] = c->n_loops;
    hd_buf_printf(c->text, "$%s_loop%u:\n", c->l->prefix, c->n_loops++);
    break;
  case HD_P_BREAK_IF:
    emit(c, "@%s bra $%s_done%u;", condition(c, v->a).s, c->l->prefix, loops[*depth - 1]);
    break;
  case HD_P_ENDLOOP:
    emit(c, "bra $%s_loop%u;", c->l->prefix, loops[--*depth]);
    hd_buf_printf(c->text, "$%s_done%u:\n", c->l->prefix, loops[*depth]);
    break;
  case HD_P_TABLE: lower_table(c, i); break;
  default: lower_simple(c, i); break;
  }
}

/* Declarations come first in the text, though the registers that are used are known last. A range costs
 * nothing where its registers are not used. */
static void declare(const lower *c, hd_buf *out) {
  const char *prefix = c->l->prefix;
  hd_buf_printf(out, "\t.reg .b32 %%%s_r<%u>;\n\t.reg .b64 %%%s_d<%u>;\n\t.reg .pred %%%s_p<%u>;\n", prefix,
                c->p->n, prefix, c->p->n, prefix, c->p->n);
  if (c->n_temps32) hd_buf_printf(out, "\t.reg .b32 %%%s_t<%u>;\n", prefix, c->n_temps32);
  if (c->n_temps64) hd_buf_printf(out, "\t.reg .b64 %%%s_s<%u>;\n", prefix, c->n_temps64);
  if (c->n_preds) hd_buf_printf(out, "\t.reg .pred %%%s_q<%u>;\n", prefix, c->n_preds);
}

hd_status rewrite_lower(const hd_prog *p, const rewrite_lowering *l, char names[3][64], hd_buf *text,
                        hd_diag *d) {
  hd_buf body = {0};
  lower c = {.p = p, .l = l, .text = &body};
  find_needed(&c);
  find_fused(&c);
  uint32_t loops[HD_PROG_MAX] = {0}, depth = 0;
  for (uint32_t i = 0; i < p->n; i++)
    if (c.needed[i]) lower_value(&c, i, loops, &depth);
  for (unsigned k = 0; k < 3; k++) {
    names[k][0] = 0;
    if (!l->want[k]) continue;
    /* A register of its own for a constant or a narrowed value, so that any instruction can read it; and for
     * another coordinate's register, which may get a new value first. */
    name n = operand(&c, p->out[k], false);
    hd_pop op = p->vals[p->out[k]].op;
    bool other = op >= HD_P_X && op <= HD_P_Z && op != HD_P_X + k && l->own[op - HD_P_X];
    if (is_const(&c, p->out[k]) || other) {
      name t = temp(&c, false);
      emit(&c, "mov.u32 %s, %s;", t.s, n.s);
      n = t;
    }
    snprintf(names[k], 64, "%s", n.s);
  }
  declare(&c, text);
  hd_buf_put(text, body.data ? body.data : "", body.len);
  bool failed = body.failed || text->failed;
  hd_buf_free(&body);
  return failed ? hd_nomem(d) : HD_OK;
}
