/* Pages: what files become in them. */
#include "check.h"

#include <string.h>

#include "page/page.h"

static void files_cannot_end_the_script_that_holds_them(void **state) {
  static const char json[] = "{\"a\": \"</script><img>\"}", text[] = "</script>\n\"quoted\"\t\\";
  hd_buf files = {0}, page = {0};
  page_add_json(&files, "a.json", json, sizeof json - 1);
  page_add_text(&files, "<b>.txt", text, sizeof text - 1);
  page_add_skipped(&files, "c", "too large");
  page_put(&page, "A <title>", "a \"line\" & more", &files);
  assert_false(page.failed);
  assert_non_null(strstr(page.data, "<title>A &lt;title&gt;</title>"));
  assert_non_null(
      strstr(page.data, "<h1>A &lt;title&gt;</h1><span class=\"sub\">a &quot;line&quot; &amp; more</span>"));
  assert_non_null(strstr(
      page.data, "type=\"application/json\">["
                 "{\"name\":\"a.json\",\"json\":{\"a\": \"\\u003c/script>\\u003cimg>\"}},"
                 "{\"name\":\"\\u003cb>.txt\",\"text\":\"\\u003c/script>\\n\\\"quoted\\\"\\u0009\\\\\"},"
                 "{\"name\":\"c\",\"skipped\":\"too large\"}]</script>"));
  hd_buf_free(&files);
  hd_buf_free(&page);
}

static void a_file_that_failed_makes_the_page_fail(void **state) {
  hd_buf files = {.failed = true}, page = {0};
  page_put(&page, "t", "", &files);
  assert_true(page.failed);
  hd_buf_free(&page);
}

static void a_page_without_files_is_a_page(void **state) {
  hd_buf files = {0}, page = {0};
  page_put(&page, "t", "", &files);
  assert_non_null(strstr(page.data, "application/json\">[]</script>"));
  hd_buf_free(&page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("files cannot end the script that holds them", files_cannot_end_the_script_that_holds_them),
      BEHAVIOUR("a file that failed makes the page fail", a_file_that_failed_makes_the_page_fail),
      BEHAVIOUR("a page without files is a page", a_page_without_files_is_a_page),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
