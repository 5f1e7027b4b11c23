/* module_text.c: prints programs as PTX modules, for tests and ptxas. */
#include "difftest/program.h"

hd_status hd_difftest_module(const hd_difftest_select *s, uint64_t seed, uint64_t first, uint32_t n,
                             hd_buf *out, hd_diag *d) {
  dt_menu menu;
  hd_status st = dt_menu_make(s, &menu, d);
  if (st != HD_OK) return st;
  bool failed = false;
  dt_print_head(menu.sm, out);
  for (uint32_t k = 0; k < n && !failed; k++) {
    dt_program p;
    dt_program_make(&menu, seed, first + k, &p);
    failed = p.failed;
    if (!failed) dt_print_kernel(&p, NULL, first + k, out);
    dt_program_free(&p);
  }
  dt_menu_free(&menu);
  return failed || out->failed ? hd_nomem(d) : HD_OK;
}

hd_status hd_difftest_form_module(uint64_t first, uint32_t n, hd_buf *out, hd_diag *d) {
  unsigned sm = 90;
  bool failed = false;
  for (uint32_t k = 0; k < n; k++)
    if (hd_difftest_form_sm(first + k) > sm) sm = hd_difftest_form_sm(first + k);
  dt_print_head(sm, out);
  for (uint32_t k = 0; k < n && !failed; k++) {
    dt_program p;
    dt_program_of_form(first + k, &p);
    failed = p.failed;
    if (!failed) dt_print_kernel(&p, NULL, first + k, out);
    dt_program_free(&p);
  }
  return failed || out->failed ? hd_nomem(d) : HD_OK;
}
