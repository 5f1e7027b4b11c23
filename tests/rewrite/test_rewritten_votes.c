/* bind=agents:auto: how many agents are active on an SM, what its kernel needs, and when there is none. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/rewrite.h"

#define KERNEL(target, body)                                                                                 \
  ".version 8.0\n.target " target "\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"              \
  ".reg .b32 %r<9>;\n.reg .b64 %rd<9>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, %ctaid.x;\n"                 \
  "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\nred.global.add.u32 [%rd2], 1;\n" body "ret;\n}\n"

static hd_status rewrite(const char *text, const char *plan, const hd_rewrite_options *o, hd_arena *arena,
                         hd_ptx_module **m, hd_recipe *recipe, hd_diag *d) {
  hd_plan p;
  assert_int_equal(hd_plan_parse(plan, &p, d), HD_OK);
  hd_status st = hd_ptx_parse(text, strlen(text), "k", arena, m, d);
  if (st == HD_OK) st = hd_rewrite(*m, 0, &p, o, recipe, d);
  return st;
}

/* ---- Active agents ---------------------------------------------------------------------- */

enum { TASKS = 4000, MOST = 64 };

typedef struct machine {
  const char *text;
  uint32_t block, sms, resident, workers;
  const hd_numbers *present; /* NULL: numbers without holes */
} machine;

typedef struct worker {
  hd_emu_cta *cta;
  uint32_t done; /* one bit a warp */
} worker;

/* Its warps take so many turns; true: it is not done then. */
static bool works_on(worker *w, uint32_t turns) {
  const uint32_t warps = hd_emu_cta_warps(w->cta), all = (1u << warps) - 1;
  for (uint32_t i = 0; i < turns && w->done != all; i++)
    for (uint32_t k = 0; k < warps; k++) {
      if (w->done >> k & 1) continue;
      const hd_step step = hd_emu_warp_step(w->cta, k, 10);
      assert_int_not_equal(step, HD_STEP_FAULT);
      if (step == HD_STEP_DONE) w->done |= 1u << k;
    }
  return w->done != all;
}

/* Workers come to the SMs one after the other and work for a while: those that are still there are active. */
static void count_active(const machine *c, uint32_t *active) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_recipe recipe;
  hd_emu *e;
  hd_emu_program *program;
  hd_emu_grid *g;
  worker workers[MOST];
  const hd_rewrite_options o = {.grid = {.known = true, .g = {TASKS, 1, 1}, .n_sms = c->sms},
                                .block = {c->block, 1, 1},
                                .sms = c->present};
  if (rewrite(c->text, "bind=agents:auto", &o, &arena, &m, &recipe, &d) != HD_OK) fail_msg("%s", d.message);
  const hd_emu_options eo = {.threads = 1, .memory = 1 << 24, .n_sms = c->sms};
  uint64_t out, state;
  assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
  assert_int_equal(hd_emu_load(e, m, &program, &d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, 4 * TASKS, &out, &d), HD_OK);
  assert_int_equal(hd_emu_alloc(e, recipe.state_bytes, &state, &d), HD_OK);
  memset(hd_emu_ptr(e, out, 4 * TASKS), 0, 4 * TASKS);
  memset(hd_emu_ptr(e, state, recipe.state_bytes), 0, recipe.state_bytes);
  char *params = calloc(1, recipe.params_bytes);
  const uint32_t tasks[3] = {TASKS, 1, 1};
  memcpy(params, &out, sizeof out);
  hd_recipe_params(&recipe, tasks, state, 0, params);
  hd_emu_launch_params l = {.kernel = "k",
                            .grid = {c->workers, 1, 1},
                            .block = {c->block, 1, 1},
                            .args = params,
                            .args_bytes = recipe.params_bytes};
  assert_int_equal(hd_emu_grid_begin(program, &l, NULL, &g, &d), HD_OK);
  assert_true(c->workers <= MOST);
  memset(active, 0, c->sms * sizeof *active);
  for (uint32_t i = 0; i < c->workers; i++) {
    const uint32_t cluster = i % c->sms;
    uint32_t sm = cluster;
    while (c->present && hd_numbers_below(c->present, sm + 1) <= cluster) sm++;
    workers[i] = (worker){0};
    assert_int_equal(hd_emu_cta_start(g, i, sm, 0, &workers[i].cta, &d), HD_OK);
    active[cluster] += works_on(&workers[i], 100);
  }
  for (uint32_t i = 0; i < c->workers; i++) {
    assert_false(works_on(&workers[i], UINT32_MAX));
    hd_emu_cta_end(workers[i].cta);
  }
  assert_int_equal(hd_emu_grid_end(g, &d), HD_OK);
  const uint32_t *times = hd_emu_ptr(e, out, 4 * TASKS);
  for (uint32_t i = 0; i < TASKS; i++) assert_int_equal(times[i], c->block);
  free(params);
  hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

static void each_sm_has_another_number_of_agents(void **state) {
  static const hd_numbers present = {{1 << 2 | 1 << 4 | 1 << 9 | 1 << 11, 0, 1 << (70 - 64)}};
  static const char warps[] = KERNEL("sm_80", ""), whole[] = KERNEL("sm_80", "bar.sync 0;\n");
  static const machine cases[] = {
      {whole, 64, 5, 8, 40, NULL},     {warps, 32, 5, 8, 40, NULL}, {warps, 64, 5, 8, 40, NULL},
      {whole, 64, 3, 2, 6, NULL},      {whole, 32, 1, 4, 4, NULL},  {whole, 64, 5, 4, 20, &present},
      {warps, 64, 5, 3, 15, &present}, {whole, 64, 4, 5, 18, NULL}, /* fewer workers than places */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t active[MOST];
    count_active(&cases[i], active);
    for (uint32_t k = 0; k < cases[i].sms; k++) {
      const uint32_t want = hd_agents_voted(cases[i].resident, k);
      if (active[k] != want) fail_msg("case %zu, SM %u: %u agents are active, not %u", i, k, active[k], want);
    }
  }
}

/* ---- The recipe, and refusals --------------------------------------------------------------- */

static void the_ballot_lies_behind_the_queues(void **state) {
  static const char text[] = KERNEL("sm_80", "");
  const hd_rewrite_options o = {.grid = {.known = true, .g = {640, 1, 1}, .n_sms = 8}, .block = {64, 1, 1}};
  hd_arena arena;
  hd_ptx_module *m;
  hd_recipe plain, voted;
  hd_diag d = {0};
  hd_buf said = {0};
  hd_arena_init(&arena);
  assert_int_equal(rewrite(text, "bind=agents:1", &o, &arena, &m, &plain, &d), HD_OK);
  assert_false(plain.ballot);
  assert_int_equal(rewrite(text, "bind=agents:auto", &o, &arena, &m, &voted, &d), HD_OK);
  assert_true(voted.ballot && voted.agents);
  assert_int_equal(voted.ballot_offset, plain.state_bytes);
  assert_int_equal(voted.state_bytes, plain.state_bytes + 4 * HD_BALLOT_SMS);
  hd_recipe_print("k", &voted, &said);
  assert_non_null(strstr(said.data, "But for those from byte"));
  hd_buf_free(&said);
  hd_arena_free(&arena);
}

static void a_vote_is_refused_with_its_reason(void **state) {
  static const struct {
    const char *what, *text, *plan;
    uint32_t sms;
    bool asked;
    hd_status status;
    const char *why; /* NULL: it is made */
  } cases[] = {
      {"alone", KERNEL("sm_80", ""), "bind=agents:auto", 8, true, HD_OK, NULL},
      {"nobody asks how to launch it", KERNEL("sm_80", ""), "bind=agents:auto", 8, false, HD_ERR_USAGE,
       "bind=agents:auto is decided by measuring; name a number"},
      {"as many SMs as are counted", KERNEL("sm_80", ""), "bind=agents:auto", 1024, true, HD_OK, NULL},
      {"more", KERNEL("sm_80", ""), "bind=agents:auto", 1025, true, HD_ERR_UNSUPPORTED,
       "bind=agents:auto counts the tasks of 1024 SMs at most, not of 1025"},
      {"that is no matter for a number", KERNEL("sm_80", ""), "bind=agents:2", 1025, true, HD_OK, NULL},
      {"the launch before may still run", KERNEL("sm_90", "griddepcontrol.wait;\n"), "bind=agents:auto", 8,
       true, HD_ERR_REFUSED, "both would use this plan's state"},
      {"agents are refused", KERNEL("sm_80", "mov.u32 %r2, %smid;\n"), "bind=agents:auto", 8, true,
       HD_ERR_REFUSED, "%smid"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const hd_rewrite_options o = {.grid = {.known = true, .g = {640, 1, 1}, .n_sms = cases[i].sms},
                                  .block = {64, 1, 1}};
    hd_arena arena;
    hd_ptx_module *m;
    hd_recipe recipe;
    hd_diag d = {0};
    hd_arena_init(&arena);
    hd_status st = rewrite(cases[i].text, cases[i].plan, &o, &arena, &m, cases[i].asked ? &recipe : NULL, &d);
    if (st != cases[i].status || (cases[i].why && !strstr(d.message, cases[i].why)))
      fail_msg("%s: %s", cases[i].what, d.message);
    hd_arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("each SM has another number of active agents", each_sm_has_another_number_of_agents),
      BEHAVIOUR("the ballot lies behind the queues", the_ballot_lies_behind_the_queues),
      BEHAVIOUR("a vote is refused with its reason", a_vote_is_refused_with_its_reason),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
