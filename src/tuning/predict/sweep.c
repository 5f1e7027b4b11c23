/* Many plans over one study, spread over threads. */
#include <stdio.h>
#include <string.h>

#include "predict/study.h"

typedef struct sweep {
  const hd_sweep_job *j;
  hd_model **models;    /* per thread */
  pthread_mutex_t lock; /* of the study, while it is opened */
} sweep;

/* An answer; the plan is the row's own. */
typedef struct sweep_answer {
  hd_status status;
  hd_bound bound;
  hd_counters counters;
  double part; /* of the work, that the study has */
  char why[sizeof((hd_sweep_row *)0)->why];
} sweep_answer;

static hd_status get_study(sweep *w, hd_diag *d) {
  hd_status st = HD_OK;
  pthread_mutex_lock(&w->lock);
  if (!*w->j->study) st = hd_study_open(w->j->workload, &w->j->run, &w->j->how, w->j->study, d);
  pthread_mutex_unlock(&w->lock);
  return st;
}

static hd_status sweep_item(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *d) {
  sweep *w = ctx;
  const hd_sweep_job *j = w->j;
  sweep_answer a;
  hd_diag e = {0};
  memset(&a, 0, sizeof a);
  hd_status st = get_study(w, d);
  if (st == HD_OK && !w->models[thread]) st = hd_model_create(j->gpu, &w->models[thread], d);
  if (st != HD_OK) return st;
  if ((j->stop && j->stop(j->ctx)) || hd_is_over(0, j->run.budget.stop)) {
    a.status = hd_fail_bound(&e, HD_BOUND_TIME, "it was stopped before this plan was replayed");
    a.bound = e.bound;
    hd_fit(a.why, sizeof a.why, "%s", e.message);
    hd_buf_put(answer, (const char *)&a, sizeof a);
    return HD_OK;
  }
  a.status = replay_on(w->models[thread], *j->study, j->gpu, &j->rows[i].plan, j->dispatch, j->seed,
                       &a.counters, &e);
  a.part = hd_study_part(*j->study);
  if (a.status != HD_OK) hd_fit(a.why, sizeof a.why, "%s", e.message);
  if (a.status != HD_OK) a.bound = e.bound;
  hd_buf_put(answer, (const char *)&a, sizeof a);
  return HD_OK;
}

/* The traces, for all processes at once; each goes on with threads of its own. */
static void sweep_prepare(void *ctx, unsigned threads) {
  const hd_sweep_job *j = ((const sweep *)ctx)->j;
  hd_run_options run = j->run;
  hd_diag d = {0};
  run.machine.threads = threads;
  if (*j->study || hd_study_open(j->workload, &run, &j->how, j->study, &d) != HD_OK) return;
  study_set_threads(*j->study, j->threads ? j->threads : hd_cpu_count());
}

static hd_status sweep_take(void *ctx, size_t i, const void *answer, size_t len, hd_diag *d) {
  const hd_sweep_job *j = ((const sweep *)ctx)->j;
  hd_sweep_row *row = &j->rows[i];
  sweep_answer a;
  if (len != sizeof a) return hd_fail(d, HD_ERR_INPUT, "an answer that is no row of a sweep");
  memcpy(&a, answer, sizeof a);
  if (j->part) *j->part = a.part;
  row->status = a.status;
  row->bound = a.bound;
  row->counters = a.counters;
  memcpy(row->why, a.why, sizeof row->why);
  row->why[sizeof row->why - 1] = 0;
  return HD_OK;
}

/* All that rows follow from, but for the number of threads. */
static hd_status identify(const hd_sweep_job *j, hd_digest *h, hd_diag *d) {
  const hd_run_options *run = &j->run;
  hd_status st = hd_workload_digest(j->workload, run->compile.arch, h, d);
  const uint64_t numbers[] = {run->compile.arch,   run->machine.n_sms,     j->how.timed, j->how.sample_units,
                              j->how.free_mapping, j->how.bypass_register, j->dispatch,  j->seed};
  hd_digest_bytes(h, numbers, sizeof numbers);
  hd_digest_bytes(h, j->gpu, sizeof *j->gpu);
  hd_buf plans = {0};
  for (size_t i = 0; i < j->n; i++) {
    hd_plan_print(&j->rows[i].plan, &plans);
    hd_buf_putc(&plans, '\n');
  }
  if (st == HD_OK && plans.failed) st = hd_nomem(d);
  if (st == HD_OK) hd_digest_bytes(h, plans.data, plans.len);
  hd_buf_free(&plans);
  return st;
}

/* A plan that changes accesses is traced first; a table is worked out once, from the traces. */
static double cost_of(const hd_plan *p) {
  return retrace_is_needed(p) ? 4 : p->order.kind == HD_ORDER_AFFINITY ? 2 : 1;
}

hd_status hd_sweep_split(const hd_sweep_job *j, const hd_work_how *how, bool *whole, hd_diag *d) {
  hd_arena memory;
  sweep w = {.j = j, .lock = PTHREAD_MUTEX_INITIALIZER};
  const unsigned threads = j->threads ? j->threads : hd_cpu_count();
  hd_work work = {.n = j->n,
                  .identity = hd_digest_begin(),
                  .threads = threads,
                  .item = sweep_item,
                  .take = sweep_take,
                  .prepare = sweep_prepare,
                  .ctx = &w,
                  .progress = j->progress,
                  .progress_ctx = j->ctx};
  hd_arena_init(&memory);
  w.models = HD_NEW_N(&memory, threads, hd_model *);
  double *costs = HD_NEW_N(&memory, j->n + 1, double);
  hd_status st = w.models && costs ? HD_OK : hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < j->n; i++) costs[i] = cost_of(&j->rows[i].plan);
  work.costs = costs;
  if (st == HD_OK && how) st = identify(j, &work.identity, d);
  if (st == HD_OK) st = hd_work_run(&work, how, whole, d);
  for (unsigned i = 0; w.models && i < threads; i++)
    if (w.models[i]) hd_model_destroy(w.models[i]);
  hd_arena_free(&memory);
  pthread_mutex_destroy(&w.lock);
  return st;
}

hd_status hd_sweep(const hd_study *s, const hd_gpu *g, hd_dispatch_kind dispatch, uint64_t seed,
                   hd_sweep_row *rows, size_t n, unsigned threads, void (*progress)(void *, size_t, size_t),
                   void *ctx, hd_diag *d) {
  hd_study *study = (hd_study *)s; /* replays leave it as it is, but for what it memorizes */
  bool whole;
  const hd_sweep_job j = {.gpu = g,
                          .dispatch = dispatch,
                          .seed = seed,
                          .study = &study,
                          .rows = rows,
                          .n = n,
                          .threads = threads,
                          .progress = progress,
                          .ctx = ctx};
  return hd_sweep_split(&j, NULL, &whole, d);
}

static bool better(const hd_counters *a, const hd_counters *b) {
  const double x = hd_counters_cost(a), y = hd_counters_cost(b);
  if (x != y) return x < y;
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

bool hd_plan_is_unseen(const hd_plan *p) {
  return p->bypass.kind == HD_BYPASS_READONLY || p->bypass.kind == HD_BYPASS_L2 ||
         p->bypass.kind == HD_BYPASS_L1_L2;
}

const char *hd_explain_unseen(void) {
  return "the gain of loads on the read-only path, or of loads whose lines L2 gives up first";
}
