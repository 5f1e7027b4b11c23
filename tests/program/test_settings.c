/* Settings as text, and the words of --check. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "heddle/program.h"

static const hd_program_settings sample = {.gpu = "some GPU, with = and spaces",
                                           .arch = 90,
                                           .n_sms = 132,
                                           .max_ctas = 32,
                                           .max_warps = 64,
                                           .max_threads = 2048,
                                           .registers = 65536,
                                           .register_unit = 256,
                                           .shared_bytes = 233472,
                                           .shared_unit = 128,
                                           .shared_reserved = 1024,
                                           .l2_bytes = 50,
                                           .clock_khz = 1755000,
                                           .newest = 120,
                                           .devices = 2,
                                           .memory = UINT64_C(80) << 30,
                                           .threads = 2,
                                           .checks = 5,
                                           .seed = UINT64_MAX,
                                           .quiet = 1,
                                           .analyze = 1,
                                           .work = 7,
                                           .alone = 15000,
                                           .error_code = 3,
                                           .kernel = "scale*",
                                           .log = "/a/log",
                                           .findings = "/a/found.sarif",
                                           .pid = 12345,
                                           .report = "/a folder/report.json"};

static void settings_survive_the_environment(void **state) {
  hd_program_settings back;
  hd_diag d;
  hd_buf text = {0};
  assert_int_equal(hd_program_settings_print(&sample, &text, &d), HD_OK);
  assert_int_equal(hd_program_settings_parse(text.data, &back, &d), HD_OK);
  assert_memory_equal(&sample, &back, sizeof back);
  hd_buf_free(&text);
}

/* Each is refused: the beginnings of a good text, and what another version may have written. */
static void other_texts_are_refused(void **state) {
  hd_program_settings back;
  hd_diag d;
  hd_buf text = {0};
  assert_int_equal(hd_program_settings_print(&sample, &text, &d), HD_OK);
  for (size_t n = 0; n + 1 < text.len; n++) {
    char *part = strndup(text.data, n);
    if (n + 1 < text.len - strlen("/a folder/report.json"))
      assert_int_equal(hd_program_settings_parse(part, &back, &d), HD_ERR_INPUT);
    free(part);
  }
  static const char *const bad[] = {"unknown=1\n", "arch=x\n", "arch\n", "=\n",
                                    "arch=99999999999999999999\n"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    hd_buf more = {0};
    hd_buf_printf(&more, "%s%s", text.data, bad[k]);
    assert_int_equal(hd_program_settings_parse(more.data, &back, &d), HD_ERR_INPUT);
    hd_buf_free(&more);
  }
  hd_buf_free(&text);
}

static void checks_are_words(void **state) {
  unsigned bits;
  assert_true(hd_program_check_parse("all", &bits) && bits == HD_PROGRAM_CHECK_ALL);
  assert_true(hd_program_check_parse("", &bits) && bits == HD_PROGRAM_CHECK_ALL);
  assert_true(hd_program_check_parse("init", &bits) && bits == HD_PROGRAM_CHECK_INIT);
  assert_true(hd_program_check_parse("race,leak", &bits) &&
              bits == (HD_PROGRAM_CHECK_RACE | HD_PROGRAM_CHECK_LEAK));
  static const char *const bad[] = {"al", "alls", "init,", ",init", "init race"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) assert_false(hd_program_check_parse(bad[k], &bits));
}

static void a_start_that_fails_says_why(void **state) {
  hd_diag d;
  char *argv[] = {(char *)(uintptr_t) "true", NULL};
  hd_program_options o = {.gpu_dir = SOURCE_DIR "/gpus"};
  assert_int_equal(hd_program_exec(&o, argv, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "--devices"));
  o.devices = 1;
  o.report = "/no such folder/report.json";
  assert_int_equal(hd_program_exec(&o, argv, &d), HD_ERR_IO);
  assert_non_null(strstr(d.message, "cannot write '/no such folder/report.json'"));
  o.report = NULL;
  o.memory = "40X";
  assert_int_equal(hd_program_exec(&o, argv, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "--memory"));
  o.memory = "40G";
  o.checks = "everything";
  assert_int_equal(hd_program_exec(&o, argv, &d), HD_ERR_USAGE);
  o.checks = NULL;
  o.gpu = "no such GPU";
  assert_int_not_equal(hd_program_exec(&o, argv, &d), HD_OK);
  o.gpu = NULL;
  o.folder = SOURCE_DIR;
  assert_int_equal(hd_program_exec(&o, argv, &d), HD_ERR_IO);
  assert_non_null(strstr(d.message, "libheddle-cuda.so"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("settings survive the environment", settings_survive_the_environment),
      BEHAVIOUR("other texts are refused", other_texts_are_refused),
      BEHAVIOUR("checks are words", checks_are_words),
      BEHAVIOUR("a start that fails says why", a_start_that_fails_says_why),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
