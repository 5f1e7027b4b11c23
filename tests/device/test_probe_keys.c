/* Which keys of a GPU's file a probe tells, and what it has them from. */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "device/full_probe.h"

static hd_gpu_keys told_of(const hd_probe_result *r, hd_gpu *g) {
  hd_gpu_keys told;
  hd_diag d = {0};
  if (hd_probe_gpu(r, g, &told, &d) != HD_OK) fail_msg("%s", d.message);
  return told;
}

/* Nothing measures these: rules of allocation and of caches that are not published, ptxas's code, and whether
 * the clock was compared. */
static const char *const unmeasured[] = {"sm.schedulers",
                                         "sm.scheduler",
                                         "sm.issue_per_cycle",
                                         "sm.register_unit",
                                         "sm.shared_unit",
                                         "ptxas.registers",
                                         "ptxas.pairs_guarded",
                                         "ptxas.predicated",
                                         "ptxas.unrolls_no_join",
                                         "l1.bytes", /* with shared memory, by architecture */
                                         "l1.ways",
                                         "l1.mshrs",
                                         "l1.hashed",
                                         "l1.unified",
                                         "l1.write",
                                         "l2.line",
                                         "l2.ways",
                                         "l2.hashed",
                                         "compared.launches",
                                         "compared.time_error",
                                         "compared.effects",
                                         "compared.right_signs",
                                         "compared.sampled",
                                         "compared.sampled_error"};

static bool is_unmeasured(const char *table, const char *key) {
  char name[64];
  snprintf(name, sizeof name, "%s.%s", table ? table : "", key);
  for (size_t i = 0; i < sizeof unmeasured / sizeof *unmeasured; i++)
    if (strcmp(unmeasured[i], name) == 0) return true;
  return false;
}

static void a_probe_tells_all_keys_of_the_h100s_file_but_these(void **state) {
  hd_probe_result r = full_probe();
  hd_gpu h100, probed;
  hd_gpu_keys all, told = told_of(&r, &probed);
  static hd_gpu_comparison c;
  assert_int_equal(hd_gpu_load("h100", SOURCE_DIR "/gpus", &h100, NULL), HD_OK);
  all = hd_gpu_keys_of(&h100);
  hd_gpu_compare(&h100, &h100, &all, 0, &c); /* names all keys of the file */
  uint32_t n = 0;
  for (uint32_t i = 0; i < c.n; i++) {
    const bool *has = hd_gpu_keys_find(&told, c.keys[i].table, c.keys[i].key);
    assert_non_null(has);
    if (*has == is_unmeasured(c.keys[i].table, c.keys[i].key))
      fail_msg("%s.%s: %s", c.keys[i].table, c.keys[i].key, *has ? "told" : "not told");
    n += !*has;
  }
  assert_int_equal(n, sizeof unmeasured / sizeof *unmeasured);
}

/* The table of a line, as it was before or as the line says; whether the line has a key. */
static bool key_of(const char *line, char table[32], char key[64]) {
  if (sscanf(line, "[%31[a-z0-9]]", table) == 1) return false;
  return sscanf(line, "%63[a-z0-9_] =", key) == 1 && strcmp(key, "title") != 0;
}

static void what_a_files_comments_call_assumed_is_not_told(void **state) {
  static const char *const assumed[] = {"  # not measured", "  # not known", "  # by architecture",
                                        "  # the store that"};
  static const unsigned archs[] = {60, 75, 80, 90, 100};
  for (size_t a = 0; a < sizeof archs / sizeof *archs; a++)
    for (int known = 0; known < 2; known++) {
      hd_probe_result r = full_probe();
      hd_gpu g;
      hd_buf text = {0};
      char table[32] = "", key[64] = "", *rest = NULL;
      r.device.arch = archs[a];
      if (!known) r.device.max_ctas = r.device.max_threads = r.device.registers = 0;
      hd_gpu_keys told = told_of(&r, &g);
      hd_probe_toml(&r, &text);
      for (char *line = strtok_r(text.data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        if (!key_of(line, table, key)) continue;
        bool says = false;
        for (size_t i = 0; i < sizeof assumed / sizeof *assumed; i++)
          says |= strstr(line, assumed[i]) != NULL;
        const bool *has = hd_gpu_keys_find(&told, table[0] ? table : NULL, key);
        if (!has || *has == says) fail_msg("sm_%u: [%s] %s", archs[a], table, line);
      }
      hd_buf_free(&text);
    }
}

static void a_probe_is_compared_by_what_it_tells(void **state) {
  hd_probe_result r = full_probe();
  hd_gpu g;
  static hd_gpu_comparison c;
  hd_diag d = {0};
  told_of(&r, &g);
  g.l1.ways = 4; /* assumed */
  g.gpcs = 8;    /* in no probe */
  g.units.mma /= 1.11;
  g.units.fma *= 1.11; /* it is 9.9% less, then */
  assert_int_equal(hd_probe_compare(&r, &g, 10, &c, &d), HD_OK);
  for (uint32_t i = 0; i < c.n; i++) assert_true(c.keys[i].agrees == (strcmp(c.keys[i].key, "mma") != 0));
}

static void tensor_cores_are_measured_by_their_fastest_products(void **state) {
  hd_probe_result r = full_probe();
  hd_gpu g;
  hd_gpu_keys told = told_of(&r, &g);
  assert_true(g.units.tensor == 2020 && g.units.mma == 1356);
  assert_true(*hd_gpu_keys_find(&told, "units", "tensor"));
  hd_probe_figure others[N_FULL_FIGURES];
  r.figures = others;
  r.n_figures = 0;
  for (size_t i = 0; i < N_FULL_FIGURES; i++)
    if (strcmp(full_figures[i].name, "wgmma.f16") != 0) others[r.n_figures++] = full_figures[i];
  r.device.arch = 80; /* mma.sync is all there is */
  told = told_of(&r, &g);
  assert_true(g.units.tensor == 1356 && *hd_gpu_keys_find(&told, "units", "tensor"));
  r.device.arch = 100; /* tcgen05 is faster, and not measured */
  told = told_of(&r, &g);
  assert_true(g.units.tensor == 1356 && !*hd_gpu_keys_find(&told, "units", "tensor"));
}

static void figures_that_no_file_may_have_are_an_error(void **state) {
  hd_probe_result r = full_probe();
  hd_gpu g;
  hd_gpu_keys told;
  hd_diag d = {0};
  hd_probe_figure strange[] = {{"1 x empty, 1 CTAs of 32", "us", 1e9}};
  r.figures = strange;
  r.n_figures = 1;
  assert_int_equal(hd_probe_gpu(&r, &g, &told, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "'first_us' must be"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a probe tells all keys of the H100's file but these",
                a_probe_tells_all_keys_of_the_h100s_file_but_these),
      BEHAVIOUR("what a file's comments call assumed is not told",
                what_a_files_comments_call_assumed_is_not_told),
      BEHAVIOUR("a probe is compared by what it tells", a_probe_is_compared_by_what_it_tells),
      BEHAVIOUR("tensor cores are measured by their fastest products",
                tensor_cores_are_measured_by_their_fastest_products),
      BEHAVIOUR("figures that no file may have are an error", figures_that_no_file_may_have_are_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
