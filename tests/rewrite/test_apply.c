/* From plans to a text in one call. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/rewrite.h"

#define KERNEL(name)                                                                                         \
  ".visible .entry " name "(.param .u64 out)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<4>;\n"                      \
  "ld.param.u64 %rd1, [out];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %ctaid.x;\n"                      \
  "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd2, %rd3;\nld.global.u32 %r2, [%rd2];\n"                      \
  "st.global.u32 [%rd2], %r2;\nret;\n}\n"
static const char text[] = ".version 7.8\n.target sm_80\n.address_size 64\n" KERNEL("a") KERNEL("b");
static const size_t len = sizeof text - 1;
static const hd_rewrite_options options = {.grid = {.known = true, .g = {64, 1, 1}, .n_sms = 8},
                                           .block = {64, 1, 1}};
static hd_diag d;

static hd_plan plan_of(const char *notation) {
  hd_plan p;
  if (hd_plan_parse(notation, &p, &d) != HD_OK) fail_msg("%s", d.message);
  return p;
}

/* The same by hand. */
static char *by_hand(const hd_plan *a, const hd_plan *b, hd_recipe recipes[2], bool in_place) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_buf out = {0};
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text, len, "t", &arena, &m, &d), HD_OK);
  assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "a"), a, &options, &recipes[0], &d), HD_OK);
  assert_int_equal(hd_rewrite(m, (uint32_t)hd_ptx_find_kernel(m, "b"), b, &options, &recipes[1], &d), HD_OK);
  assert_int_equal((in_place ? hd_ptx_print_in_place : hd_ptx_print)(m, &out), HD_OK);
  hd_arena_free(&arena);
  return out.data;
}

static void each_kernel_gets_its_plan_and_its_recipe(void **state) {
  const hd_plan a = plan_of("order=reverse"), b = plan_of("bind=agents");
  for (int in_place = 0; in_place < 2; in_place++) {
    const hd_apply_kernel kernels[] = {{.name = "a", .plan = &a, .options = options},
                                       {.name = "b", .plan = &b, .options = options}};
    hd_recipe want[2];
    hd_rewritten got;
    char *text_wanted = by_hand(&a, &b, want, in_place);
    assert_int_equal(
        hd_apply_text(text, len, "t", kernels, 2, in_place ? HD_TEXT_IN_PLACE : HD_TEXT_CANONICAL, &got, &d),
        HD_OK);
    assert_string_equal(got.text.data, text_wanted);
    assert_memory_equal(got.recipes, want, sizeof want);
    assert_true(got.recipes[1].agents && !got.recipes[0].agents);
    hd_rewritten_free(&got);
    free(text_wanted);
  }
}

static void without_a_form_there_is_a_module_and_no_text(void **state) {
  const hd_apply_kernel k = {.func = 0, .plan = &hd_plan_original, .options = options};
  hd_rewritten got;
  assert_int_equal(hd_apply_text(text, len, "t", &k, 1, HD_TEXT_NONE, &got, &d), HD_OK);
  assert_null(got.text.data);
  assert_int_equal(got.module->n_funcs, 2);
  hd_rewritten_free(&got);
}

static void a_failure_says_whose_it_is(void **state) {
  const hd_plan p = plan_of("stream=7");
  static const struct {
    hd_apply_kernel kernel;
    hd_status status;
    const char *says;
  } cases[] = {{{.name = "c"}, HD_ERR_INPUT, "t: no kernel 'c' in this module"},
               {{.name = "a"}, HD_ERR_USAGE, "stream: the kernel has 1 loads"},
               {{.name = "a", .blame = "mine"}, HD_ERR_USAGE, "mine: stream: the kernel has 1 loads"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_apply_kernel k = cases[i].kernel;
    hd_rewritten got;
    k.plan = &p;
    k.options = options;
    memset(&d, 0, sizeof d);
    assert_int_equal(hd_apply_text(text, len, "t", &k, 1, HD_TEXT_CANONICAL, &got, &d), cases[i].status);
    assert_memory_equal(d.message, cases[i].says, strlen(cases[i].says));
    assert_null(got.text.data);
    assert_null(got.module);
  }
}

static void a_refusal_has_its_line(void **state) {
  static const char reads[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
                              "  .reg .b32 %r<2>;\n  mov.u32 %r1, %smid;\n  ret;\n}\n";
  const hd_plan p = plan_of("order=reverse");
  hd_apply_kernel k = {.name = "k", .plan = &p, .options = options};
  for (int blamed = 0; blamed < 2; blamed++) {
    hd_rewritten got;
    if (blamed) k.blame = "somebody";
    assert_int_equal(hd_apply_text(reads, sizeof reads - 1, "t", &k, 1, HD_TEXT_CANONICAL, &got, &d),
                     HD_ERR_REFUSED);
    assert_int_equal(d.line, 7);
  }
}

/* The first load, once the kernel is known. */
static hd_status find_loads(void *ctx, const hd_ptx_module *m, uint32_t func, hd_rewrite_options *o,
                            hd_diag *why) {
  static const uint32_t first = 0;
  if (hd_rewrite_loads(m, func, NULL, 0) != 1) return hd_fail(why, HD_ERR_REFUSED, "not this one");
  o->unwritten = &first;
  o->n_unwritten = *(const uint32_t *)ctx;
  return HD_OK;
}

static void options_are_completed_when_the_kernel_is_known(void **state) {
  const hd_plan p = plan_of("bypass=ro:0");
  for (uint32_t n = 0; n < 2; n++) {
    const hd_apply_kernel k = {.name = "b", .plan = &p, .options = options, .prepare = find_loads, .ctx = &n};
    hd_rewritten got;
    const hd_status st = hd_apply_text(text, len, "t", &k, 1, HD_TEXT_CANONICAL, &got, &d);
    assert_int_equal(st, n ? HD_OK : HD_ERR_REFUSED);
    if (n) assert_non_null(strstr(got.text.data, "ld.global.nc"));
    hd_rewritten_free(&got);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("each kernel gets its plan and its recipe", each_kernel_gets_its_plan_and_its_recipe),
      BEHAVIOUR("without a form there is a module and no text", without_a_form_there_is_a_module_and_no_text),
      BEHAVIOUR("a failure says whose it is", a_failure_says_whose_it_is),
      BEHAVIOUR("a refusal has its line", a_refusal_has_its_line),
      BEHAVIOUR("options are completed when the kernel is known",
                options_are_completed_when_the_kernel_is_known)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
