/* Settings and verdicts of a steered program as text. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "heddle/steer.h"

static const hd_steer_settings sample = {.plan = "order=tile:8x4,bind=agents",
                                         .verdicts = "/a folder/x.verdicts",
                                         .report = "/a = b.json",
                                         .page = "/a page.html",
                                         .quiet = true,
                                         .notes = "/a folder/notes",
                                         .unguarded = true};

static void settings_survive_the_environment(void **state) {
  hd_steer_settings back;
  hd_buf text = {0};
  hd_diag d;
  assert_int_equal(hd_steer_settings_print(&sample, &text, &d), HD_OK);
  assert_int_equal(hd_steer_settings_parse(text.data, &back, &d), HD_OK);
  assert_memory_equal(&sample, &back, sizeof back);
  hd_buf_free(&text);
}

/* Texts that another version may have written, and the beginnings of a good one. */
static void other_settings_are_refused(void **state) {
  hd_steer_settings back;
  hd_buf text = {0};
  hd_diag d;
  assert_int_equal(hd_steer_settings_print(&sample, &text, &d), HD_OK);
  for (size_t n = 0; n + 1 < text.len; n++) {
    char *part = strndup(text.data, n);
    assert_int_equal(hd_steer_settings_parse(part, &back, &d), HD_ERR_INPUT);
    free(part);
  }
  hd_buf_puts(&text, "more=1\n");
  assert_int_equal(hd_steer_settings_parse(text.data, &back, &d), HD_ERR_INPUT);
  hd_buf_free(&text);
}

static const hd_verdict verdict = {.key = {.kernel = "0123456789abcdef0123456789abcdef",
                                           .launch = "grid=64x32x1 block=32x8x1 shared=48 args=any",
                                           .gpu = "NVIDIA H100 80GB HBM3",
                                           .driver = "13.0",
                                           .size = "gpu"},
                                   .name = "scale",
                                   .plan = "order=table:/a folder/t.table",
                                   .assume = "no-waits",
                                   .speedup = 1.0 / 3};

static void a_verdict_survives_its_file(void **state) {
  hd_verdict back;
  hd_buf text = {0};
  hd_steer_verdict_print(&verdict, &text);
  assert_int_equal(text.data[text.len - 1], '\n');
  assert_true(hd_steer_verdict_parse(text.data, text.len - 1, &back));
  assert_memory_equal(&verdict, &back, sizeof back);
  for (size_t n = 0; n + 20 < text.len; n++) assert_false(hd_steer_verdict_parse(text.data, n, &back));
  hd_buf_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(settings_survive_the_environment),
      cmocka_unit_test(other_settings_are_refused),
      cmocka_unit_test(a_verdict_survives_its_file),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
