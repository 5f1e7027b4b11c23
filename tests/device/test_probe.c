/* The probe's kernels on the emulator, and the file that comes of a result. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/probe.h"

static void load(const hd_probe_result *r, hd_gpu *g) {
  char path[] = "/tmp/heddle-probe-XXXXXX.toml";
  int fd = mkstemps(path, 5);
  assert_true(fd >= 0);
  close(fd);
  hd_buf b = {0};
  hd_diag d = {0};
  hd_probe_toml(r, &b);
  assert_false(b.failed);
  assert_int_equal(hd_file_write(path, b.data, b.len, &d), HD_OK);
  hd_status st = hd_gpu_load(path, NULL, g, &d);
  if (st != HD_OK) fail_msg("%s\n%s", d.message, b.data);
  remove(path);
  hd_buf_free(&b);
}

static const hd_device_options checked = {.emu = {.checks = HD_CHECK_ALL, .threads = 1, .n_sms = 6}};

static void the_probes_kernels_run_clean_on_the_emulator(void **state) {
  hd_device *dev;
  hd_probe_result r;
  hd_diag d = {0};
  if (hd_device_open("emu", &checked, &dev, &d) != HD_OK) fail_msg("%s", d.message);
  hd_probe_options o = {.launches = 2, .delay = 10, .dram_bytes = 1 << 20};
  if (hd_probe(dev, &o, &r, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(r.n_launches, 3);
  assert_true(r.launches[2].staggered && !r.launches[0].staggered);
  for (uint32_t i = 0; i < r.n_launches; i++) {
    const hd_probe_launch *l = &r.launches[i];
    /* The emulator's dispatcher is round robin, 2 waves of 16 CTAs per SM. */
    assert_int_equal(l->distinct, 6);
    assert_int_equal(l->round_robin, r.n_ctas);
    assert_int_equal(l->least, 32);
    assert_int_equal(l->most, 32);
    for (uint32_t u = 0; u < r.n_ctas; u++) assert_int_equal(l->sm[u], u % 6);
  }
  assert_true(r.l1_cycles > 0 && r.dram_cycles > 0);
  assert_true(r.copy_bandwidth == 0);
  assert_true(hd_probe_value(&r, "fma.f32 latency") > 0);
  assert_true(hd_probe_value(&r, "barrier of 2 warps") > 0);
  assert_true(hd_probe_value(&r, "constant.load/8 latency") > 0);
  assert_true(hd_probe_value(&r, "4 loads that hit and 4 stores, 32 lines each") > 0);
  assert_true(hd_probe_value(&r, "load of a line of L2 after prefetch.global.L1") > 0);
  assert_true(hd_probe_value(&r, "L2") == 1); /* all lines come alike */
  assert_true(hd_probe_value(&r, "L2 to all SMs, each its own") > 0);
  assert_true(hd_probe_value(&r, "L2 to all SMs, 4 side by side the same") > 0);
  hd_gpu g;
  load(&r, &g); /* though the emulator knows few of a GPU's figures */
  assert_int_equal(g.n_sms, 6);
  hd_probe_free(&r);
  hd_device_close(dev);
}

static hd_probe_result h100_like(void) {
  hd_probe_result r = {.n_ctas = 8448,
                       .clock_mhz = 1755,
                       .l1_cycles = 32.2,
                       .l2_cycles = 280.6,
                       .dram_cycles = 690,
                       .carveout = {0, 25, 50, 75, 100},
                       .l1_bytes = {221184, 188416, 118784, 45056, 12288},
                       .l1_sector = 32,
                       .l2_sector = 64,
                       .line = 128,
                       .l1_bandwidth = 30e12,
                       .l2_bandwidth = 7.8e12,
                       .dram_read_bandwidth = 3e12,
                       .copy_bandwidth = 2.8e12};
  r.device = (hd_device_info){.kind = HD_DEVICE_CUDA,
                              .title = "NVIDIA H100 80GB \"HBM3\"",
                              .arch = 90,
                              .n_sms = 132,
                              .max_ctas = 32,
                              .max_threads = 2048,
                              .registers = 65536,
                              .shared_bytes = 233472,
                              .shared_reserved = 1024,
                              .l2_bytes = 52428800,
                              .clock_mhz = 1980};
  return r;
}

static void a_probes_file_is_a_gpu_that_the_model_takes(void **state) {
  hd_probe_result r = h100_like();
  hd_gpu g;
  load(&r, &g);
  assert_int_equal(g.arch, 90);
  assert_int_equal(g.n_sms, 132);
  assert_int_equal(g.max_warps, 64);
  assert_int_equal(g.shared_bytes, 233472);
  assert_int_equal(g.l1.latency, 32);
  assert_int_equal(g.l1.bytes, 262144);
  assert_true(g.l1_unified && g.l1_global);
  assert_int_equal(g.l2.latency, 281);
  assert_int_equal(g.l2.bytes, 52428800);
  assert_int_equal(g.dram_latency, 690);
  assert_true(g.dram_bytes_per_cycle > 1709 && g.dram_bytes_per_cycle < 1710);
  assert_int_equal(g.dispatch, HD_DISPATCH_DEMAND);
}

static void a_model_gives_back_its_files_values(void **state) {
  char **names;
  size_t n;
  assert_int_equal(hd_gpu_list(SOURCE_DIR "/gpus", &names, &n, NULL), HD_OK);
  assert_true(n > 10);
  for (size_t i = 0; i < n; i++) {
    char name[80];
    hd_device *dev;
    hd_probe_result r;
    hd_gpu file, back;
    snprintf(name, sizeof name, "model:%s", names[i]);
    assert_int_equal(hd_device_open(name, &(hd_device_options){.gpu_dir = SOURCE_DIR "/gpus"}, &dev, NULL),
                     HD_OK);
    assert_int_equal(hd_probe(dev, NULL, &r, NULL), HD_OK);
    load(&r, &back);
    assert_int_equal(hd_gpu_load(names[i], SOURCE_DIR "/gpus", &file, NULL), HD_OK);
    memcpy(back.name, file.name, sizeof file.name);
    assert_memory_equal(&back, &file, sizeof file);
    hd_probe_free(&r);
    hd_device_close(dev);
  }
  hd_gpu_list_free(names, n);
}

static void figures_of_pipelines_become_a_files_units(void **state) {
  static hd_probe_figure figures[] = {
      {"fma.f32", "per cycle", 127.6},
      {"alu.s32", "per cycle", 120.6}, /* of two pipelines */
      {"shift.s32", "per cycle", 62.4},
      {"fma.f64", "per cycle", 63.8},
      {"ex2", "per cycle", 15.9},
      {"shared.load", "per cycle", 31.9},
      {"fma.f32 latency", "cycles", 4.02},
      {"fma.f64 latency", "cycles", 15.6},
      {"ex2 latency", "cycles", 5000},
      {"shared.load latency", "cycles", 29},
      {"mma.f16", "per cycle", 1020},
      {"l2.load/32", "per cycle", 1.0},
      {"barrier of 1 warps", "cycles", 14},
      {"fence latency", "cycles", 670},
      {"barrier of 32 warps", "cycles", 76},
      {"global.atomic latency", "cycles", 519.8},
      {"L2 add one sector a line, 64 warps, 4 at once", "requests per us", 2792},
      {"1 x empty, 1 CTAs of 32", "us", 3.04},
      {"20 x empty, 1 CTAs of 32", "us", 38.94},
      {"1 x empty, 67584 CTAs of 256", "us", 43.776},
  };
  hd_probe_result r = h100_like();
  hd_gpu g;
  r.figures = figures;
  r.n_figures = sizeof figures / sizeof *figures;
  assert_true(hd_probe_value(&r, "ex2") == 15.9);
  assert_true(isnan(hd_probe_value(&r, "ex")));
  load(&r, &g);
  assert_true(g.units.fma == 127.6 && g.units.tensor == 1020 && g.units.xu == 15.9);
  assert_true(g.units.alu == 62.4 && g.units.mma == 1020);
  assert_int_equal(g.l2.sector, r.l2_sector);
  assert_int_equal(g.units.alu_latency, 4);
  assert_int_equal(g.units.fp64_latency, 16);
  assert_int_equal(g.units.xu_latency, 1000); /* the most that a file may say */
  assert_int_equal(g.units.tensor_latency, 1);
  assert_true(g.units.barrier == 12 && g.units.barrier_warp == 2);
  assert_int_equal(g.units.fence_latency, 670);
  assert_int_equal(g.l2_atomic_latency, 520);
  assert_true(g.l1_lines_per_cycle == 1);
  assert_true(g.l2_atomics_per_cycle > 50.8 && g.l2_atomics_per_cycle < 51); /* 2792 x 32 over 1755 MHz */
  assert_true(g.launch.first_us == 3.04 && g.launch.next_us > 1.88 && g.launch.next_us < 1.9);
  assert_true(g.launch.cta_cycles > 1.05 && g.launch.cta_cycles < 1.07);
  assert_true(hd_gpu_has_clock(&g));
  r.n_figures = 4; /* not all that a clock needs */
  load(&r, &g);
  assert_true(g.units.fma == 0);
}

static void figures_of_constants_fetches_and_stores_become_keys(void **state) {
  static hd_probe_figure figures[] = {
      {"fma.f32", "per cycle", 120},
      {"shift.s32", "per cycle", 62},
      {"fma.f64", "per cycle", 58},
      {"ex2", "per cycle", 16},
      {"shared.load", "per cycle", 31.5},
      {"fma.f32 latency", "cycles", 4.2},
      {"fma.f64 latency", "cycles", 8.1},
      {"ex2 latency", "cycles", 17},
      {"shared.load latency", "cycles", 23},
      {"constant.load", "per cycle", 12.8}, /* 2.5 cycles each */
      {"constant.load/8", "per cycle", 2},  /* 16 */
      {"constant.load latency", "cycles", 35},
      {"constant.load/8 latency", "cycles", 112},
      {"fetch", "per cycle", 16},
      {"fetch latency", "cycles", 22.6},
      {"4 loads that hit, 32 lines each", "cycles", 128},
      {"4 loads that hit and 4 stores, 32 lines each", "cycles", 384},
      {"load of a line of L2 after prefetch.global.L1", "cycles", 330},
      {"1 x empty, 1 CTAs of 32", "us", 3},
      {"2 x empty, 1 CTAs of 32", "us", 5.75},
      {"20 x empty, 1 CTAs of 32", "us", 38},
      {"300 x empty, 1 CTAs of 32", "us", 1020},
  };
  hd_probe_result r = h100_like();
  hd_gpu g;
  r.figures = figures;
  r.n_figures = sizeof figures / sizeof *figures;
  load(&r, &g);
  assert_true(g.units.constant > 1.928 && g.units.constant < 1.93); /* 13.5 / 7 */
  assert_int_equal(g.units.constant_latency, 31);                   /* 30.8 */
  assert_true(g.units.constant_word_latency == 11);
  assert_true(g.units.fetch == 2);
  assert_int_equal(g.units.fetch_latency, 23);
  assert_true(g.l1_stores_per_cycle == 0.5 && g.l1_fetches_pass);
  assert_true(g.launch.second_us == 2.75 && g.launch.host_us == 3.5);
  assert_int_equal(g.ptxas.registers, 32);
  assert_true(g.ptxas.pairs_guarded && g.ptxas.predicated == 7 && g.ptxas.unrolls_no_join);
  figures[17].value = 70;  /* the fetch brought the line into L1 */
  figures[16].value = 120; /* nonsense, as of a GPU that is not alone */
  r.device.arch = 100;
  load(&r, &g);
  assert_false(g.l1_fetches_pass);
  assert_true(g.l1_stores_per_cycle == 0);
  assert_int_equal(g.ptxas.registers, 0); /* nobody has looked at its code */
}

static void whatever_was_measured_makes_a_valid_file(void **state) {
  static const unsigned archs[] = {50, 60, 61, 70, 75, 80, 86, 89, 90, 100, 120};
  for (size_t i = 0; i < sizeof archs / sizeof *archs; i++)
    for (unsigned k = 0; k < 8; k++) {
      hd_probe_result r = h100_like();
      hd_gpu g;
      r.device.arch = archs[i];
      r.device.shared_bytes = archs[i] < 80    ? 65536
                              : archs[i] == 80 ? 167936
                              : archs[i] < 90  ? 102400
                                               : 233472;
      if (k & 1) r.l1_cycles = 700, r.l2_cycles = 5, r.dram_cycles = 0; /* upside down */
      if (k & 2) r.l1_bytes[0] = 0, r.l1_bandwidth = r.l2_bandwidth = r.dram_read_bandwidth = 0;
      if (k & 4) r.clock_mhz = 0, r.device.l2_bytes = 4718593, r.l1_sector = 16;
      load(&r, &g);
      assert_int_equal(g.arch, archs[i]);
    }
}

static void a_gpus_name_makes_a_files_name(void **state) {
  static const char *const names[][2] = {{"NVIDIA H100 80GB HBM3", "h100-80gb-hbm3"},
                                         {"NVIDIA GeForce RTX 4090", "geforce-rtx-4090"},
                                         {"Tesla V100-SXM2 (16 GB)", "tesla-v100-sxm2-16-gb"},
                                         {"../../etc/passwd", "etc-passwd"},
                                         {"", ""}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    hd_probe_result r = {0};
    char out[32];
    snprintf(r.device.title, sizeof r.device.title, "%s", names[i][0]);
    hd_probe_name(&r, out, sizeof out);
    assert_string_equal(out, names[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the probe's kernels run clean on the emulator",
                the_probes_kernels_run_clean_on_the_emulator),
      BEHAVIOUR("a probe's file is a GPU that the model takes", a_probes_file_is_a_gpu_that_the_model_takes),
      BEHAVIOUR("a model gives back its file's values", a_model_gives_back_its_files_values),
      BEHAVIOUR("figures of pipelines become a file's [units]", figures_of_pipelines_become_a_files_units),
      BEHAVIOUR("figures of constants, fetches and stores become keys",
                figures_of_constants_fetches_and_stores_become_keys),
      BEHAVIOUR("whatever was measured makes a valid file", whatever_was_measured_makes_a_valid_file),
      BEHAVIOUR("a GPU's name makes a file's name", a_gpus_name_makes_a_files_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
