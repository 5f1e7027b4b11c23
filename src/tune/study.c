/* Traces of a workload, replayed under many plans. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/retrace.h"
#include "tune/table.h"

struct hd_study {
  const hd_workload *w;
  hd_trace **traces;      /* per launch */
  const hd_table *table;  /* of order=heavy-first and order=affinity, or NULL */
  uint32_t *shared;       /* per launch: bytes of shared memory per CTA, static and dynamic */
  hd_reuse_array *arrays; /* per buffer */
  retrace_store *changed; /* traces under plans that change accesses */
  table_store *tables;    /* of orders that are worked out from the traces */
  unsigned arch;
  double seconds;
};

hd_status hd_study_open(const hd_workload *w, const hd_run_options *o, hd_study **out, hd_diag *d) {
  *out = NULL;
  hd_run_options run = o ? *o : (hd_run_options){0};
  hd_study *s = calloc(1, sizeof *s);
  if (!s) return hd_nomem(d);
  s->w = w;
  s->table = run.table;
  s->arch = hd_launch_arch(NULL, run.arch);
  s->traces = calloc((size_t)w->n_launches + 1, sizeof *s->traces);
  s->shared = calloc((size_t)w->n_launches + 1, sizeof *s->shared);
  s->arrays = calloc((size_t)w->n_buffers + 1, sizeof *s->arrays);
  s->changed = retrace_open(w, &run);
  s->tables = table_store_open(w, &run);
  uint64_t *addresses = calloc((size_t)w->n_buffers + 1, sizeof *addresses);
  double start = hd_seconds();
  hd_status st =
      s->traces && s->shared && s->arrays && s->changed && s->tables && addresses ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = retrace_take(w, NULL, &run, s->traces, s->shared, addresses, d);
  for (uint32_t i = 0; st == HD_OK && i < w->n_buffers; i++)
    s->arrays[i] = (hd_reuse_array){w->buffers[i].name, addresses[i], w->buffers[i].bytes};
  free(addresses);
  s->seconds = hd_seconds() - start;
  if (st != HD_OK) {
    hd_study_close(s);
    return st;
  }
  *out = s;
  return HD_OK;
}

void hd_study_close(hd_study *s) {
  if (!s) return;
  for (uint32_t i = 0; s->traces && i < s->w->n_launches; i++)
    if (s->traces[i]) hd_trace_destroy(s->traces[i]);
  free(s->traces);
  free(s->shared);
  free(s->arrays);
  retrace_close(s->changed);
  table_store_close(s->tables);
  free(s);
}

uint32_t hd_study_launches(const hd_study *s) { return s->w->n_launches; }
const hd_trace *hd_study_trace(const hd_study *s, uint32_t launch) { return s->traces[launch]; }
unsigned study_arch(const hd_study *s) { return s->arch; }
double hd_study_seconds(const hd_study *s) { return s->seconds; }
const hd_reuse_array *hd_study_arrays(const hd_study *s, uint32_t *n) {
  if (n) *n = s->w->n_buffers;
  return s->arrays;
}

/* ---- Replay ----------------------------------------------------------------------- */

/* A plan as the model takes it, for one launch. */
typedef struct replay_plan {
  hd_table order;
  hd_replay_claims claims;
  uint32_t *queue_of;
} replay_plan;

static void free_replay_plan(replay_plan *r) {
  hd_table_free(&r->order);
  free(r->queue_of);
}

/* Which cluster each SM serves: as the rewritten kernels have it. */
static hd_status name_queues(replay_plan *r, const hd_gpu *g, const hd_plan *p, const hd_grid *grid,
                             hd_diag *d) {
  r->queue_of = calloc(g->n_sms, sizeof *r->queue_of);
  if (!r->queue_of) return hd_nomem(d);
  r->claims = (hd_replay_claims){.n_queues = hd_plan_clusters(p, grid),
                                 .queue_of = r->queue_of,
                                 .agents = p->bind == HD_BIND_AGENTS,
                                 .active = p->agents,
                                 .segment = p->take.kind == HD_TAKE_TASKS ? 0
                                            : p->take.tasks               ? p->take.tasks
                                                                          : UINT64_MAX};
  uint32_t used = 0;
  for (uint32_t sm = 0; sm < g->n_sms; sm++) {
    r->queue_of[sm] = p->sms.n ? UINT32_MAX : sm;
    for (uint32_t k = 0, before = 0; k < p->sms.n; k++) {
      const hd_sm_range *range = &p->sms.ranges[k];
      if (sm >= range->first && sm <= range->last) r->queue_of[sm] = before + sm - range->first;
      before += range->last - range->first + 1;
    }
    used += r->queue_of[sm] != UINT32_MAX;
  }
  if (!used)
    return hd_fail(d, HD_ERR_INPUT, "sms: %s has %u SMs, and none of those named", g->name, g->n_sms);
  return HD_OK;
}

static hd_status make_replay_plan(const hd_study *s, uint32_t launch, const hd_gpu *g, const hd_plan *p,
                                  replay_plan *out, hd_diag *d) {
  const hd_wl_launch *l = &s->w->launches[launch];
  hd_grid grid = {.known = true, .g = {l->grid[0], l->grid[1], l->grid[2]}, .n_sms = g->n_sms};
  hd_run_options run = {.table = s->table};
  uint64_t V;
  hd_table own = {0};
  const hd_table *table;
  *out = (replay_plan){0};
  if (!hd_grid_tasks(l->grid, &V) || V > UINT32_MAX)
    return hd_fail(d, HD_ERR_INPUT, "%s: the grid has too many tasks to simulate", l->kernel);
  hd_status st = s->table || !table_is_worked_out(p->order.kind)
                     ? apply_table(s->w, launch, p, &run, &own, &table, d)
                     : table_store_get(s->tables, s, launch, p->order.kind, &table, d);
  if (st == HD_OK) st = hd_plan_tabulate(p, &grid, table, &out->order, d);
  hd_table_free(&own);
  if (st == HD_OK && (p->bind == HD_BIND_AGENTS || p->bind == HD_BIND_CLAIM))
    st = name_queues(out, g, p, &grid, d);
  return st;
}

static hd_status replay_traces(hd_model *m, const hd_study *s, hd_trace *const *traces, const hd_gpu *g,
                               const hd_plan *p, const hd_dispatch *dispatch, hd_counters *out, hd_diag *d) {
  hd_status st = HD_OK;
  bool baseline = hd_plan_is_baseline(p);
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_launches; i++) {
    replay_plan plan = {0};
    if (!baseline) st = make_replay_plan(s, i, g, p, &plan, d);
    hd_counters c = {0};
    hd_replay_options o = {.order = baseline ? NULL : &plan.order,
                           .claims = plan.claims,
                           .dispatch = *dispatch,
                           .registers = s->w->registers,
                           .shared_bytes = s->shared[i],
                           .keep_caches = i > 0};
    if (st == HD_OK) st = hd_model_replay(m, traces[i], &o, &c, d);
    free_replay_plan(&plan);
    if (st == HD_OK) hd_counters_add(out, &c);
  }
  return st;
}

static hd_status replay_on(hd_model *m, const hd_study *s, const hd_gpu *g, const hd_plan *p,
                           hd_dispatch_kind kind, uint64_t seed, hd_counters *out, hd_diag *d) {
  hd_dispatch dispatch = {.kind = kind, .seed = seed};
  hd_status st = hd_plan_check(p, d);
  if (st != HD_OK) return st;
  if (!retrace_is_needed(p)) return replay_traces(m, s, s->traces, g, p, &dispatch, out, d);
  hd_trace *const *traces;
  hd_plan rest = retrace_rest(p);
  st = retrace_acquire(s->changed, p, g->n_sms, &traces, d);
  if (st != HD_OK) return st;
  st = replay_traces(m, s, traces, g, &rest, &dispatch, out, d);
  retrace_release(s->changed, traces);
  return st;
}

hd_status hd_study_replay(const hd_study *s, const hd_gpu *g, const hd_plan *p, hd_dispatch_kind dispatch,
                          uint64_t seed, hd_counters *out, hd_diag *d) {
  hd_model *m;
  hd_status st = hd_model_create(g, &m, d);
  if (st != HD_OK) return st;
  st = replay_on(m, s, g, p, dispatch, seed, out, d);
  hd_model_destroy(m);
  return st;
}

/* ---- Sweep -------------------------------------------------------------------------- */

typedef struct sweep {
  const hd_study *s;
  const hd_gpu *g;
  hd_dispatch_kind dispatch;
  uint64_t seed;
  hd_sweep_row *rows;
  size_t n;
  size_t next, done; /* atomic */
  void (*progress)(void *, size_t, size_t);
  void *ctx;
  hd_status *status; /* per worker */
  hd_diag *diags;
} sweep;

static void sweep_worker(void *ctx, unsigned worker) {
  sweep *w = ctx;
  hd_model *m;
  w->status[worker] = hd_model_create(w->g, &m, &w->diags[worker]);
  if (w->status[worker] != HD_OK) return;
  for (size_t i; (i = __atomic_fetch_add(&w->next, 1, __ATOMIC_RELAXED)) < w->n;) {
    hd_sweep_row *row = &w->rows[i];
    hd_diag e = {0};
    row->status = replay_on(m, w->s, w->g, &row->plan, w->dispatch, w->seed, &row->counters, &e);
    if (row->status != HD_OK) snprintf(row->why, sizeof row->why, "%.255s", e.message);
    size_t done = __atomic_add_fetch(&w->done, 1, __ATOMIC_RELAXED);
    if (worker == 0 && w->progress) w->progress(w->ctx, done, w->n);
  }
  hd_model_destroy(m);
}

hd_status hd_sweep(const hd_study *s, const hd_gpu *g, hd_dispatch_kind dispatch, uint64_t seed,
                   hd_sweep_row *rows, size_t n, unsigned threads, void (*progress)(void *, size_t, size_t),
                   void *ctx, hd_diag *d) {
  if (!threads) threads = hd_cpu_count();
  if (threads > n) threads = n ? (unsigned)n : 1;
  sweep w = {.s = s,
             .g = g,
             .dispatch = dispatch,
             .seed = seed,
             .rows = rows,
             .n = n,
             .progress = progress,
             .ctx = ctx};
  w.status = calloc(threads, sizeof *w.status);
  w.diags = calloc(threads, sizeof *w.diags);
  hd_status st = w.status && w.diags ? HD_OK : hd_nomem(d);
  if (st == HD_OK && !hd_parallel(threads, sweep_worker, &w) && w.done < n)
    st = hd_fail(d, HD_ERR_NOMEM, "cannot start threads");
  for (unsigned i = 0; st == HD_OK && i < threads; i++)
    if (w.status[i] != HD_OK) {
      st = w.status[i];
      if (d) *d = w.diags[i];
    }
  if (st == HD_OK && progress) progress(ctx, n, n);
  free(w.status);
  free(w.diags);
  return st;
}

static bool better(const hd_counters *a, const hd_counters *b) {
  if (a->time_us != b->time_us) return a->time_us < b->time_us;
  uint64_t da = a->dram_read_bytes + a->dram_write_bytes, db = b->dram_read_bytes + b->dram_write_bytes;
  if (da != db) return da < db;
  return a->l2_sectors < b->l2_sectors;
}

int64_t hd_sweep_best(const hd_sweep_row *rows, size_t n) {
  int64_t best = -1;
  for (size_t i = 0; i < n; i++)
    if (rows[i].status == HD_OK && (best < 0 || better(&rows[i].counters, &rows[best].counters)))
      best = (int64_t)i;
  return best;
}

void hd_explain_nothing_helps(const hd_counters *base, const hd_gpu *g, char *out, size_t cap) {
  double dram = (double)(base->dram_read_bytes + base->dram_write_bytes);
  double over = base->compulsory_bytes ? dram / (double)base->compulsory_bytes : 1;
  const char *limit = "instruction issue";
  double top = base->cycles_issue;
  if (base->cycles_l1 > top) top = base->cycles_l1, limit = "L1 bandwidth";
  if (base->cycles_l2 > top) top = base->cycles_l2, limit = "L2 bandwidth";
  if (base->cycles_dram > top) limit = "DRAM bandwidth";
  if (over < 1.05)
    snprintf(out, cap,
             "DRAM traffic is within %.0f%% of compulsory already and %s bounds the time on %s, which the "
             "order of the CTAs does not change",
             (over - 1) * 100 < 1 ? 1 : (over - 1) * 100, limit, g->name);
  else
    snprintf(out, cap,
             "%s bounds the time on %s and no order tried lowers it (DRAM traffic is %.2fx compulsory)",
             limit, g->name, over);
}
