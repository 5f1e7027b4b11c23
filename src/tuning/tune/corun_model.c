#include "tune/corun_model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tune/corun_row.h"

/* SMC 5.1: an SM's CTAs of one kernel, and the steps between the numbers of SMs that are tried. */
enum { DEFAULT_TURNS = 3, MOST_CTAS = 8, STEP = 3 };

typedef struct modelled {
  const hd_gpu *gpu;
  const hd_corun_options *o;
  hd_study *studies[2];
  double alone_us[2];
  uint32_t fit[2]; /* CTAs of each on an SM */
  uint32_t turns;
} modelled;

typedef struct config {
  uint32_t sms; /* A's; B has the others */
  uint32_t agents[2];
} config;

/* The outcome of a configuration. */
typedef struct outcome {
  double us[2], antt;
} outcome;

static hd_plan plan_of(const modelled *c, int i, const config *k) {
  return corun_plan(&c->o->plans[i], i, k->sms, c->gpu->n_sms, k->agents[i]);
}

static hd_status run(const modelled *c, const hd_plan *const plans[2], outcome *out, hd_diag *d) {
  hd_stream_row rows[2];
  for (int i = 0; i < 2; i++) rows[i] = (hd_stream_row){.study = c->studies[i], .plan = plans[i]};
  hd_status st = hd_study_replay_streams(rows, 2, c->gpu, c->turns, d);
  for (int i = 0; i < 2; i++) out->us[i] = rows[i].us;
  out->antt = corun_antt(c->alone_us, out->us);
  return st;
}

static hd_status run_config(const modelled *c, const config *k, hd_corun_row *row, outcome *out, hd_diag *d) {
  const hd_plan plans[2] = {plan_of(c, 0, k), plan_of(c, 1, k)};
  row->tried++;
  return run(c, (const hd_plan *const[2]){&plans[0], &plans[1]}, out, d);
}

/* The configuration is kept where its ANTT is lower. */
static hd_status try_config(const modelled *c, const config *k, config *best, outcome *least, bool *kept,
                            hd_corun_row *row, hd_diag *d) {
  outcome got;
  hd_status st = run_config(c, k, row, &got, d);
  *kept = st == HD_OK && got.antt < least->antt;
  if (!*kept) return st;
  *least = got;
  *best = *k;
  return HD_OK;
}

/* Fewer CTAs by one as long as that helps. */
static hd_status climb(const modelled *c, config *best, outcome *least, hd_corun_row *row, hd_diag *d) {
  hd_status st = HD_OK;
  for (int i = 0; i < 2; i++) {
    bool kept = true;
    while (st == HD_OK && kept && best->agents[i] > 1) {
      config fewer = *best;
      fewer.agents[i]--;
      st = try_config(c, &fewer, best, least, &kept, row, d);
    }
  }
  return st;
}

/* The times between two numbers of SMs that were tried are taken for linear (SMC 5.1), so that the least is
 * one of these. */
static hd_status find_split(const modelled *c, config *best, outcome *least, hd_corun_row *row, hd_diag *d) {
  hd_status st = HD_OK;
  for (uint32_t sms = 1; st == HD_OK && sms < c->gpu->n_sms; sms += STEP) {
    config k = *best;
    bool kept;
    k.sms = sms;
    if (sms != best->sms) st = try_config(c, &k, best, least, &kept, row, d);
  }
  return st;
}

static hd_status put_row(const modelled *c, const config *k, const outcome *got, hd_corun_row *row,
                         hd_diag *d) {
  const double stp = corun_stp(c->alone_us, got->us);
  hd_status st = HD_OK;
  memcpy(row->us, got->us, sizeof row->us);
  row->stp = (hd_corun_figure){stp, stp, stp};
  row->antt = (hd_corun_figure){got->antt, got->antt, got->antt};
  for (int i = 0; k && st == HD_OK && i < 2; i++) {
    hd_plan plan = plan_of(c, i, k);
    st = corun_name_plan(&plan, i, row, d);
    row->agents[i] = k->agents[i];
    row->sms[i] = i ? c->gpu->n_sms - k->sms : k->sms;
  }
  return st;
}

static config whole_config(const modelled *c, uint32_t sms, bool threads) {
  config k = {.sms = sms};
  for (int i = 0; i < 2; i++) k.agents[i] = threads ? 1 : c->fit[i] < MOST_CTAS ? c->fit[i] : MOST_CTAS;
  return k;
}

static hd_status find_partition(const modelled *c, hd_corun_row *row, hd_diag *d) {
  config best = whole_config(c, c->o->sms ? c->o->sms : c->gpu->n_sms / 2, false), k = best;
  outcome least = {.antt = INFINITY};
  bool kept;
  hd_status st = corun_check_split(best.sms, c->gpu->n_sms, d);
  if (st == HD_OK) st = try_config(c, &k, &best, &least, &kept, row, d);
  if (st == HD_OK) st = climb(c, &best, &least, row, d);
  if (st == HD_OK && !c->o->sms) st = find_split(c, &best, &least, row, d);
  return st == HD_OK ? put_row(c, &best, &least, row, d) : st;
}

/* On halves, and on the partition's SMs. */
static hd_status try_threads(const modelled *c, uint32_t sms, hd_corun_row *row, hd_diag *d) {
  const uint32_t half = c->gpu->n_sms / 2, splits[] = {sms, half};
  config best = whole_config(c, sms, true);
  outcome least = {.antt = INFINITY};
  hd_status st = HD_OK;
  if (!sms) return hd_fail(d, HD_ERR_UNSUPPORTED, "no partition was found");
  for (size_t i = 0; st == HD_OK && i < (sms == half || c->o->sms ? 1 : 2); i++) {
    const config k = whole_config(c, splits[i], true);
    bool kept;
    st = try_config(c, &k, &best, &least, &kept, row, d);
  }
  return st == HD_OK ? put_row(c, &best, &least, row, d) : st;
}

static hd_status fill_row(const modelled *c, hd_corun_mode mode, const hd_corun_row *partition,
                          hd_corun_row *row, hd_diag *d) {
  const double both = c->alone_us[0] + c->alone_us[1], us[2] = {both, both};
  outcome got = {.us = {both, both}, .antt = corun_antt(c->alone_us, us)};
  hd_status st = HD_OK;
  switch (mode) {
  case HD_CORUN_SERIAL: return put_row(c, NULL, &got, row, d);
  case HD_CORUN_STREAMS:
    st = run(c, (const hd_plan *const[2]){&hd_plan_original, &hd_plan_original}, &got, d);
    return st == HD_OK ? put_row(c, NULL, &got, row, d) : st;
  case HD_CORUN_PARTITION: return find_partition(c, row, d);
  case HD_CORUN_THREADS: return try_threads(c, partition->sms[0], row, d);
  default: return HD_ERR_UNSUPPORTED;
  }
}

static hd_status open_side(modelled *c, int i, const hd_workload *w, hd_diag *d) {
  const hd_study_options how = {.timed = true};
  hd_status st = hd_study_open(w, &c->o->run, &how, &c->studies[i], d);
  hd_stream_row row = {.study = c->studies[i], .plan = &hd_plan_original};
  if (st == HD_OK) st = hd_study_replay_streams(&row, 1, c->gpu, c->turns, d);
  c->alone_us[i] = row.us;
  c->fit[i] = row.resident;
  return st;
}

hd_status corun_on_model(const hd_gpu *g, const hd_workload *const w[2], const hd_corun_options *o,
                         hd_corun_result *out, hd_diag *d) {
  modelled c = {.gpu = g, .o = o, .turns = o->repetitions ? o->repetitions : DEFAULT_TURNS};
  hd_status st = HD_OK;
  for (int i = 0; st == HD_OK && i < 2; i++) st = open_side(&c, i, w[i], d);
  for (int m = 0; st == HD_OK && m < HD_CORUN_MODES; m++) {
    hd_corun_row *row = &out->rows[m];
    hd_diag e = {0};
    hd_watch_tell(&o->run.watch, "looking for partitions", (size_t)m, HD_CORUN_MODES);
    row->status = fill_row(&c, (hd_corun_mode)m, &out->rows[HD_CORUN_PARTITION], row, &e);
    hd_fit(row->why, sizeof row->why, "%s", row->status == HD_OK ? "" : e.message);
    if (row->status == HD_ERR_NOMEM || row->status == HD_ERR_BUDGET) {
      st = row->status;
      if (d) *d = e;
    }
  }
  hd_watch_tell(&o->run.watch, "looking for partitions", HD_CORUN_MODES, HD_CORUN_MODES);
  for (int i = 0; i < 2; i++) {
    out->alone_us[i] = c.alone_us[i];
    out->turns[i] = 1;
    hd_study_close(c.studies[i]);
  }
  out->rounds = c.turns;
  return st;
}
