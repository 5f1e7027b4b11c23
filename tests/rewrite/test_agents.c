/* Kernels that agents cannot run, with the reason, and kernels that they can. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

#define KERNEL(body)                                                                                         \
  ".version 8.0\n.target sm_80\n.address_size 64\n"                                                          \
  ".func helper()\n{\nbar.sync 0;\nret;\n}\n.func quits()\n{\nexit;\n}\n"                                    \
  ".func asks()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %nctaid.x;\nret;\n}\n"                                    \
  ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<19>;\n.reg .b64 "     \
  "%rd<9>;\n"                                                                                                \
  ".shared .align 8 .b64 box[8];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\nld.param.u32 %r3, "          \
  "[n];\n" body "\nret;\n}\n"

typedef struct text_case {
  const char *what, *text;
  hd_refusal_kind kind;
} text_case;

static const uint32_t line_of_256[3] = {256, 1, 1}, plane_16x16[3] = {16, 16, 1}, any_block[3] = {0};

static void expect(const text_case *c, const uint32_t block[3]) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_refusal r = {0};
  if (hd_ptx_parse(c->text, strlen(c->text), "test", &arena, &m, &d) != HD_OK)
    fail_msg("%s: line %u: %s", c->what, d.line, d.message);
  size_t n = hd_rewrite_agent_refusals(m, (uint32_t)hd_ptx_find_kernel(m, "k"), block, &r, 1);
  if (c->kind == HD_REFUSE_NONE ? n != 0 : n == 0 || r.kind != c->kind)
    fail_msg("%s: %zu refusals, first %s: %s", c->what, n, hd_refusal_name(r.kind), r.what);
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

static void barriers_that_some_threads_skip_are_refused(void **state) {
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
      {"a barrier for some", KERNEL("bar.sync 1, 64;"), HD_REFUSE_SKIPPED_BARRIER},
      {"a barrier that is not waited at", KERNEL("barrier.arrive 1, 64;"), HD_REFUSE_SKIPPED_BARRIER},
      {"a barrier of any number", KERNEL("bar.sync %r2;"), HD_REFUSE_SKIPPED_BARRIER},
      {"a barrier in a function", KERNEL("call.uni helper;"), HD_REFUSE_SKIPPED_BARRIER},
      {"an exit in a function", KERNEL("call.uni quits;"), HD_REFUSE_SKIPPED_BARRIER},
      {"half a warp shuffles",
       KERNEL("setp.gt.u32 %p1, %r1, 15;\n@%p1 ret;\nshfl.sync.idx.b32 %r4, %r1, 0, 31, -1;"),
       HD_REFUSE_SKIPPED_BARRIER},
  };
  EACH(cases, line_of_256);
}

/* PTX asks only the threads of one warp to run the same barrier. */
static void barriers_that_warps_meet_at_from_several_places_are_refused(void **state) {
  static const text_case cases[] = {
      {"warps that leave a loop with a barrier at different times, for another barrier",
       KERNEL("L: sub.u32 %r1, %r1, 1;\nbar.sync 0;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra L;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"warps on two ways to one barrier",
       KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 bra A;\nA: setp.gt.u32 %p2, %r1, 9;\n@%p2 bra B;\nbar.sync "
              "0;\nbra C;\n"
              "B: bar.sync 0;\nC:"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"a trap for some", KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 trap;\nbar.sync 0;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"such a loop behind the last barrier but its own",
       KERNEL("bar.sync 0;\nL: bar.sync 0;\nsub.u32 %r1, %r1, 1;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra L;"),
       HD_REFUSE_SKIPPED_BARRIER},
      {"such a loop around barriers that need not be the same one",
       KERNEL("L: barrier.sync 0;\nsub.u32 %r1, %r1, 1;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 bra L;\nbarrier.sync "
              "0;"),
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
  expect(&unknown[1], line_of_256);
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
              ".reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;\n");
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
  const char *text = KERNEL("setp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\nbar.sync 0;");
  assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
  hd_plan p;
  hd_recipe recipe;
  assert_int_equal(hd_plan_parse("bind=agents", &p, &d), HD_OK);
  hd_rewrite_options o = {.grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}};
  assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d), HD_ERR_REFUSED);
  assert_string_equal(d.message,
                      "line 30: bar.sync 0;: threads that skip this barrier would wait for the next task");
  /* A claim is for one task: the kernel is as good as any. */
  assert_int_equal(hd_plan_parse("bind=claim", &p, &d), HD_OK);
  assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d), HD_OK);
  hd_arena_free(&arena);
}

/* ---- Recipes -------------------------------------------------------------------------- */

static void agents_fill_the_gpu_and_are_no_more_than_tasks(void **state) {
  hd_recipe r = {.agents = true};
  uint32_t g[3];
  hd_recipe_grid(&r, (const uint32_t[3]){100, 100, 2}, 132, 8, g);
  assert_int_equal(g[0], 132 * 8);
  assert_int_equal(g[1] * g[2], 1);
  hd_recipe_grid(&r, (const uint32_t[3]){7, 5, 1}, 132, 8, g);
  assert_int_equal(g[0], 35);
  r.resident = 3;
  hd_recipe_grid(&r, (const uint32_t[3]){100, 100, 2}, 132, 8, g);
  assert_int_equal(g[0], 132 * 3);
  hd_recipe_grid(&r, (const uint32_t[3]){100, 100, 2}, 132, 0, g);
  assert_true(g[0] >= 1);
  /* Too many to be claimed: the kernel leaves such a grid as it is. */
  hd_recipe_grid(&r, (const uint32_t[3]){INT32_MAX, 65535, 65535}, 132, 8, g);
  assert_int_equal(g[0], INT32_MAX);
  assert_int_equal(g[2], 65535);
  hd_recipe_grid(&r, (const uint32_t[3]){INT32_MAX, 1, 1}, 132, 8, g);
  assert_int_equal(g[0], 132 * 3);
  hd_recipe_grid(&(hd_recipe){0}, (const uint32_t[3]){3, 4, 5}, 132, 8, g);
  assert_int_equal(g[0] * 100 + g[1] * 10 + g[2], 345);
}

static void a_plan_that_changes_the_launch_needs_somebody_who_asks_how(void **state) {
  static const char *const plans[] = {"bind=claim", "bind=agents:2"};
  for (size_t i = 0; i < 2; i++) {
    hd_arena arena;
    hd_arena_init(&arena);
    hd_ptx_module *m;
    hd_diag d = {0};
    hd_plan p;
    const char *text = KERNEL("");
    assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
    assert_int_equal(hd_plan_parse(plans[i], &p, &d), HD_OK);
    hd_rewrite_options o = {.grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}};
    assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, NULL, &d), HD_ERR_USAGE);
    hd_arena_free(&arena);
  }
}

static void more_tasks_than_can_be_claimed_are_left_alone(void **state) {
  static const struct {
    uint32_t g[3];
    hd_status status;
  } grids[] = {{{INT32_MAX, 1, 1}, HD_OK},
               {{1 << 16, 1 << 15, 1}, HD_ERR_UNSUPPORTED},
               {{INT32_MAX, 65535, 65535}, HD_ERR_UNSUPPORTED}};
  static const char *const plans[] = {"bind=claim,split=wave:7", "order=tile:8x4,bind=agents:3",
                                      "order=col,bind=agents,split=cols"};
  for (size_t i = 0; i < 9; i++) {
    hd_arena arena;
    hd_arena_init(&arena);
    hd_ptx_module *m;
    hd_diag d = {0};
    hd_plan p;
    hd_recipe recipe;
    const char *text = KERNEL("");
    const uint32_t *g = grids[i % 3].g;
    assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
    assert_int_equal(hd_plan_parse(plans[i / 3], &p, &d), HD_OK);
    hd_rewrite_options o = {.grid = {.known = true, .g = {g[0], g[1], g[2]}, .n_sms = 132}};
    assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d),
                     grids[i % 3].status);
    hd_arena_free(&arena);
  }
}

static void fewer_agents_may_have_more_registers(void **state) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_plan p;
  hd_recipe recipe;
  static const char text[] =
      ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n"
      ".maxntid 128, 1, 1\n.maxnreg 32\n.minnctapersm 8\n{\n.reg .b32 %r<9>;\n"
      "mov.u32 %r1, %ctaid.x;\nret;\n}\n";
  assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "test", &arena, &m, &d), HD_OK);
  assert_int_equal(hd_plan_parse("bind=agents:3", &p, &d), HD_OK);
  hd_rewrite_options o = {
      .grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}, .block = {128, 1, 1}, .more_registers = true};
  assert_int_equal(hd_rewrite(m, 0, &p, &o, &recipe, &d), HD_OK);
  assert_int_equal(recipe.resident, 3);
  hd_buf out = {0};
  assert_int_equal(hd_ptx_print(m, &out), HD_OK);
  assert_non_null(strstr(out.data, ".minnctapersm 3"));
  assert_non_null(strstr(out.data, ".maxntid 128, 1, 1"));
  assert_null(strstr(out.data, ".maxnreg"));
  hd_buf_free(&out);
  hd_arena_free(&arena);
}

/* The module of that text, its kernel rewritten; to be freed. */
static hd_buf rewritten(const char *text, const char *plan, const hd_rewrite_options *o) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_diag d = {0};
  hd_plan p;
  hd_recipe recipe;
  hd_buf out = {0};
  assert_int_equal(hd_ptx_parse(text, strlen(text), "test", &arena, &m, &d), HD_OK);
  assert_int_equal(hd_plan_parse(plan, &p, &d), HD_OK);
  if (hd_rewrite(m, 0, &p, o, &recipe, &d) != HD_OK) fail_msg("%s: %s", plan, d.message);
  assert_int_equal(hd_ptx_print(m, &out), HD_OK);
  hd_arena_free(&arena);
  return out;
}

/* The number behind .maxnreg of the kernel rewritten so; 0: there is none. */
static uint32_t limit_of(const char *directives, const char *plan, const hd_rewrite_options *o) {
  hd_buf text = {0};
  hd_buf_printf(&text,
                ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n%s{\n"
                ".reg .b32 %%r<9>;\nmov.u32 %%r1, %%ctaid.x;\nret;\n}\n",
                directives);
  hd_buf out = rewritten(text.data, plan, o);
  const char *at = strstr(out.data, ".maxnreg");
  uint32_t limit = at ? (uint32_t)strtoul(at + strlen(".maxnreg"), NULL, 10) : 0;
  if (at) assert_null(strstr(at + 1, ".maxnreg"));
  hd_buf_free(&out);
  hd_buf_free(&text);
  return limit;
}

static void agents_take_few_registers_more_than_the_original(void **state) {
  static const struct {
    uint32_t registers, threads;
    hd_register_budget budget;
    const char *plan, *directives;
    uint32_t limit;
  } cases[] = {
      {0, 256, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 0},
      {26, 256, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 29},
      {30, 256, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 32},
      {30, 256, HD_BUDGET_THREE_MORE, "bind=agents", "", 33},
      {30, 256, HD_BUDGET_NONE, "bind=agents", "", 0},
      {32, 256, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 32},
      {40, 1024, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 43}, /* one CTA of 1024 fits with up to 64 */
      {40, 0, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 40},
      {10, 256, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 24},
      {254, 64, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", "", 0},
      {32, 128, HD_BUDGET_SAME_OCCUPANCY, "bind=agents:2", "", 0}, /* two of 128 fit with all there are */
      {32, 1024, HD_BUDGET_SAME_OCCUPANCY, "bind=agents:1", "", 64},
      {32, 1024, HD_BUDGET_SAME_OCCUPANCY, "bind=agents:2", "", 32},
      {28, 128, HD_BUDGET_SAME_OCCUPANCY, "bind=agents", ".maxntid 128, 1, 1\n.maxnreg 28\n", 28},
      {32, 256, HD_BUDGET_NONE, "bind=agents", ".maxnreg 32\n", 32},
      {26, 256, HD_BUDGET_SAME_OCCUPANCY, "order=col,bind=claim", "", 0},
      {26, 256, HD_BUDGET_SAME_OCCUPANCY, "order=col", "", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_rewrite_options o = {.grid = {.known = true, .g = {80, 3, 1}, .n_sms = 4},
                            .registers = cases[i].registers,
                            .budget = cases[i].budget};
    if (cases[i].threads) o.block[0] = cases[i].threads, o.block[1] = o.block[2] = 1;
    uint32_t limit = limit_of(cases[i].directives, cases[i].plan, &o);
    if (limit != cases[i].limit) fail_msg("case %zu: .maxnreg %u, not %u", i, limit, cases[i].limit);
  }
}

/* By the arithmetic of occupancy, done another way: whole warps, each of 256 registers or a multiple, on four
 * schedulers with 16384 each. */
static uint32_t resident(uint32_t registers, uint32_t threads) {
  uint32_t warp = (registers * 32 + 255) / 256 * 256, warps = (threads + 31) / 32;
  uint32_t fit = 4 * (16384 / warp) / warps, most = 64 / warps;
  return fit < most ? fit : most;
}

static void the_tightest_limit_keeps_occupancy(void **state) {
  for (uint64_t i = 0; i < 400; i++) {
    uint32_t registers = 1 + (uint32_t)(hd_random_at(50, i) % 255);
    uint32_t threads = 1 + (uint32_t)(hd_random_at(51, i) % 1024);
    hd_rewrite_options o = {.grid = {.known = true, .g = {80, 3, 1}, .n_sms = 4},
                            .block = {threads, 1, 1},
                            .registers = registers};
    uint32_t limit = limit_of("", "bind=agents", &o);
    if (!limit) {
      assert_true(registers > 252);
      continue;
    }
    assert_true(limit <= registers + 3 || limit == 24);
    if (registers <= limit && resident(limit, threads) < resident(registers, threads))
      fail_msg("%u registers, limit %u: fewer than %u CTAs of %u threads", registers, limit,
               resident(registers, threads), threads);
  }
}

/* Dynamic shared memory lies behind static memory: a ticket must not move it off a boundary that swizzles
 * count from. */
static void a_ticket_leaves_dynamic_shared_memory_on_its_boundary(void **state) {
  static const struct {
    const char *target, *shared, *plan, *ticket;
  } cases[] = {
      {"sm_90", ".extern .shared .align 16 .b8 dynamic[];\n", "bind=claim",
       ".shared .align 1024 .b32 heddle_ticket[256]"},
      {"sm_90", ".extern .shared .align 16 .b8 dynamic[];\n", "bind=agents",
       ".shared .align 1024 .b32 heddle_ticket[256]"},
      {"sm_80", ".extern .shared .align 16 .b8 dynamic[];\n", "bind=claim",
       ".shared .align 128 .b32 heddle_ticket[32]"},
      {"sm_90", ".shared .align 16 .b8 dynamic[64];\n", "bind=claim",
       ".shared .align 4 .b32 heddle_ticket[1]"},
      {"sm_90", ".shared .align 16 .b8 dynamic[64];\n", "bind=agents",
       ".shared .align 8 .b32 heddle_ticket[2]"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf text = {0};
    hd_buf_printf(
        &text,
        ".version 8.0\n.target %s\n.address_size 64\n%s.visible .entry k(.param .u64 p)\n{\n"
        ".reg .b32 %%r<9>;\nmov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, dynamic;\nst.shared.u32 [%%r2], "
        "%%r1;\nbar.sync 0;\nld.shared.u32 %%r3, [%%r2];\nret;\n}\n",
        cases[i].target, cases[i].shared);
    hd_rewrite_options o = {.grid = {.known = true, .g = {80, 3, 1}, .n_sms = 4}, .block = {128, 1, 1}};
    hd_buf out = rewritten(text.data, cases[i].plan, &o);
    if (!strstr(out.data, cases[i].ticket)) fail_msg("case %zu: no %s", i, cases[i].ticket);
    hd_buf_free(&out);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a ticket leaves dynamic shared memory on its boundary",
                a_ticket_leaves_dynamic_shared_memory_on_its_boundary),
      BEHAVIOUR("barriers that some threads skip are refused", barriers_that_some_threads_skip_are_refused),
      BEHAVIOUR("agents refuse barriers that warps meet at from several places",
                barriers_that_warps_meet_at_from_several_places_are_refused),
      BEHAVIOUR("barriers that all threads meet at are not", barriers_that_all_threads_meet_at_are_not),
      BEHAVIOUR("whole warps may part from each other", whole_warps_may_part_from_each_other),
      BEHAVIOUR("what would last from task to task is refused", what_would_last_from_task_to_task_is_refused),
      BEHAVIOUR("a kernel of very many ways is judged too", a_kernel_of_very_many_ways_is_judged_too),
      BEHAVIOUR("the refusal names the instruction", the_refusal_names_the_instruction),
      BEHAVIOUR("agents fill the GPU and are no more than tasks",
                agents_fill_the_gpu_and_are_no_more_than_tasks),
      BEHAVIOUR("a plan that changes the launch needs somebody who asks how",
                a_plan_that_changes_the_launch_needs_somebody_who_asks_how),
      BEHAVIOUR("more tasks than can be claimed are left alone",
                more_tasks_than_can_be_claimed_are_left_alone),
      BEHAVIOUR("fewer agents may have more registers", fewer_agents_may_have_more_registers),
      BEHAVIOUR("agents take few registers more than the original",
                agents_take_few_registers_more_than_the_original),
      BEHAVIOUR("the tightest limit keeps occupancy", the_tightest_limit_keeps_occupancy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
