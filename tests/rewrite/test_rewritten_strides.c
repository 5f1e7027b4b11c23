/* take=strides on the emulator: which worker does which tasks. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/emu.h"
#include "heddle/rewrite.h"

static uint64_t zeroed(hd_emu *e, uint64_t bytes) {
  uint64_t at;
  assert_int_equal(hd_emu_alloc(e, bytes, &at, NULL), HD_OK);
  memset(hd_emu_ptr(e, at, bytes), 0, bytes);
  return at;
}

/* Each task writes down when it came: out[1 + task], by the count in out[0]. */
static const char turn_of_task[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd1, [out];\n"
    "cvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\natom.global.add.u32 %r2, [%rd2], 1;\n"
    "mad.wide.u32 %rd3, %r1, 4, %rd2;\nst.global.u32 [%rd3+4], %r2;\nret;\n}\n";

enum { MOST_TASKS = 64 };

/* The tasks in their turn, if `workers` of one thread run one after the other, all on SM `sm`. */
static void tasks_in_turn(const char *plan, uint32_t V, uint32_t n_sms, uint32_t workers, uint32_t sm,
                          uint32_t tasks[MOST_TASKS]) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_diag d = {0};
  hd_ptx_module *m;
  hd_plan p;
  hd_recipe recipe;
  hd_emu *e;
  hd_emu_program *program;
  hd_emu_grid *g;
  assert_int_equal(hd_plan_parse(plan, &p, &d), HD_OK);
  assert_int_equal(hd_ptx_parse(turn_of_task, strlen(turn_of_task), "k", &arena, &m, &d), HD_OK);
  hd_rewrite_options o = {.grid = {.known = true, .g = {V, 1, 1}, .n_sms = n_sms}, .block = {1, 1, 1}};
  if (hd_rewrite(m, 0, &p, &o, &recipe, &d) != HD_OK) fail_msg("%s", d.message);
  hd_emu_options eo = {.threads = 1, .memory = 1 << 24, .n_sms = n_sms};
  assert_int_equal(hd_emu_create(&eo, &e, &d), HD_OK);
  assert_int_equal(hd_emu_load(e, m, &program, &d), HD_OK);
  uint64_t out = zeroed(e, (MOST_TASKS + 1) * 4), queues = zeroed(e, recipe.state_bytes);
  char *params = calloc(1, recipe.params_bytes);
  memcpy(params, &out, sizeof out);
  hd_recipe_params(&recipe, (uint32_t[3]){V, 1, 1}, queues, 0, params);
  hd_emu_launch_params l = {.kernel = "k",
                            .grid = {workers, 1, 1},
                            .block = {1, 1, 1},
                            .args = params,
                            .args_bytes = recipe.params_bytes};
  assert_int_equal(hd_emu_grid_begin(program, &l, NULL, &g, &d), HD_OK);
  for (uint32_t u = 0; u < workers; u++) {
    hd_emu_cta *cta;
    assert_int_equal(hd_emu_cta_start(g, u, sm, 0, &cta, &d), HD_OK);
    assert_int_equal(hd_emu_cta_run(cta, 1 << 20), HD_STEP_DONE);
    hd_emu_cta_end(cta);
  }
  assert_int_equal(hd_emu_grid_end(g, &d), HD_OK);
  const uint32_t *got = hd_emu_ptr(e, out, (MOST_TASKS + 1) * 4);
  assert_int_equal(got[0], V);
  for (uint32_t t = 0; t < V; t++) tasks[got[1 + t]] = t;
  free(params);
  hd_emu_unload(program);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

/* CLU listing 5: worker k of an SM does the tasks k, k + S, k + 2S, ... of its cluster. On an SM with more
 * workers than others they do the strides that others leave, the nearest cluster's first. */
static void a_worker_does_every_so_manieth_task_of_a_cluster(void **state) {
  enum { V = 22, SMS = 4 }; /* clusters of 6, 6, 5 and 5 */
  static const struct {
    const char *plan;
    uint32_t workers;
    uint32_t tasks[V];
  } cases[] = {
      {"bind=agents,take=strides", 8, {6,  8,  10, 7,  9,  11, 12, 14, 16, 13, 15,
                                       17, 19, 21, 18, 20, 0,  2,  4,  1,  3,  5}},
      {"bind=agents:1,take=strides", 8, {6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
                                         17, 18, 19, 20, 21, 0,  1,  2,  3,  4,  5}},
      /* Two strides a cluster, and three workers for whom there is none. */
      {"bind=agents,take=strides", 11, {6,  8,  10, 7,  9,  11, 12, 14, 16, 13, 15,
                                        17, 19, 21, 18, 20, 0,  2,  4,  1,  3,  5}},
      /* Too few for the clusters. */
      {"bind=agents,take=strides", 3, {0,  3,  6,  9,  12, 15, 18, 21, 1,  4,  7,
                                       10, 13, 16, 19, 2,  5,  8,  11, 14, 17, 20}},
      {"bind=agents,split=wave:2,take=strides", 4, {2, 3, 10, 11, 18, 19, 4, 5, 12, 13, 20,
                                                    6, 7, 14, 15, 21, 0,  1, 8, 9,  16, 17}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint32_t got[MOST_TASKS];
    tasks_in_turn(cases[i].plan, V, SMS, cases[i].workers, 1, got);
    for (uint32_t t = 0; t < V; t++)
      if (got[t] != cases[i].tasks[t])
        fail_msg("%s, %u workers: turn %u is of task %u, not %u", cases[i].plan, cases[i].workers, t, got[t],
                 cases[i].tasks[t]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a worker does every so manieth task of a cluster",
                a_worker_does_every_so_manieth_task_of_a_cluster),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
