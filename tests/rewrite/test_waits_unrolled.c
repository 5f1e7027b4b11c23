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
#define UNREAD(n) "ld.volatile.global.u32 %r" #n ", [%rd1];\nnanosleep.u32 99;\n"
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
      {"the last one alone is read",
       KERNEL(UNREAD(1) UNREAD(2) "ld.volatile.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1+64], %r3;"),
       "ld.volatile"},
      {"the first one alone is read", KERNEL(UNREAD(1) UNREAD(2) UNREAD(3) "st.global.u32 [%rd1+64], %r1;"),
       "ld.volatile"},
      {"those between are worked on and dropped",
       KERNEL(UNREAD(1) UNREAD(2) "add.u32 %r4, %r2, 1;\n" UNREAD(3) "st.global.u32 [%rd1+64], %r3;"),
       "ld.volatile"},
      {"the last one alone is read, those before it are guarded",
       KERNEL("setp.eq.u32 %p1, %r9, 0;\n@%p1 ld.volatile.global.u32 %r1, [%rd1];\nnanosleep.u32 9;\n"
              "@%p1 ld.volatile.global.u32 %r2, [%rd1];\nnanosleep.u32 9;\n"
              "ld.volatile.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1+64], %r3;"),
       "ld.volatile"},
      {"the last one alone is read, behind branches",
       KERNEL(UNREAD(1) "setp.eq.u32 %p1, %r9, 0;\n@%p1 bra A;\n" UNREAD(
           2) "A: ld.volatile.global.u32 %r2, [%rd1];\nnanosleep.u32 9;\n"
              "ld.volatile.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1+64], %r3;"),
       "ld.volatile"},
      {"the last one alone is read, behind looks at pairs",
       KERNEL("ld.volatile.global.v2.u32 {%r1, %r2}, [%rd1];\nnanosleep.u32 9;\n"
              "ld.volatile.global.v2.u32 {%r1, %r2}, [%rd1];\nnanosleep.u32 9;\n"
              "ld.volatile.global.u32 %r3, [%rd1];\nst.global.u32 [%rd1+64], %r3;"),
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
  static const wait_case others[] = {
      {"three looks that nobody reads", KERNEL(UNREAD(1) UNREAD(2) UNREAD(3)), NULL},
      {"three looks that nobody reads, and one on the other way",
       KERNEL("setp.eq.u32 %p1, %r9, 0;\n@%p1 bra A;\n" UNREAD(1) UNREAD(2) UNREAD(
           3) "bra M;\nA: ld.volatile.global.u32 %r4, [%rd1];\nst.global.u32 [%rd1+64], %r4;\nM:"),
       NULL},
  };
  expect_looks(cases, sizeof cases / sizeof *cases);
  EXPECT_ALL(others);
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

#define FLAG(n) LOOK(n, "ld.volatile.global.u32")
#define FLAGS FLAG(1) FLAG(2) FLAG(3)
#define IN_UPDATE(looks)                                                                                     \
  KERNEL("U: ld.volatile.global.u32 %r5, [%rd1+64];\n" looks "M: add.u32 %r6, %r5, %r1;\n"                   \
         "atom.global.cas.b32 %r4, [%rd1+64], %r5, %r6;\nsetp.ne.u32 %p5, %r4, %r5;\n@%p5 bra U;")
#define IN_TRY(looks)                                                                                        \
  KERNEL("U: atom.global.cas.b32 %r4, [%rd1+64], 0, 1;\nsetp.ne.u32 %p5, %r4, 0;\n@%p5 bra S;\n" looks       \
         "M: membar.gl;\natom.global.exch.b32 %r6, [%rd1+64], 0;\nS: @%p5 bra U;")
#define IN_TURN(looks)                                                                                       \
  KERNEL("atom.global.add.u32 %r5, [%rd1+64], 1;\nU: " looks "M: ld.volatile.global.u32 %r4, [%rd1+68];\n"   \
         "setp.ne.u32 %p5, %r4, %r5;\n@%p5 bra U;\nmembar.gl;\nadd.u32 %r6, %r5, 1;\n"                       \
         "st.volatile.global.u32 [%rd1+68], %r6;")
#define SECTION(n)                                                                                           \
  "U" #n ": atom.global.cas.b32 %r" #n ", [%rd1], 0, 1;\nsetp.ne.u32 %p" #n ", %r" #n ", 0;\n@%p" #n         \
  " bra U" #n ";\nmembar.gl;\natom.global.exch.b32 %r4, [%rd1], 0;\n"
#define RELOADED(n)                                                                                          \
  "U" #n ": ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r2, %r1, 1;\n"                                     \
  "atom.global.cas.b32 %r3, [%rd1], %r1, %r2;\nsetp.ne.u32 %p1, %r3, %r1;\n@%p1 bra U" #n ";\n"

static void polls_in_loops_that_end_by_themselves_are_refused(void **state) {
  static const wait_case cases[] = {
      {"in an update of another word", IN_UPDATE(FLAGS), "ld.volatile"},
      {"in a loop that tries a lock", IN_TRY(FLAGS), "ld.volatile"},
      {"in a loop that waits for its turn", IN_TURN(FLAGS), "ld.volatile"},
      {"by atomics, in an update",
       IN_UPDATE(LOOK_AS(1, 1, "atom.global.or.b32 %r1, [%rd1], 0;") LOOK_AS(
           2, 2, "atom.global.or.b32 %r2, [%rd1], 0;") LOOK_AS(3, 3, "atom.global.or.b32 %r3, [%rd1], 0;")),
       "atom"},
      {"plain, each behind a fence, in a loop that tries a lock",
       IN_TRY(FENCED("ld.global", 1) FENCED("ld.global", 2) FENCED("ld.global", 3)), "ld.global"},
      {"partly in front of an update",
       KERNEL(FLAG(1) "U: ld.volatile.global.u32 %r5, [%rd1+64];\n" FLAG(2)
                  FLAG(3) "add.u32 %r6, %r5, %r1;\n"
                          "atom.global.cas.b32 %r4, [%rd1+64], %r5, %r6;\n"
                          "setp.ne.u32 %p5, %r4, %r5;\n@%p5 bra U;\nM:"),
       "ld.volatile"},
  };
  static const wait_case others[] = {
      {"three places in an update",
       IN_UPDATE(FLAG(1) LOOK_AS(2, 2, "ld.volatile.global.u32 %r2, [%rd1+4];")
                     LOOK_AS(3, 3, "ld.volatile.global.u32 %r3, [%rd1+8];")),
       NULL},
      {"two looks in a loop that tries a lock", IN_TRY(FLAG(1) FLAG(2)), NULL},
      {"three sections of one lock", KERNEL(SECTION(1) SECTION(2) SECTION(3)), NULL},
      {"three updates that load anew in each round", KERNEL(RELOADED(1) RELOADED(2) RELOADED(3)), NULL},
  };
  expect_looks(cases, sizeof cases / sizeof *cases);
  EXPECT_ALL(others);
}

/* In each round an address is worked out, in %rd3. */
#define AT(n, place) place LOOK_AS(n, n, "ld.volatile.global.u32 %r" #n ", [%rd3];")
#define ROUNDS(place) KERNEL(AT(1, place) AT(2, place) AT(3, place) "st.global.u32 [%rd1+64], %r7;\nM:")
#define INDEX(index) index "\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"
#define OF_THREE(a, b, c) KERNEL(AT(1, a) AT(2, b) AT(3, c) "st.global.u32 [%rd1+64], %r7;\nM:")

static void places_that_are_loaded_again_count_as_one(void **state) {
  static const wait_case
      cases[] =
          {
              {"a pointer that is loaded again", ROUNDS("ld.global.u64 %rd3, [%rd1+64];\n"), "ld.volatile"},
              {"a pointer of a pointer",
               ROUNDS("ld.global.u64 %rd4, [%rd1+64];\nld.global.u64 %rd3, [%rd4+8];\n"), "ld.volatile"},
              {"an index that is loaded again", ROUNDS(INDEX("ld.global.u32 %r5, [%rd1+64];")),
               "ld.volatile"},
              {"by atomics at a pointer that is loaded again",
               KERNEL("ld.global.u64 %rd3, [%rd1+64];\n" LOOK_AS(1, 1, "atom.global.or.b32 %r1, [%rd3], 0;") "ld.global.u64 %rd4, [%rd1+64];\n" LOOK_AS(
                   2, 2,
                   "atom.global.or.b32 %r2, [%rd4], 0;") "ld.global.u64 %rd5, [%rd1+64];\n" LOOK_AS(3, 3,
                                                                                                    "atom."
                                                                                                    "global."
                                                                                                    "or.b32 "
                                                                                                    "%r3, "
                                                                                                    "[%rd5], "
                                                                                                    "0;") "st"
                                                                                                          ".g"
                                                                                                          "lo"
                                                                                                          "ba"
                                                                                                          "l."
                                                                                                          "u3"
                                                                                                          "2 "
                                                                                                          "[%"
                                                                                                          "rd"
                                                                                                          "1+"
                                                                                                          "64"
                                                                                                          "],"
                                                                                                          " %"
                                                                                                          "r7"
                                                                                                          ";"
                                                                                                          "\n"
                                                                                                          "M"
                                                                                                          ":"),
               "atom"},
              {"plain with fences, at a pointer that is loaded again",
               KERNEL("ld.global.u64 %rd3, [%rd1+64];\n" LOOK_AS(
                   1, 1,
                   "ld.global.u32 %r1, [%rd3];") "membar.gl;\nld.global.u64 %rd4, "
                                                 "[%rd1+64];\n" LOOK_AS(
                                                     2, 2,
                                                     "ld.global.u32 %r2, "
                                                     "[%rd4];") "membar.gl;\nld."
                                                                "global.u64 "
                                                                "%rd5, "
                                                                "[%rd1+64];"
                                                                "\n" LOOK_AS(
                                                                    3, 3,
                                                                    "ld"
                                                                    ".g"
                                                                    "lo"
                                                                    "ba"
                                                                    "l."
                                                                    "u3"
                                                                    "2 "
                                                                    "%r"
                                                                    "3,"
                                                                    " ["
                                                                    "%r"
                                                                    "d5"
                                                                    "]"
                                                                    ";") "st.global.u32 [%rd1+64], %r7;\nM:"),
               "ld.global"},
              {"a list, node by node, which may be a ring",
               ROUNDS("ld.global.u64 %rd2, [%rd2+8];\nmov.u64 %rd3, %rd2;\n"), "ld.volatile"},
              {"an index from shared memory", ROUNDS(INDEX("ld.shared.u32 %r5, [slot];")), "ld.volatile"},
          };
  expect_looks(cases, sizeof cases / sizeof *cases);
}

/* The lower half, with other upper halves. */
#define LOWER_HALF(type)                                                                                     \
  OF_THREE("and.b32 %r6, %r8, 65535;\nshl.b32 %r6, %r6, 16;\nshr." type                                      \
           " %r9, %r6, 16;\n" INDEX("mov.u32 %r5, %r9;"),                                                    \
           INDEX("or.b32 %r5, %r9, 65536;"), INDEX("or.b32 %r5, %r9, 131072;"))

static void places_that_may_be_worked_out_to_one_count_as_one(void **state) {
  static const wait_case cases[] = {
      {"an index that is shifted down", ROUNDS(INDEX("add.u32 %r6, %r6, 1;\nshr.u32 %r5, %r6, 8;")),
       "ld.volatile"},
      {"the lower half of a number, by its sign", LOWER_HALF("s32"), "ld.volatile"},
      {"a quotient of numbers of the launch",
       OF_THREE(INDEX("div.u32 %r5, %r8, 9;"), INDEX("add.u32 %r6, %r8, 1;\ndiv.u32 %r5, %r6, 9;"),
                INDEX("add.u32 %r6, %r8, 2;\ndiv.u32 %r5, %r6, 9;")),
       "ld.volatile"},
      {"a tile of the index", ROUNDS(INDEX("add.u32 %r6, %r6, 1;\nand.b32 %r5, %r6, 0xffffff00;")),
       "ld.volatile"},
      {"the upper half of a product", ROUNDS(INDEX("add.u32 %r6, %r6, 1;\nmul.hi.u32 %r5, %r6, %r6;")),
       "ld.volatile"},
      {"differences that are 0",
       OF_THREE(INDEX("sub.u32 %r5, 3, 3;"), INDEX("sub.u32 %r5, 4, 4;"), INDEX("sub.u32 %r5, %r8, %r8;")),
       "ld.volatile"},
      {"one sum in other orders",
       OF_THREE(INDEX("add.u32 %r6, %r7, 4;\nadd.u32 %r5, %r6, %r8;"),
                INDEX("add.u32 %r6, %r8, 4;\nadd.u32 %r5, %r6, %r7;"),
                INDEX("add.u32 %r6, %r7, %r8;\nadd.u32 %r5, %r6, 4;")),
       "ld.volatile"},
      {"an index that a value moves on",
       ROUNDS(INDEX("ld.global.u32 %r5, [%rd1+64];\nmin.u32 %r5, %r5, 1;\n"
                    "add.u32 %r6, %r6, %r5;\nmov.u32 %r5, %r6;")),
       "ld.volatile"},
      {"a choice of two places", ROUNDS("setp.lt.u32 %p5, %r7, %r8;\nselp.b64 %rd3, %rd1, %rd2, %p5;\n"),
       "ld.volatile"},
      {"a product with a difference that is 0",
       OF_THREE(INDEX("sub.u32 %r6, %r8, %r8;\nmul.lo.u32 %r5, %r6, %r7;"),
                INDEX("sub.u32 %r6, %r8, %r8;\nadd.u32 %r5, %r7, 1;\nmul.lo.u32 %r5, %r6, %r5;"),
                INDEX("sub.u32 %r6, %r8, %r8;\nadd.u32 %r5, %r7, 2;\nmul.lo.u32 %r5, %r6, %r5;")),
       "ld.volatile"},
      {"bits that may be set already",
       OF_THREE(INDEX("or.b32 %r5, %r8, 15;"), INDEX("add.u32 %r6, %r8, 1;\nor.b32 %r5, %r6, 15;"),
                INDEX("add.u32 %r6, %r8, 2;\nor.b32 %r5, %r6, 15;")),
       "ld.volatile"},
      {"an index times 2^32",
       OF_THREE(INDEX("shl.b32 %r6, %r7, 16;\nshl.b32 %r5, %r6, 16;"),
                INDEX("add.u32 %r6, %r7, 1;\nshl.b32 %r6, %r6, 16;\nshl.b32 %r5, %r6, 16;"),
                INDEX("add.u32 %r6, %r7, 2;\nshl.b32 %r6, %r6, 16;\nshl.b32 %r5, %r6, 16;")),
       "ld.volatile"},
  };
  expect_looks(cases, sizeof cases / sizeof *cases);
}

/* Looks at base + step * k for k of 0, 1 and 2; the step is in %r9. */
#define STEPPED(step)                                                                                        \
  KERNEL(step "\n" AT(1, INDEX("mov.u32 %r5, 8;")) AT(2, INDEX("add.u32 %r5, %r9, 8;"))                      \
             AT(3, INDEX("mad.lo.u32 %r5, %r9, 2, 8;")) "st.global.u32 [%rd1+64], %r7;\nM:")

/* A thread's number is 0 in some thread, and what is worked out may be in any. */
static void places_a_step_apart_that_may_be_0_count_as_one(void **state) {
  static const wait_case cases[] = {
      {"the thread's number", STEPPED("mov.u32 %r9, %r7;"), "ld.volatile"},
      {"the CTA's number", STEPPED("mov.u32 %r9, %ctaid.x;"), "ld.volatile"},
      {"the lane", STEPPED("mov.u32 %r9, %laneid;"), "ld.volatile"},
      {"the thread's number in the grid",
       STEPPED("mov.u32 %r5, %ctaid.x;\nmov.u32 %r6, %ntid.x;\nmad.lo.u32 %r9, %r5, %r6, %r7;"),
       "ld.volatile"},
      {"a parameter times 0", STEPPED("mul.lo.u32 %r9, %r8, 0;"), "ld.volatile"},
      {"a parameter times the thread's number", STEPPED("mul.lo.u32 %r9, %r8, %r7;"), "ld.volatile"},
      {"a parameter and the thread's number", STEPPED("add.u32 %r9, %r8, %r7;"), "ld.volatile"},
      {"0 + 0", STEPPED("add.u32 %r9, 0, 0;"), "ld.volatile"},
      {"a number of the text less itself", STEPPED("sub.u32 %r9, 64, 64;"), "ld.volatile"},
      {"a parameter times 2^30", STEPPED("shl.b32 %r9, %r8, 30;"), "ld.volatile"},
      {"the difference of two threads' numbers", STEPPED("mov.u32 %r5, %tid.y;\nsub.u32 %r9, %r7, %r5;"),
       "ld.volatile"},
      {"the square of a sum, less its parts",
       STEPPED("add.u32 %r5, %r8, 1;\nmul.lo.u32 %r5, %r5, %r5;\nmul.lo.u32 %r6, %r8, %r8;\n"
               "sub.u32 %r5, %r5, %r6;\nsub.u32 %r5, %r5, %r8;\nsub.u32 %r5, %r5, %r8;\n"
               "sub.u32 %r9, %r5, 1;"),
       "ld.volatile"},
      {"the lesser of two parameters, less one of them",
       STEPPED("mov.u32 %r5, %ntid.x;\nmin.u32 %r5, %r5, %r8;\nsub.u32 %r9, %r5, %r8;"), "ld.volatile"},
      {"rows of the thread's number",
       OF_THREE(INDEX("mul.lo.u32 %r5, %r7, %r8;"), INDEX("add.u32 %r6, %r8, 1;\nmul.lo.u32 %r5, %r6, %r7;"),
                INDEX("add.u32 %r6, %r8, 2;\nmul.lo.u32 %r5, %r6, %r7;")),
       "ld.volatile"},
      {"rows, and a step back",
       OF_THREE(INDEX("mul.lo.u32 %r5, %r7, %r8;"),
                INDEX("add.u32 %r6, %r7, 1;\nmul.lo.u32 %r5, %r6, %r8;\nsub.u32 %r5, %r5, %r8;"),
                INDEX("add.u32 %r6, %r7, 2;\nmul.lo.u32 %r5, %r6, %r8;\nsub.u32 %r5, %r5, %r8;\n"
                      "sub.u32 %r5, %r5, %r8;")),
       "ld.volatile"},
      {"a word of the launch, and halves of it",
       KERNEL(LOOK_AS(1, 1, "ld.volatile.global.u64 %rd5, [%rd1];\ncvt.u32.u64 %r1, %rd5;")
                  AT(2, INDEX("mov.u32 %r5, %r8;")) AT(3, INDEX("mov.u32 %r5, %r8;")) "M:"),
       "ld.volatile"},
  };
  static const wait_case others[] = {
      {"a parameter", STEPPED("mov.u32 %r9, %r8;"), NULL},
      {"a size of the CTA", STEPPED("mov.u32 %r9, %ntid.x;"), NULL},
      {"a product of sizes", STEPPED("mov.u32 %r5, %nctaid.x;\nmul.lo.u32 %r9, %r5, %r8;"), NULL},
      {"a parameter, 1 at least", STEPPED("max.u32 %r9, %r8, 1;"), NULL},
  };
  expect_looks(cases, sizeof cases / sizeof *cases);
  EXPECT_ALL(others);
}

/* Looks at an index before a part of the kernel, behind it, and behind that part again. */
#define BEGINS "mov.u32 %r6, %r7;\n" PERHAPS("S", "mov.u32 %r6, 3;")
#define GOES(part, again)                                                                                    \
  KERNEL(BEGINS AT(1, INDEX("mov.u32 %r5, %r6;")) part "\n" AT(2, INDEX("mov.u32 %r5, %r6;")) again          \
         "\n" AT(3, INDEX("mov.u32 %r5, %r6;")) "st.global.u32 [%rd1+64], %r7;\nM:")
/* Runs a part in some threads. */
#define PERHAPS(label, part) "setp.gt.u32 %p5, %r8, 5;\n@%p5 bra " label ";\n" part "\n" label ": "
/* The same, looking at an index that is worked out of the counter. */
#define GOES_BY(part, again, index)                                                                          \
  KERNEL(BEGINS AT(1, INDEX("mov.u32 %r5, %r6;")) part "\n" AT(2, INDEX(index)) again                        \
         "\n" AT(3, INDEX(index)) "st.global.u32 [%rd1+64], %r7;\nM:")

static void a_counter_that_may_come_back_counts_as_one_place(void **state) {
  static const wait_case cases[] = {
      {"a step and one back, in some threads each",
       GOES("add.u32 %r6, %r6, 1;\n" PERHAPS("A", "sub.u32 %r6, %r6, 1;"),
            "add.u32 %r6, %r6, 1;\n" PERHAPS("B", "sub.u32 %r6, %r6, 1;")),
       "ld.volatile"},
      {"steps of 1 and of -1",
       GOES("add.u32 %r6, %r6, 1;\n" PERHAPS("A", "add.u32 %r6, %r6, -1;"),
            "add.u32 %r6, %r6, 1;\n" PERHAPS("B", "add.u32 %r6, %r6, -1;")),
       "ld.volatile"},
      {"set back in some threads",
       GOES("add.u32 %r6, %r6, 1;\n" PERHAPS("A", "mov.u32 %r6, %r7;"),
            "add.u32 %r6, %r6, 1;\n" PERHAPS("B", "mov.u32 %r6, %r7;")),
       "ld.volatile"},
      {"steps of the thread's number",
       GOES("add.u32 %r6, %r6, %r7;\n" PERHAPS("A", "add.u32 %r6, %r6, %r7;"),
            "add.u32 %r6, %r6, %r7;\n" PERHAPS("B", "add.u32 %r6, %r6, %r7;")),
       "ld.volatile"},
      {"a step in some threads",
       GOES(PERHAPS("A", "add.u32 %r6, %r6, 1;"), PERHAPS("B", "add.u32 %r6, %r6, 1;")), "ld.volatile"},
      {"one or two steps, and one taken back",
       GOES_BY("add.u32 %r6, %r6, 1;\n" PERHAPS("A", "add.u32 %r6, %r6, 1;"),
               PERHAPS("B", "add.u32 %r6, %r6, 1;"), "sub.u32 %r5, %r6, 1;"),
       "ld.volatile"},
      {"two sorts of steps of the launch",
       GOES("mov.u32 %r9, %ntid.x;\nadd.u32 %r6, %r6, %r8;\n" PERHAPS("A", "sub.u32 %r6, %r6, %r9;"),
            "add.u32 %r6, %r6, %r8;\n" PERHAPS("B", "sub.u32 %r6, %r6, %r9;")),
       "ld.volatile"},
  };
  static const wait_case others[] = {
      {"one or two steps",
       GOES("add.u32 %r6, %r6, 1;\n" PERHAPS("A", "add.u32 %r6, %r6, 1;"),
            "add.u32 %r6, %r6, 1;\n" PERHAPS("B", "add.u32 %r6, %r6, 1;")),
       NULL},
      {"one or two steps of the launch",
       GOES("add.u32 %r6, %r6, %r8;\n" PERHAPS("A", "add.u32 %r6, %r6, %r8;"),
            "add.u32 %r6, %r6, %r8;\n" PERHAPS("B", "add.u32 %r6, %r6, %r8;")),
       NULL},
      {"two or four steps, and one taken back",
       GOES_BY("add.u32 %r6, %r6, 2;\n" PERHAPS("A", "add.u32 %r6, %r6, 2;"),
               "add.u32 %r6, %r6, 2;\n" PERHAPS("B", "add.u32 %r6, %r6, 2;"), "sub.u32 %r5, %r6, 1;"),
       NULL},
      {"steps by a register in between",
       GOES("add.u32 %r9, %r6, 1;\nmov.u32 %r6, %r9;\n" PERHAPS("A",
                                                                "add.u32 %r9, %r6, 1;\nmov.u32 %r6, %r9;"),
            "add.u32 %r9, %r6, 1;\nmov.u32 %r6, %r9;\n" PERHAPS("B",
                                                                "add.u32 %r9, %r6, 1;\nmov.u32 %r6, %r9;")),
       NULL},
  };
  expect_looks(cases, sizeof cases / sizeof *cases);
  EXPECT_ALL(others);
}

static void places_that_are_apart_are_told(void **state) {
  static const wait_case cases[] = {
      {"an index and the next ones",
       OF_THREE(INDEX("mov.u32 %r5, %r8;"), INDEX("add.u32 %r5, %r8, 1;"), INDEX("add.u32 %r5, %r8, 2;")),
       NULL},
      {"a register that is counted up", ROUNDS(INDEX("add.u32 %r6, %r6, 1;\nmov.u32 %r5, %r6;")), NULL},
      {"the lower half of a number, without its sign", LOWER_HALF("u32"), NULL},
      {"strides of the launch",
       OF_THREE(INDEX("mov.u32 %r5, %r7;"), INDEX("add.u32 %r5, %r7, %r8;"),
                INDEX("mad.lo.u32 %r5, %r8, 2, %r7;")),
       NULL},
      {"rows of a matrix",
       OF_THREE(INDEX("mad.lo.u32 %r5, %r7, %r8, 1;"),
                INDEX("add.u32 %r6, %r7, 1;\nmad.lo.u32 %r5, %r6, %r8, 1;"),
                INDEX("add.u32 %r6, %r7, 2;\nmad.lo.u32 %r5, %r6, %r8, 1;")),
       NULL},
      {"elements that a list names",
       OF_THREE(INDEX("ld.global.u32 %r5, [%rd1+64];"), INDEX("ld.global.u32 %r5, [%rd1+68];"),
                INDEX("ld.global.u32 %r5, [%rd1+72];")),
       NULL},
      {"bits that are joined",
       OF_THREE(INDEX("shl.b32 %r5, %r7, 2;"), INDEX("shl.b32 %r6, %r7, 2;\nor.b32 %r5, %r6, 1;"),
                INDEX("shl.b32 %r6, %r7, 2;\nor.b32 %r5, %r6, 2;")),
       NULL},
      {"a loop over elements that is written out, and what it leaves",
       KERNEL("mov.u64 %rd3, %rd1;\nL: ld.volatile.global.u32 %r1, [%rd3];\nadd.u32 %r4, %r4, %r1;\n"
              "ld.volatile.global.u32 %r2, [%rd3+4];\nadd.u32 %r4, %r4, %r2;\nadd.s64 %rd3, %rd3, 8;\n"
              "add.u32 %r5, %r5, 2;\nsetp.lt.u32 %p1, %r5, %r8;\n@%p1 bra L;\n"
              "setp.eq.u32 %p2, %r7, 1;\n@%p2 bra M;\nld.volatile.global.u32 %r1, [%rd3];\n"
              "add.u32 %r4, %r4, %r1;\nsetp.eq.u32 %p2, %r7, 2;\n@%p2 bra M;\n"
              "ld.volatile.global.u32 %r1, [%rd3+4];\nadd.u32 %r4, %r4, %r1;\nM: st.global.u32 [%rd1], %r4;"),
       NULL},
      {"a pointer of a table, and places behind it",
       KERNEL("ld.global.u64 %rd3, [%rd1+64];\n" LOOK_AS(1, 1, "ld.volatile.global.u32 %r1, [%rd3];")
                  LOOK_AS(2, 2, "ld.volatile.global.u32 %r2, [%rd3+4];")
                      LOOK_AS(3, 3, "ld.volatile.global.u32 %r3, [%rd3+8];") "M:"),
       NULL},
  };
  EXPECT_ALL(cases);
}

#define SUM_AND(n, write)                                                                                    \
  "ld.volatile.global.u32 %r" #n ", [%rd1];\nor.b32 %r5, %r5, %r" #n ";\n" write "\nnanosleep.u32 99;\n"
#define THRICE(write)                                                                                        \
  KERNEL(SUM_AND(1, write) SUM_AND(2, write) SUM_AND(3, write) "st.global.u32 [%rd1+64], %r5;")

static void own_writes_in_between_do_not_excuse_looks(void **state) {
  static const wait_case cases[] = {
      {"a mailbox that is emptied", THRICE("st.volatile.global.u32 [%rd1], 0;"), "ld.volatile"},
      {"bits beside the flag", THRICE("red.global.add.u32 [%rd1], 0x10000;"), "ld.volatile"},
      {"bits that are turned beside the flag", THRICE("red.global.xor.b32 [%rd1], 0x10000;"), "ld.volatile"},
      {"a half of the word",
       KERNEL(HALF(1) "st.volatile.global.u32 [%rd1], 0;\n" HALF(
           2) "st.volatile.global.u32 [%rd1], 0;\n" HALF(3) "M:"),
       "ld.volatile"},
      {"what was found", THRICE("st.volatile.global.u32 [%rd1], %r5;"), "ld.volatile"},
      {"each value is stored elsewhere",
       KERNEL("ld.volatile.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+64], %r1;\nst.volatile.global.u32 "
              "[%rd1], "
              "%r7;\nbar.sync 0;\nld.volatile.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+68], %r1;\n"
              "bar.sync 0;\nld.volatile.global.u32 %r1, [%rd1];\nst.global.u32 [%rd1+72], %r1;"),
       "ld.volatile"},
      {"an update of the word", KERNEL(FLAG(1) RELOADED(1) FLAG(2) RELOADED(2) FLAG(3) "M:"), "ld.volatile"},
  };
  static const wait_case others[] = {
      {"a maximum in memory",
       KERNEL("ld.volatile.global.u32 %r1, [%rd1];\nmax.u32 %r1, %r1, %r7;\nst.volatile.global.u32 [%rd1], "
              "%r1;\n"
              "bar.sync 0;\nld.volatile.global.u32 %r2, [%rd1];\nmax.u32 %r2, %r2, %r8;\n"
              "st.volatile.global.u32 [%rd1], %r2;\nbar.sync 0;\nld.volatile.global.u32 %r3, [%rd1];\n"
              "add.u32 %r3, %r3, 7;\nst.volatile.global.u32 [%rd1], %r3;"),
       NULL},
      {"a mailbox that is emptied twice",
       KERNEL(SUM_AND(1, "st.volatile.global.u32 [%rd1], 0;")
                  SUM_AND(2, "st.volatile.global.u32 [%rd1], 0;") "st.global.u32 [%rd1+64], %r5;"),
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
      BEHAVIOUR("polls in loops that end by themselves are refused",
                polls_in_loops_that_end_by_themselves_are_refused),
      BEHAVIOUR("places that are loaded again count as one", places_that_are_loaded_again_count_as_one),
      BEHAVIOUR("places that may be worked out to one count as one",
                places_that_may_be_worked_out_to_one_count_as_one),
      BEHAVIOUR("places a step apart that may be 0 count as one",
                places_a_step_apart_that_may_be_0_count_as_one),
      BEHAVIOUR("a counter that may come back counts as one place",
                a_counter_that_may_come_back_counts_as_one_place),
      BEHAVIOUR("places that are apart are told", places_that_are_apart_are_told),
      BEHAVIOUR("own writes in between do not excuse looks", own_writes_in_between_do_not_excuse_looks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
