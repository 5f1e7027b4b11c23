/* Keys of verdicts, and the words for what their confidence means. */
#include "check.h"

#include <string.h>

#include "heddle/store.h"

static void a_basis_says_what_was_observed_and_how_often(void **state) {
  static const struct {
    hd_basis basis;
    uint32_t n;
    const char *text;
  } cases[] = {{HD_BASIS_UNKNOWN, 3, ""},
               {HD_BASIS_REPLAYS, 0, "replays of a model"},
               {HD_BASIS_ROUNDS, 41, "41 rounds in one place"},
               {HD_BASIS_PLACES, 8, "8 places in memory"},
               {HD_BASIS_TRIALS, 15, "15 trials in a program"},
               {HD_BASIS_TURNS, UINT32_MAX, "4294967295 turns in a program"},
               {HD_BASIS_TURNS, 0, ""}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[48];
    hd_verdict_basis(cases[i].basis, cases[i].n, text);
    assert_string_equal(text, cases[i].text);
  }
}

static void a_key_says_where_in_one_way(void **state) {
  hd_verdict_key key = {0};
  hd_verdict_place("NVIDIA H100 PCIe", 0, 13010, &key);
  assert_string_equal(key.gpu, "NVIDIA H100 PCIe");
  assert_string_equal(key.driver, "13.1");
  hd_verdict_place("NVIDIA H100 PCIe", 60, 12080, &key);
  assert_string_equal(key.gpu, "NVIDIA H100 PCIe, 60 SMs");
  assert_string_equal(key.driver, "12.8");
  hd_verdict_grid((const uint32_t[3]){64, 2, 1}, key.launch);
  assert_string_equal(key.launch, "triton grid=64x2x1");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a basis says what was observed, and how often",
                a_basis_says_what_was_observed_and_how_often),
      BEHAVIOUR("a key says where in one way", a_key_says_where_in_one_way),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
