/* Polls that give up: rounds that end in any case, and what they look at. */
#include "check.h"

#include "waits.h"

#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\n"
#define ROUNDS(look) KERNEL("L: " look "\nor.b32 %r3, %r3, %r1;\n" COUNT "st.global.u32 [%rd2], %r3;")
#define FLAG "ld.volatile.global.u32 %r1, [%rd1];\n"

static void atomics_that_may_change_nothing_are_looks(void **state) {
  static const wait_case cases[] = {
      {"a swap of what a register holds for the same", ROUNDS("atom.global.cas.b32 %r1, [%rd1], %r8, %r8;"),
       "atom"},
      {"a swap of one state for the next", ROUNDS("atom.global.cas.b32 %r1, [%rd1], 3, 4;"), "atom"},
      {"a maximum with a parameter", ROUNDS("atom.global.max.s32 %r1, [%rd1], %r8;"), "atom"},
      {"bits of a parameter", ROUNDS("atom.global.or.b32 %r1, [%rd1], %r8;"), "atom"},
      {"a parameter is added", ROUNDS("atom.global.add.u32 %r1, [%rd1], %r8;"), "atom"},
      {"nothing is added, which is worked out",
       ROUNDS("xor.b32 %r5, %r8, %r8;\natom.global.add.u32 %r1, [%rd1], %r5;"), "atom"},
      {"2^32 is added to 32 bits", ROUNDS("atom.global.add.u32 %r1, [%rd1], 4294967296;"), "atom"},
      {"a float of 0 is added",
       KERNEL("L: atom.global.add.f32 %f1, [%rd1], 0f00000000;\nadd.f32 %f2, %f2, %f1;\n" COUNT
              "st.global.f32 [%rd2], %f2;"),
       "atom"},
      {"a mailbox is emptied", ROUNDS("atom.global.exch.b32 %r1, [%rd1], 0;"), "atom"},
      {"the same twice in a round",
       ROUNDS("atom.global.exch.b32 %r1, [%rd1], 0;\nor.b32 %r3, %r3, %r1;\n"
              "atom.global.exch.b32 %r1, [%rd1], 0;"),
       "atom"},
      {"a count that comes round at a parameter", ROUNDS("atom.global.inc.u32 %r1, [%rd1], %r8;"), "atom"},
      {"the latch is a table of branches",
       KERNEL("T: .branchtargets L, M;\nL: atom.global.exch.b32 %r1, [%rd1], 0;\nor.b32 %r3, %r3, %r1;\n"
              "add.u32 %r4, %r4, 1;\nshr.u32 %r5, %r4, 10;\nmin.u32 %r5, %r5, 1;\nbrx.idx %r5, T;\n"
              "M: st.global.u32 [%rd2], %r3;"),
       "atom"},
      {"a bit is turned over", ROUNDS("atom.global.xor.b32 %r1, [%rd1], 8;"), "atom"},
      {"a maximum whose result nobody reads", ROUNDS("atom.global.max.u32 %r5, [%rd1], %r7;"), NULL},
      {"an exchange in each of several places",
       ROUNDS("atom.global.exch.b32 %r1, [%rd1], %r7;\nadd.s64 %rd1, %rd1, 4;"), NULL},
  };
  EXPECT_ALL(cases);
}

static void a_write_excuses_a_look_in_every_round_only(void **state) {
  static const wait_case cases[] = {
      {"another CTA's branch writes it",
       ROUNDS("mov.u32 %r5, %ctaid.x;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra A;\n"
              "st.volatile.global.u32 [%rd1], 1;\nA: " FLAG),
       "ld.volatile"},
      {"a guarded store", ROUNDS("setp.eq.u32 %p1, %r7, 5;\n@%p1 st.global.u32 [%rd1], %r4;\n" FLAG),
       "ld.volatile"},
      {"a parameter is added, which may be 0", ROUNDS(FLAG "red.global.add.u32 [%rd1], %r8;"), "ld.volatile"},
      {"an arrival in the first round",
       ROUNDS("setp.ne.u32 %p1, %r4, 0;\n@%p1 bra A;\nred.global.add.u32 [%rd1], 1;\nA: " FLAG),
       "ld.volatile"},
      {"a mailbox is emptied by a store", ROUNDS(FLAG "st.volatile.global.u32 [%rd1], 0;"), "ld.volatile"},
      {"a sum in memory, which is looked at",
       ROUNDS(FLAG "add.u32 %r5, %r1, %r7;\nst.volatile.global.u32 [%rd1], %r5;"), "ld.volatile"},
      {"a sum in memory",
       KERNEL("L: " FLAG "add.u32 %r5, %r1, %r7;\nst.volatile.global.u32 [%rd1], %r5;\n" COUNT), NULL},
      {"a sum in memory, of some rounds",
       KERNEL("L: setp.eq.u32 %p1, %r8, %r4;\n@%p1 bra A;\n" FLAG
              "add.u32 %r5, %r1, %r7;\nst.volatile.global.u32 [%rd1], %r5;\nA: " COUNT),
       NULL},
      {"one is added", ROUNDS(FLAG "red.global.add.u32 [%rd1], 1;"), "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define ELEMENT(index) index "\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"
#define AT(index) ROUNDS(ELEMENT(index) "ld.volatile.global.u32 %r1, [%rd3];")

static void addresses_that_stay_for_many_rounds_are_looked_at_again(void **state) {
  static const wait_case cases[] = {
      {"a shift of the counter", AT("shr.u32 %r5, %r4, 20;"), "ld.volatile"},
      {"a quotient", AT("div.u32 %r5, %r4, 512;"), "ld.volatile"},
      {"the least of the counter and a parameter", AT("min.u32 %r5, %r4, %r8;"), "ld.volatile"},
      {"down to 0", AT("sub.s32 %r5, %r8, %r4;\nmax.s32 %r5, %r5, 0;"), "ld.volatile"},
      {"an index that stops", AT("add.u32 %r6, %r6, 1;\nmin.u32 %r6, %r6, 3;\nmov.u32 %r5, %r6;"),
       "ld.volatile"},
      {"times 0", AT("mul.lo.u32 %r5, %r4, 0;"), "ld.volatile"},
      {"a selection", AT("setp.lt.u32 %p1, %r4, %r8;\nselp.b32 %r5, %r7, %r8, %p1;"), "ld.volatile"},
      {"a step that the value decides",
       ROUNDS(ELEMENT("mov.u32 %r5, %r6;") "ld.volatile.global.u32 %r1, [%rd3];\n"
                                           "min.u32 %r0, %r1, 1;\nadd.u32 %r6, %r6, %r0;"),
       "ld.volatile"},
      {"a pointer that is loaded again",
       ROUNDS("ld.global.u64 %rd3, [%rd1];\nld.volatile.global.u32 %r1, [%rd3];"), "ld.volatile"},
      {"two counters come towards each other by data",
       KERNEL("mov.u32 %r5, %r8;\nL: " FLAG "or.b32 %r3, %r3, %r1;\nmul.wide.s32 %rd4, %r4, 4;\n"
              "add.s64 %rd3, %rd1, %rd4;\nld.global.u32 %r2, [%rd3+64];\nsetp.ne.u32 %p1, %r2, 0;\n"
              "@%p1 bra A;\nsub.u32 %r5, %r5, 1;\nbra B;\nA: add.u32 %r4, %r4, 1;\n"
              "B: setp.lt.u32 %p2, %r4, %r5;\n@%p2 bra L;\nst.global.u32 [%rd2], %r3;"),
       "ld.volatile"},
      {"a quotient, around L1", ROUNDS(ELEMENT("div.u32 %r5, %r4, %r8;") "ld.global.cg.u32 %r1, [%rd3];"),
       "ld.global.cg"},
      {"data around L1, by a quotient that may be 0",
       KERNEL("div.u32 %r9, %r8, 3;\nmov.u32 %r6, 0;\nL: " ELEMENT(
           "mov.u32 %r5, %r6;") "ld.global.cg.u32 %r1, [%rd3];\nor.b32 %r3, %r3, %r1;\nadd.u32 %r6, %r6, "
                                "%r9;\n" COUNT "st.global.u32 [%rd2], %r3;"),
       "ld.global.cg"},
      {"data around L1 beside data, by a quotient that each round divides by",
       KERNEL("div.u32 %r9, %r8, 3;\nmov.u32 %r6, 0;\nL: " ELEMENT(
           "mov.u32 %r5, %r6;") "ld.global.cg.u32 %r1, [%rd3];\nor.b32 %r3, %r3, %r1;\ndiv.u32 %r0, %r6, "
                                "%r9;\nmul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd3, %rd2, %rd4;\nst.global.u32 "
                                "[%rd3], %r1;\n"
                                "mad.lo.u32 %r6, %r0, %r9, %r9;\n" COUNT "st.global.u32 [%rd2], %r3;"),
       NULL},
      {"the counter", AT("mov.u32 %r5, %r4;"), NULL},
      {"a stride of the launch", AT("mul.lo.u32 %r5, %r4, %r8;"), NULL},
      {"by a stride of the launch", AT("add.u32 %r6, %r6, %r8;\nmov.u32 %r5, %r6;"), NULL},
      {"a list of indices",
       ROUNDS(ELEMENT("mov.u32 %r5, %r4;") "ld.global.u32 %r0, [%rd3];\nmul.wide.u32 %rd5, %r0, 4;\n"
                                           "add.s64 %rd6, %rd1, %rd5;\nld.volatile.global.u32 %r1, [%rd6];"),
       NULL},
  };
  EXPECT_ALL(cases);
}

static void whatever_reads_anew_is_a_look(void **state) {
  static const wait_case cases[] = {
      {"a function whose parameters are registers",
       MODULE(".func (.reg .b32 o) look(.reg .b64 w) { ld.volatile.u32 o, [w]; ret; }\n",
              "L: call (%r1), look, (%rd1);\nor.b32 %r3, %r3, %r1;\n" COUNT "st.global.u32 [%rd2], %r3;"),
       "call"},
      {"a copy around L1",
       ROUNDS(
           "cp.async.cg.shared.global [slot], [%rd1], 16;\ncp.async.wait_all;\nld.shared.u32 %r1, [slot];"),
       "cp.async"},
      {"a load from several devices", ROUNDS("multimem.ld_reduce.relaxed.gpu.global.add.u32 %r1, [%rd1];"),
       "multimem"},
      {"a copy through L1, which may go on finding the same",
       ROUNDS("cp.async.ca.shared.global [slot], [%rd1], 4;\ncp.async.wait_all;\nld.shared.u32 %r1, [slot];"),
       NULL},
      {"a copy of each element",
       ROUNDS(
           "cp.async.cg.shared.global [slot], [%rd1], 16;\ncp.async.wait_all;\nld.shared.u32 %r1, [slot];\n"
           "add.s64 %rd1, %rd1, 16;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* A number that is fetched in each of so many rounds is handed on in shared memory, and read there. */
#define HANDED(read)                                                                                         \
  KERNEL("L: atom.global.add.u32 %r1, [%rd1], 0x10000;\nst.shared.u32 [slot], %r1;\n" read                   \
         "\nor.b32 %r3, %r3, %r2;\n" COUNT "st.global.u32 [%rd2], %r3;")

static void generic_reads_may_be_of_shared_memory(void **state) {
  static const wait_case cases[] = {
      {"a half, by a pointer to the variable",
       HANDED("mov.u64 %rd5, slot;\ncvta.shared.u64 %rd5, %rd5;\nld.u16 %h1, [%rd5];\ncvt.u32.u16 %r2, %h1;"),
       "atom"},
      {"a half, by a pointer that the kernel keeps in memory",
       HANDED("mov.u64 %rd5, slot;\ncvta.shared.u64 %rd5, %rd5;\nst.local.u64 [own], %rd5;\n"
              "ld.local.u64 %rd6, [own];\nld.u16 %h1, [%rd6];\ncvt.u32.u16 %r2, %h1;"),
       "atom"},
      {"a half, by one of two pointers",
       HANDED("mov.u64 %rd5, slot;\ncvta.shared.u64 %rd5, %rd5;\nsetp.eq.u32 %p1, %r7, 0;\n"
              "selp.b64 %rd6, %rd5, %rd2, %p1;\nld.u16 %h1, [%rd6];\ncvt.u32.u16 %r2, %h1;"),
       "atom"},
      {"data, where no pointer leads to shared memory",
       HANDED("ld.global.u64 %rd6, [%rd2];\nld.u16 %h1, [%rd6];\ncvt.u32.u16 %r2, %h1;"), NULL},
      {"the number, by its name", HANDED("ld.shared.u32 %r0, [slot];\nst.global.u32 [%rd2], %r0;"), NULL},
  };
  EXPECT_ALL(cases);
}

#define USED(atom, use) KERNEL("L: " atom "\n" use "\n" COUNT "st.global.u32 [%rd2], %r3;")
#define IF(compares) compares "\n@%p1 mov.u32 %r3, 1;"

/* What the loop does in each round comes back after few of them; what others write stays. */
static void a_number_that_comes_back_shows_what_others_write(void **state) {
  static const wait_case cases[] = {
      {"a bit is turned, and all bits are compared",
       USED("atom.global.xor.b32 %r1, [%rd1], 8;", IF("setp.eq.u32 %p1, %r1, 12;")), "atom"},
      {"a bit is turned, and the number is large",
       USED("atom.global.xor.b32 %r1, [%rd1], 8;", IF("setp.ge.u32 %p1, %r1, 16;")), "atom"},
      {"a bit is turned beside a load",
       USED("ld.volatile.global.u32 %r1, [%rd1];\nred.global.xor.b32 [%rd1], 8;",
            IF("setp.eq.u32 %p1, %r1, 12;")),
       "ld.volatile"},
      {"a bit is turned, and all bits are stored",
       USED("atom.global.xor.b32 %r1, [%rd1], 8;", "st.global.u32 [%rd2+4096], %r1;"), "atom"},
      {"the upper bit is added",
       USED("atom.global.add.u32 %r1, [%rd1], 0x80000000;", IF("setp.eq.u32 %p1, %r1, 5;")), "atom"},
      {"a count of eight, beyond them",
       USED("atom.global.inc.u32 %r1, [%rd1], 7;", IF("setp.ge.u32 %p1, %r1, 8;")), "atom"},
      {"a count of eight, above the last",
       USED("atom.global.inc.u32 %r1, [%rd1], 7;", IF("setp.gt.u32 %p1, %r1, 7;")), "atom"},
      {"a count of two, with a number of the launch",
       USED("atom.global.dec.u32 %r1, [%rd1], 1;", IF("setp.gt.u32 %p1, %r1, %r8;")), "atom"},
      {"the next number is compared with the last one and one",
       USED("atom.global.add.u32 %r1, [%rd1], 1;",
            "add.u32 %r5, %r6, 1;\nmov.u32 %r6, %r1;\n" IF("setp.ne.u32 %p1, %r1, %r5;")),
       "atom"},
      {"the number is compared with the rounds",
       USED("atom.global.add.u32 %r1, [%rd1], 1;", IF("setp.gt.u32 %p1, %r1, %r4;")), "atom"},
      {"it goes through memory, and its upper bits are looked at",
       USED("atom.global.add.u32 %r1, [%rd1], 1;",
            "st.global.u32 [%rd1+4096], %r1;\nld.global.u32 %r2, [%rd1+4096];\n"
            "shr.u32 %r2, %r2, 20;\nor.b32 %r3, %r3, %r2;"),
       "atom"},
      {"it goes through memory, and a byte is loaded",
       USED("atom.global.add.u32 %r1, [%rd1], 1;",
            "st.global.u32 [%rd1+4096], %r1;\nld.global.u8 %r2, [%rd1+4098];\n"
            "or.b32 %r3, %r3, %r2;"),
       "atom"},
      {"a place in a ring",
       USED("atom.global.inc.u32 %r1, [%rd1], 63;",
            "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd3, %rd1, %rd4;\nst.global.u32 [%rd3+64], %r7;"),
       NULL},
      {"a number within a ring",
       USED("atom.global.inc.u32 %r1, [%rd1], 63;", IF("setp.eq.u32 %p1, %r1, 63;")), NULL},
      {"the last of the launch",
       USED("atom.global.add.u32 %r1, [%rd1], 1;", IF("setp.eq.u32 %p1, %r1, %r8;")), NULL},
      {"a number that is loaded",
       USED("ld.global.u32 %r2, [%rd2+64];\natom.global.add.u32 %r1, [%rd1], 1;",
            IF("setp.eq.u32 %p1, %r1, %r2;")),
       NULL},
      {"it is stored as it is", USED("atom.global.add.u32 %r1, [%rd1], 1;", "st.global.u32 [%rd2+64], %r1;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

#define PLAIN "ld.global.u32 %r1, [%rd1];"

static void what_acquires_is_a_fence(void **state) {
  static const wait_case cases[] = {
      {"an atomic", ROUNDS("atom.acquire.gpu.global.add.u32 %r5, [%rd1+64], 1;\n" PLAIN), "ld.global"},
      {"an atomic that releases as well",
       ROUNDS("atom.acq_rel.sys.global.add.u32 %r5, [%rd1+64], 1;\n" PLAIN), "ld.global"},
      {"a load of another word in each round",
       ROUNDS("ld.acquire.gpu.global.u32 %r5, [%rd2];\nadd.s64 %rd2, %rd2, 4;\n" PLAIN), "ld.global"},
      {"a lock around the look",
       ROUNDS("A: atom.acquire.gpu.global.cas.b32 %r5, [%rd1+64], 0, 1;\nsetp.ne.u32 %p1, %r5, 0;\n"
              "@%p1 bra A;\n" PLAIN "\natom.release.gpu.global.exch.b32 %r6, [%rd1+64], 0;"),
       "ld.global"},
      {"an atomic that only releases", ROUNDS("atom.release.gpu.global.add.u32 %r5, [%rd1+64], 1;\n" PLAIN),
       NULL},
      {"an atomic of the CTA's scope", ROUNDS("atom.acquire.cta.global.add.u32 %r5, [%rd1+64], 1;\n" PLAIN),
       NULL},
  };
  EXPECT_ALL(cases);
}

#define BULK_POLL(last)                                                                                      \
  KERNEL("mov.u32 %r2, slot;\nmov.u32 %r3, other;\nL: "                                                      \
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx"                                        \
         "::bytes [%r2], [%rd1], 16, [%r3];\n"                                                               \
         "W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n@!%p3 bra W;\nld.shared.u32 %r1, [slot];\n" \
         "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra M;\n" last "M:")

static void copies_around_L1_are_no_plain_loads(void **state) {
  static const wait_case cases[] = {
      {"a bulk copy", BULK_POLL("bra L;\n"), "cp.async.bulk"},
      {"a bulk copy, so many times", BULK_POLL(COUNT), "cp.async.bulk"},
      {"a load from several devices, so many times",
       KERNEL("L: multimem.ld_reduce.weak.global.add.u32 %r1, [%rd1];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra "
              "M;\n" COUNT "M:"),
       "multimem"},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("an atomic that may change nothing is a look", atomics_that_may_change_nothing_are_looks),
      BEHAVIOUR("a write in every round excuses a look", a_write_excuses_a_look_in_every_round_only),
      BEHAVIOUR("an address that stays for many rounds is looked at again",
                addresses_that_stay_for_many_rounds_are_looked_at_again),
      BEHAVIOUR("whatever reads anew is a look", whatever_reads_anew_is_a_look),
      BEHAVIOUR("copies around L1 are no plain loads", copies_around_L1_are_no_plain_loads),
      BEHAVIOUR("what acquires is a fence", what_acquires_is_a_fence),
      BEHAVIOUR("a number that comes back shows what others write",
                a_number_that_comes_back_shows_what_others_write),
      BEHAVIOUR("generic reads may be of shared memory", generic_reads_may_be_of_shared_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
