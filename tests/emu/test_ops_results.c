/* The rows of results.c against the emulator: what hd_ptx_result_of says of an instruction is what it
 * computes. */
#include "emu/ops_run.h"
#include "heddle/ptx_facts.h"

typedef unsigned __int128 bits128;

/* A number of the type, as bits of 128. */
static bits128 extended(uint64_t x, hd_ptx_type t, unsigned bits) {
  const unsigned away = 128 - bits;
  const bits128 up = (bits128)x << away;
  return t.number == HD_NUM_SIGNED ? (bits128)((__int128)up >> away) : up >> away;
}

/* Divided by 2^by, downwards. */
static bits128 halved(bits128 x, uint64_t by) { return (bits128)((__int128)x >> (by < 127 ? by : 127)); }

/* Division by 0 gives ones, on a GPU. */
static bits128 divided(bits128 a, bits128 b, bool is_signed, bool rest) {
  if (!b) return ~(bits128)0;
  if (is_signed) return (bits128)(rest ? (__int128)a % (__int128)b : (__int128)a / (__int128)b);
  return rest ? a % b : a / b;
}

typedef struct subject {
  hd_arena arena;
  hd_ptx_module *m;
  const hd_ptx_stmt *s;
  const hd_ptx_form *f;
  const hd_ptx_result *r;
} subject;

static void open_subject(subject *x, const char *name, const char *shape) {
  hd_buf text = {0};
  hd_diag d = {0};
  op_ptx_header(&text);
  op_kernel(&text, &(op_case){.name = name, .shape = shape}, 0);
  hd_arena_init(&x->arena);
  op_ok(hd_ptx_parse(text.data, text.len, "test.ptx", &x->arena, &x->m, &d), &d);
  hd_buf_free(&text);
  const hd_ptx_func *k = &x->m->funcs[0];
  for (uint32_t i = 0; i < k->n_stmts; i++) {
    if (k->stmts[i].kind != HD_S_INST || strcmp(x->m->forms[k->stmts[i].form].text, name) != 0) continue;
    const hd_ptx_opnd *o = &x->m->opnds[k->stmts[i].first_opnd];
    if (o->kind == HD_O_REG && strchr(x->m->syms[o->sym].name, '0')) x->s = &k->stmts[i];
  }
  assert_non_null(x->s);
  x->f = &x->m->forms[x->s->form];
  x->r = hd_ptx_result_of(x->m, x->s);
}

/* The whole result of the row, of operands x[0] (none), x[1], ... */
static bits128 evaluate(const subject *s, const bits128 x[4], bool is_signed) {
  const hd_ptx_term *t = s->r->terms;
  const bits128 a = x[t[0].of], b = x[t[0].by], c = x[t[1].of];
  const bool less = is_signed ? (__int128)a < (__int128)c : a < c;
  bits128 sum = 0;
  switch ((hd_ptx_makes)s->r->makes) {
  case HD_MAKES_SUM:
    for (unsigned k = 0; k < s->r->n_terms; k++) {
      bits128 y = x[t[k].of];
      if (t[k].by && t[k].power)
        y = x[t[k].by] < 128 ? y << x[t[k].by] : 0;
      else if (t[k].by)
        y *= x[t[k].by];
      sum += t[k].minus ? -y : y;
    }
    return sum;
  case HD_MAKES_QUOTIENT: return t->power ? halved(a, (uint64_t)b) : divided(a, b, is_signed, false);
  case HD_MAKES_REMAINDER: return divided(a, b, is_signed, true);
  case HD_MAKES_NEGATED: return -a;
  case HD_MAKES_MASKED: return a & b;
  case HD_MAKES_JOINED: return a | c;
  case HD_MAKES_LEAST: return less ? a : c;
  case HD_MAKES_GREATEST: return less ? c : a;
  case HD_MAKES_CHOICE: return x[3] & 1 ? a : c;
  default: fail_msg("%s: its result is not said", s->f->text); return 0;
  }
}

static uint64_t want(const char *name, const char *shape, subject *s, const uint64_t *operands) {
  hd_ptx_type type[2];
  bits128 x[4] = {0};
  if (!s->r) open_subject(s, name, shape);
  hd_ptx_types_of(s->f, type);
  const hd_ptx_type of = type[1].bits ? type[1] : type[0];
  for (uint32_t k = 1; k < s->s->n_opnds && k < 4; k++) {
    const bool by_power = s->r->terms[0].power && k == s->r->terms[0].by;
    const unsigned bits = by_power ? 32 : shape[1 + k] == 'p' ? 1 : op_bits(shape[1 + k]);
    x[k] = by_power ? operands[k - 1] : extended(operands[k - 1], of, bits);
  }
  return (uint64_t)evaluate(s, x, of.number == HD_NUM_SIGNED);
}

/* Each instruction of whole numbers whose row says what its result is. */
#define CASES(X)                                                                                             \
  X(ADD, u16, "add.u16", "h=hh")                                                                             \
  X(ADD, s32, "add.s32", "w=ww")                                                                             \
  X(ADD, u64, "add.u64", "d=dd")                                                                             \
  X(SUB, s16, "sub.s16", "h=hh")                                                                             \
  X(SUB, u32, "sub.u32", "w=ww")                                                                             \
  X(NEG, s16, "neg.s16", "h=h")                                                                              \
  X(NEG, s32, "neg.s32", "w=w")                                                                              \
  X(NEG, s64, "neg.s64", "d=d")                                                                              \
  X(SUB, s64, "sub.s64", "d=dd")                                                                             \
  X(MUL, lo_u16, "mul.lo.u16", "h=hh")                                                                       \
  X(MUL, lo_s32, "mul.lo.s32", "w=ww")                                                                       \
  X(MUL, lo_u64, "mul.lo.u64", "d=dd")                                                                       \
  X(MUL, wide_s16, "mul.wide.s16", "w=hh")                                                                   \
  X(MUL, wide_u32, "mul.wide.u32", "d=ww")                                                                   \
  X(MUL, wide_s32, "mul.wide.s32", "d=ww")                                                                   \
  X(MAD, lo_s32, "mad.lo.s32", "w=www")                                                                      \
  X(MAD, lo_u64, "mad.lo.u64", "d=ddd")                                                                      \
  X(MAD, wide_u32, "mad.wide.u32", "d=wwd")                                                                  \
  X(MAD, wide_s32, "mad.wide.s32", "d=wwd")                                                                  \
  X(SHL, b16, "shl.b16", "h=hw")                                                                             \
  X(SHL, b32, "shl.b32", "w=ww")                                                                             \
  X(SHL, b64, "shl.b64", "d=dw")                                                                             \
  X(SHR, u16, "shr.u16", "h=hw")                                                                             \
  X(SHR, s32, "shr.s32", "w=ww")                                                                             \
  X(SHR, u32, "shr.u32", "w=ww")                                                                             \
  X(SHR, s64, "shr.s64", "d=dw")                                                                             \
  X(SHR, b64, "shr.b64", "d=dw")                                                                             \
  X(DIV, u32, "div.u32", "w=ww")                                                                             \
  X(DIV, s32, "div.s32", "w=ww")                                                                             \
  X(DIV, s64, "div.s64", "d=dd")                                                                             \
  X(REM, u32, "rem.u32", "w=ww")                                                                             \
  X(REM, s32, "rem.s32", "w=ww")                                                                             \
  X(REM, u64, "rem.u64", "d=dd")                                                                             \
  X(AND, b32, "and.b32", "w=ww")                                                                             \
  X(AND, b64, "and.b64", "d=dd")                                                                             \
  X(OR, b32, "or.b32", "w=ww")                                                                               \
  X(OR, b64, "or.b64", "d=dd")                                                                               \
  X(MIN, u32, "min.u32", "w=ww")                                                                             \
  X(MIN, s64, "min.s64", "d=dd")                                                                             \
  X(MAX, s32, "max.s32", "w=ww")                                                                             \
  X(MAX, u64, "max.u64", "d=dd")                                                                             \
  X(SELP, b32, "selp.b32", "w=wwp")                                                                          \
  X(SELP, s64, "selp.s64", "d=ddp")                                                                          \
  X(MOV, b32, "mov.b32", "w=w")                                                                              \
  X(MOV, u64, "mov.u64", "d=d")                                                                              \
  X(CVT, u64_u32, "cvt.u64.u32", "d=w")                                                                      \
  X(CVT, s64_s32, "cvt.s64.s32", "d=w")                                                                      \
  X(CVT, u32_u64, "cvt.u32.u64", "w=d")                                                                      \
  X(CVT, s64_u32, "cvt.s64.u32", "d=w")                                                                      \
  X(CVT, u32_s16, "cvt.u32.s16", "w=h")

#define DEFINE(op, id, name, shape)                                                                          \
  static subject subject_##op##_##id;                                                                        \
  static uint64_t want_##op##_##id(uint64_t a, uint64_t b, uint64_t c, uint64_t e) {                         \
    return want(name, shape, &subject_##op##_##id, (const uint64_t[]){a, b, c, e});                          \
  }
#define ROW(op, id, name, shape) {name, shape, want_##op##_##id, NULL},
#define CLOSE(op, id, name, shape) hd_arena_free(&subject_##op##_##id.arena);
CASES(DEFINE)
static const op_case cases[] = {CASES(ROW)};

static void rows_are_what_is_computed(void **state) {
  op_check(cases, sizeof cases / sizeof *cases);
  CASES(CLOSE)
}

#define COVER(op, id, name, shape) covered[HD_OP_##op] = true;
static void no_row_is_left_out(void **state) {
  bool covered[HD_OP_COUNT] = {0};
  CASES(COVER)
  covered[HD_OP_FMA] = true; /* a sum of floats, which is rounded */
  for (hd_ptx_op op = 1; op < HD_OP_COUNT; op++) {
    const hd_ptx_makes makes = (hd_ptx_makes)hd_ptx_op_result(op)->makes;
    const bool says = makes != HD_MAKES_ANYTHING && makes != HD_MAKES_PLACE && makes != HD_MAKES_PART &&
                      makes != HD_MAKES_MIXED && makes != HD_MAKES_COMPARISON;
    if (says && !covered[op])
      fail_msg("no case for %s, whose row says what its result is", hd_ptx_op_text(op));
    if (!says && covered[op]) fail_msg("%s has a case, and its row says nothing", hd_ptx_op_text(op));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a result is what its row of the table says, of all kinds of whole numbers",
                rows_are_what_is_computed),
      BEHAVIOUR("each row that says what a result is has a case", no_row_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
