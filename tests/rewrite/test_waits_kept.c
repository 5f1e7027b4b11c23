/* Loops that add to a word in every round, and what their threads keep of the numbers that they find. */
#include "check.h"

#include "waits.h"

#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\n"
/* %rd3 is a place of the CTA, %rd4 one that goes by the number found. */
#define PLACES                                                                                               \
  "mov.u32 %r5, %ctaid.x;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd3, %rd2, %rd4;\nmov.u32 %r3, 0;\n"
#define FOUND "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd2, %rd4;\n"
#define USED(atom, use) KERNEL(PLACES "L: " atom "\n" use "\n" COUNT "st.global.u32 [%rd2], %r3;")
#define ADD "atom.global.add.u32 %r1, [%rd1], 1;"
#define BEYOND "setp.ge.u32 %p1, %r1, %r8;\n"
#define KEEP "@%p1 mov.u32 %r3, 1;"

static void a_comparison_that_is_kept_shows_how_far_others_came(void **state) {
  static const wait_case cases[] = {
      {"beyond a number of the launch", USED(ADD, BEYOND KEEP), "atom"},
      {"beyond a number of the text", USED(ADD, "setp.gt.u32 %p1, %r1, 1000;\n" KEEP), "atom"},
      {"below 0, counted down",
       USED("atom.global.add.u32 %r1, [%rd1], -1;", "setp.lt.s32 %p1, %r1, 0;\n" KEEP), "atom"},
      {"each round's number is added", USED("atom.global.add.u32 %r1, [%rd1], %r4;", BEYOND KEEP), "atom"},
      {"the half that is added, and one of the others",
       USED("atom.global.add.u32 %r1, [%rd1], 0x10000;", "setp.eq.u32 %p1, %r1, 0x30001;\n" KEEP), "atom"},
      {"the half of 64 bits that is added, and a register",
       USED("atom.global.add.u64 %rd4, [%rd1], 0x100000000;", "setp.eq.u64 %p1, %rd4, %rd6;\n" KEEP), "atom"},
      {"twos, and an odd number",
       USED("atom.global.add.u32 %r1, [%rd1], 2;", "setp.eq.u32 %p1, %r1, 7;\n" KEEP), "atom"},
      {"in a predicate that is read behind the loop",
       KERNEL(PLACES "setp.ne.u32 %p4, %r3, 0;\nL: " ADD "\nsetp.ge.or.u32 %p4, %r1, %r8, %p4;\n" COUNT
                     "@%p4 st.global.u32 [%rd2], 1;"),
       "atom"},
      {"by a selection", USED(ADD, BEYOND "selp.b32 %r6, 1, 0, %p1;\nadd.u32 %r3, %r3, %r6;"), "atom"},
      {"by a branch", USED(ADD, BEYOND "@!%p1 bra A;\nadd.u32 %r3, %r3, 1;\nA:"), "atom"},
      {"by a branch around a branch",
       USED(ADD, BEYOND "@!%p1 bra A;\nsetp.eq.u32 %p3, %r7, 5;\n@%p3 bra A;\nmov.u32 %r3, 1;\nA:"), "atom"},
      {"by a vote", USED(ADD, BEYOND "vote.sync.any.pred %p3, %p1, -1;\n@%p3 mov.u32 %r3, 1;"), "atom"},
      {"by a barrier", USED(ADD, BEYOND "bar.red.or.pred %p3, 0, %p1;\n@%p3 mov.u32 %r3, 1;"), "atom"},
      {"by a table",
       USED(ADD, BEYOND "selp.b64 %rd5, 4, 0, %p1;\nadd.s64 %rd5, %rd5, %rd2;\n"
                        "ld.global.u32 %r6, [%rd5+64];\nor.b32 %r3, %r3, %r6;"),
       "atom"},
      {"until the next round", USED(ADD, "@%p3 st.global.u32 [%rd3], 7;\n" BEYOND "and.pred %p3, %p1, %p1;"),
       "atom"},
  };
  EXPECT_ALL(cases);
}

static void a_comparison_may_be_kept_in_memory(void **state) {
  static const wait_case cases[] = {
      {"in shared memory, that is read behind the loop",
       KERNEL(PLACES "L: " ADD "\n" BEYOND "@%p1 st.shared.u32 [slot], 1;\n" COUNT
                     "ld.shared.u32 %r3, [slot];\nst.global.u32 [%rd2], %r3;"),
       "atom"},
      {"in shared memory, that is summed up there",
       USED(ADD, BEYOND "selp.b32 %r6, 1, 0, %p1;\nld.shared.u32 %r0, [slot];\nor.b32 %r0, %r0, %r6;\n"
                        "st.shared.u32 [slot], %r0;"),
       "atom"},
      {"in the thread's own memory",
       KERNEL(PLACES "L: " ADD "\n" BEYOND "@%p1 st.local.u32 [own], 1;\n" COUNT
                     "ld.local.u32 %r3, [own];\nst.global.u32 [%rd2], %r3;"),
       "atom"},
      {"handed on in shared memory, before it is compared",
       USED(ADD, "st.shared.u32 [slot], %r1;\nbar.sync 0;\nld.shared.u32 %r6, [slot];\n"
                 "setp.ge.u32 %p1, %r6, %r8;\n" KEEP),
       "atom"},
      {"handed on in global memory, before it is compared",
       USED(ADD, "st.global.u32 [%rd1+64], %r1;\nbar.sync 0;\nld.global.u32 %r6, [%rd1+64];\n"
                 "setp.ge.u32 %p1, %r6, %r8;\n" KEEP),
       "atom"},
      {"compared behind the loop",
       KERNEL(PLACES "L: " ADD "\n" COUNT "setp.ge.u32 %p1, %r1, %r8;\n@%p1 st.global.u32 [%rd2], 1;"),
       "atom"},
      {"compared behind the loop, in shared memory",
       KERNEL(PLACES "L: " ADD "\nst.shared.u32 [slot], %r1;\n" COUNT
                     "ld.shared.u32 %r6, [slot];\nsetp.ge.u32 %p1, %r6, %r8;\n@%p1 st.global.u32 [%rd2], 1;"),
       "atom"},
      {"compared in the next round", USED(ADD, "setp.ge.u32 %p1, %r6, %r8;\n" KEEP "\nmov.u32 %r6, %r1;"),
       "atom"},
      {"in shared memory, by a generic address",
       KERNEL(PLACES "mov.u64 %rd4, slot;\ncvta.shared.u64 %rd5, %rd4;\nL: " ADD "\n" BEYOND
                     "@%p1 st.u32 [%rd5], 1;\n" COUNT
                     "ld.shared.u32 %r3, [slot];\nst.global.u32 [%rd2], %r3;"),
       "atom"},
      {"at a place that shared memory says",
       USED(ADD, "ld.shared.u64 %rd6, [slot];\n" BEYOND "@%p1 st.global.u32 [%rd6], 1;"), "atom"},
      {"at a place of the CTA's turn",
       KERNEL(PLACES "atom.global.add.u32 %r9, [%rd1+128], 1;\nmul.wide.u32 %rd4, %r9, 4;\nadd.s64 %rd6, "
                     "%rd2, %rd4;\nL: " ADD "\n" BEYOND "@%p1 st.global.u32 [%rd6], 1;\n" COUNT),
       "atom"},
      {"at the CTA's place", USED(ADD, BEYOND "@%p1 st.global.u32 [%rd3], 1;"), "atom"},
      {"at the CTA's place, by a branch", USED(ADD, BEYOND "@!%p1 bra A;\nst.global.u32 [%rd3], 1;\nA:"),
       "atom"},
      {"at the CTA's place, as it comes out",
       USED(ADD, BEYOND "selp.b32 %r6, 1, 0, %p1;\nst.global.u32 [%rd3], %r6;"), "atom"},
      {"the lower half of two hundred rounds",
       USED(ADD, "min.u32 %r6, %r1, 200;\nsetp.eq.u32 %p1, %r6, 200;\n" KEEP), "atom"},
      {"what a load finds beside a reduction",
       USED("red.global.add.u32 [%rd1], 1;\nld.volatile.global.u32 %r1, [%rd1];", BEYOND KEEP),
       "ld.volatile"},
      {"what a load finds beside a reduction, met",
       USED("red.global.add.u32 [%rd1], 1;\nld.volatile.global.u32 %r1, [%rd1];",
            "setp.eq.u32 %p1, %r1, %r8;\n" KEEP),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

static void a_round_may_do_something_with_the_number_that_it_finds(void **state) {
  static const wait_case cases[] = {
      {"fill a place, as long as there is room", USED(ADD, BEYOND FOUND "@!%p1 st.global.u32 [%rd5], %r7;"),
       NULL},
      {"fill a place by a branch", USED(ADD, BEYOND "@%p1 bra A;\n" FOUND "st.global.u32 [%rd5], %r7;\nA:"),
       NULL},
      {"note the place, as long as there is room", USED(ADD, BEYOND "@!%p1 st.global.u32 [%rd3], %r1;"),
       NULL},
      {"say for all that there is no room", USED(ADD, BEYOND "@%p1 st.global.u32 [%rd2], 1;"), NULL},
      {"keep the number", KERNEL(PLACES "L: " ADD "\n" COUNT "st.global.u32 [%rd3], %r1;"), NULL},
      {"be the last, behind the loop",
       KERNEL(PLACES "L: " ADD "\n" COUNT "setp.eq.u32 %p1, %r1, %r8;\n@%p1 st.global.u32 [%rd3], 1;"), NULL},
      {"be the last, and keep that", USED(ADD, "setp.eq.u32 %p1, %r1, %r8;\n" KEEP), NULL},
      {"be the last, by one more than it finds",
       USED(ADD, "add.u32 %r6, %r1, 1;\nsetp.eq.u32 %p1, %r6, %r8;\n" KEEP), NULL},
      {"be the last, for the CTA",
       USED(ADD,
            BEYOND "selp.b32 %r6, 1, 0, %p1;\nst.shared.u32 [slot], %r6;\nbar.sync 0;\n"
                   "ld.shared.u32 %r0, [slot];\nsetp.ne.u32 %p3, %r0, 0;\n@%p3 st.global.u32 [%rd2], %r7;"),
       NULL},
      {"do so much by a cycle within",
       USED(ADD, BEYOND
            "@%p1 bra A;\nmov.u32 %r6, 0;\nB: " FOUND
            "st.global.u32 [%rd5], %r6;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 4;\n@%p3 bra B;\nA:"),
       NULL},
      {"hand its place to the warp",
       USED("setp.ne.u32 %p3, %r7, 0;\n@%p3 bra A;\n" ADD "\nA: shfl.sync.idx.b32 %r6, %r1, 0, 31, -1;",
            "setp.ge.u32 %p1, %r6, %r8;\nmul.wide.u32 %rd4, %r6, 4;\nadd.s64 %rd5, %rd2, %rd4;\n"
            "@!%p1 st.global.u32 [%rd5], %r7;"),
       NULL},
  };
  EXPECT_ALL(cases);
}

/* Bodies whose parameters are registers are searched by themselves. */
#define IN_BODY(use)                                                                                         \
  MODULE(".func fn(.reg .b64 a, .reg .b64 b) {\n.reg .b32 %q<90>;\n.reg .pred %z<4>;\nmov.u32 %q3, 0;\n"     \
         "F: atom.global.add.u32 %q71, [a], 1;\nsetp.ge.u32 %z1, %q71, 9;\n" use                             \
         "\nadd.u32 %q4, %q4, 1;\nsetp.lt.u32 %z2, %q4, 1000;\n@%z2 bra F;\nst.global.u32 [b], "             \
         "%q3;\nret;\n}\n",                                                                                  \
         PLACES "L: st.global.u32 [%rd2], %r7;\n" COUNT "call fn, (%rd1, %rd2);")

static void each_body_is_followed_by_itself(void **state) {
  static const wait_case cases[] = {
      {"a place that is filled", IN_BODY("@!%z1 st.global.u32 [b], %q71;"), NULL},
      {"a comparison that is kept", IN_BODY("@%z1 mov.u32 %q3, 1;"), "atom"},
  };
  EXPECT_ALL(cases);
}

/* The first CTA writes, and the others count. */
#define BESIDE(write, atom)                                                                                  \
  KERNEL(PLACES "setp.ne.u32 %p4, %r5, 0;\n@%p4 bra L;\n" write "\nbra E;\nL: " atom                         \
                "\nsetp.ge.u32 %p1, %r1, 100000;\n@%p1 st.global.u32 [%rd1+64], 1;\n" COUNT "E:")
#define COUNTED(write) BESIDE(write, ADD)

static void numbers_come_to_each_round_only_if_all_writes_are_alike(void **state) {
  static const wait_case cases[] = {
      {"a great number is added", COUNTED("red.global.add.u32 [%rd1], 100000;"), "atom"},
      {"a great number is added, and what was there looked at",
       COUNTED("atom.global.add.u32 %r6, [%rd1], 100000;\nst.global.u32 [%rd1+68], %r6;"), "atom"},
      {"ones are added of which nobody looks at the numbers", COUNTED("red.global.add.u32 [%rd1], 1;"),
       "atom"},
      {"ones are taken away", COUNTED("atom.global.add.u32 %r6, [%rd1], -1;\nst.global.u32 [%rd1+68], %r6;"),
       "atom"},
      {"bits are set", COUNTED("red.global.or.b32 [%rd1], 0x100000;"), "atom"},
      {"it is exchanged", COUNTED("atom.global.exch.b32 %r6, [%rd1], 100000;"), "atom"},
      {"it is stored for all to see", COUNTED("st.volatile.global.u32 [%rd1], 100000;"), "atom"},
      {"it is stored", COUNTED("st.global.u32 [%rd1], 100000;"), "atom"},
      {"another pointer", COUNTED("red.global.add.u32 [%rd2], 100000;"), "atom"},
      {"a count by inc",
       BESIDE("red.global.add.u32 [%rd1], 100000;", "atom.global.inc.u32 %r1, [%rd1], 0xfffff;"), "atom"},
      {"ones are added and looked at as well",
       COUNTED("atom.global.add.u32 %r6, [%rd1], 1;\nst.global.u32 [%rd1+68], %r6;"), NULL},
      {"another word", COUNTED("red.global.add.u32 [%rd1+128], 100000;"), NULL},
      {"results through another pointer", COUNTED("st.global.u32 [%rd2], 100000;"), NULL},
  };
  EXPECT_ALL(cases);
}

#define FETCHED(body)                                                                                        \
  HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n" DECLARATIONS                    \
       "ld.param.u64 %rd2, [q];\n" START "mov.u32 %r3, 0;\nmov.u32 %r5, -1;\nL: " body                       \
       "\nbra L;\nM: st.global.u32 [%rd2], %r3;\nret;\n}\n"
#define UNTIL "\nsetp.ge.s32 %p1, %r1, %r8;\n@%p1 bra M;\n"
#define ROUND(n)                                                                                             \
  "atom.global.add.u32 %r1, [%rd1], 1;\n" BEYOND "selp.b32 %r6, 1, 0, %p1;\nor.b32 %r3, %r3, %r6;\n"

static void rounds_may_be_written_out(void **state) {
  static const wait_case cases[] = {
      {"the next one found out of order",
       FETCHED(ADD UNTIL "add.u32 %r6, %r5, 1;\nsetp.ne.u32 %p3, %r1, %r6;\n@%p3 mov.u32 %r3, 1;\n"
                         "mov.u32 %r5, %r1;"),
       "atom"},
      {"the next one further than the last",
       FETCHED(ADD UNTIL "sub.u32 %r6, %r1, 1;\nsetp.gt.u32 %p3, %r6, %r5;\n@!%p3 bra A;\n"
                         "add.u32 %r3, %r3, 1;\nA: mov.u32 %r5, %r1;"),
       "atom"},
      {"work of which some is of another sort",
       FETCHED(ADD UNTIL "setp.lt.u32 %p3, %r1, 64;\n@%p3 add.u32 %r3, %r3, 1;"), NULL},
      {"work in parts of four",
       FETCHED("atom.global.add.u32 %r1, [%rd1], 4;" UNTIL
               "add.u32 %r6, %r1, 4;\nmov.u32 %r5, %r1;\nA: mul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd5, %rd2, "
               "%rd4;\nst.global.u32 [%rd5], %r7;\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, %r6;\n"
               "@%p3 bra A;"),
       NULL},
  };
  hd_refusal r = {0};
  EXPECT_ALL(cases);
  const char *rests = KERNEL("mov.u32 %r3, 0;\n" ROUND(1) "nanosleep.u32 99;\n" ROUND(
      2) "nanosleep.u32 99;\n" ROUND(3) "nanosleep.u32 99;\n" ROUND(4) "st.global.u32 [%rd2], %r3;");
  const char *one = KERNEL("mov.u32 %r3, 0;\n" ROUND(1) "st.global.u32 [%rd2], %r3;");
  if (!refusals("four rounds", rests, &r) || !strstr(r.what, "atom")) fail_msg("four rounds: %s", r.what);
  if (refusals("one", one, &r)) fail_msg("one: %s", r.what);
}

/* %rd2 is a pointer of its own. */
#define WITH_DATA(body)                                                                                      \
  HEAD ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n" DECLARATIONS                    \
       "ld.param.u64 %rd2, [q];\n" START body "\nret;\n}\n"
#define SO_MANY(find, ends) WITH_DATA("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL: " find "\n" COUNT ends)
/* Until nothing is left. */
#define FETCH_ALL(at)                                                                                        \
  "F: atom.global.add.u32 %r1, [" at "], 1;\nsetp.ge.u32 %p1, %r1, %r8;\n@%p1 bra G;\n" FOUND                \
  "st.global.u32 [%rd5], %r7;\nbra F;\nG:"
#define OUT "st.global.u32 [%rd2], %r3;"

static void work_that_is_fetched_in_each_of_so_many_rounds_shows_how_far_others_came(void **state) {
  static const wait_case cases[] = {
      {"the number behind the last", SO_MANY(FETCH_ALL("%rd1") "mov.u32 %r3, %r1;", OUT), "atom"},
      {"whether it is far behind",
       SO_MANY(FETCH_ALL("%rd1") "setp.gt.u32 %p3, %r1, 5000;\n@%p3 mov.u32 %r3, 1;", OUT), "atom"},
      {"its upper bits", SO_MANY(FETCH_ALL("%rd1") "shr.u32 %r6, %r1, 20;\nor.b32 %r3, %r3, %r6;", OUT),
       "atom"},
      {"how much each round got",
       SO_MANY("F: atom.global.add.u32 %r1, [%rd1], 1;\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r1, %r8;\n"
               "@%p1 bra F;",
               OUT),
       "atom"},
      {"by one thread for its CTA",
       SO_MANY("F: setp.ne.u32 %p3, %r7, 0;\n@%p3 bra A;\natom.global.add.u32 %r1, [%rd1], 1;\n"
               "st.shared.u32 [slot], %r1;\nA: bar.sync 0;\nld.shared.u32 %r6, [slot];\nbar.sync 0;\n"
               "setp.lt.u32 %p1, %r6, %r8;\n@%p1 bra F;\nmov.u32 %r3, %r6;",
               OUT),
       "atom"},
      {"of a queue that stays for many rounds",
       SO_MANY("shr.u32 %r9, %r4, 8;\nmul.wide.u32 %rd4, %r9, 4;\nadd.s64 %rd3, %rd1, %rd4;\n" FETCH_ALL(
                   "%rd3") "mov.u32 %r3, %r1;",
               OUT),
       "atom"},
  };
  static const wait_case others[] = {
      {"once", WITH_DATA(FETCH_ALL("%rd1")), NULL},
      {"of another queue in each round",
       SO_MANY("mul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd3, %rd1, %rd4;\n" FETCH_ALL("%rd3"), OUT), NULL},
      {"with a loop for each",
       SO_MANY(
           "mul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd3, %rd1, %rd4;\nF: atom.global.add.u32 %r1, [%rd3], 1;\n"
           "setp.ge.u32 %p1, %r1, %r8;\n@%p1 bra G;\n" FOUND "mov.u32 %r6, 0;\nB: "
           "st.global.u32 [%rd5], %r6;\nadd.u32 %r6, %r6, 1;\nsetp.lt.u32 %p3, %r6, 9;\n@%p3 bra B;\n"
           "bra F;\nG:",
           OUT),
       NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

/* Fetches until nothing is left, or so many times: what is done at the one end, and at the other. */
#define OR_GIVE_UP(work, out_of_work, given_up)                                                              \
  WITH_DATA("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\n"                     \
            "setp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\n" FOUND work "\n" COUNT given_up                       \
            "\nbra N;\nM: " out_of_work "\nN: st.global.u32 [%rd2+4096], %r7;")
#define WORK "st.global.u32 [%rd5], %r7;"

static void a_loop_that_fetches_or_gives_up_does_not_show_which(void **state) {
  static const wait_case cases[] = {
      {"something is stored as it gives up", OR_GIVE_UP(WORK, "", "st.global.u32 [%rd2], 7;"), "atom"},
      {"something is stored as nothing is left", OR_GIVE_UP(WORK, "st.global.u32 [%rd2], 7;", ""), "atom"},
      {"a register says which", OR_GIVE_UP(WORK, "mov.u32 %r3, 1;", "mov.u32 %r3, 2;"), "atom"},
      {"it traps", OR_GIVE_UP(WORK, "", "trap;"), "atom"},
      {"the thread ends", OR_GIVE_UP(WORK, "ret;", ""), "atom"},
      {"the rounds are stored",
       WITH_DATA("mov.u32 %r4, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ge.u32 %p1, %r1, %r8;\n"
                 "@%p1 bra M;\n" COUNT "M: st.global.u32 [%rd2], %r4;"),
       "atom"},
      {"the last number is stored",
       WITH_DATA("mov.u32 %r4, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ge.u32 %p1, %r1, %r8;\n"
                 "@%p1 bra M;\n" COUNT "M: st.global.u32 [%rd2], %r1;"),
       "atom"},
      {"the rounds are counted in another register",
       WITH_DATA("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\n"
                 "setp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\nmad.lo.u32 %r3, %r3, 3, 1;\n" COUNT
                 "M: st.global.u32 [%rd2], %r3;"),
       "atom"},
      {"the rounds are counted by the same word of the launch",
       WITH_DATA("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\n"
                 "setp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\nld.global.u32 %r6, [%rd2+8];\n"
                 "add.u32 %r3, %r3, %r6;\n" COUNT "M: st.global.u32 [%rd2], %r3;"),
       "atom"},
      {"the last number is left in shared memory",
       WITH_DATA("mov.u32 %r4, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\nst.shared.u32 [slot], %r1;\n"
                 "setp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\n" COUNT
                 "M: ld.shared.u32 %r6, [slot];\nst.global.u32 [%rd2], %r6;"),
       "atom"},
  };
  static const wait_case others[] = {
      {"nothing is left behind", OR_GIVE_UP(WORK, "", ""), NULL},
      {"a sum of the work's data",
       WITH_DATA("mov.u32 %r3, 0;\nmov.u32 %r4, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\n"
                 "setp.ge.u32 %p1, %r1, %r8;\n@%p1 bra M;\n" FOUND "ld.global.u32 %r6, [%rd5];\n"
                 "add.u32 %r3, %r3, %r6;\n" COUNT "M: st.global.u32 [%rd2], %r3;"),
       NULL},
      {"it does not give up",
       WITH_DATA("mov.u32 %r3, 0;\nL: atom.global.add.u32 %r1, [%rd1], 1;\nsetp.ge.u32 %p1, %r1, %r8;\n"
                 "@%p1 bra M;\n" FOUND "st.global.u32 [%rd5], %r7;\nbra L;\nM: st.global.u32 [%rd2], %r1;"),
       NULL},
  };
  EXPECT_ALL(cases);
  EXPECT_ALL(others);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a comparison that a thread keeps shows how far others came",
                a_comparison_that_is_kept_shows_how_far_others_came),
      BEHAVIOUR("a comparison may be kept in memory, or made of what is there",
                a_comparison_may_be_kept_in_memory),
      BEHAVIOUR("a round may do something with the number that it finds",
                a_round_may_do_something_with_the_number_that_it_finds),
      BEHAVIOUR("each body is followed by itself", each_body_is_followed_by_itself),
      BEHAVIOUR("numbers come to each round only if all writes are alike",
                numbers_come_to_each_round_only_if_all_writes_are_alike),
      BEHAVIOUR("work that is fetched in each of so many rounds shows how far others came",
                work_that_is_fetched_in_each_of_so_many_rounds_shows_how_far_others_came),
      BEHAVIOUR("a loop that fetches or gives up does not show which",
                a_loop_that_fetches_or_gives_up_does_not_show_which),
      BEHAVIOUR("rounds may be written out, and fetched work compared", rounds_may_be_written_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
