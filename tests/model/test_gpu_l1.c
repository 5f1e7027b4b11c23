/* A GPU with another size of L1. */
#include "check.h"
#include "heddle/model.h"

static hd_gpu load(const char *name) {
  hd_gpu g;
  hd_diag d = {0};
  if (hd_gpu_load(name, SOURCE_DIR "/gpus", &g, &d) != HD_OK) fail_msg("%s", d.message);
  return g;
}

/* Fermi and Kepler have one store for both; later GPUs' are apart, or divide it by what the CTAs take. */
static void another_l1_leaves_shared_memory_the_rest_where_they_are_one_store(void **state) {
  static const struct {
    const char *gpu;
    uint64_t l1;
    uint32_t shared;
  } cases[] = {
      {"gtx570", 49152, 16384}, {"gtx570", 16384, 49152},   {"gtx580", 49152, 16384},
      {"m2075", 49152, 16384},  {"k40", 49152, 16384},      {"k40", 32768, 32768},
      {"k40", 16384, 49152},    {"k80", 49152, 81920},      {"k80", 32768, 98304},
      {"gtx690", 49152, 16384}, {"gtx980", 24576, 98304},   {"gtx1080", 24576, 98304},
      {"h100", 131072, 233472}, {"gtx750ti", 12288, 65536}, {"gtx570", 0, 49152},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_gpu g = load(cases[i].gpu);
    const uint64_t own = g.l1.bytes;
    assert_int_equal(hd_gpu_set_l1(&g, cases[i].l1, NULL), HD_OK);
    assert_int_equal(g.l1.bytes, cases[i].l1 ? cases[i].l1 : own);
    if (g.shared_bytes != cases[i].shared)
      fail_msg("%s with %llu of L1: %u of shared memory", cases[i].gpu, (unsigned long long)cases[i].l1,
               g.shared_bytes);
  }
  /* And back again. */
  hd_gpu g = load("k40"), again = load("k40");
  assert_int_equal(hd_gpu_set_l1(&again, 49152, NULL), HD_OK);
  assert_int_equal(hd_gpu_set_l1(&again, 16384, NULL), HD_OK);
  assert_int_equal(again.shared_bytes, g.shared_bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("another L1 leaves shared memory the rest, where they are one store",
                another_l1_leaves_shared_memory_the_rest_where_they_are_one_store),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
