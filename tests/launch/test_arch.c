/* Which architecture kernels are compiled for. */
#include "check.h"

#include "heddle/launch.h"

static void one_rule_decides_the_architecture(void **state) {
  static const struct {
    const char *what;
    bool device;
    hd_device_kind kind;
    unsigned arch, asked, want;
  } cases[] = {
      {"no device", false, HD_DEVICE_EMU, 0, 0, 80},
      {"no device, asked", false, HD_DEVICE_EMU, 0, 90, 90},
      {"emulator", true, HD_DEVICE_EMU, 90, 0, 80},
      {"a modelled H100", true, HD_DEVICE_MODEL, 90, 0, 80},
      {"a modelled GPU that compilers do not know", true, HD_DEVICE_MODEL, 20, 0, 80},
      {"a modelled GPU, asked", true, HD_DEVICE_MODEL, 90, 75, 75},
      {"an H100 runs what an A100 runs", true, HD_DEVICE_CUDA, 90, 0, 80},
      {"an A100", true, HD_DEVICE_CUDA, 80, 0, 80},
      {"a V100 runs nothing newer", true, HD_DEVICE_CUDA, 70, 0, 70},
      {"a GPU that does not say", true, HD_DEVICE_CUDA, 0, 0, 80},
      {"a V100, asked", true, HD_DEVICE_CUDA, 70, 60, 60},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_device_info info = {.kind = cases[i].kind, .arch = cases[i].arch};
    unsigned got = hd_launch_arch(cases[i].device ? &info : NULL, cases[i].asked);
    if (got != cases[i].want) fail_msg("%s: sm_%u, not sm_%u", cases[i].what, got, cases[i].want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(one_rule_decides_the_architecture)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
