/* Loops that wait, or do not, in shapes that the other tables lack. */
#include "check.h"

#include "waits.h"

#define FUNCTION(body)                                                                                       \
  ".func (.param .b32 out) ask(.param .b64 where)\n{\n.reg .b32 %q<4>;\n.reg .b64 %w;\n.reg .pred %z<3>;\n"  \
  "ld.param.b64 %w, [where];\n" body "\nst.param.b32 [out], %q1;\nret;\n}\n"
#define CALL_ASK                                                                                             \
  "{\n.param .b64 a;\n.param .b32 b;\nst.param.b64 [a], %rd1;\ncall (b), ask, (a);\nld.param.b32 %r1, "      \
  "[b];\n}\n"

static void waits_in_other_shapes_are_refused(void **state) {
  static const wait_case cases[] = {
      {"a function that polls so many times",
       MODULE(
           FUNCTION("mov.u32 %q2, 0;\nL: ld.volatile.u32 %q1, [%w];\nsetp.ne.u32 %z1, %q1, 0;\n@%z1 bra M;\n"
                    "add.u32 %q2, %q2, 1;\nsetp.lt.u32 %z2, %q2, 99;\n@%z2 bra L;\nM:"),
           CALL_ASK),
       "ld.volatile"},
      {"a function that looks once, so many times",
       MODULE(FUNCTION("ld.acquire.gpu.u32 %q1, [%w];"),
              "mov.u32 %r2, 0;\nL: " CALL_ASK "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nadd.u32 %r2, %r2, 1;\n"
              "setp.lt.u32 %p2, %r2, 99;\n@%p2 bra L;\nM:"),
       "ld.acquire"},
      {"one thread looks for its CTA, so many times",
       KERNEL(
           "mov.u32 %r2, 0;\nL: setp.ne.u32 %p2, %r7, 0;\n@%p2 bra A;\nld.volatile.global.u32 %r1, [%rd1];\n"
           "st.shared.u32 [slot], %r1;\nA: bar.sync 0;\nld.shared.u32 %r3, [slot];\nbar.sync 0;\n"
           "setp.ne.u32 %p1, %r3, 0;\n@%p1 bra M;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, 99;\n@%p3 bra "
           "L;\nM:"),
       "ld.volatile"},
      {"a time-out that is counted in shared memory",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nld.shared.u32 "
              "%r2, [slot];\n"
              "add.u32 %r2, %r2, 1;\nst.shared.u32 [slot], %r2;\nsetp.lt.u32 %p2, %r2, 99;\n@%p2 bra L;\nM:"),
       "ld.volatile"},
      {"a time-out that is counted in global memory",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n"
              "atom.global.add.u32 %r2, [%rd1+64], 1;\nsetp.lt.u32 %p2, %r2, 99;\n@%p2 bra L;\nM:"),
       "ld.volatile"},
      {"by vote, so many times",
       KERNEL("mov.u32 %r2, 0;\nL: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p2, %r1, 0;\n"
              "vote.sync.all.pred %p1, %p2, -1;\n@%p1 bra M;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p3, %r2, "
              "99;\n@%p3 bra L;\nM:"),
       "ld.volatile"},
      {"64 bits of rounds",
       KERNEL(
           "mov.u64 %rd2, 0;\nL: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n"
           "add.s64 %rd2, %rd2, 1;\nsetp.lt.s64 %p2, %rd2, 99;\n@%p2 bra L;\nM:"),
       "ld.volatile"},
      {"left by a table of branches",
       KERNEL("mov.u32 %r2, 0;\nL: ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r2, 1;\nsetp.gt.u32 "
              "%p1, %r2, 99;\n"
              "@%p1 bra M;\nT: .branchtargets L, M;\nbrx.idx %r1, T;\nM:"),
       "ld.volatile"},
      {"left by exit under a guard",
       KERNEL(
           "mov.u32 %r2, 0;\nL: ld.volatile.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 exit;\n"
           "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 99;\n@%p2 bra L;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void places_that_come_round_in_other_shapes_are_refused(void **state) {
  static const wait_case cases[] = {
      {"an index that stops at the last place",
       KERNEL("mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.cg.u32 "
              "%r1, [%rd3];\n"
              "add.u32 %r2, %r2, 1;\nmin.u32 %r2, %r2, 9;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global.cg"},
      {"the same, by plain loads",
       KERNEL("mov.u32 %r2, %r8;\nL: mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 "
              "%r1, [%rd3];\n"
              "add.s32 %r3, %r2, -1;\nmax.s32 %r2, %r3, 0;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global"},
      {"a byte of the index",
       KERNEL(
           "mov.u32 %r2, 0;\nL: cvt.u32.u8 %r3, %r2;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
           "ld.global.cg.u32 %r1, [%rd3];\nadd.u32 %r2, %r2, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global.cg"},
      {"two registers that change places",
       KERNEL("add.s64 %rd2, %rd1, 4;\nL: ld.global.cg.u32 %r1, [%rd1];\nmov.u64 %rd3, %rd1;\nmov.u64 %rd1, "
              "%rd2;\n"
              "mov.u64 %rd2, %rd3;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global.cg"},
      {"a ring in a cycle with two entries",
       KERNEL("mov.u32 %r2, 0;\nsetp.eq.u32 %p3, %r8, 0;\n@%p3 bra B;\nA: mul.wide.u32 %rd2, %r2, "
              "4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.u32 %r1, [%rd3];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nB: add.u32 %r2, %r2, 1;\n"
              "setp.eq.u32 %p2, %r2, %r8;\n@%p2 mov.u32 %r2, 0;\nbra A;\nM:"),
       "ld.global"},
      {"a list around L1, so many of its nodes",
       KERNEL("mov.u32 %r2, 0;\nL: ld.global.cg.u64 %rd1, [%rd1];\nsetp.eq.u64 %p1, %rd1, 0;\n@%p1 bra M;\n"
              "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra L;\nM:"),
       "ld.global.cg"},
      {"work, while a flag is down",
       KERNEL("L: ld.volatile.global.u32 %r2, [%rd1+8];\nsetp.ne.u32 %p2, %r2, 0;\n@%p2 bra M;\n"
              "atom.global.add.u32 %r1, [%rd1], 1;\nsetp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;\nM:"),
       "ld.volatile"},
      {"places of a table that comes round, each taken by a swap",
       KERNEL("mov.u32 %r3, 0;\nmov.u32 %r2, %r7;\nL: and.b32 %r2, %r2, 15;\nmul.wide.u32 %rd2, %r2, "
              "4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "atom.global.cas.b32 %r1, [%rd3], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra M;\nadd.u32 %r2, "
              "%r2, 1;\n"
              "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 16;\n@%p2 bra L;\nM:"),
       "atom"},
      {"a lock of each bucket, opened by an index of its own",
       KERNEL("mul.wide.s32 %rd2, %r7, 12;\nadd.s64 %rd3, %rd1, %rd2;\nL: atom.global.cas.b32 %r1, [%rd3], "
              "0, 1;\n"
              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.u32 [%rd3], 0;\nmul.wide.s32 %rd4, %r8, 12;\n"
              "add.s64 %rd5, %rd1, %rd4;\nst.volatile.global.u32 [%rd5], 0;"),
       "atom"},
      {"a lock under a generic address",
       KERNEL("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\ncvta.to.global.u64 %rd2, %rd1;\n"
              "L: atom.global.cas.b32 %r1, [%rd2], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra "
              "L;\nst.global.u32 [%rd2], 0;\nret;\n"
              "O: st.volatile.u32 [%rd1], 0;"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

static void loops_in_other_shapes_are_accepted(void **state) {
  static const wait_case cases[] = {
      {"a list, so many of its nodes",
       KERNEL("mov.u32 %r2, 0;\nL: ld.global.u64 %rd1, [%rd1];\nsetp.eq.u64 %p1, %rd1, 0;\n@%p1 bra M;\n"
              "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 9;\n@%p2 bra L;\nM:"),
       NULL},
      {"a lower bound by pointers",
       KERNEL(
           "mov.u64 %rd2, 77;\nL: shr.u64 %rd3, %rd2, 1;\nshl.b64 %rd4, %rd3, 2;\nadd.s64 %rd5, %rd1, %rd4;\n"
           "ld.global.u32 %r1, [%rd5];\nsetp.lt.u32 %p1, %r1, %r7;\nadd.s64 %rd6, %rd5, 4;\nnot.b64 %rd7, "
           "%rd3;\n"
           "add.s64 %rd8, %rd2, %rd7;\nselp.b64 %rd1, %rd6, %rd1, %p1;\nselp.b64 %rd2, %rd8, %rd3, %p1;\n"
           "setp.gt.s64 %p2, %rd2, 0;\n@%p2 bra L;"),
       NULL},
      {"an interval of signed numbers, by half of the distance",
       KERNEL(
           "mov.u32 %r1, 0;\nmov.u32 %r2, %r8;\nL: sub.s32 %r3, %r2, %r1;\nshr.u32 %r4, %r3, 31;\nadd.s32 "
           "%r5, %r3, %r4;\n"
           "shr.s32 %r6, %r5, 1;\nadd.s32 %r0, %r1, %r6;\nmul.wide.s32 %rd2, %r0, 4;\nadd.s64 %rd3, %rd1, "
           "%rd2;\n"
           "ld.global.f32 %f1, [%rd3];\nsetp.lt.f32 %p1, %f1, %f2;\n@%p1 bra A;\nmov.u32 %r2, %r0;\nbra B;\n"
           "A: add.s32 %r1, %r0, 1;\nB: setp.lt.s32 %p2, %r1, %r2;\n@%p2 bra L;"),
       NULL},
      {"pivots of one or two rows",
       KERNEL("mov.u32 %r2, %r8;\nL: add.s32 %r3, %r2, -1;\nmul.wide.s32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, "
              "%rd2;\n"
              "ld.global.u32 %r1, [%rd3];\nshr.s32 %r4, %r1, 31;\nadd.s32 %r2, %r3, %r4;\nsetp.gt.s32 %p1, "
              "%r2, 0;\n@%p1 bra L;"),
       NULL},
      {"a table that does not come round, each place taken by a swap",
       KERNEL("mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "atom.global.cas.b32 %r1, [%rd3], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra M;\nadd.u32 %r2, "
              "%r2, 1;\n"
              "setp.lt.u32 %p2, %r2, 16;\n@%p2 bra L;\nM:"),
       NULL},
      {"an index that is narrowed again to the bits that it had",
       KERNEL(
           "mov.u32 %r2, 0;\nL: cvt.u64.u32 %rd2, %r2;\nshl.b64 %rd4, %rd2, 2;\nadd.s64 %rd3, %rd1, %rd4;\n"
           "ld.global.cg.u32 %r1, [%rd3];\ncvt.u32.u64 %r3, %rd2;\nadd.u32 %r2, %r3, 1;\nsetp.eq.u32 %p1, "
           "%r1, 0;\n@%p1 bra L;"),
       NULL},
      {"rows that end where a list of them says",
       KERNEL("A: mul.wide.s32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r1, "
              "[%rd3];\nld.global.u32 %r2, [%rd3+4];\n"
              "L: mul.wide.s32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.cg.u32 %r3, "
              "[%rd5];\nsetp.eq.u32 %p1, %r3, 0;\n"
              "@%p1 bra B;\nadd.s32 %r1, %r1, 1;\nsetp.lt.s32 %p2, %r1, %r2;\n@%p2 bra L;\nB: add.s32 %r7, "
              "%r7, 32;\n"
              "setp.lt.s32 %p3, %r7, %r8;\n@%p3 bra A;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("waits in other shapes are refused", waits_in_other_shapes_are_refused),
      BEHAVIOUR("places that come round in other shapes are refused",
                places_that_come_round_in_other_shapes_are_refused),
      BEHAVIOUR("loops in other shapes that end are accepted", loops_in_other_shapes_are_accepted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
