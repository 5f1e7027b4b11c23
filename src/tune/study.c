/* Traces of a workload, replayed under many plans. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/runner.h"

struct hd_study {
  const hd_workload *w;
  hd_trace **traces; /* per launch */
  uint32_t *shared;  /* per launch: bytes of shared memory per CTA, static and dynamic */
  double seconds;
};

hd_status hd_study_open(const hd_workload *w, const hd_run_options *o, hd_study **out, hd_diag *d) {
  *out = NULL;
  hd_run_options run = o ? *o : (hd_run_options){0};
  hd_study *s = calloc(1, sizeof *s);
  if (!s) return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  s->w = w;
  s->traces = calloc((size_t)w->n_launches + 1, sizeof *s->traces);
  s->shared = calloc((size_t)w->n_launches + 1, sizeof *s->shared);
  const hd_emu_hooks **hooks = calloc((size_t)w->n_launches + 1, sizeof *hooks);
  if (!s->traces || !s->shared || !hooks) {
    free(hooks);
    hd_study_close(s);
    return hd_fail(d, HD_ERR_NOMEM, "out of memory");
  }
  runner r;
  memset(&r, 0, sizeof r);
  double start = hd_seconds();
  hd_status st = HD_OK;
  unsigned workers = run.threads ? run.threads : hd_cpu_count();
  run.threads = workers;
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    st = hd_trace_create(w->launches[i].grid, w->launches[i].block, workers, 0, &s->traces[i], d);
    if (st == HD_OK) hooks[i] = hd_trace_hooks(s->traces[i]);
  }
  if (st == HD_OK) st = runner_open(&r, w, NULL, &run, HD_CHECK_BOUNDS, d);
  if (st == HD_OK) st = runner_fill(&r, d);
  if (st == HD_OK) {
    hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN};
    st = runner_run(&r, &how, hooks, NULL, d);
  }
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    s->shared[i] = hd_emu_static_shared(r.program, w->launches[i].kernel) + w->launches[i].dynamic_shared;
    st = hd_trace_finish(s->traces[i], d);
  }
  if (r.w) runner_close(&r);
  free(hooks);
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
  free(s);
}

uint32_t hd_study_launches(const hd_study *s) { return s->w->n_launches; }
const hd_trace *hd_study_trace(const hd_study *s, uint32_t launch) { return s->traces[launch]; }
double hd_study_seconds(const hd_study *s) { return s->seconds; }

/* ---- Replay ----------------------------------------------------------------------- */

static void add_counters(hd_counters *sum, const hd_counters *c) {
  sum->time_us += c->time_us;
  sum->warp_instructions += c->warp_instructions;
  sum->thread_instructions += c->thread_instructions;
  sum->l1_sectors += c->l1_sectors;
  sum->l1_hits += c->l1_hits;
  sum->l2_sectors += c->l2_sectors;
  sum->l2_hits += c->l2_hits;
  sum->l2_read_sectors += c->l2_read_sectors;
  sum->l2_write_sectors += c->l2_write_sectors;
  sum->dram_read_bytes += c->dram_read_bytes;
  sum->dram_write_bytes += c->dram_write_bytes;
  sum->compulsory_bytes += c->compulsory_bytes;
  sum->cycles += c->cycles;
  sum->cycles_issue += c->cycles_issue;
  sum->cycles_l1 += c->cycles_l1;
  sum->cycles_l2 += c->cycles_l2;
  sum->cycles_dram += c->cycles_dram;
  sum->resident = c->resident;
}

static hd_status order_of(const hd_wl_launch *l, const hd_gpu *g, const hd_plan *p, hd_table *order,
                          hd_diag *d) {
  hd_grid grid = {.known = true, .g = {l->grid[0], l->grid[1], l->grid[2]}, .n_sms = g->n_sms};
  uint64_t V;
  hd_table table = {0};
  hd_status st = HD_OK;
  if (!hd_grid_tasks(l->grid, &V) || V > UINT32_MAX)
    return hd_fail(d, HD_ERR_INPUT, "%s: the grid has too many tasks to simulate", l->kernel);
  if (p->order.kind == HD_ORDER_TABLE) st = hd_table_read(p->order.file, V, &table, d);
  if (st == HD_OK) st = hd_plan_tabulate(p, &grid, table.task ? &table : NULL, order, d);
  hd_table_free(&table);
  return st;
}

static hd_status replay_on(hd_model *m, const hd_study *s, const hd_gpu *g, const hd_plan *p,
                           hd_dispatch_kind dispatch, uint64_t seed, hd_counters *out, hd_diag *d) {
  memset(out, 0, sizeof *out);
  for (uint32_t i = 0; i < s->w->n_launches; i++) {
    hd_table order = {0};
    bool baseline = hd_plan_is_baseline(p);
    hd_status st = baseline ? HD_OK : order_of(&s->w->launches[i], g, p, &order, d);
    hd_counters c = {0};
    hd_replay_options o = {.order = baseline ? NULL : &order,
                           .dispatch = {.kind = dispatch, .seed = seed},
                           .registers = s->w->registers,
                           .shared_bytes = s->shared[i],
                           .keep_caches = i > 0};
    if (st == HD_OK) st = hd_model_replay(m, s->traces[i], &o, &c, d);
    hd_table_free(&order);
    if (st != HD_OK) return st;
    add_counters(out, &c);
  }
  return HD_OK;
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
  hd_status st = w.status && w.diags ? HD_OK : hd_fail(d, HD_ERR_NOMEM, "out of memory");
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
