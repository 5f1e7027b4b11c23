/* What updates find: the next try is made of it, and it may be a look at what others wrote. */
#include "check.h"

#include "waits.h"

#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\n"
#define ROUNDS(body) KERNEL("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL: " body COUNT "st.global.u32 [%rd2], %r3;")
/* %r1 is what the swap found, %r2 what it expected; the new number is made of that in %r5. */
#define UPDATE_AT(n, at, makes, guard)                                                                       \
  "ld.global.u32 %r1, [" at "];\nU" #n ": mov.u32 %r2, %r1;\n" makes "\n"                                    \
  "atom.global.cas.b32 %r1, [" at "], %r2, %r5;\nsetp.ne.u32 %p1, %r1, %r2;\n@" guard " bra U" #n ";\n"
#define UPDATE(n, makes) UPDATE_AT(n, "%rd1", makes, "%p1")
#define NOTHING UPDATE(0, "add.u32 %r5, %r2, 0;")
#define DATA "ld.global.u32 %r6, [%rd2+4];\n"
#define ELEMENT(index) index "\nmul.wide.u32 %rd4, %r9, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"

static void what_an_update_finds_is_a_look_in_each_of_so_many_rounds(void **state) {
  static const wait_case cases[] = {
      {"nothing is added, and all is summed up", ROUNDS(NOTHING "add.u32 %r3, %r3, %r1;\n"), "atom"},
      {"data is added, and what was there is summed up",
       ROUNDS(DATA UPDATE(0, "add.u32 %r5, %r2, %r6;") "or.b32 %r3, %r3, %r2;\n"), "atom"},
      {"what was expected is compared", ROUNDS(NOTHING "setp.gt.u32 %p3, %r2, 7;\n@%p3 mov.u32 %r3, 1;\n"),
       "atom"},
      {"the new number is kept", ROUNDS(UPDATE(0, "max.u32 %r5, %r2, %r7;") "or.b32 %r3, %r3, %r5;\n"),
       "atom"},
      {"within the update, by a guard",
       ROUNDS(UPDATE(0, "mov.u32 %r5, %r2;\nsetp.eq.u32 %p3, %r2, 77;\n@%p3 mov.u32 %r3, 1;")), "atom"},
      {"within the update, by a branch",
       ROUNDS(UPDATE(0, "mov.u32 %r5, %r2;\nsetp.ne.u32 %p3, %r2, 77;\n@%p3 bra A;\nmov.u32 %r3, 1;\nA:")),
       "atom"},
      {"within the update, in shared memory",
       ROUNDS(UPDATE(0, "mov.u32 %r5, %r2;\nst.shared.u32 [slot], %r2;")), "atom"},
      {"the half that others write",
       ROUNDS(UPDATE(0, "add.u32 %r5, %r2, 1;") "shr.u32 %r6, %r1, 16;\n"
                                                "or.b32 %r3, %r3, %r6;\n"),
       "atom"},
      {"stored in each round",
       ROUNDS(ELEMENT("mov.u32 %r9, %r4;") NOTHING "st.global.u32 [%rd3+4096], %r1;\n"), "atom"},
      {"in a place that stays for many rounds",
       ROUNDS(ELEMENT("shr.u32 %r9, %r4, 8;")
                  UPDATE_AT(0, "%rd3", "add.u32 %r5, %r2, 0;", "%p1") "add.u32 %r3, %r3, %r1;\n"),
       "atom"},
      {"tries are counted, and the count is kept",
       ROUNDS(UPDATE(0, "add.u32 %r5, %r2, 1;\nadd.u32 %r3, %r3, 1;")), "atom"},
      {"one of two ends says what was found",
       ROUNDS("ld.global.u32 %r1, [%rd1];\nU: mov.u32 %r2, %r1;\nsetp.ge.u32 %p3, %r2, %r8;\n@%p3 bra A;\n"
              "atom.global.cas.b32 %r1, [%rd1], %r2, %r8;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra U;\nbra B;\n"
              "A: mov.u32 %r3, 1;\nB:\n"),
       "atom"},
      {"a look at the word in the update itself",
       ROUNDS("U: ld.volatile.global.u32 %r2, [%rd1];\nadd.u32 %r5, %r2, 1;\n"
              "atom.global.cas.b32 %r1, [%rd1], %r2, %r5;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra U;\n"
              "or.b32 %r3, %r3, %r2;\n"),
       "ld.volatile"},
      {"the swap waits for a number before it succeeds",
       KERNEL("ld.global.u32 %r1, [%rd1];\nU: mov.u32 %r2, %r1;\nsetp.eq.u32 %p3, %r2, 5;\n"
              "selp.b32 %r5, 6, %r2, %p3;\natom.global.cas.b32 %r1, [%rd1], %r2, %r5;\n"
              "setp.ne.u32 %p1, %r1, %r2;\nsetp.ne.or.u32 %p1, %r2, 5, %p1;\n@%p1 bra U;"),
       "atom"},
  };
  static const wait_case others[] = {
      {"data is added", ROUNDS(DATA UPDATE(0, "add.u32 %r5, %r2, %r6;")), NULL},
      {"a maximum of floats",
       ROUNDS(DATA UPDATE(0, "mov.b32 %f1, %r2;\nmov.b32 %f2, %r6;\nmax.f32 %f3, %f1, %f2;\n"
                             "mov.b32 %r5, %f3;")),
       NULL},
      {"half of a word",
       ROUNDS(DATA UPDATE(0, "add.u32 %r5, %r2, %r6;\nand.b32 %r5, %r5, 65535;\n"
                             "and.b32 %r9, %r2, 0xffff0000;\nor.b32 %r5, %r5, %r9;")),
       NULL},
      {"nothing is done if it is beyond",
       ROUNDS("ld.global.u32 %r1, [%rd1];\nU: mov.u32 %r2, %r1;\nsetp.ge.u32 %p3, %r2, %r8;\n@%p3 bra A;\n"
              "atom.global.cas.b32 %r1, [%rd1], %r2, %r8;\nsetp.ne.u32 %p1, %r1, %r2;\n@%p1 bra U;\nA:\n"),
       NULL},
      {"what each of several places held",
       ROUNDS(ELEMENT("mov.u32 %r9, %r4;")
                  UPDATE_AT(0, "%rd3", "add.u32 %r5, %r2, %r8;", "%p1") "add.u32 %r3, %r3, %r1;\n"),
       NULL},
      {"what a word held, once", KERNEL(UPDATE(0, "add.u32 %r5, %r2, 0;") "st.global.u32 [%rd2], %r1;"),
       NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

#define KEPT(n) UPDATE(n, "add.u32 %r5, %r2, 0;") "add.u32 %r3, %r3, %r1;\n"
#define UNSEEN(n) UPDATE(n, "add.u32 %r5, %r2, %r7;")

static void updates_may_be_the_rounds_of_a_poll_that_are_written_out(void **state) {
  static const char *const polls[] = {
      KERNEL("mov.u32 %r3, 0;\n" KEPT(1) KEPT(2) KEPT(3) "st.global.u32 [%rd2], %r3;"),
      KERNEL("mov.u32 %r3, 0;\n" KEPT(1) "nanosleep.u32 99;\n" KEPT(
          2) "nanosleep.u32 99;\n"
             "ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r3, %r3, %r1;\nst.global.u32 [%rd2], %r3;"),
      KERNEL(UPDATE(1, "mov.u32 %r5, %r2;") "setp.ne.u32 %p3, %r1, 0;\n@%p3 bra M;\n" UPDATE(
          2,
          "mov.u32 %r5, %r2;") "setp.ne.u32 %p3, %r1, 0;\n@%p3 bra M;\n" UPDATE(3,
                                                                                "mov.u32 %r5, %r2;") "setp."
                                                                                                     "ne.u32 "
                                                                                                     "%p3, "
                                                                                                     "%r1, "
                                                                                                     "0;\n@%"
                                                                                                     "p3 bra "
                                                                                                     "M;\nst."
                                                                                                     "global."
                                                                                                     "u32 "
                                                                                                     "[%rd2],"
                                                                                                     " %r7;"
                                                                                                     "\nM:"),
  };
  static const char *const others[] = {
      KERNEL(UNSEEN(1) UNSEEN(2) UNSEEN(3) UNSEEN(4)),
      KERNEL("mov.u32 %r3, 0;\n" KEPT(1) "bar.sync 0;\n" KEPT(2) "st.global.u32 [%rd2], %r3;"),
  };
  hd_refusal r;
  for (size_t i = 0; i < sizeof polls / sizeof *polls; i++)
    if (!refusals("poll", polls[i], &r) || !strstr(r.what, "looks again and again")) fail_msg("poll %zu", i);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (refusals("other", others[i], &r)) fail_msg("other %zu: %s", i, r.what);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("what an update finds is a look in each of so many rounds",
                what_an_update_finds_is_a_look_in_each_of_so_many_rounds),
      BEHAVIOUR("updates may be the rounds of a poll that are written out",
                updates_may_be_the_rounds_of_a_poll_that_are_written_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
