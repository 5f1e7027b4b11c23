/* Uniformity: blocks that all threads of a CTA, or of a warp, run alike. */
#include "cfg/levels.h"

static void branches_and_values_have_levels(void **state) {
  static const struct {
    const char *what, *body;
    uint32_t block[3];
    hd_same level;
  } cases[] = {
      {"nothing in front", "bar.sync 0;\nret;", {0}, HD_SAME_IN_CTA},
      {"a branch on the CTA", "mov.u32 %r1, %ctaid.x;\n" SKIP_UNLESS_ODD, {0}, HD_SAME_IN_CTA},
      {"a branch on the thread", "mov.u32 %r1, %tid.x;\n" SKIP_UNLESS_ODD, {0}, HD_SAME_NOWHERE},
      {"a branch on the row of threads",
       "mov.u32 %r1, %tid.y;\n" SKIP_UNLESS_ODD,
       {64, 4, 1},
       HD_SAME_IN_WARP},
      {"a row that is part of a warp", "mov.u32 %r1, %tid.y;\n" SKIP_UNLESS_ODD, {16, 4, 1}, HD_SAME_NOWHERE},
      {"the only row of threads", "mov.u32 %r1, %tid.y;\n" SKIP_UNLESS_ODD, {64, 1, 1}, HD_SAME_IN_CTA},
      {"all coordinates at once",
       "mov.v4.u32 {%r1, %r2, %r3, %r4}, %tid;\n" SKIP_UNLESS_ODD,
       {64, 1, 1},
       HD_SAME_NOWHERE},
      {"the thread's id inside a vector",
       "mov.b64 %l1, {%r3, %tid.x};\ncvt.u32.u64 %r1, %l1;\n" SKIP_UNLESS_ODD,
       {64, 1, 1},
       HD_SAME_NOWHERE},
      {"the warp's number",
       "mov.u32 %r3, %tid.x;\nshr.u32 %r1, %r3, 5;\n" SKIP_UNLESS_ODD,
       {64, 1, 1},
       HD_SAME_IN_WARP},
      {"where the ways meet again",
       "mov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\n"
       "mov.u32 %r2, 1;\nA: bar.sync 0;\nret;",
       {0},
       HD_SAME_IN_CTA},
      {"what was written on one way",
       "mov.u32 %r1, 0;\nmov.u32 %r2, %tid.x;\nsetp.eq.u32 %p2, %r2, 0;\n"
       "@%p2 bra A;\nmov.u32 %r1, 1;\nA: " SKIP_UNLESS_ODD,
       {0},
       HD_SAME_NOWHERE},
      {"a loop that threads leave at different times",
       "mov.u32 %r2, %tid.x;\nL: bar.sync 0;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 5;\n@%p1 bra "
       "L;\nret;",
       {0},
       HD_SAME_NOWHERE},
      {"a loop that they leave together",
       "mov.u32 %r2, %ctaid.x;\nL: bar.sync 0;\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 5;\n@%p1 bra "
       "L;\nret;",
       {0},
       HD_SAME_IN_CTA},
      {"an endless loop on one of the ways",
       "mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n"
       "ret;\nL: add.u32 %r1, %r1, 1;\nM: bar.sync 0;\nbra L;",
       {0},
       HD_SAME_NOWHERE},
      {"a way out of an endless loop's branch",
       "mov.u32 %r2, %tid.x;\nL: setp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;\nadd.u32 %r1, %r1, 1;\nbra L;\n"
       "A: bar.sync 0;\nbra L;",
       {0},
       HD_SAME_NOWHERE},
      {"loaded from a parameter", "ld.param.u32 %r1, [p];\n" SKIP_UNLESS_ODD, {0}, HD_SAME_IN_CTA},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (level_of_barrier(cases[i].body, cases[i].block) != cases[i].level) fail_msg("%s", cases[i].what);
}

#define THREAD "mov.u32 %r2, %tid.x;\n"
#define IN_THE_GRID THREAD "mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.u32 %r2, %r3, %r4, %r2;\n"

static void a_thread_s_number_without_its_lane_is_one_in_each_warp(void **state) {
  static const struct {
    const char *what, *body;
    uint32_t block[3];
    hd_same level;
  } cases[] = {
      {"taken away", THREAD "and.b32 %r1, %r2, 31;\nsub.u32 %r1, %r2, %r1;\n", {64, 1, 1}, HD_SAME_IN_WARP},
      {"of a row of whole warps",
       THREAD "and.b32 %r1, %r2, 31;\nsub.u32 %r1, %r2, %r1;\n",
       {64, 4, 1},
       HD_SAME_IN_WARP},
      {"in the grid",
       IN_THE_GRID "mov.u32 %r5, %tid.x;\nand.b32 %r1, %r5, 31;\nsub.s32 %r1, %r2, %r1;\n",
       {64, 1, 1},
       HD_SAME_IN_WARP},
      {"and added again",
       THREAD "and.b32 %r1, %r2, 31;\nsub.u32 %r3, %r2, %r1;\nadd.u32 %r1, %r3, %r1;\nshr.u32 %r1, %r1, 5;\n",
       {64, 1, 1},
       HD_SAME_IN_WARP},
      {"the lane itself", THREAD "and.b32 %r1, %r2, 31;\n", {64, 1, 1}, HD_SAME_NOWHERE},
      {"of a block that is not known",
       THREAD "and.b32 %r1, %r2, 31;\nsub.u32 %r1, %r2, %r1;\n",
       {0},
       HD_SAME_NOWHERE},
      {"of rows that warps share",
       THREAD "and.b32 %r1, %r2, 31;\nsub.u32 %r1, %r2, %r1;\n",
       {48, 2, 1},
       HD_SAME_NOWHERE},
      {"in a grid of CTAs that are no whole warps",
       IN_THE_GRID "and.b32 %r1, %r2, 31;\nsub.s32 %r1, %r2, %r1;\n",
       {48, 1, 1},
       HD_SAME_NOWHERE},
      {"half of the lane",
       THREAD "and.b32 %r1, %r2, 15;\nsub.u32 %r1, %r2, %r1;\n",
       {64, 1, 1},
       HD_SAME_NOWHERE},
      {"more than the lane",
       THREAD "and.b32 %r1, %r2, 63;\nsub.u32 %r1, %r2, %r1;\n",
       {64, 1, 1},
       HD_SAME_NOWHERE},
      {"the next lane",
       THREAD "add.u32 %r1, %r2, 1;\nand.b32 %r1, %r1, 31;\nsub.u32 %r1, %r2, %r1;\n",
       {64, 1, 1},
       HD_SAME_NOWHERE},
      {"the number taken away from the lane",
       THREAD "and.b32 %r1, %r2, 31;\nsub.u32 %r1, %r1, %r2;\n",
       {64, 1, 1},
       HD_SAME_NOWHERE},
      {"the lane twice",
       THREAD "and.b32 %r1, %r2, 31;\nsub.u32 %r2, %r2, %r1;\nsub.u32 %r1, %r2, %r1;\n",
       {64, 1, 1},
       HD_SAME_NOWHERE},
      {"the lane of another number in some lanes",
       THREAD
       "mov.u32 %r3, %r2;\nsetp.eq.u32 %p2, %r2, 3;\n@%p2 add.u32 %r3, %r2, 7;\nand.b32 %r1, %r3, 31;\n"
       "sub.u32 %r1, %r2, %r1;\n",
       {64, 1, 1},
       HD_SAME_NOWHERE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf body = {0};
    hd_buf_printf(&body, "%s%s", cases[i].body, SKIP_UNLESS_ODD);
    if (level_of_barrier(body.data, cases[i].block) != cases[i].level) fail_msg("%s", cases[i].what);
    hd_buf_free(&body);
  }
}

static void registers_have_the_levels_of_the_values_that_may_be_in_them(void **state) {
  static const struct {
    const char *what, *body;
    hd_same level;
  } cases[] = {
      {"a register that gets another value behind it",
       "mov.u32 %r1, 0;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra END;\nbar.sync 0;\nmov.u32 %r1, %tid.x;\n"
       "st.shared.u32 [s], %r1;\nEND: ret;",
       HD_SAME_IN_CTA},
      {"a register that had another value before",
       "mov.u32 %r1, %tid.x;\nst.shared.u32 [s], %r1;\nmov.u32 %r1, 0;\n" SKIP_UNLESS_ODD, HD_SAME_IN_CTA},
      {"a register that may keep the value it had before",
       "mov.u32 %r3, %ctaid.x;\nsetp.ne.u32 %p2, %r3, 0;\nmov.u32 %r1, %tid.x;\n@%p2 mov.u32 %r1, "
       "0;\n" SKIP_UNLESS_ODD,
       HD_SAME_NOWHERE},
      {"another value that comes round a loop",
       "mov.u32 %r1, 0;\nA: setp.ne.u32 %p1, %r1, 0;\n@%p1 bra END;\nbar.sync 0;\nmov.u32 %r1, %tid.x;\nbra "
       "A;\n"
       "END: ret;",
       HD_SAME_NOWHERE},
      {"one half of a pair of registers",
       "mov.u64 %l1, 0;\nmov.u32 %r3, %tid.x;\nmov.b64 %l1, {%r3, %r3};\ncvt.u32.u64 %r1, "
       "%l1;\n" SKIP_UNLESS_ODD,
       HD_SAME_NOWHERE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (level_of_barrier(cases[i].body, (uint32_t[3]){0}) != cases[i].level) fail_msg("%s", cases[i].what);
}

static const struct {
  const char *what, *body;
  uint32_t block[3];
  hd_same level;
} warps[] = {
    {"a vote of several groups",
     "mov.u32 %r3, %tid.x;\nsetp.eq.u32 %p2, %r3, 3;\nvote.sync.any.pred %p3, %p2, %r3;\n"
     "selp.u32 %r1, 1, 0, %p3;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
    {"one lane's value",
     "mov.u32 %r3, %tid.x;\nshfl.sync.idx.b32 %r1, %r3, 0, 31, -1;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_IN_WARP},
    {"a lane's value for each half of the warp",
     "mov.u32 %r3, %tid.x;\nshfl.sync.idx.b32 %r1, %r3, 0, 4127, -1;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
    {"another lane's value for each lane",
     "mov.u32 %r3, %tid.x;\nshfl.sync.idx.b32 %r1, %r3, %r3, 31, -1;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
    {"a vote",
     "mov.u32 %r3, %tid.x;\nsetp.eq.u32 %p2, %r3, 3;\nvote.sync.any.pred %p3, %p2, -1;\n"
     "selp.u32 %r1, 1, 0, %p3;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_IN_WARP},
#define ODD_THREAD "mov.u32 %r3, %tid.x;\nsetp.eq.u32 %p2, %r3, 3;\n"
    {"a count at a barrier",
     ODD_THREAD "bar.red.popc.u32 %r1, 0, %p2;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_IN_CTA},
    {"a count at another barrier",
     ODD_THREAD "barrier.cta.red.popc.u32 %r1, 3, %p2;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_IN_CTA},
    {"a count at a barrier, of which some warps run one more",
     ODD_THREAD "setp.ge.u32 %p3, %r3, 32;\n@%p3 bra A;\nbar.sync 0;\nA: bar.red.popc.u32 %r1, 0, "
                "%p2;\n" SKIP_UNLESS_ODD,
     {64, 1, 1},
     HD_SAME_IN_WARP},
    {"a count at a barrier, of which some lanes run one more",
     ODD_THREAD "setp.ge.u32 %p3, %r3, 16;\n@%p3 bra A;\nbar.sync 0;\nA: bar.red.popc.u32 %r1, 0, "
                "%p2;\n" SKIP_UNLESS_ODD,
     {64, 1, 1},
     HD_SAME_NOWHERE},
    {"a count at a barrier that stands on two ways, where one has another behind it",
     ODD_THREAD "setp.ge.u32 %p3, %r3, 32;\n@%p3 bra A;\nbar.red.popc.u32 %r1, 0, %p2;\nbar.sync 0;\nbra B;\n"
                "A: bar.red.popc.u32 %r1, 0, %p2;\nB:\n" SKIP_UNLESS_ODD,
     {64, 1, 1},
     HD_SAME_IN_WARP},
    {"a count at a barrier, and some warps that meet by themselves",
     ODD_THREAD "setp.ge.u32 %p3, %r3, 32;\n@%p3 bra A;\nbar.sync 1, 32;\nA: bar.red.popc.u32 %r1, 0, "
                "%p2;\n" SKIP_UNLESS_ODD,
     {64, 1, 1},
     HD_SAME_IN_CTA},
    {"a count of some warps",
     ODD_THREAD "bar.red.popc.u32 %r1, 0, 32, %p2;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
    {"a count of some warps, so many as a register says",
     ODD_THREAD "barrier.cta.red.popc.u32 %r1, 1, %r4, %p2;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
    {"a count at the barrier of each warp",
     ODD_THREAD "shr.u32 %r4, %r3, 5;\nbar.red.popc.u32 %r1, %r4, 32, %p2;\n" SKIP_UNLESS_ODD,
     {64, 1, 1},
     HD_SAME_NOWHERE},
    {"a sum over the lanes of a mask",
     "mov.u32 %r3, %tid.x;\nredux.sync.add.u32 %r1, %r3, -1;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_IN_WARP},
    {"a sum over the lanes of a mask of each lane's own",
     "mov.u32 %r3, %tid.x;\nredux.sync.add.u32 %r1, 1, %r3;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
    {"a vote without a mask", "vote.ballot.b32 %r1, %p2;\n" SKIP_UNLESS_ODD, {0}, HD_SAME_NOWHERE},
    {"the lanes that are here", "activemask.b32 %r1;\n" SKIP_UNLESS_ODD, {0}, HD_SAME_NOWHERE},
    {"the elected lane", "elect.sync %r1|%p3, -1;\n" SKIP_UNLESS_ODD, {0}, HD_SAME_NOWHERE},
    {"the lanes of equal values", "match.any.sync.b32 %r1, %r2, -1;\n" SKIP_UNLESS_ODD, {0}, HD_SAME_NOWHERE},
    {"a sum with a carry",
     "add.cc.u32 %r3, 1, 2;\naddc.u32 %r1, 1, 2;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
    {"a policy",
     "createpolicy.fractional.L2::evict_last.b64 %l1;\ncvt.u32.u64 %r1, %l1;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_IN_CTA},
    {"the address of a thread's own memory",
     ".local .align 4 .b8 here[8];\nmov.u64 %l1, here;\ncvt.u32.u64 %r1, %l1;\n" SKIP_UNLESS_ODD,
     {0},
     HD_SAME_NOWHERE},
};

static void values_of_a_warp_have_levels(void **state) {
  for (size_t i = 0; i < sizeof warps / sizeof *warps; i++)
    if (level_of_barrier(warps[i].body, warps[i].block) != warps[i].level) fail_msg("%s", warps[i].what);
}

/* %r3 is the thread's number, %r4 a multiple of 32 that is the same for the CTA and may be any. */
static void values_that_cut_between_warps_have_levels(void **state) {
#define NUMBERS "mov.u32 %r3, %tid.x;\nmov.u32 %r5, %ctaid.x;\nshl.b32 %r4, %r5, 5;\n"
#define BACK "sub.s32 %r6, %r3, 32;\n"
  static const struct {
    const char *body;
    hd_same level;
  } cases[] = {
      {"div.u32 %r1, %r3, 32;\n", HD_SAME_IN_WARP},
      {"div.s32 %r1, %r3, 32;\n", HD_SAME_IN_WARP}, /* no thread's number is negative */
      {"div.s32 %r1, %r3, 96;\n", HD_SAME_IN_WARP},
      {"div.u32 %r1, %r3, 48;\n", HD_SAME_NOWHERE},
      {"div.s32 %r1, %r3, -32;\n", HD_SAME_NOWHERE},
      {BACK "div.s32 %r1, %r6, 32;\n", HD_SAME_NOWHERE},
      {BACK "div.u32 %r1, %r6, 32;\n", HD_SAME_IN_WARP},
      {"add.s32 %r6, %r3, -32;\ndiv.s32 %r1, %r6, 32;\n", HD_SAME_NOWHERE},
      {"add.s32 %r6, %r3, 32;\ndiv.s32 %r1, %r6, 32;\n", HD_SAME_IN_WARP},
      {"add.s32 %r6, %r3, %r4;\ndiv.s32 %r1, %r6, 64;\n", HD_SAME_NOWHERE},
      {"add.u32 %r6, %r3, %r4;\ndiv.u32 %r1, %r6, 64;\n", HD_SAME_IN_WARP},
      {BACK "cvt.s64.s32 %l1, %r6;\ndiv.s64 %l2, %l1, 32;\ncvt.u32.u64 %r1, %l2;\n", HD_SAME_NOWHERE},
      {"cvt.u64.u32 %l1, %r3;\ndiv.s64 %l2, %l1, 32;\ncvt.u32.u64 %r1, %l2;\n", HD_SAME_IN_WARP},
      {BACK "shr.s32 %r1, %r6, 5;\n", HD_SAME_IN_WARP}, /* rounds down */
      {BACK "shr.s32 %r1, %r6, 40;\n", HD_SAME_IN_WARP},
      {BACK "shr.u32 %r1, %r6, 4;\n", HD_SAME_NOWHERE},
      /* Numbers are cut to their types: 2^32 + 1 is 1. */
      {BACK "shr.u32 %r1, %r6, 4294967297;\n", HD_SAME_NOWHERE},
      {BACK "shr.u32 %r1, %r6, 4294967301;\n", HD_SAME_IN_WARP},
      {"shl.b32 %r6, %r5, 4294967297;\nadd.u32 %r6, %r6, %r3;\nshr.u32 %r1, %r6, 5;\n", HD_SAME_NOWHERE},
      {"shl.b32 %r6, %r5, 4294967301;\nadd.u32 %r6, %r6, %r3;\nshr.u32 %r1, %r6, 5;\n", HD_SAME_IN_WARP},
      {BACK "div.u32 %r1, %r6, 4294967296;\n", HD_SAME_NOWHERE},
      {BACK "div.u32 %r1, %r6, 4294967328;\n", HD_SAME_IN_WARP},
      {"setp.lt.s32 %p2, %r3, 4294967301;\nselp.u32 %r1, 1, 0, %p2;\n", HD_SAME_NOWHERE},
      {"setp.lt.s32 %p2, %r3, 5000;\nselp.u32 %r1, 1, 0, %p2;\n", HD_SAME_IN_CTA},
      {BACK "and.b32 %r1, %r6, -32;\n", HD_SAME_IN_WARP},
      {BACK "and.b32 %r1, %r6, 48;\n", HD_SAME_NOWHERE},
      {BACK "rem.s32 %r1, %r6, 32;\n", HD_SAME_NOWHERE},
      {BACK "bfe.s32 %r1, %r6, 5, 3;\n", HD_SAME_NOWHERE},
      {BACK "setp.lt.s32 %p2, %r6, 32;\nselp.u32 %r1, 1, 0, %p2;\n", HD_SAME_IN_WARP},
      {BACK "setp.lt.u32 %p2, %r6, 32;\nselp.u32 %r1, 1, 0, %p2;\n", HD_SAME_IN_WARP},
      {BACK "setp.gt.s32 %p2, %r6, 31;\nselp.u32 %r1, 1, 0, %p2;\n", HD_SAME_IN_WARP},
      {BACK "setp.gt.s32 %p2, %r6, 32;\nselp.u32 %r1, 1, 0, %p2;\n", HD_SAME_NOWHERE},
      {BACK "setp.eq.s32 %p2, %r6, 0;\nselp.u32 %r1, 1, 0, %p2;\n", HD_SAME_NOWHERE},
      {"sub.s32 %r6, %r4, %r3;\nshr.s32 %r1, %r6, 5;\n", HD_SAME_NOWHERE},
      {"sub.u32 %r6, %r4, 64;\nadd.u32 %r6, %r6, %r3;\nshr.u32 %r1, %r6, 6;\n", HD_SAME_IN_WARP},
      {"add.sat.s32 %r6, %r3, %r4;\nshr.s32 %r1, %r6, 5;\n", HD_SAME_NOWHERE},
      {"mul.hi.u32 %r6, %r4, 2048;\nadd.u32 %r6, %r6, %r3;\nshr.u32 %r1, %r6, 5;\n", HD_SAME_NOWHERE},
      {"mul.lo.u32 %r6, %r4, 2048;\nadd.u32 %r6, %r6, %r3;\nshr.u32 %r1, %r6, 5;\n", HD_SAME_IN_WARP},
      {"mul.wide.s32 %l1, %r4, -3;\ncvt.s64.s32 %l2, %r3;\nadd.s64 %l1, %l1, %l2;\nshr.s64 %l1, %l1, 5;\n"
       "cvt.u32.u64 %r1, %l1;\n",
       HD_SAME_IN_WARP},
      {"min.s32 %r6, %r3, 40;\nshr.u32 %r1, %r6, 5;\n", HD_SAME_NOWHERE},
      /* Halves of a multiple of 32 are none. */
      {".reg .b16 %h<4>;\nmov.b32 {%h1, %h2}, %r4;\ncvt.u32.u16 %r6, %h2;\nsetp.lt.u32 %p2, %r3, %r6;\n"
       "selp.u32 %r1, 1, 0, %p2;\n",
       HD_SAME_NOWHERE},
      {".reg .b16 %h<4>;\ncvt.u16.u32 %h1, %r3;\nshr.u16 %h2, %h1, 5;\ncvt.u32.u16 %r1, %h2;\n",
       HD_SAME_IN_WARP},
      {".reg .b16 %h<4>;\ncvt.u8.u32 %h1, %r3;\nshr.u16 %h2, %h1, 5;\ncvt.u32.u16 %r1, %h2;\n",
       HD_SAME_NOWHERE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char body[1024];
    snprintf(body, sizeof body, "%s%s%s", NUMBERS, cases[i].body, SKIP_UNLESS_ODD);
    const hd_same level = level_of_barrier(body, (uint32_t[3]){128, 1, 1});
    if (level != cases[i].level) fail_msg("%d: %s", level, cases[i].body);
  }
}

static void the_number_of_a_thread_is_known_by_its_sum(void **state) {
  static const struct {
    const char *what, *body;
    uint32_t block[3];
    hd_same level;
  } cases[] = {
      {"the first warp of any block",
       "mov.u32 %r5, %tid.z;\nmov.u32 %r6, %ntid.y;\nmov.u32 %r7, %tid.y;\nmad.lo.s32 %r2, %r6, %r5, %r7;\n",
       {0},
       HD_SAME_IN_WARP},
      {"without %tid.z", "mov.u32 %r2, %tid.y;\n", {0}, HD_SAME_NOWHERE},
      {"without %tid.z, in a block one thread deep", "mov.u32 %r2, %tid.y;\n", {16, 16, 1}, HD_SAME_IN_WARP},
      {"without %tid.y",
       "mov.u32 %r5, %tid.z;\nmov.u32 %r6, %ntid.y;\nmul.lo.u32 %r2, %r5, %r6;\n",
       {0},
       HD_SAME_NOWHERE},
      {"twice %tid.y", "mov.u32 %r5, %tid.y;\nadd.u32 %r2, %r5, %r5;\n", {16, 16, 1}, HD_SAME_NOWHERE},
  };
  static const struct {
    const char *what, *body;
    bool known;
  } ends[] = {
      {"by %ntid.x", "mov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.s32 %r1, %r2, %r3, %r4;\n", false},
      {"by a number", "mov.u32 %r4, %tid.x;\nmad.lo.s32 %r1, %r2, 16, %r4;\n", true},
      {"by a shift", "shl.b32 %r3, %r2, 4;\nadd.u32 %r1, %r3, %tid.x;\n", true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
      char body[1024];
      if (ends[k].known && !cases[i].block[0]) continue;
      snprintf(body, sizeof body, "%s%ssetp.gt.u32 %%p1, %%r1, 31;\n@%%p1 bra END;\nbar.sync 0;\nEND: ret;",
               cases[i].body, ends[k].body);
      if (level_of_barrier(body, cases[i].block) != cases[i].level)
        fail_msg("%s, %s", cases[i].what, ends[k].what);
    }
}

/* A processor's own shift takes the count modulo 32, PTX modulo 2^32: a row is 16 threads, and -28 is not 4.
 */
static void shifts_by_no_count_of_bits_make_no_rows(void **state) {
  static const struct {
    const char *by;
    hd_same level;
  } cases[] = {{"4", HD_SAME_IN_WARP},          {"-28", HD_SAME_NOWHERE},
               {"-1", HD_SAME_NOWHERE},         {"-9223372036854775804", HD_SAME_IN_WARP},
               {"4294967300", HD_SAME_IN_WARP}, {"4294967295", HD_SAME_NOWHERE},
               {"3", HD_SAME_NOWHERE}};
  static const uint32_t block[3] = {16, 16, 1};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char body[512];
    snprintf(body, sizeof body,
             "mov.u32 %%r2, %%tid.y;\nshl.b32 %%r3, %%r2, %s;\nadd.u32 %%r1, %%r3, %%tid.x;\n"
             "setp.gt.u32 %%p1, %%r1, 31;\n@%%p1 bra END;\nbar.sync 0;\nEND: ret;",
             cases[i].by);
    if (level_of_barrier(body, block) != cases[i].level) fail_msg("by %s", cases[i].by);
  }
}

static void the_size_of_a_block_decides_comparisons(void **state) {
  static const struct {
    const char *what, *body; /* sets %p1 */
    uint32_t block[3];
    bool decided;
  } cases[] = {
      {"fewer threads", "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 256;\n", {256, 1, 1}, true},
      {"one more", "mov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 255;\n", {256, 1, 1}, false},
      {"not one with that number", "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 300;\n", {256, 1, 1}, true},
      {"one with that number", "mov.u32 %r1, %tid.x;\nsetp.eq.s32 %p1, %r1, 200;\n", {256, 1, 1}, false},
      {"more than any block has", "mov.u32 %r1, %tid.x;\nsetp.gt.s32 %p1, %r1, 1023;\n", {0}, true},
      {"no more than a block may have", "mov.u32 %r1, %tid.x;\nsetp.gt.s32 %p1, %r1, 1022;\n", {0}, false},
      {"the number of a thread",
       "mov.u32 %r2, %tid.y;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.s32 %r1, %r2, %r3, %r4;\n"
       "setp.gt.s32 %p1, %r1, 255;\n",
       {16, 16, 1},
       true},
      {"the number of a warp",
       "mov.u32 %r2, %tid.x;\nshr.u32 %r1, %r2, 5;\nsetp.lt.u32 %p1, %r1, 8;\n",
       {256, 1, 1},
       true},
      {"a lane", "mov.u32 %r2, %tid.x;\nand.b32 %r1, %r2, 31;\nsetp.le.u32 %p1, %r1, 31;\n", {0}, true},
      {"in 64 bits",
       "mov.u32 %r2, %tid.x;\nmul.wide.u32 %l1, %r2, 4;\nsetp.lt.u64 %p1, %l1, 1024;\n",
       {256, 1, 1},
       true},
      {"less than nothing, without a sign",
       "mov.u32 %r2, %tid.x;\nsub.u32 %r1, %r2, 8;\nsetp.lt.u32 %p1, %r1, 256;\n",
       {256, 1, 1},
       false},
      {"less than nothing, with one",
       "mov.u32 %r2, %tid.x;\nsub.s32 %r1, %r2, 8;\nsetp.lt.s32 %p1, %r1, 256;\n",
       {256, 1, 1},
       true},
      {"beyond 32 bits",
       "mov.u32 %r2, %tid.x;\nmul.lo.u32 %r1, %r2, 100000000;\nsetp.ge.s32 %p1, %r1, 0;\n",
       {256, 1, 1},
       false},
      {"in 16 bits",
       "mov.u32 %r2, %tid.x;\ncvt.u16.u32 %h1, %r2;\nsetp.lt.u16 %p1, %h1, 256;\n",
       {256, 1, 1},
       false},
      {"a number that moves on",
       "mov.u32 %r1, %tid.x;\nA: setp.lt.u32 %p1, %r1, 256;\nadd.u32 %r1, %r1, 64;\n",
       {64, 1, 1},
       false},
      {"under a guard",
       "mov.u32 %r1, %tid.x;\nand.b32 %r3, %r1, 1;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 mov.u32 %r2, %tid.x;\n"
       "setp.lt.u32 %p1, %r2, 256;\n",
       {256, 1, 1},
       false},
      {"as floats",
       "mov.f32 %f1, 0f00000000;\nmov.u32 %r1, %tid.x;\nsetp.lt.f32 %p1, %f1, 0f3F800000;\n@%p1 bra A;\n"
       "A: setp.lt.u32 %p1, %r1, 7;\n",
       {256, 1, 1},
       false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf body = {0};
    hd_buf_puts(&body, ".reg .f32 %f<3>;\n.reg .b16 %h<3>;\n");
    hd_buf_puts(&body, cases[i].body);
    hd_buf_puts(&body, "@%p1 bra END;\nbar.sync 0;\nEND: ret;\n");
    if ((level_of_barrier(body.data, cases[i].block) == HD_SAME_IN_CTA) != cases[i].decided)
      fail_msg("%s", cases[i].what);
    hd_buf_free(&body);
  }
}

/* More writers than are told apart. */
static void a_register_of_many_writers_has_the_worst_of_their_levels(void **state) {
  static const struct {
    const char *first, *last;
    hd_same level;
  } cases[] = {
      {"mov.u32 %r1, 1;\n", "mov.u32 %r1, %ctaid.x;\n", HD_SAME_IN_CTA},
      {"mov.u32 %r1, %tid.x;\n", "mov.u32 %r1, 2;\n", HD_SAME_NOWHERE},
      {"mov.u32 %r1, 1;\n", "mov.u32 %r1, %tid.x;\n", HD_SAME_NOWHERE},
      {"mov.u32 %r1, 1;\n", "shr.u32 %r1, %r3, 5;\n", HD_SAME_IN_WARP},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf body = {0};
    hd_buf_printf(&body, "mov.u32 %%r3, %%tid.x;\nmov.u32 %%r4, %%ctaid.x;\nL: %s", cases[i].first);
    for (unsigned k = 0; k < 90; k++)
      hd_buf_printf(&body, "setp.ne.u32 %%p2, %%r4, %u;\n@%%p2 bra N%u;\nadd.u32 %%r1, %%r1, %u;\nN%u:\n", k,
                    k, k, k);
    hd_buf_printf(&body, "setp.eq.u32 %%p3, %%r4, 200;\n@%%p3 bra L;\n@%%p2 %s%s", cases[i].last,
                  SKIP_UNLESS_ODD);
    const hd_same level = level_of_barrier(body.data, (uint32_t[3]){64, 1, 1});
    if (level != cases[i].level) fail_msg("%d: %s%s", level, cases[i].first, cases[i].last);
    hd_buf_free(&body);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("branches, values and places where ways meet have the level that they should",
                branches_and_values_have_levels),
      BEHAVIOUR("a register has the level of the values that may be in it where it is read",
                registers_have_the_levels_of_the_values_that_may_be_in_them),
      BEHAVIOUR("a warp's votes and broadcasts are one value where the warp is one group",
                values_of_a_warp_have_levels),
      BEHAVIOUR("a division, a shift or a comparison that cuts between warps is one value in each",
                values_that_cut_between_warps_have_levels),
      BEHAVIOUR("the number of a thread is known by its sum, whatever the block",
                the_number_of_a_thread_is_known_by_its_sum),
      BEHAVIOUR("a thread's number without its lane is one in each warp",
                a_thread_s_number_without_its_lane_is_one_in_each_warp),
      BEHAVIOUR("shifts by no count of bits make no rows", shifts_by_no_count_of_bits_make_no_rows),
      BEHAVIOUR("the size of a block decides comparisons", the_size_of_a_block_decides_comparisons),
      BEHAVIOUR("a register of many writers has the worst of their levels",
                a_register_of_many_writers_has_the_worst_of_their_levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
