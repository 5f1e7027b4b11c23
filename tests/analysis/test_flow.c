/* Graphs that are wrong or large. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"

typedef struct subject {
  hd_arena arena;
  hd_ptx_module *m;
  hd_analysis *a;
} subject;

static hd_status open_text(subject *s, const char *body, hd_diag *d) {
  hd_buf text = {0};
  hd_buf_printf(&text,
                ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                ".reg .pred %%p<9>;\n.reg .b32 %%r<9>;\n.reg .b64 %%l<9>;\n%s\n}\n",
                body);
  hd_arena_init(&s->arena);
  s->a = NULL;
  hd_status st = hd_ptx_parse(text.data, text.len, "test", &s->arena, &s->m, d);
  if (st == HD_OK) st = hd_analyze(s->m, 0, NULL, &s->a, d);
  hd_buf_free(&text);
  return st;
}

static void close_text(subject *s) {
  hd_analysis_free(s->a);
  hd_arena_free(&s->arena);
}

static void a_branch_to_nowhere_is_an_error(void **state) {
  subject s;
  hd_diag d;
  assert_int_equal(open_text(&s, "bra nowhere;\nret;", &d), HD_ERR_INPUT);
  close_text(&s);
}

static void deep_and_long_kernels_are_ordinary(void **state) {
  enum { N = 20000 };
  hd_buf body = {0};
  hd_buf_puts(&body, "ld.param.u64 %l1, [p];\n");
  for (int i = 0; i < N; i++) hd_buf_printf(&body, "@%%p1 bra L%d;\nadd.s64 %%l1, %%l1, 4;\nL%d:\n", i, i);
  for (int i = 0; i < N; i++) hd_buf_puts(&body, "add.s64 %l1, %l1, 4;\n");
  hd_buf_puts(&body, "st.global.u32 [%l1], %r1;\n");
  for (int i = 0; i < 300; i++)
    hd_buf_printf(&body, "M%d:\n", i), hd_buf_puts(&body, "add.u32 %r1, %r1, 1;\n");
  for (int i = 300; i-- > 0;) hd_buf_printf(&body, "@%%p2 bra M%d;\n", i);
  hd_buf_puts(&body, "ret;");
  subject s;
  hd_diag d;
  assert_int_equal(open_text(&s, body.data, &d), HD_OK);
  assert_int_equal(s.a->cfg.n_loops, 300);
  assert_int_equal(s.a->cfg.loops[299].depth, 300);
  assert_int_equal(s.a->n_sites, 1);
  close_text(&s);
  hd_buf_free(&body);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("a branch to a label that is not there is an error", a_branch_to_nowhere_is_an_error),
      BEHAVIOUR("long chains of branches and 300 nested loops are ordinary",
                deep_and_long_kernels_are_ordinary),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
