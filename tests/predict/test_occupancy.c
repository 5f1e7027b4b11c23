/* How much of a GPU a launch keeps busy. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/predict.h"

static const hd_gpu gpu = {.name = "g", .n_sms = 132, .max_warps = 64};

static void launches_too_small_for_a_gpu_are_told(void **state) {
  static const struct {
    uint32_t grid[3], block[3], resident, busy_sms, warps_at_once;
    bool few;
  } cases[] = {
      {{4, 1, 1}, {128, 1, 1}, 8, 4, 4, true}, /* most SMs idle */
      {{131, 1, 1}, {1024, 1, 1}, 2, 131, 32, true},
      {{132, 1, 1}, {64, 1, 1}, 8, 132, 2, true}, /* an eighth of the warps, or fewer */
      {{132, 1, 1}, {256, 1, 1}, 8, 132, 8, true},
      {{132, 1, 1}, {257, 1, 1}, 8, 132, 9, false},
      {{66, 4, 1}, {256, 1, 1}, 8, 132, 16, false}, /* two CTAs each */
      {{1024, 8, 1}, {16, 16, 1}, 8, 132, 64, false},
      {{1024, 8, 1}, {32, 1, 1}, 1, 132, 1, true}, /* shared memory leaves room for one */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_wl_launch launches[2] = {{.grid = {1, 1, 1}, .block = {32, 1, 1}}, {.grid = {1, 1, 1}}};
    memcpy(launches[1].grid, cases[i].grid, sizeof cases[i].grid);
    memcpy(launches[1].block, cases[i].block, sizeof cases[i].block);
    const hd_workload w = {.launches = launches, .n_launches = 2};
    hd_filling f = hd_find_filling(&w, cases[i].resident, &gpu);
    if (f.busy_sms != cases[i].busy_sms || f.warps_at_once != cases[i].warps_at_once || f.few != cases[i].few)
      fail_msg("case %zu: %u SMs, %u warps, %d", i, f.busy_sms, f.warps_at_once, f.few);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("launches too small for a GPU are told", launches_too_small_for_a_gpu_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
