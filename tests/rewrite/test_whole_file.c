/* Every kernel of a file. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/container.h"
#include "heddle/rewrite_file.h"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                           ".visible .entry moves(.param .u64 out)\n{\n  .reg .b32 %r<2>;\n"
                           "  mov.u32 %r1, %ctaid.x;\n  ret;\n}\n"
                           ".visible .entry fixed(.param .u64 out)\n{\n  .reg .b32 %r<2>;\n"
                           "  mov.u32 %r1, %smid;\n  ret;\n}\n";

static void write_text(char path[64], const char *what) {
  strcpy(path, "/tmp/heddle-whole-XXXXXX");
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, what, strlen(what)), strlen(what));
  close(fd);
}

static void kernels_that_are_refused_stay_and_are_counted(void **state) {
  char in[64], out[64];
  hd_plan plan;
  hd_rewritten_file r;
  hd_rewrite_options options = {.grid = {.n_sms = 132}};
  write_text(in, text);
  write_text(out, "");
  assert_int_equal(hd_plan_parse("order=reverse", &plan, NULL), HD_OK);
  const hd_rewrite_file_options o = {
      .path = in, .output = out, .index = UINT64_MAX, .plan = &plan, .options = &options};
  assert_int_equal(hd_rewrite_file(&o, &r, NULL), HD_OK);
  assert_int_equal(r.modules, 1);
  assert_int_equal(r.kernels, 2);
  assert_int_equal(r.rewritten, 1);
  assert_int_equal(r.reasons.n, 1);
  assert_int_equal(r.reasons.data[0].kernels, 1);
  assert_int_equal(r.files.n, 1);
  assert_string_equal(r.files.data[0].path, out);
  assert_string_equal(r.files.data[0].target, "sm_80");
  assert_int_equal(r.files.data[0].rewritten, 1);
  hd_rewritten_file_free(&r);
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  assert_int_equal(hd_module_load(out, UINT64_MAX, &arena, &m, NULL), HD_OK);
  assert_true(hd_ptx_find_kernel(m, "moves") >= 0 && hd_ptx_find_kernel(m, "fixed") >= 0);
  hd_arena_free(&arena);
  unlink(in);
  unlink(out);
}

static void a_module_that_is_not_there_is_an_error(void **state) {
  char in[64];
  const hd_plan plan = {.order = {.kind = HD_ORDER_REVERSE}};
  hd_rewritten_file r;
  hd_diag d = {0};
  hd_rewrite_options options = {.grid = {.n_sms = 132}};
  hd_rewrite_file_options o = {
      .path = in, .output = "/dev/null", .index = 7, .plan = &plan, .options = &options};
  write_text(in, text);
  assert_int_equal(hd_rewrite_file(&o, &r, &d), HD_ERR_USAGE);
  assert_non_null(strstr(d.message, "no module 7"));
  unlink(in);
  assert_int_equal(hd_rewrite_file(&o, &r, &d), HD_ERR_IO);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("kernels that are refused stay, and are counted",
                kernels_that_are_refused_stay_and_are_counted),
      BEHAVIOUR("a module that is not there is an error", a_module_that_is_not_there_is_an_error),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
