/* Constant expressions, folded while they are read.
 *
 * Integers are 64-bit and signed unless written with U or above 2^63 - 1; operators follow C's rules for
 * int64_t and uint64_t, except that % is always unsigned, a shift count is taken modulo 64, ~ gives an
 * unsigned value, and ?: has the type of the operand it selects. ptxas computes the same. Floats are 64-bit.
 */
#include "ptx/lexer.h"

typedef enum binary_op {
  OP_LOR = 1,
  OP_LAND,
  OP_OR,
  OP_XOR,
  OP_AND,
  OP_EQ,
  OP_NE,
  OP_LT,
  OP_LE,
  OP_GT,
  OP_GE,
  OP_SHL,
  OP_SHR,
  OP_ADD,
  OP_SUB,
  OP_MUL,
  OP_DIV,
  OP_REM,
} binary_op;

static const uint8_t precedence[] = {
    [OP_LOR] = 1, [OP_LAND] = 2, [OP_OR] = 3,  [OP_XOR] = 4,  [OP_AND] = 5,  [OP_EQ] = 6,
    [OP_NE] = 6,  [OP_LT] = 7,   [OP_LE] = 7,  [OP_GT] = 7,   [OP_GE] = 7,   [OP_SHL] = 8,
    [OP_SHR] = 8, [OP_ADD] = 9,  [OP_SUB] = 9, [OP_MUL] = 10, [OP_DIV] = 10, [OP_REM] = 10,
};

/* The binary operator at p and its length; 0: none. */
static binary_op operator_at(const char *p, unsigned *len) {
  *len = 1;
  switch (p[0]) {
  case '|': return p[1] == '|' ? (*len = 2, OP_LOR) : OP_OR;
  case '&': return p[1] == '&' ? (*len = 2, OP_LAND) : OP_AND;
  case '=': return p[1] == '=' ? (*len = 2, OP_EQ) : (binary_op)0;
  case '!': return p[1] == '=' ? (*len = 2, OP_NE) : (binary_op)0;
  case '<': return p[1] == '=' ? (*len = 2, OP_LE) : p[1] == '<' ? (*len = 2, OP_SHL) : OP_LT;
  case '>': return p[1] == '=' ? (*len = 2, OP_GE) : p[1] == '>' ? (*len = 2, OP_SHR) : OP_GT;
  case '^': return OP_XOR;
  case '+': return OP_ADD;
  case '-': return OP_SUB;
  case '*': return OP_MUL;
  case '/': return OP_DIV;
  case '%': return OP_REM;
  default: return (binary_op)0;
  }
}

static hd_ptx_opnd integer(uint64_t bits, bool is_unsigned) {
  return (hd_ptx_opnd){.kind = HD_O_INT, .flags = is_unsigned ? HD_OF_UNSIGNED : 0, .bits = bits};
}

static hd_ptx_opnd real(double v) {
  hd_ptx_opnd o = {.kind = HD_O_F64};
  memcpy(&o.bits, &v, sizeof v);
  return o;
}

static double real_value(const hd_ptx_opnd *o) {
  if (o->kind == HD_O_INT) return o->flags & HD_OF_UNSIGNED ? (double)o->bits : (double)o->imm;
  double v;
  memcpy(&v, &o->bits, sizeof v);
  return v;
}

static hd_ptx_opnd fold_real(ptx_parser *ps, const char *at, binary_op op, double a, double b) {
  switch (op) {
  case OP_EQ: return integer(a == b, false);
  case OP_NE: return integer(a != b, false);
  case OP_LT: return integer(a < b, false);
  case OP_LE: return integer(a <= b, false);
  case OP_GT: return integer(a > b, false);
  case OP_GE: return integer(a >= b, false);
  case OP_ADD: return real(a + b);
  case OP_SUB: return real(a - b);
  case OP_MUL: return real(a * b);
  case OP_DIV: return real(a / b);
  default: ptx_fail(ps, at, "this operator takes integers");
  }
}

static hd_ptx_opnd fold(ptx_parser *ps, const char *at, binary_op op, const hd_ptx_opnd *x,
                        const hd_ptx_opnd *y) {
  if (x->kind == HD_O_F32 || y->kind == HD_O_F32)
    ptx_fail(ps, at, "a 0f literal cannot be part of an expression");
  if (x->kind == HD_O_F64 || y->kind == HD_O_F64) return fold_real(ps, at, op, real_value(x), real_value(y));
  uint64_t a = x->bits, b = y->bits;
  int64_t sa = x->imm, sb = y->imm;
  bool u = ((x->flags | y->flags) & HD_OF_UNSIGNED) != 0, left_u = (x->flags & HD_OF_UNSIGNED) != 0;
  if ((op == OP_DIV || op == OP_REM) && b == 0) ptx_fail(ps, at, "division by zero");
  switch (op) {
  case OP_LOR: return integer(a || b, false);
  case OP_LAND: return integer(a && b, false);
  case OP_OR: return integer(a | b, u);
  case OP_XOR: return integer(a ^ b, u);
  case OP_AND: return integer(a & b, u);
  case OP_EQ: return integer(a == b, false);
  case OP_NE: return integer(a != b, false);
  case OP_LT: return integer(u ? a < b : sa < sb, false);
  case OP_LE: return integer(u ? a <= b : sa <= sb, false);
  case OP_GT: return integer(u ? a > b : sa > sb, false);
  case OP_GE: return integer(u ? a >= b : sa >= sb, false);
  case OP_SHL: return integer(a << (b & 63), left_u);
  case OP_SHR: return integer(left_u ? a >> (b & 63) : (uint64_t)(sa >> (b & 63)), left_u);
  case OP_ADD: return integer(a + b, u);
  case OP_SUB: return integer(a - b, u);
  case OP_MUL: return integer(a * b, u);
  case OP_DIV: /* INT64_MIN / -1 wraps */
    return integer(u ? a / b : sb == -1 ? 0 - a : (uint64_t)(sa / sb), u);
  case OP_REM: return integer(a % b, true);
  }
  __builtin_unreachable();
}

static const char *conditional(ptx_parser *ps, const char *p, hd_ptx_opnd *out, unsigned depth);

/* "(.s64)" or "(.u64)" at p: sets *u and returns its end, else NULL. */
static const char *cast(ptx_parser *ps, const char *p, bool *u) {
  const char *type = ptx_peek(ps, p + 1);
  if (strncmp(type, ".s64", 4) != 0 && strncmp(type, ".u64", 4) != 0) return NULL;
  *u = type[1] == 'u';
  p = ptx_blank(ps, ptx_blank(ps, p + 1) + 4);
  return ptx_eat(ps, p, ')');
}

static void require_integer(ptx_parser *ps, const char *at, const hd_ptx_opnd *o) {
  if (o->kind != HD_O_INT) ptx_fail(ps, at, "expected an integer");
}

static const char *unary(ptx_parser *ps, const char *p, hd_ptx_opnd *out, unsigned depth) {
  if (depth > PTX_MAX_DEPTH) ptx_fail(ps, p, "the expression is nested more than %d deep", PTX_MAX_DEPTH);
  const char *at = p;
  char c = *p;
  if (PTX_IS(c, PTX_C_DIGIT) || c == '.') return ptx_blank(ps, ptx_number(ps, p, out));
  switch (c) {
  case '+': return unary(ps, ptx_blank(ps, p + 1), out, depth + 1);
  case '-':
    p = unary(ps, ptx_blank(ps, p + 1), out, depth + 1);
    if (out->kind == HD_O_F32) ptx_fail(ps, at, "a 0f literal cannot be part of an expression");
    *out = out->kind == HD_O_F64 ? real(-real_value(out))
                                 : integer(0 - out->bits, (out->flags & HD_OF_UNSIGNED) != 0);
    return p;
  case '!':
  case '~':
    p = unary(ps, ptx_blank(ps, p + 1), out, depth + 1);
    require_integer(ps, at, out);
    *out = c == '!' ? integer(!out->bits, false) : integer(~out->bits, true);
    return p;
  case '(': {
    bool u;
    const char *inner = cast(ps, p, &u);
    if (inner) {
      p = unary(ps, inner, out, depth + 1);
      require_integer(ps, at, out);
      *out = integer(out->bits, u);
      return p;
    }
    p = conditional(ps, ptx_blank(ps, p + 1), out, depth + 1);
    return ptx_eat(ps, p, ')');
  }
  default:
    if (strncmp(p, "WARP_SZ", 7) == 0 && !PTX_IS(p[7], PTX_C_IDENT)) {
      *out = integer(32, false);
      return ptx_blank(ps, p + 7);
    }
    ptx_expected(ps, p, "a constant");
  }
}

/* Operators that bind at least as tightly as `least`, after the operand in *out. */
static const char *binary(ptx_parser *ps, const char *p, hd_ptx_opnd *out, unsigned least, unsigned depth) {
  unsigned len;
  binary_op op;
  while ((op = operator_at(p, &len)) != 0 && precedence[op] >= least) {
    const char *at = p;
    hd_ptx_opnd rhs;
    p = unary(ps, ptx_blank(ps, p + len), &rhs, depth + 1);
    p = binary(ps, p, &rhs, precedence[op] + 1u, depth + 1);
    *out = fold(ps, at, op, out, &rhs);
  }
  return p;
}

static const char *conditional_rest(ptx_parser *ps, const char *p, hd_ptx_opnd *out, unsigned depth) {
  p = binary(ps, p, out, 1, depth);
  if (*p != '?') return p;
  require_integer(ps, p, out);
  hd_ptx_opnd yes, no;
  p = conditional(ps, ptx_blank(ps, p + 1), &yes, depth + 1);
  p = ptx_eat(ps, p, ':');
  p = conditional(ps, p, &no, depth + 1);
  *out = out->bits ? yes : no;
  return p;
}

static const char *conditional(ptx_parser *ps, const char *p, hd_ptx_opnd *out, unsigned depth) {
  return conditional_rest(ps, unary(ps, p, out, depth), out, depth);
}

const char *ptx_expr(ptx_parser *ps, const char *p, hd_ptx_opnd *out) { return conditional(ps, p, out, 0); }

const char *ptx_expr_rest(ptx_parser *ps, const char *p, hd_ptx_opnd *out) {
  return conditional_rest(ps, p, out, 0);
}

const char *ptx_int_expr(ptx_parser *ps, const char *p, int64_t *out) {
  hd_ptx_opnd o;
  const char *end = ptx_expr(ps, p, &o);
  require_integer(ps, p, &o);
  *out = o.imm;
  return end;
}
