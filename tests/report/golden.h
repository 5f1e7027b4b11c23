/* report/golden.h: whole outputs, held in files: tests/report/golden/NAME. */
#ifndef HEDDLE_TESTS_REPORT_GOLDEN_H
#define HEDDLE_TESTS_REPORT_GOLDEN_H

#include "check.h"

#include <stdio.h>
#include <string.h>

#include "heddle/base.h"

/* Checks that the text equals the file, byte for byte. Frees the text. */
static inline void assert_golden(const char *name, hd_buf *text) {
  char path[512];
  hd_file f;
  bool differs = false;
  snprintf(path, sizeof path, "%s/golden/%s", TEST_DIR, name);
  assert_false(text->failed);
  assert_non_null(text->data);
  assert_int_equal(hd_file_open(path, &f, NULL), HD_OK);
  if (f.len != text->len || memcmp(f.data, text->data, f.len) != 0) differs = true;
  if (differs) { /* cmocka's messages are cut at 1,024 bytes */
    fprintf(stderr, "%s should hold:\n%s<end>\n", path, text->data);
    fail();
  }
  hd_file_close(&f);
  hd_buf_free(text);
}

#endif
