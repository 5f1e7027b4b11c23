/* Two workloads at the same time: partitions found by search, all modes timed against each other. */
#include "heddle/corun.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/predict.h"
#include "launch/placement.h"
#include "tune/corun_model.h"
#include "tune/corun_row.h"

enum { DEFAULT_WARMUPS = 2, DEFAULT_REPETITIONS = 21, SEARCH_ROUNDS = 3, MAX_TURNS = 32, SAMPLES = 8 };
#define DEFAULT_CONFIDENCE 0.99

static const char *const mode_names[HD_CORUN_MODES] = {"serial", "streams", "partition", "green", "threads"};

const char *hd_corun_mode_name(hd_corun_mode m) { return mode_names[m]; }

/* One workload. */
typedef struct side {
  placement p;
  variant original;
  void **alone; /* its results when it runs alone */
  uint32_t turns;
} side;

/* One workload's part in a mode. */
typedef struct part {
  side *side;
  variant own; /* under its plan; partition only */
  variant *v;  /* the variant that runs: &own or the side's original */
  bool poison; /* before the run, so that bytes that it leaves unwritten show */
} part;

/* A mode, ready to run. */
typedef struct setup {
  hd_device *device;
  hd_corun_mode mode;
  part parts[2];
  hd_device_stream *streams[2]; /* NULL: the device's own */
} setup;

typedef struct corun {
  hd_device *device;
  const hd_corun_options *o;
  side sides[2];
  double alone_us[2]; /* rough, for the search */
} corun;

/* ---- Running ------------------------------------------------------------------------ */

static hd_status prepare(void *ctx, hd_diag *d) {
  part *p = ctx;
  hd_status st = variant_restore(p->v, d);
  return st == HD_OK && p->poison ? placement_poison(&p->side->p, d) : st;
}

static hd_status run(void *ctx, hd_diag *d) {
  part *p = ctx;
  hd_status st = variant_run(p->v, d);
  for (uint32_t turn = 1; st == HD_OK && turn < p->side->turns; turn++) {
    st = variant_restore(p->v, d);
    if (st == HD_OK) st = variant_run(p->v, d);
  }
  return st;
}

static hd_device_job job_of(part *p) { return (hd_device_job){.prepare = prepare, .run = run, .ctx = p}; }

static hd_status run_setup(setup *s, double us[2], hd_diag *d) {
  hd_device_part parts[2];
  for (int i = 0; i < 2; i++) parts[i] = (hd_device_part){job_of(&s->parts[i]), s->streams[i]};
  hd_status st = hd_device_time_together(s->device, parts, 2, us, d);
  if (s->mode == HD_CORUN_SERIAL) us[0] = us[1]; /* A's next turn waits for B's */
  return st;
}

static hd_status run_alone(corun *c, int i, double *us, hd_diag *d) {
  part p = {.side = &c->sides[i], .v = &c->sides[i].original};
  hd_device_part one = {job_of(&p), NULL};
  return hd_device_time_together(c->device, &one, 1, us, d);
}

/* ---- Setting up --------------------------------------------------------------------------- */

typedef struct config {
  uint32_t sms;       /* A's; B has the others */
  uint32_t agents[2]; /* 0: all that fit */
  hd_split split[2];
} config;

/* A side's plan under a configuration. */
static hd_plan plan_of(const corun *c, int i, const config *k) {
  const uint32_t n_sms = hd_device_get_info(c->device)->n_sms;
  hd_plan plan = corun_plan(&c->o->plans[i], i, k->sms, n_sms, k->agents[i]);
  plan.split = k->split[i];
  return plan;
}

static hd_status open_partition(corun *c, part *p, int i, const config *k, hd_diag *d) {
  hd_plan plan = plan_of(c, i, k);
  placement *place = &p->side->p;
  hd_plan_set set = {.all = plan};
  hd_resolved plans = {0};
  hd_status st = hd_plan_check(&plan, d);
  if (st == HD_OK) st = hd_resolve(place->w, &set, &place->run, NULL, &plans, d);
  if (st == HD_OK) st = variant_open(&p->own, place, &plans, d);
  hd_resolved_free(&plans);
  p->v = &p->own;
  return st;
}

static void close_setup(setup *s) {
  for (int i = 0; i < 2; i++) {
    hd_device_stream_close(s->streams[i]);
    variant_close(&s->parts[i].own);
  }
  *s = (setup){0};
}

/* *got: the configuration as it came to be. close_setup is to be called whether this succeeds or not. */
static hd_status open_setup(corun *c, hd_corun_mode mode, const config *k, setup *s, config *got,
                            hd_diag *d) {
  hd_status st = HD_OK;
  uint32_t sms[2];
  *got = *k;
  *s = (setup){.device = c->device, .mode = mode};
  for (int i = 0; i < 2; i++) s->parts[i] = (part){.side = &c->sides[i], .v = &c->sides[i].original};
  if (mode == HD_CORUN_GREEN) {
    st = hd_device_split(c->device, k->sms, s->streams, sms, d);
    got->sms = sms[0];
  }
  for (int i = 0; st == HD_OK && i < 2; i++) {
    if (mode == HD_CORUN_PARTITION) st = open_partition(c, &s->parts[i], i, k, d);
    if (st == HD_OK && (mode == HD_CORUN_STREAMS || mode == HD_CORUN_PARTITION))
      st = hd_device_stream_open(c->device, &s->streams[i], d);
  }
  return st;
}

/* Both results, against those of each workload alone. */
static hd_status check_setup(setup *s, hd_diag *d) {
  double us[2];
  for (int i = 0; i < 2; i++) s->parts[i].poison = true;
  hd_status st = run_setup(s, us, d);
  for (int i = 0; st == HD_OK && i < 2; i++) {
    side *of = s->parts[i].side;
    hd_diag e = {0};
    uint64_t compared;
    s->parts[i].poison = false;
    st = placement_compare(&of->p, of->alone, &compared, &e);
    if (st == HD_ERR_REFUSED)
      hd_fail(d, st, "%s computes something else: %s", of->p.w->name, e.message);
    else if (st != HD_OK && d)
      *d = e;
  }
  return st;
}

/* ---- Search (SMC 5.1) ------------------------------------------------------------------------- */

/* Medians of a few rounds, the first one not counted. Results are looked at only where the search ends:
 * reading them back takes longer than all the rounds. */
static hd_status try_config(corun *c, hd_corun_mode mode, const config *k, hd_corun_row *row, config *got,
                            double us[2], hd_diag *d) {
  setup s;
  double t[2][SEARCH_ROUNDS], once[2];
  hd_status st = open_setup(c, mode, k, &s, got, d);
  for (int r = -1; st == HD_OK && r < SEARCH_ROUNDS; r++) {
    st = run_setup(&s, once, d);
    for (int i = 0; r >= 0 && i < 2; i++) t[i][r] = once[i];
  }
  for (int i = 0; st == HD_OK && i < 2; i++) us[i] = hd_median(t[i], SEARCH_ROUNDS);
  row->tried++;
  close_setup(&s);
  return st;
}

/* A change to the configuration, tried: kept where the ANTT falls. */
static hd_status try_change(corun *c, const config *changed, config *k, double *best, bool *kept,
                            hd_corun_row *row, hd_diag *d) {
  config got;
  double us[2];
  hd_status st = try_config(c, HD_CORUN_PARTITION, changed, row, &got, us, d);
  double antt = st == HD_OK ? corun_antt(c->alone_us, us) : INFINITY;
  *kept = antt < *best;
  if (*kept) {
    *best = antt;
    *k = *changed;
  }
  return st;
}

/* How tasks are cut into clusters: in one run each, as by default, or in waves over all of a side's SMs,
 * which keeps tasks that run at the same time close together, as the hardware does. Then CTAs of each kernel
 * on an SM: fewer by one as long as that helps. */
static hd_status climb(corun *c, config *k, hd_corun_row *row, hd_diag *d) {
  uint32_t n_sms = hd_device_get_info(c->device)->n_sms, fit[2] = {1, 1};
  double best = INFINITY;
  bool kept;
  config got;
  setup s;
  hd_status st = open_setup(c, HD_CORUN_PARTITION, k, &s, &got, d);
  for (int i = 0; st == HD_OK && i < 2; i++)
    if (s.parts[i].own.grids[0][0] / n_sms) fit[i] = s.parts[i].own.grids[0][0] / n_sms;
  close_setup(&s);
  if (st == HD_OK) st = try_change(c, k, k, &best, &kept, row, d);
  for (int i = 0; st == HD_OK && i < 2; i++) {
    const uint32_t waves[] = {1, fit[i]};
    for (size_t n = 0; st == HD_OK && n < 2 && (n == 0 || fit[i] > 1); n++) {
      config cut = *k;
      cut.split[i] = (hd_split){HD_SPLIT_WAVE, waves[n]};
      st = try_change(c, &cut, k, &best, &kept, row, d);
    }
  }
  for (int i = 0; st == HD_OK && i < 2; i++) {
    kept = true;
    for (uint32_t n = fit[i]; st == HD_OK && kept && n > 1; n--) {
      config fewer = *k;
      fewer.agents[i] = n - 1;
      st = try_change(c, &fewer, k, &best, &kept, row, d);
    }
  }
  return st;
}

/* Try `sms` SMs for A, and keep them where the ANTT falls. A number that the GPU cannot be split by is passed
 * over. */
static hd_status try_sms(corun *c, hd_corun_mode mode, uint32_t sms, config *best, double *least,
                         hd_corun_row *row, hd_diag *d) {
  config try = *best, got;
  double us[2];
  hd_diag e = {0};
  try.sms = sms;
  hd_status st = try_config(c, mode, &try, row, &got, us, &e);
  if (st == HD_ERR_UNSUPPORTED && *least < INFINITY) return HD_OK;
  if (st != HD_OK) {
    if (d) *d = e;
    return st;
  }
  double antt = corun_antt(c->alone_us, us);
  if (antt < *least) {
    *least = antt;
    *best = got;
  }
  return HD_OK;
}

/* Samples over the whole range, then ever smaller steps from the best. (ANTT is linear in both times:
 * interpolated between two samples, it is least at one of them.) */
static hd_status find_split(corun *c, hd_corun_mode mode, config *k, hd_corun_row *row, hd_diag *d) {
  uint32_t n_sms = hd_device_get_info(c->device)->n_sms, step = (n_sms + SAMPLES - 1) / SAMPLES;
  double least = INFINITY;
  hd_status st = HD_OK;
  for (uint32_t sms = step; st == HD_OK && sms < n_sms; sms += step)
    st = try_sms(c, mode, sms, k, &least, row, d);
  for (; st == HD_OK && step > 1; step = (step + 1) / 2) {
    uint32_t half = step / 2, at = k->sms;
    if (at > half) st = try_sms(c, mode, at - half, k, &least, row, d);
    if (st == HD_OK && at + half < n_sms) st = try_sms(c, mode, at + half, k, &least, row, d);
    if (step == 2) break;
  }
  return st == HD_OK && least == INFINITY
             ? hd_fail(d, HD_ERR_UNSUPPORTED, "%u SMs are too few to part", n_sms)
             : st;
}

static hd_status name_plans(const corun *c, const config *k, hd_corun_row *row, hd_diag *d) {
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < 2; i++) {
    hd_plan plan = plan_of(c, i, k);
    st = corun_name_plan(&plan, i, row, d);
  }
  return st;
}

/* The mode's best configuration, ready to be timed. */
static hd_status settle(corun *c, hd_corun_mode mode, setup *s, hd_corun_row *row, hd_diag *d) {
  if (mode == HD_CORUN_THREADS) return HD_ERR_UNSUPPORTED;
  uint32_t n_sms = hd_device_get_info(c->device)->n_sms;
  config k = {.sms = c->o->sms ? c->o->sms : n_sms / 2}, got;
  hd_status st = mode >= HD_CORUN_PARTITION ? corun_check_split(k.sms, n_sms, d) : HD_OK;
  if (st == HD_OK && mode == HD_CORUN_PARTITION) st = climb(c, &k, row, d);
  if (st == HD_OK && mode >= HD_CORUN_PARTITION && !c->o->sms) st = find_split(c, mode, &k, row, d);
  if (st == HD_OK) st = open_setup(c, mode, &k, s, &got, d);
  if (st == HD_OK) st = check_setup(s, d);
  if (st != HD_OK || mode < HD_CORUN_PARTITION) return st;
  row->sms[0] = got.sms;
  row->sms[1] = n_sms - got.sms;
  memcpy(row->agents, got.agents, sizeof row->agents);
  return mode == HD_CORUN_PARTITION ? name_plans(c, &got, row, d) : HD_OK;
}

/* ---- Timing --------------------------------------------------------------------------------------- */

static hd_corun_figure figure(double *values, uint32_t n, double confidence) {
  hd_corun_figure f = {.median = hd_median(values, n), .high = INFINITY};
  size_t k = hd_median_interval(n, confidence);
  if (k) f = (hd_corun_figure){f.median, values[k - 1], values[n - k]};
  return f;
}

/* Rounds in which everything runs once: us[row][i][round], row HD_CORUN_MODES being each workload alone. */
static hd_status time_rounds(corun *c, setup *setups, const hd_corun_result *out, uint32_t rounds, double *us,
                             hd_diag *d) {
  const uint32_t warmups = c->o->warmups ? c->o->warmups : DEFAULT_WARMUPS;
  const uint64_t all = (uint64_t)warmups + rounds;
  hd_meter meter = hd_meter_begin(&c->o->run.watch, "timing", all * (HD_CORUN_MODES + 1));
  for (uint64_t round = 0; round < all; round++)
    for (int k = 0; k <= HD_CORUN_MODES; k++) {
      int row = (int)((k + round) % (HD_CORUN_MODES + 1));
      double t[2] = {0, 0};
      hd_status st = HD_OK;
      if (row == HD_CORUN_MODES)
        for (int i = 0; st == HD_OK && i < 2; i++) st = run_alone(c, i, &t[i], d);
      else if (out->rows[row].status == HD_OK)
        st = run_setup(&setups[row], t, d);
      if (st != HD_OK) return st;
      hd_meter_add(&meter, 1);
      for (int i = 0; round >= warmups && i < 2; i++)
        us[((size_t)row * 2 + (size_t)i) * rounds + (round - warmups)] = t[i];
    }
  return HD_OK;
}

static hd_status evaluate(corun *c, setup *setups, hd_corun_result *out, hd_diag *d) {
  uint32_t n = c->o->repetitions ? c->o->repetitions : DEFAULT_REPETITIONS;
  double confidence = c->o->confidence > 0 ? c->o->confidence : DEFAULT_CONFIDENCE;
  double *us = calloc(n, 2 * (HD_CORUN_MODES + 1) * sizeof *us), *stp = calloc(n, sizeof *stp),
         *antt = calloc(n, sizeof *antt);
  hd_status st = us && stp && antt ? time_rounds(c, setups, out, n, us, d) : hd_nomem(d);
  for (int row = 0; st == HD_OK && row < HD_CORUN_MODES; row++) {
    hd_corun_row *r = &out->rows[row];
    if (r->status != HD_OK) continue;
    double *alone = us + (size_t)HD_CORUN_MODES * 2 * n, *own = us + (size_t)row * 2 * n;
    for (uint32_t k = 0; k < n; k++) {
      double a[2] = {alone[k], alone[n + k]}, t[2] = {own[k], own[n + k]};
      stp[k] = corun_stp(a, t);
      antt[k] = corun_antt(a, t);
    }
    r->stp = figure(stp, n, confidence);
    r->antt = figure(antt, n, confidence);
    for (int i = 0; i < 2; i++) r->us[i] = hd_median(own + (size_t)i * n, n);
  }
  for (int i = 0; st == HD_OK && i < 2; i++)
    out->alone_us[i] = hd_median(us + ((size_t)HD_CORUN_MODES * 2 + (size_t)i) * n, n);
  out->rounds = n;
  free(us);
  free(stp);
  free(antt);
  return st;
}

/* ---- All of it --------------------------------------------------------------------------------------- */

static hd_status open_side(corun *c, int i, const hd_workload *w, hd_diag *d) {
  side *s = &c->sides[i];
  part p = {.side = s, .v = &s->original};
  s->turns = 1;
  hd_status st = placement_open(&s->p, c->device, w, &c->o->run, d);
  if (st == HD_OK) st = variant_open(&s->original, &s->p, NULL, d);
  if (st == HD_OK) st = run(&p, d);
  if (st == HD_OK) st = hd_device_sync(c->device, d);
  if (st == HD_OK) st = placement_read(&s->p, &s->alone, d);
  return st == HD_OK ? placement_learn(&s->p, s->alone, d) : st;
}

/* As many turns of the shorter as take the longer's time. */
static hd_status choose_turns(corun *c, hd_diag *d) {
  double *t = c->alone_us;
  hd_status st = HD_OK;
  for (int again = 0; again < 2; again++) {
    for (int i = 0; st == HD_OK && i < 2; i++) st = run_alone(c, i, &t[i], d);
    for (int i = 0; st == HD_OK && i < 2; i++) st = run_alone(c, i, &t[i], d);
    if (st == HD_OK && !(t[0] > 0 && t[1] > 0))
      st = hd_fail(d, HD_ERR_INPUT, "a workload that takes no time cannot run together with another");
    if (st != HD_OK || again) return st;
    int shorter = t[1] < t[0];
    double turns = round(t[!shorter] / t[shorter]);
    c->sides[shorter].turns = turns < MAX_TURNS ? (uint32_t)turns : MAX_TURNS;
  }
  return st;
}

/* The failure is the mode's own; any other ends everything. */
static bool is_rows_own(hd_status st) { return hd_blames_plan(st) || st == HD_ERR_INPUT; }

hd_status hd_corun(hd_device *dev, const hd_workload *const w[2], const hd_corun_options *o,
                   hd_corun_result *out, hd_diag *d) {
  static const hd_corun_options defaults;
  corun c = {.device = dev, .o = o ? o : &defaults};
  setup setups[HD_CORUN_MODES] = {0};
  hd_device_stream *probe;
  *out = (hd_corun_result){0};
  if (hd_device_get_gpu(dev)) return corun_on_model(hd_device_get_gpu(dev), w, c.o, out, d);
  hd_status st = hd_device_stream_open(dev, &probe, d);
  if (st != HD_OK) return st;
  hd_device_stream_close(probe);
  for (int i = 0; st == HD_OK && i < 2; i++) st = open_side(&c, i, w[i], d);
  if (st == HD_OK) st = choose_turns(&c, d);
  for (int m = 0; st == HD_OK && m < HD_CORUN_MODES; m++) {
    hd_diag e = {0};
    hd_corun_row *row = &out->rows[m];
    hd_watch_tell(&c.o->run.watch, "looking for partitions", (size_t)m, HD_CORUN_MODES);
    row->status = settle(&c, (hd_corun_mode)m, &setups[m], row, &e);
    hd_fit(row->why, sizeof row->why, "%s", row->status == HD_OK ? "" : e.message);
    if (row->status == HD_OK || is_rows_own(row->status)) continue;
    st = row->status;
    if (d) *d = e;
  }
  if (st == HD_OK) st = evaluate(&c, setups, out, d);
  for (int m = 0; m < HD_CORUN_MODES; m++)
    if (setups[m].device) close_setup(&setups[m]);
  for (int i = 0; i < 2; i++) {
    side *s = &c.sides[i];
    out->turns[i] = s->turns;
    if (s->p.w) launch_bytes_free(s->p.w, s->alone);
    variant_close(&s->original);
    placement_close(&s->p);
  }
  return st;
}
