/* Weak looks whose address may move: of data, or the rounds of a poll. */
#include "check.h"

#include "waits.h"

#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\n"
#define ROUNDS_AFTER(before, look)                                                                           \
  KERNEL("mov.u32 %r4, 0;\nmov.u32 %r6, 0;\n" before "\nL: " look "\nor.b32 %r3, %r3, %r1;\n" COUNT          \
         "st.global.u32 [%rd2], %r3;")
#define ROUNDS(look) ROUNDS_AFTER("", look)
/* %r4 is the number of the round; a word by the index %r5. */
#define INDEXED "mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
#define AROUND_L1(index) ROUNDS(index "\n" INDEXED "ld.global.cg.u32 %r1, [%rd4];")

/* Beside a row of data that the loop goes through. */
#define BESIDE(index)                                                                                        \
  AROUND_L1(index "\nmul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd2, %rd5;\n" ROW "or.b32 %r3, %r3, %r2;\n")
#define ROW "ld.global.u32 %r2, [%rd6];\n"
#define FENCED(index) ROUNDS(index "\n" INDEXED "ld.global.u32 %r1, [%rd4];\nmembar.gl;")
#define SLEEPS(index) BESIDE("nanosleep.u32 99;\n" index)

static void a_weak_look_that_may_stay_reads_data_beside_data_only(void **state) {
  static const wait_case cases[] = {
      {"an upper part of the counter", AROUND_L1("shr.u32 %r5, %r4, 6;"), "ld.global.cg"},
      {"whole tens", AROUND_L1("rem.u32 %r5, %r4, 10;\nsub.u32 %r5, %r4, %r5;"), "ld.global.cg"},
      {"a float of it",
       AROUND_L1("cvt.rn.f32.u32 %f1, %r4;\nmul.f32 %f1, %f1, 0f3c800000;\n"
                 "cvt.rzi.u32.f32 %r5, %f1;"),
       "ld.global.cg"},
      {"a step that the value decides",
       ROUNDS_AFTER("mov.u32 %r5, 0;", INDEXED "ld.global.cg.u32 %r1, [%rd4];\nmin.u32 %r0, %r1, 1;\n"
                                               "add.u32 %r5, %r5, %r0;"),
       "ld.global.cg"},
      {"not the first bytes", AROUND_L1("shr.u32 %r5, %r4, 6;\nadd.u32 %r5, %r5, 3;"), "ld.global.cg"},
      {"a counter down, and its upper part", AROUND_L1("sub.u32 %r5, 9999, %r4;\nshr.u32 %r5, %r5, 9;"),
       "ld.global.cg"},
      {"beside another that may stay",
       AROUND_L1("ld.global.cg.u32 %r2, [%rd2];\nor.b32 %r3, %r3, %r2;\nshr.u32 %r5, %r4, 6;"),
       "ld.global.cg"},
      {"beside data, while the thread sleeps", SLEEPS("shr.u32 %r5, %r4, 6;"), "ld.global.cg"},
      {"plain, with a fence", FENCED("shr.u32 %r5, %r4, 6;"), "ld.global"},
      {"plain, with a fence, a quotient", FENCED("div.u32 %r5, %r4, %r8;"), "ld.global"},
      {"plain, with a fence, an index that is turned over", FENCED("xor.b32 %r5, %r4, 64;"), "ld.global"},
      {"plain, with a fence, beside data",
       ROUNDS("shr.u32 %r5, %r4, 6;\n" INDEXED "ld.global.u32 %r1, [%rd4];\n"
              "mul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd2, %rd5;\n" ROW
              "add.u32 %r1, %r1, %r2;\nmembar.gl;"),
       "ld.global"},
  };
  static const wait_case others[] = {
      {"an upper part of the counter, beside data", BESIDE("shr.u32 %r5, %r4, 6;"), NULL},
      {"a quotient, beside data", BESIDE("div.u32 %r5, %r4, %r8;"), NULL},
      {"an index that is turned over, beside data", BESIDE("xor.b32 %r5, %r4, %r7;"), NULL},
      {"a random number, beside data",
       BESIDE("mad.lo.u32 %r6, %r6, 1664525, 1013904223;\nshr.u32 %r5, %r6, 8;"), NULL},
      {"a quotient, and what the loop stores",
       AROUND_L1("div.u32 %r5, %r4, %r8;\nmul.wide.u32 %rd5, %r4, 4;\nadd.s64 %rd6, %rd2, %rd5;\n"
                 "st.global.u32 [%rd6], %r3;"),
       NULL},
      {"plain, an upper part of the counter",
       ROUNDS("shr.u32 %r5, %r4, 6;\n" INDEXED "ld.global.u32 %r1, [%rd4];"), NULL},
      {"plain, with a fence, each element", FENCED("mov.u32 %r5, %r4;"), NULL},
      {"each element, while the thread sleeps",
       ROUNDS("nanosleep.u32 99;\nmov.u32 %r5, %r4;\n" INDEXED "ld.global.cg.u32 %r1, [%rd4];"), NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a weak look that may stay reads data beside data only",
                a_weak_look_that_may_stay_reads_data_beside_data_only),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
