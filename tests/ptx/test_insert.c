/* Generated statements and items join a parsed module. */
#include "ptx_test.h"

static const char kernel[] =
    HEADER ".global .u32 g;\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %p<3>;\n"
           ".reg .b32 %r<10>;\n.reg .b64 %rd<4>;\nmov.u32 %r1, %ctaid.x;\n"
           "{\n.reg .b64 %r<2>;\nmov.b64 %r1, 0;\nIN: bra IN;\n}\n"
           "L: add.u32 %r2, %r1, 1;\n@%p1 bra L;\nbra DONE;\nDONE: ret;\n}\n";

static hd_ptx_func *only_func(hd_ptx_module *m) { return &m->funcs[m->n_funcs - 1]; }

static void insert_ok(hd_ptx_module *m, uint32_t at, const char *text) {
  hd_diag d = {0};
  if (hd_ptx_insert(m, m->n_funcs - 1, at, text, &d) != HD_OK)
    fail_msg("%u:%u: %s", d.line, d.column, d.message);
}

/* Every label's number is that of the statement that defines it. */
static void labels_are_numbered(const hd_ptx_module *m, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_stmts; i++)
    if (f->stmts[i].kind == HD_S_LABEL) assert_int_equal(m->syms[f->stmts[i].sym].index, i);
}

static void statements_join_the_outermost_scope(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, kernel);
  hd_ptx_func *f = only_func(m);
  uint32_t before = f->n_stmts, regs = f->n_regs;
  hd_sym r1 = m->opnds[f->stmts[3].first_opnd].sym;
  insert_ok(m, 4,
            ".reg .b32 %h<3>;\nld.param.u64 %rd1, [out];\nmov.u32 %h2, %r1;\nst.global.u32 [g], %r9;\n@%p1 "
            "bra DONE;\nbra "
            "H;\nH:\n");
  f = only_func(m);
  assert_int_equal(f->n_stmts, before + 7);
  const hd_ptx_stmt *s = f->stmts + 4;
  assert_int_equal(s[0].kind, HD_S_VAR);
  assert_int_equal(s[0].line, 0);
  assert_int_equal(s[1].line, 0);
  /* %r1 is the register that it was, not the one of the inner block. */
  assert_int_equal(m->opnds[s[2].first_opnd + 1].sym, r1);
  assert_int_equal(m->syms[m->opnds[s[1].first_opnd + 1].sym].kind, HD_SYM_VAR);
  /* Old and new labels are seen both ways. */
  assert_int_equal(m->syms[m->opnds[s[4].first_opnd].sym].index, f->n_stmts - 2);
  assert_int_equal(m->syms[m->opnds[s[5].first_opnd].sym].index, 10);
  labels_are_numbered(m, f);
  /* New registers get numbers of their own: %rd1, %h2, %r9 */
  assert_int_equal(f->n_regs, regs + 3);
  assert_true(m->syms[m->opnds[s[2].first_opnd].sym].index >= regs);
  /* A second insertion sees the first one's declarations. */
  insert_ok(m, f->n_stmts, "add.u32 %h2, %h2, 1;\nbra H;\n");
  f = only_func(m);
  assert_int_equal(m->opnds[f->stmts[f->n_stmts - 2].first_opnd].sym, m->opnds[f->stmts[6].first_opnd].sym);
  labels_are_numbered(m, f);
  hd_arena_free(&a);
}

/* Inserting text at a place gives the module that parsing it there gives. */
static void inserting_equals_parsing(void **state) {
  static const char *const pieces[] = {
      "mov.u32 %r3, %r4;",
      "{ .reg .b32 x; mov.u32 x, %r5; N: bra N; }",
      ".shared .b8 s[4]; st.shared.u8 [s], %r6;",
      "X: @!%p2 bra X;",
      ".loc 1 2 3\n",
  };
  for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
    for (uint32_t at = 3; at <= 16; at++) {
      if (at > 4 && at < 10) continue; /* in the inner block, whose own %r is nearer */
      hd_arena a, b;
      hd_arena_init(&a);
      hd_arena_init(&b);
      hd_ptx_module *m = parse(&a, kernel);
      char *original = print(m);
      const char *p = strstr(original, "{\n") + 2;
      for (uint32_t i = 0; i < at; i++) p = strchr(p, '\n') + 1;
      hd_buf text = {0};
      hd_buf_printf(&text, "%.*s%s%s", (int)(p - original), original, pieces[k], p);
      char *expected = print(parse(&b, text.data));
      insert_ok(m, at, pieces[k]);
      char *got = print(m);
      assert_string_equal(got, expected);
      free(original);
      free(expected);
      free(got);
      hd_buf_free(&text);
      hd_arena_free(&b);
      hd_arena_free(&a);
    }
  }
}

static void a_failed_insertion_changes_nothing(void **state) {
  static const char *const bad[] = {
      "mov.u32 %r1, ",
      "mov.u32 %r99, 1;",
      "mov.u32 %r1, 1; }",
      "{ ret;",
      "L: ret;",
      ".reg .b32 %r<2>;",
      ".reg .b32 %n; mov.u32 %n, ?;",
      ".global .u32 z; ?",
      "@%q ret;",
      ".reg .b64 out;",
  };
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, kernel);
  char *before = print(m);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    hd_diag d = {0};
    assert_int_equal(hd_ptx_insert(m, m->n_funcs - 1, 4, bad[i], &d), HD_ERR_INPUT);
    assert_true(d.message[0]);
    char *after = print(m);
    assert_string_equal(after, before);
    free(after);
  }
  static const char *const bad_items[] = {".global .u32 h = ?;", ".global .u32 h; .global .u32 g;",
                                          ".entry z() { ret; ", "ret;"};
  for (size_t i = 0; i < sizeof bad_items / sizeof *bad_items; i++) {
    assert_int_equal(hd_ptx_insert_items(m, 1, bad_items[i], NULL), HD_ERR_INPUT);
    char *after = print(m);
    assert_string_equal(after, before);
    free(after);
  }
  /* Names that the failed insertions declared are still free. */
  insert_ok(m, 3, ".reg .b32 %n;\nmov.u32 %n, 1;\n");
  assert_int_equal(hd_ptx_insert_items(m, 0, ".global .u32 h;", NULL), HD_OK);
  assert_int_equal(hd_ptx_insert(m, m->n_funcs, 0, "ret;", NULL), HD_ERR_USAGE);
  assert_int_equal(hd_ptx_insert(m, m->n_funcs - 1, 1000, "ret;", NULL), HD_ERR_USAGE);
  assert_int_equal(hd_ptx_insert_items(m, 1000, "", NULL), HD_ERR_USAGE);
  free(before);
  hd_arena_free(&a);
}

static void items_are_put_in_place_and_are_visible(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, kernel);
  hd_diag d = {0};
  assert_int_equal(
      hd_ptx_insert_items(m, 1, ".global .u32 counter[4] = {1, 2};\n.func helper() { ret; }\n", &d), HD_OK);
  assert_int_equal(m->n_items, 4);
  assert_int_equal(m->items[0].kind, HD_I_VAR);
  assert_string_equal(m->syms[m->vars[m->items[1].index].sym].name, "counter");
  assert_int_equal(m->items[2].kind, HD_I_FUNC);
  assert_string_equal(m->syms[m->funcs[m->items[2].index].sym].name, "helper");
  assert_int_equal(hd_ptx_find_kernel(m, NULL), 0);
  assert_int_equal(hd_ptx_insert(m, 0, 3, "call helper;\nld.global.u32 %r3, [counter+4];\n", &d), HD_OK);
  const hd_ptx_stmt *s = m->funcs[0].stmts + 3;
  assert_int_equal(m->syms[m->opnds[s[0].first_opnd].sym].kind, HD_SYM_FUNC);
  assert_int_equal(m->syms[m->opnds[s[1].first_opnd + 1].sym].kind, HD_SYM_VAR);
  char *text = print(m);
  hd_arena b;
  hd_arena_init(&b);
  char *again = print(parse(&b, text));
  assert_string_equal(text, again);
  free(text);
  free(again);
  hd_arena_free(&b);
  hd_arena_free(&a);
}

static void many_insertions_stay_cheap(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, kernel);
  for (unsigned i = 0; i < 500; i++) insert_ok(m, 3, "add.u32 %r1, %r1, 1;\n");
  assert_int_equal(only_func(m)->n_stmts, 16 + 500);
  hd_arena_free(&a);
}

static void a_fresh_prefix_begins_no_symbol(void **state) {
  static const char *const names[] = {"plain",
                                      "heddle",
                                      "xheddle",
                                      "heddle1",
                                      "a_heddle41_heddle7",
                                      "heddle00012",
                                      "heddle99999999999999999999"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    hd_arena a;
    hd_arena_init(&a);
    hd_buf b = {0};
    hd_buf_printf(&b, HEADER ".global .u32 %s;\n", names[i]);
    hd_ptx_module *m = parse(&a, b.data);
    const char *prefix = hd_ptx_fresh_prefix(m);
    assert_int_equal(strncmp(prefix, "heddle", 6), 0);
    assert_int_not_equal(strncmp(names[i], prefix, strlen(prefix)), 0);
    if (i == 0) assert_string_equal(prefix, "heddle");
    hd_buf_free(&b);
    hd_arena_free(&a);
  }
}

/* Names that came since the last question count too. */
static void a_fresh_prefix_begins_no_symbol_inserted_since(void **state) {
  static const char *const names[] = {"heddle", "heddle1", "heddle7", "plain", "heddle3"};
  static const char *const fresh[] = {"heddle1", "heddle2", "heddle8", "heddle8", "heddle8"};
  hd_arena a;
  hd_diag d;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, kernel);
  assert_string_equal(hd_ptx_fresh_prefix(m), "heddle");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char item[64];
    snprintf(item, sizeof item, ".global .u32 %s;\n", names[i]);
    assert_int_equal(hd_ptx_insert_items(m, 0, item, &d), HD_OK);
    assert_string_equal(hd_ptx_fresh_prefix(m), fresh[i]);
  }
  hd_arena_free(&a);
}

/* ---- Parameters and directives ------------------------------------------------------- */

static void added_parameters_are_as_good_as_written_ones(void **state) {
  static const char *const heads[] = {".visible .entry k()\n", ".visible .entry k\n",
                                      ".visible .entry k(.param .u64 out, .param .align 8 .b8 s[12])\n"};
  static const char *const want[] = {
      ".visible .entry k(.param .u64 a, .param .u32 b)\n",
      ".visible .entry k(.param .u64 a, .param .u32 b)\n",
      ".visible .entry k(.param .u64 out, .param .align 8 .b8 s[12], .param .u64 a, .param .u32 b)\n"};
  for (size_t i = 0; i < 3; i++) {
    hd_arena a;
    hd_arena_init(&a);
    hd_diag d = {0};
    hd_buf text = {0}, by_hand = {0}, got = {0}, wanted = {0};
    hd_buf_printf(&text, HEADER "%s{\n.reg .b64 %%rd<4>;\nret;\n}\n", heads[i]);
    hd_buf_printf(&by_hand, HEADER "%s{\nld.param.u64 %%rd1, [a];\n.reg .b64 %%rd<4>;\nret;\n}\n", want[i]);
    hd_ptx_module *m = parse(&a, text.data);
    assert_int_equal(hd_ptx_add_params(m, 0, "(.param .u64 a, .param .u32 b)", &d), HD_OK);
    insert_ok(m, 0, "ld.param.u64 %rd1, [a];");
    hd_ptx_func *f = only_func(m);
    uint64_t offsets[8];
    assert_int_equal(f->n_params, i == 2 ? 4 : 2);
    assert_int_equal(hd_ptx_param_layout(m, f, offsets), i == 2 ? 36 : 12);
    for (uint32_t k = 0; k < f->n_params; k++)
      assert_int_equal(m->syms[m->vars[f->first_param + k].sym].decl, f->first_param + k);
    assert_int_equal(hd_ptx_print(m, &got), HD_OK);
    assert_int_equal(hd_ptx_print(parse(&a, by_hand.data), &wanted), HD_OK);
    assert_string_equal(got.data, wanted.data);
    hd_buf_free(&text);
    hd_buf_free(&by_hand);
    hd_buf_free(&got);
    hd_buf_free(&wanted);
    hd_arena_free(&a);
  }
}

static void parameters_that_clash_or_are_none_change_nothing(void **state) {
  static const char *const bad[] = {"(.param .u64 out)", "(.param .u64 a, .param .u32 a)", "(.param .u64 a",
                                    "(.u64 a)", "(.param .u64 a) x"};
  hd_arena a;
  hd_arena_init(&a);
  hd_ptx_module *m = parse(&a, kernel);
  hd_buf before = {0}, after = {0};
  hd_diag d;
  assert_int_equal(hd_ptx_print(m, &before), HD_OK);
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    assert_int_not_equal(hd_ptx_add_params(m, 0, bad[i], &d), HD_OK);
    hd_buf_clear(&after);
    assert_int_equal(hd_ptx_print(m, &after), HD_OK);
    assert_string_equal(after.data, before.data);
  }
  assert_int_equal(hd_ptx_add_params(m, 9, "(.param .u64 a)", &d), HD_ERR_USAGE);
  hd_buf_free(&before);
  hd_buf_free(&after);
  hd_arena_free(&a);
}

static void directives_are_replaced_by_some_of_the_same(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_diag d;
  hd_ptx_module *m = parse(&a, HEADER ".visible .entry k()\n.maxntid 64, 1, 1\n.maxnreg 32\n{\nret;\n}\n");
  hd_ptx_dir dirs[2] = {m->dirs[only_func(m)->first_dir],
                        {.name = HD_M_MINNCTAPERSM, .n_vals = 1, .vals = {4}}};
  for (int i = 0; i < 50; i++) assert_int_equal(hd_ptx_set_directives(m, 0, dirs, 2, &d), HD_OK);
  hd_buf text = {0};
  assert_int_equal(hd_ptx_print(m, &text), HD_OK);
  assert_non_null(strstr(text.data, ".maxntid 64, 1, 1\n.minnctapersm 4\n{"));
  assert_null(strstr(text.data, "maxnreg"));
  hd_buf_free(&text);
  hd_arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("added parameters are as good as written ones", added_parameters_are_as_good_as_written_ones),
      BEHAVIOUR("parameters that clash or are none change nothing",
                parameters_that_clash_or_are_none_change_nothing),
      BEHAVIOUR("directives are replaced by some of the same", directives_are_replaced_by_some_of_the_same),
      BEHAVIOUR("statements join the outermost scope", statements_join_the_outermost_scope),
      BEHAVIOUR("inserting text equals parsing it in its place", inserting_equals_parsing),
      BEHAVIOUR("a failed insertion changes nothing", a_failed_insertion_changes_nothing),
      BEHAVIOUR("items are put in place and are visible", items_are_put_in_place_and_are_visible),
      BEHAVIOUR("a module bears many insertions", many_insertions_stay_cheap),
      BEHAVIOUR("a fresh prefix begins no symbol", a_fresh_prefix_begins_no_symbol),
      BEHAVIOUR("a fresh prefix begins no symbol inserted since",
                a_fresh_prefix_begins_no_symbol_inserted_since),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
