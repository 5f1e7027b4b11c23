/* What else the kernel does beside a loop that ends by what its threads do: additions beside fetched work,
 * writes beside an update, and predicates of the round before beside a lock. */
#include "check.h"

#include "waits.h"

#define TWO_POINTERS(body)                                                                                   \
  HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n" DECLARATIONS                    \
       "ld.param.u64 %rd6, [q];\n" START body "\nret;\n}\n"

#define FETCHED(body)                                                                                        \
  TWO_POINTERS("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\n" body      \
               "bra L;\nM:")
#define TIMES(n, body)                                                                                       \
  "mov.u32 %r2, 0;\nI: " body "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, " n ";\n@%p2 bra I;\n"

static void additions_in_the_loop_come_with_what_it_fetches(void **state) {
  static const wait_case cases[] = {
      {"to all numbers of 32 bits in a round",
       FETCHED("red.global.add.u32 [%rd1], 0x7ffffffe;\nred.global.add.u32 [%rd1], 0x7fffffff;\n"
               "red.global.add.u32 [%rd1], 2;\n"),
       "atom"},
      {"the same of two and a half",
       FETCHED("red.global.add.u32 [%rd1], 0x7fffffff;\nred.global.add.u32 [%rd1], 0x7fffffff;\n"
               "red.global.add.u32 [%rd1], 1;\n"),
       "atom"},
      {"in a loop within", FETCHED(TIMES("65537", "red.global.add.u32 [%rd1], 65535;\n")), "atom"},
      {"one more, so that every other number is left out", FETCHED("red.global.add.u32 [%rd1], 1;\n"),
       "atom"},
      {"through a pointer from memory",
       FETCHED("ld.global.u64 %rd2, [%rd6];\nred.global.add.u32 [%rd2], 0x7fffffff;\n"), "atom"},
      {"through another parameter", FETCHED("red.global.add.u32 [%rd6], 0x7fffffff;\n"), "atom"},
      {"through another parameter, in a loop within",
       FETCHED(TIMES("65537", "red.global.add.u32 [%rd6], 65535;\n")), "atom"},
      {"through another parameter, the size of the CTA in a loop within",
       FETCHED("mov.u32 %r3, %ntid.x;\n" TIMES("%r8", "red.global.add.u32 [%rd6], %r3;\n")), "atom"},
      {"it is fetched many times before the number is looked at",
       TWO_POINTERS("L: " TIMES(
           "65536", "atom.global.add.u32 %r1, [%rd1], 65536;\n") "setp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;"),
       "atom"},
      {"a count of data",
       FETCHED("mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd6, %rd2;\n"
               "red.global.add.u32 [%rd3], 1;\n"),
       NULL},
      {"counts of data in a loop within", FETCHED(TIMES("%r8", "red.global.add.u32 [%rd6], 1;\n")), NULL},
      {"a sum of data", FETCHED("red.global.add.u32 [%rd6], 64;\n"), NULL},
      {"behind the loop, whatever it adds",
       TWO_POINTERS("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.lt.u32 %p1, %r1, %r8;\n@%p1 bra L;\n"
                    "red.global.add.u32 [%rd1], 1000000;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

#define UPDATE(write)                                                                                        \
  TWO_POINTERS("L: ld.volatile.global.u32 %r2, [%rd1];\n" write                                              \
               "atom.global.cas.b32 %r1, [%rd1], %r2, 77;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra L;")

static void writes_through_another_pointer_may_meet_an_update(void **state) {
  static const wait_case cases[] = {
      {"an addition", UPDATE("red.global.add.u32 [%rd6], 1;\n"), "ld.volatile"},
      {"an exchange", UPDATE("add.u32 %r5, %r5, 1;\natom.global.exch.b32 %r4, [%rd6], %r5;\n"),
       "ld.volatile"},
      {"bits that are turned", UPDATE("red.global.xor.b32 [%rd6], 1;\n"), "ld.volatile"},
      {"a volatile store", UPDATE("st.volatile.global.u32 [%rd6], %r8;\n"), "ld.volatile"},
      {"a store that releases", UPDATE("st.release.gpu.global.u32 [%rd6], %r8;\n"), "ld.volatile"},
      {"a bulk copy",
       UPDATE("mov.u32 %r3, slot;\ncp.async.bulk.global.shared::cta.bulk_group [%rd6], [%r3], 16;\n"),
       "ld.volatile"},
      {"a plain store", UPDATE("st.global.u32 [%rd6], %r2;\n"), NULL},
      {"an addition beside the word", UPDATE("red.global.add.u32 [%rd1+4], 1;\n"), NULL},
      {"an addition in shared memory", UPDATE("red.shared.add.u32 [slot], 1;\n"), NULL},
  };
  EXPECT_ALL(cases);
}

#define RELEASE "membar.gl;\natom.global.exch.b32 %r3, [%rd1], 0;"

/* A thread that leaves the loop by what it found a round before may go on without the lock. */
static void a_branch_asks_what_the_last_try_found(void **state) {
  static const wait_case cases[] = {
      {"compared in front of the try",
       KERNEL("L: setp.ne.u32 %p1, %r1, 0;\natom.global.cas.b32 %r1, [%rd1], 0, 1;\n@%p1 bra L;\n" RELEASE),
       "atom"},
      {"compared in some rounds",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.lt.u32 %p3, %r8, 7;\n@%p3 bra B;\n"
              "setp.ne.u32 %p1, %r1, 0;\nB: @%p1 bra L;\n" RELEASE),
       "atom"},
      {"turned round in front of the try",
       KERNEL("L: not.pred %p2, %p1;\natom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "@!%p2 bra L;\n" RELEASE),
       "atom"},
      {"selected behind the question",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "setp.ne.u32 %p2, %r4, 0;\nselp.b32 %r4, 1, 0, %p1;\n@%p2 bra L;\n" RELEASE),
       "atom"},
      {"turned round",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "not.pred %p2, %p1;\n@!%p2 bra L;\n" RELEASE),
       NULL},
      {"selected",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "selp.b32 %r4, 1, 0, %p1;\nsetp.ne.u32 %p2, %r4, 0;\n@%p2 bra L;\n" RELEASE),
       NULL},
      {"asked twice",
       KERNEL("L: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n"
              "@%p1 bra S;\n" RELEASE "\nS: @%p1 bra L;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("additions in the loop come with what it fetches",
                additions_in_the_loop_come_with_what_it_fetches),
      BEHAVIOUR("writes through another pointer may meet an update",
                writes_through_another_pointer_may_meet_an_update),
      BEHAVIOUR("a branch asks what the last try found", a_branch_asks_what_the_last_try_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
