/* Compiled kernels are one for all users. */
#include "check.h"

#include "heddle/workload.h"
#include "scratch.h"

static const char PTX[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry a(.param .u64 p) {\n  ret;\n}\n"
                          ".visible .entry b(.param .u64 p) {\n  ret;\n}\n";

static const char HEAD[] = "source = \"kernel.ptx\"\n[sizes.small]\n"
                           "[[buffer]]\nname = \"x\"\ntype = \"u32\"\ncount = 4\n";
#define LAUNCH(k, g, b) "[[launch]]\nkernel = \"" k "\"\ngrid = [" g "]\nblock = [" b "]\nargs = [\"x\"]\n"

static hd_workload *open_with(const char *launches) {
  char text[4096];
  hd_workload *w;
  hd_diag d = {0};
  snprintf(text, sizeof text, "%s%s", HEAD, launches);
  scratch_write("kernel.ptx", PTX);
  scratch_write("workload.toml", text);
  if (hd_workload_open(scratch_path("workload.toml"), NULL, NULL, &w, &d) != HD_OK) fail_msg("%s", d.message);
  return w;
}

static void kernels_are_listed_once_with_their_launches(void **state) {
  hd_workload *w = open_with(LAUNCH("b", "2, 3", "32") LAUNCH("a", "7", "64") LAUNCH("b", "2, 3", "64")
                                 LAUNCH("a", "8", "64"));
  const hd_compiled *c;
  hd_diag d = {0};
  assert_int_equal(hd_workload_compiled(w, 80, &c, &d), HD_OK);
  assert_int_equal(c->n_kernels, 2);
  assert_string_equal(c->kernels[0].name, "b");
  assert_string_equal(c->kernels[1].name, "a");
  static const uint32_t want[] = {0, 1, 0, 1};
  assert_memory_equal(c->kernel_of, want, sizeof want);
  assert_int_equal(c->kernels[0].first, 0);
  assert_int_equal(c->kernels[1].first, 1);
  assert_int_equal(c->kernels[0].n_launches, 2);
  assert_true(c->kernels[0].one_grid && !c->kernels[0].one_block);
  assert_true(!c->kernels[1].one_grid && c->kernels[1].one_block);
  assert_int_equal(c->kernels[1].func, hd_ptx_find_kernel(c->module, "a"));
  assert_string_equal(c->text, PTX);
  assert_string_equal(c->compiler, "ptx");
  hd_workload_close(w);
}

static void ptx_is_one_text_for_every_architecture(void **state) {
  hd_workload *w = open_with(LAUNCH("a", "1", "32"));
  const hd_compiled *c, *again, *other;
  hd_diag d = {0};
  assert_int_equal(hd_workload_compiled(w, 80, &c, &d), HD_OK);
  assert_int_equal(hd_workload_compiled(w, 80, &again, &d), HD_OK);
  assert_int_equal(hd_workload_compiled(w, 90, &other, &d), HD_OK);
  assert_ptr_equal(c, again);
  assert_ptr_equal(c, other);
  hd_workload_close(w);
}

static void a_kernel_that_is_not_there_is_named(void **state) {
  hd_workload *w = open_with(LAUNCH("a", "1", "32") LAUNCH("c", "1", "32"));
  const hd_compiled *c;
  hd_diag d = {0};
  assert_int_equal(hd_workload_compiled(w, 80, &c, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "no kernel 'c'"));
  assert_null(c);
  hd_workload_close(w);
}

typedef struct asking {
  const hd_workload *w;
  const hd_compiled *got[8];
} asking;

static void ask(void *ctx, unsigned worker) {
  asking *a = ctx;
  if (hd_workload_compiled(a->w, 80 + worker % 2 * 10, &a->got[worker], NULL) != HD_OK) a->got[worker] = NULL;
}

static void threads_that_ask_at_once_get_the_same(void **state) {
  hd_workload *w = open_with(LAUNCH("a", "1", "32"));
  asking a = {.w = w};
  assert_true(hd_parallel(8, ask, &a));
  for (int i = 0; i < 8; i++) {
    assert_non_null(a.got[i]);
    assert_ptr_equal(a.got[i], a.got[0]);
  }
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernels_are_listed_once_with_their_launches),
      cmocka_unit_test(ptx_is_one_text_for_every_architecture),
      cmocka_unit_test(a_kernel_that_is_not_there_is_named),
      cmocka_unit_test(threads_that_ask_at_once_get_the_same),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
