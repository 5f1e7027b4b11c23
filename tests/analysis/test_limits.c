/* Numbers at the ends of their types, and types that no instruction has: what C leaves undefined, and PTX or
 * the text of a file may well ask for. Under UBSan each case also checks that the analysis computes nothing
 * undefined. */
#include "compare.h"

enum { GRID = 2, BLOCK = 5, CASES_OF_A_KERNEL = 64 };

static const char header[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".visible .entry k(.param .u64 buffer, .param .u32 n)\n{\n"
                             ".reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %r<20>;\n.reg .b64 %l<20>;\n"
                             "ld.param.u64 %l1, [buffer];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\n"
                             "mov.u32 %r3, %ctaid.x;\ncvt.u64.u32 %l2, %r2;\nsub.s32 %r4, 0, %r2;\n";

static hd_ptx_module *parse(const hd_buf *text, hd_arena *arena) {
  hd_ptx_module *m;
  hd_diag d;
  hd_arena_init(arena);
  if (hd_ptx_parse(text->data, text->len, "limits", arena, &m, &d) != HD_OK)
    fail_msg("%s\n%s", d.message, text->data);
  return m;
}

/* ---- Values ------------------------------------------------------------------------------------ */

/* The store whose address holds the low bits of %r10. */
static void put_store(hd_buf *b) {
  hd_buf_puts(b, "and.b32 %r11, %r10, 255;\nmul.wide.u32 %l11, %r11, 4;\nadd.s64 %l12, %l1, %l11;\n"
                 "st.global.u32 [%l12], %r10;\n");
}

/* The addresses of all stores, as the emulator saw them. */
static void compare_kernel(const hd_buf *text, tally *t) {
  hd_arena arena;
  hd_ptx_module *m = parse(text, &arena);
  hd_diag d;
  hd_emu *e;
  hd_emu_program *p;
  uint64_t buffer;
  char args[12];
  const uint32_t n = 7;
  const hd_emu_options o = {.threads = 1, .memory = 1 << 20};
  assert_int_equal(hd_emu_create(&o, &e, &d), HD_OK);
  if (hd_emu_load(e, m, &p, &d) != HD_OK) fail_msg("%s\n%s", d.message, text->data);
  assert_int_equal(hd_emu_alloc(e, 1024, &buffer, &d), HD_OK);
  memcpy(args, &buffer, 8);
  memcpy(args + 8, &n, 4);
  recorder rec = {.threads = BLOCK};
  const hd_emu_hooks hooks = {.ctx = &rec, .spaces = 1u << HD_SPACE_GLOBAL, .access = record};
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, .args = args, .args_bytes = sizeof args};
  const hd_dispatch how = {.kind = HD_DISPATCH_SERIAL};
  hd_emu_stats stats;
  if (hd_emu_launch(p, &l, &how, &hooks, &stats, &d) != HD_OK) fail_msg("%s\n%s", d.message, text->data);
  qsort(rec.events.data, rec.events.n, sizeof *rec.events.data, by_site);
  hd_analysis *a;
  assert_int_equal(hd_analyze(m, 0, &(hd_analyze_options){0}, &a, &d), HD_OK);
  const hd_point at = {.grid = {GRID, 1, 1}, .block = {BLOCK, 1, 1}, .args = args, .args_bytes = sizeof args};
  t->assumptions_broken = 1; /* they may well be here */
  for (uint32_t i = 0; i < a->n_sites; i++)
    if (a->sites[i].level < HD_LEVEL_DATA) compare_site(a, i, &rec, at, t, "limits");
  if (t->failures) fprintf(stderr, "%s\n", text->data);
  hd_analysis_free(a);
  hd_vec_free(&rec.events);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

static const char *const numbers[] = {
    "0",  "1",   "-1",  "2",          "3",           "7",           "31",         "32",
    "33", "63",  "64",  "65",         "127",         "255",         "256",        "-2",
    "-5", "-31", "-64", "2147483647", "-2147483648", "-2147483647", "4294967295", "1073741824",
};

/* %r10 from %X, the operand under test, a second number and a count. */
static const char *const forms[] = {
    "add.s32 %r10, X, N;",
    "sub.s32 %r10, X, N;",
    "sub.s32 %r10, N, X;",
    "mul.lo.s32 %r10, X, N;",
    "mul.hi.s32 %r10, X, N;",
    "mul.hi.u32 %r10, X, N;",
    "mad.lo.s32 %r10, X, N, M;",
    "shl.b32 %r10, X, N;",
    "shr.u32 %r10, X, N;",
    "shr.s32 %r10, X, N;",
    "shl.b32 %r9, X, M;\nshr.s32 %r10, %r9, N;",
    "and.b32 %r10, X, N;",
    "or.b32 %r10, X, N;",
    "xor.b32 %r10, X, N;",
    "min.s32 %r10, X, N;",
    "max.s32 %r10, X, N;",
    "div.s32 %r10, X, N;",
    "div.u32 %r9, X, N;\nshr.u32 %r10, %r9, 3;",
    "rem.s32 %r10, X, N;",
    "rem.u32 %r10, X, N;",
    "bfe.u32 %r10, X, N, M;",
    "bfe.s32 %r10, X, N, M;",
    "bfi.b32 %r10, X, %r1, N, M;",
    "neg.s32 %r9, N;\nsub.s32 %r10, %r9, X;",
    "abs.s32 %r9, N;\nadd.s32 %r10, %r9, X;",
    "shr.u32 %r9, N, M;\nadd.s32 %r10, %r9, X;",
    "cvt.s64.s32 %l5, X;\nshl.b64 %l5, %l5, N;\nshr.s64 %l5, %l5, M;\ncvt.u32.u64 %r10, %l5;",
    "cvt.s64.s32 %l5, X;\nmul.lo.s64 %l5, %l5, -9223372036854775808;\nadd.s64 %l5, %l5, N;\n"
    "shr.s64 %l5, %l5, M;\ncvt.u32.u64 %r10, %l5;",
    "mov.b64 %l5, {X, N};\nsub.s64 %l5, %l5, 9223372036854775807;\nshr.u64 %l5, %l5, M;\n"
    "cvt.u32.u64 %r10, %l5;",
    "setp.lt.s32 %p1, X, N;\nselp.b32 %r10, M, X, %p1;",
    "cvt.s32.s8 %r9, X;\nmul.lo.s32 %r10, %r9, N;",
    "cvt.u16.u32 %h1, X;\nshl.b16 %h1, %h1, M;\ncvt.u32.u16 %r10, %h1;",
};

static void put_case(hd_buf *b, const char *form, const char *x, const char *n, const char *m) {
  for (; *form; form++) {
    const bool word = *form == 'X' || *form == 'N' || *form == 'M';
    if (!word)
      hd_buf_putc(b, *form);
    else
      hd_buf_puts(b, *form == 'X' ? x : *form == 'N' ? n : m);
  }
  hd_buf_putc(b, '\n');
  put_store(b);
}

static void numbers_at_their_ends_compute_as_the_emulator_does(void **state) {
  enum { FORMS = sizeof forms / sizeof *forms, NUMBERS = sizeof numbers / sizeof *numbers };
  static const char *const operands[] = {"%r2", "%r3", "%r4", "-2147483648"};
  tally t = {0};
  hd_buf text = {0};
  unsigned n = 0;
  for (unsigned i = 0; i < FORMS * NUMBERS * 4 && !t.failures; i++) {
    const unsigned form = i % FORMS, number = i / FORMS % NUMBERS, x = i / FORMS / NUMBERS;
    if (!n) hd_buf_puts(&text, header);
    put_case(&text, forms[form], operands[x], numbers[number], numbers[(i * 7 + form) % NUMBERS]);
    if (++n < CASES_OF_A_KERNEL && i + 1 < FORMS * NUMBERS * 4) continue;
    hd_buf_puts(&text, "ret;\n}\n");
    compare_kernel(&text, &t);
    hd_buf_clear(&text);
    n = 0;
  }
  hd_buf_free(&text);
  assert_int_equal(t.failures, 0);
  assert_true(t.compared > FORMS * NUMBERS * BLOCK); /* most have formulas */
}

/* ---- Types ------------------------------------------------------------------------------------- */

/* Dotted words are any text: with a type that the operation has not, or with none, no formula is right. */
static void words_without_a_type_of_theirs_have_no_formula(void **state) {
  static const char *const operations[] = {"add", "sub", "mul.lo", "mul.hi", "shl", "shr", "and",
                                           "or",  "xor", "min",    "max",    "div", "rem", "mul.wide"};
  static const char *const types[] = {"", ".f32", ".f16x2", ".b128", ".global", ".u32.f64"};
  static const char *const others[] = {
      "bfe %r10, %r2, 3, 4;",
      "bfe.f32 %r10, %r2, 3, 4;",
      "bfi %r10, %r2, %r3, 3, 4;",
      "mad.lo %r10, %r2, 3, %r1;",
      "neg %r10, %r2;",
      "abs %r10, %r2;",
      "not %r10, %r2;",
      "not.b128 %r10, %r2;",
      "selp %r10, %r2, 1, %p1;",
      "mov %r10, %r2;",
      "cvt %r10, %r2;",
      "cvt.u32 %r10, %r2;\nshl %r10, %r10, 2;",
      "cvta %l5, %l2;\ncvt.u32.u64 %r10, %l5;",
      "lop3 %r10, %r2, %r1, %r3, 192;",
      "ld.param %r10, [n];\nshl.f64 %r10, %r10, %r2;",
  };
  const unsigned N = sizeof operations / sizeof *operations, T = sizeof types / sizeof *types;
  for (unsigned i = 0; i < N * T + sizeof others / sizeof *others; i++) {
    hd_buf text = {0}, formula = {0};
    hd_arena arena;
    hd_analysis *a;
    hd_diag d;
    hd_buf_puts(&text, header);
    if (i < N * T)
      hd_buf_printf(&text, "%s%s %%r10, %%r2, -1;\n", operations[i / T], types[i % T]);
    else
      hd_buf_printf(&text, "%s\n", others[i - N * T]);
    put_store(&text);
    hd_buf_puts(&text, "ret;\n}\n");
    hd_ptx_module *m = parse(&text, &arena);
    assert_int_equal(hd_analyze(m, 0, &(hd_analyze_options){0}, &a, &d), HD_OK);
    hd_poly_print(a, a->sites[0].address, &formula);
    if (a->sites[0].level < HD_LEVEL_NONLINEAR) fail_msg("%s\n%s", formula.data, text.data);
    hd_analysis_free(a);
    hd_arena_free(&arena);
    hd_buf_free(&text);
    hd_buf_free(&formula);
  }
}

/* Sizes and offsets that leave the type: what is read is unknown, and nothing is read beside the arguments.
 */
static void offsets_beyond_the_arguments_have_no_value(void **state) {
  static const char *const loads[] = {
      "ld.param.u32 %r10, [n+9223372036854775807];",
      "ld.param.u32 %r10, [n+-9223372036854775808];",
      "ld.param.u32 %r10, [n+4294967295];",
      "ld.param.u32 %r10, [buffer+-4];",
      "ld.param.b4x16 %r10, [n];",
      "ld.param.pred %r10, [n];",
      "ld.param %r10, [n];",
      "ld.const.u32 %r10, [9223372036854775807];",
  };
  const char args[12] = {0};
  const hd_point at = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = args, .args_bytes = sizeof args};
  for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
    hd_buf text = {0};
    hd_arena arena;
    hd_analysis *a;
    hd_diag d;
    int64_t value;
    hd_buf_printf(&text, "%s%s\n", header, loads[i]);
    put_store(&text);
    hd_buf_puts(&text, "ret;\n}\n");
    hd_ptx_module *m = parse(&text, &arena);
    assert_int_equal(hd_analyze(m, 0, &(hd_analyze_options){0}, &a, &d), HD_OK);
    if (hd_poly_eval(a, a->sites[0].address, &at, &value)) fail_msg("%s has a value", loads[i]);
    hd_analysis_free(a);
    hd_arena_free(&arena);
    hd_buf_free(&text);
  }
}

/* ---- Texts --------------------------------------------------------------------------------------- */

/* Each step names the number before it twice. */
static void the_text_of_a_formula_is_bounded(void **state) {
  hd_buf text = {0}, formula = {0};
  hd_arena arena;
  hd_analysis *a;
  hd_diag d;
  hd_buf_puts(&text, header);
  hd_buf_puts(&text, "mad.lo.s32 %r10, %r3, 1000, %r2;\n");
  for (unsigned k = 0; k < 12; k++)
    hd_buf_puts(&text, "div.s32 %r12, %r10, 3;\nadd.s32 %r13, %r10, -3;\nmax.s32 %r13, %r13, 0;\n"
                       "add.s32 %r10, %r12, %r13;\n");
  put_store(&text);
  hd_buf_puts(&text, "ret;\n}\n");
  hd_ptx_module *m = parse(&text, &arena);
  assert_int_equal(hd_analyze(m, 0, NULL, &a, &d), HD_OK);
  assert_int_equal(a->n_sites, 1);
  hd_poly_print(a, a->sites[0].address, &formula);
  assert_non_null(strstr(formula.data, "..."));
  assert_true(formula.len > 8192 && formula.len < 3 * 8192);
  hd_buf_free(&formula);
  hd_analysis_free(a);
  hd_arena_free(&arena);
  hd_buf_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("numbers at the ends of their types compute as the emulator does",
                numbers_at_their_ends_compute_as_the_emulator_does),
      BEHAVIOUR("dotted words without a type of theirs have no formula",
                words_without_a_type_of_theirs_have_no_formula),
      BEHAVIOUR("loads beyond the arguments have no value", offsets_beyond_the_arguments_have_no_value),
      BEHAVIOUR("the text of a formula is bounded", the_text_of_a_formula_is_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
