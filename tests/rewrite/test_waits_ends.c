/* Loops that end whatever other CTAs write, and those that only seem to. */
#include "check.h"

#include "waits.h"

/* ---- Loops that do not wait ------------------------------------------------------------------- */

static void loops_that_do_not_wait_for_the_value_are_accepted(void **state) {
  static const wait_case cases[] = {
      {"acquire in the CTA", POLL("ld.acquire.cta.global.u32 %r1, [%rd1];"), NULL},
      {"relaxed in the CTA", POLL("ld.relaxed.cta.u32 %r1, [%rd1];"), NULL},
      {"an atomic of the CTA", POLL("atom.cta.global.add.u32 %r1, [%rd1], 0;"), NULL},
      {"volatile, of shared memory", POLL("ld.volatile.shared.u32 %r1, [slot];"), NULL},
      {"volatile, of shared memory under a generic address",
       KERNEL("mov.u64 %rd2, slot;\ncvta.shared.u64 %rd3, %rd2;\nL: ld.volatile.u32 %r1, [%rd3];\n"
              "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       NULL},
      {"an mbarrier of the CTA",
       KERNEL("mov.u32 %r2, slot;\nL: mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;\n@!%p1 bra L;"),
       NULL},
      {"a volatile sum of a row",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nadd.s64 %rd1, %rd1, 4;\nadd.u32 %r3, %r3, "
              "%r1;\nadd.u32 %r2, %r2, 1;\n"
              "setp.lt.u32 %p1, %r2, %r8;\n@%p1 bra L;\nst.global.u32 [%rd2], %r3;"),
       NULL},
      {"a volatile maximum of a row, by branches",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nadd.s64 %rd1, %rd1, 4;\nsetp.le.u32 %p2, %r1, "
              "%r3;\n@%p2 bra M;\n"
              "mov.u32 %r3, %r1;\nM: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r8;\n@%p1 bra L;"),
       NULL},
      {"a sum in memory to which each round adds",
       KERNEL("L: ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r3, %r1, %r7;\nst.volatile.global.u32 "
              "[%rd1], %r3;\n"
              "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r8;\n@%p1 bra L;"),
       NULL},
      {"a bound that is the sum of two numbers, loaded again where the loop writes",
       KERNEL("mov.u32 %r2, 0;\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r3, [%rd1+4];\n"
              "L: ld.global.u32 %r4, [%rd2];\nsetp.ne.u32 %p1, %r4, 0;\n@%p1 bra M;\n"
              "st.global.u32 [%rd2], %r2;\nld.global.u32 %r1, [%rd1];\nld.global.u32 %r3, [%rd1+4];\n"
              "M: add.s32 %r5, %r1, %r3;\nadd.s32 %r2, %r2, 1;\nsetp.lt.s32 %p2, %r2, %r5;\n@%p2 bra L;"),
       NULL},
      {"the last block of a reduction",
       KERNEL("membar.gl;\natom.global.inc.u32 %r1, [%rd1], %r8;\nsetp.ne.u32 %p1, %r1, 7;\n@%p1 bra M;\n"
              "L: ld.volatile.global.u32 %r2, [%rd1+4];\nadd.s64 %rd1, %rd1, 4;\nadd.u32 %r3, %r3, "
              "%r2;\nadd.u32 %r4, %r4, 1;\n"
              "setp.lt.u32 %p2, %r4, %r8;\n@%p2 bra L;\nst.global.u32 [%rd1+8], %r3;\nM:"),
       NULL},
      {"binary search",
       KERNEL("mov.u32 %r1, 0;\nmov.u32 %r2, %r8;\nL: add.s32 %r3, %r1, %r2;\nshr.u32 %r4, %r3, 1;\n"
              "mul.wide.s32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r5, [%rd3];\n"
              "setp.lt.u32 %p1, %r5, %r7;\n@%p1 bra A;\nmov.u32 %r2, %r4;\nbra B;\nA: add.u32 %r1, %r4, 1;\n"
              "B: setp.lt.s32 %p2, %r1, %r2;\n@%p2 bra L;"),
       NULL},
      {"a merge of two lists",
       KERNEL("mov.u32 %r1, 0;\nmov.u32 %r2, %r8;\nL: mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.u32 %r3, [%rd3];\nmul.wide.s32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
              "ld.global.u32 %r4, [%rd5];\nsetp.gt.u32 %p1, %r3, %r4;\n@%p1 bra A;\nadd.u32 %r1, %r1, 1;\n"
              "bra B;\nA: add.u32 %r2, %r2, -1;\nB: setp.lt.u32 %p2, %r1, %r2;\n@%p2 bra L;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* A plain load is one of data where counters come to their bounds, lists are merged, or an interval is
 * halved. */
static void searches_of_data_end(void **state) {
  static const wait_case cases[] = {
      {"plain data, strided over the grid",
       KERNEL("mov.u32 %r1, %ntid.x;\nmov.u32 %r2, %nctaid.x;\nmul.lo.u32 %r3, %r1, %r2;\nmov.u32 %r4, %r7;\n"
              "L: mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r5, [%rd3];\n"
              "setp.ne.u32 %p1, %r5, 0;\n@%p1 bra M;\nadd.u32 %r4, %r4, %r3;\nsetp.lt.u32 %p2, %r4, %r8;\n"
              "@%p2 bra L;\nM:"),
       NULL},
      {"volatile data, each place once, up to a bound",
       KERNEL("mov.u32 %r4, 0;\nL: mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.volatile.global.u32 %r5, [%rd3];\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra M;\nadd.u32 %r4, %r4, "
              "1;\n"
              "setp.lt.u32 %p2, %r4, %r8;\n@%p2 bra L;\nM:"),
       NULL},
      {"around L1, by a pointer that moves",
       KERNEL("L: add.s64 %rd1, %rd1, 4;\nld.global.cg.u32 %r1, [%rd1];\n"
              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       NULL},
      {"around L1, by a copy of the counter",
       KERNEL(
           "mov.u32 %r4, 0;\nL: mov.u32 %r6, %r4;\nadd.u32 %r4, %r6, 1;\nmul.wide.u32 %rd2, %r6, 4;\n"
           "add.s64 %rd3, %rd1, %rd2;\nld.global.cg.u32 %r5, [%rd3];\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra L;"),
       NULL},
      {"around L1, a step of one of two numbers",
       KERNEL("mov.u32 %r4, 0;\nL: mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.cg.u32 %r5, [%rd3];\nsetp.gt.u32 %p1, %r5, 9;\nselp.b32 %r6, 1, 2, %p1;\n"
              "add.u32 %r4, %r4, %r6;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;"),
       NULL},
      {"the same by branches",
       KERNEL("mov.u32 %r4, 0;\nL: mul.wide.u32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.cg.u32 %r5, [%rd3];\nsetp.gt.u32 %p1, %r5, 9;\n@%p1 bra A;\nadd.u32 %r4, %r4, "
              "2;\nbra B;\n"
              "A: add.u32 %r4, %r4, 1;\nB: setp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;"),
       NULL},
      {"halving",
       KERNEL("L: ld.global.u32 %r5, [%rd1];\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra M;\n"
              "shr.u32 %r8, %r8, 1;\nsetp.ne.u32 %p2, %r8, 0;\n@%p2 bra L;\nM:"),
       NULL},
  };
  EXPECT_ALL(cases);
}

static void merges_and_halving_end(void **state) {
  static const wait_case cases[] = {
      {"a merge with selp",
       KERNEL("mov.u32 %r1, 0;\nmov.u32 %r2, 0;\nL: mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.u32 %r3, [%rd3];\nmul.wide.s32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
              "ld.global.u32 %r4, [%rd5+64];\nsetp.gt.u32 %p1, %r3, %r4;\nadd.u32 %r5, %r1, 1;\nadd.u32 %r6, "
              "%r2, 1;\n"
              "selp.b32 %r1, %r1, %r5, %p1;\nselp.b32 %r2, %r6, %r2, %p1;\nsetp.ge.s32 %p2, %r1, %r8;\n@%p2 "
              "bra M;\n"
              "setp.lt.s32 %p3, %r2, %r7;\n@%p3 bra L;\nM:"),
       NULL},
      {"a merge by guards",
       KERNEL("mov.u32 %r1, 0;\nmov.u32 %r2, %r8;\nL: mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.u32 %r3, [%rd3];\nmul.wide.s32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
              "ld.global.u32 %r4, [%rd5];\nsetp.gt.u32 %p1, %r3, %r4;\n@%p1 add.u32 %r1, %r1, 1;\n"
              "@!%p1 add.u32 %r2, %r2, -1;\nsetp.lt.u32 %p2, %r1, %r2;\n@%p2 bra L;"),
       NULL},
      {"binary search with selp, both ends included",
       KERNEL("mov.u32 %r1, 0;\nmov.u32 %r2, %r8;\nL: add.s32 %r3, %r1, %r2;\nshr.s32 %r4, %r3, 1;\n"
              "mul.wide.s32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r5, [%rd3];\n"
              "setp.lt.u32 %p1, %r5, %r7;\nadd.s32 %r6, %r4, 1;\nadd.s32 %r0, %r4, -1;\nselp.b32 %r1, %r6, "
              "%r1, %p1;\n"
              "selp.b32 %r2, %r2, %r0, %p1;\nsetp.le.s32 %p2, %r1, %r2;\n@%p2 bra L;"),
       NULL},
      {"binary search by what is left",
       KERNEL(
           "L: shr.u32 %r1, %r8, 1;\nadd.u32 %r2, %r3, %r1;\nmul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, "
           "%rd2;\n"
           "ld.global.u32 %r5, [%rd3];\nsetp.lt.u32 %p1, %r5, %r7;\nadd.u32 %r4, %r2, 1;\nnot.b32 %r0, %r1;\n"
           "add.u32 %r6, %r8, %r0;\nselp.b32 %r3, %r4, %r3, %p1;\nselp.b32 %r8, %r6, %r1, %p1;\n"
           "setp.gt.s32 %p2, %r8, 0;\n@%p2 bra L;"),
       NULL},
      {"a search of a row, for each of many rows",
       KERNEL("A: mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.u32 %r5, [%rd3];\nsetp.eq.u32 %p1, %r5, %r7;\n@%p1 bra M;\nadd.u32 %r2, %r2, 1;\n"
              "setp.lt.u32 %p2, %r2, %r8;\n@%p2 bra L;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 9;\n@%p3 "
              "bra A;\nM:"),
       NULL},
      {"to a bound that is loaded again, by ones",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nst.global.u32 [%rd1+8], %r2;\nld.global.u32 %r1, "
              "[%rd1];\n"
              "setp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       NULL},
      {"atomics whose results nobody reads, beside a walk",
       KERNEL(
           "L: ld.global.u32 %r1, [%rd1];\natom.global.add.u32 %r2, [%rd1+8], 1;\nadd.s64 %rd1, %rd1, 16;\n"
           "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

#define POLL_WITH(look, exit)                                                                                \
  KERNEL("mov.u32 %r2, 0;\nL: " look "\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n" exit "\nM:")

/* Under another order the time-out strikes, and what the kernel does then is seen. */
static void a_poll_that_gives_up_is_a_wait(void **state) {
  static const wait_case cases[] = {
      {"after so many rounds",
       POLL_WITH("ld.volatile.global.u32 %r1, [%rd1];",
                 "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 1000;\n@%p2 bra L;"),
       "ld.volatile"},
      {"by a trap",
       POLL_WITH("ld.acquire.gpu.u32 %r1, [%rd1];",
                 "add.u32 %r2, %r2, 1;\nsetp.gt.u32 %p2, %r2, 1000;\n@%p2 trap;\nbra L;"),
       "ld.acquire"},
      {"around L1",
       POLL_WITH("ld.global.cg.u32 %r1, [%rd1];",
                 "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 1000;\n@%p2 bra L;"),
       "ld.global.cg"},
      {"one condition of both",
       KERNEL("mov.u32 %r2, 0;\nL: ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r2, 1;\nsetp.ne.u32 "
              "%p1, %r1, 0;\n"
              "setp.gt.u32 %p2, %r2, 99;\nor.pred %p3, %p1, %p2;\n@!%p3 bra L;"),
       "ld.volatile"},
      {"halving the rest",
       POLL_WITH("ld.volatile.global.u32 %r1, [%rd1];",
                 "shr.u32 %r8, %r8, 1;\nsetp.ne.u32 %p2, %r8, 0;\n@%p2 bra L;"),
       "ld.volatile"},
      {"with an atomic that reads",
       POLL_WITH("atom.global.or.b32 %r1, [%rd1], 0;",
                 "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 1000;\n@%p2 bra L;"),
       "atom"},
      {"a lock that is tried a number of times",
       KERNEL(
           "mov.u32 %r2, 0;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra "
           "A;\n"
           "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 99;\n@%p2 bra L;\nret;\nA: st.global.u32 [%rd1], 0;"),
       "atom"},
      {"rounds that another atomic counts",
       POLL_WITH("ld.volatile.global.u32 %r1, [%rd1+64];",
                 "atom.global.add.u32 %r3, [%rd1], 1;\nsetp.lt.u32 %p2, %r3, %r8;\n@%p2 bra L;"),
       "ld.volatile"},
      {"flags that come round, as often as a counter says",
       POLL_WITH("and.b32 %r3, %r2, 3;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                 "ld.volatile.global.u32 %r1, [%rd3];",
                 "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 1000;\n@%p2 bra L;"),
       "ld.volatile"},
      {"a row of flags, a number of times",
       KERNEL(
           "mov.u32 %r6, 0;\nA: mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
           "ld.global.cg.u32 %r5, [%rd3];\nsetp.eq.u32 %p1, %r5, %r7;\n@%p1 bra M;\nadd.u32 %r2, %r2, 1;\n"
           "setp.lt.u32 %p2, %r2, 4;\n@%p2 bra L;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 9;\n@%p3 bra "
           "A;\nM:"),
       "ld.global.cg"},
      {"a flag that each of so many rounds looks at",
       KERNEL(
           "mov.u32 %r2, 0;\nL: ld.acquire.gpu.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra "
           "A;\nmov.u32 %r3, 1;\n"
           "A: add.u32 %r2, %r2, 1;\nsetp.ne.u32 %p2, %r2, %r8;\n@%p2 bra L;\nst.global.u32 [%rd1+8], %r3;"),
       "ld.acquire"},
      {"the same without a branch",
       KERNEL("mov.u32 %r2, 0;\nL: ld.volatile.global.u32 %r1, [%rd1];\nor.b32 %r3, %r3, %r1;\nadd.u32 %r2, "
              "%r2, 1;\n"
              "setp.ne.u32 %p2, %r2, %r8;\n@%p2 bra L;\nst.global.u32 [%rd1+8], %r3;"),
       "ld.volatile"},
      {"the same around L1",
       KERNEL(
           "mov.u32 %r2, 0;\nL: ld.global.cg.u32 %r1, [%rd1];\nor.b32 %r3, %r3, %r1;\nadd.u32 %r2, %r2, 1;\n"
           "setp.ne.u32 %p2, %r2, %r8;\n@%p2 bra L;\nst.global.u32 [%rd1+8], %r3;"),
       "ld.global.cg"},
      {"in a cycle with two entries",
       KERNEL(
           "mov.u32 %r2, 0;\nsetp.eq.u32 %p3, %r8, 0;\n@%p3 bra B;\nA: ld.acquire.cluster.u32 %r1, [%rd1];\n"
           "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nB: add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, 99;\n@%p2 "
           "bra A;\nM:"),
       "ld.acquire"},
  };
  EXPECT_ALL(cases);
}

static void a_bound_that_the_counter_may_not_pass_ends_nothing(void **state) {
  static const wait_case cases[] = {
      {"another CTA lowers it",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nld.volatile.global.u32 %r1, [%rd1];\n"
              "setp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       "ld.volatile"},
      {"another CTA lowers it, by a fence",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nmembar.gl;\nld.global.u32 %r1, [%rd1];\n"
              "setp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       "ld.global"},
      {"around L1",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nld.global.cg.u32 %r1, [%rd1];\n"
              "setp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       "ld.global.cg"},
      {"the greatest number",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nld.global.u32 %r1, [%rd1];\n"
              "setp.le.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       "ld.global"},
      {"by twos",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 2;\nld.global.u32 %r1, [%rd1];\n"
              "setp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       "ld.global"},
      {"more bits than the counter's",
       KERNEL("mov.u16 %h1, 0;\nL: add.u16 %h1, %h1, 1;\ncvt.u32.u16 %r2, %h1;\nld.global.u32 %r1, [%rd1];\n"
              "setp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       "ld.global"},
      {"64 bits",
       KERNEL("mov.u64 %rd2, 0;\nL: add.s64 %rd2, %rd2, 1;\nld.global.u64 %rd3, [%rd1];\n"
              "setp.lt.s64 %p2, %rd2, %rd3;\n@%p2 bra L;"),
       "ld.global"},
      {"met exactly",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nld.global.u32 %r1, [%rd1];\n"
              "setp.ne.u32 %p2, %r2, %r1;\n@%p2 bra L;"),
       "ld.global"},
      {"work up to a number that another CTA raises",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], 1;\nld.volatile.global.u32 %r2, [%rd1+8];\n"
              "setp.le.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void a_load_whose_address_may_stand_still_is_a_poll(void **state) {
  static const wait_case cases[] = {
      {"a step that the value decides",
       KERNEL("mov.u32 %r2, %ctaid.x;\nL: mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.cg.u32 %r1, [%rd3];\nsetp.ne.u32 %p1, %r1, 0;\nselp.b32 %r3, -1, 0, %p1;\nadd.s32 "
              "%r2, %r2, %r3;\n"
              "setp.ge.s32 %p2, %r2, 0;\n@%p2 bra L;"),
       "ld.global.cg"},
      {"the same by a guard",
       KERNEL("mov.u32 %r2, %ctaid.x;\nL: mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.cg.u32 %r1, [%rd3];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 add.s32 %r2, %r2, -1;\n"
              "setp.ge.s32 %p2, %r2, 0;\n@%p2 bra L;"),
       "ld.global.cg"},
      {"the same by a branch",
       KERNEL("mov.u32 %r2, %ctaid.x;\nL: mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
              "ld.global.cg.u32 %r1, [%rd3];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nadd.s32 %r2, %r2, -1;\n"
              "A: setp.ge.s32 %p2, %r2, 0;\n@%p2 bra L;"),
       "ld.global.cg"},
      {"the same, worked out in each round and kept in some",
       KERNEL("mov.u32 %r2, %ctaid.x;\nL: mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nadd.s32 "
              "%r3, %r2, -1;\n"
              "ld.global.cg.u32 %r1, [%rd3];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nmov.u32 %r2, %r3;\n"
              "A: setp.ge.s32 %p2, %r2, 0;\n@%p2 bra L;"),
       "ld.global.cg"},
      {"the same by selp of both",
       KERNEL("mov.u32 %r2, %ctaid.x;\nL: mul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nadd.s32 "
              "%r3, %r2, -1;\n"
              "ld.global.u32 %r1, [%rd3];\nsetp.eq.u32 %p1, %r1, 0;\nselp.b32 %r2, %r2, %r3, %p1;\n"
              "setp.ge.s32 %p2, %r2, 0;\n@%p2 bra L;"),
       "ld.global"},
  };
  EXPECT_ALL(cases);
}

static void a_load_whose_address_comes_round_again_is_a_poll(void **state) {
  static const wait_case cases[] = {
      {"two flags in turn, by xor",
       KERNEL("mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.cg.u32 "
              "%r1, [%rd3];\n"
              "xor.b32 %r2, %r2, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global.cg"},
      {"the lowest bit of a counter",
       KERNEL(
           "mov.u32 %r2, 0;\nL: and.b32 %r3, %r2, 1;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
           "ld.global.u32 %r1, [%rd3];\nadd.u32 %r2, %r2, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global"},
      {"a ring, by a remainder",
       KERNEL("mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r1, "
              "[%rd3];\n"
              "add.u32 %r3, %r2, 1;\nrem.u32 %r2, %r3, %r8;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global"},
      {"a ring, by selp",
       KERNEL("mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r1, "
              "[%rd3];\n"
              "add.u32 %r3, %r2, 1;\nsetp.eq.u32 %p2, %r3, %r8;\nselp.b32 %r2, 0, %r3, %p2;\nsetp.eq.u32 "
              "%p1, %r1, 0;\n"
              "@%p1 bra L;"),
       "ld.global"},
      {"a ring, by a branch",
       KERNEL("mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r1, "
              "[%rd3];\n"
              "add.u32 %r2, %r2, 1;\nsetp.ne.u32 %p2, %r2, %r8;\n@%p2 bra A;\nmov.u32 %r2, 0;\nA: "
              "setp.eq.u32 %p1, %r1, 0;\n"
              "@%p1 bra L;"),
       "ld.global"},
      {"to and fro",
       KERNEL(
           "L: ld.global.cg.u32 %r1, [%rd1];\nadd.s64 %rd1, %rd1, 4;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n"
           "add.s64 %rd1, %rd1, -4;\nbra L;\nM:"),
       "ld.global.cg"},
      {"16 bits of a counter",
       KERNEL("mov.u16 %h1, 0;\nL: mul.wide.u16 %r2, %h1, 4;\ncvt.u64.u32 %rd2, %r2;\nadd.s64 %rd3, %rd1, "
              "%rd2;\n"
              "ld.global.cg.u32 %r1, [%rd3];\nadd.u16 %h1, %h1, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global.cg"},
      {"a stride of the launch, which may be nothing",
       KERNEL("mov.u32 %r2, 0;\nL: mul.lo.u32 %r3, %r2, %r8;\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, "
              "%rd1, %rd2;\n"
              "ld.global.cg.u32 %r1, [%rd3];\nadd.u32 %r2, %r2, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global.cg"},
      {"a counter beside it that only the value is compared with",
       KERNEL(
           "mov.u32 %r2, 0;\nL: ld.global.cg.u32 %r1, [%rd1];\nadd.u32 %r2, %r2, 1;\nand.b32 %r3, %r2, 1;\n"
           "setp.lt.u32 %p1, %r1, %r3;\n@%p1 bra L;"),
       "ld.global.cg"},
      {"halves of a number that meet another",
       KERNEL("mov.u32 %r2, 0;\nL: mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r1, "
              "[%rd3];\n"
              "add.u32 %r3, %r2, %r8;\nshr.u32 %r2, %r3, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.global"},
      {"an interval of which one end stays where it is",
       KERNEL("mov.u32 %r1, 0;\nmov.u32 %r2, %r8;\nL: add.s32 %r3, %r1, %r2;\nshr.u32 %r4, %r3, 1;\n"
              "mul.wide.s32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r5, [%rd3];\n"
              "setp.lt.u32 %p1, %r5, %r7;\n@%p1 bra A;\nmov.u32 %r2, %r4;\nbra B;\nA: mov.u32 %r1, %r4;\n"
              "B: setp.lt.u32 %p2, %r1, %r2;\n@%p2 bra L;"),
       "ld.global"},
      {"a merge that stands still when both are alike",
       KERNEL(
           "mov.u32 %r1, 0;\nmov.u32 %r2, %r8;\nL: mul.wide.s32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
           "ld.global.u32 %r3, [%rd3];\nmul.wide.s32 %rd4, %r2, 4;\nadd.s64 %rd5, %rd1, %rd4;\n"
           "ld.global.u32 %r4, [%rd5];\nsetp.gt.u32 %p1, %r3, %r4;\n@%p1 add.u32 %r1, %r1, 1;\n"
           "setp.lt.u32 %p3, %r3, %r4;\n@%p3 add.u32 %r2, %r2, -1;\nsetp.lt.u32 %p2, %r1, %r2;\n@%p2 bra L;"),
       "ld.global"},
      {"a list, which may be a ring",
       KERNEL("L: ld.global.u64 %rd1, [%rd1];\nsetp.ne.u64 %p1, %rd1, 0;\n@%p1 bra L;"), "ld.global"},
      {"roots of trees, of which one may be its own parent's parent",
       KERNEL(
           "mov.u32 %r1, %r7;\nL: mov.u32 %r2, %r1;\nmul.wide.s32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
           "ld.global.u32 %r1, [%rd3];\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;"),
       "ld.global"},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a loop that ends whatever others write is no wait",
                loops_that_do_not_wait_for_the_value_are_accepted),
      BEHAVIOUR("a search of data ends as a counter comes to its bound", searches_of_data_end),
      BEHAVIOUR("a merge and a binary search end, by branches, guards or selections", merges_and_halving_end),
      BEHAVIOUR("a poll that gives up after some rounds is a wait", a_poll_that_gives_up_is_a_wait),
      BEHAVIOUR("a bound that the counter may not pass ends no loop",
                a_bound_that_the_counter_may_not_pass_ends_nothing),
      BEHAVIOUR("a load whose address may stand still is a poll",
                a_load_whose_address_may_stand_still_is_a_poll),
      BEHAVIOUR("a load whose address comes round again is a poll",
                a_load_whose_address_comes_round_again_is_a_poll),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
