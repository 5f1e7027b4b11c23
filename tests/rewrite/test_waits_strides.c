/* Strides of the launch that may be 0: places a stride apart are one place then. */
#include "check.h"

#include "waits.h"

/* %r8, %r4 and %rd5 are numbers of the launch, %r5 and %r6 small ones; the stride is in %r9. */
#define LAUNCHED(body)                                                                                       \
  HEAD ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m, .param .u64 wide, .param .u16 "       \
       "few, .param .u8 flag)\n{\n" DECLARATIONS START                                                       \
       "ld.param.u32 %r4, [m];\nld.param.u64 %rd5, [wide];\nld.param.u16 %h1, [few];\n"                      \
       "cvt.u32.u16 %r5, %h1;\nld.param.u8 %h2, [flag];\ncvt.u32.u16 %r6, %h2;\n" body "\nret;\n}\n"
#define PLACE "mul.wide.s32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
#define LOOK PLACE "ld.volatile.global.u32 %r1, [%rd4];\nor.b32 %r3, %r3, %r1;\n"
/* In each of so many rounds, and three times in turn. */
#define ROUNDS(stride)                                                                                       \
  LAUNCHED(stride "mov.u32 %r2, 0;\nmov.u32 %r0, 0;\nL: " LOOK "add.s32 %r2, %r2, %r9;\n"                    \
                  "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p2, %r0, 1000;\n@%p2 bra L;\n"                         \
                  "st.global.u32 [%rd1+64], %r3;")
#define TIMES(stride)                                                                                        \
  LAUNCHED(stride "mov.u32 %r0, 0;\nL: mul.lo.s32 %r2, %r0, %r9;\n" LOOK                                     \
                  "add.u32 %r0, %r0, 1;\nsetp.lt.u32 %p2, %r0, 1000;\n@%p2 bra L;\n"                         \
                  "st.global.u32 [%rd1+64], %r3;")
#define TURN(stride)                                                                                         \
  LAUNCHED(stride "mov.u32 %r2, 8;\n" LOOK "nanosleep.u32 99;\nadd.s32 %r2, %r9, 8;\n" LOOK                  \
                  "nanosleep.u32 99;\nmad.lo.s32 %r2, %r9, 2, 8;\n" LOOK "st.global.u32 [%rd1+64], %r3;")

typedef struct stride_case {
  const char *what, *rounds, *times, *turn;
} stride_case;
#define STRIDE(what, stride)                                                                                 \
  { what, ROUNDS(stride "\n"), TIMES(stride "\n"), TURN(stride "\n") }

static bool is_refused(const char *what, const char *text) {
  hd_refusal r = {0};
  const size_t n = refusals(what, text, &r);
  if (n && (r.kind != HD_REFUSE_GRID_SYNC || !strstr(r.what, "ld.volatile")))
    fail_msg("%s: %s", what, r.what);
  return n;
}

static void expect_strides(const stride_case *cases, size_t n, bool refused) {
  for (size_t i = 0; i < n; i++) {
    const char *const way[] = {"in steps", "by a product", "in turn"};
    const char *const text[] = {cases[i].rounds, cases[i].times, cases[i].turn};
    for (size_t k = 0; k < 3; k++)
      if (is_refused(cases[i].what, text[k]) != refused)
        fail_msg("%s, %s: %srefused", cases[i].what, way[k], refused ? "not " : "");
  }
}

static void a_stride_that_is_a_difference_may_be_0(void **state) {
  static const stride_case cases[] = {
      STRIDE("the CTA's size less 1", "mov.u32 %r9, %ntid.y;\nsub.u32 %r9, %r9, 1;"),
      STRIDE("the same, added", "mov.u32 %r9, %ntid.y;\nadd.s32 %r9, %r9, -1;"),
      STRIDE("the same, of 32 bits", "mov.u32 %r9, %ntid.y;\nadd.u32 %r9, %r9, 4294967295;"),
      STRIDE("the grid's size less 1", "mov.u32 %r9, %nctaid.x;\nadd.s32 %r9, %r9, -1;"),
      STRIDE("the CTA's size less a warp", "mov.u32 %r9, %ntid.x;\nadd.s32 %r9, %r9, -32;"),
      STRIDE("1 less a parameter", "sub.s32 %r9, 1, %r8;"),
      STRIDE("a parameter less another", "sub.s32 %r9, %r8, %r4;"),
      STRIDE("twice one less another", "shl.b32 %r9, %r8, 1;\nsub.s32 %r9, %r9, %r4;"),
      STRIDE("a square less another",
             "mul.lo.s32 %r9, %r8, %r8;\nmul.lo.s32 %r2, %r4, %r4;\nsub.s32 %r9, %r9, %r2;"),
      STRIDE("a product of a difference", "add.s32 %r9, %r4, -1;\nmul.lo.s32 %r9, %r9, %r8;"),
      STRIDE("a parameter less the grid's size", "mov.u32 %r9, %nctaid.x;\nsub.s32 %r9, %r8, %r9;"),
      STRIDE("the grid's size less the CTA's",
             "mov.u32 %r9, %nctaid.x;\nmov.u32 %r2, %ntid.x;\nsub.s32 %r9, %r9, %r2;"),
      STRIDE("a difference of 64 bits",
             "cvt.s64.s32 %rd6, %r8;\nsub.s64 %rd6, %rd5, %rd6;\ncvt.u32.u64 %r9, %rd6;"),
      STRIDE("a sum less a third", "mov.u32 %r9, %ntid.x;\nadd.s32 %r9, %r9, %r8;\nsub.s32 %r9, %r9, %r4;"),
      STRIDE("a difference that is negated", "sub.s32 %r9, %r8, %r4;\nneg.s32 %r9, %r9;"),
      STRIDE("a parameter and another that is negated", "neg.s32 %r9, %r4;\nadd.s32 %r9, %r9, %r8;"),
      STRIDE("a difference or a parameter",
             "sub.s32 %r9, %r8, %r4;\nsetp.gt.u32 %p3, %r7, 5;\nselp.b32 %r9, %r9, %r8, %p3;"),
  };
  static const stride_case others[] = {
      STRIDE("a parameter and another", "add.s32 %r9, %r8, %r4;"),
      STRIDE("a parameter and 1", "add.s32 %r9, %r8, 1;"),
      STRIDE("a parameter, backwards", "sub.s32 %r9, 0, %r8;"),
      STRIDE("a parameter that is negated", "neg.s32 %r9, %r8;"),
      STRIDE("both, negated", "add.s32 %r9, %r8, %r4;\nneg.s32 %r9, %r9;"),
      STRIDE("64 bits that are negated", "neg.s64 %rd6, %rd5;\ncvt.u32.u64 %r9, %rd6;"),
      STRIDE("both, backwards", "sub.s32 %r9, 0, %r8;\nsub.s32 %r9, %r9, %r4;"),
      STRIDE("a difference less its part", "sub.s32 %r9, %r8, %r4;\nsub.s32 %r9, %r9, %r8;"),
      STRIDE("a product of sums", "add.s32 %r9, %r4, 1;\nmul.lo.s32 %r9, %r9, %r8;"),
  };
  expect_strides(cases, sizeof cases / sizeof *cases, true);
  expect_strides(others, sizeof others / sizeof *others, false);
}

static void a_parameter_of_few_bits_may_be_0(void **state) {
  static const stride_case cases[] = {
      STRIDE("8 bits", "mov.u32 %r9, %r6;"),
      STRIDE("16 bits", "mov.u32 %r9, %r5;"),
      STRIDE("8 bits times a parameter", "mul.lo.s32 %r9, %r6, %r8;"),
      STRIDE("twice 16 bits", "shl.b32 %r9, %r5, 1;"),
      STRIDE("8 bits, loaded as 32", "ld.param.u8 %r9, [flag];"),
      STRIDE("8 bits of 32", "ld.param.u8 %r9, [n];"),
      STRIDE("16 bits of 32, signed", "ld.param.s16 %r9, [n];"),
  };
  static const stride_case others[] = {
      STRIDE("32 bits", "mov.u32 %r9, %r4;"),
      STRIDE("64 bits", "cvt.u32.u64 %r9, %rd5;"),
  };
  expect_strides(cases, sizeof cases / sizeof *cases, true);
  expect_strides(others, sizeof others / sizeof *others, false);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a stride that is a difference may be 0", a_stride_that_is_a_difference_may_be_0),
      BEHAVIOUR("a parameter of few bits may be 0", a_parameter_of_few_bits_may_be_0),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
