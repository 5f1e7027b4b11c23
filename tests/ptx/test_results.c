/* How results come from operands: what is said of each kind of instruction, and of which nothing is. */
#include "heddle/ptx_facts.h"
#include "ptx_test.h"

/* "1*2 + 3", "1 - 2", "1*2^2", "quotient 1/2^2", "anything" */
static void describe_result(const hd_ptx_result *r, hd_buf *b) {
  static const char *const names[] = {
      [HD_MAKES_ANYTHING] = "anything",   [HD_MAKES_SUM] = "",
      [HD_MAKES_PLACE] = "place",         [HD_MAKES_QUOTIENT] = "quotient",
      [HD_MAKES_REMAINDER] = "remainder", [HD_MAKES_MASKED] = "masked",
      [HD_MAKES_PART] = "part",           [HD_MAKES_JOINED] = "joined",
      [HD_MAKES_NEGATED] = "0",           [HD_MAKES_MIXED] = "mixed",
      [HD_MAKES_LEAST] = "least",         [HD_MAKES_GREATEST] = "greatest",
      [HD_MAKES_CHOICE] = "choice",       [HD_MAKES_COMPARISON] = "comparison",
  };
  hd_buf_clear(b);
  hd_buf_puts(b, names[r->makes]);
  for (unsigned k = 0; k < r->n_terms; k++) {
    const hd_ptx_term *t = &r->terms[k];
    hd_buf_printf(b, "%s%u",
                  t->minus                        ? " - "
                  : k && r->makes == HD_MAKES_SUM ? " + "
                  : b->len                        ? " "
                                                  : "",
                  t->of);
    if (t->by) hd_buf_printf(b, t->power ? "*2^%u" : "*%u", t->by);
  }
}

static const struct {
  const char *text, *want;
} RESULTS[] = {
    {"mov.u32 %r1, %r2", "1"},
    {"mov.f32 %f1, %f2", "1"},
    {"cvt.s64.s32 %d1, %r1", "1"},
    {"cvta.to.global.u64 %d1, %d2", "place 1"},
    {"add.s64 %d1, %d2, %d3", "1 + 2"},
    {"add.cc.u32 %r1, %r2, %r3", "1 + 2"},
    {"sub.u16 %h1, %h2, %h3", "1 - 2"},
    {"neg.s32 %r1, %r2", "0 - 1"},
    {"mul.lo.s32 %r1, %r2, %r3", "1*2"},
    {"mul.wide.u32 %d1, %r2, %r3", "1*2"},
    {"mad.lo.s32 %r1, %r2, %r3, %r4", "1*2 + 3"},
    {"shl.b32 %r1, %r2, 3", "1*2^2"},
    {"shr.s32 %r1, %r2, 3", "quotient 1*2^2"},
    {"div.u32 %r1, %r2, 3", "quotient 1*2"},
    {"rem.u32 %r1, %r2, 3", "remainder 1*2"},
    {"and.b32 %r1, %r2, 3", "masked 1*2"},
    {"or.b32 %r1, %r2, 3", "joined 1 2"},
    {"min.s32 %r1, %r2, %r3", "least 1 2"},
    {"max.s32 %r1, %r2, %r3", "greatest 1 2"},
    {"selp.b32 %r1, %r2, %r3, %p1", "choice 1 2"},
    {"setp.hi.u32 %p1, %r2, %r3", "comparison 1 2"},
    {"mul.hi.u32 %r1, %r2, %r3", "part"},
    {"bfe.u32 %r1, %r2, 3, 4", "part"},
    {"xor.b32 %r1, %r2, %r3", "mixed"},
    /* of which nothing is said */
    {"mad.hi.u32 %r1, %r2, %r3, %r4", "anything"},
    {"add.sat.s32 %r1, %r2, %r3", "anything"},
    {"cvt.sat.u8.s32 %r1, %r2", "anything"},
    {"min.relu.s32 %r1, %r2, %r3", "anything"},
    {"add.u16x2 %r1, %r2, %r3", "anything"},
    {"add.f32 %f1, %f2, %f3", "anything"},
    {"fma.rn.f32 %f1, %f2, %f3, %f4", "anything"},
    {"setp.lt.f32 %p1, %f2, %f3", "anything"},
    {"cvt.rn.f16x2.f32 %r1, %f1, %f2", "anything"},
    {"addc.u32 %r1, %r2, %r3", "anything"},
    {"add.neverseen.s32 %r1, %r2, %r3", "anything"},
    {"add.s32 %r1, %r2", "anything"},
    {"add.s32 %r1, %r2, %r3, %r4", "anything"},
    {"popc.b32 %r1, %r2", "anything"},
    {"neverseen.b32 %r1, %r2, %r3", "anything"},
    {"ld.global.u32 %r1, [%d1]", "anything"},
};

/* A kernel of one instruction. */
static const hd_ptx_module *parse_statement(hd_arena *a, const char *statement) {
  char text[512];
  snprintf(text, sizeof text,
           HEADER ".entry k() { .reg .b16 %%h<9>; .reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .f32 %%f<9>; "
                  ".reg .pred %%p<9>; %s; }",
           statement);
  return parse(a, text);
}

static const hd_ptx_stmt *first_statement(const hd_ptx_module *m) {
  const hd_ptx_stmt *s = m->funcs[0].stmts;
  while (s->kind != HD_S_INST) s++;
  return s;
}

static void results_come_from_operands(void **state) {
  hd_buf b = {0};
  for (size_t i = 0; i < sizeof RESULTS / sizeof *RESULTS; i++) {
    hd_arena a;
    hd_arena_init(&a);
    const hd_ptx_module *m = parse_statement(&a, RESULTS[i].text);
    const hd_ptx_stmt *s = first_statement(m);
    describe_result(hd_ptx_result_of(m, s), &b);
    if (strcmp(b.data, RESULTS[i].want) != 0)
      fail_msg("%s: %s, not %s", RESULTS[i].text, b.data, RESULTS[i].want);
    hd_arena_free(&a);
  }
  assert_int_equal(hd_ptx_op_result(HD_OP_UNKNOWN)->makes, HD_MAKES_ANYTHING);
  assert_int_equal(hd_ptx_op_result(HD_OP_COUNT)->makes, HD_MAKES_ANYTHING);
  hd_buf_free(&b);
}

static const struct {
  const char *text;
  uint32_t operand;
  int64_t value, want;
} NUMBERS[] = {
    {"shr.u32 %r1, %r2, 3", 2, INT64_C(1) << 32, 0},
    {"shl.b64 %d1, %d2, 3", 2, (INT64_C(1) << 32) + 3, 3},
    {"shl.b64 %d1, %d2, 3", 1, INT64_C(1) << 32, INT64_C(1) << 32},
    {"mul.wide.u32 %d1, %r2, 3", 2, INT64_C(1) << 32, 0},
    {"mul.wide.u32 %d1, %r2, 3", 1, -1, UINT32_MAX},
    {"mul.wide.s32 %d1, %r2, 3", 2, UINT32_MAX, -1},
    {"mul.wide.u16 %r1, %h2, 3", 2, 65537, 1},
    {"mad.wide.u32 %d1, %r2, 3, %d3", 3, INT64_C(1) << 32, INT64_C(1) << 32},
    {"mad.wide.u16 %r1, %h2, 3, %r3", 3, 65536, 65536},
    {"mul.lo.u64 %d1, %d2, 3", 2, INT64_C(1) << 32, INT64_C(1) << 32},
    {"add.u32 %r1, %r2, 3", 2, -1, -1},
    {"add.s32 %r1, %r2, 3", 2, UINT32_MAX, -1},
    {"div.u32 %r1, %r2, 3", 2, (INT64_C(1) << 32) + 2, 2},
    {"setp.lt.u32 %p1, %r2, 3", 2, (INT64_C(1) << 32) + 2, 2},
    {"cvt.s64.s32 %d1, 3", 1, UINT32_MAX, -1},
    {"popc.b32 %r1, 3", 1, INT64_C(1) << 32, INT64_C(1) << 32}, /* of which nothing is said */
};

static void numbers_are_cut_to_the_types_of_operands(void **state) {
  for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++) {
    hd_arena a;
    hd_arena_init(&a);
    const hd_ptx_module *m = parse_statement(&a, NUMBERS[i].text);
    const hd_ptx_stmt *s = first_statement(m);
    const int64_t found =
        hd_ptx_number_of(&m->forms[s->form], hd_ptx_result_of(m, s), NUMBERS[i].operand, NUMBERS[i].value);
    if (found != NUMBERS[i].want)
      fail_msg("%s: %lld of %lld", NUMBERS[i].text, (long long)found, (long long)NUMBERS[i].value);
    hd_arena_free(&a);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("it is known how results come from operands, and of no form for which the table is wrong",
                results_come_from_operands),
      BEHAVIOUR("numbers are cut to the types of operands", numbers_are_cut_to_the_types_of_operands),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
