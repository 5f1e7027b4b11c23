/* L2 and DRAM as a probe tells them: the keys that follow from figures set by hand, and how they are judged.
 */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/probe.h"

enum { MOST = 64 };
static hd_probe_figure figures[MOST];

static void set(hd_probe_result *r, const char *name, double value) {
  for (uint32_t i = 0; i < r->n_figures; i++)
    if (strcmp(figures[i].name, name) == 0) {
      figures[i].value = value;
      return;
    }
  assert_true(r->n_figures < MOST);
  hd_probe_figure *f = &figures[r->n_figures++];
  *f = (hd_probe_figure){.unit = "", .value = value};
  strncpy(f->name, name, sizeof f->name - 1);
}

static void leave_out(hd_probe_result *r, const char *part) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < r->n_figures; i++)
    if (!strstr(figures[i].name, part)) figures[n++] = figures[i];
  assert_true(n < r->n_figures);
  r->n_figures = n;
}

/* At 1000 MHz, so that a request per us is a thousandth of one per cycle. */
static hd_probe_result probed(void) {
  hd_probe_result r = {.n_ctas = 512,
                       .clock_mhz = 1000,
                       .l1_cycles = 32,
                       .l2_cycles = 280,
                       .dram_cycles = 690,
                       .l1_bytes = {221184},
                       .l1_sector = 32,
                       .l2_sector = 64,
                       .line = 128,
                       .l1_bandwidth = 10e12,
                       .l2_bandwidth = 2e12,
                       .dram_read_bandwidth = 1e12,
                       .copy_bandwidth = 0.8e12, /* so that it writes 2/3 TB/s */
                       .figures = figures};
  r.device = (hd_device_info){.kind = HD_DEVICE_CUDA,
                              .title = "A GPU",
                              .arch = 90,
                              .n_sms = 16,
                              .max_ctas = 32,
                              .max_threads = 2048,
                              .registers = 65536,
                              .shared_bytes = 233472,
                              .l2_bytes = 5 << 20};
  set(&r, "L2", 2);
  set(&r, "L2, a line from the other part, later by", 174.6);
  set(&r, "SMs that share a rate", 4);
  set(&r, "L2 to all SMs, each its own", 2100);
  set(&r, "L2 to all SMs, 2 side by side the same", 3400);
  set(&r, "L2 to all SMs, 4 side by side the same", 6000);
  set(&r, "L2 to all SMs, 8 side by side the same", 13500); /* 8 times 0.8, but 4 do not */
  set(&r, "L2 to all SMs, 16 side by side the same", 5900);
  set(&r, "L2 add one sector a line, 64 warps, 4 at once", 2000); /* 64 sectors a cycle */
  set(&r, "L2 add one word a warp, 64 warps, 4 at once", 1000);   /* a cycle, of which repeats take 63/64 */
  set(&r, "L2, a look at 32 lines", 573.4);
  set(&r, "L2 add one word, by one lane", 690);
  set(&r, "one SM, 4 loads of 32 lines past L1", 128);
  set(&r, "one SM, 4 stores to 32 lines", 256);
  set(&r, "one SM, 4 such loads and 4 such stores", 416);
  set(&r, "an eighth of L2 again, ld.cg", 300);
  set(&r, "an eighth of L2 again, ld.L2::evict_first", 650);
  set(&r, "an eighth of L2 again, ld.L1::no_allocate", 640);
  set(&r, "an eighth of L2 again, ld.L1::evict_first", 600);
  set(&r, "reading far more than L2, after reads", 20);
  set(&r, "reading far more than L2, after writes of a quarter of L2", 22);
  set(&r, "reading far more than L2, after a flush", 23);
  set(&r, "DRAM latency, 1%", 542);
  set(&r, "DRAM latency, 99%", 1147);
  return r;
}

static hd_gpu load(const hd_probe_result *r) {
  char path[] = "/tmp/heddle-probe-XXXXXX.toml";
  int fd = mkstemps(path, 5);
  assert_true(fd >= 0);
  close(fd);
  hd_buf b = {0};
  hd_diag d = {0};
  hd_gpu g;
  hd_probe_toml(r, &b);
  assert_false(b.failed);
  assert_int_equal(hd_file_write(path, b.data, b.len, &d), HD_OK);
  hd_status st = hd_gpu_load(path, NULL, &g, &d);
  if (st != HD_OK) fail_msg("%s\n%s", d.message, b.data);
  remove(path);
  hd_buf_free(&b);
  return g;
}

static void figures_of_memory_become_a_files_keys(void **state) {
  hd_probe_result r = probed();
  const hd_gpu g = load(&r);
  assert_int_equal(g.gpcs, 4);
  assert_int_equal(g.l2_parts, 2);
  assert_int_equal(g.l2_far_latency, 175);
  assert_true(g.l2.bytes_per_cycle == 2100);
  assert_int_equal(g.l2_sms_together, 2);
  assert_true(g.l2_sms_bytes_per_cycle == 13500);
  assert_true(g.l2_atomics_per_cycle == 64);
  assert_float_equal(g.l2_atomic_repeats_per_cycle, 31 / (1 - 1.0 / 64), 0.01);
  assert_int_equal(g.l2_look_cycles, 573);
  assert_true(g.l2_line_atomics_per_cycle == 0.69);
  assert_true(g.l2_sm_loads_per_cycle == 0.8); /* 128 lines in 160 cycles */
  assert_true(g.l2_first_with_l1);
  assert_int_equal(g.l2_dirty_bytes, (5 << 20) / 4 * 3 / 2);
  assert_float_equal(g.dram_write_bytes_per_cycle, 666.7, 0.05);
  assert_int_equal(g.dram_latency_least, 542);
  assert_int_equal(g.dram_latency_most, 1147);
}

static void an_l2_of_one_part_has_no_far_lines(void **state) {
  hd_probe_result r = probed();
  set(&r, "L2", 1);
  leave_out(&r, "later by");
  leave_out(&r, "that share a rate");
  const hd_gpu g = load(&r);
  assert_int_equal(g.l2_parts, 1);
  assert_int_equal(g.l2_far_latency, 0);
  assert_int_equal(g.gpcs, 0);
}

/* The model deals SMs to GPCs, and GPCs to parts: it needs as many. */
static void parts_have_gpcs(void **state) {
  hd_probe_result r = probed();
  leave_out(&r, "that share a rate"); /* they did not show */
  assert_int_equal(load(&r).gpcs, 2);
  set(&r, "SMs that share a rate", 1);
  assert_int_equal(load(&r).gpcs, 2);
  set(&r, "SMs that share a rate", 66); /* hardly */
  assert_int_equal(load(&r).gpcs, 2);
}

/* Sets are whole in each part. */
static void an_odd_l2_is_split(void **state) {
  hd_probe_result r = probed();
  r.device.l2_bytes = (5 << 20) + 2048;
  assert_int_equal(load(&r).l2.bytes, (5 << 20) + 4096);
  set(&r, "L2", 1);
  assert_int_equal(load(&r).l2.bytes, (5 << 20) + 2048);
}

static void sms_that_share_nothing_are_not_together(void **state) {
  hd_probe_result r = probed();
  set(&r, "L2 to all SMs, 2 side by side the same", 3350); /* less than 1.6 times as much */
  hd_gpu g = load(&r);
  assert_int_equal(g.l2_sms_together, 1);
  assert_true(g.l2_sms_bytes_per_cycle == 0);
  set(&r, "L2 to all SMs, 2 side by side the same", 3400);
  set(&r, "L2 to all SMs, 4 side by side the same", 6750);
  assert_int_equal(load(&r).l2_sms_together, 8);
  set(&r, "L2 to all SMs, 16 side by side the same", 30000);
  assert_int_equal(load(&r).l2_sms_together, 16);
  leave_out(&r, "8 side by side");
  assert_int_equal(load(&r).l2_sms_together, 4);
}

static void loads_may_have_a_way_of_their_own(void **state) {
  hd_probe_result r = probed();
  set(&r, "one SM, 4 such loads and 4 such stores", 260);
  assert_true(load(&r).l2_sm_loads_per_cycle == 0);
}

static void a_gpu_need_not_heed_priorities(void **state) {
  hd_probe_result r = probed();
  set(&r, "an eighth of L2 again, ld.L1::evict_first", 310); /* one of the two */
  assert_false(load(&r).l2_first_with_l1);
  set(&r, "an eighth of L2 again, ld.L1::evict_first", 700);
  set(&r, "an eighth of L2 again, ld.L2::evict_first", 310); /* neither is told from chance */
  assert_false(load(&r).l2_first_with_l1);
}

static void what_makes_no_sense_is_left_out(void **state) {
  hd_probe_result r = probed();
  set(&r, "reading far more than L2, after a flush", 19); /* quicker */
  assert_int_equal(load(&r).l2_dirty_bytes, 0);
  set(&r, "reading far more than L2, after a flush", 90); /* more than L2 holds */
  assert_int_equal(load(&r).l2_dirty_bytes, 0);
  set(&r, "reading far more than L2, after a flush", 23);
  set(&r, "reading far more than L2, after writes of a quarter of L2", 20.1); /* which cost nothing */
  assert_int_equal(load(&r).l2_dirty_bytes, 0);
  set(&r, "DRAM latency, 99%", 500);
  assert_int_equal(load(&r).dram_latency_least, 0);
  set(&r, "L2 add one word a warp, 64 warps, 4 at once", 64000); /* repeats cost nothing */
  assert_true(load(&r).l2_atomic_repeats_per_cycle == 0);
  r.copy_bandwidth = 3e12; /* more than twice what is read */
  assert_true(load(&r).dram_write_bytes_per_cycle == 0);
  r.copy_bandwidth = r.dram_read_bandwidth = 0;
  assert_true(load(&r).dram_write_bytes_per_cycle == 0);
}

/* As after a GPU refused a launch. */
static void every_figure_may_be_missing(void **state) {
  const uint32_t n = probed().n_figures;
  for (uint32_t k = 0; k <= n; k++) {
    hd_probe_result r = probed();
    if (k == n)
      r.n_figures = 0;
    else
      figures[k] = figures[--r.n_figures];
    const hd_gpu g = load(&r);
    assert_int_equal(g.n_sms, 16);
    if (k < n) continue;
    assert_true(g.l2.bytes_per_cycle == 2000); /* the older measurement's */
    assert_int_equal(g.l2_parts + g.gpcs + g.l2_sms_together + g.l2_look_cycles, 0);
  }
}

/* Half of the lines come later, by 170 to 180 cycles; a load that has missed a TLB does not count for much.
 */
static void far_lines_are_told_from_chance(void **state) {
  enum { N = 256 };
  uint32_t first[N], again[N];
  double later;
  for (uint32_t i = 0; i < N; i++) {
    again[i] = 270 + i % 40;
    first[i] = again[i] + (i % 2 ? 170 + i % 11 : i % 7);
  }
  assert_int_equal(probe_far_lines(first, again, N, &later), N / 2);
  assert_true(later > 170 && later < 180);
  for (uint32_t i = 0; i < N; i++) first[i] = again[i] + i % 40;
  assert_int_equal(probe_far_lines(first, again, N, &later), 0);
  assert_true(later == 0);
  first[3] += 1000;
  assert_int_equal(probe_far_lines(first, again, N, &later), 1);
}

/* ---- Groups of SMs ---------------------------------------------------------------------- */

enum { SMS = 26, LAUNCHES = 400 };

/* SM i's time in a launch: as many as load of its group, which is i % n_groups, and a little chance. In
 * groups of two SMs, pairs of neighbours. Groups of 0: all of them, so that times by the number that load are
 * alike. */
static double *make_times(uint32_t n_groups, double chance) {
  double *times = calloc(LAUNCHES * SMS, sizeof *times);
  assert_non_null(times);
  for (uint32_t k = 0; k < LAUNCHES; k++) {
    uint32_t loading = 0, of_group[SMS] = {0};
    for (uint32_t i = 0; i < SMS; i++) {
      const bool loads = hd_random_at(k, i) % 4 != 0;
      times[k * SMS + i] = loads;
      loading += loads;
      if (n_groups) of_group[n_groups == SMS / 2 ? i / 2 : i % n_groups] += loads;
    }
    for (uint32_t i = 0; i < SMS; i++) {
      const uint32_t group = !n_groups ? 0 : n_groups == SMS / 2 ? i / 2 : i % n_groups;
      const double noise = 1 + chance * ((double)(hd_random_at(LAUNCHES + k, i) % 1000) / 500 - 1);
      times[k * SMS + i] *= noise * (n_groups ? (double)of_group[group] / loading : 1);
    }
  }
  return times;
}

static uint32_t find(uint32_t n_groups, double chance, uint32_t launches, uint32_t *group,
                     uint32_t sizes[2]) {
  double *times = make_times(n_groups, chance);
  const uint32_t found = probe_find_groups(times, launches, SMS, group, sizes);
  free(times);
  return found;
}

static void sms_that_slow_each_other_are_a_group(void **state) {
  uint32_t group[SMS], sizes[2];
  assert_int_equal(find(3, 0.2, LAUNCHES, group, sizes), 3);
  for (uint32_t i = 0; i < SMS; i++)
    for (uint32_t j = 0; j < SMS; j++) assert_int_equal(group[i] == group[j], i % 3 == j % 3);
  assert_int_equal(sizes[0], 8);
  assert_int_equal(sizes[1], 9);
  assert_int_equal(find(6, 0.2, LAUNCHES, group, sizes), 6);
  assert_int_equal(sizes[0], 4);
}

static void groups_that_are_not_clear_are_none(void **state) {
  uint32_t group[SMS], sizes[2];
  assert_int_equal(find(0, 0.2, LAUNCHES, group, sizes), 0);       /* all alike: one GPC */
  assert_int_equal(find(0, 0, LAUNCHES, group, sizes), 0);         /* to the last cycle */
  assert_int_equal(find(SMS / 2, 0.1, LAUNCHES, group, sizes), 0); /* TPCs */
  assert_int_equal(find(3, 0.2, 8, group, sizes), 0);              /* too few launches to tell */
  assert_int_equal(find(3, 0.2, 0, group, sizes), 0);
}

static void sms_of_a_gpc_are_next_to_each_other(void **state) {
  uint32_t numbers[] = {0, 1, 2, 3, 8, 9, 10, 20}, order[8];
  const uint32_t gpc[] = {5, 5, 2, 2, 5, 5, 2, 7}, wanted[] = {0, 1, 8, 9, 2, 3, 10, 20};
  const probe_sms sms = {numbers, 8, 21};
  probe_sort_sms(&sms, gpc, order);
  assert_memory_equal(order, wanted, sizeof order);
  probe_sort_sms(&sms, NULL, order);
  assert_memory_equal(order, numbers, sizeof order);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("figures of memory become a file's keys", figures_of_memory_become_a_files_keys),
      BEHAVIOUR("an L2 of one part has no far lines", an_l2_of_one_part_has_no_far_lines),
      BEHAVIOUR("parts have GPCs", parts_have_gpcs),
      BEHAVIOUR("an odd L2 is split into whole sets", an_odd_l2_is_split),
      BEHAVIOUR("SMs that share nothing are not together", sms_that_share_nothing_are_not_together),
      BEHAVIOUR("loads may have a way of their own", loads_may_have_a_way_of_their_own),
      BEHAVIOUR("a GPU need not heed priorities", a_gpu_need_not_heed_priorities),
      BEHAVIOUR("what makes no sense is left out", what_makes_no_sense_is_left_out),
      BEHAVIOUR("every figure may be missing", every_figure_may_be_missing),
      BEHAVIOUR("far lines are told from chance", far_lines_are_told_from_chance),
      BEHAVIOUR("SMs that slow each other are a group", sms_that_slow_each_other_are_a_group),
      BEHAVIOUR("SMs of a GPC are next to each other", sms_of_a_gpc_are_next_to_each_other),
      BEHAVIOUR("groups that are not clear are none", groups_that_are_not_clear_are_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
