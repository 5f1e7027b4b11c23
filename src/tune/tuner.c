/* Tuning a workload: what to try, kernel by kernel; the search; the proof; what all of it comes to. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/tuner.h"

#define DEFAULT_BUDGET 10.0
#define DEFAULT_CONFIDENCE 0.99
#define DEFAULT_TABLE_SECONDS 20.0
/* Of the budget that advice may take. */
static const double advice_share = 0.15;
static const double search_part =
    0.9; /* of the budget; the rest is for the whole workload's times and counters */
/* A run that takes so little longer than DRAM's peak allows for its bytes is left alone: peaks are not
 * reached. */
static const double at_roofline = 1.12;
/* What a kernel gains may not be lost again by what its order does to the next one's caches: by the median of
 * all places, and in any one. */
static const double together_least = 1, together_worst = 0.99;
/* Seconds, about, of testing that. */
static const double together_seconds = 0.5;

typedef struct tuning {
  hd_device *dev;
  const hd_workload *w;
  hd_tune_options o;
  hd_tuning *out;
  const hd_compiled *code;
  HD_VEC(hd_plan) first; /* plans to try before all others: those given, those advised */
  hd_study *whole_study; /* of the workload itself, once its tables need one */
  bool study_failed;     /* it takes too long or too much memory */
  bool wants_affinity;   /* the advice says that the data decides who shares what */
  bool wants_streams;    /* the advice proposes to choose among loads */
  double uneven;         /* by the advice: a launch's longest task's work, in the mean's; 0: unknown */
  double work;           /* thread instructions per thread, of the advice's size; 0: unknown */
  double accesses;       /* traced accesses per warp, likewise */
} tuning;

static double budget_of(const hd_tune_options *o) { return o->budget > 0 ? o->budget : DEFAULT_BUDGET; }
static double confidence_of(const hd_tune_options *o) {
  return o->confidence > 0 ? o->confidence : DEFAULT_CONFIDENCE;
}

/* What set-up and advice took is gone, but for half of the whole; so is what is left for the end. */
static double search_budget(const tuning *t) {
  const hd_tune_seconds *spent = &t->out->spent;
  double budget = budget_of(&t->o);
  return fmax(budget / 2, search_part * budget - spent->compile - spent->buffers - spent->advice);
}

static void report(const tuning *t, const char *stage) {
  if (t->o.progress) t->o.progress(t->o.ctx, stage, 0, 1);
}

/* ---- Plans to begin with ------------------------------------------------------------ */

static hd_status add_copy(tuning *t, const hd_plan *p, hd_diag *d) {
  hd_plan copy;
  if (hd_plan_is_baseline(p)) return HD_OK;
  hd_status st = hd_plan_copy(p, &copy, d);
  if (st != HD_OK || hd_vec_push(&t->first, copy)) return st;
  hd_plan_free(&copy);
  return hd_nomem(d);
}

static hd_status ask(tuning *t, const hd_workload *w, hd_study *s, const hd_gpu *g, hd_diag *d) {
  hd_advice a;
  hd_advise_options o = {.run = {.threads = t->o.run.threads, .arch = t->o.run.arch, .n_sms = g->n_sms},
                         .dispatch = g->dispatch,
                         .no_race_check = true,
                         .seconds = advice_share * budget_of(&t->o)};
  hd_status st = hd_advise(w, s, g, &o, &a, d);
  if (st != HD_OK) return st;
  /* What a small size predicts of such orders says little of a large one; that the data decides who shares
   * what, or that work is uneven, holds for all sizes. */
  const hd_sharing_row *r = &a.sum.sharing.all;
  t->wants_affinity =
      (a.category & HD_CATEGORY_DATA) || (r->pairs && (double)r->apart > 0.1 * (double)r->pairs);
  for (uint32_t i = 0; i < a.n_launches; i++) {
    const hd_reuse_spread *work = &a.launches[i].reuse.work;
    if (work->mean > 0) t->uneven = fmax(t->uneven, (double)work->most / work->mean);
  }
  for (uint32_t i = 0; st == HD_OK && i < a.n_proposals; i++) {
    hd_order_kind k = a.proposals[i].plan.order.kind;
    bool streams = a.proposals[i].plan.stream.kind == HD_STREAM_AUTO;
    t->wants_affinity |= k == HD_ORDER_AFFINITY;
    t->wants_streams |= streams;
    if (k != HD_ORDER_AFFINITY && k != HD_ORDER_HEAVY_FIRST && !streams)
      st = add_copy(t, &a.proposals[i].plan, d);
  }
  hd_advice_free(&a);
  return st;
}

static void learn_work(tuning *t, const hd_study *s, const hd_workload *w) {
  double instructions = 0, threads = 0, accesses = 0;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    hd_trace_info info = hd_trace_get_info(hd_study_trace(s, i));
    instructions += (double)info.thread_instructions;
    accesses += (double)info.warp_accesses;
    threads += (double)tuner_threads(&w->launches[i]);
  }
  if (threads > 0) {
    t->work = instructions / threads;
    t->accesses = 32 * accesses / threads;
  }
}

/* Advice from a small size of the workload: what it cannot say, no advice is needed for. */
static void seek_advice(tuning *t) {
  hd_workload *small = NULL;
  hd_study *s = NULL;
  hd_run_options run = {.threads = t->o.run.threads, .n_sms = t->o.advisor->n_sms};
  double start = hd_seconds();
  report(t, "advice");
  hd_status st = hd_workload_open(t->w->folder, NULL, "small", &small, NULL);
  if (st != HD_OK) st = hd_workload_open(t->w->folder, NULL, "tiny", &small, NULL);
  if (st == HD_OK) st = hd_study_open(small, &run, &s, NULL);
  if (st == HD_OK) {
    learn_work(t, s, small);
    ask(t, small, s, t->o.advisor, NULL);
  }
  hd_study_close(s);
  hd_workload_close(small);
  t->out->spent.advice = hd_seconds() - start;
}

/* What the emulator does in a second, and what a trace of an access takes, to tell whether a trace of the
 * whole launch can be afforded. */
static const double instructions_per_second = 150e6, bytes_per_access = 40, most_trace_bytes = 6e9;

static double table_seconds(const hd_tune_options *o) {
  return o->table_seconds ? o->table_seconds : DEFAULT_TABLE_SECONDS;
}

/* Loops that grow with the size make it worse than a small size says, so a trace also has a deadline. */
static bool can_afford_tables(const tuning *t) {
  double threads = 0, allowed = table_seconds(&t->o);
  if (t->study_failed) return false;
  for (uint32_t i = 0; i < t->w->n_launches; i++) threads += (double)tuner_threads(&t->w->launches[i]);
  double seconds = threads * t->work / instructions_per_second / hd_cpu_count();
  return t->work > 0 && seconds <= allowed &&
         threads / 32 * t->accesses * bytes_per_access <= most_trace_bytes;
}

/* Where each byte moves once, whoever shares it, no order of tasks saves traffic. Buffers of which only a
 * part is used, and devices that count nothing, leave it open. */
static bool moves_each_byte_once(const tuning *t) {
  const hd_counters *c = &t->out->before;
  double bytes = (double)t->out->buffer_bytes, dram = (double)(c->dram_read_bytes + c->dram_write_bytes);
  return t->out->has_counters && dram > 0.9 * bytes && dram < 1.15 * bytes &&
         32 * (double)c->l2_read_sectors < 1.5 * bytes;
}

/* The whole workload does nothing but move each of its bytes once, as fast as DRAM can. */
static bool is_at_roofline(const tuning *t) {
  const hd_device_info *i = hd_device_get_info(t->dev);
  double bandwidth = 2 * i->memory_clock_mhz * 1e6 * i->memory_bus_bits / 8;
  return t->out->n_kernels == 1 && bandwidth > 0 && moves_each_byte_once(t) &&
         t->out->before_us < at_roofline * 1e6 * (double)t->out->buffer_bytes / bandwidth;
}

/* Long tasks that start last cost at most what they take beyond the mean, once in all waves. */
static bool tail_matters(const tuning *t, const hd_plan_space *s) {
  double waves = (double)s->tasks / ((double)s->n_sms * (s->resident ? s->resident : 1));
  return t->uneven > 1.5 && waves > 1 && (t->uneven - 1) / waves > 0.03;
}

/* Work out an order that only a trace tells; it is kept in the cache, where every use finds it. */
static bool make_table(tuning *t, uint32_t launch, hd_order_kind kind) {
  char folder[4096];
  hd_cache_folder(folder, sizeof folder);
  if (!folder[0] || !can_afford_tables(t)) return false;
  double start = hd_seconds();
  hd_status st = HD_OK;
  hd_table table = {0};
  report(t, "tables of orders");
  if (!t->whole_study) st = hd_study_open(t->w, &t->o.run, &t->whole_study, NULL);
  t->study_failed = st != HD_OK;
  if (st == HD_OK) st = hd_order_table(t->w, launch, &t->o.run, kind, t->whole_study, &table, NULL);
  hd_table_free(&table);
  t->out->spent.tables += hd_seconds() - start;
  return st == HD_OK;
}

static void make_tables(tuning *t, uint32_t launch, hd_plan_space *s) {
  if (!s->can_order) return;
  s->has_affinity = t->wants_affinity && !moves_each_byte_once(t) && make_table(t, launch, HD_ORDER_AFFINITY);
  s->has_heavy_first = tail_matters(t, s) && make_table(t, launch, HD_ORDER_HEAVY_FIRST);
  s->has_streams = t->wants_streams && !moves_each_byte_once(t) && can_afford_tables(t);
}

/* Those to begin with, then what the launch's shape suggests: the caller's own plans come before all others.
 */
static hd_status collect(tuning *t, const hd_plan_space *space, hd_candidate **out, size_t *n, hd_diag *d) {
  static const double first_of_all = 3, advised = 2;
  *n = 0;
  *out = calloc(t->first.n + HD_CANDIDATES, sizeof **out);
  if (!*out) return hd_nomem(d);
  for (size_t i = 0; i < t->first.n; i++) {
    hd_candidate *c = *out + *n;
    c->prior = i < t->o.n_plans ? first_of_all : advised;
    hd_status st = hd_plan_copy(&t->first.data[i], &c->plan, d);
    if (st != HD_OK) return st;
    ++*n;
  }
  *n += hd_candidates(space, *out + *n, HD_CANDIDATES);
  return HD_OK;
}

/* ---- The proof ------------------------------------------------------------------------------ */

/* The kernel under its plan on the emulator, at the smallest size there is. */
static void prove(const tuning *t, hd_tuned *k) {
  hd_workload *w = NULL;
  hd_diag e = {0};
  hd_check_result r;
  hd_kernel_plan own = {k->kernel, k->plan};
  hd_plan_set set = {.kernels = &own, .n = 1};
  hd_resolved plans = {0};
  hd_check_options o = {.run = {.threads = t->o.run.threads,
                                .arch = t->o.run.arch,
                                .apply = {.any_grid = t->o.run.apply.any_grid}},
                        .no_reference = true};
  if (!k->kernel[0]) set = (hd_plan_set){.all = k->plan};
  report(t, "proof");
  hd_status st = hd_workload_open(t->w->folder, NULL, "tiny", &w, &e);
  if (st != HD_OK) st = hd_workload_open(t->w->folder, NULL, "small", &w, &e);
  if (st == HD_OK) st = hd_resolve(w, &set, &o.run, NULL, &plans, &e);
  if (st == HD_OK) st = hd_check_resolved(&plans, &o, &r, &e);
  hd_resolved_free(&plans);
  hd_workload_close(w);
  if (st != HD_OK) {
    k->proof = HD_PROOF_SKIPPED;
    snprintf(k->proof_why, sizeof k->proof_why, "%.255s", e.message);
  } else if (r.equal) {
    k->proof = HD_PROOF_EQUAL;
    snprintf(k->proof_why, sizeof k->proof_why, "%u dispatchers", r.runs);
  } else {
    k->adopted = false;
    k->plan = (hd_plan){0};
    snprintf(k->why, sizeof k->why, "not proved: %.240s", r.what);
  }
}

/* ---- From a search to what was found ------------------------------------------------------------ */

static int by_speedup(const void *a, const void *b, void *adopted) {
  const hd_tune_trial *x = a, *y = b;
  const hd_plan *first = adopted;
  if (first && hd_plan_equal(&x->plan, first)) return -1;
  if (first && hd_plan_equal(&y->plan, first)) return 1;
  if ((x->status == HD_OK) != (y->status == HD_OK)) return x->status == HD_OK ? -1 : 1;
  return x->speedup < y->speedup ? 1 : x->speedup > y->speedup ? -1 : 0;
}

static void say_why_not(const search *s, hd_tuned *k) {
  const hd_tune_places *p = &s->tested.places;
  const hd_speedup *speedup = &s->tested.speedup;
  size_t measured = 0;
  double best = 0;
  for (size_t i = 0; i < s->trials.n; i++) {
    measured += s->trials.data[i].status == HD_OK;
    best = fmax(best, s->trials.data[i].score);
  }
  if (s->unaffordable)
    snprintf(k->why, sizeof k->why, "a run takes %.1f s: in %.0f s of budget nothing can be told",
             s->original_us * 1e-6, s->o.budget);
  else if (!measured && s->trials.n)
    snprintf(k->why, sizeof k->why, "no plan can be applied: %.220s", s->trials.data[0].why);
  else if (!s->trials.n)
    snprintf(k->why, sizeof k->why, "there is nothing to try");
  else if (s->best < 0 || s->trials.data[s->best].score < 1.001)
    snprintf(k->why, sizeof k->why, "none of %zu plans was faster: the best one runs at %.3fx", measured,
             best);
  else if (p->n && p->least <= 1)
    snprintf(k->why, sizeof k->why,
             "the best of %zu plans is not faster wherever buffers lie: %.3fx, then %.3fx", measured,
             fmax(s->trials.data[s->best].score, p->most), p->least);
  else
    snprintf(k->why, sizeof k->why, "the best of %zu plans runs at %.3f to %.3fx when measured afresh: %s",
             measured, speedup->low, speedup->high,
             speedup->low > 1 ? "too little to be kept" : "not faster for sure");
}

/* Takes the trials' plans over. */
static hd_status take_result(tuning *t, search *s, hd_tuned *k, hd_diag *d) {
  k->trials = calloc(s->trials.n + 1, sizeof *k->trials);
  if (!k->trials) return hd_nomem(d);
  k->before_us = s->tested.before_us;
  k->after_us = s->adopted ? s->tested.after_us : s->tested.before_us;
  k->speedup = s->tested.speedup;
  k->places = s->tested.places;
  k->adopted = s->adopted;
  if (s->adopted)
    k->plan = s->trials.data[s->best].plan;
  else
    say_why_not(s, k);
  for (size_t i = 0; i < s->trials.n; i++) {
    search_trial *from = &s->trials.data[i];
    hd_tune_trial *to = &k->trials[k->n_trials++];
    *to =
        (hd_tune_trial){.plan = from->plan, .status = from->status, .speedup = from->score, .pairs = from->n};
    memcpy(to->why, from->why, sizeof to->why);
    from->plan = (hd_plan){0};
  }
  qsort_r(k->trials, k->n_trials, sizeof *k->trials, by_speedup, k->adopted ? &k->plan : NULL);
  t->out->tried += k->n_trials;
  if (k->adopted && !t->o.no_proof) {
    double start = hd_seconds();
    prove(t, k);
    t->out->spent.proof += hd_seconds() - start;
  }
  if (!k->adopted) k->after_us = k->before_us;
  return HD_OK;
}

static hd_status tune_kernel(tuning *t, const tuner_bench *b, const hd_plan_space *space, double budget,
                             hd_tuned *k, hd_diag *d) {
  search s = {0};
  search_options so = {.budget = budget,
                       .confidence = confidence_of(&t->o),
                       .progress = t->o.progress,
                       .progress_ctx = t->o.ctx};
  hd_candidate *list;
  size_t n;
  hd_status st = collect(t, space, &list, &n, d);
  if (st == HD_OK)
    st = tuner_search(&s, b, space, list, n, &so, d);
  else
    for (size_t i = 0; list && i < n; i++) hd_plan_free(&list[i].plan);
  free(list);
  if (st == HD_OK) st = take_result(t, &s, k, d);
  search_free(&s);
  return st;
}

/* ---- Levers alone ----------------------------------------------------------------------------------- */

static const char *const lever_names[HD_TUNE_LEVERS] = {"order",  "bind",   "threads",
                                                        "bypass", "stream", "prefetch"};

/* Which one lever a plan uses; -1: several. A binding comes with the order that it needs. */
static int only_lever(const hd_plan *p) {
  bool uses[HD_TUNE_LEVERS] = {p->order.kind != HD_ORDER_ROW && p->bind == HD_BIND_NONE,
                               p->bind != HD_BIND_NONE,
                               p->threads.kind != HD_ORDER_ROW,
                               p->bypass.kind != HD_BYPASS_NONE,
                               p->stream.kind != HD_STREAM_NONE,
                               p->prefetch.kind != HD_PREFETCH_NONE};
  int only = -1;
  for (int i = 0; i < HD_TUNE_LEVERS; i++) {
    if (!uses[i]) continue;
    if (only >= 0) return -1;
    only = i;
  }
  return only;
}

/* Kernels' best plans that use that lever alone; returns how many. *score is that of the one that is worth
 * most. */
static size_t best_alone(const hd_tuning *t, int lever, hd_kernel_plan *out, double *score) {
  size_t n = 0;
  double longest = -1;
  for (uint32_t i = 0; i < t->n_kernels; i++) {
    const hd_tuned *k = &t->kernels[i];
    const hd_tune_trial *best = NULL;
    for (uint32_t j = 0; j < k->n_trials; j++) {
      const hd_tune_trial *r = &k->trials[j];
      if (r->status == HD_OK && r->pairs && only_lever(&r->plan) == lever &&
          (!best || r->speedup > best->speedup))
        best = r;
    }
    if (!best) continue;
    out[n++] = (hd_kernel_plan){k->kernel, best->plan};
    if (k->before_us > longest) longest = k->before_us, *score = best->speedup;
  }
  return n;
}

/* ---- On a device
 * ------------------------------------------------------------------------------------------- */

static hd_status tune_unit(tuning *t, device_bench *b, const tuner_unit *u, const hd_kernel_plan *fixed,
                           size_t n_fixed, double budget, hd_tuned *k, hd_diag *d) {
  tuner_bench bench = device_bench_interface(b);
  hd_plan_space space;
  snprintf(k->kernel, sizeof k->kernel, "%.127s", u->kernel ? u->kernel : "");
  k->before_us = k->after_us = u->us;
  k->speedup = (hd_speedup){.median = 1, .low = 0, .high = INFINITY, .confidence = confidence_of(&t->o)};
  if (u->share == 0) {
    snprintf(k->why, sizeof k->why, "it takes less than %.0f%% of the workload's time",
             100 * TUNER_LEAST_SHARE);
    return HD_OK;
  }
  if (is_at_roofline(t)) {
    snprintf(k->why, sizeof k->why, "it moves each byte of its buffers once, almost as fast as DRAM's peak");
    return HD_OK;
  }
  device_bench_focus(b, u->kernel, fixed, n_fixed);
  hd_status st = hd_plan_space_of(t->code->module, t->w, u->launch, &space, d);
  if (st != HD_OK) return st;
  space.n_sms = hd_device_get_info(t->dev)->n_sms;
  if (device_bench_resident(b, u->launch, &space.resident, NULL) != HD_OK) space.resident = 0;
  make_tables(t, u->launch, &space);
  if (t->o.strategy != HD_TUNE_SEARCH) {
    report(t, "vote");
    vote_take(b, &space, u->launch, &k->vote);
  }
  space.has_vote = t->o.strategy == HD_TUNE_VOTE && k->vote.n;
  space.vote = k->vote.winner;
  return tune_kernel(t, &bench, &space, budget, k, d);
}

static void drop_all(hd_tuning *out, const char *why) {
  for (uint32_t i = 0; i < out->n_kernels; i++) {
    hd_tuned *k = &out->kernels[i];
    if (!k->adopted) continue;
    k->adopted = false;
    k->plan = (hd_plan){0};
    k->after_us = k->before_us;
    k->proof = HD_PROOF_NONE;
    snprintf(k->why, sizeof k->why, "%s", why);
  }
  out->adopted = false;
  out->after_us = out->before_us;
  out->speedup = (hd_speedup){.median = 1, .low = 1, .high = 1, .confidence = out->speedup.confidence};
}

/* Rounds that do not take much longer than a second. */
static uint32_t rounds_for(double us, uint32_t most) { return search_rounds(us, 0.5, most); }

static size_t adopted_plans(const hd_tuning *t, hd_kernel_plan *out) {
  size_t n = 0;
  for (uint32_t i = 0; i < t->n_kernels; i++)
    if (t->kernels[i].adopted) out[n++] = (hd_kernel_plan){t->kernels[i].kernel, t->kernels[i].plan};
  return n;
}

static hd_status count(device_bench *b, const hd_plan *p, hd_counters *c, hd_tuning *out, hd_diag *d) {
  tuner_bench bench = device_bench_interface(b);
  uint32_t slot;
  double us;
  hd_status st = bench.admit(bench.ctx, p, &slot, &us, d);
  if (st != HD_OK) return st;
  st = device_bench_count(b, slot, c, &out->has_counters, out->no_counters, sizeof out->no_counters, d);
  bench.release(bench.ctx, slot);
  return st;
}

/* The original's counters say what can be had at all; a run that takes long is not counted, which takes many.
 */
static hd_status count_before(tuning *t, device_bench *b, hd_diag *d) {
  static const hd_plan original;
  hd_tuning *out = t->out;
  if (t->o.no_counters) return HD_OK;
  if (out->before_us * 1e-6 > budget_of(&t->o) / 20) {
    snprintf(out->no_counters, sizeof out->no_counters, "a run takes %.1f s, and counting takes many",
             out->before_us * 1e-6);
    return HD_OK;
  }
  double start = hd_seconds();
  report(t, "counters");
  device_bench_together(b, NULL, 0);
  hd_status st = count(b, &original, &out->before, out, d);
  out->after = out->before;
  out->spent.count += hd_seconds() - start;
  return st;
}

static hd_status count_after(device_bench *b, const hd_kernel_plan *plans, size_t n, hd_tuning *out,
                             hd_diag *d) {
  static const hd_plan any = {.order = {.kind = HD_ORDER_REVERSE}};
  if (!n || !out->has_counters) return HD_OK;
  double start = hd_seconds();
  device_bench_together(b, plans, n);
  hd_status st = count(b, &any, &out->after, out, d);
  out->spent.count += hd_seconds() - start;
  return st;
}

/* A kernel's name is what plans of single kernels go by; one plan for all kernels names each of them. */
static size_t spread_out(const hd_compiled *code, const hd_kernel_plan *plans, size_t n,
                         hd_kernel_plan *out) {
  size_t m = 0;
  for (size_t i = 0; i < n; i++) {
    if (plans[i].kernel[0]) {
      out[m++] = plans[i];
      continue;
    }
    for (uint32_t k = 0; k < code->n_kernels; k++)
      out[m++] = (hd_kernel_plan){code->kernels[k].name, plans[i].plan};
  }
  return m;
}

/* All adopted plans at once, or none. */
static hd_status confirm_together(tuning *t, device_bench *b, const hd_kernel_plan *plans, size_t n,
                                  hd_diag *d) {
  hd_tuning *out = t->out;
  search_test r;
  hd_status st = device_bench_confirm(b, plans, n, out->before_us, together_seconds, confidence_of(&t->o),
                                      together_worst, &r, d);
  if (st != HD_OK) return st;
  out->speedup = r.speedup;
  out->places = r.places;
  out->before_us = r.before_us;
  out->after_us = r.after_us;
  if (r.places.least <= together_worst || r.speedup.median < together_least)
    drop_all(out, "faster alone, but the workload as a whole is slower");
  return HD_OK;
}

/* The whole workload under all adopted plans; levers alone; counters. */
static hd_status sum_up(tuning *t, device_bench *b, hd_diag *d) {
  hd_tuning *out = t->out;
  const hd_workload *w = t->w;
  hd_kernel_plan *plans = calloc((size_t)w->n_launches + 1, sizeof *plans);
  hd_kernel_plan *spread = calloc((size_t)w->n_launches + 1, sizeof *spread);
  hd_status st = plans && spread ? HD_OK : hd_nomem(d);
  size_t n = st == HD_OK ? spread_out(t->code, plans, adopted_plans(out, plans), spread) : 0;
  out->adopted = n > 0;
  if (st == HD_OK && out->n_kernels == 1) {
    out->speedup = out->kernels[0].speedup;
    out->before_us = out->kernels[0].before_us;
    out->after_us = out->kernels[0].after_us;
    out->places = out->kernels[0].places;
  } else if (st == HD_OK && n && !(st = confirm_together(t, b, spread, n, d)) && !out->adopted) {
    n = 0;
  }
  if (st == HD_OK && !out->adopted) {
    out->after_us = out->before_us;
    out->speedup = (hd_speedup){.median = 1, .low = 1, .high = 1, .confidence = confidence_of(&t->o)};
  }
  if (st == HD_OK) st = count_after(b, spread, n, out, d);
  for (int i = 0; st == HD_OK && t->o.each_lever && i < HD_TUNE_LEVERS; i++) {
    double score = 0, before, after;
    size_t m = spread_out(t->code, plans, best_alone(out, i, plans, &score), spread);
    hd_tune_lever *l = &out->levers[out->n_levers];
    if (!m) continue;
    *l = (hd_tune_lever){.lever = lever_names[i], .plan = spread[0].plan};
    l->speedup =
        (hd_speedup){.median = score, .low = 0, .high = INFINITY, .confidence = confidence_of(&t->o)};
    uint32_t rounds = rounds_for(out->before_us, 15);
    double takes = 2 * rounds * out->before_us * 1e-6;
    /* What loses badly, or takes long, the search has seen well enough. */
    if (score >= 0.7 && takes < budget_of(&t->o) / 8)
      st = device_bench_compare(b, spread, m, rounds, confidence_of(&t->o), &l->speedup, &before, &after, d);
    out->n_levers += st == HD_OK;
  }
  free(plans);
  free(spread);
  return st;
}

static hd_status tune_units(tuning *t, device_bench *b, tuner_unit *units, hd_kernel_plan *fixed,
                            hd_diag *d) {
  hd_tuning *out = t->out;
  uint32_t n = tuner_list_units(t->w, t->o.whole, units);
  hd_status st = HD_OK;
  out->kernels = calloc((size_t)n + 1, sizeof *out->kernels);
  if (!out->kernels) return hd_nomem(d);
  report(t, "first run");
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    st = tuner_time_unit(b, &units[i], d);
    out->before_us += units[i].us;
  }
  out->n_kernels = st == HD_OK ? n : 0;
  if (st == HD_OK) st = count_before(t, b, d);
  tuner_share_out(units, n);
  size_t n_fixed = 0;
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    hd_tuned *k = &out->kernels[i];
    st = tune_unit(t, b, &units[i], fixed, n_fixed, units[i].share * search_budget(t), k, d);
    if (st == HD_OK && k->adopted && n > 1) fixed[n_fixed++] = (hd_kernel_plan){units[i].kernel, k->plan};
  }
  return st;
}

static hd_status tune_on_device(tuning *t, hd_diag *d) {
  device_bench *b = NULL;
  const hd_workload *w = t->w;
  double start = hd_seconds();
  report(t, "buffers");
  tuner_unit *units = calloc((size_t)w->n_launches + 1, sizeof *units);
  hd_kernel_plan *fixed = calloc((size_t)w->n_launches + 1, sizeof *fixed);
  hd_status st = units && fixed ? HD_OK : hd_nomem(d);
  if (table_seconds(&t->o) > 0) t->o.run.trace_seconds = table_seconds(&t->o);
  if (st == HD_OK) st = device_bench_open(t->dev, w, &t->o, &b, d);
  t->out->spent.buffers += hd_seconds() - start;
  if (st == HD_OK) st = tune_units(t, b, units, fixed, d);
  hd_study_close(t->whole_study);
  if (st == HD_OK) st = sum_up(t, b, d);
  if (b) device_bench_spent(b, &t->out->spent);
  device_bench_close(b);
  free(units);
  free(fixed);
  return st;
}

/* ---- On a model
 * ----------------------------------------------------------------------------------------------- */

static hd_status count_on_model(model_bench *m, const hd_plan *p, hd_counters *out, hd_diag *d) {
  tuner_bench b = model_bench_interface(m);
  uint32_t slot;
  double us;
  hd_status st = b.admit(b.ctx, p, &slot, &us, d);
  if (st == HD_OK) *out = *model_bench_counters(m, slot);
  return st;
}

static void levers_on_model(hd_tuning *out) {
  for (int i = 0; i < HD_TUNE_LEVERS; i++) {
    hd_kernel_plan best;
    double x = 0;
    if (!best_alone(out, i, &best, &x)) continue;
    hd_speedup speedup = {
        .median = x, .low = x, .high = x, .pairs = 1, .confidence = out->kernels[0].speedup.confidence};
    out->levers[out->n_levers++] = (hd_tune_lever){lever_names[i], best.plan, speedup};
  }
}

static hd_status tune_on_model(tuning *t, hd_study *s, model_bench *m, hd_diag *d) {
  static const hd_plan original;
  hd_tuning *out = t->out;
  tuner_bench bench = model_bench_interface(m);
  hd_plan_space space;
  tuner_unit *units = calloc((size_t)t->w->n_launches + 1, sizeof *units);
  out->kernels = calloc(1, sizeof *out->kernels);
  if (!units || !out->kernels) {
    free(units);
    return hd_nomem(d);
  }
  t->o.whole = true;
  tuner_list_units(t->w, t->o.whole, units);
  tuner_unit all = units[0];
  free(units);
  hd_status st = count_on_model(m, &original, &out->before, d);
  if (st == HD_OK) st = hd_plan_space_of(t->code->module, t->w, all.launch, &space, d);
  if (st != HD_OK) return st;
  space.n_sms = hd_device_get_gpu(t->dev)->n_sms;
  space.resident = out->before.resident;
  space.has_affinity = t->wants_affinity;
  space.has_heavy_first = t->uneven > 1.5;
  space.has_streams = t->wants_streams;
  hd_tuned *k = &out->kernels[0];
  if (t->o.strategy != HD_TUNE_SEARCH)
    snprintf(k->vote.why, sizeof k->vote.why, "a model replays one threshold at a time");
  if (all.kernel) snprintf(k->kernel, sizeof k->kernel, "%.127s", all.kernel);
  out->n_kernels = 1;
  st = tune_kernel(t, &bench, &space, search_budget(t), k, d);
  if (st != HD_OK) return st;
  out->adopted = k->adopted;
  out->speedup =
      k->adopted
          ? k->speedup
          : (hd_speedup){.median = 1, .low = 1, .high = 1, .pairs = 1, .confidence = confidence_of(&t->o)};
  out->before_us = k->before_us;
  out->after_us = k->after_us;
  out->has_counters = true;
  out->after = out->before;
  if (k->adopted) st = count_on_model(m, &k->plan, &out->after, d);
  if (t->o.each_lever) levers_on_model(out);
  return st;
}

static hd_status tune_model(tuning *t, hd_diag *d) {
  const hd_gpu *g = hd_device_get_gpu(t->dev);
  hd_study *s = NULL;
  model_bench *m = NULL;
  hd_run_options run = t->o.run;
  run.n_sms = g->n_sms;
  double start = hd_seconds();
  report(t, "traces");
  hd_status st = hd_study_open(t->w, &run, &s, d);
  t->out->spent.buffers = hd_seconds() - start;
  if (st == HD_OK && t->o.advisor) {
    report(t, "advice");
    start = hd_seconds();
    ask(t, t->w, s, g, NULL); /* without advice all the rest is tried all the same */
    t->out->spent.advice = hd_seconds() - start;
  }
  if (st == HD_OK) st = model_bench_open(s, g, t->w, &run, &m, d);
  if (st == HD_OK) st = tune_on_model(t, s, m, d);
  model_bench_close(m);
  hd_study_close(s);
  return st;
}

/* ---- All of it
 * -------------------------------------------------------------------------------------------------- */

hd_status hd_tune(hd_device *dev, const hd_workload *w, const hd_tune_options *o, hd_tuning *out,
                  hd_diag *d) {
  const hd_device_info *info = hd_device_get_info(dev);
  tuning t = {.dev = dev, .w = w, .out = out};
  memset(out, 0, sizeof *out);
  if (!info->has_times) return hd_fail(d, HD_ERR_UNSUPPORTED, "device %s measures no times", info->name);
  if (o) t.o = *o;
  t.o.run.arch = hd_launch_arch(info, t.o.run.arch);
  if (!t.o.run.n_sms) t.o.run.n_sms = info->n_sms;
  double start = hd_seconds();
  for (uint32_t i = 0; i < w->n_buffers; i++) out->buffer_bytes += w->buffers[i].bytes;
  hd_status st = hd_workload_compiled(w, t.o.run.arch, &t.code, d);
  out->spent.compile = hd_seconds() - start;
  for (size_t i = 0; st == HD_OK && i < t.o.n_plans; i++) st = add_copy(&t, &t.o.plans[i], d);
  if (st == HD_OK && info->kind != HD_DEVICE_MODEL && t.o.advisor) seek_advice(&t);
  if (st == HD_OK) st = info->kind == HD_DEVICE_MODEL ? tune_model(&t, d) : tune_on_device(&t, d);
  for (size_t i = 0; i < t.first.n; i++) hd_plan_free(&t.first.data[i]);
  hd_vec_free(&t.first);
  out->seconds = hd_seconds() - start;
  if (st != HD_OK) hd_tuning_free(out);
  return st;
}

void hd_tuning_free(hd_tuning *t) {
  for (uint32_t i = 0; t->kernels && i < t->n_kernels; i++) {
    hd_tuned *k = &t->kernels[i];
    for (uint32_t j = 0; j < k->n_trials; j++) hd_plan_free(&k->trials[j].plan);
    if (!k->n_trials) hd_plan_free(&k->plan);
    free(k->trials);
  }
  free(t->kernels);
  memset(t, 0, sizeof *t);
}
