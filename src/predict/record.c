#include "predict/record.h"

#include <stdlib.h>

#include "heddle/analysis.h"
#include "heddle/model.h"

/* Buffers up to that many bytes are filled in any case: values decide some branches that access nothing. */
static const uint64_t cheap_to_fill = 64 << 20;

/* ---- Can tasks be left out? -------------------------------------------------------------- */

/* Of all launches. */
typedef struct uses {
  bool *decides,
      *written; /* per buffer: a kernel whose accesses depend on data reads it; something writes it */
  bool reads_data, unknown;
} uses;

static bool depends_on_data(const hd_analysis *a) {
  if (a->over_budget) return true;
  for (uint32_t i = 0; i < a->n_sites; i++)
    if (a->sites[i].level >= HD_LEVEL_DATA || !a->sites[i].guards_complete) return true;
  for (uint32_t i = 0; i < a->cfg.n_loops; i++)
    if (a->loop_values[i].rounds == HD_NONE) return true;
  return false;
}

static void add_site(const hd_analysis *a, const hd_site *s, const hd_wl_launch *l, bool decides, uses *u) {
  const bool reads = decides && (hd_site_reads((hd_site_kind)s->kind) || s->kind == HD_SITE_ATOMIC);
  const bool writes = hd_site_writes((hd_site_kind)s->kind);
  if (!reads && !writes) return;
  if (s->param == HD_NONE || s->param >= l->n_args || !l->args[s->param].is_buffer) {
    u->unknown |= s->var == HD_NONE || writes || a->module->vars[s->var].space == HD_M_CONST;
    return;
  }
  if (reads) u->decides[l->args[s->param].buffer] = true;
  if (writes) u->written[l->args[s->param].buffer] = true;
}

static hd_status add_launch(const hd_compiled *code, uint32_t launch, uses *u, hd_diag *d) {
  const hd_wl_launch *l = &code->workload->launches[launch];
  const hd_analyze_options o = {.grid = {l->grid[0], l->grid[1], l->grid[2]},
                                .block = {l->block[0], l->block[1], l->block[2]}};
  hd_analysis *a;
  hd_status st = hd_analyze(code->module, code->kernels[code->kernel_of[launch]].func, &o, &a, d);
  if (st != HD_OK) return st;
  const bool decides = depends_on_data(a);
  u->reads_data |= decides;
  u->unknown |= l->cooperative;
  for (uint32_t i = 0; i < a->n_sites; i++) add_site(a, &a->sites[i], l, decides, u);
  hd_analysis_free(a);
  return HD_OK;
}

/* The launch is like an earlier one, as far as this matters. */
static bool is_repeated(const hd_compiled *code, uint32_t launch) {
  const hd_wl_launch *l = code->workload->launches, *b = &l[launch];
  for (uint32_t i = 0; i < launch; i++) {
    if (code->kernel_of[i] != code->kernel_of[launch] || l[i].n_args != b->n_args) continue;
    bool same = true;
    for (uint32_t k = 0; same && k < b->n_args; k++)
      same = l[i].args[k].is_buffer == b->args[k].is_buffer &&
             (!b->args[k].is_buffer || l[i].args[k].buffer == b->args[k].buffer);
    if (same) return true;
  }
  return false;
}

hd_status record_is_possible(const hd_compiled *code, bool *possible, bool *reads_data, hd_diag *d) {
  const hd_workload *w = code->workload;
  uses u = {.decides = calloc((size_t)w->n_buffers + 1, sizeof *u.decides),
            .written = calloc((size_t)w->n_buffers + 1, sizeof *u.written)};
  hd_status st = u.decides && u.written ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++)
    if (!is_repeated(code, i)) st = add_launch(code, i, &u, d);
  *possible = !u.reads_data || (!u.unknown && !w->n_images);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++)
    if (u.decides[i] && u.written[i]) *possible = false;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (w->launches[i].cooperative) *possible = false;
  *reads_data = u.reads_data;
  free(u.decides);
  free(u.written);
  return st;
}

/* ---- Recordings ----------------------------------------------------------------------------- */

static hd_status fill(recording *r, bool reads_data, hd_diag *d) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < r->r.w->n_buffers; i++) bytes += r->r.w->buffers[i].bytes;
  return reads_data || bytes <= cheap_to_fill ? runner_fill(&r->r, d) : HD_OK;
}

hd_status record_open(const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o,
                      bool reads_data, recording **out, hd_diag *d) {
  const hd_workload *w = code->workload;
  recording *r = calloc(1, sizeof *r);
  *out = NULL;
  if (!r) return hd_nomem(d);
  hd_run_options run = *o;
  r->threads = run.threads = run.threads ? run.threads : hd_cpu_count();
  pthread_rwlock_init(&r->use, NULL);
  hd_status st = runner_open(&r->r, code, plans, &run, HD_CHECK_BOUNDS, d);
  r->traces = calloc((size_t)w->n_launches + 1, sizeof *r->traces);
  if (st == HD_OK && !r->traces) st = hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    st = hd_trace_create(l->grid, l->block, r->threads, 0, &r->traces[i], d);
    if (st != HD_OK) break;
    hd_trace_allow_gaps(r->traces[i]);
    if (o->timed) st = hd_trace_keep_paths(r->traces[i], r->r.module, d);
    if (st == HD_OK) st = hd_trace_finish(r->traces[i], d);
  }
  if (st == HD_OK) st = fill(r, reads_data, d);
  if (st == HD_OK)
    *out = r;
  else
    record_close(r);
  return st;
}

void record_close(recording *r) {
  if (!r) return;
  for (uint32_t i = 0; r->traces && r->r.w && i < r->r.w->n_launches; i++)
    if (r->traces[i]) hd_trace_destroy(r->traces[i]);
  free(r->traces);
  if (r->r.w) runner_close(&r->r);
  pthread_rwlock_destroy(&r->use);
  free(r);
}

bool record_has(const recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n) {
  for (uint64_t i = 0; i < n; i++)
    if (!hd_trace_has(r->traces[launch], tasks[i])) return false;
  return true;
}

hd_status record_tasks(recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n, uint64_t most,
                       hd_diag *d) {
  hd_trace *t = r->traces[launch];
  uint64_t *left = malloc((n + 1) * sizeof *left), n_left = 0;
  if (!left) return hd_nomem(d);
  for (uint64_t i = 0; i < n; i++)
    if (!hd_trace_has(t, tasks[i])) left[n_left++] = tasks[i];
  hd_status st = n_left ? hd_trace_resume(t, d) : HD_OK;
  if (st == HD_OK && n_left)
    st = runner_run_some(&r->r, launch, hd_trace_hooks(t), left, n_left, most, r->threads, d);
  if (st == HD_OK && n_left) st = hd_trace_finish(t, d);
  free(left);
  return st;
}
