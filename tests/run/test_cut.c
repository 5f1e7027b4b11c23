/* A module's text with one kernel alone: the kernel is the same, on its own lines, and the others are empty.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "heddle/ptx.h"
#include "run/cut.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

/* Bodies with what could mislead: braces in scopes, vectors, strings and comments, declarations, names that
 * begin with other names, calls of each other's functions. */
static const char text[] =
    HEAD ".global .align 4 .u32 counts[2] = {1, 2};\n"
         ".extern .func (.param .b32 r) helper(.param .b32 a);\n"
         ".visible .entry first(.param .u64 p);\n"
         ".func (.param .b32 r) helper(.param .b32 a)\n{\n.reg .b32 %r<2>;\nld.param.b32 %r1, [a];\n"
         "st.param.b32 [r], %r1;\nret;\n}\n"
         "// .entry in_a_comment { \n/* .entry in_another( { */\n"
         ".visible .entry first(.param .u64 p)\n.maxntid 32, 1, 1\n{\n.pragma \"nounroll } {\";\n"
         "{ .reg .b64 %rd<2>; .reg .f32 %f<5>; ld.param.u64 %rd1, [p]; // }\n"
         "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]; /* { */\nst.global.f32 [%rd1], %f2; }\nret;\n}\n"
         ".weak .entry first_of_all(.param .u64 p) { ret; }\n"
         ".entry\n  second (\n.param .u64 p\n)\n{\n.reg .b32 %r<3>;\nmov.u32 %r1, %tid.x;\nret; }\n"
         ".visible .entry last()\n{\n.reg .b32 %r<2>;\nmov.u32 %r1, %ctaid.x;\nret;\n}";
static const char *const kernels[] = {"first", "first_of_all", "second", "last"};
enum { KERNELS = sizeof kernels / sizeof *kernels };

static const hd_ptx_func *kernel_in(const hd_ptx_module *m, const char *name) {
  const int64_t f = hd_ptx_find_kernel(m, name);
  assert_true(f >= 0);
  return &m->funcs[f];
}

static void same_body(const hd_ptx_module *a, const hd_ptx_func *f, const hd_ptx_module *b,
                      const hd_ptx_func *g) {
  assert_int_equal(f->n_stmts, g->n_stmts);
  for (uint32_t k = 0; k < f->n_stmts; k++) {
    hd_buf x = {0}, y = {0};
    hd_ptx_print_stmt(a, &f->stmts[k], &x);
    hd_ptx_print_stmt(b, &g->stmts[k], &y);
    assert_string_equal(x.data ? x.data : "", y.data ? y.data : "");
    assert_int_equal(f->stmts[k].line, g->stmts[k].line);
    hd_buf_free(&x);
    hd_buf_free(&y);
  }
}

static void one_kernel_stays_and_the_others_are_empty(void **state) {
  hd_arena arena;
  hd_ptx_module *whole, *part;
  hd_diag d;
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "whole", &arena, &whole, &d), HD_OK);
  for (int k = 0; k < KERNELS; k++) {
    hd_buf cut = {0};
    run_cut(text, sizeof text - 1, kernels[k], &cut);
    if (hd_ptx_parse(cut.data, cut.len, "part", &arena, &part, &d) != HD_OK)
      fail_msg("%s\n%s", d.message, cut.data);
    for (int i = 0; i < KERNELS; i++) {
      const hd_ptx_func *f = kernel_in(part, kernels[i]);
      if (i == k)
        same_body(whole, kernel_in(whole, kernels[i]), part, f);
      else
        assert_int_equal(f->n_stmts, 1);
    }
    assert_int_equal(part->n_items, whole->n_items);
    hd_buf_free(&cut);
  }
  hd_arena_free(&arena);
}

/* Texts that end anywhere: what is cut of them is no more than there is. */
static void any_beginning_is_cut(void **state) {
  for (size_t n = 0; n < sizeof text; n++) {
    char *part = malloc(n + 1); /* of its size, so that reading on is found */
    assert_non_null(part);
    memcpy(part, text, n);
    hd_buf cut = {0};
    run_cut(part, n, "second", &cut);
    assert_true(cut.len <= n + 8 * KERNELS);
    hd_buf_free(&cut);
    free(part);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_kernel_stays_and_the_others_are_empty),
      cmocka_unit_test(any_beginning_is_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
