/* The remark in a kernel whose tasks are claimed: by which scheme, and why. */
#include "check.h"

#include <string.h>

#include "heddle/rewrite.h"

/* A kernel that reads %ctaid, with `body` in its middle. */
#define KERNEL(body)                                                                                         \
  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"                     \
  ".reg .b32 %r<9>;\nmov.u32 %r2, %ctaid.x;\n" body "\nret;\n}\n"

static const char plain[] = KERNEL(""), barrier[] = KERNEL("bar.sync 0;"),
                  shared[] = KERNEL(".shared .b32 box;\nst.shared.u32 [box], %r2;"),
                  fence[] = KERNEL("membar.cta;"), cluster[] = KERNEL("fence.acq_rel.cluster;"),
                  device[] = KERNEL("fence.acq_rel.gpu;"),
                  crowded[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
                              ".reg .b32 %r<9>;\n.shared .align 8 .b8 all[49152];\nmov.u32 %r2, %ctaid.x;\n"
                              "bar.sync 0;\nret;\n}\n";

typedef struct claim_case {
  const char *text, *plan;
  uint32_t grid[3], block; /* 0: any */
  const char *remark;
} claim_case;

static const claim_case CASES[] = {
    {plain,
     "bind=claim",
     {0},
     0,
     "heddle: bind=claim, claims by warp (the warps of a CTA share nothing)\n"
     "heddle: tasks one at a time (a worker takes no other); 8 queues by SM number; any grid"},
    {plain,
     "bind=claim",
     {640, 1, 1},
     32,
     "heddle: bind=claim, claims by warp (a CTA has one)\n"
     "heddle: tasks one at a time (a worker takes no other); 8 queues by SM number; 640 tasks"},
    {barrier,
     "bind=claim",
     {0},
     64,
     "heddle: bind=claim, claims by CTA (the kernel has barriers), handed over in a ticket of 4 bytes\n"
     "heddle: tasks one at a time (a worker takes no other); 8 queues by SM number; any grid"},
    {barrier,
     "bind=claim",
     {0},
     32,
     "heddle: bind=claim, claims by warp (a CTA has one)\n"
     "heddle: tasks one at a time (a worker takes no other); 8 queues by SM number; any grid"},
    {shared,
     "bind=agents",
     {100, 100, 1},
     64,
     "heddle: bind=agents, claims by CTA (the kernel uses shared memory), handed over in a ticket of 8 "
     "bytes\n"
     "heddle: tasks one at a time, the next one while the present one is done; 8 queues by SM number; 10000 "
     "tasks"},
    {fence,
     "bind=agents:2",
     {0},
     64,
     "heddle: bind=agents:2, claims by CTA (the kernel has operations of CTA scope), handed over in a ticket "
     "of "
     "8 bytes\n"
     "heddle: tasks one at a time, the next one while the present one is done; 8 queues by SM number; any "
     "grid"},
    {cluster,
     "bind=claim",
     {0},
     64,
     "heddle: bind=claim, claims by CTA (the kernel has operations of CTA scope), handed over in a ticket of "
     "4 "
     "bytes\n"
     "heddle: tasks one at a time (a worker takes no other); 8 queues by SM number; any grid"},
    {device,
     "bind=claim",
     {0},
     64,
     "heddle: bind=claim, claims by warp (the warps of a CTA share nothing)\n"
     "heddle: tasks one at a time (a worker takes no other); 8 queues by SM number; any grid"},
    {crowded,
     "bind=agents",
     {0},
     64,
     "heddle: bind=agents, claims by CTA (the kernel has barriers), handed over in the kernel's own all\n"
     "heddle: tasks one at a time, the next one while the present one is done; 8 queues by SM number; any "
     "grid"},
    {plain,
     "bind=agents",
     {20, 1, 1},
     64,
     "heddle: bind=agents, claims by warp (the warps of a CTA share nothing)\n"
     "heddle: tasks one at a time (there are not two for each worker); 8 queues by SM number; 20 tasks"},
    {plain,
     "bind=agents,take=segments",
     {0},
     64,
     "heddle: bind=agents, claims by warp (the warps of a CTA share nothing)\n"
     "heddle: tasks in segments of a worker's share; 8 queues by SM number; any grid"},
    {plain,
     "bind=agents:2,take=segments",
     {100, 10, 1},
     64,
     "heddle: bind=agents:2, claims by warp (the warps of a CTA share nothing)\n"
     "heddle: tasks in segments of 63; 8 queues by SM number; 1000 tasks"},
    {plain,
     "bind=agents:2,take=strides",
     {0},
     64,
     "heddle: bind=agents:2, claims by CTA (once for all its tasks), handed over in a ticket of 8 bytes\n"
     "heddle: tasks in strides, one for each worker; 8 queues by SM number; any grid"},
    {plain,
     "order=col,bind=agents:auto",
     {0},
     64,
     "heddle: bind=agents:auto, claims by warp (the warps of a CTA share nothing)\n"
     "heddle: tasks one at a time, the next one while the present one is done; 8 queues by SM number; any "
     "grid"},
    {plain,
     "bind=agents,sms=1-2+5",
     {0},
     64,
     "heddle: bind=agents, claims by warp (the warps of a CTA share nothing)\n"
     "heddle: tasks one at a time, the next one while the present one is done; 3 queues by rank among the "
     "SMs "
     "that the plan names; any grid"},
};

/* The rewritten module's text; the remark goes to *remark. */
static void rewrite(const claim_case *c, hd_rewrite_options opt, hd_arena *arena, hd_buf *out,
                    const char **remark) {
  hd_plan p;
  hd_ptx_module *m;
  hd_recipe recipe;
  assert_int_equal(hd_plan_parse(c->plan, &p, NULL), HD_OK);
  assert_int_equal(hd_ptx_parse(c->text, strlen(c->text), "k", arena, &m, NULL), HD_OK);
  opt.grid = (hd_grid){.known = c->grid[0] > 0, .g = {c->grid[0], c->grid[1], c->grid[2]}, .n_sms = 8};
  if (c->block) memcpy(opt.block, (uint32_t[3]){c->block, 1, 1}, sizeof opt.block);
  assert_int_equal(hd_rewrite(m, 0, &p, &opt, &recipe, NULL), HD_OK);
  assert_int_equal(hd_ptx_print(m, out), HD_OK);
  *remark = m->funcs[0].remark;
}

static void the_remark_says_who_claims_what_and_why(void **state) {
  for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
    hd_arena arena;
    hd_buf out = {0};
    const char *remark = NULL;
    hd_arena_init(&arena);
    rewrite(&CASES[i], (hd_rewrite_options){0}, &arena, &out, &remark);
    assert_non_null(remark);
    if (strcmp(remark, CASES[i].remark) != 0) fail_msg("case %zu, %s:\n%s", i, CASES[i].plan, remark);
    hd_buf_free(&out);
    hd_arena_free(&arena);
  }
}

static void the_remark_names_what_the_options_change(void **state) {
  const hd_numbers present = {{0xf0f}};
  const claim_case c = {plain, "bind=agents", {0}, 64, NULL};
  hd_arena arena;
  hd_buf out = {0};
  const char *remark = NULL;
  hd_arena_init(&arena);
  rewrite(&c, (hd_rewrite_options){.sms = &present, .no_hoisting = true}, &arena, &out, &remark);
  assert_string_equal(
      remark, "heddle: bind=agents, claims by warp (the warps of a CTA share nothing)\n"
              "heddle: tasks one at a time, the next one while the present one is done; 8 queues by rank "
              "among the SMs that are there; any grid; the loop has a second entry, against hoisting");
  hd_buf_free(&out);
  hd_arena_free(&arena);
}

/* Printed either way, the remark stands in comments of its own lines, and goes when it is parsed. */
static void a_remark_is_printed_as_comments_and_not_read_back(void **state) {
  hd_arena arena;
  hd_buf out = {0}, in_place = {0}, again = {0};
  const char *remark = NULL;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  rewrite(&CASES[2], (hd_rewrite_options){0}, &arena, &out, &remark);
  assert_non_null(strstr(out.data,
                         "{\n\t// heddle: bind=claim, claims by CTA (the kernel has barriers), handed "
                         "over in a ticket of 4 bytes\n\t// heddle: tasks one at a time"));
  assert_int_equal(hd_ptx_parse(out.data, out.len, "out", &arena, &m, NULL), HD_OK);
  assert_null(m->funcs[0].remark);
  m->funcs[0].remark = remark;
  assert_int_equal(hd_ptx_print(m, &again), HD_OK);
  assert_string_equal(out.data, again.data);
  assert_int_equal(hd_ptx_print_in_place(m, &in_place), HD_OK);
  assert_int_equal(hd_ptx_parse(in_place.data, in_place.len, "in place", &arena, &m, NULL), HD_OK);
  m->funcs[0].remark = remark;
  hd_buf_clear(&again);
  assert_int_equal(hd_ptx_print(m, &again), HD_OK);
  assert_string_equal(out.data, again.data);
  hd_buf_free(&out);
  hd_buf_free(&in_place);
  hd_buf_free(&again);
  hd_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_remark_says_who_claims_what_and_why),
      cmocka_unit_test(the_remark_names_what_the_options_change),
      cmocka_unit_test(a_remark_is_printed_as_comments_and_not_read_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
