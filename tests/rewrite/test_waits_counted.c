/* Counting semaphores, and locks for readers and writers: words of which each thread gives back what it took.
 */
#include "check.h"

#include "waits.h"

#define OTHER_PARAM(body)                                                                                    \
  HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n" DECLARATIONS                    \
       "ld.param.u64 %rd6, [q];\n" START body "\nret;\n}\n"

/* A part of a semaphore at %rd1, which is given back at once if there was none. */
#define TRY_PART                                                                                             \
  "L: atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra G;\n"                         \
  "red.global.add.u32 [%rd1], 1;\nbra L;\nG: "
#define GIVE_PART "membar.gl;\nred.global.add.u32 [%rd1], 1;\n"
/* The same by a swap, of what a load has found. */
#define SWAP_PART(compare)                                                                                   \
  "L: ld.volatile.global.u32 %r1, [%rd1];\n" compare "@%p1 bra L;\nadd.s32 %r2, %r1, -1;\n"                  \
  "atom.global.cas.b32 %r3, [%rd1], %r1, %r2;\nsetp.ne.s32 %p2, %r3, %r1;\n@%p2 bra L;\n"
#define NONE_LEFT "setp.lt.s32 %p1, %r1, 1;\n"

#define READ(check)                                                                                          \
  "R: ld.volatile.global.u32 %r1, [%rd1];\n" check "add.s32 %r2, %r1, 1;\n"                                  \
  "atom.global.cas.b32 %r3, [%rd1], %r1, %r2;\nsetp.ne.s32 %p2, %r3, %r1;\n@%p2 bra R;\n"                    \
  "ld.volatile.global.u32 %r4, [%rd1+64];\nmembar.gl;\n"
#define NO_WRITER "setp.lt.s32 %p1, %r1, 0;\n@%p1 bra R;\n"
#define READ_OUT "red.global.add.u32 [%rd1], -1;\n"
#define WRITE(taken)                                                                                         \
  "W: atom.global.cas.b32 %r5, [%rd1], 0, " taken ";\nsetp.ne.s32 %p3, %r5, 0;\n@%p3 bra W;\n"               \
  "st.volatile.global.u32 [%rd1+64], %r7;\nmembar.gl;\n"
#define WRITE_OUT "atom.global.exch.b32 %r6, [%rd1], 0;\n"
/* Some threads write, the others read. */
#define BOTH(read, write) KERNEL("setp.eq.u32 %p4, %r7, 5;\n@%p4 bra W;\n" read "ret;\n" write)
#define BOTH_WITH_ANOTHER_PARAMETER(read, write)                                                             \
  OTHER_PARAM("setp.eq.u32 %p4, %r7, 5;\n@%p4 bra W;\n" read "ret;\n" write)
#define BY_ANOTHER(write) "setp.ne.u32 %p4, %r7, 5;\n@%p4 bra L;\n" write "ret;\n"

static void parts_that_are_given_back_are_accepted(void **state) {
  static const wait_case cases[] = {
      {"a semaphore, tried by an addition", KERNEL(TRY_PART GIVE_PART), NULL},
      {"a semaphore, given back by an atomic",
       KERNEL(TRY_PART "membar.gl;\natom.global.add.u32 %r2, [%rd1], 1;\n"), NULL},
      {"a semaphore, looked at first",
       KERNEL("A: ld.volatile.global.u32 %r2, [%rd1];\nsetp.lt.s32 %p2, %r2, 1;\n@%p2 bra A;\n"
              "atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra G;\n"
              "red.global.add.u32 [%rd1], 1;\nbra A;\nG: " GIVE_PART),
       NULL},
      {"a semaphore, by a swap", KERNEL(SWAP_PART(NONE_LEFT) GIVE_PART), NULL},
      {"a semaphore that counts up to a limit",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.lt.s32 %p1, %r1, 4;\n@%p1 bra G;\n"
              "red.global.add.u32 [%rd1], -1;\nbra L;\nG: membar.gl;\nred.global.add.u32 [%rd1], -1;\n"),
       NULL},
      {"two parts at once",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], -2;\nsetp.gt.s32 %p1, %r1, 1;\n@%p1 bra G;\n"
              "red.global.add.u32 [%rd1], 2;\nbra L;\nG: membar.gl;\nred.global.add.u32 [%rd1], 2;\n"),
       NULL},
      {"one after the other",
       KERNEL(TRY_PART GIVE_PART
              "M: atom.global.add.u32 %r2, [%rd1], -1;\nsetp.gt.s32 %p2, %r2, 0;\n@%p2 bra "
              "H;\nred.global.add.u32 [%rd1], 1;\nbra M;\nH: " GIVE_PART),
       NULL},
      {"the first try lies in front of the loop",
       KERNEL("atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra G;\n"
              "L: red.global.add.u32 [%rd1], 1;\nnanosleep.u32 100;\natom.global.add.u32 %r2, [%rd1], -1;\n"
              "setp.lt.s32 %p2, %r2, 1;\n@%p2 bra L;\nG: " GIVE_PART),
       NULL},
      {"a variable, by its name and in a register",
       MODULE(".global .align 4 .u32 word = 4;\n",
              "mov.u64 %rd5, word;\nL: ld.volatile.global.u32 %r1, [word];\n" NONE_LEFT "@%p1 bra L;\n"
              "add.s32 %r2, %r1, -1;\natom.global.cas.b32 %r3, [%rd5], %r1, %r2;\n"
              "setp.ne.s32 %p2, %r3, %r1;\n@%p2 bra L;\n"
              "membar.gl;\nred.global.add.u32 [%rd5], 1;\n"),
       NULL},
      {"another element of it",
       MODULE(".global .align 4 .u32 word[2] = {4, 0};\n",
              "mov.u64 %rd5, word;\nL: ld.volatile.global.u32 %r1, [word+4];\n" NONE_LEFT "@%p1 bra L;\n"
              "add.s32 %r2, %r1, -1;\natom.global.cas.b32 %r3, [%rd5], %r1, %r2;\n"
              "setp.ne.s32 %p2, %r3, %r1;\n@%p2 bra L;\n"
              "membar.gl;\nred.global.add.u32 [%rd5], 1;\n"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void holders_write_through_another_parameter_what_lets_others_in(void **state) {
  static const wait_case cases[] = {
      {"results, through another parameter",
       OTHER_PARAM(
           TRY_PART
           "mul.wide.u32 %rd2, %r7, 4;\nadd.s64 %rd3, %rd6, %rd2;\nst.global.u32 [%rd3], 1;\n" GIVE_PART),
       NULL},
      {"a write that others see, through another parameter",
       OTHER_PARAM(TRY_PART "st.volatile.global.u32 [%rd6], %r7;\n" GIVE_PART), "atom"},
      {"ones, added through another parameter",
       OTHER_PARAM(TRY_PART "red.global.add.u32 [%rd6], 1;\n" GIVE_PART), NULL},
      {"ones, taken away through another parameter, of a semaphore that counts up",
       OTHER_PARAM("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.lt.s32 %p1, %r1, 4;\n@%p1 bra G;\n"
                   "red.global.add.u32 [%rd1], -1;\nbra L;\nG: red.global.add.u32 [%rd6], -1;\nmembar.gl;\n"
                   "red.global.add.u32 [%rd1], -1;\n"),
       NULL},
  };
  EXPECT_ALL(cases);
}

static void locks_of_readers_and_writers_that_keep_apart_are_accepted(void **state) {
  static const wait_case cases[] = {
      {"readers and a writer", BOTH(READ(NO_WRITER) READ_OUT, WRITE("-1") WRITE_OUT), NULL},
      {"readers and a writer who stores",
       BOTH(READ(NO_WRITER) READ_OUT, WRITE("-1") "st.global.u32 [%rd1], 0;"), NULL},
      {"a sum that others see, by the writer through another parameter",
       BOTH_WITH_ANOTHER_PARAMETER(READ(NO_WRITER) READ_OUT,
                                   WRITE("-1") "ld.volatile.global.u32 %r9, [%rd6];\nadd.s32 %r9, %r9, 1;\n"
                                               "st.volatile.global.u32 [%rd6], %r9;\n" WRITE_OUT),
       NULL},
      {"an atomic by the writer through another parameter",
       BOTH_WITH_ANOTHER_PARAMETER(READ(NO_WRITER) READ_OUT,
                                   WRITE("-1") "red.global.add.u32 [%rd6], %r7;\n" WRITE_OUT),
       NULL},
      {"the writer takes it by a great negative number",
       BOTH(READ(NO_WRITER) READ_OUT, WRITE("0x80000000") WRITE_OUT), NULL},
  };
  EXPECT_ALL(cases);
}

static void parts_that_some_thread_keeps_or_brings_are_refused(void **state) {
  static const wait_case cases[] = {
      {"kept", KERNEL(TRY_PART "st.global.u32 [%rd1+64], %r7;"), "atom"},
      {"kept by some", KERNEL(TRY_PART "setp.eq.u32 %p2, %r7, 3;\n@%p2 bra E;\n" GIVE_PART "E:"), "atom"},
      {"given back under a guard",
       KERNEL(TRY_PART "setp.eq.u32 %p2, %r7, 3;\n@%p2 red.global.add.u32 [%rd1], 1;"), "atom"},
      {"kept when there was none",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.s32 %p1, %r1, 0;\n@!%p1 bra L;\n" GIVE_PART),
       "atom"},
      {"given back twice", KERNEL(TRY_PART GIVE_PART GIVE_PART), "atom"},
      {"more is given back", KERNEL(TRY_PART "red.global.add.u32 [%rd1], 2;"), "atom"},
      {"as many are given back as a number says", KERNEL(TRY_PART "red.global.add.u32 [%rd1], %r8;"), "atom"},
      {"brought by another thread", KERNEL(BY_ANOTHER("red.global.add.u32 [%rd1], 1;\n") TRY_PART GIVE_PART),
       "atom"},
      {"set by another thread", KERNEL(BY_ANOTHER("st.global.u32 [%rd1], 4;\n") TRY_PART GIVE_PART), "atom"},
      {"brought at another address",
       KERNEL(BY_ANOTHER("mul.wide.s32 %rd2, %r8, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
                         "red.global.add.u32 [%rd3], 1;\n") TRY_PART GIVE_PART),
       "atom"},
      {"brought through another parameter",
       OTHER_PARAM(BY_ANOTHER("red.global.add.u32 [%rd6], 1;\n") TRY_PART GIVE_PART), "atom"},
      {"taken by a holder through another parameter",
       OTHER_PARAM(TRY_PART "red.global.add.u32 [%rd6], -1;\n" GIVE_PART), "atom"},
      {"brought by a holder of a semaphore that counts up, through another parameter",
       OTHER_PARAM("L: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.lt.s32 %p1, %r1, 4;\n@%p1 bra G;\n"
                   "red.global.add.u32 [%rd1], -1;\nbra L;\nG: red.global.add.u32 [%rd6], 1;\nmembar.gl;\n"
                   "red.global.add.u32 [%rd1], -1;\n"),
       "atom"},
      {"data, added by a holder through another parameter",
       OTHER_PARAM(TRY_PART "red.global.add.u32 [%rd6], %r8;\n" GIVE_PART), "atom"},
      {"ones, added through another parameter behind the section",
       OTHER_PARAM(TRY_PART GIVE_PART "red.global.add.u32 [%rd6], 1;\n"), "atom"},
      {"ones, added through another parameter under a guard",
       OTHER_PARAM(TRY_PART "setp.eq.u32 %p2, %r7, 3;\n@%p2 red.global.add.u32 [%rd6], 1;\n" GIVE_PART),
       "atom"},
      {"the first try lies in front of the loop, and its part is kept",
       KERNEL("atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.s32 %p1, %r1, 0;\n@%p1 bra E;\n"
              "L: red.global.add.u32 [%rd1], 1;\natom.global.add.u32 %r2, [%rd1], -1;\n"
              "setp.lt.s32 %p2, %r2, 1;\n@%p2 bra L;\n" GIVE_PART "E:"),
       "atom"},
      {"a number stored through another parameter",
       OTHER_PARAM(BY_ANOTHER("st.global.u32 [%rd6], 1;\n") TRY_PART GIVE_PART), "atom"},
      {"brought by a wider word", KERNEL(BY_ANOTHER("red.global.add.u64 [%rd1], 1;\n") TRY_PART GIVE_PART),
       "atom"},
      {"an arrival, and the others are waited for",
       KERNEL("red.global.add.u32 [%rd1], 1;\nL: ld.volatile.global.u32 %r1, [%rd1];\n"
              "setp.ge.s32 %p1, %r1, %r8;\n@!%p1 bra L;\nred.global.add.u32 [%rd1], -1;"),
       "ld.volatile"},
      {"the same of four",
       KERNEL("red.global.add.u32 [%rd1], 1;\nL: ld.volatile.global.u32 %r1, [%rd1];\n"
              "setp.ge.s32 %p1, %r1, 4;\n@!%p1 bra L;\nred.global.add.u32 [%rd1], -1;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void threads_that_wait_with_a_part_in_hand_are_refused(void **state) {
  static const wait_case cases[] = {
      {"for another part of the same",
       KERNEL(TRY_PART "M: atom.global.add.u32 %r2, [%rd1], -1;\nsetp.gt.s32 %p2, %r2, 0;\n@%p2 bra H;\n"
                       "red.global.add.u32 [%rd1], 1;\nbra M;\nH: " GIVE_PART GIVE_PART),
       "atom"},
      {"until others have given theirs back",
       KERNEL("red.global.add.u32 [%rd1], -1;\nL: ld.volatile.global.u32 %r1, [%rd1];\n"
              "setp.lt.s32 %p1, %r1, 0;\n@%p1 bra L;\nred.global.add.u32 [%rd1], 1;"),
       "ld.volatile"},
      {"a reader who would write", KERNEL(READ(NO_WRITER) WRITE("-1") WRITE_OUT READ_OUT), "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void comparisons_that_let_in_by_chance_are_refused(void **state) {
  static const wait_case cases[] = {
      {"other than none",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], -1;\nsetp.ne.s32 %p1, %r1, 0;\n@%p1 bra "
              "G;\nred.global.add.u32 [%rd1], 1;\nbra L;\nG: " GIVE_PART),
       "atom"},
      {"unsigned, so that one less than none is most",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.u32 %p1, %r1, 0;\n@%p1 bra G;\n"
              "red.global.add.u32 [%rd1], 1;\nbra L;\nG: " GIVE_PART),
       "atom"},
      {"fewer than there were at first",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], -1;\nsetp.lt.s32 %p1, %r1, 2;\n@%p1 bra G;\n"
              "red.global.add.u32 [%rd1], 1;\nbra L;\nG: " GIVE_PART),
       "atom"},
      {"as many as a number says",
       KERNEL("L: atom.global.add.u32 %r1, [%rd1], -1;\nsetp.gt.s32 %p1, %r1, %r8;\n@%p1 bra G;\n"
              "red.global.add.u32 [%rd1], 1;\nbra L;\nG: " GIVE_PART),
       "atom"},
      {"of 64 bits, the upper of which are 0",
       KERNEL("L: ld.volatile.global.u32 %rd2, [%rd1];\nsetp.lt.s64 %p1, %rd2, 1;\n@%p1 bra L;\n"
              "atom.global.add.u32 %r1, [%rd1], -1;\nred.global.add.u32 [%rd1], 1;"),
       "ld.volatile"},
      {"of what was found before the loop",
       KERNEL(
           "atom.global.add.u32 %r1, [%rd1], -1;\nred.global.add.u32 [%rd1], 1;\nL: setp.ne.u32 %p2, %r9, "
           "0;\n"
           "@%p2 bra A;\nld.volatile.global.u32 %r2, [%rd1];\nmov.u32 %r9, 1;\nA: setp.gt.s32 %p1, %r2, 0;\n"
           "@!%p1 bra L;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void locks_of_readers_and_writers_that_do_not_keep_apart_are_refused(void **state) {
  static const wait_case cases[] = {
      {"readers come while a writer is there", BOTH(READ("") READ_OUT, WRITE("-1") WRITE_OUT), "atom"},
      {"readers come at other numbers",
       BOTH(READ("setp.lt.s32 %p1, %r1, -7;\n@%p1 bra R;\n") READ_OUT, WRITE("-1") WRITE_OUT), "ld.volatile"},
      {"readers come when there are readers",
       BOTH(READ("setp.lt.s32 %p1, %r1, 1;\n@%p1 bra R;\n") READ_OUT, WRITE("-1") WRITE_OUT), "ld.volatile"},
      {"the writer is there as so many readers are",
       BOTH(READ("setp.eq.s32 %p1, %r1, 1000;\n@%p1 bra R;\n") READ_OUT, WRITE("1000") WRITE_OUT),
       "ld.volatile"},
      {"the same, where the numbers' order decides", BOTH(READ(NO_WRITER) READ_OUT, WRITE("1000") WRITE_OUT),
       "ld.volatile"},
      {"readers add before they look, and the writer forgets it",
       BOTH("R: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ge.s32 %p1, %r1, 0;\n@%p1 bra G;\n"
            "red.global.add.u32 [%rd1], -1;\nbra R;\nG: membar.gl;\n" READ_OUT,
            WRITE("-1") WRITE_OUT),
       "atom"},
      {"readers look, and come by what they find later",
       BOTH(READ(NO_WRITER "ld.volatile.global.u32 %r1, [%rd1];\n") READ_OUT, WRITE("-1") WRITE_OUT),
       "ld.volatile"},
      {"readers look at one number and come by another",
       BOTH(READ(NO_WRITER "ld.volatile.global.u32 %r9, [%rd1];\nmov.u32 %r1, %r9;\n") READ_OUT,
            WRITE("-1") WRITE_OUT),
       "ld.volatile"},
      {"readers take a number that has changed for the one that they expected",
       BOTH("R: ld.volatile.global.u32 %r1, [%rd1];\n" NO_WRITER "add.s32 %r2, %r1, 1;\n"
            "atom.global.cas.b32 %r3, [%rd1], %r1, %r2;\nmov.u32 %r1, %r8;\nsetp.ne.s32 %p2, %r3, %r1;\n"
            "@%p2 bra R;\nmembar.gl;\n" READ_OUT,
            WRITE("-1") WRITE_OUT),
       "ld.volatile"},
      {"readers do not leave", BOTH(READ(NO_WRITER), WRITE("-1") WRITE_OUT), "ld.volatile"},
      {"readers leave as writers do", BOTH(READ(NO_WRITER) WRITE_OUT, WRITE("-1") WRITE_OUT), "ld.volatile"},
      {"the writer leaves as readers do", BOTH(READ(NO_WRITER) READ_OUT, WRITE("-1") READ_OUT),
       "ld.volatile"},
      {"ones, added by readers through another parameter",
       BOTH_WITH_ANOTHER_PARAMETER(READ(NO_WRITER) "red.global.add.u32 [%rd6], 1;\n" READ_OUT,
                                   WRITE("-1") WRITE_OUT),
       "ld.volatile"},
      {"a sum that others see, by readers through another parameter",
       BOTH_WITH_ANOTHER_PARAMETER(READ(NO_WRITER) "st.volatile.global.u32 [%rd6], %r7;\n" READ_OUT,
                                   WRITE("-1") WRITE_OUT),
       "ld.volatile"},
      {"a sum that others see, by the writer when it has left",
       BOTH_WITH_ANOTHER_PARAMETER(READ(NO_WRITER) READ_OUT,
                                   WRITE("-1") WRITE_OUT "st.volatile.global.u32 [%rd6], %r7;\n"),
       "ld.volatile"},
      {"the number of no writer, by the writer through another parameter",
       BOTH_WITH_ANOTHER_PARAMETER(READ(NO_WRITER) READ_OUT,
                                   WRITE("-1") "st.volatile.global.u32 [%rd6], 0;\n" WRITE_OUT),
       "ld.volatile"},
      {"the writer does not leave", BOTH(READ(NO_WRITER) READ_OUT, WRITE("-1")), "ld.volatile"},
      {"a thread throws everybody out",
       KERNEL("setp.eq.u32 %p5, %r7, 9;\n@%p5 bra X;\nsetp.eq.u32 %p4, %r7, 5;\n@%p4 bra W;\n" READ(NO_WRITER)
                  READ_OUT "ret;\n" WRITE("-1") WRITE_OUT "ret;\nX: st.volatile.global.u32 [%rd1], 0;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("parts that are given back are accepted", parts_that_are_given_back_are_accepted),
      BEHAVIOUR("holders write through another parameter what lets others in",
                holders_write_through_another_parameter_what_lets_others_in),
      BEHAVIOUR("locks of readers and writers that keep apart are accepted",
                locks_of_readers_and_writers_that_keep_apart_are_accepted),
      BEHAVIOUR("parts that some thread keeps or brings are refused",
                parts_that_some_thread_keeps_or_brings_are_refused),
      BEHAVIOUR("threads that wait with a part in hand are refused",
                threads_that_wait_with_a_part_in_hand_are_refused),
      BEHAVIOUR("comparisons that let in by chance are refused",
                comparisons_that_let_in_by_chance_are_refused),
      BEHAVIOUR("locks of readers and writers that do not keep apart are refused",
                locks_of_readers_and_writers_that_do_not_keep_apart_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
