/* How much of a GPU a launch keeps busy, and what is said to bound its time. */
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
    char why[512];
    const hd_counters c = {.cycles_l1 = 100, .dram_read_bytes = 100, .compulsory_bytes = 100, .resident = 8};
    hd_explain_nothing_helps(&w, &c, &gpu, why, sizeof why);
    const hd_filling eight = hd_find_filling(&w, 8, &gpu);
    assert_true((strstr(why, "latency bounds") != NULL) == eight.few);
    assert_true((strstr(why, "L1 bandwidth bounds") != NULL) != eight.few);
  }
}

static void less_traffic_than_compulsory_is_not_called_within_a_percent(void **state) {
  hd_wl_launch l = {.grid = {4096, 1, 1}, .block = {256, 1, 1}};
  const hd_workload w = {.launches = &l, .n_launches = 1};
  static const struct {
    uint64_t moved;
    const char *says;
  } cases[] = {{70, "0.70x compulsory"},
               {100, "within 1% of compulsory"},
               {104, "within 4% of compulsory"},
               {150, "1.50x compulsory"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const hd_counters c = {
        .cycles_l1 = 1, .dram_read_bytes = cases[i].moved, .compulsory_bytes = 100, .resident = 8};
    char why[512];
    hd_explain_nothing_helps(&w, &c, &gpu, why, sizeof why);
    if (!strstr(why, cases[i].says)) fail_msg("%s", why);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("launches too small for a GPU are told, and said to wait for latency",
                launches_too_small_for_a_gpu_are_told),
      BEHAVIOUR("less traffic than compulsory is not called within a percent of it",
                less_traffic_than_compulsory_is_not_called_within_a_percent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
