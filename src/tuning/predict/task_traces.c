#include "predict/task_traces.h"

#include <stdlib.h>

#include "heddle/model.h"
#include "predict/states.h"

/* Buffers up to that many bytes are filled in any case: values decide some branches that access nothing. */
static const uint64_t cheap_to_fill = 64 << 20;

hd_status record_contents(const hd_workload *w, bool reads_data, runner_contents **out, hd_diag *d) {
  uint64_t bytes = 0;
  *out = NULL;
  for (uint32_t i = 0; i < w->n_buffers; i++) bytes += w->buffers[i].bytes;
  if (!reads_data && bytes > cheap_to_fill) return HD_OK;
  *out = calloc(1, sizeof **out);
  return *out ? runner_contents_make(w, *out, d) : hd_nomem(d);
}

void record_contents_free(runner_contents *c) {
  if (c) runner_contents_free(c);
  free(c);
}

/* Warp instructions and accesses that two idle cores trace in a second: twice what bench_timing has of the
 * workload that is traced fastest, a warp's instruction being 32 of threads
 * (bench/results/CPU-2026-11-26/timing.txt). */
static const double traced_a_second = 5e7;

uint64_t record_most(const hd_run_options *o) {
  return o->budget.trace_seconds > 0 ? (uint64_t)(o->budget.trace_seconds * traced_a_second) + 1 : 0;
}

/* A trace counts CTAs that have ended. One that runs on is the emulator's to end. */
void record_bound(runner *r, uint64_t most) {
  const uint64_t each = most < UINT64_MAX / HD_WARP ? HD_WARP * most : UINT64_MAX, n = r->w->n_launches;
  hd_emu_set_work(r->emu, n && each > UINT64_MAX / n ? UINT64_MAX : each * n);
}

hd_status record_add(recording *r, uint32_t launch, hd_diag *d) {
  const hd_wl_launch *l = &r->r.w->launches[launch];
  hd_trace *t;
  hd_status st = hd_trace_create(l->grid, l->block, r->threads, 0, &t, d);
  if (st != HD_OK) return st;
  r->traces[launch] = t;
  r->own[launch] = true;
  hd_trace_allow_gaps(t);
  if (r->most) hd_trace_set_most(t, r->most);
  if (r->timed) st = hd_trace_keep_paths(t, r->r.module, d);
  return st == HD_OK ? hd_trace_finish(t, d) : st;
}

/* Are tasks of the traces other ones of the original? */
static bool is_reordered(const hd_resolved *plans) {
  for (uint32_t k = 0; plans && k < plans->code->n_kernels; k++) {
    const hd_plan *p = &plans->kernels[k].plan;
    const bool regrouped = p->threads.kind != HD_ORDER_ROW && !p->threads_in_cta;
    if (regrouped || p->order.kind != HD_ORDER_ROW || p->bind != HD_BIND_NONE || p->shape.loop) return true;
  }
  return false;
}

hd_status record_open(const hd_compiled *code, const hd_resolved *plans, const hd_run_options *o,
                      const record_options *how, recording **out, hd_diag *d) {
  const hd_workload *w = code->workload;
  recording *r = calloc(1, sizeof *r);
  *out = NULL;
  if (!r) return hd_nomem(d);
  hd_run_options run = *o;
  r->threads = run.machine.threads = run.machine.threads ? run.machine.threads : hd_cpu_count();
  r->timed = how->timed;
  r->before = how->before;
  r->most = record_most(o);
  r->reordered = is_reordered(plans);
  pthread_mutex_init(&r->lock, NULL);
  hd_status st = how->contents ? runner_open_with(&r->r, code, plans, &run, HD_CHECK_BOUNDS, how->contents, d)
                               : runner_open(&r->r, code, plans, &run, HD_CHECK_BOUNDS, d);
  r->traces = calloc((size_t)w->n_launches + 1, sizeof *r->traces);
  r->own = calloc((size_t)w->n_launches + 1, sizeof *r->own);
  r->counted = calloc((size_t)w->n_launches + 1, sizeof *r->counted);
  if (st == HD_OK && (!r->traces || !r->own || !r->counted)) st = hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++)
    if (!how->like || how->like[i] == i) st = record_add(r, i, d);
  for (uint32_t i = 0; st == HD_OK && how->like && i < w->n_launches; i++)
    if (how->like[i] != i) r->traces[i] = r->traces[how->like[i]];
  if (st == HD_OK && !plans) predict_skip_products(code, &r->r);
  if (st == HD_OK) record_bound(&r->r, r->most);
  if (st == HD_OK)
    *out = r;
  else
    record_close(r);
  return st;
}

void record_close(recording *r) {
  if (!r) return;
  for (uint32_t i = 0; r->traces && r->own && r->r.w && i < r->r.w->n_launches; i++)
    if (r->own[i]) hd_trace_destroy(r->traces[i]);
  free(r->traces);
  free(r->own);
  free(r->counted);
  if (r->r.w) runner_close(&r->r);
  pthread_mutex_destroy(&r->lock);
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
  if (r->broken.status != HD_OK) {
    if (d) *d = r->broken;
    return r->broken.status;
  }
  uint64_t *left = malloc((n + 1) * sizeof *left), n_left = 0;
  if (!left) return hd_nomem(d);
  for (uint64_t i = 0; i < n; i++)
    if (!hd_trace_has(t, tasks[i])) left[n_left++] = tasks[i];
  hd_diag why = {0};
  hd_status st = n_left ? hd_trace_resume(t, &why) : HD_OK;
  if (n_left && r->before) states_restore(r->before, launch, &r->r);
  if (st == HD_OK && n_left)
    st = runner_run_some(&r->r, launch, hd_trace_hooks(t), left, n_left, most, r->threads, &why);
  /* Those that cannot replay it any more may still look at it. A trace that has failed ends the launch, and
   * only the trace knows why. */
  hd_diag own = {0};
  const hd_status finished = n_left ? hd_trace_finish(t, &own) : HD_OK;
  if (finished != HD_OK && (st == HD_OK || st == HD_ERR_BUDGET)) {
    st = finished;
    why = own;
  }
  if (st != HD_OK) r->broken = why;
  if (st != HD_OK && d) *d = why;
  free(left);
  return st;
}

hd_status record_count(recording *r, uint32_t launch, const uint64_t *tasks, uint64_t n, double *out,
                       hd_diag *d) {
  const hd_wl_launch *l = &r->r.w->launches[launch];
  hd_trace *t;
  hd_status st = hd_trace_create(l->grid, l->block, r->threads, 0, &t, d);
  if (st != HD_OK) return st;
  hd_trace_allow_gaps(t);
  if (r->before) states_restore(r->before, launch, &r->r);
  st = runner_run_some(&r->r, launch, hd_trace_hooks(t), tasks, n, UINT64_MAX, r->threads, d);
  if (st == HD_OK) st = hd_trace_finish(t, d);
  *out = st == HD_OK ? (double)hd_trace_get_info(t).warp_instructions : 0;
  hd_trace_destroy(t);
  return st;
}
