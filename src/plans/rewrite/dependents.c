/* Kernels of programmatic dependent launches, which begin while the launch before them still runs.
 *
 * griddepcontrol.wait stands before a kernel's first access to what the launch before it writes. Orders read
 * special registers and tables that no launch writes, so they may stand in front of it. Three things may not:
 * the state that binding and votes keep between the CTAs of one launch, which two launches at once would
 * share; fetches into L1, whose lines would be those from before the wait; and CTAs that take over others,
 * which would let the next launch begin (griddepcontrol.launch_dependents) before all their tasks do. */
#include "rewrite/rewrite_internal.h"

static const char *reason(const hd_plan *p) {
  if (hd_bind_claims(p->bind) || p->bypass.kind == HD_BYPASS_AUTO)
    return "the launch may overlap the one before it, and both would use this plan's state";
  if (p->bind == HD_BIND_CANCEL)
    return "a CTA that has let the next launch begin would do further tasks of this launch";
  if (p->prefetch.kind == HD_PREFETCH_L1)
    return "the launch may overlap the one before it, and prefetch=l1 would fetch before that one's writes";
  return NULL;
}

hd_status rewrite_check_dependents(const rewrite_job *j, hd_diag *d) {
  const char *why = reason(j->plan);
  rewrite_scan s;
  hd_refusal r;
  hd_status st = HD_OK;
  if (!why) return HD_OK;
  const bool ok = rewrite_scan_begin(&s, j->m, j->func, &r, 1);
  for (const hd_ptx_func *f; ok && st == HD_OK && (f = rewrite_scan_next(&s));)
    for (uint32_t i = 0; st == HD_OK && i < f->n_stmts; i++)
      if (f->stmts[i].kind == HD_S_INST && j->m->forms[f->stmts[i].form].op == HD_OP_GRIDDEPCONTROL)
        st = rewrite_refuse(j->m, &f->stmts[i], why, d);
  rewrite_scan_end(&s);
  return ok ? st : hd_nomem(d);
}
