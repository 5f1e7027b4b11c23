/* How many warps find their data again in L1 when they load together. */
#include "model/synth.h"

#include "check.h"
#include "heddle/reuse.h"

enum { TASKS = 32, L1 = 128 };

/* Each warp goes over `own` lines of its own `turns` times, and over `shared` lines that all warps of
 * `together` tasks in a row have in common. */
typedef struct shape {
  uint32_t own, shared, turns;
  uint64_t together;
} shape;

static void walker(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  const shape *s = ctx;
  for (uint32_t turn = 0; turn < s->turns; turn++) {
    for (uint32_t i = 0; i < s->own; i++)
      synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, ((2 * task + warp) * 1024 + i) * 128, 4);
    for (uint32_t i = 0; i < s->shared; i++)
      synth_put(h, worker, task, warp, 1, HD_ACCESS_LOAD, (1 << 24) + (task / s->together * 1024 + i) * 128,
                4);
    synth_put(h, worker, task, warp, 2, HD_ACCESS_STORE, 1 << 28, 4);
  }
}

/* Of tasks `step` apart. */
static uint32_t group_of(shape s, uint64_t step) {
  hd_trace *t = synth_trace(TASKS, 64, walker, &s);
  uint64_t tasks[8];
  uint32_t group = 99;
  for (uint64_t i = 0; i < 8; i++) tasks[i] = i * step;
  assert_int_equal(hd_reuse_warp_group(t, tasks, 8, L1, &group, NULL), HD_OK);
  hd_trace_destroy(t);
  return group;
}

static void a_group_is_as_many_warps_as_l1_has_room_for(void **state) {
  for (uint32_t own = 9; own <= L1; own += 17)
    assert_int_equal(group_of((shape){own, 0, 20, 1}, 1), L1 / own);
}

static void warps_whose_lines_fit_together_need_no_group(void **state) {
  assert_int_equal(group_of((shape){8, 0, 20, 1}, 1), 0);
  assert_int_equal(group_of((shape){1, 0, 20, 1}, 1), 0);
}

static void loads_that_are_not_repeated_need_no_group(void **state) {
  assert_int_equal(group_of((shape){40, 0, 1, 1}, 1), 0);
}

static void loads_that_no_l1_could_hold_need_no_group(void **state) {
  assert_int_equal(group_of((shape){L1 + 40, 0, 20, 1}, 1), 0);
}

static void lines_that_warps_share_count_once(void **state) {
  /* 8 lines of each warp's own, 64 of both warps of a task. */
  assert_int_equal(group_of((shape){8, 64, 20, 1}, 1), 2);
  /* Of four tasks in a row: 64 + 8 * 8. */
  assert_int_equal(group_of((shape){8, 64, 20, 4}, 1), 8);
}

static void a_mapping_that_puts_sharers_on_one_sm_makes_groups_larger(void **state) {
  const shape s = {8, 64, 20, 4};
  assert_int_equal(group_of(s, 4), 2);
  assert_true(group_of(s, 1) > group_of(s, 4));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a group is as many warps as L1 has room for", a_group_is_as_many_warps_as_l1_has_room_for),
      BEHAVIOUR("warps whose lines fit together need no group", warps_whose_lines_fit_together_need_no_group),
      BEHAVIOUR("loads that are not repeated need no group", loads_that_are_not_repeated_need_no_group),
      BEHAVIOUR("loads that no L1 could hold need no group", loads_that_no_l1_could_hold_need_no_group),
      BEHAVIOUR("lines that warps share count once", lines_that_warps_share_count_once),
      BEHAVIOUR("a mapping that puts sharers on one SM makes groups larger",
                a_mapping_that_puts_sharers_on_one_sm_makes_groups_larger),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
