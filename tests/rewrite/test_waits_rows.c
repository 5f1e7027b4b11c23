/* Rows of flags that a loop goes through again and again. */
#include "check.h"

#include "waits.h"

#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\n"
/* In each of so many rounds a cycle from %r5 on, as long as it is below %r8, and more as the cycle ends. */
#define ROWS(begin, index, look, step, more)                                                                 \
  KERNEL("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r9, 0;\nL: " begin "\nR: " index                        \
         "\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd1, %rd3;\n" look "\nor.b32 %r3, %r3, %r1;\n" step   \
         "\nsetp.lt.u32 %p1, %r5, %r8;\n@%p1 bra R;\n" more "\n" COUNT "st.global.u32 [%rd2], %r3;")
#define ROW(begin, look) ROWS(begin, SAME, look, ONE, "")
#define SAME "mov.u32 %r6, %r5;"
#define ONE "add.u32 %r5, %r5, 1;"
#define VOLATILE "ld.volatile.global.u32 %r1, [%rd4];"
#define AROUND_L1 "ld.global.cg.u32 %r1, [%rd4];"
#define THREADS "mov.u32 %r2, %ntid.x;\nadd.u32 %r5, %r5, %r2;"

static void a_row_that_each_round_looks_through_anew_is_polled(void **state) {
  static const wait_case cases[] = {
      {"from the first on", ROW("mov.u32 %r5, 0;", VOLATILE), "ld.volatile"},
      {"from the thread's on", ROW("mov.u32 %r5, %tid.x;", VOLATILE), "ld.volatile"},
      {"a place for each thread", ROWS("mov.u32 %r5, %r7;", SAME, VOLATILE, THREADS, ""), "ld.volatile"},
      {"by acquiring", ROW("mov.u32 %r5, %r7;", "ld.acquire.gpu.global.u32 %r1, [%rd4];"), "ld.acquire"},
      {"by an atomic", ROW("mov.u32 %r5, %r7;", "atom.global.add.u32 %r1, [%rd4], 0;"), "atom"},
      {"backwards, as an index of what is left",
       ROWS("mov.u32 %r5, 0;", "sub.u32 %r6, %r8, %r5;", VOLATILE, ONE, ""), "ld.volatile"},
      {"every other one", ROWS("mov.u32 %r5, 0;", "shl.b32 %r6, %r5, 1;", VOLATILE, ONE, ""), "ld.volatile"},
      {"by powers of two", ROWS("mov.u32 %r5, 1;", SAME, VOLATILE, "shl.b32 %r5, %r5, 1;", ""),
       "ld.volatile"},
      {"a list of places",
       ROWS("mov.u32 %r5, 0;",
            "mul.wide.u32 %rd5, %r5, 4;\nadd.s64 %rd6, %rd2, %rd5;\nld.global.u32 %r6, [%rd6];", VOLATILE,
            ONE, ""),
       "ld.volatile"},
      {"plain, with a fence",
       ROWS("mov.u32 %r5, %r7;", SAME, "ld.global.u32 %r1, [%rd4];", ONE, "membar.gl;"), "ld.global"},
      {"around L1, and the threads sleep in between",
       ROWS("mov.u32 %r5, %r7;", SAME, AROUND_L1, ONE, "nanosleep.u32 99;"), "ld.global.cg"},
      {"in a row of the CTA",
       ROWS("mov.u32 %r2, %ctaid.x;\nmul.lo.u32 %r9, %r2, 64;\nmov.u32 %r5, 0;", "add.u32 %r6, %r5, %r9;",
            VOLATILE, ONE, ""),
       "ld.volatile"},
      {"floats that are summed up",
       ROW("mov.u32 %r5, %r7;", "ld.volatile.global.f32 %f1, [%rd4];\nadd.f32 %f2, %f1, %f2;"),
       "ld.volatile"},
      {"floats that are multiplied and compared",
       ROW("mov.u32 %r5, %r7;", "ld.volatile.global.f32 %f1, [%rd4];\nmul.f32 %f2, %f1, %f2;\n"
                                "setp.gt.f32 %p3, %f1, %f3;"),
       "ld.volatile"},
      {"by a pointer",
       KERNEL("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nadd.s64 %rd5, %rd1, 4096;\nL: mov.u64 %rd4, "
              "%rd1;\nR: " VOLATILE "\nor.b32 %r3, %r3, %r1;\nadd.s64 %rd4, %rd4, 4;\n"
              "setp.lt.u64 %p1, %rd4, %rd5;\n@%p1 bra R;\n" COUNT "st.global.u32 [%rd2], %r3;"),
       "ld.volatile"},
      {"in rows of a table, each of which is begun anew",
       KERNEL("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL: mov.u32 %r9, 0;\nS: mul.lo.u32 %r2, %r9, 64;\n"
              "mov.u32 %r5, 0;\nR: add.u32 %r6, %r5, %r2;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd1, "
              "%rd3;\n" VOLATILE "\nor.b32 %r3, %r3, %r1;\n" ONE
              "setp.lt.u32 %p1, %r5, %r8;\n@%p1 bra R;\nadd.u32 %r9, %r9, 1;\nsetp.lt.u32 %p3, %r9, %r8;\n"
              "@%p3 bra S;\n" COUNT "st.global.u32 [%rd2], %r3;"),
       "ld.volatile"},
  };
  static const wait_case others[] = {
      {"a row for each round",
       ROWS("mul.lo.u32 %r9, %r4, %r8;\nmov.u32 %r5, 0;", "add.u32 %r6, %r5, %r9;", VOLATILE, ONE, ""), NULL},
      {"a row for each round, by a sum",
       ROWS("mov.u32 %r5, 0;", "add.u32 %r6, %r5, %r9;", VOLATILE, ONE, "add.u32 %r9, %r9, %r8;"), NULL},
      {"one row, which goes on in each round",
       KERNEL("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nmov.u32 %r5, 0;\nL: add.u32 %r9, %r5, 64;\nR: mul.wide.u32 "
              "%rd3, %r5, 4;\nadd.s64 %rd4, %rd1, %rd3;\n" VOLATILE "\nor.b32 %r3, %r3, %r1;\n" ONE
              "setp.lt.u32 %p1, %r5, %r9;\n@%p1 bra R;\n" COUNT "st.global.u32 [%rd2], %r3;"),
       NULL},
      {"data around L1, as of a vector beside a matrix", ROW("mov.u32 %r5, 0;", AROUND_L1), NULL},
      {"factors of floats",
       ROW("mov.u32 %r5, %r7;", "ld.volatile.global.f32 %f1, [%rd4];\nfma.rn.f32 %f2, %f1, %f3, %f2;"), NULL},
      {"plain data", ROW("mov.u32 %r5, %r7;", "ld.global.u32 %r1, [%rd4];"), NULL},
      {"once",
       KERNEL("mov.u32 %r3, 0;\nmov.u32 %r5, %r7;\nR: mul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd1, "
              "%rd3;\n" VOLATILE "\nor.b32 %r3, %r3, %r1;\n" ONE
              "setp.lt.u32 %p1, %r5, %r8;\n@%p1 bra R;\nst.global.u32 [%rd2], %r3;"),
       NULL},
      {"sums in memory", ROW("mov.u32 %r5, %r7;", "atom.global.add.u32 %r0, [%rd4], 1;\nmov.u32 %r1, 0;"),
       NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a row that each round looks through anew is polled",
                a_row_that_each_round_looks_through_anew_is_polled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
