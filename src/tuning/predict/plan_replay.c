/* Replays plans: the original's traces under an order, or those of kernels whose accesses a plan changes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"

void replay_launch_free(replay_launch *r) {
  hd_table_free(&r->order);
  free(r->queue_of);
}

/* The numbers of SMs, in the order in which a replay fills them. Hardware does so in no order of their
 * numbers: with a CTA more on some SMs than on others, some have one more or less than their queues. */
static void number_sms(uint32_t n, uint32_t *number) {
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t k = (uint32_t)(hd_random_at(0, i) % (i + 1));
    number[i] = number[k];
    number[k] = i;
  }
}

/* Which cluster each SM serves: as the rewritten kernels have it. */
static hd_status name_queues(replay_launch *r, const hd_gpu *g, const hd_plan *p, const hd_grid *grid,
                             hd_diag *d) {
  r->queue_of = calloc(g->n_sms, sizeof *r->queue_of);
  if (!r->queue_of) return hd_nomem(d);
  r->claims = (hd_replay_claims){.n_queues = hd_plan_clusters(p, grid),
                                 .queue_of = r->queue_of,
                                 .agents = p->bind == HD_BIND_AGENTS,
                                 .active = p->agents,
                                 .vote = p->agents_voted,
                                 .segment = p->take.kind != HD_TAKE_SEGMENTS ? 0
                                            : p->take.tasks                  ? p->take.tasks
                                                                             : UINT64_MAX,
                                 .strides = p->take.kind == HD_TAKE_STRIDES};
  const bool named = hd_numbers_count(&p->sms) != 0;
  uint32_t used = 0;
  number_sms(g->n_sms, r->queue_of);
  for (uint32_t i = 0; i < g->n_sms; i++) {
    const uint32_t sm = r->queue_of[i];
    if (named) r->queue_of[i] = hd_numbers_has(&p->sms, sm) ? hd_numbers_below(&p->sms, sm) : UINT32_MAX;
    used += r->queue_of[i] != UINT32_MAX;
  }
  if (!used)
    return hd_fail(d, HD_ERR_INPUT, "sms: %s has %u SMs, and none of those named", g->name, g->n_sms);
  return HD_OK;
}

/* The table of an order for a launch; empty when it needs none. */
static hd_status launch_table(const hd_study *s, uint32_t launch, const hd_plan *p, uint64_t tasks,
                              hd_table *out, hd_diag *d) {
  *out = (hd_table){0};
  if (!hd_order_needs_table(p->order.kind)) return HD_OK;
  return p->order.kind == HD_ORDER_TABLE ? hd_table_read(p->table, tasks, out, d)
                                         : study_order_table(s, launch, p->order.kind, out, d);
}

/* An order of clusters, as one of their CTAs. */
static hd_status spread_clusters(const uint32_t grid[3], const uint32_t cluster[3], hd_table *order,
                                 hd_diag *d) {
  const uint32_t nx = grid[0] / cluster[0], ny = grid[1] / cluster[1];
  const uint64_t V = (uint64_t)grid[0] * grid[1] * grid[2];
  uint32_t *task = calloc(V + 1, sizeof *task);
  if (!task) return hd_nomem(d);
  for (uint64_t u = 0; u < V; u++) {
    const uint32_t x = (uint32_t)(u % grid[0]), y = (uint32_t)(u / grid[0] % grid[1]),
                   z = (uint32_t)(u / grid[0] / grid[1]);
    const uint32_t to = order->task[x / cluster[0] + nx * (y / cluster[1] + ny * (z / cluster[2]))];
    task[u] = to % nx * cluster[0] + x % cluster[0] +
              grid[0] * (to / nx % ny * cluster[1] + y % cluster[1] +
                         grid[1] * (to / nx / ny * cluster[2] + z % cluster[2]));
  }
  free(order->task);
  order->task = task;
  order->n = V;
  return HD_OK;
}

static hd_status make_replay_plan(const hd_study *s, uint32_t launch, const hd_gpu *g, const hd_plan *open,
                                  replay_launch *out, hd_diag *d) {
  hd_plan settled = *open, *p = &settled;
  const hd_wl_launch *l = &s->w->launches[launch];
  hd_grid grid = {.known = true, .g = {l->grid[0], l->grid[1], l->grid[2]}, .n_sms = g->n_sms};
  uint64_t V;
  hd_table table;
  *out = (replay_launch){0};
  if (!hd_grid_tasks(l->grid, &V) || V > UINT32_MAX)
    return hd_fail(d, HD_ERR_INPUT, "%s: the grid has too many tasks to simulate", l->kernel);
  uint32_t cluster[3];
  const bool clusters =
      hd_rewrite_clusters(s->code->module, s->code->kernels[s->code->kernel_of[launch]].func, cluster);
  if (clusters && (hd_order_needs_table(p->order.kind) || p->bind != HD_BIND_NONE))
    return hd_fail(d, HD_ERR_REFUSED, "%s runs in clusters, which take neither bindings nor tables",
                   l->kernel);
  for (unsigned k = 0; clusters && k < 3; k++)
    if (grid.g[k] % cluster[k] == 0) grid.g[k] /= cluster[k];
  hd_status st = launch_table(s, launch, p, V, &table, d);
  if (st == HD_OK) st = hd_launch_settle_shape(s->code, launch, p, d);
  if (st == HD_OK) st = hd_plan_tabulate(p, &grid, table.task ? &table : NULL, &out->order, d);
  hd_table_free(&table);
  if (st == HD_OK && clusters && out->order.n) st = spread_clusters(l->grid, cluster, &out->order, d);
  if (st == HD_OK && hd_bind_claims(p->bind)) st = name_queues(out, g, p, &grid, d);
  return st;
}

/* The launch's tasks are recorded as far as they are not. Where tasks are cut, a plan's own ones tell how
 * much of them is missing, as *work: divided warps issue more. */
static hd_status record_sample(const hd_study *s, recording *r, uint32_t launch, const sample_launch *l,
                               const hd_replay_options *o, double *work, hd_diag *d) {
  uint64_t *tasks, n;
  hd_status st = sample_tasks(l, o, hd_trace_tasks(r->traces[launch]), &tasks, &n, d);
  if (st != HD_OK) return st;
  pthread_mutex_lock(&r->lock);
  if (r->broken.status != HD_OK || !record_has(r, launch, tasks, n)) {
    r->r.until = s->run.budget.until;
    st = record_tasks(r, launch, tasks, n, l->most, d);
  }
  if (st == HD_OK && r != s->recording && (l->cut || l->varied))
    st = survey_compare(s->recording, r, launch, s->sample->launches[launch].instructions, work, d);
  pthread_mutex_unlock(&r->lock);
  free(tasks);
  return st;
}

static hd_status replay_sampled(hd_model *m, const hd_study *s, recording *r, uint32_t launch,
                                const hd_gpu *g, const hd_replay_options *o, hd_counters *out, hd_diag *d) {
  sample_launch own = s->sample->launches[launch];
  const hd_trace *t = r->traces[launch];
  double work = 1;
  hd_status st = record_sample(s, r, launch, &own, o, &work, d);
  if (st != HD_OK || !own.n_parts) return st == HD_OK ? hd_model_replay(m, t, o, out, d) : st;
  own.instructions *= work;
  st = sample_replay(&own, m, g, t, o, out, d);
  while (st == HD_OK && sample_grow(&own, out, hd_trace_tasks(t))) {
    const hd_counters before = *out;
    st = record_sample(s, r, launch, &own, o, &work, d);
    if (st == HD_OK) st = sample_replay(&own, m, g, t, o, out, d);
    if (st != HD_ERR_BUDGET) continue;
    *out = before; /* an unsure time is better than none */
    return HD_OK;
  }
  return st;
}

/* The thresholds that the SMs have, beside the code: each its own, where they vote, for one trace cannot know
 * which CTA runs where (replay_changed). */
static void set_threshold(const hd_trace *t, const hd_plan *p, hd_replay_options *o) {
  if (p->bypass.kind != HD_BYPASS_AUTO) return;
  o->threshold = (hd_bypass){HD_BYPASS_L1, (uint32_t)hd_trace_get_info(t).warps_per_task};
  o->vote = true;
}

hd_status replay_launch_make(const hd_study *s, uint32_t launch, const hd_trace *t, const hd_gpu *g,
                             const hd_plan *p, const hd_added *extra, replay_launch *out, hd_diag *d) {
  const bool baseline = hd_plan_is_baseline(p);
  uint32_t warps = 0;
  *out = (replay_launch){0};
  hd_status st = baseline ? HD_OK : make_replay_plan(s, launch, g, p, out, d);
  const hd_table *order = baseline ? NULL : &out->order;
  out->claims.by_warp = extra->by_warp;
  out->claims.ahead = extra->ahead || s->how.free_mapping;
  if (st == HD_OK) st = replay_priority(s, launch, t, g, p, order, &warps, d);
  out->options = (hd_replay_options){.order = order,
                                     .claims = out->claims,
                                     .registers = hd_workload_registers(s->w, g->arch),
                                     .loads_within = extra->registers,
                                     .shared_bytes = s->shared[launch],
                                     .extra = extra->instructions,
                                     .extra_depth = extra->depth,
                                     .timed = s->how.timed,
                                     .until = s->run.budget.until,
                                     .stop = s->run.budget.stop,
                                     .scheduler_warps = warps};
  set_threshold(t, p, &out->options);
  return st;
}

/* Who asks: for counters, or for the timeline of one launch, behind which no other is replayed. */
typedef struct replay_use {
  hd_dispatch dispatch;
  hd_bypass held;        /* the threshold in the caches' register; NONE: there is none */
  hd_timeline *timeline; /* NULL: none */
  uint32_t launch;       /* whose it is */
} replay_use;

static hd_status replay_traces(hd_model *m, const hd_study *s, hd_trace *const *traces, recording *recorded,
                               const hd_gpu *g, const hd_plan *p, const replay_use *use, hd_counters *out,
                               hd_diag *d) {
  const uint32_t n = use->timeline ? use->launch + 1 : s->w->n_launches;
  hd_added *extra = calloc((size_t)n + 1, sizeof *extra);
  hd_counters *each = calloc((size_t)n + 1, sizeof *each);
  hd_status st = extra && each ? HD_OK : hd_nomem(d);
  memset(out, 0, sizeof *out);
  if (st == HD_OK && s->how.timed && !s->how.free_mapping && !hd_plan_is_baseline(p))
    st = replay_extra(s, p, g->n_sms, extra, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    replay_launch l;
    if (s->sample && sample_leaves_out(s->sample, i)) continue;
    st = replay_launch_make(s, i, traces[i], g, p, &extra[i], &l, d);
    l.options.dispatch = use->dispatch;
    l.options.keep_caches = i > 0;
    if (use->held.kind != HD_BYPASS_NONE) l.options.threshold = use->held;
    if (i == use->launch) l.options.timeline = use->timeline;
    if (st == HD_OK)
      st = recorded && s->sample ? replay_sampled(m, s, recorded, i, g, &l.options, &each[i], d)
                                 : hd_model_replay(m, traces[i], &l.options, &each[i], d);
    replay_launch_free(&l);
  }
  const bool fill = st == HD_OK && s->sample && !use->timeline;
  const double error = fill ? launches_fill(&s->sample->row, s->sample->use, each) : 0;
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    if (s->how.timed) /* `heddle time` keeps the GPU busy for that long */
      hd_counters_add_launch(out, &each[i], g, i, HD_DEVICE_HEAD_START_US);
    else
      hd_counters_add(out, &each[i]);
  }
  out->time_error_us = hypot(error, out->time_error_us); /* launches alike err alike: theirs is a sum */
  free(each);
  free(extra);
  return st;
}

hd_status replay_retrace(const hd_study *s, const hd_gpu *g, const hd_plan *p, recording **recorded,
                         hd_trace *const **traces, hd_diag *d) {
  hd_resolved resolved;
  hd_run_options run = s->run;
  hd_plan_set part = {.all = retrace_part(p)};
  *recorded = NULL;
  if (p->prefetch.kind != HD_PREFETCH_NONE && p->split.kind == HD_SPLIT_COLS && p->bind != HD_BIND_REDIRECT)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "prefetch: not simulated together with split=cols");
  hd_status st = hd_resolve(s->w, &part, &run, s, &resolved, d);
  if (st != HD_OK) return st;
  if (part.all.bind != HD_BIND_NONE) run.machine.n_sms = g->n_sms;
  /* On SM 0 no CTA bypasses anything: the replay's SMs decide which do. */
  if (p->bypass.kind == HD_BYPASS_AUTO) run.machine.n_sms = 1;
  record_options how = s->sample ? sample_record(s->sample) : (record_options){0};
  how.timed = s->how.timed;
  st = retrace_acquire(s->memo->changed, &resolved, &run, s->how.timed, s->sample ? &how : NULL, recorded,
                       traces, d);
  hd_resolved_free(&resolved);
  return st;
}

/* The part of the plan that changes accesses is traced, the rest of it replayed. */
static hd_status replay_changed(hd_model *m, const hd_study *s, const hd_gpu *g, const hd_plan *p,
                                const replay_use *use, hd_counters *out, hd_diag *d) {
  hd_trace *const *traces;
  recording *recorded;
  hd_plan rest = retrace_rest(p);
  hd_status st = replay_retrace(s, g, p, &recorded, &traces, d);
  if (st != HD_OK) return st;
  st = replay_traces(m, s, traces, recorded, g, &rest, use, out, d);
  retrace_release(s->memo->changed, traces);
  return st;
}

/* The plan without what a register of the caches does for it: *held. */
static hd_plan without_register(const hd_study *s, const hd_plan *p, hd_bypass *held) {
  hd_plan code = *p;
  const bool holds = s->how.bypass_register && p->form == HD_FORM_AUTO && p->bypass.kind != HD_BYPASS_AUTO;
  *held = holds ? p->bypass : (hd_bypass){0};
  if (holds) code.bypass = (hd_bypass){0};
  return code;
}

static hd_status replay_for(hd_model *m, const hd_study *s, const hd_gpu *g, const hd_plan *p,
                            const replay_use *use, hd_counters *out, hd_diag *d) {
  hd_status st = hd_plan_check(p, d);
  if (st == HD_OK) st = hd_plan_check_arch(p, g->name, g->arch, d);
  if (st != HD_OK) return st;
  replay_use own = *use;
  const hd_plan code = without_register(s, p, &own.held);
  return retrace_is_needed(&code) ? replay_changed(m, s, g, &code, &own, out, d)
                                  : replay_traces(m, s, s->traces, s->recording, g, &code, &own, out, d);
}

hd_status replay_on(hd_model *m, const hd_study *s, const hd_gpu *g, const hd_plan *p, hd_dispatch_kind kind,
                    uint64_t seed, hd_counters *out, hd_diag *d) {
  return replay_for(m, s, g, p, &(replay_use){.dispatch = {.kind = kind, .seed = seed}}, out, d);
}

static hd_status replay_once(const hd_study *s, const hd_gpu *g, const hd_plan *p, const replay_use *use,
                             hd_counters *out, hd_diag *d) {
  hd_model *m;
  hd_status st = hd_model_create(g, &m, d);
  if (st != HD_OK) return st;
  hd_meter meter = study_meter(s);
  hd_model_set_meter(m, &meter);
  st = replay_for(m, s, g, p, use, out, d);
  hd_meter_end(&meter);
  hd_model_destroy(m);
  return st;
}

hd_status hd_study_replay(const hd_study *s, const hd_gpu *g, const hd_plan *p, hd_dispatch_kind dispatch,
                          uint64_t seed, hd_counters *out, hd_diag *d) {
  return replay_once(s, g, p, &(replay_use){.dispatch = {.kind = dispatch, .seed = seed}}, out, d);
}

hd_status hd_study_timeline(const hd_study *s, const hd_gpu *g, const hd_plan *p, hd_dispatch_kind dispatch,
                            uint64_t seed, hd_timeline *out, hd_diag *d) {
  const uint32_t launch = hd_study_busiest(s);
  const replay_use use = {.dispatch = {.kind = dispatch, .seed = seed}, .timeline = out, .launch = launch};
  hd_counters counters;
  if (!s->how.timed)
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "a timeline needs a clock: a GPU whose file has [units], and "
                   "--depth timing");
  const hd_status st = replay_once(s, g, p, &use, &counters, d);
  if (st != HD_OK) return st;
  const sample_launch *sampled = s->sample ? &s->sample->launches[launch] : NULL;
  out->cut_after = sampled && sampled->cut ? sampled->most : 0;
  hd_bypass held;
  const hd_plan code = without_register(s, p, &held);
  out->other_text = retrace_is_needed(&code);
  hd_trace_show_so_far(s->traces[launch]);
  return HD_OK;
}
