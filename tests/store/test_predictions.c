/* Predictions of a model are verdicts that nothing has measured. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/store.h"

static void predictions_are_for_a_store_of_the_process_alone(void **state) {
  hd_store *s, *kept;
  hd_verdict v = {.speedup = 2,
                  .low = 1,
                  .high = 2,
                  .before_us = 10,
                  .after_us = 5,
                  .when = 1000,
                  .key = {.gpu = HD_VERDICT_ANY, .driver = HD_VERDICT_ANY},
                  .name = "matmul",
                  .plan = "order=col"};
  const uint32_t grid[3] = {4, 2, 1}, block[3] = {32, 8, 1};
  hd_buf text = {0};
  uint64_t n;
  hd_diag d;
  char folder[] = "/tmp/heddle-predictions-XXXXXX", path[64];
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/v.db", folder);
  assert_int_equal(hd_store_open(path, &kept, &d), HD_OK);
  hd_verdict_kernel("text", 4, "kernel", v.key.kernel);
  hd_verdict_launch(grid, block, 0, NULL, 0, v.key.launch);
  assert_int_equal(hd_store_open(":memory:", &s, &d), HD_OK);
  assert_int_equal(hd_store_put(s, &v, &d), HD_OK);
  assert_int_equal(hd_store_export(s, NULL, &text, &d), HD_OK);
  assert_non_null(strstr(text.data, "predictions of a model"));
  hd_store_close(s);
  assert_int_equal(hd_store_import(kept, text.data, text.len, "f.json", &n, &d), HD_ERR_REFUSED);
  assert_non_null(strstr(d.message, "is a prediction"));
  hd_store_close(kept);
  assert_int_equal(hd_store_open(":memory:", &s, &d), HD_OK);
  assert_int_equal(hd_store_import(s, text.data, text.len, "f.json", &n, &d), HD_OK);
  assert_int_equal(n, 1);
  hd_store_close(s);
  hd_buf_free(&text);
  remove(path);
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(predictions_are_for_a_store_of_the_process_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
