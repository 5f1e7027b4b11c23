/* What else the kernel does beside a loop that ends by what its threads do: additions beside fetched work,
 * writes beside an update, numbers of the text beside a lock, and predicates of the round before. */
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

/* A thread without the lock stores through another parameter. */
#define STORED(store)                                                                                        \
  TWO_POINTERS("setp.eq.u32 %p2, %r7, 5;\n@%p2 bra O;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\n"          \
               "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nst.global.u32 [%rd1], 0;\nret;\nO: " store)

static void a_number_of_the_text_may_be_meant_for_the_lock(void **state) {
  static const wait_case cases[] = {
      {"a float", STORED("st.global.f32 [%rd6], 0f00000000;"), "atom"},
      {"a float in a register", STORED("mov.f32 %f1, 0f00000000;\nst.global.f32 [%rd6], %f1;"), "atom"},
      {"a double", STORED("st.global.f64 [%rd6], 0d0000000000000000;"), "atom"},
      {"a vector of floats",
       STORED("mov.f32 %f1, 0f00000000;\nst.global.v4.f32 [%rd6], {%f1, %f1, %f1, %f1};"), "atom"},
      {"one element of a vector", STORED("mov.f32 %f1, 0f00000000;\nst.global.v2.f32 [%rd6], {%f2, %f1};"),
       "atom"},
      {"two numbers in one",
       STORED("mov.u32 %r2, 0;\nmov.b64 %rd2, {%r2, %r2};\nst.global.u64 [%rd6], %rd2;"), "atom"},
      {"beside data in one number",
       STORED("mov.u32 %r2, 0;\nmov.b64 %rd2, {%r2, %r8};\nst.global.u64 [%rd6], %rd2;"), "atom"},
      {"two halves", STORED("mov.u16 %h1, 0;\nmov.b32 %r2, {%h1, %h1};\nst.global.u32 [%rd6], %r2;"), "atom"},
      {"a number that is widened",
       STORED("mov.u32 %r2, 0;\ncvt.u64.u32 %rd2, %r2;\nst.global.u32 [%rd6], %rd2;"), "atom"},
      {"a number that becomes a float",
       STORED("mov.u32 %r2, 0;\ncvt.rn.f32.u32 %f1, %r2;\nst.global.f32 [%rd6], %f1;"), "atom"},
      {"a sum of two", STORED("mov.u32 %r2, 5;\nadd.u32 %r3, %r2, -5;\nst.global.u32 [%rd6], %r3;"), "atom"},
      {"a register and itself", STORED("xor.b32 %r2, %r2, %r2;\nst.global.u32 [%rd6], %r2;"), "atom"},
      {"data less itself", STORED("sub.u32 %r2, %r8, %r8;\nst.global.u32 [%rd6], %r2;"), "atom"},
      {"no bits of data", STORED("and.b32 %r2, %r8, 0;\nst.global.u32 [%rd6], %r2;"), "atom"},
      {"one of two numbers",
       STORED("setp.lt.u32 %p3, %r8, 5;\nselp.b32 %r2, 0, 1, %p3;\nst.global.u32 [%rd6], %r2;"), "atom"},
      {"one of two numbers, by a branch",
       STORED("mov.u32 %r2, 1;\nsetp.lt.u32 %p3, %r8, 5;\n@%p3 mov.u32 %r2, 0;\nst.global.u32 [%rd6], %r2;"),
       "atom"},
      {"a counter of the text",
       STORED("mov.u32 %r2, 0;\nB: st.global.u32 [%rd6], %r2;\nadd.u32 %r2, %r2, 1;\n"
              "setp.lt.u32 %p3, %r2, 8;\n@%p3 bra B;"),
       "atom"},
      {"another float", STORED("st.global.f32 [%rd6], 0f3F800000;"), NULL},
      {"another decimal float", STORED("mov.f32 %f1, 1.5;\nst.global.f32 [%rd6], %f1;"), NULL},
      {"other numbers and data in a vector",
       STORED("mov.f32 %f1, 0f3F800000;\nst.global.v4.f32 [%rd6], {%f1, %f1, %f2, %f3};"), NULL},
      {"data in one number", STORED("mov.b64 %rd2, {%r8, %r7};\nst.global.u64 [%rd6], %rd2;"), NULL},
      {"two registers", STORED("xor.b32 %r2, %r8, %r7;\nst.global.u32 [%rd6], %r2;"), NULL},
      {"a sum of data that begins at 0",
       STORED("mov.f32 %f1, 0f00000000;\nB: ld.global.f32 %f2, [%rd6+8];\nadd.f32 %f1, %f1, %f2;\n"
              "add.u32 %r7, %r7, 1;\nsetp.lt.u32 %p3, %r7, %r8;\n@%p3 bra B;\nst.global.f32 [%rd6], %f1;"),
       NULL},
      {"data or 0", STORED("max.s32 %r2, %r8, 0;\nst.global.u32 [%rd6], %r2;"), NULL},
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

/* A thread takes the lock; all of the CTA meet, do something, and meet again. */
#define CTA_LOCK(which, release)                                                                             \
  KERNEL(which                                                                                               \
         "@%p2 bra M;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\n"   \
         "M: bar.sync 0;\nst.global.u32 [%rd1+64], %r7;\nbar.sync 0;\n" release)
#define FIRST "setp.ne.s32 %p2, %r7, 0;\n"
#define GIVE "atom.global.exch.b32 %r2, [%rd1], 0;\n"

static void one_thread_takes_a_lock_for_the_cta(void **state) {
  static const wait_case cases[] = {
      {"and gives it back behind a branch like the one before it", CTA_LOCK(FIRST, "@%p2 bra E;\n" GIVE "E:"),
       NULL},
      {"the branch the other way round", CTA_LOCK(FIRST, "@!%p2 bra G;\nbra E;\nG: " GIVE "E:"), NULL},
      {"a section for each of several elements",
       KERNEL(FIRST "T: @%p2 bra M;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r1, "
                    "0;\n@%p1 bra L;\n"
                    "M: bar.sync 0;\nst.global.u32 [%rd1+64], %r7;\nbar.sync 0;\n@%p2 bra E;\n" GIVE
                    "E: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, 8;\n@%p3 bra T;"),
       NULL},
      {"another thread gives it back", CTA_LOCK(FIRST, "setp.ne.s32 %p3, %r7, 1;\n@%p3 bra E;\n" GIVE "E:"),
       "atom"},
      {"all others give it back", CTA_LOCK(FIRST, "@!%p2 bra E;\n" GIVE "E:"), "atom"},
      {"all give it back", CTA_LOCK(FIRST, GIVE), "atom"},
      {"given back by some value of the launch",
       CTA_LOCK(FIRST, "setp.eq.u32 %p3, %r8, 0;\n@%p3 bra E;\n@%p2 bra E;\n" GIVE "E:"), "atom"},
      {"the predicate is another one by then",
       CTA_LOCK(FIRST, "setp.ne.s32 %p2, %r8, 0;\n@%p2 bra E;\n" GIVE "E:"), "atom"},
      {"the predicate is another one in each round",
       KERNEL("T: setp.ne.s32 %p2, %r4, 0;\n@%p2 bra M;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\n"
              "setp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nM: add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p3, %r4, "
              "8;\n@%p3 bra T;\n"
              "@%p2 bra E;\n" GIVE "E:"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("one thread takes a lock for the CTA", one_thread_takes_a_lock_for_the_cta),
      BEHAVIOUR("additions in the loop come with what it fetches",
                additions_in_the_loop_come_with_what_it_fetches),
      BEHAVIOUR("writes through another pointer may meet an update",
                writes_through_another_pointer_may_meet_an_update),
      BEHAVIOUR("a number of the text may be meant for the lock",
                a_number_of_the_text_may_be_meant_for_the_lock),
      BEHAVIOUR("a branch asks what the last try found", a_branch_asks_what_the_last_try_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
