/* Plans, and the GPUs that can run them. */
#include "check.h"

#include <string.h>

#include "heddle/plan.h"

static void a_plan_needs_the_gpu_of_its_newest_lever(void **state) {
  static const struct {
    const char *plan;
    unsigned arch; /* the least */
  } cases[] = {
      {"baseline", 0},
      {"order=hilbert,bind=agents", 0},
      {"threads=band:32,stream=l1", 0},
      {"bypass=l1:4", 0},
      {"bypass=l2:0", 0},
      {"prefetch=l2:4", 0},
      {"bypass=ro:8", HD_READONLY_ARCH},
      {"order=col,bypass=ro:0", HD_READONLY_ARCH},
      {"bind=cancel", HD_CANCEL_ARCH},
      {"order=tile:4x4,bind=cancel", HD_CANCEL_ARCH},
      {"bind=cancel,bypass=ro:2", HD_CANCEL_ARCH},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *what;
    hd_plan p;
    hd_diag d;
    assert_int_equal(hd_plan_parse(cases[i].plan, &p, &d), HD_OK);
    assert_int_equal(hd_plan_arch(&p, &what), cases[i].arch);
    assert_int_equal(what[0] != 0, cases[i].arch != 0);
    assert_int_equal(hd_plan_check_arch(&p, "gpu", 0, &d), HD_OK);
    assert_int_equal(hd_plan_check_arch(&p, "gpu", cases[i].arch, &d), HD_OK);
    if (cases[i].arch) {
      assert_int_equal(hd_plan_check_arch(&p, "gpu", cases[i].arch - 1, &d), HD_ERR_UNSUPPORTED);
      assert_non_null(strstr(d.message, what));
      assert_non_null(strstr(d.message, "gpu is sm_"));
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a plan needs the GPU of its newest lever", a_plan_needs_the_gpu_of_its_newest_lever),
  };
  return cmocka_run_group_tests_name("plan.arch", tests, NULL, NULL);
}
