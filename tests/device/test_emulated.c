/* emu and model:NAME through the interface. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/device.h"

/* Every thread reads its word and adds 1 to it. */
static const char step_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry step(.param .u64 p)\n{\n"
    "  .reg .b32 %r<6>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[512];\n"
    "  ld.param.u64 %rd1, [p];\n"
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.u32 %r4, %r1, %r2, %r3;\n  mul.wide.u32 %rd2, %r4, 4;\n"
    "  add.u64 %rd3, %rd1, %rd2;\n  ld.global.u32 %r5, [%rd3];\n"
    "  add.u32 %r5, %r5, 1;\n  st.shared.u32 [s], %r5;\n  st.global.u32 [%rd3], %r5;\n  ret;\n}\n";

enum { N = 4096 };

typedef struct job {
  hd_device_module *m;
  uint64_t p;
  unsigned runs;
} job;

static hd_status run(void *ctx, hd_diag *d) {
  job *j = ctx;
  j->runs++;
  hd_device_launch l = {
      .kernel = "step", .grid = {N / 128, 1, 1}, .block = {128, 1, 1}, .args = &j->p, .args_bytes = 8};
  return hd_device_run(j->m, &l, d);
}

static hd_device *open_with(const char *name, job *j) {
  hd_device *dev;
  hd_diag d = {0};
  uint32_t words[N];
  hd_device_options o = {.emu = {.threads = 2, .n_sms = 4}, .gpu_dir = SOURCE_DIR "/gpus"};
  for (uint32_t i = 0; i < N; i++) words[i] = i;
  if (hd_device_open(name, &o, &dev, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(hd_device_load(dev, step_ptx, strlen(step_ptx), "step", NULL, &j->m, &d), HD_OK);
  assert_int_equal(hd_device_alloc(dev, sizeof words, &j->p, &d), HD_OK);
  assert_int_equal(hd_device_write(dev, j->p, words, sizeof words, &d), HD_OK);
  return dev;
}

static void close_with(hd_device *dev, job *j) {
  hd_device_unload(j->m);
  hd_device_close(dev);
}

static void both_compute(void **state) {
  static const char *const names[] = {"emu", "model:h100"};
  for (size_t k = 0; k < 2; k++) {
    job j = {0};
    hd_diag d = {0};
    uint32_t words[N];
    hd_device *dev = open_with(names[k], &j);
    assert_int_equal(run(&j, &d), HD_OK);
    assert_int_equal(run(&j, &d), HD_OK);
    assert_int_equal(hd_device_sync(dev, &d), HD_OK);
    assert_int_equal(hd_device_read(dev, j.p, words, sizeof words, &d), HD_OK);
    for (uint32_t i = 0; i < N; i++) assert_int_equal(words[i], i + 2);
    assert_int_equal(hd_device_read(dev, j.p + 4, words, sizeof words, &d), HD_ERR_INPUT);
    assert_int_equal(hd_device_set(dev, j.p, 7, sizeof words + 1, &d), HD_ERR_INPUT);
    close_with(dev, &j);
  }
}

static void a_models_counters_come_with_each_job(void **state) {
  job j = {0};
  hd_diag d = {0};
  hd_device *dev = open_with("model:h100", &j);
  hd_device_job jobs[] = {{.run = run, .ctx = &j}};
  hd_counters cold, warm;
  bool have;
  char why[64];
  assert_int_equal(hd_device_count(dev, jobs, false, &cold, &have, why, sizeof why, &d), HD_OK);
  assert_true(have);
  assert_int_equal(cold.l1_sectors, N * 4 / 32);
  assert_int_equal(cold.dram_read_bytes, N * 4);
  assert_int_equal(hd_device_count(dev, jobs, true, &warm, &have, why, sizeof why, &d), HD_OK);
  assert_int_equal(warm.dram_read_bytes, 0); /* L2 holds it from the run before */
  double us[3];
  hd_timing_options o = {.repetitions = 3};
  j.runs = 0;
  assert_int_equal(hd_device_time(dev, jobs, 1, &o, us, &d), HD_OK);
  assert_int_equal(j.runs, 3);
  assert_true(us[0] > 0 && us[0] == us[1] && us[1] == us[2]);
  assert_true(us[0] == cold.time_us);
  close_with(dev, &j);
}

/* A file of the folder without a table. */
static void write_without(const char *name, const char *table, const char *path) {
  hd_gpu g;
  hd_buf text = {0};
  hd_diag d = {0};
  assert_int_equal(hd_gpu_load(name, SOURCE_DIR "/gpus", &g, &d), HD_OK);
  if (strcmp(table, "units") == 0) g.units = (hd_units){0};
  if (strcmp(table, "launch") == 0) g.launch = (hd_launch_cost){0};
  hd_gpu_toml(&g, &text);
  assert_int_equal(hd_file_write(path, text.data, text.len, &d), HD_OK);
  hd_buf_free(&text);
}

static hd_status run_twice(void *ctx, hd_diag *d) {
  hd_status st = run(ctx, d);
  return st == HD_OK ? run(ctx, d) : st;
}

/* Cold, after a run of the same, and of two launches. */
static void time_on(const char *name, double us[3], hd_counters *cold) {
  job j = {0};
  hd_diag d = {0};
  hd_device *dev = open_with(name, &j);
  const hd_device_job once = {.run = run, .ctx = &j}, twice = {.run = run_twice, .ctx = &j};
  const hd_timing_options o = {.repetitions = 1}, keep = {.repetitions = 1, .keep_l2 = true};
  bool have;
  char why[64];
  assert_int_equal(hd_device_time(dev, &once, 1, &o, &us[0], &d), HD_OK);
  assert_int_equal(hd_device_time(dev, &once, 1, &keep, &us[1], &d), HD_OK);
  assert_int_equal(hd_device_time(dev, &twice, 1, &o, &us[2], &d), HD_OK);
  assert_int_equal(hd_device_count(dev, &once, false, cold, &have, why, sizeof why, &d), HD_OK);
  assert_true(have);
  close_with(dev, &j);
}

static void a_models_times_are_by_its_clock(void **state) {
  double us[3], free_us[3];
  hd_counters c;
  char path[2][64];
  hd_gpu g;
  for (int i = 0; i < 2; i++) snprintf(path[i], sizeof path[i], "/tmp/emulated-%d-%d.toml", (int)getpid(), i);
  assert_int_equal(hd_gpu_load("h100", SOURCE_DIR "/gpus", &g, NULL), HD_OK);
  write_without("h100", "launch", path[0]);
  write_without("h100", "units", path[1]);
  time_on("model:h100", us, &c);
  assert_true(c.warp_cycles > 0 && us[0] == c.time_us && us[0] > g.launch.first_us);
  assert_true(us[1] > g.launch.first_us && us[1] < us[0]); /* a launch alone, which finds its data */
  assert_true(us[2] > us[0] + g.launch.next_us && us[2] < us[0] + us[1]);
  char name[80];
  snprintf(name, sizeof name, "model:%s", path[0]);
  time_on(name, free_us, &c);
  assert_true(c.warp_cycles > 0 && free_us[0] < us[0] - g.launch.first_us + 1e-3);
  snprintf(name, sizeof name, "model:%s", path[1]);
  job j = {0};
  bool have;
  char why[64];
  hd_device *dev = open_with(name, &j);
  const hd_device_job once = {.run = run, .ctx = &j};
  assert_false(hd_device_get_info(dev)->has_times);
  assert_int_equal(hd_device_time(dev, &once, 1, &(hd_timing_options){.repetitions = 1}, us, NULL),
                   HD_ERR_UNSUPPORTED);
  assert_int_equal(hd_device_count(dev, &once, false, &c, &have, why, sizeof why, NULL), HD_OK);
  assert_true(have && !hd_counters_timed(&c) && c.dram_read_bytes > 0);
  close_with(dev, &j);
  for (int i = 0; i < 2; i++) remove(path[i]);
}

static void the_emulator_has_neither_times_nor_counters(void **state) {
  job j = {0};
  hd_diag d = {0};
  hd_device *dev = open_with("emu", &j);
  hd_device_job job_ = {.run = run, .ctx = &j};
  hd_timing_options o = {.repetitions = 3};
  hd_counters c;
  double us[3];
  bool have = true;
  char why[128];
  assert_int_equal(hd_device_time(dev, &job_, 1, &o, us, &d), HD_ERR_UNSUPPORTED);
  assert_int_equal(hd_device_count(dev, &job_, false, &c, &have, why, sizeof why, &d), HD_OK);
  assert_false(have);
  assert_true(why[0] != 0);
  close_with(dev, &j);
}

static void residency_is_the_models(void **state) {
  job j = {0};
  hd_diag d = {0};
  uint32_t ctas;
  hd_kernel_info info;
  hd_device *dev = open_with("model:h100", &j);
  assert_int_equal(hd_device_kernel_info(j.m, "step", &info, &d), HD_OK);
  assert_int_equal(info.static_shared, 512);
  assert_int_equal(hd_device_resident(j.m, "step", 256, 0, 32, &ctas, &d), HD_OK);
  assert_int_equal(ctas, 8);
  assert_int_equal(hd_device_resident(j.m, "step", 256, 100 << 10, 32, &ctas, &d), HD_OK);
  assert_int_equal(ctas, 2);
  assert_int_equal(hd_device_resident(j.m, "step", 256, UINT32_MAX, 32, &ctas, &d), HD_OK);
  assert_int_equal(ctas, 0);
  assert_int_equal(hd_device_resident(j.m, "none", 256, 0, 0, &ctas, &d), HD_ERR_USAGE);
  close_with(dev, &j);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("both compute what the kernel says", both_compute),
      BEHAVIOUR("a model's counters come with each job, its caches kept or flushed",
                a_models_counters_come_with_each_job),
      BEHAVIOUR("a model's times are by its clock, where it has one", a_models_times_are_by_its_clock),
      BEHAVIOUR("the emulator alone has neither times nor counters",
                the_emulator_has_neither_times_nor_counters),
      BEHAVIOUR("how many CTAs are resident is the model's to say", residency_is_the_models),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
