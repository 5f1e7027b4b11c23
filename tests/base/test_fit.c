/* Lines of bounded length. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/base.h"

static void a_reason_stays_behind_names_of_any_length(void **state) {
  static const char reason[] = "the reason, in 3 words or more";
  for (size_t name = 1; name < 6000; name += name / 5 + 1)
    for (size_t cap = 80; cap < 2000; cap *= 2) {
      char *long_name = malloc(name + 1), out[2000];
      memset(long_name, 'n', name);
      long_name[0] = 'B', long_name[name - 1] = 'E', long_name[name] = 0;
      hd_fit(out, cap, "kernel %s: %s", long_name, reason);
      assert_true(strlen(out) < cap);
      if (!strstr(out, reason) || strncmp(out, "kernel ", 7) != 0) fail_msg("%zu in %zu: %s", name, cap, out);
      if (strlen("kernel : ") + name + strlen(reason) < cap) assert_true(strstr(out, long_name) != NULL);
      hd_diag d = {0};
      hd_fail(&d, HD_ERR_REFUSED, "%s: %s: %s", long_name, long_name, reason);
      assert_true(strstr(d.message, reason) != NULL);
      free(long_name);
    }
}

static void words_are_shortened_no_more_than_they_must(void **state) {
  char out[64];
  assert_string_equal(hd_fit(out, 64, "%s %d", "short", 5), "short 5");
  assert_string_equal(hd_fit(out, 40, "%s is no %s", "abcdefghijklmnopqrstuvwxyz0123456789", "name"),
                      "abcdefghijkl...xyz0123456789 is no name");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reason_stays_behind_names_of_any_length),
      cmocka_unit_test(words_are_shortened_no_more_than_they_must),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
