/* Kernels that agents cannot run, with the reason, and kernels that they can. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

#define KERNEL(body) KERNEL_FOR("sm_80", body)
#define KERNEL_FOR(gpu, body)                                                                                \
  ".version 8.0\n.target " gpu "\n.address_size 64\n"                                                        \
  ".func helper()\n{\nbar.sync 0;\nret;\n}\n.func quits()\n{\nexit;\n}\n"                                    \
  ".func asks()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %nctaid.x;\nret;\n}\n"                                    \
  ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<19>;\n.reg .b64 "     \
  "%rd<9>;\n"                                                                                                \
  ".shared .align 8 .b64 box[8];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nld.param.u32 %r3, "          \
  "[n];\n" body "\nret;\n}\n"

typedef struct text_case {
  const char *what, *text;
  int kind; /* of the refusal; or ATTENDED: not refused, and warps that have ended attend the barriers of
               others */
} text_case;
enum { ATTENDED = -1 };

static const uint32_t line_of_256[3] = {256, 1, 1}, plane_16x16[3] = {16, 16, 1}, any_block[3] = {0};

static unsigned count(const char *text, const char *what) {
  unsigned n = 0;
  for (; (text = strstr(text, what)); text++) n++;
  return n;
}

static void expect(const text_case *c, const uint32_t block[3]) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_refusal r = {0};
  if (hd_ptx_parse(c->text, strlen(c->text), "test", &arena, &m, &d) != HD_OK)
    fail_msg("%s: line %u: %s", c->what, d.line, d.message);
  size_t n = hd_rewrite_agent_refusals(m, (uint32_t)hd_ptx_find_kernel(m, "k"), block, &r, 1);
  if (c->kind == HD_REFUSE_NONE || c->kind == ATTENDED ? n != 0 : n == 0 || (int)r.kind != c->kind)
    fail_msg("%s: %zu refusals, first %s: %s", c->what, n, hd_refusal_name(r.kind), r.what);
  if (n == 0) {
    hd_plan p;
    hd_recipe recipe;
    hd_buf out = {0};
    hd_rewrite_options o = {.grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}};
    memcpy(o.block, block, sizeof o.block);
    assert_int_equal(hd_plan_parse("bind=agents", &p, &d), HD_OK);
    if (hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d) != HD_OK)
      fail_msg("%s: %s", c->what, d.message);
    assert_int_equal(hd_ptx_print(m, &out), HD_OK);
    if ((strstr(out.data, "heddle_here") != NULL) != (c->kind == ATTENDED))
      fail_msg("%s: %s", c->what, c->kind == ATTENDED ? "not attended" : "attended");
    /* ptxas pairs those lanes alone that meet for an answer which is read. */
    const unsigned meetings = count(out.data, "barrier.red.or.pred");
    if (meetings && count(out.data, "@!%heddle_met trap;") + 1 != meetings)
      fail_msg("%s: a barrier's answer is not read", c->what);
    hd_buf_free(&out);
  }
  hd_arena_free(&arena);
}

#define EACH(cases, block)                                                                                   \
  for (size_t i = 0; i < sizeof(cases) / sizeof *(cases); i++) expect(&(cases)[i], block)

#define EACH_LOADS "ld.param.u64 %rd1, [p];\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
#define ENDS_EARLY "setp.gt.u32 %p1, %r4, 7;\n@%p1 ret;\nbar.sync 0;"
/* All threads load one number. The last one waits until the others have, and changes it first. */
#define HANDED_OVER                                                                                          \
  "setp.eq.u32 %p2, %r1, 255;\n@!%p2 bra GO;\nL: ld.acquire.cta.shared.u32 %r5, [box];\nsetp.ne.u32 %p3, "   \
  "%r5, "                                                                                                    \
  "255;\n@%p3 bra L;\nst.global.u32 [%rd1], 9;\nGO: ld.global.u32 %r4, [%rd1];\n"                            \
  "fence.acq_rel.cta;\nred.shared.add.u32 [box], 1;\n"

/* On an H100, lanes of a warp that end one by one do not all attend. */
static void barriers_that_some_lanes_of_a_warp_skip_are_refused(void **state) {
  static const text_case cases[] = {
      {"a thread ends early by a guard", KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a thread ends early in a branch", KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 bra D;\nbar.sync 0;\nD:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a loop whose length is the thread's",
       KERNEL("L: bar.sync 0;\nsub.u32 %r1, %r1, 1;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra L;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a barrier under a guard", KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 bar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch on what each thread loads", KERNEL(EACH_LOADS "ld.global.u32 %r4, [%rd2];\n" ENDS_EARLY),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch on what may change", KERNEL(EACH_LOADS "ld.volatile.global.u32 %r4, [%rd1];\n" ENDS_EARLY),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch on what another thread may let one see", KERNEL(EACH_LOADS HANDED_OVER ENDS_EARLY),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch on a flag by which CTAs tell each other to stop",
       KERNEL(EACH_LOADS "ld.global.u32 %r4, [%rd1];\n" ENDS_EARLY "\nst.global.u32 [%rd1], 9;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch on a flag that a thread may set before another one looks",
       KERNEL("L: ld.shared.u32 %r4, [box];\nsetp.gt.u32 %p1, %r4, 7;\n@%p1 ret;\nst.shared.u32 [box], "
              "%r1;\nbar.sync 0;\n"
              "bra L;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch on local memory",
       KERNEL(".local .u32 own;\nst.local.u32 [own], %r1;\nld.local.u32 %r4, [own];\n" ENDS_EARLY),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch on what an unknown instruction writes",
       KERNEL("mov.u32 %r4, 0;\nneverseen.u32 %r4, %r1;\nsetp.gt.u32 %p1, %r4, 7;\n@%p1 ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a value that depends on the way taken",
       KERNEL("mov.u32 %r5, 0;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra D;\nmov.u32 %r5, 1;\nD:\n"
              "setp.eq.u32 %p2, %r5, 1;\n@%p2 ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a count of turns through a loop that threads leave at different times",
       KERNEL("mov.u32 %r5, 0;\nL: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 bra L;\n"
              "setp.eq.u32 %p2, %r5, 1;\n@%p2 ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a carry of the thread's",
       KERNEL("add.cc.u32 %r4, %r1, -8;\naddc.u32 %r5, %r3, 0;\nsetp.eq.u32 %p1, %r5, 7;\n@%p1 "
              "ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a branch in a branch",
       KERNEL(
           "setp.gt.u32 %p1, %r1, 7;\n@%p1 bra D;\nsetp.gt.u32 %p2, %r3, 7;\n@%p2 bra D;\nbar.sync 0;\nD:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"an endless loop on one side",
       KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 bra L;\nbar.sync 0;\nret;\nL: bra L;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"an indexed branch",
       KERNEL("T: .branchtargets A, B;\nand.b32 %r4, %r1, 1;\nbrx.idx %r4, T;\nA:\nret;\nB:\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"two barriers, and an early end between them",
       KERNEL("bar.sync 0;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\nbar.sync 0;"), HD_REFUSE_SKIPPED_BARRIER},
      {"half a warp shuffles",
       KERNEL("setp.gt.u32 %p1, %r1, 15;\n@%p1 ret;\nshfl.sync.idx.b32 %r4, %r1, 0, 31, -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(cases, line_of_256);
}

/* PTX asks only the threads of one warp to run the same barrier. */
static void barriers_that_some_warps_skip_are_attended(void **state) {
#define WARP "shr.u32 %r4, %r1, 5;\n"
  static const text_case cases[] = {
      {"a warp ends early by a guard", KERNEL("setp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\nbar.sync 0;"), ATTENDED},
      {"a warp ends early in a branch", KERNEL("setp.ge.u32 %p1, %r1, 64;\n@%p1 bra D;\nbar.sync 0;\nD:"),
       ATTENDED},
      {"a barrier under a guard", KERNEL("setp.ge.u32 %p1, %r1, 64;\n@%p1 bar.sync 0;"), ATTENDED},
      {"two barriers, and an early end between them",
       KERNEL("bar.sync 0;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 ret;\nbar.sync 0;"), ATTENDED},
      {"a loop whose length is the warp's",
       KERNEL(WARP "L: bar.sync 0;\nsub.u32 %r4, %r4, 1;\nsetp.gt.s32 %p1, %r4, 0;\n@%p1 bra L;"), ATTENDED},
      {"warps that leave a loop with a barrier at different times, for another barrier",
       KERNEL(WARP
              "L: sub.u32 %r4, %r4, 1;\nbar.sync 0;\nsetp.gt.s32 %p1, %r4, 0;\n@%p1 bra L;\nbar.sync 0;"),
       ATTENDED},
      {"warps on two ways to one barrier",
       KERNEL("setp.ge.u32 %p2, %r1, 96;\n@%p2 bra B;\nbar.sync 0;\nbra C;\nB: bar.sync 0;\nC:"), ATTENDED},
      {"the first thread's number of a warp, by a mask",
       KERNEL("and.b32 %r4, %r1, -32;\nsetp.eq.s32 %p1, %r4, 96;\n@%p1 ret;\nbar.sync 0;"), ATTENDED},
      {"a trap for some", KERNEL("setp.ge.u32 %p1, %r1, 64;\n@%p1 trap;\nbar.sync 0;"), ATTENDED},
      {"a barrier that PTX lets lanes meet at from several places",
       KERNEL(WARP "L: barrier.sync 0;\nsub.u32 %r4, %r4, 1;\nsetp.gt.s32 %p1, %r4, 0;\n@%p1 bra L;"),
       ATTENDED},
  };
  EACH(cases, line_of_256);
}

static void barriers_that_cannot_be_attended_are_refused(void **state) {
  static const text_case cases[] = {
      {"a barrier for some", KERNEL("bar.sync 1, 64;"), HD_REFUSE_SKIPPED_BARRIER},
      {"a barrier that is not waited at", KERNEL("barrier.arrive 1, 64;"), HD_REFUSE_SKIPPED_BARRIER},
      {"a barrier in a function", KERNEL("call.uni helper;"), HD_REFUSE_SKIPPED_BARRIER},
      {"an exit in a function", KERNEL("call.uni quits;"), HD_REFUSE_SKIPPED_BARRIER},
      {"a reduction beside a barrier that some threads skip",
       KERNEL("bar.red.popc.u32 %r4, 0, %p1;\nsetp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a reduction that some threads skip",
       KERNEL("setp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\nbar.red.popc.u32 %r4, 0, %p1;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"some lanes, by a number",
       KERNEL("setp.gt.u32 %p1, %r1, 15;\n@%p1 ret;\nshfl.sync.idx.b32 %r4, %r1, 0, 31, 0xffff;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"some lanes, by a register",
       KERNEL("setp.gt.u32 %p1, %r1, 15;\nactivemask.b32 %r5;\n@%p1 ret;\nbar.warp.sync %r5;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a register that is not always the whole warp",
       KERNEL("mov.b32 %r5, -1;\n@%p1 mov.b32 %r5, 1;\nsetp.gt.u32 %p1, %r1, 15;\n@%p1 ret;\nbar.warp.sync "
              "%r5;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"all lanes, of which some have ended",
       KERNEL("setp.gt.u32 %p1, %r1, 15;\n@%p1 ret;\nbar.warp.sync -1;"), HD_REFUSE_SKIPPED_BARRIER},
      {"an exchange of the threads that happen to run together",
       KERNEL("setp.gt.u32 %p1, %r1, 15;\n@%p1 ret;\nvote.all.pred %p2, %p1;"), HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(cases, line_of_256);
  /* No older GPU was tried. */
  expect(&(text_case){"an older GPU",
                      KERNEL_FOR("sm_60", "setp.ge.u32 %p1, %r1, 64;\n@%p1 ret;\nbar.sync 0;"),
                      HD_REFUSE_SKIPPED_BARRIER},
         line_of_256);
}

/* PTX leaves these undefined where a thread of the warp does not run them. */
static void aligned_operations_need_no_attendance(void **state) {
  static const text_case cases[] = {
      {"a tensor core's",
       KERNEL("setp.gt.u32 %p1, %r1, 64;\n@%p1 ret;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r4, %r1;"),
       HD_REFUSE_NONE},
      {"a matrix",
       KERNEL("setp.gt.u32 %p1, %r1, 64;\n@%p1 ret;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [box];"),
       HD_REFUSE_NONE},
  };
  EACH(cases, line_of_256);
  EACH(cases, any_block);
}

#define BALLOT "setp.lt.u32 %p1, %r1, %r3;\nvote.sync.ballot.b32 %r5, %p1, -1;\n"
#define LATER "redux.sync.add.s32 %r6, %r1, %r5;\n"

/* The lanes that a ballot names are those that say yes in it, and go on together. */
static void operations_of_those_who_said_yes_need_no_attendance(void **state) {
  static const text_case cases[] = {
      {"they go on by the predicate itself", KERNEL(BALLOT "@!%p1 bra D;\n" LATER "D:"), HD_REFUSE_NONE},
      {"they take the branch", KERNEL(BALLOT "@%p1 bra T;\nret;\nT:\n" LATER), HD_REFUSE_NONE},
      {"those who say no branch",
       KERNEL("setp.lt.u32 %p1, %r1, %r3;\nvote.sync.ballot.b32 %r5, !%p1, -1;\n@%p1 bra D;\n" LATER "D:"),
       HD_REFUSE_NONE},
      {"by the opposite comparison", KERNEL("setp.ge.u32 %p2, %r1, %r3;\n" BALLOT "@%p2 bra D;\n" LATER "D:"),
       HD_REFUSE_NONE},
      {"in a loop that all of them leave together",
       KERNEL(BALLOT "@!%p1 bra D;\nmov.u32 %r7, 16;\nL: shfl.sync.down.b32 %r6, %r1, %r7, 31, %r5;\n"
                     "shr.u32 %r7, %r7, 1;\nsetp.ne.u32 %p3, %r7, 0;\n@%p3 bra L;\nD:"),
       HD_REFUSE_NONE},
      {"a number that only they change, behind a test of it by all",
       KERNEL("mov.u32 %r7, 32;\nsetp.lt.u32 %p3, %r7, 2;\n@%p3 bra M;\nredux.sync.add.s32 %r6, %r1, "
              "-1;\nM:\n" BALLOT "@!%p1 bra D;\nmov.u32 %r8, 0;\nL: shfl.sync.down.b32 %r6, %r1, %r7, 31, "
              "%r5;\nshr.u32 %r7, %r7, 1;\n"
              "setp.ne.u32 %p3, %r7, 0;\n@%p3 bra L;\nD:"),
       HD_REFUSE_NONE},
      {"those who said no come here", KERNEL(BALLOT "@%p1 bra D;\n" LATER "D:"), HD_REFUSE_SKIPPED_BARRIER},
      {"the same comparison twice", KERNEL("setp.lt.u32 %p2, %r1, %r3;\n" BALLOT "@%p2 bra D;\n" LATER "D:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a number changes between the comparisons",
       KERNEL("setp.ge.u32 %p2, %r1, %r3;\nadd.u32 %r3, %r3, 1;\n" BALLOT "@%p2 bra D;\n" LATER "D:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"opposite but for NaN",
       KERNEL(".reg .f32 %f<3>;\ncvt.rn.f32.u32 %f1, %r1;\nsetp.ge.f32 %p2, %f1, %f2;\nsetp.lt.f32 %p1, %f1, "
              "%f2;\n"
              "vote.sync.ballot.b32 %r5, %p1, -1;\n@%p2 bra D;\n" LATER "D:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"the predicate changes behind the vote",
       KERNEL(BALLOT "setp.lt.u32 %p1, %r1, 9;\n@!%p1 bra D;\n" LATER "D:"), HD_REFUSE_SKIPPED_BARRIER},
      {"some of them leave on the way",
       KERNEL(BALLOT "@!%p1 bra D;\nsetp.eq.u32 %p2, %r1, 3;\n@%p2 bra D;\n" LATER "D:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"others come by another way",
       KERNEL("setp.eq.u32 %p2, %r1, 3;\nmov.u32 %r6, 0;\n" BALLOT "@!%p1 bra M;\nT:\n" LATER
              "bra D;\nM: @%p2 bra T;\nD:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"the mask may be another", KERNEL("mov.u32 %r5, %r1;\n" BALLOT "@!%p1 bra D;\n" LATER "D:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"in a cycle, whose values come from the turn before",
       KERNEL("mov.u32 %r8, 0;\nC:\n" BALLOT "@!%p1 bra D;\nsetp.eq.u32 %p3, %r8, 0;\n@%p3 bra E;\n" LATER
              "E: mov.u32 %r8, 1;\nD: add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p4, %r3, 99;\n@%p4 bra C;"),
       HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(cases, line_of_256);
}

static void barriers_that_all_threads_meet_at_are_not(void **state) {
  static const text_case cases[] = {
      {"no barrier", KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 ret;"), HD_REFUSE_NONE},
      {"a CTA ends early", KERNEL("setp.gt.u32 %p1, %r2, %r3;\n@%p1 ret;\nbar.sync 0;"), HD_REFUSE_NONE},
      {"a loop that all threads leave together",
       KERNEL(
           "mov.u32 %r4, 0;\nL: bar.sync 0;\nadd.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, %r3;\n@%p1 bra L;"),
       HD_REFUSE_NONE},
      {"threads part and come together",
       KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 bra D;\nmov.u32 %r5, 1;\nD: bar.sync 0;"), HD_REFUSE_NONE},
      {"threads end behind the last barrier",
       KERNEL("bar.sync 0;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\nmov.u32 %r5, 1;"), HD_REFUSE_NONE},
      {"what a barrier counted",
       KERNEL("setp.gt.u32 %p1, %r1, 7;\nbar.red.popc.u32 %r4, 0, %p1;\n"
              "setp.gt.u32 %p2, %r4, 7;\n@%p2 ret;\nbar.sync 0;"),
       HD_REFUSE_NONE},
      {"a branch on what all load", KERNEL(EACH_LOADS "ld.global.u32 %r4, [%rd1];\n" ENDS_EARLY),
       HD_REFUSE_NONE},
      {"a branch on what one thread stored for all",
       KERNEL("setp.ne.u32 %p2, %r1, 0;\n@%p2 bra GO;\natom.global.inc.u32 %r5, [%rd1], 7;\nmembar.gl;\n"
              "st.shared.u32 [box], %r5;\nGO: bar.sync 0;\nld.shared.u32 %r4, [box];\n" ENDS_EARLY),
       HD_REFUSE_NONE},
      {"a row as long as memory says",
       KERNEL(EACH_LOADS
              "ld.global.v2.u32 {%r4, %r5}, [%rd1];\nL: setp.ge.u32 %p1, %r4, %r5;\n@%p1 ret;\nbar.sync 0;\n"
              "add.u32 %r4, %r4, 1;\nbra L;"),
       HD_REFUSE_NONE},
      {"a parameter by its address", KERNEL("mov.b64 %rd3, p;\nld.param.u32 %r4, [%rd3+8];\n" ENDS_EARLY),
       HD_REFUSE_NONE},
      {"constant data",
       KERNEL("ld.param.u64 %rd1, [p];\nld.global.nc.u32 %r4, [%rd1];\nsetp.gt.u32 %p1, %r4, 7;\n"
              "@%p1 ret;\nbar.sync 0;"),
       HD_REFUSE_NONE},
      {"a barrier for all, by count", KERNEL("bar.red.and.pred %p2, 1, %p1;"), HD_REFUSE_NONE},
  };
  EACH(cases, line_of_256);
  EACH(cases, any_block);
}

static void whole_warps_may_part_from_each_other(void **state) {
  static const text_case shuffles[] = {
      {"the first warp",
       KERNEL("setp.gt.u32 %p1, %r1, 31;\n@%p1 bra D;\nshfl.sync.idx.b32 %r4, %r1, 0, 31, -1;\nD:"),
       HD_REFUSE_NONE},
      {"by the warp's number",
       KERNEL("shr.u32 %r5, %r1, 5;\nsetp.ne.u32 %p1, %r5, 3;\n@%p1 bra D;\nbar.warp.sync -1;\nD:"),
       HD_REFUSE_NONE},
      {"by the warp's number in the grid",
       KERNEL("mov.u32 %r5, %ntid.x;\nmad.lo.u32 %r6, %r2, %r5, %r1;\nshr.u32 %r7, %r6, 5;\n"
              "setp.ge.u32 %p1, %r7, %r3;\n@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_NONE},
      {"by way of 64 bits",
       KERNEL("cvt.u64.u32 %rd1, %r1;\nadd.s64 %rd2, %rd1, 64;\ncvt.u32.u64 %r5, %rd2;\nsetp.lt.s32 %p1, "
              "%r5, 96;\n"
              "@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_NONE},
      {"what the warp voted",
       KERNEL("setp.gt.u32 %p1, %r1, 7;\nvote.sync.any.pred %p2, %p1, -1;\n@%p2 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_NONE},
  };
  EACH(shuffles, line_of_256);
  static const text_case any[] = {
      {"the first warp, by the number of a thread in its block",
       KERNEL("mov.u32 %r4, %tid.z;\nmov.u32 %r5, %ntid.y;\nmov.u32 %r6, %tid.y;\nmad.lo.u32 %r7, %r4, %r5, "
              "%r6;\n"
              "mov.u32 %r8, %ntid.x;\nmad.lo.u32 %r9, %r7, %r8, %r1;\nsetp.gt.u32 %p1, %r9, 31;\n@%p1 ret;\n"
              "bar.warp.sync -1;"),
       HD_REFUSE_NONE},
      {"by the number of its warp, from one lane",
       KERNEL("shr.u32 %r4, %r1, 5;\nshfl.sync.idx.b32 %r5, %r4, 0, 31, -1;\nsetp.eq.u32 %p1, %r5, 3;\n@%p1 "
              "ret;\n"
              "bar.warp.sync -1;"),
       HD_REFUSE_NONE},
  };
  EACH(any, any_block);
  EACH(any, plane_16x16);
  static const text_case others[] = {
      {"not at a warp's border", KERNEL("setp.gt.u32 %p1, %r1, 30;\n@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"the next lane",
       KERNEL("add.u32 %r5, %r1, 1;\nsetp.gt.u32 %p1, %r5, 31;\n@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a number that some lanes change",
       KERNEL(
           "mov.u32 %r5, %r1;\nand.b32 %r6, %r1, 1;\nsetp.eq.u32 %p2, %r6, 0;\n@%p2 add.u32 %r5, %r1, 32;\n"
           "setp.gt.u32 %p1, %r5, 31;\n@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a multiple of the lane",
       KERNEL("mul.lo.u32 %r5, %r1, 32;\nadd.u32 %r6, %r5, %r1;\nsetp.gt.u32 %p1, %r6, 31;\n@%p1 ret;\n"
              "bar.warp.sync -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(others, line_of_256);
  static const text_case unknown[] = {
      {"of a block not known", KERNEL("setp.gt.u32 %p1, %r1, 31;\n@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a CTA's barrier", KERNEL("setp.gt.u32 %p1, %r1, 31;\n@%p1 ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(unknown, any_block);
  /* Rows of 16 threads: none is beyond the 31st, but half of them are beyond the seventh. */
  static const text_case rows[] = {
      {"beyond the row's end", KERNEL("setp.gt.u32 %p1, %r1, 31;\n@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_NONE},
      {"beyond the row's end, a CTA's barrier", KERNEL("setp.gt.u32 %p1, %r1, 31;\n@%p1 ret;\nbar.sync 0;"),
       HD_REFUSE_NONE},
      {"within the row", KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\nbar.warp.sync -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"within the row, a CTA's barrier", KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(rows, plane_16x16);
  expect(&(text_case){unknown[1].what, unknown[1].text, ATTENDED}, line_of_256);
}

static void what_would_last_from_task_to_task_is_refused(void **state) {
  static const text_case cases[] = {
      {"mbarrier", KERNEL("mbarrier.init.shared.b64 [box], 1;"), HD_REFUSE_LASTING_STATE},
      {"registers handed over", KERNEL("setmaxnreg.dec.sync.aligned.u32 40;"), HD_REFUSE_LASTING_STATE},
      {"the stack", KERNEL("alloca.u64 %rd1, %rd2;"), HD_REFUSE_LASTING_STATE},
      {"asynchronous copies, which are waited for",
       KERNEL("ld.param.u64 %rd1, [p];\ncp.async.ca.shared.global [box], [%rd1], 4;"), HD_REFUSE_NONE},
      {"the grid in a function", KERNEL("call.uni asks;"), HD_REFUSE_GRID_IN_FUNC},
  };
  EACH(cases, line_of_256);
}

/* Each branch enters a long chain of blocks further down than the one before: what depends on which grows
 * with the square of their number. */
static void a_kernel_of_very_many_ways_is_judged_too(void **state) {
  enum { WAYS = 15000 };
  hd_buf text = {0};
  hd_buf_puts(&text,
              ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %p<2>;\n"
              ".reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n");
  for (int i = 0; i < WAYS; i++) hd_buf_printf(&text, "setp.eq.u32 %%p1, %%r1, %d;\n@%%p1 bra C%d;\n", i, i);
  hd_buf_puts(&text, "bra END;\n");
  for (int i = 0; i < WAYS; i++) hd_buf_printf(&text, "C%d:\nadd.u32 %%r1, %%r1, 1;\n", i);
  hd_buf_puts(&text, "bar.sync 0;\nEND:\nret;\n}\n");
  expect(&(text_case){"many ways", text.data, HD_REFUSE_SKIPPED_BARRIER}, line_of_256);
  hd_buf_free(&text);
}

static void the_refusal_names_the_instruction(void **state) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d = {0};
  const char *text = KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\nbar.sync 0, 64;");
  assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
  hd_plan p;
  hd_recipe recipe;
  assert_int_equal(hd_plan_parse("bind=agents", &p, &d), HD_OK);
  hd_rewrite_options o = {.grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}};
  assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d), HD_ERR_REFUSED);
  assert_string_equal(
      d.message,
      "line 30: bar.sync 0, 64;: a barrier for a part of the CTA, which a task may leave half full");
  /* A claim is for one task: the kernel is as good as any. */
  assert_int_equal(hd_plan_parse("bind=claim", &p, &d), HD_OK);
  assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d), HD_OK);
  hd_arena_free(&arena);
}

/* However they are written. */
static void barriers_of_the_whole_cta_are_taken(void **state) {
  static const text_case cases[] = {
      {"of a number in a register", KERNEL("bar.sync %r2;"), HD_REFUSE_NONE},
      {"that counts all threads", KERNEL("bar.sync 3, 256;"), HD_REFUSE_NONE},
      {"that reduces over all threads it counts", KERNEL("bar.red.popc.u32 %r4, 3, 256, %p1;"),
       HD_REFUSE_NONE},
      {"that counts some", KERNEL("bar.sync 3, 128;"), HD_REFUSE_SKIPPED_BARRIER},
      {"that counts more", KERNEL("bar.sync 3, 512;"), HD_REFUSE_SKIPPED_BARRIER},
      {"that counts as many as a register says", KERNEL("bar.sync 3, %r3;"), HD_REFUSE_SKIPPED_BARRIER},
      {"that counts the block's width", KERNEL("mov.u32 %r4, %ntid.x;\nbar.sync 3, %r4;"), HD_REFUSE_NONE},
      {"that counts its height", KERNEL("mov.u32 %r4, %ntid.y;\nbar.sync 3, %r4;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"that counts its width or less",
       KERNEL("mov.u32 %r4, %ntid.x;\n@%p1 mov.u32 %r4, 128;\nbar.sync 3, %r4;"), HD_REFUSE_SKIPPED_BARRIER},
      {"that counts its width, if that was looked up", KERNEL("@%p1 mov.u32 %r4, %ntid.x;\nbar.sync 3, %r4;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"that counts half of its width",
       KERNEL("mov.u32 %r4, %ntid.x;\nshr.u32 %r5, %r4, 1;\nbar.sync 3, %r5;"), HD_REFUSE_SKIPPED_BARRIER},
      {"that counts those that have ended",
       KERNEL("shr.u32 %r4, %r1, 5;\nsetp.eq.u32 %p1, %r4, 0;\n@%p1 ret;\nbar.sync 3, 256;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"for which some only arrive", KERNEL("bar.arrive 3, 256;"), HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(cases, line_of_256);
  static const text_case unknown[] = {
      {"of a block that is not known", KERNEL("bar.sync 3, 256;"), HD_REFUSE_SKIPPED_BARRIER},
      {"of such a block's width", KERNEL("mov.u32 %r4, %ntid.x;\nbar.sync 3, %r4;"),
       HD_REFUSE_SKIPPED_BARRIER}};
  EACH(unknown, any_block);
}

typedef struct begun_case {
  const char *body;
  bool refused, copies, bulks; /* the rewritten text waits for copies, for bulk copies */
} begun_case;

static void check_begun(const begun_case *c) {
  static const char copy[] = "cp.async.wait_all;",
                    bulk[] = "cp.async.bulk.commit_group;\n\tcp.async.bulk.wait_group 0;";
  char text[2048];
  hd_arena arena;
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe;
  hd_diag d = {0};
  hd_buf out = {0};
  const hd_rewrite_options o = {.grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}, .block = {128, 1, 1}};
  snprintf(text, sizeof text,
           ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .b32 "
           "%%r<9>;\n"
           ".reg .b64 %%rd<9>;\n.shared .align 128 .b8 box[64];\nmov.u32 %%r1, %%ctaid.x;\n%s\nret;\n}\n",
           c->body);
  hd_arena_init(&arena);
  if (hd_ptx_parse(text, strlen(text), "k", &arena, &m, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_plan_parse("bind=agents", &p, &d), HD_OK);
  const hd_status st = hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d);
  if (st != (c->refused ? HD_ERR_REFUSED : HD_OK)) fail_msg("%d %s: %s", st, d.message, c->body);
  if (st == HD_OK) {
    assert_int_equal(hd_ptx_print(m, &out), HD_OK);
    if ((strstr(out.data, copy) != NULL) != c->copies || (strstr(out.data, bulk) != NULL) != c->bulks)
      fail_msg("%s\n%s", c->body, out.data);
  }
  hd_buf_free(&out);
  hd_arena_free(&arena);
}

/* A task ends when all that its threads began has ended. */
static void a_task_waits_for_what_it_began(void **state) {
  static const begun_case cases[] = {
      {"st.global.u32 [%rd1], %r1;", false, false, false},
      {"cp.async.ca.shared.global [box], [%rd1], 4;", false, true, false},
      {"cp.async.cg.shared.global [box], [%rd1], 16;\ncp.async.commit_group;", false, true, false},
      {"cp.async.bulk.global.shared::cta.bulk_group [%rd1], [box], 16;", false, false, true},
      {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [box], 16;", false, false, true},
      {"cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd1, {%r1}], [box];", false, false, true},
      {"cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%rd1, {%r1}], [box];", false, false,
       true},
      {"multimem.cp.async.bulk.global.shared::cta.bulk_group [%rd1], [box], 16;", false, false, true},
      {"multimem.cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [box], 16;", false, false,
       true},
      {"cp.async.bulk.prefetch.L2.global [%rd1], 16;", false, false, false},
      {"cp.async.bulk.prefetch.tensor.1d.L2.global [%rd1, {%r1}];", false, false, false},
      {"cp.async.mbarrier.arrive.shared.b64 [box];", true, false, false},
      {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [box], [%rd1], 16, [box+8];", true,
       false, false},
      {"st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [box], %r1, [box+8];", true, false,
       false},
      {"st.async.release.gpu.global.u32 [%rd1], %r1;", true, false, false},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [box], %r1, [box+8];",
       true, false, false},
      {"red.async.release.gpu.global.add.u32 [%rd1], %r1;", true, false, false},
      {"wgmma.commit_group.sync.aligned;", true, false, false},
      {"tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [box];", true, false, false},
      {"tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [box], 32;", true, false, false},
      {"tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;", true, false, false},
      {"tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r1];", true, false, false},
      {"tcgen05.cp.cta_group::1.128x256b [%r1], %rd1;", true, false, false},
      {".reg .pred %q; tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd1, %r1, %q;", true, false, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_begun(&cases[i]);
}

#define PRODUCT "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r4, %r5}, %rd1, %rd1, 1, 1, 1, 0, 0;\n"
#define COMMIT "wgmma.commit_group.sync.aligned;\n"

/* Every product is in a group, and every group is waited for, on all ways to the task's end. */
static void a_task_that_waits_for_its_products_is_taken(void **state) {
  static const begun_case cases[] = {
      {"wgmma.fence.sync.aligned;", false, false, false},
      {PRODUCT COMMIT "wgmma.wait_group.sync.aligned 0;", false, false, false},
      {PRODUCT PRODUCT COMMIT PRODUCT COMMIT "wgmma.wait_group.sync.aligned 1;\n"
                                             "wgmma.wait_group.sync.aligned 0;",
       false, false, false},
      {".reg .pred %q; mov.u32 %r2, 0;\nagain: " PRODUCT COMMIT "wgmma.wait_group.sync.aligned 1;\n"
       "add.u32 %r2, %r2, 1; setp.lt.u32 %q, %r2, 4; @%q bra again;\nwgmma.wait_group.sync.aligned 0;",
       false, false, false},
      {PRODUCT COMMIT, true, false, false},
      {PRODUCT COMMIT "wgmma.wait_group.sync.aligned 1;", true, false, false},
      {PRODUCT "wgmma.wait_group.sync.aligned 0;", true, false, false},
      {PRODUCT COMMIT PRODUCT "wgmma.wait_group.sync.aligned 0;", true, false, false},
      {"wgmma.wait_group.sync.aligned 0;\n" PRODUCT COMMIT, true, false, false},
      {".reg .pred %q; setp.eq.u32 %q, %r1, 3;\n" PRODUCT COMMIT
       "@%q bra out;\nwgmma.wait_group.sync.aligned 0;\nout:",
       true, false, false},
      {".reg .pred %q; setp.eq.u32 %q, %r1, 3;\n" PRODUCT COMMIT "@%q wgmma.wait_group.sync.aligned 0;", true,
       false, false},
      {".reg .pred %q; setp.eq.u32 %q, %r1, 3;\n" PRODUCT COMMIT
       "@%q exit;\nwgmma.wait_group.sync.aligned 0;",
       true, false, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_begun(&cases[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("barriers of the whole CTA are taken, however they are written",
                barriers_of_the_whole_cta_are_taken),
      BEHAVIOUR("a task waits for what it began, or is refused", a_task_waits_for_what_it_began),
      BEHAVIOUR("a task that waits for its products is taken", a_task_that_waits_for_its_products_is_taken),
      BEHAVIOUR("barriers that some lanes of a warp skip are refused",
                barriers_that_some_lanes_of_a_warp_skip_are_refused),
      BEHAVIOUR("barriers that some warps skip are attended", barriers_that_some_warps_skip_are_attended),
      BEHAVIOUR("barriers that cannot be attended are refused", barriers_that_cannot_be_attended_are_refused),
      BEHAVIOUR("aligned operations need no attendance", aligned_operations_need_no_attendance),
      BEHAVIOUR("operations of those who said yes need no attendance",
                operations_of_those_who_said_yes_need_no_attendance),
      BEHAVIOUR("barriers that all threads meet at are not", barriers_that_all_threads_meet_at_are_not),
      BEHAVIOUR("whole warps may part from each other", whole_warps_may_part_from_each_other),
      BEHAVIOUR("what would last from task to task is refused", what_would_last_from_task_to_task_is_refused),
      BEHAVIOUR("a kernel of very many ways is judged too", a_kernel_of_very_many_ways_is_judged_too),
      BEHAVIOUR("the refusal names the instruction", the_refusal_names_the_instruction),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
