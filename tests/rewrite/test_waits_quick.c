/* Ways by which foreign values decide about a loop that have no name in the text: the carry, and code of the
 * system. */
#include "check.h"

#include "waits.h"

/* Follows a list by plain loads as long as the predicate %p1 is not set by `test`, of the pointer %rd2 in
 * halves %r1 and %r2. */
#define LIST(test)                                                                                           \
  KERNEL("mov.u64 %rd2, %rd1;\nL: ld.global.u64 %rd2, [%rd2];\nmov.b64 {%r1, %r2}, %rd2;\n" test             \
         "\n@!%p1 bra L;\nst.global.u32 [%rd1+64], %r7;")
#define TEST "setp.ne.u32 %p1, %r3, 0;"
/* A counted loop beside what is loaded, whose carry decides about nothing, or about what is stored. */
#define ROW(body)                                                                                            \
  KERNEL("mov.u32 %r5, 0;\nL: mul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd3, %rd1, %rd4;\nld.global.u32 %r1, "    \
         "[%rd3];\n" body "\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r8;\n@%p1 bra L;\n"                \
         "st.global.u32 [%rd1+64], %r3;")

static void the_carry_brings_what_is_loaded(void **state) {
  static const wait_case cases[] = {
      {"a borrow through both halves",
       LIST("sub.cc.u32 %r4, %r1, 1;\nsubc.cc.u32 %r4, %r2, 0;\nsubc.u32 %r3, 0, 0;\n" TEST), "ld.global"},
      {"a carry", LIST("add.cc.u32 %r4, %r1, -1;\naddc.u32 %r3, 0, 0;\nsetp.eq.u32 %p1, %r3, 0;"),
       "ld.global"},
      {"of a product", LIST("mad.lo.cc.u32 %r4, %r1, %r8, -1;\naddc.u32 %r3, 0, 0;\n" TEST), "ld.global"},
      {"of 64 bits", LIST("sub.cc.u64 %rd3, %rd2, 1;\nsubc.u32 %r3, 0, 0;\n" TEST), "ld.global"},
      {"into a product", LIST("sub.cc.u32 %r4, %r1, 1;\nmadc.lo.u32 %r3, %r8, 0, 0;\n" TEST), "ld.global"},
      {"of a guarded instruction",
       LIST("sub.cc.u32 %r4, %r1, 1;\nsetp.eq.u32 %p2, %r8, 1;\n@%p2 sub.cc.u32 %r4, 1, 0;\n"
            "subc.u32 %r3, 0, 0;\n" TEST),
       "ld.global"},
      {"of a block before",
       LIST("sub.cc.u32 %r4, %r1, 1;\nsetp.eq.u32 %p2, %r8, 1;\n@%p2 bra A;\nadd.u32 %r6, %r6, 1;\n"
            "A: subc.u32 %r3, 0, 0;\n" TEST),
       "ld.global"},
      {"of the round before",
       KERNEL("mov.u64 %rd2, %rd1;\nL: subc.u32 %r3, 0, 0;\nld.global.u64 %rd2, [%rd2];\nmov.b64 {%r1, %r2}, "
              "%rd2;\nsub.cc.u32 %r4, %r1, 1;\n" TEST "\n@!%p1 bra L;\nst.global.u32 [%rd1+64], %r7;"),
       "ld.global"},
  };
  static const wait_case others[] = {
      {"a sum of 64 bits, in halves", ROW("add.cc.u32 %r3, %r3, %r1;\naddc.u32 %r4, %r4, 0;"), NULL},
      {"the carry of another instruction, before the test",
       ROW("add.cc.u32 %r3, %r3, %r1;\naddc.u32 %r4, %r4, 0;\nadd.cc.u32 %r6, %r5, 1;\naddc.u32 %r9, 0, 0;\n"
           "setp.ne.u32 %p2, %r9, 0;\n@%p2 bra M;\nM:"),
       NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

#define MALLOC                                                                                               \
  "{\n.param .b64 a;\n.param .b64 b;\nst.param.b64 [a], 4194304;\ncall (b), malloc, (a);\nld.param.b64 "     \
  "%rd2, [b];\n}\n"
#define FREE "{\n.param .b64 a;\nst.param.b64 [a], %rd2;\ncall free, (a);\n}\n"
#define ASSERT                                                                                               \
  "{\n.param .b64 a;\n.param .b64 b;\n.param .b32 c;\n.param .b64 d;\n.param .b64 e;\n"                      \
  "st.param.b64 [a], %rd1;\nst.param.b64 [b], %rd1;\nst.param.b32 [c], 7;\nst.param.b64 [d], %rd1;\n"        \
  "st.param.b64 [e], 1;\ncall __assertfail, (a, b, c, d, e);\n}\n"
#define SYSTEM(body)                                                                                         \
  MODULE(".extern .func (.param .b64 out) malloc (.param .b64 size);\n.extern .func free (.param .b64 "      \
         "at);\n.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "    \
         ".param .b64 e);\n",                                                                                \
         body)
#define TRY(n) MALLOC "setp.ne.s64 %p" #n ", %rd2, 0;\n@%p" #n " bra M;\nnanosleep.u32 9999;\n"
#define FAILS(n) "setp.lt.u32 %p" #n ", %r8, " #n ";\n@!%p" #n " bra A" #n ";\n" ASSERT "A" #n ":\n"

/* Another CTA's threads may give memory back meanwhile. */
static void memory_of_the_system_is_a_look(void **state) {
  static const wait_case cases[] = {
      {"tried until there is some", SYSTEM("L: " MALLOC "setp.eq.s64 %p1, %rd2, 0;\n@%p1 bra L;\n" FREE),
       "malloc"},
      {"in each of so many rounds",
       SYSTEM("mov.u32 %r4, 0;\nL: " MALLOC "setp.ne.s64 %p1, %rd2, 0;\nselp.u32 %r1, 1, 0, %p1;\n"
              "add.u32 %r3, %r3, %r1;\n" FREE "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra "
              "L;\nst.global.u32 [%rd1], %r3;"),
       "malloc"},
  };
  static const wait_case written_out = {"three times in turn", SYSTEM(TRY(1) TRY(2) TRY(3) "M: " FREE), NULL};
  static const wait_case others[] = {
      {"twice", SYSTEM(TRY(1) TRY(2) "M: " FREE), NULL},
      {"two places, used and given back", SYSTEM(MALLOC "st.global.u32 [%rd2], %r7;\n" MALLOC FREE FREE),
       NULL},
      {"three assertions", SYSTEM(FAILS(1) FAILS(2) FAILS(3)), NULL},
      {"an assertion in a loop",
       SYSTEM("mov.u32 %r4, 0;\nL: " FAILS(1) "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, %r8;\n@%p2 bra "
                                              "L;\n"),
       NULL},
  };
  hd_refusal r = {0};
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
  if (!refusals(written_out.what, written_out.text, &r) || !strstr(r.what, "looks again and again"))
    fail_msg("%s: %s", written_out.what, r.what);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the carry brings what is loaded", the_carry_brings_what_is_loaded),
      BEHAVIOUR("memory of the system is a look", memory_of_the_system_is_a_look),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
