/* Every workload that comes with heddle computes the same as its reference. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "session.h"

/* Instrumented builds are some thirty times slower: they go through the same motions on less data. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SIZE "tiny"
#else
#define SIZE "small"
#endif

static void every_kernel_agrees_with_its_reference(void **state) {
  skip_without_compiler();
  char **names;
  size_t n;
  hd_diag d = {0};
  assert_int_equal(hd_workload_list(SOURCE_DIR "/kernels", &names, &n, &d), HD_OK);
  assert_true(n >= 7);
  const hd_dispatch_kind one = HD_DISPATCH_DEMAND;
  const hd_check_options o = {.dispatchers = &one, .n_dispatchers = 1, .seed = 1};
  const hd_plan baseline = {0};
  for (size_t i = 0; i < n; i++) {
    hd_workload *w;
    hd_check_result r;
    if (hd_workload_open(names[i], SOURCE_DIR "/kernels", SIZE, &w, &d) != HD_OK) fail_msg("%s", d.message);
    if (hd_check(w, &baseline, &o, &r, &d) != HD_OK) fail_msg("%s: %s", names[i], d.message);
    if (!r.equal) fail_msg("%s: %s", names[i], r.what);
    if (!r.against_reference) fail_msg("%s has no reference", names[i]);
    print_message("%-24s %9llu thread instructions, %.2f s\n", names[i],
                  (unsigned long long)r.thread_instructions, r.seconds);
    hd_workload_close(w);
  }
  hd_workload_list_free(names, n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every kernel agrees with its reference", every_kernel_agrees_with_its_reference),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
