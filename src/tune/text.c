/* What the kernels' text says: which buffers are addressed how, and what bars reordering. */
#include <stdlib.h>
#include <string.h>

#include "tune/advice.h"
#include "tune/runner.h"

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

static hd_status note_kernel(advising *a, const hd_ptx_module *m, uint32_t func, const char *kernel,
                             hd_diag *d) {
  hd_analysis *an;
  hd_status st = hd_analyze(m, func, NULL, &an, d);
  if (st != HD_OK) return st;
  for (uint32_t i = 0; i < a->w->n_launches; i++)
    for (uint32_t k = 0; strcmp(a->w->launches[i].kernel, kernel) == 0 && k < an->n_sites; k++)
      note_site(a, an, &an->sites[k], &a->w->launches[i]);
  hd_analysis_free(an);
  return HD_OK;
}

/* ---- Refusals ------------------------------------------------------------------------------ */

static hd_status note_refusals(hd_advice *out, const hd_ptx_module *m, uint32_t func, const char *kernel,
                               hd_diag *d) {
  hd_refusal found[MOST_REFUSALS];
  size_t n = hd_rewrite_refusals(m, func, found, MOST_REFUSALS);
  if (n > MOST_REFUSALS) n = MOST_REFUSALS;
  hd_refusal *refusals = realloc(out->refusals, (out->n_refusals + n + 1) * sizeof *refusals);
  if (refusals) out->refusals = refusals;
  const char **kernels = realloc(out->refused_kernels, (out->n_refusals + n + 1) * sizeof *kernels);
  if (kernels) out->refused_kernels = kernels;
  if (!refusals || !kernels) return hd_nomem(d);
  for (size_t k = 0; k < n; k++) {
    out->refusals[out->n_refusals] = found[k];
    out->refused_kernels[out->n_refusals++] = kernel;
  }
  return HD_OK;
}

hd_status advice_text(advising *a, hd_diag *d) {
  hd_advice *out = a->out;
  hd_arena arena;
  hd_buf text = {0};
  hd_ptx_module *m;
  hd_arena_init(&arena);
  out->buffers = calloc((size_t)a->w->n_buffers + 1, sizeof *out->buffers);
  hd_status st = out->buffers ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = hd_workload_ptx(a->w, a->o.run.arch ? a->o.run.arch : RUNNER_ARCH, &text, NULL, d);
  if (st == HD_OK) st = hd_ptx_parse(text.data, text.len, a->w->name, &arena, &m, d);
  for (uint32_t i = 0; st == HD_OK && i < a->w->n_launches; i++) {
    const char *kernel = a->w->launches[i].kernel;
    int64_t func;
    if (apply_first_launch(a->w, i) != i) continue;
    st = apply_find_kernel(m, kernel, &func, d);
    if (st == HD_OK) st = note_kernel(a, m, (uint32_t)func, kernel, d);
    if (st == HD_OK) st = note_refusals(out, m, (uint32_t)func, kernel, d);
  }
  hd_buf_free(&text);
  hd_arena_free(&arena);
  return st;
}
