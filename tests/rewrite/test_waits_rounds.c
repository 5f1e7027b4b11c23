/* Rounds of polls that are written out, called, or run in cycles that end by themselves. */
#include "check.h"

#include "waits.h"

#define COUNT "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\n"
#define LOOK "ld.volatile.global.u32 %r1, [%rd1];\nor.b32 %r3, %r3, %r1;\n"
#define THREE(between) KERNEL(LOOK between "\n" LOOK between "\n" LOOK "st.global.u32 [%rd2], %r3;")

static void looks_are_rounds_if_time_goes_by_in_between(void **state) {
  static const wait_case cases[] = {
      {"a rest", THREE("nanosleep.u32 99;"), "ld.volatile"},
      {"a fence of the CTA", THREE("fence.acq_rel.cta;"), "ld.volatile"},
      {"a barrier of the warp", THREE("bar.warp.sync -1;"), "ld.volatile"},
      {"a shuffle", THREE("shfl.sync.idx.b32 %r5, %r7, 0, 31, -1;"), "ld.volatile"},
      {"a vote", THREE("vote.sync.any.pred %p5, %p4, -1;"), "ld.volatile"},
      {"an mbarrier that waits for a while",
       THREE("mbarrier.try_wait.parity.shared.b64 %p5, [slot], 0, 1000000;"), "ld.volatile"},
      {"copies that are waited for", THREE("cp.async.wait_all;"), "ld.volatile"},
      {"groups of bulk copies that are waited for", THREE("cp.async.bulk.wait_group 0;"), "ld.volatile"},
      {"the grid before", THREE("griddepcontrol.wait;"), "ld.volatile"},
      {"a function whose parameters are registers",
       MODULE(".func rest(.reg .b32 q) { nanosleep.u32 1000; ret; }\n",
              LOOK "call rest, (%r7);\n" LOOK "call rest, (%r7);\n" LOOK "st.global.u32 [%rd2], %r3;"),
       "ld.volatile"},
      {"an atomic elsewhere", THREE("atom.global.add.u32 %r5, [%rd2], 1;\nadd.u32 %r6, %r6, %r5;"),
       "ld.volatile"},
      {"an atomic elsewhere, whose result is not read", THREE("atom.global.add.u32 %r5, [%rd2], 1;"),
       "ld.volatile"},
      {"a reduction of the CTA's scope", THREE("red.relaxed.cta.global.add.u32 [%rd2], 1;"), "ld.volatile"},
      {"a look at another flag", THREE("ld.volatile.global.u32 %r5, [%rd1+64];\nor.b32 %r3, %r3, %r5;"),
       "ld.volatile"},
      {"data that is loaded by what was found",
       THREE("mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd5, %rd1, %rd4;\nld.global.u32 %r5, [%rd5+64];\n"
             "add.u32 %r6, %r6, %r5;"),
       "ld.volatile"},
      {"a texture", THREE("tex.1d.v4.u32.s32 {%r5, %r6, %r0, %r9}, [%rd5, {%r7}];"), "ld.volatile"},
      {"a store to global memory", THREE("st.global.u32 [%rd1+64], %r7;"), "ld.volatile"},
      {"a sum", THREE("add.u32 %r5, %r5, 1;"), "ld.volatile"},
      {"two sums of what was found", THREE("add.u32 %r5, %r5, %r1;\nmul.lo.u32 %r6, %r5, %r1;"),
       "ld.volatile"},
      {"a root", THREE("sqrt.rn.f32 %f1, %f1;"), "ld.volatile"},
      {"an element of shared memory", THREE("ld.shared.u32 %r5, [slot];"), "ld.volatile"},
      {"a store to shared memory", THREE("st.shared.u32 [slot], %r7;"), "ld.volatile"},
      {"a sum in shared memory", THREE("atom.shared.add.u32 %r5, [slot], 1;"), "ld.volatile"},
      {"a store to the thread's own memory", THREE("st.local.u32 [own], %r7;"), "ld.volatile"},
      {"a quotient, then a test",
       KERNEL(LOOK "div.u32 %r5, %r8, %r7;\n" LOOK "setp.eq.u32 %p5, %r5, 7;\n" LOOK
                   "selp.b32 %r3, %r3, 0, %p5;\nst.global.u32 [%rd2], %r3;"),
       "ld.volatile"},
      {"an element of shared memory, and plain loads",
       KERNEL("ld.global.u32 %r1, [%rd1];\nld.shared.u32 %r4, [slot];\nld.global.u32 %r2, [%rd1];\n"
              "st.shared.u32 [slot], %r1;\nld.global.u32 %r3, [%rd1];\nadd.u32 %r1, %r1, %r2;\n"
              "add.u32 %r3, %r3, %r1;\nst.global.u32 [%rd2], %r3;"),
       NULL},
      {"nothing but copies", THREE("mov.u32 %r5, %r7;"), NULL},
      {"a sum, of each of three elements",
       KERNEL(LOOK "add.u32 %r5, %r5, 1;\nld.volatile.global.u32 %r1, [%rd1+4];\nadd.u32 %r5, %r5, %r1;\n"
                   "mul.lo.u32 %r5, %r5, 3;\nld.volatile.global.u32 %r1, [%rd1+8];\n"
                   "add.u32 %r5, %r5, %r1;\nst.global.u32 [%rd2], %r5;"),
       NULL},
      {"a function of the system", /* which a fence would not follow */
       MODULE(".extern .func (.param .b32 o) vprintf(.param .b64 a, .param .b64 b);\n",
              LOOK "{\n.param .b64 a;\n.param .b64 b;\n.param .b32 o;\nst.param.b64 [a], %rd2;\n"
                   "st.param.b64 [b], %rd2;\ncall (o), vprintf, (a, b);\n}\n" LOOK LOOK
                   "st.global.u32 [%rd2], %r3;"),
       NULL},
  };
  hd_refusal r;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t n = refusals(cases[i].what, cases[i].text, &r);
    if (!n != !cases[i].at) fail_msg("%s: %zu refusals", cases[i].what, n);
    if (n && !strstr(r.what, cases[i].at)) fail_msg("%s: %s", cases[i].what, r.what);
  }
}

/* With nothing in between but what is computed. */
static void many_looks_at_once_are_rounds(void **state) {
  static const struct {
    const char *what, *text;
    bool refused;
  } cases[] = {
      {"three", KERNEL(LOOK LOOK LOOK "st.global.u32 [%rd2], %r3;"), false},
      {"four", KERNEL(LOOK LOOK LOOK LOOK "st.global.u32 [%rd2], %r3;"), true},
      {"four, with sums in between",
       KERNEL(LOOK "mul.lo.u32 %r5, %r5, %r1;\n" LOOK "mul.lo.u32 %r5, %r5, %r1;\n" LOOK
                   "mul.lo.u32 %r5, %r5, %r1;\n" LOOK "st.global.u32 [%rd2], %r3;"),
       true},
      {"four sums in memory",
       KERNEL("ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, %r7;\nst.volatile.global.u32 [%rd1], "
              "%r1;\n"
              "ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, %r7;\nst.volatile.global.u32 [%rd1], "
              "%r1;\n"
              "ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, %r7;\nst.volatile.global.u32 [%rd1], "
              "%r1;\n"
              "ld.volatile.global.u32 %r1, [%rd1];\nadd.u32 %r1, %r1, %r7;\nst.volatile.global.u32 [%rd1], "
              "%r1;"),
       false},
      {"four plain loads",
       KERNEL("ld.global.u32 %r1, [%rd1];\nld.global.u32 %r2, [%rd1];\nld.global.u32 %r3, [%rd1];\n"
              "ld.global.u32 %r5, [%rd1];\nadd.u32 %r1, %r1, %r2;\nadd.u32 %r3, %r3, %r5;\n"
              "add.u32 %r1, %r1, %r3;\nst.global.u32 [%rd2], %r1;"),
       false},
  };
  hd_refusal r;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if ((refusals(cases[i].what, cases[i].text, &r) != 0) != cases[i].refused) fail_msg("%s", cases[i].what);
}

#define FN(body) ".func fn(.reg .b64 w) {\n.reg .b32 x;\n.reg .pred z;\n" body "ret;\n}\n"
#define CALL "call fn, (%rd1);\n"
#define PLAIN "ld.global.u32 %r1, [%rd1];\nor.b32 %r3, %r3, %r1;\n"

/* Bodies whose parameters are registers are not made part of the kernel's graph. */
static void a_body_that_is_not_seen_may_do_anything(void **state) {
  static const wait_case cases[] = {
      {"it ends the thread",
       MODULE(FN("ld.acquire.gpu.u32 x, [w];\nsetp.ne.u32 z, x, 0;\n@z exit;\n"), "L: " CALL "bra L;"),
       "call"},
      {"it traps, of what is given",
       MODULE(".func fn(.reg .b32 x) {\n.reg .pred z;\nsetp.ne.u32 z, x, 0;\n@z trap;\nret;\n}\n",
              "L: ld.volatile.global.u32 %r1, [%rd1];\ncall fn, (%r1);\nbra L;"),
       "call"},
      {"it has a fence",
       MODULE(FN("fence.acq_rel.gpu;\n"), "L: " CALL "ld.relaxed.cta.global.u32 %r1, [%rd1];\n"
                                          "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;"),
       "ld.relaxed"},
      {"it has a fence, in each of so many rounds",
       MODULE(FN("membar.gl;\n"), "L: " CALL PLAIN COUNT "st.global.u32 [%rd2], %r3;"), "ld.global"},
      {"it stores what is given",
       MODULE(".shared .align 4 .b32 kept;\n.func fn(.reg .b32 x) { st.shared.u32 [kept], x; ret; }\n",
              "L: ld.global.u32 %r1, [%rd1];\ncall fn, (%r1);\nld.shared.u32 %r2, [kept];\n"
              "setp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;"),
       "ld.global"},
      {"it has nothing, in a loop that counts", MODULE(FN(""), "L: " CALL COUNT "st.global.u32 [%rd2], %r3;"),
       NULL},
      {"it computes, behind a load",
       MODULE(FN("add.u32 x, 1, 2;\n"), PLAIN CALL "st.global.u32 [%rd2], %r3;"), NULL},
  };
  static const wait_case looks[] = {
      {"it looks, three times in turn", MODULE(FN("ld.acquire.gpu.u32 x, [w];\n"), CALL CALL CALL), "call"},
      {"it looks twice, two times in turn",
       MODULE(FN("ld.acquire.gpu.u32 x, [w];\nnanosleep.u32 9;\nld.acquire.gpu.u32 x, [w];\n"), CALL CALL),
       "call"},
      {"fences of it between plain loads",
       MODULE(FN("membar.gl;\n"), CALL PLAIN CALL PLAIN CALL PLAIN "st.global.u32 [%rd2], %r3;"),
       "ld.global"},
  };
  EXPECT_ALL(cases);
  for (size_t i = 0; i < sizeof looks / sizeof *looks; i++) {
    hd_refusal r = {0};
    if (!refusals(looks[i].what, looks[i].text, &r) || !strstr(r.what, looks[i].at))
      fail_msg("%s: %s", looks[i].what, r.what);
  }
}

#define PLACE "mul.wide.u32 %rd4, %r4, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"
#define AT_PLACE(n, k)                                                                                       \
  "ld.volatile.global.u32 %r" #n ", [%rd3+" #k "];\nor.b32 %r3, %r3, %r" #n ";\nnanosleep.u32 9;\n"
#define EACH(looks) KERNEL("L: " PLACE looks COUNT "st.global.u32 [%rd2], %r3;")

static void tries_of_each_place_in_turn_are_rounds(void **state) {
  static const wait_case cases[] = {
      {"three at each", EACH(AT_PLACE(1, 0) AT_PLACE(2, 0) AT_PLACE(5, 0)), "ld.volatile"},
      {"three at each, by an index from a list",
       KERNEL("L: " PLACE "ld.global.u32 %r6, [%rd3+4096];\nmul.wide.u32 %rd5, %r6, 4;\nadd.s64 %rd3, %rd1, "
              "%rd5;\n" AT_PLACE(1, 0) AT_PLACE(2, 0) AT_PLACE(5, 0) COUNT "st.global.u32 [%rd2], %r3;"),
       "ld.volatile"},
      {"two at each", EACH(AT_PLACE(1, 0) AT_PLACE(2, 0)), NULL},
      {"one at each of three in a row, and the next three",
       KERNEL("L: mul.wide.u32 %rd4, %r4, 12;\nadd.s64 %rd3, %rd1, %rd4;\n" AT_PLACE(1, 0) AT_PLACE(2, 4)
                  AT_PLACE(5, 8) COUNT "st.global.u32 [%rd2], %r3;"),
       NULL},
  };
  hd_refusal r;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t n = refusals(cases[i].what, cases[i].text, &r);
    if (!n != !cases[i].at) fail_msg("%s: %zu refusals", cases[i].what, n);
  }
}

/* Another warp of the CTA runs the fence, and the two meet at a barrier. */
#define TWO_WARPS(fence, look)                                                                               \
  KERNEL("setp.lt.u32 %p1, %r7, 32;\n@%p1 bra L;\nmov.u32 %r5, 0;\nS: " fence "\nbar.sync 0;\n"              \
         "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p3, %r5, 1000;\n@%p3 bra S;\nbra M;\nL: " look                  \
         "\nor.b32 %r3, %r3, %r1;\nbar.sync 0;\n" COUNT "M: st.global.u32 [%rd2], %r3;")

static void fences_of_another_warp_count_for_looks_of_the_cta(void **state) {
  static const wait_case cases[] = {
      {"a fence of the GPU", TWO_WARPS("fence.acq_rel.gpu;", "ld.relaxed.cta.global.u32 %r1, [%rd1];"),
       "ld.relaxed.cta"},
      {"what acquires as much",
       TWO_WARPS("ld.acquire.gpu.global.u32 %r9, [%rd2];\nadd.s64 %rd2, %rd2, 4;",
                 "ld.relaxed.cta.global.u32 %r1, [%rd1];"),
       "ld.relaxed.cta"},
      {"a fence of the CTA", TWO_WARPS("fence.acq_rel.cta;", "ld.relaxed.cta.global.u32 %r1, [%rd1];"), NULL},
      {"a plain load, which may find what it found",
       TWO_WARPS("fence.acq_rel.gpu;", "ld.global.u32 %r1, [%rd1];"), NULL},
  };
  EXPECT_ALL(cases);
}

#define SHARED(address)                                                                                      \
  KERNEL("mov.u64 %rd4, slot;\ncvta.shared.u64 %rd5, %rd4;\n" address                                        \
         "\nL: ld.volatile.u32 %r1, [%rd6];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;")

static void a_large_product_leads_out_of_shared_memory(void **state) {
  static const wait_case cases[] = {
      {"an element", SHARED("mad.wide.u32 %rd6, %r8, 4, %rd5;"), NULL},
      {"a row of the text", SHARED("mad.wide.u32 %rd6, %r8, 4096, %rd5;"), NULL},
      {"2^28 for each", SHARED("mad.wide.s32 %rd6, %r8, 0x10000000, %rd5;"), "ld.volatile"},
      {"-2^28 for each", SHARED("mad.wide.s32 %rd6, %r8, -0x10000000, %rd5;"), "ld.volatile"},
      {"two numbers of the launch", SHARED("mov.u32 %r2, %nctaid.x;\nmad.wide.u32 %rd6, %r8, %r2, %rd5;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define LOCK(looks)                                                                                          \
  "T: " looks "atom.global.cas.b32 %r6, [%rd1+64], 0, 1;\nsetp.ne.u32 %p3, %r6, 0;\n@%p3 bra T;\n"
#define GIVE "membar.gl;\natom.global.exch.b32 %r0, [%rd1+64], 0;\n"
#define OF_EIGHT "and.b32 %r5, %r4, 7;\nmul.wide.u32 %rd4, %r5, 4;\nadd.s64 %rd3, %rd1, %rd4;\n"

/* A lock is taken in each of so many rounds. */
static void looks_beside_a_lock_are_rounds_of_the_loop_around_it(void **state) {
  static const wait_case cases[] = {
      {"flags that come round, in the lock's loop",
       KERNEL("L: " OF_EIGHT LOCK("ld.volatile.global.u32 %r1, [%rd3+128];\nor.b32 %r3, %r3, %r1;\n")
                  GIVE COUNT "st.global.u32 [%rd1+256], %r3;"),
       "ld.volatile"},
      {"an exchange of another word",
       KERNEL("L: " LOCK("atom.global.exch.b32 %r1, [%rd1+128], 0;\nor.b32 %r3, %r3, %r1;\n") GIVE COUNT
              "st.global.u32 [%rd1+256], %r3;"),
       "atom"},
      {"a mailbox that is emptied behind",
       KERNEL("L: " LOCK(
           "ld.volatile.global.u32 %r1, [%rd1+128];\nor.b32 %r3, %r3, %r1;\n") "st.volatile.global.u32 "
                                                                               "[%rd1+128], 0;\n" GIVE COUNT
                                                                               "st.global.u32 [%rd1+256], "
                                                                               "%r3;"),
       "ld.volatile"},
      {"the lock's word", KERNEL("L: " LOCK("") GIVE COUNT), NULL},
      {"places of a row, each as long as the lock is taken",
       KERNEL("L: " PLACE LOCK("ld.volatile.global.u32 %r1, [%rd3+128];\nor.b32 %r3, %r3, %r1;\n") GIVE COUNT
              "st.global.u32 [%rd1+256], %r3;"),
       "ld.volatile"},
  };
  EXPECT_ALL(cases);
}

#define HINT "ld.volatile.global.u32 %r2, [%rd1+128];\nand.b32 %r2, %r2, 1;\nadd.u32 %r2, %r2, 1;\n"
#define TRIES(counts)                                                                                        \
  KERNEL("mov.u32 %r4, 0;\nL: atom.global.cas.b32 %r1, [%rd1], 0, 1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra "   \
         "M;\n" counts                                                                                       \
         "\nsetp.lt.u32 %p2, %r4, 1000;\n@%p2 bra L;\nbra E;\nM: st.global.u32 [%rd1], 0;\nE:")
#define UPDATES(counts)                                                                                      \
  KERNEL(                                                                                                    \
      "mov.u32 %r4, 0;\nld.volatile.global.u32 %r5, [%rd1];\nL: add.u32 %r6, %r5, 1;\n"                      \
      "atom.global.cas.b32 %r1, [%rd1], %r5, %r6;\nsetp.eq.u32 %p1, %r1, %r5;\nmov.u32 %r5, %r1;\n" counts   \
      "\nsetp.ge.u32 %p2, %r4, 1000;\nor.pred %p3, %p1, %p2;\n@!%p3 bra L;")

static void tries_that_are_counted_are_a_time_out_whatever_is_added(void **state) {
  static const wait_case cases[] = {
      {"a lock, by ones", TRIES("add.u32 %r4, %r4, 1;"), "atom"},
      {"a lock, by what a flag says", TRIES(HINT "add.u32 %r4, %r4, %r2;"), "atom"},
      {"a lock, in shared memory, by what a flag says", TRIES(HINT "atom.shared.add.u32 %r4, [slot], %r2;"),
       "atom"},
      {"a lock, in the thread's own memory, by what was found",
       TRIES("ld.local.u32 %r4, [own];\nadd.u32 %r4, %r4, %r1;\nst.local.u32 [own], %r4;"), "atom"},
      {"an update, by what a flag says", UPDATES(HINT "add.u32 %r4, %r4, %r2;"), "ld.volatile"},
      {"an update that gives up if a flag says so", UPDATES("ld.volatile.global.u32 %r4, [%rd1+128];"), NULL},
  };
  hd_refusal r;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t n = refusals(cases[i].what, cases[i].text, &r);
    if (!n != !cases[i].at) fail_msg("%s: %zu refusals", cases[i].what, n);
  }
}

/* A compiler knew that there are two rounds, and passes on whether there is another one. %rd3 is where the
 * first and the second one look. */
#define TWO(first, at, look, other, on, again)                                                               \
  KERNEL("mov.pred %p2, " first ";\nmov.u64 %rd3, " at ";\nmov.u32 %r2, slot;\nL: mov.pred %p1, %p2;\n"      \
         "add.s64 %rd4, %rd1, %rd3;\n" look "\nmov.u64 %rd3, " other ";\nmov.pred %p2, " on ";\n" again      \
         " bra L;")
#define COPY "cp.async.cg.shared.global [%r2], [%rd4], 16;"

static void two_rounds_of_two_places_are_no_poll(void **state) {
  static const wait_case cases[] = {
      {"two places", TWO("-1", "64", COPY, "96", "0", "@%p1"), NULL},
      {"while it is false", TWO("0", "64", COPY, "96", "-1", "@!%p1"), NULL},
      {"one place", TWO("-1", "64", COPY, "64", "0", "@%p1"), "cp.async"},
      {"rounds without an end", TWO("-1", "64", COPY, "96", "-1", "@%p1"), "cp.async"},
      {"rounds that go on once they have begun", TWO("0", "64", COPY, "96", "0", "@!%p1"), "cp.async"},
      {"a number that others of its kind come behind",
       TWO("-1", "64", COPY, "96;\nmov.u64 %rd3, %rd2", "0", "@%p1"), "cp.async"},
      {"a look that is made to see others",
       TWO("-1", "64", "ld.volatile.global.u32 %r1, [%rd4];", "96", "0", "@%p1"), "ld.volatile"},
      {"many rounds",
       KERNEL("mov.u64 %rd3, 64;\nmov.u32 %r2, slot;\nL: add.s64 %rd4, %rd1, %rd3;\n" COPY
              "\nmov.u64 %rd3, 96;\n" COUNT),
       "cp.async"},
  };
  EXPECT_ALL(cases);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("looks are rounds if time goes by in between", looks_are_rounds_if_time_goes_by_in_between),
      BEHAVIOUR("many looks at once are rounds", many_looks_at_once_are_rounds),
      BEHAVIOUR("a body that is not seen may do anything", a_body_that_is_not_seen_may_do_anything),
      BEHAVIOUR("tries of each place in turn are rounds", tries_of_each_place_in_turn_are_rounds),
      BEHAVIOUR("fences of another warp count for looks of the CTA's scope",
                fences_of_another_warp_count_for_looks_of_the_cta),
      BEHAVIOUR("a large product leads out of shared memory", a_large_product_leads_out_of_shared_memory),
      BEHAVIOUR("looks beside a lock are rounds of the loop around it",
                looks_beside_a_lock_are_rounds_of_the_loop_around_it),
      BEHAVIOUR("tries that are counted are a time-out, whatever is added",
                tries_that_are_counted_are_a_time_out_whatever_is_added),
      BEHAVIOUR("two rounds that look at two places are no poll", two_rounds_of_two_places_are_no_poll),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
