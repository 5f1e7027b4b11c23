/* Facts from the kernels' text: how buffers are addressed, and what bars reordering. */
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"

enum { MOST_REFUSALS = 16 };

/* ---- Buffers --------------------------------------------------------------------------- */

static hd_level guard_level(const hd_analysis *an, const hd_site *s) {
  hd_level worst = s->guards_complete ? HD_LEVEL_LAUNCH : HD_LEVEL_DATA;
  for (uint32_t i = 0; i < s->n_guards; i++) {
    hd_level l = (hd_level)an->polys[an->guards[s->first_guard + i].poly].level;
    if (l > worst) worst = l;
  }
  return worst;
}

static void note_site(advising *a, const hd_analysis *an, const hd_site *s, const hd_wl_launch *l) {
  hd_advice *out = a->out;
  if (s->param == HD_NONE && s->var != HD_NONE) return; /* a variable of the module */
  if (s->param >= l->n_args || s->level == HD_LEVEL_BUDGET || !l->args[s->param].is_buffer) {
    out->unknown_sites++;
    return;
  }
  hd_text_facts *b = &out->buffers[l->args[s->param].buffer];
  hd_level guard = guard_level(an, s);
  if (guard > b->guard) b->guard = guard;
  if (!b->sites++ || s->level > b->address) {
    b->address = (hd_level)s->level;
    b->why = (hd_why)s->why;
    b->line = s->line;
  }
}

static hd_status note_kernel(advising *a, const hd_compiled *code, uint32_t kernel, hd_diag *d) {
  hd_analysis *an;
  hd_status st = hd_launch_analyze(code, code->kernels[kernel].first, &an, d);
  if (st != HD_OK) return st;
  for (uint32_t i = 0; i < a->w->n_launches; i++)
    for (uint32_t k = 0; code->kernel_of[i] == kernel && k < an->n_sites; k++)
      note_site(a, an, &an->sites[k], &a->w->launches[i]);
  hd_analysis_free(an);
  return HD_OK;
}

/* ---- Refusals ------------------------------------------------------------------------------ */

static hd_status note_refusals(hd_advice *out, const hd_ptx_module *m, const hd_wl_kernel *kernel,
                               unsigned assume, hd_diag *d) {
  hd_refusal found[MOST_REFUSALS];
  size_t n = hd_rewrite_refusals_assuming(m, kernel->func, assume, found, MOST_REFUSALS);
  if (n > MOST_REFUSALS) n = MOST_REFUSALS;
  hd_refusal *refusals = realloc(out->refusals, (out->n_refusals + n + 1) * sizeof *refusals);
  if (refusals) out->refusals = refusals;
  const char **kernels = realloc(out->refused_kernels, (out->n_refusals + n + 1) * sizeof *kernels);
  if (kernels) out->refused_kernels = kernels;
  if (!refusals || !kernels) return hd_nomem(d);
  for (size_t k = 0; k < n; k++) {
    out->refusals[out->n_refusals] = found[k];
    out->refused_kernels[out->n_refusals++] = kernel->name;
  }
  return HD_OK;
}

hd_status advice_text(advising *a, hd_diag *d) {
  hd_advice *out = a->out;
  const hd_compiled *code = NULL;
  out->buffers = calloc((size_t)a->w->n_buffers + 1, sizeof *out->buffers);
  hd_status st = out->buffers ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = hd_workload_compiled(a->w, hd_launch_arch(NULL, a->o.run.compile.arch), &code, d);
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++) {
    st = note_kernel(a, code, k, d);
    if (st == HD_OK) st = note_refusals(out, code->module, &code->kernels[k], a->o.run.compile.assume, d);
  }
  return st;
}
