/* A program's kernels as text, JSON and a page. */
#include <jansson.h>
#include <string.h>

#include "check.h"
#include "heddle/profile.h"

static hd_profile_kernel kernels[] = {
    {.name = "_Z4gemmI6__halfEvPT_",
     .launches = 10,
     .seconds = 0.003,
     .looked_at = true,
     .category = HD_CATEGORY_ALGORITHM,
     .lost = 2.5,
     .bound = 1.75},
    {.name = "fft", .launches = 2, .seconds = 0.001, .why = "no PTX"},
};
static const hd_profile profile = {kernels, 2, 0.004, false};

static void the_table_says_what_is_in_reach(void **state) {
  hd_buf b = {0};
  hd_profile_text(&profile, 20, &b);
  assert_non_null(
      strstr(b.data, "gemm<__half>        10   3000.0    75%  algorithm       2.50x    1.75x  yes"));
  assert_non_null(strstr(b.data, "no PTX"));
  assert_non_null(strstr(b.data, "2 kernels, 4.000 ms; 75% of it in kernels that plans can touch"));
  hd_buf_free(&b);
  hd_profile_text(&profile, 1, &b);
  assert_null(strstr(b.data, "fft"));
  hd_buf_free(&b);
}

static void the_json_can_be_read_back(void **state) {
  hd_buf b = {0};
  hd_profile_json(&profile, &b);
  json_t *j = json_loads(b.data, 0, NULL), *list = json_object_get(j, "kernels");
  assert_int_equal(json_array_size(list), 2);
  assert_float_equal(json_real_value(json_object_get(j, "reached_seconds")), 0.003, 1e-9);
  const json_t *first = json_array_get(list, 0);
  assert_string_equal(json_string_value(json_object_get(first, "kernel")), "_Z4gemmI6__halfEvPT_");
  assert_string_equal(json_string_value(json_object_get(first, "title")), "gemm<__half>");
  assert_float_equal(json_real_value(json_object_get(first, "at_most")), 1.75, 1e-9);
  assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "why")), "no PTX");
  assert_null(json_object_get(json_array_get(list, 1), "category"));
  json_decref(j);
  hd_buf_free(&b);
}

static void names_are_escaped_on_the_page(void **state) {
  hd_buf b = {0};
  hd_profile_html(&profile, "./app --size <n>", &b);
  assert_non_null(strstr(b.data, "gemm\\u003c__half>"));
  assert_non_null(strstr(b.data, "<h1>./app --size &lt;n&gt;</h1>"));
  hd_buf_free(&b);
}

static void a_program_without_kernels_has_an_empty_table(void **state) {
  hd_buf b = {0};
  hd_profile_text(&(hd_profile){0}, 20, &b);
  assert_non_null(strstr(b.data, "0 kernels, 0.000 ms; 0% of it"));
  hd_buf_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_says_what_is_in_reach),
      cmocka_unit_test(the_json_can_be_read_back),
      cmocka_unit_test(names_are_escaped_on_the_page),
      cmocka_unit_test(a_program_without_kernels_has_an_empty_table),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
