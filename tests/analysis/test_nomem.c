/* Memory that runs out in analysis/. */
#include "nomem.h"

#include "heddle/analysis.h"

static const char *const text =
    ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 table[4];\n"
    ".func (.reg .b32 r) f(.reg .b32 a)\n{\nadd.u32 r, a, 1;\nret;\n}\n"
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 %r<19>;\n.reg .f32 "
    "%f<9>;\n"
    ".reg .b64 %rd<19>;\nld.param.u64 %rd1, [p];\nld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nmad.lo.s32 %r4, %r2, 32, %r1;\n"
    "{\n.reg .b32 x;\ncall (x), f, (%r4);\nmov.b32 %r4, x;\n}\nmov.u32 %r5, 0;\nmov.u32 %r6, 0;\nL:\n"
    "rem.s32 %r7, %r4, 6;\nmul.wide.s32 %rd3, %r7, 4;\nadd.s64 %rd4, %rd1, %rd3;\nld.global.f32 %f1, "
    "[%rd4];\n"
    "setp.lt.s32 %p2, %r1, %r9;\n@%p2 add.s32 %r6, %r6, %r3;\nmul.wide.s32 %rd5, %r6, 8;\nadd.s64 %rd6, "
    "%rd1, %rd5;\n"
    "@%p2 st.global.f32 [%rd6], %f1;\nadd.s32 %r5, %r5, 1;\nsetp.lt.s32 %p1, %r5, %r9;\n@%p1 bra "
    "L;\nret;\n}\n";

static hd_status analyze(void *ctx, hd_diag *d) {
  hd_arena a;
  hd_ptx_module *m;
  hd_analysis *out;
  hd_arena_init(&a);
  hd_status st = hd_ptx_parse(text, strlen(text), "test", &a, &m, d);
  if (st == HD_OK) st = hd_analyze(m, (uint32_t)hd_ptx_find_kernel(m, "k"), ctx, &out, d);
  if (st == HD_OK) {
    hd_buf line = {0};
    hd_poly stride;
    for (uint32_t i = 0; i < out->n_sites; i++) hd_poly_print(out, out->sites[i].address, &line);
    hd_poly_stride(out, out->sites[0].address, hd_find_symbol(out, HD_V_CTAID, 0, 0), &stride);
    if (line.failed) st = hd_nomem(d);
    hd_buf_free(&line);
    hd_analysis_free(out);
  }
  hd_arena_free(&a);
  return st;
}

/* Rows of tiles, by an argument. */
static hd_status analyze_launch(void *ctx, hd_diag *d) {
  static const char *const tiled =
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
      "ld.param.u64 %rd1, [p];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\n"
      "div.s32 %r3, %r2, %r1;\nrem.s32 %r4, %r2, %r1;\nmul.wide.s32 %rd2, %r3, 4096;\n"
      "add.s64 %rd3, %rd1, %rd2;\nst.global.u32 [%rd3], %r3;\nmul.wide.s32 %rd4, %r4, 64;\n"
      "add.s64 %rd5, %rd3, %rd4;\nst.global.u32 [%rd5+4], %r3;\nret;\n}\n";
  static const struct {
    uint64_t p;
    uint32_t n;
  } args = {1 << 20, 3};
  const hd_point at = {.grid = {12, 1, 1}, .block = {32, 1, 1}, .args = &args, .args_bytes = sizeof args};
  hd_arena a;
  hd_ptx_module *m;
  hd_analysis *out;
  hd_arena_init(&a);
  hd_status st = hd_ptx_parse(tiled, strlen(tiled), "test", &a, &m, d);
  if (st == HD_OK) st = hd_analyze_best(m, 0, &at, &out, d);
  if (st == HD_OK) {
    assert_int_equal(out->tiles.answer, HD_TILES_FOUND);
    hd_analysis_free(out);
  }
  hd_arena_free(&a);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  static const hd_analyze_options known = {.block = {32, 1, 1}, .grid = {4, 4, 1}}, any = {0};
  nomem_expect(&(nomem_entry){"known launch", analyze, (void *)&known, false});
  nomem_expect(&(nomem_entry){"tiles of a launch", analyze_launch, NULL, false});
  nomem_expect(&(nomem_entry){"any launch", analyze, (void *)&any, false});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
