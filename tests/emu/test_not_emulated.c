/* docs/not-emulated.md beside the emulator: what is on the page is refused, and nothing else is on it. */
#include "emu/ops_warp.h"

/* Members of the rows of docs/not-emulated.md: an instruction as the first cell has it, a form as the second.
 */
static const struct {
  const char *instruction, *form, *body;
} on_page[] = {
    {"`tcgen05.mma`", "`.ashift`", "tcgen05.mma.cta_group::1.kind::f16.ashift [%w1], [%w2], %d2, %w3, %p1"},
    {"`wgmma.mma_async`", "`.sp`",
     "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d1, %d2, %w1, 0, 1, 1, 1, "
     "0, 0"},
    {"`mma`", "`.sp`",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32."
     "ue8m0 {%f1, "
     "%f2, %f3, %f4}, {%w1, %w2, %w3, %w4}, {%w5, %w6, %w7, %w8}, {%f1, %f2, %f3, %f4}, %w9, 0, %w1, {0, 0}, "
     "%w2, {0, "
     "0}"},
    {"`mma`", "`.block_scale`",
     "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 "
     "{%f1, "
     "%f2, %f3, %f4}, {%w1, %w2, %w3, %w4}, {%w5, %w6, %w7, %w8}, {%f1, %f2, %f3, %f4}, %w9, 0, %w1, {0, 0}, "
     "%w2, {0, "
     "0}"},
    {"`mma`", "`.rz`",
     "mma.sync.aligned.m8n8k4.row.col.rz.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g1, %g2}"},
    {"`mma`", "`.rm`",
     "mma.sync.aligned.m8n8k4.row.col.rm.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g1, %g2}"},
    {"`mma`", "`.rp`",
     "mma.sync.aligned.m8n8k4.row.col.rp.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g1, %g2}"},
    {"`cp.async.bulk`", "`.im2col`",
     "cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes [%d1], [%d2, {%w1, %w2, "
     "%w3}], "
     "[%d3], {%h1}"},
    {"`fma`", "`.oob`", "fma.rn.oob.f16 %h1, %h2, %h3, %h4"},
    {"`sust`", "`.p`", "sust.p.1d.b32.trap [%d1, {%w2}], {%w1}"},
    {"`tex`", "`2dms`", "tex.2dms.v4.f32.s32 {%w1, %w2, %w3, %w4}, [%d1, {%w5, %w6, %w7, %w7}]"},
    {"`tex`", "`a2dms`", "tex.a2dms.v4.f32.s32 {%w1, %w2, %w3, %w4}, [%d1, {%w5, %w6, %w7, %w7}]"},
    {"`tld4`", "`2dms`", "tld4.r.2dms.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}]"},
    {"`wmma`", "`.f64`",
     "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64 {%g1, %g2}, {%g3}, {%g4}, {%g1, %g2}"},
    {"`wmma`", "sub-byte types",
     "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%w1, %w2}, {%w3}, {%w4}, {%w1, %w2}"},
    {"`isspacep`", "`.const`", "isspacep.const %p1, %d1"},
    {"`mov`", "one special register into a vector", "mov.v2.u32 {%w1, %w2}, %tid"},
    {"`mov`", "a vector of four into 128 bits", ".reg .b128 %q<2>; mov.b128 %q1, {%w1, %w2, %w3, %w4}"},
    {"special registers", "`%pm0`", "mov.u32 %w1, %pm0"},
    {"special registers", "`%pm7`", "mov.u32 %w1, %pm7"},
    {"special registers", "`%envreg0`", "mov.b32 %w1, %envreg0"},
    {"special registers", "`%envreg3`", "mov.b32 %w1, %envreg3"},
    {"special registers", "`%reserved_smem_offset_0`", "mov.b32 %w1, %reserved_smem_offset_0"},
};
enum { ON_PAGE = sizeof on_page / sizeof *on_page };

static void the_pages_forms_are_refused(void **state) {
  for (size_t i = 0; i < ON_PAGE; i++) {
    hd_diag d = {0};
    char body[512];
    snprintf(body, sizeof body, "%s;", on_page[i].body);
    if (op_supported("", body, &d) != HD_ERR_UNSUPPORTED) fail_msg("not refused: %s", on_page[i].body);
  }
}

/* Each word in quotes of a cell belongs to a member of the row. */
static void check_words(const char *row, const char *cell, const char *end, bool forms, const bool *of_row) {
  for (const char *p = cell; (p = strchr(p, '`')) && p < end;) {
    const char *behind = strchr(p + 1, '`') + 1;
    bool found = false;
    for (size_t i = 0; i < ON_PAGE; i++) {
      const char *word = forms ? on_page[i].form : on_page[i].instruction;
      found |= of_row[i] && strlen(word) == (size_t)(behind - p) && strncmp(word, p, strlen(word)) == 0;
    }
    if (!found) fail_msg("no member of %.*s: %.80s", (int)(behind - p), p, row);
    p = behind;
  }
}

static void the_page_lists_what_is_refused_and_nothing_else(void **state) {
  hd_file f;
  hd_diag d = {0};
  bool listed[ON_PAGE] = {0};
  size_t rows = 0;
  op_ok(hd_file_open(SOURCE_DIR "/docs/not-emulated.md", &f, &d), &d);
  char *text = strndup((const char *)f.data, f.len);
  hd_file_close(&f);
  for (char *rest, *row = strtok_r(text, "\n", &rest); row; row = strtok_r(NULL, "\n", &rest)) {
    bool of_row[ON_PAGE] = {0}, any = false;
    if (strncmp(row, "| ", 2) != 0 || strncmp(row, "| instruction", 13) == 0 || row[2] == '-') continue;
    char *forms = strstr(row, " | ");
    assert_non_null(forms);
    for (size_t i = 0; i < ON_PAGE; i++) {
      const char *name = strstr(row, on_page[i].instruction);
      of_row[i] = name && name < forms && strstr(forms, on_page[i].form);
      listed[i] |= of_row[i];
      any |= of_row[i];
    }
    if (!any) fail_msg("a row of which no member is refused: %s", row);
    check_words(row, row, forms, false, of_row);
    check_words(row, forms, forms + strlen(forms), true, of_row);
    rows++;
  }
  free(text);
  assert_true(rows > 10);
  for (size_t i = 0; i < ON_PAGE; i++)
    if (!listed[i]) fail_msg("not on the page: %s", on_page[i].body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the page's forms are refused", the_pages_forms_are_refused),
      BEHAVIOUR("the page lists what is refused, and nothing else",
                the_page_lists_what_is_refused_and_nothing_else),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
