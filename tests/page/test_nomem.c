/* Memory that runs out in page/: a page is whole, or says that it is not. */
#include "nomem.h"

#include "page/page.h"

static hd_status page(void *ctx, hd_diag *d) {
  hd_buf *whole = ctx, files = {0}, out = {0};
  page_add_json(&files, "a.json", "{\"x\": \"</script>\"}", 18);
  page_add_text(&files, "b.txt", "1 < 2", 5);
  page_add_skipped(&files, "c.bin", "it is large");
  page_put(&out, "Title", "a line", &files);
  hd_status st = out.failed ? hd_nomem(d) : HD_OK;
  if (st == HD_OK && !whole->data) {
    *whole = out;
    out = (hd_buf){0};
  } else if (st == HD_OK) {
    assert_int_equal(out.len, whole->len);
    assert_memory_equal(out.data, whole->data, out.len);
  }
  hd_buf_free(&files);
  hd_buf_free(&out);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  hd_buf whole = {0};
  nomem_expect(&(nomem_entry){"page", page, &whole, false});
  hd_buf_free(&whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
