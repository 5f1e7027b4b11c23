/* Memory that runs out in polyhedral/: of our own, not of isl's. An array whose lines cannot be listed is
 * inexact. */
#include "nomem.h"

#include "heddle/polyhedral.h"

/* Tiles that share rows; a look-up table, whose lines are listed. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q)\n{\n"
    ".reg .b32 %r<9>;\n.reg .b64 %l<9>;\nld.param.u64 %l1, [p];\nld.param.u64 %l2, [q];\nmov.u32 %r1, "
    "%tid.x;\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ctaid.y;\nmad.lo.u32 %r4, %r2, 64, %r1;\nmul.wide.u32 %l3, %r4, "
    "4;\n"
    "add.s64 %l4, %l1, %l3;\nld.global.u32 %r5, [%l4];\nrem.u32 %r6, %r3, 3;\nmad.lo.u32 %r6, %r6, 64, %r1;\n"
    "mul.wide.u32 %l5, %r6, 4;\nadd.s64 %l6, %l2, %l5;\nst.global.u32 [%l6], %r5;\nret;\n}\n";

static hd_status measure(void *ctx, hd_diag *d) {
  const uint64_t args[2] = {1 << 20, 1 << 24};
  const hd_point at = {.grid = {4, 6, 1}, .block = {64, 1, 1}, .args = args, .args_bytes = sizeof args};
  hd_polyhedral p;
  hd_status st = hd_polyhedral_measure(ctx, &at, &(hd_polyhedral_options){0}, &p, d);
  if (st == HD_OK) hd_polyhedral_free(&p);
  return st;
}

static void every_allocation_that_fails_is_said(void **state) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_analysis *a;
  hd_diag d;
  hd_arena_init(&arena);
  assert_int_equal(hd_ptx_parse(text, sizeof text - 1, "test", &arena, &m, &d), HD_OK);
  assert_int_equal(hd_analyze(m, 0, &(hd_analyze_options){0}, &a, &d), HD_OK);
  nomem_expect(&(nomem_entry){"measure", measure, a, true});
  hd_analysis_free(a);
  hd_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("every allocation that fails is said", every_allocation_that_fails_is_said)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
