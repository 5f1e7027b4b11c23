/* Whether results differ no more than sums do when added up in another order. */
#include <stdio.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "launch/launch.h"

/* Some atomic of the module adds floats. */
static bool adds_floats(const hd_ptx_module *m) {
  static const hd_mod floats[] = {HD_M_F16, HD_M_F16X2, HD_M_BF16, HD_M_BF16X2, HD_M_F32, HD_M_F64};
  for (uint32_t i = 0; i < m->n_forms; i++) {
    const hd_ptx_form *f = &m->forms[i];
    if (!(f->flags & HD_OPF_UPDATES) || !hd_ptx_form_has(f, HD_M_ADD)) continue;
    for (size_t k = 0; k < sizeof floats / sizeof *floats; k++)
      if (hd_ptx_form_has(f, floats[k])) return true;
  }
  return false;
}

void launch_explain_sums(const hd_compiled *code, const hd_wl_buffer *b, const void *got, const void *want,
                         char *what, size_t cap) {
  char unused[512];
  const double by = hd_elem_sum_tolerance(b->type);
  size_t n = strlen(what);
  if (b->atomics || by <= 0 || !adds_floats(code->module)) return;
  if (!hd_elem_compare(b->type, HD_COMPARE_NEAR, by, by, got, want, b->count, unused, sizeof unused)) return;
  snprintf(what + n, cap - n,
           ", all within %g: the kernel's atomics add floats, in another order each time; --atomics (in a "
           "workload.toml: atomics = true) allows for that",
           by);
}
