/* What a GPU's file says of comparisons with such a GPU. */
#include <string.h>

#include "check.h"
#include "heddle/model.h"

static hd_gpu load(const char *name) {
  hd_gpu g;
  hd_diag d = {0};
  if (hd_gpu_load(name, SOURCE_DIR "/gpus", &g, &d) != HD_OK) fail_msg("%s", d.message);
  return g;
}

static void a_gpu_that_is_another_one_was_not_compared(void **state) {
  static const hd_compared none;
  hd_gpu g = load("h100"), read;
  hd_buf text = {0};
  assert_int_equal(hd_gpu_set_l1(&g, 0, NULL), HD_OK);
  assert_int_equal(hd_gpu_parse_scheduler(&g, "none", NULL), HD_ERR_USAGE);
  assert_true(g.compared.launches && g.compared.effects && g.compared.sampled);
  hd_gpu_toml(&g, &text);
  assert_int_equal(hd_gpu_read(text.data, text.len, "text", &read, NULL), HD_OK);
  assert_memory_equal(&read.compared, &g.compared, sizeof g.compared);
  hd_buf_free(&text);
  assert_int_equal(hd_gpu_parse_scheduler(&g, "lrr", NULL), HD_OK);
  assert_memory_equal(&g.compared, &none, sizeof none);
  g = load("h100");
  assert_int_equal(hd_gpu_set_l1(&g, (uint64_t)g.l1.line * g.l1.ways, NULL), HD_OK);
  assert_memory_equal(&g.compared, &none, sizeof none);
  hd_gpu_toml(&g, &text);
  assert_null(strstr(text.data, "[compared]"));
  hd_buf_free(&text);
}

static void more_right_signs_than_effects_are_refused(void **state) {
  hd_gpu g = load("h100"), read;
  hd_buf text = {0};
  hd_diag d = {0};
  g.compared.right_signs = g.compared.effects + 1;
  hd_gpu_toml(&g, &text);
  assert_int_equal(hd_gpu_read(text.data, text.len, "text", &read, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "more right signs than effects"));
  hd_buf_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a GPU that is another one was not compared", a_gpu_that_is_another_one_was_not_compared),
      BEHAVIOUR("more right signs than effects are refused", more_right_signs_than_effects_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
