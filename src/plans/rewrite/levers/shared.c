/* Shared memory of the rewriter's own.
 *
 * A program may rely on where its variables lie, whatever their declarations say: arrays of floats that begin
 * at 0 and 4096 take vectors of 16 bytes. ptxas 13.0 lays out, each at its declared alignment: the kernel's
 * own variables as they are declared; those of the module that the kernel or its functions use, as they are
 * declared; the own ones of functions that it calls; and dynamic memory. So a variable that the module
 * declares last before the kernel moves none, but for dynamic memory, functions' own variables, and variables
 * that are declared behind the kernel. Where there are such, the new variable stands first in the kernel, and
 * takes as many bytes as any boundary asks for: all others move by as much, so that what a program reaches
 * behind one of them stays there as well. So it is, too, if the launch is known to have dynamic memory. Where
 * there is none of these, the launch may have none either: the kernel would find the new variable where that
 * begins.
 *
 * Nor may a kernel that reaches shared memory by numbers find another variable there (shared_numbers.c). */
#include "rewrite/rewrite_internal.h"

/* Static shared memory that any GPU offers, and ptxas allows. */
enum { MOST_SHARED = 48 * 1024 };

/* Swizzles of wgmma and of tensor copies repeat every 1024 bytes of the address itself; before sm_90 no
 * instruction depends on more than the 128 bytes of the banks. A variable that asks for more moves by as much
 * as its neighbours only if all move by that. */
unsigned rewrite_shared_boundary(const hd_ptx_module *m) {
  unsigned most = m->sm >= 90 ? 1024 : 128;
  for (uint32_t i = 0; i < m->n_vars; i++)
    if (hd_ptx_mod_value(m->vars[i].space) & HD_IN_ANY_SHARED && hd_ptx_var_align(&m->vars[i]) > most)
      most = hd_ptx_var_align(&m->vars[i]);
  return most;
}

/* The new variable moves the kernel's. */
static bool moves(const rewrite_job *j) {
  return j->traits.dynamic_shared || j->traits.shared_behind || j->opt->dynamic_shared;
}

uint32_t rewrite_spare_shared(const rewrite_job *j, uint32_t bytes) {
  if (j->traits.shared_by_number) return 0;
  if (moves(j)) bytes = rewrite_shared_boundary(j->m);
  return j->traits.shared_bytes + 2 * bytes <= MOST_SHARED ? bytes : 0;
}

hd_status rewrite_add_shared(const rewrite_job *j, const char *name, uint32_t bytes, uint32_t align,
                             hd_buf *text, hd_diag *d) {
  hd_buf item = {0};
  const bool first = moves(j);
  uint32_t at = 0;
  rewrite_put(j, first ? text : &item, "\t.shared .align %u .b8 ~%s[%u];\n", first ? bytes : align, name,
              bytes);
  j->recipe->no_dynamic_shared = !first;
  if (first) return HD_OK;
  for (uint32_t i = 0; i < j->m->n_items; i++)
    if (j->m->items[i].kind == HD_I_FUNC && j->m->items[i].index == j->func) at = i;
  hd_status st = item.failed ? hd_nomem(d) : hd_ptx_insert_items(j->m, at, item.data, d);
  hd_buf_free(&item);
  return st;
}
