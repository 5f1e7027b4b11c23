#include "check.h"

#include <string.h>

#include "text/toml.h"

static hd_status parse(const char *text, json_t **out, hd_diag *d) {
  return toml_parse(text, strlen(text), "w.toml", out, d);
}

static void tables_keep_their_lines(void **state) {
  json_t *j;
  hd_diag d;
  assert_int_equal(parse("a = 1\n\n[t]\nb = \"x\"\n[[u]]\nc = 1.5\n", &j, &d), HD_OK);
  assert_int_equal(json_integer_value(json_object_get(j, "a")), 1);
  assert_int_equal(toml_line(j, "a"), 1);
  json_t *t = json_object_get(j, "t");
  assert_int_equal(toml_line(t, NULL), 3);
  assert_int_equal(toml_line(t, "b"), 4);
  assert_string_equal(json_string_value(json_object_get(t, "b")), "x");
  json_t *u = json_array_get(json_object_get(j, "u"), 0);
  assert_int_equal(toml_line(u, "c"), 6);
  json_decref(j);
}

static void malformed_text_is_placed(void **state) {
  json_t *j;
  hd_diag d;
  assert_int_equal(parse("a = 1\nb = = 2\n", &j, &d), HD_ERR_INPUT);
  assert_int_equal(d.line, 2);
  assert_string_equal(d.file, "w.toml");
  assert_null(j);
  assert_int_equal(parse("a = 1979-05-27\n", &j, &d), HD_ERR_INPUT);
  assert_int_equal(parse("a = inf\n", &j, &d), HD_ERR_INPUT);
}

static void unknown_keys_are_named(void **state) {
  json_t *j;
  hd_diag d;
  const char *const known[] = {"a", "b", NULL};
  assert_int_equal(parse("a = 1\nc = 2\n", &j, &d), HD_OK);
  assert_int_equal(toml_only("w.toml", j, known, &d), HD_ERR_INPUT);
  assert_int_equal(d.line, 2);
  assert_string_equal(d.message, "unknown key 'c' (known: a, b)");
  json_decref(j);
}

static void deep_nesting_is_no_crash(void **state) {
  hd_buf b = {0};
  hd_buf_puts(&b, "a = ");
  for (int i = 0; i < 100000; i++) hd_buf_putc(&b, '[');
  json_t *j;
  hd_diag d;
  assert_int_equal(toml_parse(b.data, b.len, "deep", &j, &d), HD_ERR_INPUT);
  hd_buf_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("tables keep their source lines", tables_keep_their_lines),
      BEHAVIOUR("malformed text is an error with a place", malformed_text_is_placed),
      BEHAVIOUR("unknown keys are named with the known ones", unknown_keys_are_named),
      BEHAVIOUR("deep nesting is an error, not a crash", deep_nesting_is_no_crash),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
