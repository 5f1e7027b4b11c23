/* Plans worth trying, from the facts; replayed, ranked. */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"

enum { MOST_CANDIDATES = 64, DEFAULT_PROPOSALS = 8, MOST_STREAMS = 4 };
static const double default_seconds = 10, cores = 2; /* that budgets are counted in */
static const double worth_time = 0.995,
                    worth_traffic = 0.98; /* of the baseline's: else nothing is proposed */

/* ---- Candidates -------------------------------------------------------------------------- */

typedef struct candidate {
  hd_plan plan;
  char reason[256];
} candidate;

/* Loads whose data is seldom requested again: a list, for a workload of one kernel; or auto. */
typedef struct stream_set {
  hd_stream loads;
  double reused; /* the part that is */
} stream_set;

typedef struct candidates {
  const advising *a;
  const uint32_t *grid; /* of the launch with most requests */
  uint64_t V;
  uint32_t wave; /* CTAs that the GPU runs at once */
  stream_set streams[MOST_STREAMS];
  uint32_t n_streams;
  candidate list[MOST_CANDIDATES];
  size_t n;
} candidates;

static void offer(candidates *c, hd_plan plan, const char *reason, ...) HD_PRINTF(3, 4);
static void offer(candidates *c, hd_plan plan, const char *reason, ...) {
  if (c->n == MOST_CANDIDATES || hd_plan_check(&plan, NULL) != HD_OK) return;
  if (hd_plan_arch(&plan, NULL) > c->a->g->arch) return;
  for (size_t i = 0; i < c->n; i++)
    if (hd_plan_equal(&c->list[i].plan, &plan)) return;
  candidate *k = &c->list[c->n++];
  va_list ap;
  k->plan = plan;
  va_start(ap, reason);
  vsnprintf(k->reason, sizeof k->reason, reason, ap);
  va_end(ap);
}

static uint32_t power_of_two_near(double x) {
  double e = round(log2(x < 1 ? 1 : x));
  return 1u << (e > 15 ? 15 : (unsigned)e);
}

/* CTAs that run at the same time, and those that follow them, should be compact in the grid. */
static void offer_compact_orders(candidates *c) {
  const hd_advice *out = c->a->out;
  uint32_t gx = c->grid[0], gy = c->grid[1];
  if (gx < 2 || gy < 2) return;
  bool across = out->along[1] > 0.05;
  if (!across) return;
  if (out->along[1] > out->along[0])
    offer(c, (hd_plan){.order = {.kind = HD_ORDER_COL}},
          "CTAs along y share %.0f%% of the lines that they touch, along x %.0f%%", 100 * out->along[1],
          100 * out->along[0]);
  uint32_t side = power_of_two_near(sqrt((double)c->wave));
  static const char why[] =
      "of the %u CTAs that run at once, neighbours along x and y share %.0f%% and %.0f%%";
  for (uint32_t h = side / 4 ? side / 4 : 1; h <= 2 * side; h *= 2) {
    if (h > 1 && h < gy)
      offer(c, (hd_plan){.order = {.kind = HD_ORDER_BAND, .a = h}}, why, c->wave, 100 * out->along[0],
            100 * out->along[1]);
    if (h > 1 && h < gx)
      offer(c, (hd_plan){.order = {.kind = HD_ORDER_TILE, .a = h, .b = h < gy ? h : gy}}, why, c->wave,
            100 * out->along[0], 100 * out->along[1]);
  }
}

static bool wins_by_l1(const hd_advice *out) { return advice_exploitable(&out->sum.sharing.all) > 0; }

/* CLU's clusters: CTAs that share run on one SM. */
static void offer_clusters(candidates *c) {
  const hd_advice *out = c->a->out;
  if (!wins_by_l1(out)) return;
  hd_order order = {.kind = out->direction == 'y' && c->grid[0] > 1 ? HD_ORDER_COL : HD_ORDER_ROW};
  hd_order tile = {.kind = HD_ORDER_TILE, .a = 4, .b = 4};
  bool plane = c->grid[0] > 4 && c->grid[1] > 4;
  const char *side = out->direction == 'y' ? "columns" : "rows";
  uint32_t resident = out->baseline.resident;
  offer(c, (hd_plan){.order = order, .bind = HD_BIND_REDIRECT},
        "clusters of neighbours in %s share L1 (CLU 4.2)", side);
  if (plane && out->along[0] > 0.05 && out->along[1] > 0.05)
    offer(c, (hd_plan){.order = tile, .bind = HD_BIND_REDIRECT},
          "clusters of tiles share L1 along x and y (CLU 5.2, observation 6)");
  for (uint32_t active = resident; active >= 1; active /= 4) {
    offer(c, (hd_plan){.order = order, .bind = HD_BIND_AGENTS, .agents = active == resident ? 0 : active},
          active == resident
              ? "agents bound to SMs keep neighbours in %s together whatever the dispatcher does"
              : "neighbours in %s together, and fewer CTAs at once, so that their lines stay in L1",
          side);
    if (active == 1) break;
  }
  offer(c,
        (hd_plan){.order = order, .bind = HD_BIND_CLAIM, .split = {.kind = HD_SPLIT_WAVE, .wave = resident}},
        "neighbours in %s on one SM, and all SMs close together, so that L2 is shared too", side);
}

static void offer_tables(candidates *c) {
  const hd_advice *out = c->a->out;
  const hd_sharing_row *r = &out->sum.sharing.all;
  double apart = advice_part(r->apart, r->pairs), regular;
  const hd_reuse_spread *work = &out->sum.reuse.work;
  int64_t random = advice_irregular_array(out, &regular);
  if (apart > 0.1 || (random >= 0 && advice_exploitable(r)))
    offer(c, (hd_plan){.order = {.kind = HD_ORDER_AFFINITY}},
          "%.0f%% of the lines that CTAs touch are shared with CTAs that are not neighbours; the data "
          "decides which",
          100 * apart);
  if (work->mean > 0 && (double)work->most > 1.5 * work->mean && c->V > c->wave)
    offer(c, (hd_plan){.order = {.kind = HD_ORDER_HEAVY_FIRST}},
          "the longest CTA has %.1f times the mean's work: started late, it would run alone",
          (double)work->most / work->mean);
}

/* "load 3", "loads 3, 5 and 7". */
static void name_loads(const hd_numbers *loads, char *out, size_t cap) {
  const uint32_t n = hd_numbers_count(loads);
  uint32_t k = 0;
  hd_buf list = {0};
  hd_range r;
  for (uint32_t at = 0; hd_numbers_run(loads, at, &r); at = r.last + 1)
    for (uint32_t load = r.first; load <= r.last; load++, k++)
      hd_buf_printf(&list, "%s%u", !k ? "" : k + 1 < n ? ", " : " and ", load);
  snprintf(out, cap, "some loads");
  if (!list.failed && n && list.len < cap - 16)
    snprintf(out, cap, n == 1 ? "load %s" : "loads %s", list.data);
  hd_buf_free(&list);
}

/* The other loads may still be too much for L1: fewer warps use it (BYP 7, both ways together). */
static void offer_streams(candidates *c, double hits) {
  const uint32_t *block = c->a->w->launches[0].block;
  uint32_t warps = (uint32_t)(((uint64_t)block[0] * block[1] * block[2] + HD_WARP - 1) / HD_WARP);
  for (uint32_t i = 0; i < c->n_streams; i++) {
    hd_plan p = {.stream = c->streams[i].loads};
    double reused = 100 * c->streams[i].reused;
    static const char why[] =
        "%.0f%% of the data of %s is requested again; it takes room in L1 from other loads' data";
    char what[128];
    name_loads(&p.stream.loads, what, sizeof what);
    offer(c, p, why, reused, what);
    p.bypass = (hd_bypass){.kind = HD_BYPASS_L1, .warps = warps / 2};
    if (hits < 0.5 && warps > 1) offer(c, p, why, reused, what);
  }
}

/* The least reused of a kernel's loads, then more and more of them, but never all. */
static void nest_streams(candidates *c, const hd_load_facts *loads, uint32_t n) {
  uint32_t asking = 0;
  double most = HD_STREAM_REUSED;
  for (uint32_t i = 0; i < n; i++) asking += loads[i].requests > 0;
  while (c->n_streams < MOST_STREAMS && most < 1) {
    const hd_stream s = hd_streaming_loads(loads, n, most);
    const uint32_t named = hd_numbers_count(&s.loads);
    uint64_t requests = 0, reused = 0;
    double next = 1;
    for (uint32_t i = 0; i < n; i++) {
      double part = advice_part(loads[i].reused, loads[i].requests);
      if (part > most) {
        next = part < next ? part : next;
      } else {
        requests += loads[i].requests;
        reused += loads[i].reused;
      }
    }
    if (named && named < asking) c->streams[c->n_streams++] = (stream_set){s, advice_part(reused, requests)};
    most = next;
  }
}

/* A list means something in one kernel alone. */
static hd_status find_streams(candidates *c, hd_diag *d) {
  const hd_workload *w = c->a->w;
  hd_status st = HD_OK;
  bool one = true, any = false;
  for (uint32_t i = 1; i < w->n_launches; i++)
    one &= strcmp(w->launches[i].kernel, w->launches[0].kernel) == 0;
  for (uint32_t i = 0; st == HD_OK && !any && i < w->n_launches; i++) {
    hd_load_facts *loads;
    uint32_t n;
    bool again = false;
    for (uint32_t k = 0; k < i && !again; k++)
      again = strcmp(w->launches[k].kernel, w->launches[i].kernel) == 0;
    if (again) continue;
    st = hd_study_loads(w, i, &c->a->o.run, c->a->s, &loads, &n, d);
    if (st != HD_OK) return st;
    if (one)
      nest_streams(c, loads, n);
    else
      any = hd_streaming_loads(loads, n, HD_STREAM_REUSED).kind != HD_STREAM_NONE;
    free(loads);
  }
  if (any) c->streams[c->n_streams++] = (stream_set){{.kind = HD_STREAM_AUTO}, 0};
  return st;
}

static void offer_cache_control(candidates *c) {
  const hd_advice *out = c->a->out;
  const hd_pattern_row *p = &out->sum.pattern.all;
  double hits = advice_part(out->baseline.l1_hits, out->baseline.l1_sectors);
  if (!c->a->g->l1_global)
    offer(c, (hd_plan){.bypass = {.kind = HD_BYPASS_READONLY, .warps = HD_WARP}},
          "this GPU keeps global loads out of L1; loads of memory that is never written may take its "
          "read-only path");
  if (!out->baseline.l1_sectors) return;
  if (hits < 0.5 && advice_sector_use(p) < 0.75)
    offer(c, (hd_plan){.bypass = {.kind = HD_BYPASS_L1, .warps = 0}},
          "L1 hits %.0f%% only, and a miss brings lines of which warps use %.0f%%", 100 * hits,
          100 * advice_line_use(p));
  if (hits < 0.9) offer_streams(c, hits);
}

static void offer_threads(candidates *c) {
  const hd_advice *out = c->a->out;
  const hd_pattern_row *p = &out->sum.pattern.all;
  const uint32_t *block = c->a->w->launches[0].block;
  if (advice_sector_use(p) >= 0.5 || (double)p->followed < 0.5 * (double)p->compared) return;
  static const char why[] =
      "requests touch %.1f times the sectors that their bytes fill: threads along y may lie closer together";
  double times = advice_part(p->sectors, p->least_sectors);
  if (block[1] > 1)
    offer(c, (hd_plan){.threads = {.kind = HD_ORDER_COL}, .threads_in_cta = true}, why, times);
  if ((uint64_t)block[0] * c->grid[0] < 64 || (uint64_t)block[1] * c->grid[1] < 64) return;
  offer(c, (hd_plan){.threads = {.kind = HD_ORDER_BAND, .a = HD_WARP}}, why, times);
  offer(c, (hd_plan){.threads = {.kind = HD_ORDER_COL}}, why, times);
}

/* Nothing is proposed that the rewriter refuses. */
static hd_status drop_impossible(candidates *c, hd_diag *d) {
  size_t n = 0;
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < c->n; i++) {
    bool possible;
    st = advice_is_possible(c->a, &c->list[i].plan, &possible, d);
    if (possible) c->list[n++] = c->list[i];
  }
  c->n = n;
  return st;
}

/* ---- Ranking ---------------------------------------------------------------------------------- */

static bool is_worth(const hd_counters *c, const hd_counters *base) {
  const double cost = hd_counters_cost(c), before = hd_counters_cost(base);
  return cost < worth_time * before ||
         (cost <= before && ((double)hd_counters_dram(c) < worth_traffic * (double)hd_counters_dram(base) ||
                             (double)c->l2_sectors < worth_traffic * (double)base->l2_sectors));
}

/* Less time first; of times within 1/1000, and without a clock, less traffic. */
static int by_effect(const void *a, const void *b) {
  const hd_proposal *x = a, *y = b;
  const hd_counters *p = &x->counters, *q = &y->counters;
  if (fabs(p->time_us - q->time_us) > 0.001 * q->time_us) return p->time_us < q->time_us ? -1 : 1;
  const uint64_t px = hd_counters_traffic(p), qx = hd_counters_traffic(q);
  return (px > qx) - (px < qx);
}

static void tell(void *watch, size_t done, size_t n) { hd_watch_tell(watch, "predicting plans", done, n); }

static size_t count_levers(const candidates *c) {
  unsigned levers = 0;
  for (size_t i = 0; i < c->n; i++) levers |= 1u << advice_lever_of(&c->list[i].plan);
  return hd_bits32(levers);
}

static void propose(hd_advice *out, const candidate *c, bool likeliest, const hd_counters *counters) {
  hd_proposal *p = &out->proposals[out->n_proposals++];
  *p = (hd_proposal){.plan = c->plan, .likeliest = likeliest, .predicted = counters != NULL};
  if (counters) {
    p->counters = *counters;
    p->speedup = counters->time_us > 0 ? out->baseline.time_us / counters->time_us : 0;
  }
  memcpy(p->reason, c->reason, sizeof p->reason);
}

/* So many of the likeliest are replayed as the seconds pay for, and one of each lever at least: a plan
 * without a prediction is no proposal, unless none was asked for. */
static hd_status rank(advising *a, candidates *c, hd_diag *d) {
  hd_advice *out = a->out;
  const double seconds = a->o.seconds > 0 ? a->o.seconds : default_seconds,
               each = hd_study_replay_seconds(a->s);
  const unsigned threads = a->o.run.machine.threads ? a->o.run.machine.threads : hd_cpu_count();
  const double affordable = each > 0 ? seconds * cores / each : MOST_CANDIDATES;
  const uint32_t most = a->o.proposals ? a->o.proposals : DEFAULT_PROPOSALS;
  const size_t levers = count_levers(c);
  double need[ADVICE_LEVERS];
  size_t n = affordable < (double)c->n ? (size_t)affordable : c->n;
  advice_needs(out, need);
  hd_status st = advice_put_likeliest_first(c->list, c->n, sizeof *c->list, need, d);
  if (n < levers) n = levers;
  if (a->o.no_predictions) n = 0;
  hd_sweep_row *rows = calloc(n + 1, sizeof *rows);
  out->proposals = calloc(c->n + 1, sizeof *out->proposals);
  if (st == HD_OK && (!rows || !out->proposals)) st = hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < n; i++) rows[i].plan = c->list[i].plan;
  if (st == HD_OK && n)
    st = hd_sweep(a->s, a->g, a->o.dispatch, a->o.seed, rows, n, threads, tell, &a->o.run.watch, d);
  for (size_t i = 0; st == HD_OK && i < n; i++)
    if (rows[i].status == HD_OK && is_worth(&rows[i].counters, &out->baseline))
      propose(out, &c->list[i], i < levers, &rows[i].counters);
  free(rows);
  if (st != HD_OK) return st;
  qsort(out->proposals, out->n_proposals, sizeof *out->proposals, by_effect);
  if (out->n_proposals > most) out->n_proposals = most;
  for (size_t i = 0; a->o.no_predictions && i < c->n; i++) propose(out, &c->list[i], i < levers, NULL);
  return HD_OK;
}

/* ---- All of it ------------------------------------------------------------------------------------ */

static uint32_t main_launch(const hd_advice *out) {
  uint32_t most = 0;
  for (uint32_t i = 1; i < out->n_launches; i++)
    if (out->launches[i].reuse.all.lines.requests > out->launches[most].reuse.all.lines.requests) most = i;
  return most;
}

hd_status advice_propose(advising *a, hd_diag *d) {
  hd_advice *out = a->out;
  hd_status st = HD_OK;
  if (out->experiments.done && a->g->l1_global)
    out->baseline = out->experiments.baseline;
  else
    st = hd_study_replay(a->s, a->g, &hd_plan_original, a->o.dispatch, a->o.seed, &out->baseline, d);
  if (st != HD_OK || (out->order_free == HD_ORDER_FREE_NO && !a->o.no_predictions)) return st;
  candidates *c = calloc(1, sizeof *c);
  if (!c) return hd_nomem(d);
  c->a = a;
  c->grid = a->w->launches[main_launch(out)].grid;
  c->wave = a->g->n_sms * out->baseline.resident;
  if (hd_grid_tasks(c->grid, &c->V)) {
    offer_tables(c);
    offer_compact_orders(c);
    offer_clusters(c);
    offer_threads(c);
    st = find_streams(c, d);
    if (st == HD_OK) offer_cache_control(c);
  }
  if (st == HD_OK) st = drop_impossible(c, d);
  if (st == HD_OK) st = rank(a, c, d);
  free(c);
  return st;
}
