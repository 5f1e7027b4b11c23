/* PTX as Triton emits it: every kernel is analysed within a budget of about a second, and the facts about the
 * matrix products and the softmax do not get lost. */
#include "launches.h"

#define CORPUS SOURCE_DIR "/corpus/triton"
enum { STEPS_OF_A_SECOND = 20000000 }; /* heddle/analysis.h, hd_analyze_options.work */

static void open_corpus(launches *l, const char *name) {
  char path[4096];
  snprintf(path, sizeof path, CORPUS "/%s", name);
  if (!launches_open(l, path, NULL)) fail_msg("%s cannot be opened", path);
}

static void every_kernel_within_a_second(void **state) {
  char **names;
  size_t n;
  hd_diag d;
  assert_int_equal(hd_workload_list(CORPUS, &names, &n, &d), HD_OK);
  assert_true(n >= 40);
  for (size_t i = 0; i < n; i++) {
    launches l;
    open_corpus(&l, names[i]);
    for (uint32_t f = 0; f < l.m->n_funcs; f++) {
      hd_analysis *a;
      if (!l.m->funcs[f].entry || !l.m->funcs[f].has_body) continue;
      assert_int_equal(hd_analyze(l.m, f, NULL, &a, &d), HD_OK);
      assert_false(a->over_budget);
      assert_true(a->work < STEPS_OF_A_SECOND);
      hd_analysis_free(a);
    }
    hd_polyhedral p = launches_measure(&l, 0, NULL);
    assert_true(p.n_arrays > 0);
    for (uint32_t k = 0; k < p.n_arrays; k++)
      if (p.arrays[k].inexact == HD_INEXACT_BUDGET) fail_msg("%s is over the budget", names[i]);
    hd_polyhedral_free(&p);
    launches_close(&l);
  }
  hd_workload_list_free(names, n);
}

static void classes_stay(void **state) {
  static const struct {
    const char *name;
    hd_level level; /* of all accesses */
    uint32_t n;
  } expected[] = {
      /* Rows go over the CTAs, which is affine. */
      {"softmax-sm80", HD_LEVEL_AFFINE, 4},
      {"softmax-sm90", HD_LEVEL_AFFINE, 4},
      /* Programs are swizzled in groups for the L2: a division by the height of the group, which is a
         minimum. */
      {"matmul-sm80", HD_LEVEL_NONLINEAR, 16},
      {"matmul-sm90", HD_LEVEL_NONLINEAR, 16},
      {"matmul-tma-sm90", HD_LEVEL_DATA, 7},
  };
  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    launches l;
    hd_analysis *a;
    hd_diag d;
    open_corpus(&l, expected[i].name);
    int64_t func = hd_ptx_find_kernel(l.m, l.w->launches[0].kernel);
    assert_int_equal(hd_analyze(l.m, (uint32_t)func, NULL, &a, &d), HD_OK);
    assert_int_equal(a->n_sites, expected[i].n);
    for (uint32_t k = 0; k < a->n_sites; k++) assert_int_equal(a->sites[k].level, expected[i].level);
    hd_analysis_free(a);
    launches_close(&l);
  }
}

/* The swizzled order of programs is no affine relation, so isl has nothing to say; listing the lines does. */
static void swizzled_programs_are_listed(void **state) {
  launches l;
  open_corpus(&l, "matmul-sm80");
  hd_polyhedral p = launches_measure(&l, 0, NULL);
  assert_true(p.complete);
  assert_int_equal(p.direction, HD_MAP_X);
  for (uint32_t b = 0; b < l.w->n_buffers; b++) {
    const hd_polyhedral_array *a = array_of_buffer(&p, b);
    if (!a) continue;
    assert_false(a->by_isl);
    assert_true(a->counted && a->distance[0] > 0);
  }
  hd_polyhedral_free(&p);
  launches_close(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every kernel of the corpus is analysed in a second's work, within all budgets",
                every_kernel_within_a_second),
      BEHAVIOUR("softmax is affine, swizzled matrix products are not, tensor maps count as data",
                classes_stay),
      BEHAVIOUR("who shares in a swizzled matrix product is found by listing its lines",
                swizzled_programs_are_listed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
