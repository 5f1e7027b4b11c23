/* Two workloads at the same time: partitions found by search, all modes timed against each other. */
#include "heddle/corun.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tune/placement.h"

enum { DEFAULT_WARMUPS = 2, DEFAULT_REPETITIONS = 21, SEARCH_ROUNDS = 3, MAX_TURNS = 32, SAMPLES = 8 };
#define DEFAULT_CONFIDENCE 0.99

static const char *const mode_names[HD_CORUN_MODES] = {"serial", "streams", "partition", "green"};

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
  variant *v;  /* what runs: &own or the side's original */
  bool poison; /* before the run, so that what it leaves unwritten shows */
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
  hd_status st = placement_restore(&p->side->p, d);
  return st == HD_OK && p->poison ? placement_poison(&p->side->p, d) : st;
}

static hd_status run(void *ctx, hd_diag *d) {
  part *p = ctx;
  hd_status st = variant_run(p->v, d);
  for (uint32_t turn = 1; st == HD_OK && turn < p->side->turns; turn++) {
    st = placement_restore(&p->side->p, d);
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

static double antt_of(const double alone[2], const double us[2]) {
  return (us[0] / alone[0] + us[1] / alone[1]) / 2;
}

static double stp_of(const double alone[2], const double us[2]) {
  return alone[0] / us[0] + alone[1] / us[1];
}

/* ---- Setting up --------------------------------------------------------------------------- */

typedef struct config {
  uint32_t sms;       /* A's; B has the others */
  uint32_t agents[2]; /* 0: all that fit */
} config;

/* Workers on SMs that the plan does not name leave at once, and the hardware fills their places with more of
 * them. With this many times the workers, those that are left fill the plan's own SMs too. */
enum { SPARE_WORKERS = 4 };

static hd_status open_partition(corun *c, part *p, int i, const config *k, hd_diag *d) {
  uint32_t n_sms = hd_device_get_info(c->device)->n_sms;
  hd_sm_range range = i ? (hd_sm_range){k->sms, n_sms - 1} : (hd_sm_range){0, k->sms - 1};
  hd_plan plan = c->o->plans[i];
  plan.bind = HD_BIND_AGENTS;
  plan.agents = k->agents[i];
  plan.sms = (hd_sm_set){&range, 1};
  hd_status st = hd_plan_check(&plan, d);
  if (st == HD_OK) st = variant_open(&p->own, &p->side->p, &plan, d);
  for (uint32_t l = 0; st == HD_OK && l < p->side->p.w->n_launches; l++)
    if (p->own.recipes[l].agents && p->own.launches[l].grid[0] <= INT32_MAX / SPARE_WORKERS)
      p->own.launches[l].grid[0] *= SPARE_WORKERS;
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
    void **got = NULL;
    char what[600];
    s->parts[i].poison = false;
    st = placement_read(&of->p, &got, d);
    if (st == HD_OK && !placement_same(of->p.w, got, of->alone, what, sizeof what))
      st = hd_fail(d, HD_ERR_REFUSED, "%s computes something else: %.400s", of->p.w->name, what);
    placement_free_bytes(&of->p, got);
  }
  return st;
}

/* ---- Search (SMC 5.1) ------------------------------------------------------------------------- */

/* Medians of a few rounds. */
static hd_status try_config(corun *c, hd_corun_mode mode, const config *k, hd_corun_row *row, config *got,
                            double us[2], hd_diag *d) {
  setup s;
  double t[2][SEARCH_ROUNDS], once[2];
  hd_status st = open_setup(c, mode, k, &s, got, d);
  if (st == HD_OK) st = check_setup(&s, d);
  for (int r = 0; st == HD_OK && r < SEARCH_ROUNDS; r++) {
    st = run_setup(&s, once, d);
    for (int i = 0; i < 2; i++) t[i][r] = once[i];
  }
  for (int i = 0; st == HD_OK && i < 2; i++) us[i] = hd_median(t[i], SEARCH_ROUNDS);
  row->tried++;
  close_setup(&s);
  return st;
}

/* CTAs of each kernel on an SM: fewer by one as long as that helps. */
static hd_status climb_agents(corun *c, config *k, hd_corun_row *row, hd_diag *d) {
  uint32_t n_sms = hd_device_get_info(c->device)->n_sms, fit[2] = {1, 1};
  config got;
  double us[2], best;
  setup s;
  hd_status st = open_setup(c, HD_CORUN_PARTITION, k, &s, &got, d);
  for (int i = 0; st == HD_OK && i < 2; i++)
    fit[i] = s.parts[i].own.launches[0].grid[0] / SPARE_WORKERS / n_sms;
  close_setup(&s);
  if (st == HD_OK) st = try_config(c, HD_CORUN_PARTITION, k, row, &got, us, d);
  if (st != HD_OK) return st;
  best = antt_of(c->alone_us, us);
  for (int i = 0; i < 2; i++)
    for (uint32_t n = fit[i]; n > 1; n--) {
      config fewer = *k;
      fewer.agents[i] = n - 1;
      st = try_config(c, HD_CORUN_PARTITION, &fewer, row, &got, us, d);
      if (st != HD_OK) return st;
      double antt = antt_of(c->alone_us, us);
      if (antt >= best) break;
      best = antt;
      *k = fewer;
    }
  return HD_OK;
}

typedef struct sample {
  uint32_t sms;
  double us[2];
} sample;

/* A's SMs with the least ANTT, times between samples taken from the line through them. */
static uint32_t interpolate(const corun *c, const sample *s, size_t n) {
  double best = INFINITY;
  uint32_t sms = s[0].sms;
  for (size_t k = 0; k < n; k++) {
    uint32_t end = k + 1 < n ? s[k + 1].sms : s[k].sms + 1;
    for (uint32_t at = s[k].sms; at < end; at++) {
      double us[2], x = (double)(at - s[k].sms) / (double)(end - s[k].sms);
      for (int i = 0; i < 2; i++)
        us[i] = k + 1 < n ? s[k].us[i] + x * (s[k + 1].us[i] - s[k].us[i]) : s[k].us[i];
      double antt = antt_of(c->alone_us, us);
      if (antt < best) best = antt, sms = at;
    }
  }
  return sms;
}

static hd_status find_split(corun *c, hd_corun_mode mode, config *k, hd_corun_row *row, hd_diag *d) {
  uint32_t n_sms = hd_device_get_info(c->device)->n_sms, step = (n_sms + SAMPLES - 1) / SAMPLES;
  sample samples[SAMPLES];
  size_t n = 0;
  for (uint32_t sms = step; sms < n_sms && n < SAMPLES; sms += step) {
    config try = *k, got;
    try.sms = sms;
    hd_status st = try_config(c, mode, &try, row, &got, samples[n].us, d);
    /* Green contexts: what is left may be too few SMs for the second. */
    if (st == HD_ERR_UNSUPPORTED && n) break;
    if (st != HD_OK) return st;
    samples[n].sms = got.sms;
    n += n == 0 || samples[n - 1].sms < got.sms;
  }
  if (!n) return hd_fail(d, HD_ERR_UNSUPPORTED, "%u SMs are too few to part", n_sms);
  k->sms = interpolate(c, samples, n);
  return HD_OK;
}

/* The mode's best configuration, ready to be timed. */
static hd_status settle(corun *c, hd_corun_mode mode, setup *s, hd_corun_row *row, hd_diag *d) {
  config k = {.sms = hd_device_get_info(c->device)->n_sms / 2}, got;
  hd_status st = HD_OK;
  if (mode == HD_CORUN_PARTITION) st = climb_agents(c, &k, row, d);
  if (st == HD_OK && mode >= HD_CORUN_PARTITION) st = find_split(c, mode, &k, row, d);
  if (st == HD_OK) st = open_setup(c, mode, &k, s, &got, d);
  if (st == HD_OK) st = check_setup(s, d);
  if (st != HD_OK || mode < HD_CORUN_PARTITION) return st;
  row->sms[0] = got.sms;
  row->sms[1] = hd_device_get_info(c->device)->n_sms - got.sms;
  memcpy(row->agents, got.agents, sizeof row->agents);
  return HD_OK;
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
  uint32_t warmups = c->o->warmups ? c->o->warmups : DEFAULT_WARMUPS;
  for (uint64_t round = 0; round < (uint64_t)warmups + rounds; round++)
    for (int k = 0; k <= HD_CORUN_MODES; k++) {
      int row = (int)((k + round) % (HD_CORUN_MODES + 1));
      double t[2] = {0, 0};
      hd_status st = HD_OK;
      if (row == HD_CORUN_MODES)
        for (int i = 0; st == HD_OK && i < 2; i++) st = run_alone(c, i, &t[i], d);
      else if (out->rows[row].status == HD_OK)
        st = run_setup(&setups[row], t, d);
      if (st != HD_OK) return st;
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
  hd_status st =
      us && stp && antt ? time_rounds(c, setups, out, n, us, d) : hd_fail(d, HD_ERR_NOMEM, "out of memory");
  for (int row = 0; st == HD_OK && row < HD_CORUN_MODES; row++) {
    hd_corun_row *r = &out->rows[row];
    if (r->status != HD_OK) continue;
    double *alone = us + (size_t)HD_CORUN_MODES * 2 * n, *own = us + (size_t)row * 2 * n;
    for (uint32_t k = 0; k < n; k++) {
      double a[2] = {alone[k], alone[n + k]}, t[2] = {own[k], own[n + k]};
      stp[k] = stp_of(a, t);
      antt[k] = antt_of(a, t);
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

/* What is a mode's own business, and what ends everything. */
static bool is_rows_own(hd_status st) {
  return st == HD_ERR_REFUSED || st == HD_ERR_UNSUPPORTED || st == HD_ERR_USAGE || st == HD_ERR_INPUT;
}

hd_status hd_corun(hd_device *dev, const hd_workload *const w[2], const hd_corun_options *o,
                   hd_corun_result *out, hd_diag *d) {
  static const hd_corun_options defaults;
  corun c = {.device = dev, .o = o ? o : &defaults};
  setup setups[HD_CORUN_MODES] = {0};
  hd_device_stream *probe;
  *out = (hd_corun_result){0};
  hd_status st = hd_device_stream_open(dev, &probe, d);
  if (st != HD_OK) return st;
  hd_device_stream_close(probe);
  for (int i = 0; st == HD_OK && i < 2; i++) st = open_side(&c, i, w[i], d);
  if (st == HD_OK) st = choose_turns(&c, d);
  for (int m = 0; st == HD_OK && m < HD_CORUN_MODES; m++) {
    hd_diag e = {0};
    hd_corun_row *row = &out->rows[m];
    row->status = settle(&c, (hd_corun_mode)m, &setups[m], row, &e);
    snprintf(row->why, sizeof row->why, "%.255s", row->status == HD_OK ? "" : e.message);
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
    if (s->p.w) placement_free_bytes(&s->p, s->alone);
    variant_close(&s->original);
    placement_close(&s->p);
  }
  return st;
}
