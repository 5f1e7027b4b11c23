/* Facts of a program's kernels that are read before their launches are repeated. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/run.h"

/* out[ctaid / 16][ctaid % 16] = in[...], by the number of tiles in a row that the launch gives. */
static const char tiles[] =
    ".version 7.8\n.target sm_70\n.address_size 64\n"
    ".visible .entry copy(.param .u64 in, .param .u64 out, .param .u32 row) {\n"
    ".reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [row]; mov.u32 %r2, %ctaid.x;\n"
    "div.u32 %r3, %r2, %r1; rem.u32 %r4, %r2, %r1; mad.lo.u32 %r5, %r3, 1024, %r4; mul.wide.u32 %d3, %r5, "
    "4;\n"
    "add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3; ld.global.u32 %r6, [%d4]; st.global.u32 [%d5], %r6; ret; "
    "}\n";

static void a_launch_shows_the_tiles_that_its_kernel_means(void **state) {
  (void)state;
  const run_text text = {.data = (char *)(uintptr_t)tiles, .len = sizeof tiles - 1};
  const uint32_t grid[3] = {128, 1, 1}, block[3] = {32, 1, 1};
  struct {
    uint64_t in, out;
    uint32_t row;
  } params = {1 << 20, 1 << 21, 16};
  const run_gpu gpu = {.arch = 90, .n_sms = 132};
  hd_plan_space s = run_space_of(&gpu, &text, "copy", grid, block, &params, 20);
  assert_int_equal(s.shape.kind, HD_SHAPE_GIVEN);
  assert_int_equal(s.grid[0], 16);
  assert_int_equal(s.grid[1], 8);
  params.row = 1;
  s = run_space_of(&gpu, &text, "copy", grid, block, &params, 20);
  assert_int_equal(s.shape.kind, HD_SHAPE_LAUNCH);
  assert_int_equal(s.grid[0], 128);
}

/* `spin` asks for its SM, and its load is volatile. */
static void a_launch_leaves_the_plans_that_its_text_allows(void **state) {
  (void)state;
  static const char kept[] =
      ".version 7.8\n.target sm_70\n.address_size 64\n"
      ".visible .entry spin(.param .u64 in) {\n.reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [in];\n"
      "mov.u32 %r2, %smid; mul.wide.u32 %d2, %r2, 4; add.s64 %d2, %d1, %d2; ld.volatile.global.u32 %r1, "
      "[%d2];\n"
      "st.global.u32 [%d2], %r1; ret; }\n";
  const run_text text = {.data = (char *)(uintptr_t)tiles, .len = sizeof tiles - 1},
                 other = {.data = (char *)(uintptr_t)kept, .len = sizeof kept - 1};
  const run_gpu gpu = {.arch = 90, .n_sms = 132}, newer = {.arch = 100, .n_sms = 148};
  const uint32_t grid[3] = {128, 1, 1}, block[3] = {96, 1, 1};
  const uint64_t params[3] = {1 << 20, 1 << 21, 16};
  hd_plan_space s = run_space_of(&gpu, &text, "copy", grid, block, params, 20);
  assert_true(s.can_order && s.can_loop && !s.can_cancel);
  assert_int_equal(s.loads, 1);
  assert_int_equal(s.warps, 3);
  assert_true(run_space_of(&newer, &text, "copy", grid, block, params, 20).can_cancel);
  s = run_space_of(&gpu, &other, "spin", grid, block, params, 8);
  assert_false(s.can_order || s.can_loop || s.can_swap_threads);
  assert_int_equal(s.loads, 0);
  assert_int_equal(run_space_of(&gpu, &text, "none", grid, block, params, 20).tasks, 0);
}

static void loads_through_a_parameter_that_is_not_written_count(void **state) {
  (void)state;
  const run_text text = {.data = (char *)(uintptr_t)tiles, .len = sizeof tiles - 1};
  run_facts f;
  hd_diag d;
  assert_int_equal(run_facts_of(&text, "copy", &f, &d), HD_OK);
  assert_int_equal(f.n_unwritten, 1);
  assert_int_equal(f.bytes, 20);
  assert_null(f.effect);
  run_facts_free(&f);
}

/* ---- Variables --------------------------------------------------------------------------------- */

#define HEAD ".version 7.8\n.target sm_70\n.address_size 64\n"
#define KERNEL                                                                                               \
  ".visible .entry use(.param .u64 out) {\n.reg .b32 %r<4>; .reg .b64 %d<4>; ld.param.u64 %d1, [out];\n"

/* Every way to name a variable, of two in one instruction, and with a constant. */
static const char many[] = HEAD
    ".visible .global .align 8 .u64 slot[4];\n.const .align 4 .u32 few[3] = {1, 2, 3};\n"
    ".func (.param .u32 r) second() { .reg .b32 %r<2>; ld.const.u32 %r1, [few+4]; st.param.u32 [r], %r1; "
    "ret; "
    "}\n" KERNEL "mov.u64 %d2, few+8; ld.const.u32 %r1, [%d2]; mov.u64 %d3, slot; st.global.u64 [slot+8], "
    "%d3;\ncvta.const.u64 %d3, %d2; { .param .u32 o; call (o), second, (); ld.param.u32 %r2, [o]; }\n"
    "st.global.u32 [%d1], %r2; ret; }\n";

static void variables_become_their_addresses(void **state) {
  (void)state;
  const run_text text = {.data = (char *)(uintptr_t)many, .len = sizeof many - 1};
  const run_gpu gpu = {.arch = 90, .n_sms = 132};
  const hd_plan plan = {.order = {.kind = HD_ORDER_REVERSE}};
  char name[] = "use";
  run_kernel kernel = {.name = name};
  run_variant *v;
  hd_diag d;
  assert_int_equal(run_variant_make(&gpu, &text, &kernel, &plan, NULL, false, &v, &d), HD_OK);
  assert_int_equal(v->variables.all.n, 2);
  assert_true(v->variables.constants);
  for (size_t k = 0; k < 2; k++) v->variables.all.data[k].at = 0x7f0000001000 + 0x1000 * k;
  char *filled = run_variables_fill(&v->variables, v->text);
  hd_ptx_module *m;
  hd_arena a;
  hd_arena_init(&a);
  assert_int_equal(hd_ptx_parse(filled, strlen(filled), "filled", &a, &m, &d), HD_OK);
  assert_null(strstr(filled, "slot"));
  assert_null(strstr(filled, "few"));
  assert_null(strstr(filled, ".const"));
  assert_null(strstr(filled, v->variables.word));
  for (size_t k = 0; k < 2; k++) {
    char address[32];
    snprintf(address, sizeof address, "0x%llx", 0x7f0000001000ull + 0x1000 * k);
    assert_non_null(strstr(filled, address));
  }
  hd_arena_free(&a);
  free(filled);
  run_variables_free(&v->variables);
  free(v->text);
  free(v);
}

static void variables_that_have_no_address_here_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      HEAD ".extern .global .u32 x;\n" KERNEL "ld.global.u32 %r1, [x]; st.global.u32 [%d1], %r1; ret; }\n",
      HEAD KERNEL ".global .u32 x; ld.global.u32 %r1, [x]; st.global.u32 [%d1], %r1; ret; }\n",
      HEAD ".global .texref x;\n" KERNEL "mov.u64 %d2, x; st.global.u64 [%d1], %d2; ret; }\n",
      HEAD ".global .attribute(.unified(1, 2)) .u32 x;\n" KERNEL
           "ld.global.u32 %r1, [x]; st.global.u32 [%d1], %r1; ret; }\n",
      HEAD KERNEL "mov.u64 %d2, x; st.global.u64 [%d1], %d2; ret; }\n"};
  for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
    const run_text text = {.data = (char *)(uintptr_t)bad[k], .len = strlen(bad[k])};
    run_facts f;
    hd_diag d;
    const hd_status st = run_facts_of(&text, "use", &f, &d);
    if (st != HD_ERR_UNSUPPORTED) print_message("%zu: %s\n", k, d.message);
    assert_int_equal(st, HD_ERR_UNSUPPORTED);
  }
}

/* ---- Texts for newer architectures ------------------------------------------------------------- */

static void texts_for_newer_gpus_are_lowered_unless_they_are_for_one_alone(void **state) {
  static const struct {
    const char *target;
    bool lowered;
  } cases[] = {{"sm_120", true},
               {"sm_100, texmode_independent", true},
               {"sm_120a", false},
               {"sm_100f", false},
               {"sm_90a", false}};
  const run_gpu gpu = {.arch = 89, .n_sms = 4};
  hd_plan plan;
  (void)state;
  assert_int_equal(hd_plan_parse("order=reverse", &plan, NULL), HD_OK);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char ptx[2048];
    run_variant *v = NULL;
    hd_diag d = {0};
    run_kernel kernel = {.name = (char *)(uintptr_t) "copy"};
    snprintf(ptx, sizeof ptx, ".version 8.7\n.target %s\n%s", cases[k].target,
             strstr(tiles, ".address_size"));
    const run_text text = {.data = ptx, .len = strlen(ptx), .newer = 100};
    const hd_status st = run_variant_make(&gpu, &text, &kernel, &plan, NULL, false, &v, &d);
    if ((st == HD_OK) != cases[k].lowered) print_message("%s: %s\n", cases[k].target, d.message);
    assert_int_equal(st, cases[k].lowered ? HD_OK : HD_ERR_UNSUPPORTED);
    char want[64];
    snprintf(want, sizeof want, ".target sm_89%s\n",
             strchr(cases[k].target, ',') ? strchr(cases[k].target, ',') : "");
    if (st == HD_OK) assert_non_null(strstr(v->text, want));
    if (!v) continue;
    run_variables_free(&v->variables);
    free(v->text);
    free(v);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_launch_shows_the_tiles_that_its_kernel_means),
      cmocka_unit_test(a_launch_leaves_the_plans_that_its_text_allows),
      cmocka_unit_test(loads_through_a_parameter_that_is_not_written_count),
      cmocka_unit_test(variables_become_their_addresses),
      cmocka_unit_test(variables_that_have_no_address_here_are_refused),
      cmocka_unit_test(texts_for_newer_gpus_are_lowered_unless_they_are_for_one_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
