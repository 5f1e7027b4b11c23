/* Modules taken apart and put together without going through text. */
#include "ptx_test.h"

static const char kernel[] =
    HEADER ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<2>;\n"
           "ld.param.u64 %rd1, [p];\nL:\nld.global.u32 %r1, [%rd1+4];\nbra L;\n}\n";

static const char *print_to(const hd_ptx_module *m, hd_buf *out) {
  hd_buf_clear(out);
  assert_int_equal(hd_ptx_print(m, out), HD_OK);
  return out->data;
}

static void a_form_is_made_once(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_diag d = {0};
  hd_ptx_module *m = parse(&a, kernel);
  uint32_t known, again, fresh, n = m->n_forms;
  assert_int_equal(hd_ptx_add_form(m, "ld.global.u32", &known, &d), HD_OK);
  assert_int_equal(m->n_forms, n);
  assert_int_equal(m->forms[known].op, HD_OP_LD);
  assert_int_equal(hd_ptx_add_form(m, "ld.global.L1::no_allocate.v2.u32", &fresh, &d), HD_OK);
  assert_int_equal(hd_ptx_add_form(m, "ld.global.L1::no_allocate.v2.u32", &again, &d), HD_OK);
  assert_int_equal(fresh, again);
  assert_int_equal(m->forms[fresh].n_mods, 4);
  assert_int_equal(m->forms[fresh].mods[1], HD_M_L1_NO_ALLOCATE);
  assert_int_equal(hd_ptx_add_form(m, "ld..u32", &fresh, &d), HD_ERR_INPUT);
  hd_arena_free(&a);
}

static void a_body_put_together_prints_and_parses(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_diag d = {0};
  hd_buf text = {0};
  hd_ptx_module *m = parse(&a, kernel);
  uint32_t func = m->n_funcs - 1, n = m->funcs[func].n_stmts;
  hd_ptx_stmt stmts[16];
  memcpy(stmts, m->funcs[func].stmts, n * sizeof *stmts);
  hd_ptx_stmt label = {0}, load = {0}, jump = stmts[n - 1];
  for (uint32_t i = 0; i < n; i++) {
    if (stmts[i].kind == HD_S_LABEL) label = stmts[i];
    if (stmts[i].kind == HD_S_INST && m->forms[stmts[i].form].mods[0] == HD_M_GLOBAL) load = stmts[i];
  }
  /* A second loop behind the first one, with a label and an operand of its own. */
  hd_ptx_opnd target = m->opnds[jump.first_opnd],
              o[3] = {m->opnds[load.first_opnd], m->opnds[load.first_opnd + 1]};
  assert_int_equal(hd_ptx_add_label(m, "$twin", label.sym, &label.sym, &d), HD_OK);
  target.sym = label.sym;
  assert_int_equal(hd_ptx_add_operands(m, &target, 1, &jump.first_opnd, &d), HD_OK);
  o[1].imm = 12;
  assert_int_equal(hd_ptx_add_operands(m, o, 2, &load.first_opnd, &d), HD_OK);
  stmts[n] = label, stmts[n + 1] = load, stmts[n + 2] = jump;
  assert_int_equal(hd_ptx_set_body(m, func, stmts, n + 3, &d), HD_OK);
  const hd_ptx_func *f = &m->funcs[func];
  for (uint32_t i = 0; i < f->n_stmts; i++)
    if (f->stmts[i].kind == HD_S_LABEL) assert_int_equal(m->syms[f->stmts[i].sym].index, i);
  assert_non_null(strstr(print_to(m, &text), "$twin:\n\tld.global.u32 %r1, [%rd1+12];\n\tbra $twin;\n"));
  /* The whole reads back, and text can still be inserted that names the new label. */
  parse(&a, text.data);
  assert_int_equal(hd_ptx_insert(m, func, 0, "bra $twin;\n", &d), HD_OK);
  assert_int_equal(hd_ptx_set_body(m, m->n_funcs, stmts, 1, &d), HD_ERR_USAGE);
  hd_buf_free(&text);
  hd_arena_free(&a);
}

static void operands_may_be_copies_of_the_module_s_own(void **state) {
  hd_arena a;
  hd_arena_init(&a);
  hd_diag d = {0};
  hd_ptx_module *m = parse(&a, kernel);
  uint32_t n = m->n_opnds, first = 0;
  for (unsigned round = 0; round < 12; round++) { /* the array grows under them */
    uint32_t have = m->n_opnds;
    assert_int_equal(hd_ptx_add_operands(m, m->opnds, have, &first, &d), HD_OK);
    assert_int_equal(first, have);
    assert_memory_equal(m->opnds, m->opnds + first, have * sizeof *m->opnds);
  }
  assert_int_equal(m->n_opnds, n << 12);
  hd_arena_free(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a form is made once", a_form_is_made_once),
      BEHAVIOUR("a body put together prints and parses", a_body_put_together_prints_and_parses),
      BEHAVIOUR("operands may be copies of the module's own", operands_may_be_copies_of_the_module_s_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
