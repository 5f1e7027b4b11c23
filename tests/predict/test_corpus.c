/* Every kernel of the corpus, PTX as other compilers emit it: against its reference, and reordered. */
#include "check.h"

#include "heddle/plan.h"
#include "heddle/predict.h"

/* Instrumented builds are some thirty times slower: they go through the same motions on less data. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIZE "tiny"
#else
#define SIZE "small"
#endif
#define CORPUS SOURCE_DIR "/corpus"

static void check_kernel(const char *name) {
  static const hd_dispatch_kind dispatchers[] = {HD_DISPATCH_ROUND_ROBIN, HD_DISPATCH_SHUFFLED,
                                                 HD_DISPATCH_STARVED};
  const hd_check_options o = {.dispatchers = dispatchers, .n_dispatchers = 3};
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
  hd_plan_free(&p);
}

static void every_kernel_computes_its_reference_in_any_order(void **state) {
  char **names;
  size_t n;
  hd_diag d = {0};
  assert_int_equal(hd_workload_list(CORPUS, &names, &n, &d), HD_OK);
  assert_true(n >= 49);
  for (size_t i = 0; i < n; i++) check_kernel(names[i]);
  hd_workload_list_free(names, n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every kernel computes its reference, in any order",
                every_kernel_computes_its_reference_in_any_order),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
