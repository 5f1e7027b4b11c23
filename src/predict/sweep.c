/* Many plans over one study, spread over threads. */
#include <stdio.h>
#include <stdlib.h>

#include "predict/study.h"

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

bool hd_plan_is_unseen(const hd_plan *p) {
  return p->bypass.kind == HD_BYPASS_READONLY || p->bypass.kind == HD_BYPASS_L2 ||
         p->bypass.kind == HD_BYPASS_L1_L2;
}

const char *hd_explain_unseen(void) {
  return "what loads gain on the read-only path, or from L2 giving up their lines first";
}

void hd_explain_nothing_helps(const hd_workload *w, const hd_counters *base, const hd_gpu *g, char *out,
                              size_t cap) {
  double dram = (double)(base->dram_read_bytes + base->dram_write_bytes);
  double over = base->compulsory_bytes ? dram / (double)base->compulsory_bytes : 1;
  const char *limit = "instruction issue";
  double top = base->cycles_issue;
  if (base->cycles_l1 > top) top = base->cycles_l1, limit = "L1 bandwidth";
  if (base->cycles_l2 > top) top = base->cycles_l2, limit = "L2 bandwidth";
  if (base->cycles_dram > top) limit = "DRAM bandwidth";
  hd_filling f = hd_find_filling(w, base->resident, g);
  if (f.few) {
    char filling[200];
    hd_filling_print(&f, g, filling, sizeof filling);
    snprintf(out, cap, "latency bounds the time on %s, not bandwidth: %s", g->name, filling);
  } else if (over < 0.97)
    snprintf(
        out, cap,
        "launches find in L2 what others left there, so DRAM traffic is %.2fx compulsory, and %s bounds the "
        "time on %s, which the order of the CTAs does not change",
        over, limit, g->name);
  else if (over < 1.05)
    snprintf(out, cap,
             "DRAM traffic is within %.0f%% of compulsory already and %s bounds the time on %s, which the "
             "order of the CTAs does not change",
             (over - 1) * 100 < 1 ? 1 : (over - 1) * 100, limit, g->name);
  else
    snprintf(out, cap,
             "%s bounds the time on %s and no order tried lowers it (DRAM traffic is %.2fx compulsory)",
             limit, g->name, over);
}
