/* A loop over tiles that a compiler has written out several times, for each way that a condition goes. */
#include "check.h"

#include <string.h>

#include "heddle/rewrite.h"
#include "rewrite/tile_loop.h"

/* The work of the second copy, in registers of its own, as compilers have it. */
#define WORK_AGAIN "mad.wide.u32 %d3, %r1, 4, %d0; st.global.u32 [%d3], %r1;\n"

/* Two copies, by the first thread of each CTA and by the others. */
#define COPIES(start, first, second)                                                                         \
  start "@%p0 bra others;\ntiles:\n" first STEP "bra.uni done;\nothers:\n" second "add.s32 %r1, %r1, %r2; "  \
        "setp.lt.s32 %p2, %r1, %r3; @%p2 bra others;\ndone:\n"
#define COPIES_OF_WIDTH(start, first, second)                                                                \
  start "setp.gt.u32 %p4, %r9, 2; @%p4 bra others;\ntiles:\n" first STEP "bra.uni done;\nothers:\n" second   \
        "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r3; @%p2 bra others;\ndone:\n"

static const struct {
  const char *body, *why; /* NULL: accepted */
} CASES[] = {
    {COPIES(START, WORK, WORK_AGAIN), NULL},
    {COPIES(START, WORK, "mad.wide.u32 %d3, %r1, 8, %d0; st.global.u32 [%d3], %r1;\n"),
     "may overwrite what an earlier tile left in memory"},
    {COPIES_OF_WIDTH(START, WORK "bar.sync 0;\n", WORK_AGAIN "bar.sync 0;\n"), NULL},
    {COPIES(START, WORK "bar.sync 0;\n", WORK_AGAIN "bar.sync 0;\n"),
     "may meet threads of the CTA that are not in the same round of a loop over tiles"},
    {COPIES(START, WORK, WORK_AGAIN "st.global.u32 [%d0+400], %r1;\n"),
     "may overwrite what an earlier tile left in memory"},
    {COPIES(START "mov.u32 %r7, 0;\n", WORK,
            WORK_AGAIN "add.u32 %r7, %r7, %r1;\n") "st.global.u32 [%d0], %r7;\n",
     "a round of the loop over tiles leaves this to the next"},
    {COPIES(START "mov.u32 %r7, 0;\n", WORK "add.u32 %r7, %r7, %r1;\n", WORK) "st.global.u32 [%d0], %r7;\n",
     "a round of the loop over tiles leaves this to the next"},
    {COPIES(START, WORK, WORK_AGAIN) "st.global.u32 [%d0], %r1;\n",
     "reads the tile's number outside the loop over tiles"},
    /* Of another end, of another step, and two steps in one. */
    {START "@%p0 bra others;\ntiles:\n" WORK STEP "bra.uni done;\nothers:\n" WORK_AGAIN
           "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r9; @%p2 bra others;\ndone:\n",
     "shape=loop: no loop"},
    {START "@%p0 bra others;\ntiles:\n" WORK STEP "bra.uni done;\nothers:\n" WORK_AGAIN
           "add.s32 %r1, %r1, 2; setp.lt.s32 %p2, %r1, %r3; @%p2 bra others;\ndone:\n",
     "shape=loop: no loop"},
    {START "tiles:\n" WORK "add.s32 %r1, %r1, %r2; " STEP, "shape=loop: no loop"},
    /* From one copy into the other. */
    {START "tiles:\n" WORK "setp.eq.u32 %p3, %r1, %r9; @%p3 bra others;\n" STEP
           "bra.uni done;\nothers:\n" WORK_AGAIN
           "add.s32 %r1, %r1, %r2; setp.lt.s32 %p2, %r1, %r3; @%p2 bra others;\ndone:\n",
     "shape=loop: no loop"},
};

static void copies_of_a_loop_are_one_loop_if_they_are_alike(void **state) {
  for (unsigned k = 0; k < sizeof CASES / sizeof *CASES; k++) {
    const hd_rewrite_options o = {.grid = {.known = true, .g = {3, 1, 1}, .n_sms = 5}, .block = {40, 1, 1}};
    hd_buf text = {0};
    hd_arena arena;
    hd_ptx_module *m;
    hd_plan p;
    hd_diag d = {0};
    hd_buf_printf(&text, "%s%sret;\n}\n", head, CASES[k].body);
    hd_arena_init(&arena);
    if (hd_ptx_parse(text.data, text.len, "k", &arena, &m, &d) != HD_OK)
      fail_msg("line %u: %s\n%s", d.line, d.message, text.data);
    assert_int_equal(hd_plan_parse("order=col,shape=loop:4x3", &p, &d), HD_OK);
    const hd_status st = hd_rewrite(m, 0, &p, &o, NULL, &d);
    if (CASES[k].why ? st != HD_ERR_REFUSED || !strstr(d.message, CASES[k].why) : st != HD_OK)
      fail_msg("%d %s: %s", st, d.message, CASES[k].body);
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("copies of a loop are one loop if they are alike",
                copies_of_a_loop_are_one_loop_if_they_are_alike),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
