/* The instructions that hd_rewrite_added counts for a task, against those that the emulator runs. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/rewrite.h"

static const char kernel[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
    "mov.u32 %r1, %ctaid.x;\nld.param.u64 %rd1, [out];\nmul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\natom.global.add.u32 %r2, [%rd3], 1;\nret;\n}\n";

enum { CAPACITY = 4096 };

/* The kernel before and after, parsed into arenas that are the caller's to free. */
typedef struct rewritten {
  hd_arena before, after;
  hd_ptx_module *m;
  hd_recipe recipe;
  hd_added added;
} rewritten;

static void rewrite(const char *plan_text, const hd_rewrite_options *o, rewritten *out) {
  hd_diag d = {0};
  hd_ptx_module *before;
  hd_plan p;
  hd_arena_init(&out->before);
  hd_arena_init(&out->after);
  assert_int_equal(hd_plan_parse(plan_text, &p, &d), HD_OK);
  assert_int_equal(hd_ptx_parse(kernel, strlen(kernel), "k", &out->before, &before, &d), HD_OK);
  assert_int_equal(hd_ptx_parse(kernel, strlen(kernel), "k", &out->after, &out->m, &d), HD_OK);
  if (hd_rewrite(out->m, 0, &p, o, &out->recipe, &d) != HD_OK) fail_msg("%s: %s", plan_text, d.message);
  if (hd_rewrite_added(before, out->m, 0, &out->added, &d) != HD_OK) fail_msg("%s: %s", plan_text, d.message);
}

static void rewritten_free(rewritten *r) {
  hd_arena_free(&r->before);
  hd_arena_free(&r->after);
}

/* The warp instructions of V tasks of 32 threads, which one worker does where the plan lets it. */
static uint64_t run(const char *plan_text, uint32_t V, hd_added *added) {
  const hd_rewrite_options o = {.grid = {.known = true, .g = {V, 1, 1}, .n_sms = 1}, .block = {32, 1, 1}};
  rewritten r;
  rewrite(plan_text, &o, &r);
  *added = r.added;
  hd_diag d = {0};
  hd_emu *e;
  hd_emu_program *program;
  uint64_t out, state = 0;
  hd_emu_options eo = {.threads = 1, .memory = 1 << 24};
  assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
  assert_int_equal(hd_emu_load(e, r.m, &program, &d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, CAPACITY * 4, &out, &d), HD_OK);
  memset(hd_emu_ptr(e, out, CAPACITY * 4), 0, CAPACITY * 4);
  if (r.recipe.state_bytes) {
    assert_int_equal(hd_emu_alloc(e, r.recipe.state_bytes, &state, &d), HD_OK);
    memset(hd_emu_ptr(e, state, r.recipe.state_bytes), 0, r.recipe.state_bytes);
  }
  const uint32_t g[3] = {V, 1, 1};
  char *params = calloc(1, r.recipe.params_bytes + 8);
  memcpy(params, &out, sizeof out);
  hd_recipe_params(&r.recipe, g, state, 0, params);
  hd_emu_launch_params l = {.kernel = "k",
                            .block = {32, 1, 1},
                            .args = params,
                            .args_bytes = r.recipe.params_bytes ? r.recipe.params_bytes : 8};
  hd_recipe_grid(&r.recipe, g, 1, 1, l.grid);
  hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN, .resident = 1};
  hd_emu_stats stats = {0};
  if (hd_emu_launch(program, &l, &how, NULL, &stats, &d) != HD_OK) fail_msg("%s: %s", plan_text, d.message);
  free(params);
  hd_emu_unload(program);
  hd_emu_destroy(e);
  rewritten_free(&r);
  return stats.warp_instructions;
}

static void one_more_task_takes_as_many_instructions_as_are_counted(void **state) {
  static const char *const plans[] = {"bind=agents", "order=reverse,bind=agents",
                                      "bind=agents,take=segments:64", "bind=agents,take=strides",
                                      "bind=claim"};
  hd_added none, added;
  const uint64_t own = (run("baseline", 2000, &none) - run("baseline", 1000, &none)) / 1000;
  assert_int_equal(none.instructions, 0);
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    const uint64_t more = run(plans[i], 2000, &added) - run(plans[i], 1000, &added);
    const double each = (double)more / 1000 - (double)own;
    /* A segment of 64 tasks is claimed once. */
    if (each < added.instructions - 1.5 || each > added.instructions + 1.5)
      fail_msg("%s: %.2f instructions a task, %u are counted", plans[i], each, added.instructions);
  }
}

static void no_chain_is_longer_than_the_way(void **state) {
  static const char *const plans[] = {"bind=agents", "bind=agents:2", "bind=claim", "order=reverse",
                                      "order=hilbert,bind=agents,take=segments"};
  hd_added added;
  for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
    run(plans[i], 100, &added);
    assert_true(added.instructions > 0 && added.depth > 0 && added.depth <= added.instructions);
  }
}

/* 256 threads a CTA; the kernel's original uses `registers`. */
static uint32_t limit_of(const char *plan_text, uint32_t registers) {
  const hd_rewrite_options o = {
      .grid = {.known = true, .g = {8, 1, 1}, .n_sms = 4}, .block = {256, 1, 1}, .registers = registers};
  rewritten r;
  rewrite(plan_text, &o, &r);
  rewritten_free(&r);
  return r.added.registers;
}

static void a_limit_on_registers_is_told(void **state) {
  static const struct {
    const char *plan;
    uint32_t registers, limit;
  } cases[] = {{"order=reverse", 32, 0},  {"bind=claim", 32, 0},     {"bind=agents", 0, 0},
               {"bind=agents", 32, 32},   {"bind=agents:4", 32, 64}, {"bind=agents:2", 32, 128},
               {"bind=agents:2", 60, 128}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const uint32_t limit = limit_of(cases[i].plan, cases[i].registers);
    if (limit != cases[i].limit) fail_msg("%s: %u, not %u", cases[i].plan, limit, cases[i].limit);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("one more task takes as many instructions as are counted",
                one_more_task_takes_as_many_instructions_as_are_counted),
      BEHAVIOUR("no chain is longer than the way", no_chain_is_longer_than_the_way),
      BEHAVIOUR("a limit on registers is told", a_limit_on_registers_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
