/* Clocks: those that only decide how long a thread waits do not bar a kernel, all others do. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/rewrite.h"

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define DECLARATIONS                                                                                         \
  ".reg .pred %p<9>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<20>;\n.shared .align 8 .b8 bar[8];\n"                 \
  ".shared .align 8 .b32 slot;\n"
#define MODULE(functions, body)                                                                              \
  HEAD functions ".visible .entry k(.param .u64 p)\n{\n" DECLARATIONS                                        \
                 "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n" body "\nret;\n}\n"
#define KERNEL(body) MODULE("", body)

/* cuda::barrier::wait as libcu++ has it: sixteen polls, then some that get slower and slower. */
#define POLL(poll, rest)                                                                                     \
  KERNEL("mov.u32 %r6, bar;\nmbarrier.arrive.shared.b64 %rd6, [%r6];\nmov.u64 %rd7, %globaltimer;\n"         \
         "mov.u32 %r15, 0;\nbra.uni L3;\nL10: add.s32 %r15, %r15, 1;\n"                                      \
         "L3: " poll                                                                                         \
         " %p1, [%r6], %rd6;\nselp.b32 %r8, 1, 0, %p1;\nsetp.eq.s32 %p2, %r8, 0;\n@%p2 bra L5;\n"            \
         "bra.uni L4;\nL5: setp.lt.s32 %p3, %r15, 16;\n@%p3 bra L10;\nmov.u64 %rd11, %globaltimer;\n"        \
         "sub.s64 %rd4, %rd11, %rd7;\nsetp.lt.s64 %p4, %rd4, 4000000;\n@%p4 bra L8;\nbra.uni L7;\n"          \
         "L8: setp.lt.s64 %p5, %rd4, 40000;\n@%p5 bra L3;\nshr.u64 %rd15, %rd4, 2;\n"                        \
         "cvt.u32.u64 %r14, %rd15;\nnanosleep.u32 %r14;\nbra.uni L3;\n"                                      \
         "L7: mov.u32 %r13, 1000000;\nnanosleep.u32 %r13;\nbra.uni L3;\nL4:" rest)

/* cuda::barrier::try_wait_for: the result says whether time ran out. */
#define TRY_WAIT_FOR                                                                                         \
  KERNEL("mov.u32 %r4, bar;\nmbarrier.arrive.shared.b64 %rd5, [%r4];\nmov.u64 %rd6, %globaltimer;\n"         \
         "L3: mbarrier.test_wait.shared.b64 %p1, [%r4], %rd5;\nmov.u32 %r6, 1;\n@%p1 bra L5;\n"              \
         "mov.u64 %rd8, %globaltimer;\nsub.s64 %rd9, %rd8, %rd6;\nsetp.lt.s64 %p3, %rd9, 1000;\n"            \
         "mov.u32 %r6, 0;\n@%p3 bra L3;\nL5: st.global.u32 [%rd1], %r6;")

#define NOW "mov.u64 %rd2, %clock64;\n"
#define EARLY NOW "setp.lt.u64 %p1, %rd2, 4000;\n"

typedef struct clock_case {
  const char *what, *text;
} clock_case;

static size_t refusals(const clock_case *c, hd_refusal *r) {
  hd_ptx_module *m;
  hd_arena arena;
  hd_diag d = {0};
  hd_arena_init(&arena);
  if (hd_ptx_parse(c->text, strlen(c->text), "test", &arena, &m, &d) != HD_OK)
    fail_msg("%s: line %u: %s", c->what, d.line, d.message);
  size_t n = hd_rewrite_refusals(m, (uint32_t)hd_ptx_find_kernel(m, "k"), r, 1);
  hd_arena_free(&arena);
  return n;
}

static void clocks_that_only_say_how_long_to_wait_bar_nothing(void **state) {
  static const clock_case cases[] = {
      {"a barrier of libcu++, sm_80", POLL("mbarrier.test_wait.shared.b64", "")},
      {"a barrier of libcu++, sm_90", POLL("mbarrier.try_wait.shared.b64", "st.global.u32 [%rd1], %r1;")},
      {"a clock that nobody uses", KERNEL(NOW)},
      {"sleep for as long as a clock says",
       KERNEL(
           "mov.u32 %r2, %clock;\nand.b32 %r3, %r2, 127;\nnanosleep.u32 %r3;\nst.global.u32 [%rd1], %r1;")},
      {"sleep under a guard", KERNEL(EARLY "@%p1 nanosleep.u32 20;\nst.global.u32 [%rd1], %r1;")},
      {"a delay", KERNEL(NOW "L: mov.u64 %rd3, %clock64;\nsub.u64 %rd4, %rd3, %rd2;\n"
                             "setp.lt.u64 %p1, %rd4, 1000;\n@%p1 bra L;\nst.global.u32 [%rd1], %r1;")},
      {"a delay that sleeps",
       KERNEL(NOW "L: nanosleep.u32 20;\nmov.u64 %rd3, %globaltimer;\nsetp.lt.u64 %p1, %rd3, %rd2;\n"
                  "@!%p1 bra M;\nbra L;\nM: st.global.u32 [%rd1], %r1;")},
      {"both sides meet at once", KERNEL(EARLY "@%p1 bra L;\nL: st.global.u32 [%rd1], %r1;")},
      {"a result that is worked out again behind",
       KERNEL(EARLY "@%p1 bra L;\nmov.u32 %r3, 7;\nL: mov.u32 %r2, 8;\nst.global.u32 [%rd1], %r2;")},
      {"an inner poll that gives up, and an outer one that polls again",
       KERNEL("mov.u32 %r4, bar;\nO: mov.u64 %rd6, %globaltimer;\n"
              "I: mbarrier.test_wait.shared.b64 %p1, [%r4], %rd5;\n@%p1 bra D;\nmov.u64 %rd8, %globaltimer;\n"
              "sub.s64 %rd9, %rd8, %rd6;\nsetp.lt.s64 %p3, %rd9, 1000;\n@%p3 bra I;\nbra O;\n"
              "D: st.global.u32 [%rd1], %r1;")},
      {"in a function",
       MODULE(".func f()\n{\n.reg .pred %p<2>;\n.reg .b64 %rd<4>;\nmov.u64 %rd2, %clock64;\n"
              "L: mov.u64 %rd3, %clock64;\nsetp.lt.u64 %p1, %rd3, %rd2;\n@%p1 bra L;\nret;\n}\n",
              "call.uni f;\nst.global.u32 [%rd1], %r1;")},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_refusal r;
    if (refusals(&cases[i], &r)) fail_msg("%s: %s", cases[i].what, r.what);
  }
}

static void clocks_that_anybody_can_tell_are_refused(void **state) {
  static const clock_case cases[] = {
      {"a time-out that is told", TRY_WAIT_FOR},
      {"for how long a poll slept last",
       POLL("mbarrier.test_wait.shared.b64", "st.global.u32 [%rd1], %r13;")},
      {"stored", KERNEL(NOW "st.global.u64 [%rd1], %rd2;")},
      {"stored as it is", KERNEL("st.global.u64 [%rd1], %clock64;")},
      {"stored in shared memory", KERNEL("mov.u32 %r2, %clock;\nst.shared.u32 [slot], %r2;")},
      {"as an address", KERNEL(NOW "ld.global.u32 %r2, [%rd2];")},
      {"under a guard", KERNEL(EARLY "@%p1 st.global.u32 [%rd1], %r1;")},
      {"under a guard, into a register",
       KERNEL(EARLY "mov.u32 %r2, 7;\n@%p1 mov.u32 %r2, 8;\nst.global.u32 [%rd1], %r2;")},
      {"chosen", KERNEL(EARLY "selp.u32 %r2, 7, 8, %p1;\nst.global.u32 [%rd1], %r2;")},
      {"a store on one side", KERNEL(EARLY "@%p1 bra L;\nst.global.u32 [%rd1], %r1;\nL:")},
      {"an atomic on one side", KERNEL(EARLY "@%p1 bra L;\nred.global.add.u32 [%rd1], 1;\nL:")},
      {"a register on one side",
       KERNEL(EARLY "mov.u32 %r2, 7;\n@%p1 bra L;\nmov.u32 %r2, 8;\nL: st.global.u32 [%rd1], %r2;")},
      {"a register on one side that decides a branch",
       KERNEL(EARLY "mov.u32 %r2, 7;\n@%p1 bra L;\nmov.u32 %r2, 8;\nL: setp.eq.u32 %p2, %r2, 8;\n"
                    "@%p2 bra M;\nst.global.u32 [%rd1], %r1;\nM:")},
      {"the end of the thread on one side",
       KERNEL(EARLY "@%p1 bra L;\nst.global.u32 [%rd1], %r1;\nret;\nL:")},
      {"the end of the thread", KERNEL(EARLY "@%p1 exit;\nst.global.u32 [%rd1], %r1;")},
      {"a barrier on one side", KERNEL(EARLY "@%p1 bra L;\nbar.sync 0;\nL:")},
      {"a call on one side", MODULE(".func f()\n{\nret;\n}\n", EARLY "@%p1 bra L;\ncall.uni f;\nL:")},
      {"a poll on one side",
       KERNEL(EARLY "mov.u32 %r4, bar;\n@%p1 bra L;\nmbarrier.test_wait.shared.b64 %p2, [%r4], %rd5;\nL:")},
      {"how often a delay went round",
       KERNEL("mov.u32 %r2, 0;\nL: add.u32 %r2, %r2, 1;\nmov.u64 %rd3, %clock64;\n"
              "setp.lt.u64 %p1, %rd3, 1000;\n@%p1 bra L;\nst.global.u32 [%rd1], %r2;")},
      {"a delay that stores",
       KERNEL("L: mov.u64 %rd3, %clock64;\nst.global.u32 [%rd1], %r1;\nsetp.lt.u64 %p1, %rd3, 1000;\n"
              "@%p1 bra L;")},
      {"a loop that time does not end", KERNEL(EARLY "L: @%p1 bra L;\nst.global.u32 [%rd1], %r1;")},
      {"a loop on one side", KERNEL(EARLY "setp.eq.u32 %p2, %r1, 5;\n@%p1 bra L;\nM: @%p2 bra M;\nL:")},
      {"no way on from one side", KERNEL(EARLY "@%p1 bra L;\nM: bra M;\nL: st.global.u32 [%rd1], %r1;")},
      {"shuffled", KERNEL("mov.u32 %r2, %clock;\nshfl.sync.idx.b32 %r3, %r2, 0, 31, -1;")},
      {"voted on", KERNEL(EARLY "vote.sync.ballot.b32 %r3, %p1, -1;")},
      {"who is there behind a branch",
       KERNEL(EARLY "@%p1 bra L;\nnanosleep.u32 20;\nL: activemask.b32 %r2;\nst.global.u32 [%rd1], %r2;")},
      {"through the carry",
       KERNEL(
           "mov.u32 %r2, %clock;\nsub.cc.u32 %r3, %r2, 5;\nsubc.u32 %r4, 0, 0;\nst.global.u32 [%rd1], %r4;")},
      {"through a vector",
       KERNEL("mov.u32 %r2, %clock;\nmov.b64 %rd2, {%r2, %r1};\nst.global.u64 [%rd1], %rd2;")},
      {"passed to a function", MODULE(".func f(.param .b64 x)\n{\nret;\n}\n",
                                      NOW "{\n.param .b64 a;\nst.param.b64 [a], %rd2;\ncall.uni f, (a);\n}")},
      {"from a function, in a register",
       MODULE(".func (.reg .b64 %out) f()\n{\nmov.u64 %out, %clock64;\nret;\n}\n",
              "call.uni (%rd2), f;\nst.global.u64 [%rd1], %rd2;")},
      {"in a function that calls itself",
       MODULE(".func f();\n.func f()\n{\n.reg .b64 %rd<3>;\nmov.u64 %rd2, %clock64;\ncall.uni f;\nret;\n}\n",
              "call.uni f;")},
      {"one of two", KERNEL("mov.u64 %rd3, %globaltimer;\n" NOW "st.global.u64 [%rd1], %rd2;")},
      {"where the CTA runs, not when", KERNEL("mov.u32 %r2, %smid;\nnanosleep.u32 %r2;")},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_refusal r = {0};
    if (!refusals(&cases[i], &r)) fail_msg("%s: not refused", cases[i].what);
    if (r.kind != HD_REFUSE_SREG || !strstr(r.what, "its value depends on where and when the CTA runs"))
      fail_msg("%s: %s: %s", cases[i].what, hd_refusal_name(r.kind), r.what);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("clocks that only say how long to wait bar nothing",
                clocks_that_only_say_how_long_to_wait_bar_nothing),
      BEHAVIOUR("clocks that anybody can tell are refused", clocks_that_anybody_can_tell_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
