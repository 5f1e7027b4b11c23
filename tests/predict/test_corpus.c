/* Every kernel of the corpus, PTX as other compilers emit it: against its reference, and reordered. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/plan.h"
#include "heddle/predict.h"

/* Instrumented builds are some thirty times slower: they go through the same motions on less data. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIZE "tiny"
#else
#define SIZE "small"
#endif
#define CORPUS SOURCE_DIR "/corpus"

/* Its loop draws tiles from a counter, and looks like one that waits for other CTAs. */
static bool needs_word(const char *name) { return strstr(name, "matmul-counter") != NULL; }

static void check_kernel(const char *name) {
  static const hd_dispatch_kind dispatchers[] = {HD_DISPATCH_ROUND_ROBIN, HD_DISPATCH_SHUFFLED,
                                                 HD_DISPATCH_STARVED};
  const hd_check_options o = {.dispatchers = dispatchers,
                              .n_dispatchers = 3,
                              .run.compile.assume = needs_word(name) ? HD_ASSUME_NO_WAITS : 0};
  hd_plan p;
  hd_workload *w;
  hd_check_result r;
  hd_diag d = {0};
  assert_int_equal(hd_plan_parse("order=reverse", &p, &d), HD_OK);
  if (hd_workload_open(name, CORPUS, SIZE, &w, &d) != HD_OK) fail_msg("%s: %s", name, d.message);
  if (hd_check(w, &p, &o, &r, &d) != HD_OK) fail_msg("%s: %s", name, d.message);
  if (!r.equal) fail_msg("%s: %s", name, r.what);
  assert_true(r.race_free);
  assert_true(r.against_reference);
  hd_workload_close(w);
}

static void every_kernel_computes_its_reference_in_any_order(void **state) {
  char **names;
  size_t n;
  hd_diag d = {0};
  assert_int_equal(hd_workload_list(CORPUS, &names, &n, &d), HD_OK);
  assert_true(n >= 78);
  for (size_t i = 0; i < n; i++) check_kernel(names[i]);
  hd_workload_list_free(names, n);
}

/* Tiles of 64 x 64, and of 128 x 128. */
static void tiles_of_persistent_kernels_go_in_any_order(void **state) {
  static const char *const names[][3] = {
      {"triton/matmul-persistent-sm80", "2x3", "3x4"},
      {"triton/matmul-persistent-sm90", "2x3", "3x4"},
      {"triton/matmul-persistent-tma-sm90", "5x3", "5x7"},
      {"triton/matmul-persistent-rows-sm90", "5x3", "5x7"},
  };
  static const char *const orders[] = {"reverse", "col", "band:2", "hilbert"};
  const bool tiny = strcmp(SIZE, "tiny") == 0;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
      const hd_check_options o = {.run.compile.assume = HD_ASSUME_NO_CARRY};
      char text[96];
      hd_plan p;
      hd_workload *w;
      hd_check_result r;
      hd_diag d = {0};
      snprintf(text, sizeof text, "order=%s,shape=loop:%s", orders[k], names[i][tiny ? 1 : 2]);
      assert_int_equal(hd_plan_parse(text, &p, &d), HD_OK);
      if (hd_workload_open(names[i][0], CORPUS, SIZE, &w, &d) != HD_OK)
        fail_msg("%s: %s", names[i][0], d.message);
      if (hd_check(w, &p, &o, &r, &d) != HD_OK) fail_msg("%s, %s: %s", names[i][0], text, d.message);
      if (!r.equal) fail_msg("%s, %s: %s", names[i][0], text, r.what);
      assert_true(r.thread_instructions < r.thread_instructions_rewritten);
      hd_workload_close(w);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every kernel computes its reference, in any order",
                every_kernel_computes_its_reference_in_any_order),
      BEHAVIOUR("tiles of persistent kernels go in any order", tiles_of_persistent_kernels_go_in_any_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
