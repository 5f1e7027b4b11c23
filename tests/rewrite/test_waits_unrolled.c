/* Polls whose rounds are written out, and what stands in between. */
#include "check.h"

#include "waits.h"

/* Three rounds and what follows. */
#define LOOKS(a, b, c, rest) KERNEL(a b c rest)
#define LOOK(n, load) LOOK_AS(n, n, load " %r" #n ", [%rd1];")
#define FENCED(load, n) "membar.gl;\n" LOOK(n, load ".u32")
#define TRY_LOCK(n) LOOK_AS(n, n, "atom.global.cas.b32 %r" #n ", [%rd1], 0, 1;") "nanosleep.u32 9;\n"
#define OPEN_LOCK "membar.gl;\natom.global.exch.b32 %r4, [%rd1], 0;"
#define EPOCH(n, pair)                                                                                       \
  "ld.volatile.global.u32 %r" #n ", [%rd1];\nsetp.eq.u32 %p" #n ", " pair ";\n@%p" #n " bra M;\n"
#define PAIR(n) LOOK_AS(n, n, "ld.volatile.global.v2.u32 {%r" #n ", %r5}, [%rd1];")
#define LOOK_AS(r, p, look) look "\nsetp.eq.u32 %p" #p ", %r" #r ", 0;\n@%p" #p " bra M;\n"

#define BIT(n)                                                                                               \
  "ld.volatile.global.u32 %r" #n ", [%rd1];\nand.b32 %r4, %r" #n ", 8;\nsetp.ne.u32 %p" #n                   \
  ", %r4, 0;\n@%p" #n " bra M;\n"
#define HALF(n)                                                                                              \
  "ld.volatile.global.u64 %rd2, [%rd1];\ncvt.u32.u64 %r" #n ", %rd2;\nsetp.ne.u32 %p" #n ", %r" #n           \
  ", 0;\n@%p" #n " bra M;\n"
#define SUMMED(n) "ld.volatile.global.u32 %r" #n ", [%rd1];\nor.b32 %r5, %r5, %r" #n ";\nnanosleep.u32 99;\n"
#define GUARDED "setp.eq.u32 %p1, %r1, 0;\n@%p1 nanosleep.u32 99;\n@%p1 ld.volatile.global.u32 %r1, [%rd1];\n"
#define RESTS(n)                                                                                             \
  "R" #n ": nanosleep.u32 9;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p5, %r6, 9" #n ";\n@%p5 bra R" #n ";\n"
#define FOR_CTA(n)                                                                                           \
  "setp.ne.u32 %p5, %r7, 0;\n@%p5 bra B" #n ";\nld.volatile.global.u32 %r" #n                                \
  ", [%rd1];\nst.shared.u32 [slot], %r" #n ";\n"                                                             \
  "B" #n ": bar.sync 0;\nld.shared.u32 %r4, [slot];\nbar.sync 0;\nsetp.ne.u32 %p" #n ", %r4, 0;\n@%p" #n     \
  " bra M;\n"
#define ASKED(n) CALL_ASK "setp.ne.u32 %p" #n ", %r1, 0;\n@%p" #n " bra M;\n"
#define ADD_ONE(n)                                                                                           \
  "ld.volatile.global.u32 %r" #n ", [%rd1];\nadd.u32 %r4, %r" #n ", 1;\nst.volatile.global.u32 [%rd1], "     \
  "%r4;\n"
#define UPDATE(n)                                                                                            \
  "ld.volatile.global.u32 %r1, [%rd1];\nU" #n ": mov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 1;\n"                  \
  "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra U" #n ";\n"

static void expect_looks(const wait_case *cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    hd_refusal r = {0};
    if (!refusals(cases[i].what, cases[i].text, &r)) fail_msg("%s: not refused", cases[i].what);
    if (r.kind != HD_REFUSE_GRID_SYNC || !strstr(r.what, cases[i].at) ||
        !strstr(r.what, "looks again and again"))
      fail_msg("%s: %s", cases[i].what, r.what);
  }
}

static void polls_are_counted_whatever_becomes_of_the_values(void **state) {
  static const wait_case cases[] = {
      {"a bit of a flag", LOOKS(BIT(1), BIT(2), BIT(3), "trap;\nM:"), "ld.volatile"},
      {"half of a word", LOOKS(HALF(1), HALF(2), HALF(3), "trap;\nM:"), "ld.volatile"},
      {"all summed up, with pauses", KERNEL(SUMMED(1) SUMMED(2) SUMMED(3) "st.global.u32 [%rd1+64], %r5;"),
       "ld.volatile"},
      {"under guards",
       KERNEL("ld.volatile.global.u32 %r1, [%rd1];\n" GUARDED GUARDED "st.global.u32 [%rd1+64], %r1;"),
       "ld.volatile"},
      {"the last one selects",
       LOOKS(LOOK(1, "ld.volatile.global.u32"), LOOK(2, "ld.volatile.global.u32"),
             "ld.volatile.global.u32 %r3, [%rd1];\nsetp.ne.u32 %p3, %r3, 0;\nselp.b32 %r4, 1, 0, %p3;\n"
             "st.global.u32 [%rd1+64], %r4;\n",
             "M:"),
       "ld.volatile"},
      {"loops that only rest in between",
       LOOKS(LOOK(1, "ld.volatile.global.u32") RESTS(1), LOOK(2, "ld.volatile.global.u32") RESTS(2),
             LOOK(3, "ld.volatile.global.u32"), "trap;\nM:"),
       "ld.volatile"},
      {"by loads of other types, and through a copy of the pointer",
       LOOKS("mov.u64 %rd2, %rd1;\n" LOOK(1, "ld.volatile.global.u32"), LOOK(2, "ld.volatile.global.s32"),
             LOOK_AS(3, 3, "ld.volatile.global.b32 %r3, [%rd2];"), "trap;\nM:"),
       "ld.volatile"},
      {"by one thread for its CTA", LOOKS(FOR_CTA(1), FOR_CTA(2), FOR_CTA(3), "trap;\nM:"), "ld.volatile"},
      {"a swap of what a register holds",
       LOOKS(LOOK_AS(1, 1, "atom.global.cas.b32 %r1, [%rd1], %r8, %r8;"),
             LOOK_AS(2, 2, "atom.global.cas.b32 %r2, [%rd1], %r8, %r8;"),
             LOOK_AS(3, 3, "atom.global.cas.b32 %r3, [%rd1], %r8, %r8;"), "trap;\nM:"),
       "atom"},
      {"through a function",
       MODULE(FUNCTION("ld.volatile.u32 %q1, [%w];"), ASKED(1) ASKED(2) ASKED(3) "trap;\nM:"), "ld.volatile"},
      {"a number that grows between the looks",
       LOOKS(EPOCH(1, "%r1, %r4") "add.u32 %r4, %r4, 1;\n", EPOCH(2, "%r2, %r4") "add.u32 %r4, %r4, 1;\n",
             EPOCH(3, "%r3, %r4"), "st.global.u32 [%rd1+64], %r7;\nM:"),
       "ld.volatile"},
      {"a choice among three numbers",
       KERNEL("ld.volatile.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 1;\n@%p1 bra M;\n"
              "ld.volatile.global.u32 %r2, [%rd1];\nsetp.eq.u32 %p2, %r2, 2;\n@%p2 bra M;\n"
              "ld.volatile.global.u32 %r3, [%rd1];\nsetp.eq.u32 %p3, %r3, 3;\n@%p3 bra M;\n"
              "st.global.u32 [%rd1+64], %r7;\nM:"),
       "ld.volatile"},
  };
  expect_looks(cases, sizeof cases / sizeof *cases);
}

/* Compilers write the rounds of a short loop out. */
static void polls_without_a_loop_are_refused(void **state) {
  static const wait_case cases[] = {
      {"a flag",
       KERNEL(LOOK_AS(1, 1, "ld.volatile.global.u32 %r1, [%rd1];")
                  LOOK_AS(2, 2, "ld.volatile.global.u32 %r2, [%rd1];")
                      LOOK_AS(3, 3, "ld.volatile.global.u32 %r3, [%rd1];") "trap;\nM:"),
       "ld.volatile"},
      {"a flag, by atomics",
       KERNEL(LOOK_AS(1, 1, "atom.global.or.b32 %r1, [%rd1+8], 0;")
                  LOOK_AS(2, 2, "atom.global.or.b32 %r2, [%rd1+8], 0;")
                      LOOK_AS(3, 3, "atom.global.or.b32 %r3, [%rd1+8], 0;") "trap;\nM:"),
       "atom"},
      {"a lock, with pauses", LOOKS(TRY_LOCK(1), TRY_LOCK(2), TRY_LOCK(3), "ret;\nM: " OPEN_LOCK), "atom"},
      {"a flag of an epoch, which a parameter gives",
       LOOKS(EPOCH(1, "%r1, %r8"), EPOCH(2, "%r2, %r8"), EPOCH(3, "%r3, %r8"), "trap;\nM:"), "ld.volatile"},
      {"the same, the epoch on the left",
       LOOKS(EPOCH(1, "%r8, %r1"), EPOCH(2, "%r8, %r2"), EPOCH(3, "%r8, %r3"), "trap;\nM:"), "ld.volatile"},
      {"a flag in a vector", LOOKS(PAIR(1), PAIR(2), PAIR(3), "trap;\nM:"), "ld.volatile"},
      {"by plain loads, each behind a fence",
       LOOKS(FENCED("ld.global", 1), FENCED("ld.global", 2), FENCED("ld.global", 3), "trap;\nM:"),
       "ld.global"},
      {"by loads of the CTA's scope, each behind a fence",
       LOOKS(FENCED("ld.relaxed.cta.global", 1), FENCED("ld.relaxed.cta.global", 2),
             FENCED("ld.relaxed.cta.global", 3), "trap;\nM:"),
       "ld.relaxed.cta"},
  };
  static const wait_case others[] = {
      {"a test in front of a lock, and behind it",
       KERNEL(LOOK_AS(1, 1, "ld.volatile.global.u32 %r1, [%rd1];")
                  LOOK_AS(2, 2, "ld.volatile.global.u32 %r2, [%rd1];") "st.global.u32 [%rd1+4], %r7;\nM:"),
       NULL},
      {"three places",
       KERNEL(LOOK_AS(1, 1, "ld.volatile.global.u32 %r1, [%rd1];")
                  LOOK_AS(2, 2, "ld.volatile.global.u32 %r2, [%rd1+4];") LOOK_AS(
                      3, 3, "ld.volatile.global.u32 %r3, [%rd1+8];") "st.global.u32 [%rd1+64], %r7;\nM:"),
       NULL},
      {"by plain loads without a fence",
       LOOKS(LOOK(1, "ld.global.u32"), LOOK(2, "ld.global.u32"), LOOK(3, "ld.global.u32"),
             "st.global.u32 [%rd1+64], %r7;\nM:"),
       NULL},
      {"by plain loads with a fence of the CTA",
       LOOKS(LOOK(1, "ld.global.u32"), "membar.cta;\n" LOOK(2, "ld.global.u32"),
             "membar.cta;\n" LOOK(3, "ld.global.u32"), "st.global.u32 [%rd1+64], %r7;\nM:"),
       NULL},
      {"data that are read three times at once",
       KERNEL("ld.volatile.global.f32 %f1, [%rd1];\nld.volatile.global.f32 %f2, [%rd1];\nmul.f32 %f3, %f1, "
              "%f2;\n"
              "ld.volatile.global.f32 %f4, [%rd1];\nmul.f32 %f5, %f3, %f4;\nst.global.f32 [%rd1+64], %f5;"),
       NULL},
      {"a sum that grows by three", KERNEL(ADD_ONE(1) "bar.sync 0;\n" ADD_ONE(2) "bar.sync 0;\n" ADD_ONE(3)),
       NULL},
      {"three updates by swaps", KERNEL(UPDATE(1) UPDATE(2) UPDATE(3)), NULL},
      {"three numbers that an atomic hands out",
       LOOKS(LOOK_AS(1, 1, "atom.global.add.u32 %r1, [%rd1], 1;"),
             LOOK_AS(2, 2, "atom.global.add.u32 %r2, [%rd1], 1;"),
             LOOK_AS(3, 3, "atom.global.add.u32 %r3, [%rd1], 1;"), "st.global.u32 [%rd1+64], %r7;\nM:"),
       NULL},
      {"two looks on each of two paths",
       KERNEL("setp.eq.u32 %p5, %r8, 0;\n@%p5 bra A;\n" LOOK(1, "ld.volatile.global.u32")
                  LOOK(2, "ld.volatile.global.u32") "bra M;\nA: " LOOK(3, "ld.volatile.global.u32")
                      LOOK(4, "ld.volatile.global.u32") "M:"),
       NULL},
  };
  expect_looks(cases, sizeof cases / sizeof *cases);
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("polls without a loop are refused", polls_without_a_loop_are_refused),
      BEHAVIOUR("looks without a loop are counted, whatever becomes of the values",
                polls_are_counted_whatever_becomes_of_the_values),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
