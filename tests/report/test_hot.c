/* A program's hot kernels as text, JSON and a page. */
#include <jansson.h>
#include <string.h>

#include "check.h"
#include "heddle/hot.h"

static hd_hot_kernel kernels[] = {
    {.title = "gemm<half>",
     .symbol = "_Z4gemm",
     .launches = 10,
     .seconds = 0.003,
     .workload = "gemm_half-1",
     .looked_at = true,
     .category = HD_CATEGORY_ALGORITHM,
     .plan = "order=band:8",
     .before_us = 300,
     .after_us = 150,
     .why = "issue bounds the time"},
    {.title = "fft", .symbol = "fft", .launches = 2, .seconds = 0.001, .why = "no PTX"},
    {.title = "sort",
     .symbol = "sort",
     .launches = 1,
     .looked_at = true,
     .unanswered = true,
     .why = "the time was over"},
};
static const hd_hot hot = {.kernels = kernels,
                           .n = 3,
                           .program = "./app <in>",
                           .gpu = "G",
                           .emulated = true,
                           .pins = "out/predictions.json",
                           .seconds = 2};

static void the_table_has_a_row_for_each_kernel_and_the_gain_of_all(void **state) {
  hd_buf b = {0};
  hd_hot_text(&hot, 20, &b);
  assert_non_null(
      strstr(b.data, "gemm<half>        10    75%  algorithm  order=band:8      2.00x  yes     issue"));
  assert_non_null(strstr(b.data, "fft                2   ~25%"));
  assert_non_null(strstr(b.data, "no answer"));
  /* 4 ms become 2.5 ms. */
  assert_non_null(strstr(b.data, "predicted 1.60x as fast, on G; no answer for 1 of them."));
  assert_non_null(strstr(b.data, "heddle run --pin out/predictions.json -- ./app <in>"));
  hd_buf_free(&b);
  hd_hot_text(&hot, 1, &b);
  assert_null(strstr(b.data, "fft"));
  assert_non_null(strstr(b.data, "(2 more kernels)"));
  hd_buf_free(&b);
}

static void a_program_that_was_cut_off_is_named_so(void **state) {
  hd_hot own = hot;
  hd_buf b = {0};
  own.cut = true;
  own.code = 134;
  hd_hot_text(&own, 20, &b);
  assert_non_null(strstr(b.data, "on the emulator, which ended its launches after so much work: "));
  assert_non_null(strstr(b.data, "; exit code 134\n"));
  assert_null(strstr(b.data, "by itself"));
  hd_buf_free(&b);
  own.alone = true;
  hd_hot_text(&own, 20, &b);
  assert_non_null(strstr(b.data, "; the emulator ended it while it computed by itself behind a launch: "));
  hd_buf_free(&b);
  own.cut = false;
  hd_hot_text(&own, 20, &b);
  assert_non_null(
      strstr(b.data, "on the emulator, which ended it while it computed by itself behind a launch: "));
  hd_buf_free(&b);
}

static void the_json_can_be_read_back(void **state) {
  hd_buf b = {0};
  hd_hot_json(&hot, &b);
  json_t *j = json_loads(b.data, 0, NULL), *list = json_object_get(j, "kernels"),
         *one = json_array_get(list, 0);
  assert_int_equal(json_array_size(list), 3);
  assert_float_equal(json_real_value(json_object_get(j, "speedup")), 1.6, 1e-9);
  assert_float_equal(json_real_value(json_object_get(one, "share")), 0.75, 1e-9);
  assert_string_equal(json_string_value(json_object_get(one, "plan")), "order=band:8");
  assert_true(json_is_null(json_object_get(json_array_get(list, 1), "plan")));
  assert_true(json_is_null(json_object_get(json_array_get(list, 2), "share")));
  assert_true(json_is_false(json_object_get(json_array_get(list, 2), "answered")));
  assert_null(json_object_get(json_array_get(list, 1), "answered"));
  json_decref(j);
  hd_buf_free(&b);
}

static void the_page_has_the_json_and_what_is_said_of_all(void **state) {
  hd_buf b = {0};
  hd_hot_html(&hot, &b);
  assert_non_null(strstr(b.data, "./app &lt;in&gt;</h1>"));
  assert_non_null(strstr(b.data, "gemm_half-1"));
  assert_non_null(strstr(b.data, "All kernels together: predicted 1.60x as fast"));
  hd_buf_free(&b);
}

static void a_program_without_plans_says_so_if_some_were_tried(void **state) {
  hd_hot_kernel left[] = {{.title = "k", .symbol = "k", .looked_at = true}, {.title = "l", .symbol = "l"}};
  hd_hot none = {.program = "app", .gpu = "G", .kernels = left, .n = 2};
  hd_buf b = {0};
  hd_hot_text(&none, 20, &b);
  assert_non_null(strstr(b.data, "No plan that was tried is predicted to help, on G."));
  hd_buf_free(&b);
  left[0].unanswered = true;
  hd_hot_text(&none, 20, &b);
  assert_non_null(strstr(b.data, "No answer: no kernel was looked at to the end, on G; no answer for 1"));
  hd_buf_free(&b);
  none.n = 0;
  hd_hot_text(&none, 20, &b);
  assert_non_null(strstr(b.data, "No answer: "));
  hd_buf_free(&b);
  hd_hot_html(&none, &b);
  assert_null(strstr(b.data, "nan"));
  hd_buf_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_has_a_row_for_each_kernel_and_the_gain_of_all),
      cmocka_unit_test(a_program_that_was_cut_off_is_named_so),
      cmocka_unit_test(the_json_can_be_read_back),
      cmocka_unit_test(the_page_has_the_json_and_what_is_said_of_all),
      cmocka_unit_test(a_program_without_plans_says_so_if_some_were_tried),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
