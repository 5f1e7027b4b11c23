/* Loops that wait, or do not, in shapes that the other tables lack. */
#include "check.h"

#include "waits.h"

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

#define TRIED(init, step)                                                                                    \
  KERNEL(init "L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra G;\n" step      \
              "@%p2 bra L;\ntrap;\nG: membar.gl;\natom.global.exch.b32 %r2, [%rd1], 0;")
#define UPDATED(init, step)                                                                                  \
  KERNEL(init "ld.global.u32 %r1, [%rd1];\nL: mov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 1;\n"                     \
              "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;\nsetp.eq.u32 %p1, %r1, %r2;\n@%p1 bra M;\n" step   \
              "@%p2 bra L;\ntrap;\nM:")

/* Whatever is counted with. */
static void locks_and_updates_that_give_up_are_refused(void **state) {
  static const wait_case cases[] = {
      {"a lock, by a float that grows",
       TRIED("mov.f32 %f1, 0f3F800000;\n",
             "mul.f32 %f1, %f1, 0f3F8CCCCD;\nsetp.lt.f32 %p2, %f1, 0f4E6E6B28;\n"),
       "atom"},
      {"a lock, by doubling", TRIED("mov.u32 %r4, 1;\n", "shl.b32 %r4, %r4, 1;\nsetp.ne.u32 %p2, %r4, 0;\n"),
       "atom"},
      {"a lock, by a count in shared memory",
       TRIED("", "ld.shared.u32 %r4, [slot];\nadd.u32 %r4, %r4, 1;\nst.shared.u32 [slot], %r4;\n"
                 "setp.lt.u32 %p2, %r4, 99;\n"),
       "atom"},
      {"a lock, by a count in local memory",
       TRIED("", "ld.local.u32 %r4, [own];\nadd.u32 %r4, %r4, 1;\nst.local.u32 [own], %r4;\n"
                 "setp.lt.u32 %p2, %r4, 99;\n"),
       "atom"},
      {"a lock, by random numbers",
       TRIED("mov.u32 %r4, 7;\n",
             "mad.lo.u32 %r4, %r4, 1664525, 1013904223;\nsetp.ne.u32 %p2, %r4, 12345;\n"),
       "atom"},
      {"a lock, by a part of a number",
       TRIED("mov.u32 %r4, 0;\n",
             "add.u32 %r4, %r4, 1;\nand.b32 %r5, %r4, 1023;\nsetp.ne.u32 %p2, %r5, 0;\n"),
       "atom"},
      {"a lock, by a carry",
       TRIED("mov.u32 %r4, 0;\n",
             "add.cc.u32 %r4, %r4, 0x400000;\naddc.u32 %r5, 0, 0;\nsetp.eq.u32 %p2, %r5, 0;\n"),
       "atom"},
      {"a lock, by two counts",
       TRIED("mov.u32 %r4, 0;\nmov.u32 %r5, 0;\n",
             "add.u32 %r4, %r4, 1;\nadd.u32 %r5, %r5, 2;\nsetp.lt.u32 %p3, %r4, 99;\n"
             "setp.lt.and.u32 %p2, %r5, 150, %p3;\n"),
       "atom"},
      {"a lock, by a count and the lock in one predicate",
       KERNEL("mov.f32 %f1, 0f3F800000;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nmul.f32 %f1, %f1, "
              "0f40000000;\n"
              "setp.eq.u32 %p1, %r1, 0;\nsetp.gt.f32 %p2, %f1, 0f4E6E6B28;\nor.pred %p3, %p1, %p2;\n@!%p3 "
              "bra L;\n"
              "@!%p1 trap;\nmembar.gl;\natom.global.exch.b32 %r2, [%rd1], 0;"),
       "atom"},
      {"a lock, by a branch of a list",
       KERNEL("mov.u32 %r4, 0;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 "
              "bra G;\n"
              "add.u32 %r4, %r4, 1;\nshr.u32 %r5, %r4, 10;\nmin.u32 %r5, %r5, 1;\nB: .branchtargets L, T;\n"
              "brx.idx %r5, B;\nT: trap;\nG: membar.gl;\natom.global.exch.b32 %r2, [%rd1], 0;"),
       "atom"},
      {"a lock, by the failures, which are counted",
       KERNEL("mov.u32 %r4, 0;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
              "@%p1 bra G;\n"
              "selp.u32 %r5, 0, 3, %p1;\nxor.b32 %r5, %r5, %r1;\nadd.u32 %r4, %r4, %r5;\n"
              "setp.lt.u32 %p2, %r4, 99;\n@%p2 bra L;\ntrap;\n"
              "G: membar.gl;\natom.global.exch.b32 %r2, [%rd1], 0;"),
       "atom"},
      {"an update, by a float that grows",
       UPDATED("mov.f32 %f1, 0f3F800000;\n",
               "mul.f32 %f1, %f1, 0f40000000;\nsetp.lt.f32 %p2, %f1, 0f4E6E6B28;\n"),
       "atom"},
      {"an update, by doubling",
       UPDATED("mov.u32 %r4, 1;\n", "shl.b32 %r4, %r4, 1;\nsetp.ne.u32 %p2, %r4, 0x10000;\n"), "atom"},
      {"a turn that is waited for, by a float that grows",
       KERNEL("atom.global.add.u32 %r5, [%rd1], 1;\nmov.f32 %f1, 0f3F800000;\n"
              "L: ld.volatile.global.u32 %r1, [%rd1+4];\nsetp.eq.u32 %p1, %r1, %r5;\n@%p1 bra G;\n"
              "mul.f32 %f1, %f1, 0f40000000;\nsetp.lt.f32 %p2, %f1, 0f4E6E6B28;\n@%p2 bra L;\ntrap;\n"
              "G: membar.gl;\nadd.u32 %r6, %r5, 1;\nst.volatile.global.u32 [%rd1+4], %r6;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define ROUNDS(look, count)                                                                                  \
  KERNEL("L: " look "or.b32 %r3, %r3, %r1;\n" count "@%p2 bra L;\nst.global.u32 [%rd2], %r3;")
#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n"

static void flags_that_so_many_rounds_look_at_are_refused(void **state) {
  static const wait_case cases[] = {
      {"by a float that grows",
       ROUNDS("ld.volatile.global.u32 %r1, [%rd1];\n",
              "mul.f32 %f1, %f1, 0f3F8CCCCD;\nsetp.lt.f32 %p2, %f1, 0f4E6E6B28;\n"),
       "ld.volatile"},
      {"beside a store that may lead anywhere",
       ROUNDS("ld.volatile.global.u32 %r1, [%rd1];\nld.global.u64 %rd5, [%rd1+64];\nst.global.u32 [%rd5], "
              "%r4;\n",
              COUNT),
       "ld.volatile"},
      {"beside an addition of 0",
       ROUNDS("ld.volatile.global.u32 %r1, [%rd1];\nred.global.add.u32 [%rd1], 0;\n", COUNT), "ld.volatile"},
      {"by an atomic or", ROUNDS("atom.global.or.b32 %r1, [%rd1], 0;\n", COUNT), "atom"},
      {"by a swap of a number for itself", ROUNDS("atom.global.cas.b32 %r1, [%rd1], 5, 5;\n", COUNT), "atom"},
      {"by an atomic maximum", ROUNDS("atom.global.max.u32 %r1, [%rd1], 0;\n", COUNT), "atom"},
      {"by a plain load behind a fence", ROUNDS("membar.gl;\nld.global.u32 %r1, [%rd1];\n", COUNT),
       "ld.global"},
      {"by a load that leaves nothing in L1", ROUNDS("ld.global.L1::no_allocate.u32 %r1, [%rd1];\n", COUNT),
       "ld.global"},
  };
  EXPECT_ALL(cases);
}

#define AT(pre, place)                                                                                       \
  KERNEL(pre "L: " place "ld.global.cg.u32 %r1, [%rd3];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;")
#define THREADS(r) "mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %nctaid.x;\nmul.lo.u32 " r ", %r2, %r3;\n"
#define BYTES(r) "cvt.u64.u32 %rd2, " r ";\nadd.s64 %rd3, %rd1, %rd2;\n"

/* Steps that come to 0 in so many bits, and addresses that come round after a few of them. */
static void steps_that_vanish_are_refused(void **state) {
  static const wait_case cases[] = {
      {"the upper half of a small product",
       AT("mov.u32 %r2, %ntid.x;\nmul.hi.u32 %r3, %r2, %r2;\n", "add.u32 %r4, %r4, %r3;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"a byte of 256",
       AT("mov.u32 %r2, 256;\ncvt.u32.u8 %r3, %r2;\n", "add.u32 %r4, %r4, %r3;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"a product of 2^32",
       AT("mov.u32 %r2, 65536;\nmul.lo.u32 %r3, %r2, %r2;\n", "add.u32 %r4, %r4, %r3;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the same in one instruction",
       AT("mov.u32 %r2, 65536;\n", "mad.lo.u32 %r4, %r2, %r2, %r4;\n" BYTES("%r4")), "ld.global.cg"},
      {"2^32 by a shift",
       AT("mov.u32 %r2, 0x20000;\nshl.b32 %r3, %r2, 15;\n", "add.u32 %r4, %r4, %r3;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"a step of 2^30", AT("", "add.u32 %r4, %r4, 0x40000000;\n" BYTES("%r4")), "ld.global.cg"},
      {"an index times 2^30", AT("", "add.u32 %r4, %r4, 1;\nmul.lo.u32 %r3, %r4, 0x40000000;\n" BYTES("%r3")),
       "ld.global.cg"},
      {"an index shifted out",
       AT("", "add.u32 %r4, %r4, 1;\nshl.b32 %r3, %r4, 15;\nshl.b32 %r2, %r3, 15;\n" BYTES("%r2")),
       "ld.global.cg"},
      {"an index shifted out of 64 bits",
       AT("", "add.s64 %rd4, %rd4, 1;\nshl.b64 %rd5, %rd4, 15;\nshl.b64 %rd6, %rd5, 15;\nshl.b64 %rd7, %rd6, "
              "15;\n"
              "shl.b64 %rd8, %rd7, 15;\nadd.s64 %rd3, %rd1, %rd8;\n"),
       "ld.global.cg"},
      {"-1 widened without its sign",
       KERNEL("mov.u32 %r2, -1;\ncvt.u64.u32 %rd2, %r2;\nmov.u64 %rd4, 9;\nL: ld.global.u32 %r1, [%rd1];\n"
              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\nadd.s64 %rd4, %rd4, %rd2;\nsetp.gt.s64 %p2, %rd4, 0;\n"
              "@%p2 bra L;\nM:"),
       "ld.global"},
      {"an index that stops at the greatest number", AT("", "add.sat.s32 %r4, %r4, 4;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"an index that a conversion keeps below 256",
       AT("", "cvt.sat.u8.u32 %h1, %r4;\ncvt.u32.u8 %r4, %h1;\nadd.u32 %r4, %r4, 4;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"an index that a conversion stops at the greatest number",
       AT("mov.u64 %rd4, 0;\n", "add.s64 %rd4, %rd4, 4;\ncvt.sat.s32.s64 %r4, %rd4;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"a half of a register that is split",
       AT("mov.u64 %rd4, 0;\n", "add.s64 %rd4, %rd4, 4;\nmov.b64 {%r5, %r4}, %rd4;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"a float that stops growing at 2^24",
       AT("mov.f32 %f1, 0f00000000;\n",
          "add.f32 %f1, %f1, 0f40800000;\ncvt.rzi.u32.f32 %r4, %f1;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the fourth size of a CTA, which is 0",
       AT("mov.u32 %r2, %ntid.w;\nshl.b32 %r3, %r2, 2;\n", "add.u32 %r4, %r4, %r3;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"four steps of 2^15 in a round",
       AT("", "add.u32 %r4, %r4, 0x8000;\nadd.u32 %r4, %r4, 0x8000;\nadd.u32 %r4, %r4, 0x8000;\n"
              "add.u32 %r4, %r4, 0x8000;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the threads of the grid, squared",
       AT(THREADS("%r5") "mul.lo.u32 %r6, %r5, %r5;\n", "add.u32 %r4, %r4, %r6;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the size of a CTA to the fourth",
       AT("mov.u32 %r2, %ntid.x;\nmul.lo.u32 %r3, %r2, %r2;\nmul.lo.u32 %r5, %r3, %r3;\n",
          "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the size of a CTA times 2^27",
       AT("mov.u32 %r2, %ntid.x;\nmul.lo.u32 %r5, %r2, 0x8000000;\n",
          "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the same by shifts",
       AT("mov.u32 %r2, %ntid.x;\nshl.b32 %r3, %r2, 14;\nshl.b32 %r5, %r3, 14;\n",
          "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the same by three, in one instruction",
       AT("mov.u32 %r2, %ntid.x;\nmul.lo.u32 %r5, %r2, 0x8000000;\n",
          "mad.lo.u32 %r4, %r5, 3, %r4;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the number of CTAs times 2^30",
       AT("mov.u32 %r2, %nctaid.x;\nmul.lo.u32 %r5, %r2, 0x40000000;\n",
          "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
  };
  EXPECT_ALL(cases);
}

/* Nothing ends such a loop but the value, if its places come round. */
static void steps_by_large_numbers_are_refused(void **state) {
  static const wait_case cases[] = {
      {"the threads of a CTA, squared",
       AT("mov.u32 %r2, %ntid.x;\nmul.lo.u32 %r5, %r2, %r2;\n", "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the threads of a grid whose CTAs have 128",
       AT("mov.u32 %r2, %nctaid.x;\nshl.b32 %r5, %r2, 7;\n", "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"tiles of 16384 by the size of the grid",
       AT("mov.u32 %r2, %nctaid.y;\nmul.lo.u32 %r5, %r2, 16384;\n", "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"the threads of a grid, by one instruction",
       AT("mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %nctaid.x;\n",
          "mad.lo.u32 %r4, %r2, %r3, %r4;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"one of two numbers of the text, both large",
       AT("",
          "setp.gt.u32 %p2, %r8, 9;\nselp.b32 %r5, 0x100000, 0x200000, %p2;\nadd.u32 %r4, %r4, %r5;\n" BYTES(
              "%r4")),
       "ld.global.cg"},
      {"the same by a copy of a large number",
       AT("mov.u32 %r6, 0x1000000;\n", "setp.gt.u32 %p2, %r8, 9;\nselp.b32 %r5, 1, %r6, %p2;\n"
                                       "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       "ld.global.cg"},
      {"down by one of two large numbers",
       AT("", "setp.gt.u32 %p2, %r8, 9;\nselp.b32 %r5, 0x100000, 0x200000, %p2;\nneg.s32 %r6, %r5;\n"
              "add.s32 %r4, %r4, %r6;\n" BYTES("%r4")),
       "ld.global.cg"},
  };
  EXPECT_ALL(cases);
}

/* With a counter beside it the loop ends, however few places there are. */
#define COUNTED_AT(pre, place)                                                                               \
  KERNEL(pre "mov.u32 %r7, 0;\nL: add.u32 %r7, %r7, 1;\nsetp.ge.u32 %p3, %r7, %r8;\n@%p3 bra M;\n" place     \
             "ld.global.cg.u32 %r1, [%rd3];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nM:")

static void steps_that_do_not_vanish_are_accepted(void **state) {
  static const wait_case cases[] = {
      {"the threads of a CTA", AT("mov.u32 %r2, %ntid.x;\n", "add.u32 %r4, %r4, %r2;\n" BYTES("%r4")), NULL},
      {"one of two small numbers of the text",
       AT("", "setp.gt.u32 %p2, %r8, 9;\nselp.b32 %r5, 4, 8, %p2;\nadd.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       NULL},
      {"the threads of a grid whose CTAs have 128, as long as a counter says",
       COUNTED_AT("mov.u32 %r2, %nctaid.x;\nshl.b32 %r5, %r2, 7;\n", "add.u32 %r4, %r4, %r5;\n" BYTES("%r4")),
       NULL},
      {"the threads of a grid of two dimensions, as long as a counter says",
       COUNTED_AT(THREADS("%r5") "mov.u32 %r6, %nctaid.y;\nmul.lo.u32 %r0, %r5, %r6;\n",
                  "add.u32 %r4, %r4, %r0;\n" BYTES("%r4")),
       NULL},
      {"the threads of a CTA, squared in 64 bits",
       AT("mov.u32 %r2, %ntid.x;\nmul.wide.u32 %rd5, %r2, %r2;\n",
          "add.s64 %rd4, %rd4, %rd5;\nadd.s64 %rd3, %rd1, %rd4;\n"),
       NULL},
      {"a tile of 1024", AT("", "add.u32 %r4, %r4, 1;\nshl.b32 %r3, %r4, 10;\n" BYTES("%r3")), NULL},
      {"a stride of four times the grid, as long as a counter says",
       COUNTED_AT("mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %nctaid.x;\nmul.lo.u32 %r5, %r2, %r3;\nshl.b32 %r6, "
                  "%r5, 2;\n",
                  "add.u32 %r4, %r4, %r6;\n" BYTES("%r4")),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* They end as the value is found that another thread may store. */
static void updates_that_become_needless_are_accepted(void **state) {
  static const wait_case cases[] = {
      {"the greater of two floats",
       KERNEL("ld.global.u32 %r1, [%rd1];\nmov.b32 %f2, %r1;\nL: setp.le.f32 %p1, %f1, %f2;\n@%p1 bra M;\n"
              "mov.u32 %r2, %r1;\natom.global.cas.b32 %r1, [%rd1], %r2, %r8;\nmov.b32 %f2, %r1;\n"
              "setp.ne.u32 %p2, %r1, %r2;\n@%p2 bra L;\nM:"),
       NULL},
      {"an update in each round of a loop that doubles",
       KERNEL("mov.u32 %r4, 1;\nA: ld.global.u32 %r1, [%rd1];\nL: mov.u32 %r2, %r1;\nadd.u32 %r3, %r2, 1;\n"
              "atom.global.cas.b32 %r1, [%rd1], %r2, %r3;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;\n"
              "shl.b32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, %r8;\n@%p2 bra A;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* Through a place of its own, which moves on. */
#define RELAYED(load, store, back)                                                                           \
  KERNEL("add.s64 %rd2, %rd1, 1024;\nL: " load "\n" store "\n" back "\nadd.s64 %rd2, %rd2, 4;\n"             \
         "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;")
#define BACK "ld.global.u32 %r2, [%rd2];"

static void values_are_followed_through_global_memory(void **state) {
  static const wait_case cases[] = {
      {"plain", RELAYED("ld.global.u32 %r1, [%rd1];", "st.global.u32 [%rd2], %r1;", BACK), "ld.global"},
      {"through the read-only cache",
       RELAYED("ld.global.nc.u32 %r1, [%rd1];", "st.global.u32 [%rd2], %r1;", BACK), "ld.global.nc"},
      {"around L1, at a pointer that is loaded again",
       RELAYED("ld.global.u64 %rd3, [%rd1+64];\nld.global.cg.u32 %r1, [%rd3];", "st.global.u32 [%rd2], %r1;",
               BACK),
       "ld.global.cg"},
      {"by a generic store", RELAYED("ld.global.u32 %r1, [%rd1];", "st.u32 [%rd2], %r1;", BACK), "ld.global"},
      {"by a reduction", RELAYED("ld.global.u32 %r1, [%rd1];", "red.global.add.u32 [%rd2], %r1;", BACK),
       "ld.global"},
      {"by way of two places",
       RELAYED("ld.global.u32 %r1, [%rd1];",
               "st.global.u32 [%rd2], %r1;\nld.global.u32 %r3, [%rd2];\nst.global.u32 [%rd2+512], %r3;",
               "ld.global.u32 %r2, [%rd2+512];"),
       "ld.global"},
      {"where it decides what is stored",
       RELAYED("ld.global.u32 %r1, [%rd1];\nsetp.ne.u32 %p2, %r1, 0;",
               "st.global.u32 [%rd2], 0;\n@%p2 st.global.u32 [%rd2], 1;", BACK),
       "ld.global"},
      {"by way of a surface",
       RELAYED("ld.global.u32 %r1, [%rd1];\nadd.u32 %r3, %r3, 4;", "sust.b.1d.b32.trap [%rd5, {%r3}], %r1;",
               "ld.global.u32 %r2, [%rd2];"),
       "ld.global"},
      {"by way of a texture of a variable",
       MODULE(
           ".global .texref image;\n.global .b32 sum;\n",
           "L: ld.global.u32 %r1, [%rd1];\nst.global.u32 [sum], %r1;\nadd.u32 %r3, %r3, 1;\n"
           "tex.1d.v4.u32.s32 {%r2, %r4, %r5, %r6}, [image, {%r3}];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;"),
       ""},
      {"what is stored counts", RELAYED("add.u32 %r1, %r1, 1;", "st.global.u32 [%rd2], %r1;", BACK), NULL},
      {"elements are copied, until one is 0",
       RELAYED("ld.global.u32 %r1, [%rd2+512];", "st.global.u32 [%rd2], %r1;", BACK), NULL},
  };
  EXPECT_ALL(cases);
}

#define MEMORY(name, third)                                                                                  \
  ".extern .func (.param .b64 r) " name "(.param .b64 a, .param " third " b, .param .b64 n);\n"
#define MOVE(name, to, third, from)                                                                          \
  "{\n.param .b64 r;\n.param .b64 x;\n.param " third " y;\n.param .b64 z;\nst.param.b64 [x], " to            \
  ";\nst.param" third " [y], " from ";\nst.param.b64 [z], 4;\ncall (r), " name ", (x, y, z);\n}\n"
#define COPY MOVE("memcpy", "%rd2", ".b64", "%rd1")
#define COPIED(body) MODULE(MEMORY("memcpy", ".b64"), "mov.u64 %rd3, own;\ncvta.local.u64 %rd2, %rd3;\n" body)

static void copies_by_the_system_are_looks(void **state) {
  static const wait_case cases[] = {
      {"until the copy is not 0",
       COPIED("L: " COPY "ld.local.u32 %r1, [own];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"), "call"},
      {"from a place of its own, that others write",
       COPIED("L: " COPY "ld.u32 %r1, [%rd2];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"), "call"},
      {"so many times, with a fence",
       COPIED("L: " COPY "membar.gl;\nld.local.u32 %r1, [own];\nor.b32 %r3, %r3, %r1;\n" COUNT
              "@%p2 bra L;\nst.global.u32 [%rd1], %r3;"),
       "call"},
      {"a value that is set in memory",
       MODULE(MEMORY("memset", ".b32"),
              "mov.u64 %rd3, own;\ncvta.local.u64 %rd2, %rd3;\nL: ld.global.cg.u32 %r1, [%rd1];\n" MOVE(
                  "memset", "%rd2", ".b32",
                  "%r1") "ld.local.u32 %r2, [own];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;"),
       "call"},
      {"in a loop that counts", COPIED("L: " COPY COUNT "@%p2 bra L;"), NULL},
      {"in front of a loop",
       COPIED(COPY "L: ld.local.u32 %r1, [own];\nadd.u32 %r4, %r4, %r1;\n"
                   "setp.lt.u32 %p1, %r4, 9;\n@%p1 bra L;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("waits in other shapes are refused", waits_in_other_shapes_are_refused),
      BEHAVIOUR("places that come round in other shapes are refused",
                places_that_come_round_in_other_shapes_are_refused),
      BEHAVIOUR("locks and updates that give up are refused", locks_and_updates_that_give_up_are_refused),
      BEHAVIOUR("flags that so many rounds look at are refused",
                flags_that_so_many_rounds_look_at_are_refused),
      BEHAVIOUR("values are followed through global memory", values_are_followed_through_global_memory),
      BEHAVIOUR("copies by the system are looks", copies_by_the_system_are_looks),
      BEHAVIOUR("steps that vanish are refused", steps_that_vanish_are_refused),
      BEHAVIOUR("steps that come round in a large grid, or CTA, are refused",
                steps_by_large_numbers_are_refused),
      BEHAVIOUR("steps that do not vanish are accepted", steps_that_do_not_vanish_are_accepted),
      BEHAVIOUR("updates that become needless are accepted", updates_that_become_needless_are_accepted),
      BEHAVIOUR("loops in other shapes that end are accepted", loops_in_other_shapes_are_accepted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
