/* How agents are launched: their number, their registers, their shared memory. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

static const char kernel[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
    ".reg .b32 %r<9>;\nmov.u32 %r1, %ctaid.x;\nret;\n}\n";

static void agents_fill_the_gpu_and_are_no_more_than_tasks(void **state) {
  hd_recipe r = {.agents = true};
  uint32_t g[3];
  hd_recipe_grid(&r, (const uint32_t[3]){100, 100, 2}, 132, 8, g);
  assert_int_equal(g[0], 132 * 8);
  assert_int_equal(g[1] * g[2], 1);
  hd_recipe_grid(&r, (const uint32_t[3]){7, 5, 1}, 132, 8, g);
  assert_int_equal(g[0], 35);
  hd_recipe_grid(&r, (const uint32_t[3]){100, 100, 2}, 132, 0, g);
  assert_true(g[0] >= 1);
  /* Too many to be claimed: the kernel leaves such a grid as it is. */
  hd_recipe_grid(&r, (const uint32_t[3]){INT32_MAX, 65535, 65535}, 132, 8, g);
  assert_int_equal(g[0], INT32_MAX);
  assert_int_equal(g[2], 65535);
  hd_recipe_grid(&r, (const uint32_t[3]){INT32_MAX, 1, 1}, 132, 8, g);
  assert_int_equal(g[0], 132 * 8);
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
    assert_int_equal(hd_ptx_parse(kernel, strlen(kernel), "test", &arena, &m, &d), HD_OK);
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
    const uint32_t *g = grids[i % 3].g;
    assert_int_equal(hd_ptx_parse(kernel, strlen(kernel), "test", &arena, &m, &d), HD_OK);
    assert_int_equal(hd_plan_parse(plans[i / 3], &p, &d), HD_OK);
    hd_rewrite_options o = {.grid = {.known = true, .g = {g[0], g[1], g[2]}, .n_sms = 132}};
    assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "k"), &p, &o, &recipe, &d),
                     grids[i % 3].status);
    hd_arena_free(&arena);
  }
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
       ".shared .align 1024 .b8 heddle_ticket[1024]"},
      {"sm_90", ".extern .shared .align 16 .b8 dynamic[];\n", "bind=agents",
       ".shared .align 1024 .b8 heddle_ticket[1024]"},
      {"sm_80", ".extern .shared .align 16 .b8 dynamic[];\n", "bind=claim",
       ".shared .align 128 .b8 heddle_ticket[128]"},
      {"sm_90", ".shared .align 16 .b8 dynamic[64];\n", "bind=claim",
       ".shared .align 4 .b8 heddle_ticket[4]"},
      {"sm_90", ".shared .align 16 .b8 dynamic[64];\n", "bind=agents",
       ".shared .align 4 .b8 heddle_ticket[8]"},
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
      BEHAVIOUR("agents fill the GPU and are no more than tasks",
                agents_fill_the_gpu_and_are_no_more_than_tasks),
      BEHAVIOUR("a plan that changes the launch needs somebody who asks how",
                a_plan_that_changes_the_launch_needs_somebody_who_asks_how),
      BEHAVIOUR("more tasks than can be claimed are left alone",
                more_tasks_than_can_be_claimed_are_left_alone),
      BEHAVIOUR("agents take few registers more than the original",
                agents_take_few_registers_more_than_the_original),
      BEHAVIOUR("the tightest limit keeps occupancy", the_tightest_limit_keeps_occupancy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
