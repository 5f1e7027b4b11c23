/* Sizes, layouts and functions by name. */
#include "ptx_test.h"

static void parameters_are_laid_out_by_their_alignment(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(
      &a, HEADER ".entry k(.param .u8 a, .param .u64 b, .param .u16 c, .param .align 16 .b8 d[20],\n"
                 ".param .v4 .f32 e, .param .u8 f, .param .align 4 .b8 g[3][2], .param .f16x2 h) { ret; }\n"
                 ".entry none() { ret; }\n"
                 ".entry big(.param .b8 a[9223372036854775807], .param .b8 b[9223372036854775807],\n"
                 ".param .b8 c[9223372036854775807]) { ret; }\n"
                 ".entry odd(.param .pred p) { ret; }\n");
  uint64_t at[8];
  const uint64_t want[] = {0, 8, 16, 32, 64, 80, 84, 92};
  assert_int_equal(hd_ptx_param_layout(m, &m->funcs[0], at), 96);
  assert_memory_equal(at, want, sizeof want);
  assert_int_equal(hd_ptx_param_layout(m, &m->funcs[1], at), 0);
  assert_true(hd_ptx_param_layout(m, &m->funcs[2], at) == UINT64_MAX);
  assert_true(hd_ptx_param_layout(m, &m->funcs[3], at) == UINT64_MAX);
  hd_arena_free(&a);
}

static void variables_have_sizes(void **state) {
  static const struct {
    const char *text;
    uint64_t size;
    uint32_t align;
  } cases[] = {
      {".global .u8 v;", 1, 1},
      {".global .f64 v;", 8, 8},
      {".global .b128 v;", 16, 16},
      {".global .v2 .f32 v;", 8, 8},
      {".global .v4 .u8 v[3];", 12, 4},
      {".global .align 32 .u32 v[4][5];", 80, 32},
      {".global .u16 v[] = {1, 2, 3};", 6, 2},
      {".global .u16 v[][2] = {{1, 2}, {3, 4}, {5}};", 12, 2},
      {".global .b8 v[] = \"abc\";", 4, 1},
      {".extern .shared .b8 v[];", 0, 1},
      {".global .u32 v[0];", 0, 4},
      {".global .texref v;", 8, 8},
      {".global .u64 v[4294967296][4294967296];", UINT64_MAX, 8},
      {".global .newtype v;", UINT64_MAX, 1},
      {".reg .pred v;", UINT64_MAX, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_arena a;
    hd_arena_init(&a);
    hd_buf b = {0};
    hd_buf_printf(&b, HEADER "%s\n", cases[i].text);
    hd_ptx_module *m = parse(&a, b.data);
    if (hd_ptx_var_size(m, &m->vars[0]) != cases[i].size || hd_ptx_var_align(&m->vars[0]) != cases[i].align)
      fail_msg("%s: %llu, %u", cases[i].text, (unsigned long long)hd_ptx_var_size(m, &m->vars[0]),
               hd_ptx_var_align(&m->vars[0]));
    hd_buf_free(&b);
    hd_arena_free(&a);
  }
}

static void functions_are_found_by_name(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m =
      parse(&a, HEADER ".func f();\n.func f() { ret; }\n.extern .func g();\n.entry k() { ret; }\n");
  assert_int_equal(hd_ptx_find_func(m, "f"), 1);
  assert_int_equal(hd_ptx_find_func(m, "g"), 2);
  assert_int_equal(hd_ptx_find_func(m, "k"), 3);
  assert_int_equal(hd_ptx_find_func(m, "h"), -1);
  assert_int_equal(hd_ptx_find_func(m, ""), -1);
  assert_int_equal(hd_ptx_find_kernel(m, NULL), 3);
  assert_int_equal(hd_ptx_find_kernel(m, "f"), 1);
  assert_int_equal(hd_ptx_insert_items(m, 0, ".entry l() { ret; }", NULL), HD_OK);
  assert_int_equal(hd_ptx_find_kernel(m, NULL), -1);
  assert_int_equal(hd_ptx_find_kernel(m, "l"), 4);
  assert_int_equal(hd_ptx_find_kernel(parse(&a, HEADER ".func f() { ret; }"), NULL), -1);
  hd_arena_free(&a);
}

static void directives_are_found_by_name(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(
      &a, HEADER ".entry k() .maxntid 128, 2 .minnctapersm 3 .pragma \"a\", \"b\"; .newdir x y { ret; }");
  const hd_ptx_func *f = &m->funcs[0];
  const hd_ptx_dir *d = hd_ptx_func_dir(m, f, HD_M_MAXNTID);
  assert_non_null(d);
  assert_int_equal(d->n_vals, 2);
  assert_int_equal(d->vals[0], 128);
  assert_int_equal(d->vals[1], 2);
  assert_int_equal(hd_ptx_func_dir(m, f, HD_M_MINNCTAPERSM)->vals[0], 3);
  assert_string_equal(m->syms[hd_ptx_func_dir(m, f, HD_M_PRAGMA)->text].name, "\"a\", \"b\"");
  assert_null(hd_ptx_func_dir(m, f, HD_M_REQNTID));
  assert_int_equal(f->n_dirs, 4);
  assert_string_equal(m->syms[m->dirs[f->first_dir + 3].text].name, "x y");
  hd_arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("parameters are laid out by their alignment", parameters_are_laid_out_by_their_alignment),
      BEHAVIOUR("variables have sizes and alignments", variables_have_sizes),
      BEHAVIOUR("functions and kernels are found by name", functions_are_found_by_name),
      BEHAVIOUR("a function's directives are found by name", directives_are_found_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
