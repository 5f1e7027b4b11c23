/* Probes on a GPU that fails on the way, and on a part of a GPU (MIG). */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device/full_probe.h"
#include "device/open_fake.h"
#include "heddle/probe.h"

static void assert_nothing_lives(void) {
  assert_int_equal(fake->contexts + fake->pushes + fake->streams + fake->events + fake->modules, 0);
  assert_int_equal(fake->allocations, 0);
}

static hd_status probe(hd_probe_result *r, hd_diag *d) {
  const hd_probe_options o = {.launches = 1, .delay = 10, .dram_bytes = 1 << 20, .repetitions = 1};
  hd_device *dev = NULL;
  *r = (hd_probe_result){0};
  hd_status st = hd_device_open("cuda:0", &options, &dev, d);
  if (st == HD_OK) st = hd_probe(dev, &o, r, d);
  hd_device_close(dev);
  return st;
}

static void sms_with_holes_are_ranked(void **state) {
  hd_probe_result r;
  hd_diag d = {0};
  reset();
  fake->mig = 1;
  if (probe(&r, &d) != HD_OK) fail_msg("%s", d.message);
  assert_int_equal(r.device.n_sms, 4);
  unsigned ran[4] = {0};
  for (uint32_t u = 0; u < r.n_ctas; u++) {
    assert_true(r.launches[0].sm[u] < 4);
    ran[r.launches[0].sm[u]]++;
  }
  for (int k = 0; k < 4; k++) assert_int_equal(ran[k], r.n_ctas / 4);
  assert_int_equal(r.launches[0].distinct, 4);
  /* A name has the number of another GPU's CTAs; this one's L2 has one part, and it no GPCs; its times are by
   * CTAs, and say nothing of rounds. */
  static const char *const others[] = {"67584", "from the other part", "that share a rate", "by one lane"};
  for (size_t i = 0; i < N_FULL_FIGURES; i++) {
    bool other = false;
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
      other |= strstr(full_figures[i].name, others[k]) != NULL;
    if (!other && isnan(hd_probe_value(&r, full_figures[i].name)))
      fail_msg("no figure '%s'", full_figures[i].name);
  }
  /* Every SM was visited, and read its own, by its number. */
  assert_true(hd_probe_value(&r, "L2") == 1);
  assert_true(hd_probe_value(&r, "L2 to all SMs, each its own") > 0);
  assert_true(hd_probe_value(&r, "L2 to all SMs, pairs 2 apart the same") > 0);
  hd_probe_free(&r);
  assert_nothing_lives();
}

/* Early calls of each kind: those behind them were tried by the session that fails at every call. One kind
 * fails in every way, the others in one way each, in turn. */
static void a_probe_may_fail_at_every_kind_of_call(void **state) {
  static const char *const calls[] = {"cuMemAlloc_v2",       "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",
                                      "cuLaunchKernelEx",    "cuStreamSynchronize",  "cuModuleLoadDataEx",
                                      "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2",   "cuModuleGetFunction"};
  static const struct {
    int result;
    hd_status status;
  } failures[] = {
      {2, HD_ERR_NOMEM}, {700, HD_ERR_FAULT}, {719, HD_ERR_FAULT}, {46, HD_ERR_IO}, {999, HD_ERR_IO}};
  enum { N = sizeof failures / sizeof *failures };
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
    for (size_t f = k ? k % N : 0; f < (k ? k % N + 1 : N); f++) {
      hd_probe_result r;
      hd_diag d = {0};
      reset();
      fake->fail_in = calls[k];
      fake->fail_at = strcmp(calls[k], "cuModuleLoadDataEx") == 0 ? 1 : 1 + (k + f) % 2;
      fake->fail_with = failures[f].result;
      hd_status st = probe(&r, &d);
      if (st != failures[f].status) fail_msg("%s, %d: %d, %s", calls[k], failures[f].result, st, d.message);
      if (!strstr(d.message, calls[k])) fail_msg("%s: %s", calls[k], d.message);
      assert_null(r.launches);
      assert_nothing_lives();
    }
}

static void the_environment_names_the_driver(void **state) {
  const hd_device_options plain = {0};
  hd_device *dev;
  hd_diag d = {0};
  reset();
  setenv("HEDDLE_CUDA_DRIVER", "/nonexistent/libcuda.so.1", 1);
  assert_int_equal(hd_device_open("cuda:0", &plain, &dev, &d), HD_ERR_IO);
  assert_non_null(strstr(d.message, "there is no NVIDIA driver here: /nonexistent/libcuda.so.1"));
  setenv("HEDDLE_CUDA_DRIVER", FAKE_CUDA, 1);
  if (hd_device_open("cuda:0", &plain, &dev, &d) != HD_OK) fail_msg("%s", d.message);
  assert_string_equal(hd_device_get_info(dev)->title, "Fake GPU");
  hd_device_close(dev);
  unsetenv("HEDDLE_CUDA_DRIVER");
  assert_nothing_lives();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR(
          "a part of a GPU has SMs with holes in their numbers, which are ranked; all figures are there",
          sms_with_holes_are_ranked),
      BEHAVIOUR("a probe may fail at every kind of call, and leaves nothing",
                a_probe_may_fail_at_every_kind_of_call),
      BEHAVIOUR("the environment names the driver", the_environment_names_the_driver),
  };
  return cmocka_run_group_tests(tests, open_fake, NULL);
}
