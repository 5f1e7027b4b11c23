/* The document of `analyze`, as text and as JSON. */
#include "golden.h"

#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

#include "heddle/report.h"

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry copy(.param .u64 in, .param .u64 out) {\n"
    "  .reg .b32 %r<5>;\n  .reg .b64 %rd<6>;\n  .reg .f32 %f<2>;\n"
    "  ld.param.u64 %rd1, [in];\n  ld.param.u64 %rd2, [out];\n"
    "  mov.u32 %r1, %ctaid.x;\n  mov.u32 %r2, %ntid.x;\n  mov.u32 %r3, %tid.x;\n"
    "  mad.lo.s32 %r4, %r1, %r2, %r3;\n  mul.wide.s32 %rd3, %r4, 4;\n"
    "  add.s64 %rd4, %rd1, %rd3;\n  ld.global.f32 %f1, [%rd4];\n"
    "  add.s64 %rd5, %rd2, %rd3;\n  st.global.f32 [%rd5], %f1;\n  ret;\n}\n"
    ".visible .entry where(.param .u64 out) {\n"
    "  .reg .b32 %r<2>;\n  .reg .b64 %rd<2>;\n"
    "  ld.param.u64 %rd1, [out];\n  mov.u32 %r1, %smid;\n  st.global.u32 [%rd1], %r1;\n"
    "  ret;\n}\n";

/* Both kernels of the module, into one document. */
static void print(bool json, bool verbose, hd_buf *out) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "t.ptx", &arena, &m, NULL), HD_OK);
  hd_analysis_document *doc = hd_analysis_document_new(json);
  const hd_point at = {.grid = {8, 1, 1}, .block = {64, 1, 1}};
  for (uint32_t f = 0; f < m->n_funcs; f++) {
    hd_analysis *a;
    hd_refusal refusals[4];
    assert_int_equal(hd_analyze(m, f, NULL, &a, NULL), HD_OK);
    size_t n = hd_rewrite_refusals(m, f, refusals, 4);
    const hd_analysis_page page = {
        .at = &at, .refusals = refusals, .n_refusals = n, .n_stored = n < 4 ? n : 4, .verbose = verbose};
    hd_analysis_document_kernel(doc, a, &page);
    hd_analysis_free(a);
  }
  hd_analysis_document_print(doc, "t.ptx", out);
  hd_analysis_document_free(doc);
  hd_arena_free(&arena);
}

static void a_document_holds_every_kernel_with_its_verdict(void **state) {
  hd_buf out = {0};
  print(false, false, &out);
  assert_golden("document.txt", &out);
  print(false, true, &out);
  assert_golden("document-verbose.txt", &out);
}

static void a_page_is_of_any_json(void **state) {
  static const char json[] = "{\"a\": [1, 2]}";
  hd_buf page = {0};
  hd_diag d;
  assert_int_equal(hd_report_page("a <title>", "a line", json, sizeof json - 1, &page, &d), HD_OK);
  assert_non_null(strstr(page.data, "a &lt;title&gt;"));
  assert_non_null(strstr(page.data, "{\"a\":[1,2]}"));
  assert_int_equal(hd_report_page("a", "b", "{", 1, &page, &d), HD_ERR_INPUT);
  hd_buf_free(&page);
}

static void its_json_has_the_accesses_of_all_kernels_in_one_list(void **state) {
  hd_buf out = {0};
  print(true, false, &out);
  json_t *j = json_loadb(out.data, out.len, 0, NULL), *list = json_object_get(j, "accesses");
  assert_int_equal(json_array_size(list), 3);
  for (size_t i = 0; i < 3; i++)
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, i), "kernel")),
                        i < 2 ? "copy" : "where");
  assert_int_equal(json_array_size(json_object_get(j, "kernels")), 2);
  json_decref(j);
  assert_golden("document.json", &out);
}

static void coverage_counts_accesses_of_files_by_class(void **state) {
  char path[] = "/tmp/heddle-coverage-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
  close(fd);
  hd_coverage c = {0};
  assert_int_equal(hd_coverage_file(path, &c, NULL), HD_OK);
  assert_int_equal(hd_coverage_file(path, &c, NULL), HD_OK);
  unlink(path);
  assert_int_equal(c.modules, 2);
  assert_int_equal(c.kernels, 4);
  assert_int_equal(c.sites, 6);
  assert_int_equal(hd_coverage_file(path, &c, NULL), HD_ERR_IO);
  hd_buf out = {0};
  hd_report_coverage(&c, &out);
  assert_golden("coverage.txt", &out);
  hd_coverage_json(&c, &out);
  assert_golden("coverage.json", &out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a document holds every kernel with its verdict",
                a_document_holds_every_kernel_with_its_verdict),
      BEHAVIOUR("a page is of any JSON", a_page_is_of_any_json),
      BEHAVIOUR("its JSON has the accesses of all kernels in one list",
                its_json_has_the_accesses_of_all_kernels_in_one_list),
      BEHAVIOUR("coverage counts accesses of files by class", coverage_counts_accesses_of_files_by_class),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
