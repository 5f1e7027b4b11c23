/* Thresholds of bypassing L1 by BYP's run-time ways (4.4.2), and CLU's number of agents (4.3), on a model. */
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"

/* A model of the GPU, and the traces of the kernels that vote. */
typedef struct voters {
  const hd_study *study;
  const hd_gpu *gpu;
  const hd_plan *plan;
  hd_model *model;
  hd_trace *const *traces;
  hd_added *added; /* per launch */
} voters;

static hd_status open_voters(const hd_study *s, const hd_gpu *g, const hd_plan *p, voters *out, hd_diag *d) {
  recording *recorded;
  *out = (voters){.study = s, .gpu = g, .plan = p, .traces = s->traces};
  if (s->sample)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "the launches are sampled, which shows a part of the CTAs only");
  if (!s->how.timed) return hd_fail(d, HD_ERR_UNSUPPORTED, "only a clock times CTAs");
  out->added = calloc((size_t)s->w->n_launches + 1, sizeof *out->added);
  hd_status st = out->added ? hd_model_create(g, &out->model, d) : hd_nomem(d);
  if (st == HD_OK && p->agents_voted) return replay_extra(s, p, g->n_sms, out->added, d);
  return st == HD_OK ? replay_retrace(s, g, p, &recorded, &out->traces, d) : st;
}

static void close_voters(voters *v) {
  if (v->traces != v->study->traces) retrace_release(v->study->memo->changed, v->traces);
  hd_model_destroy(v->model);
  free(v->added);
}

static hd_status make_launch(const voters *v, uint32_t i, replay_launch *l, hd_diag *d) {
  hd_status st = replay_launch_make(v->study, i, v->traces[i], v->gpu, v->plan, &v->added[i], l, d);
  l->options.dispatch.kind = v->gpu->dispatch;
  l->options.keep_caches = i > 0;
  return st;
}

/* By the numbers that the kernel has for SMs: their clusters. */
static void renumber(const replay_launch *l, uint32_t n_sms, const uint32_t *counted, uint32_t *ctas) {
  for (uint32_t i = 0; i < n_sms; i++) ctas[l->queue_of ? l->queue_of[i] : i] = counted[i];
}

/* The launches up to that one, which finds what they left in L2. */
static hd_status count_ctas(const voters *v, uint32_t launch, uint32_t *ctas, uint32_t *most, hd_diag *d) {
  uint32_t *counted = calloc((size_t)v->gpu->n_sms + 1, sizeof *counted);
  hd_status st = counted ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i <= launch; i++) {
    replay_launch l;
    hd_counters c;
    st = make_launch(v, i, &l, d);
    if (i == launch) l.options.ctas = counted;
    if (st == HD_OK) st = hd_model_replay(v->model, v->traces[i], &l.options, &c, d);
    if (st == HD_OK && i == launch) {
      renumber(&l, v->gpu->n_sms, counted, ctas);
      *most = v->plan->agents_voted ? (uint32_t)c.resident : l.options.threshold.warps;
    }
    replay_launch_free(&l);
  }
  free(counted);
  return st;
}

static hd_status time_alone(const voters *v, uint32_t launch, double *cycles, hd_diag *d) {
  replay_launch l;
  hd_status st = make_launch(v, launch, &l, d);
  const uint32_t warps = l.options.threshold.warps;
  const uint64_t ctas = hd_trace_tasks(v->traces[launch]);
  if (st == HD_OK && ctas <= warps)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "%u thresholds, and %llu CTAs to try them", warps + 1,
                 (unsigned long long)ctas);
  l.options.vote = false;
  l.options.keep_caches = false;
  l.options.dispatch.resident = 1;
  for (uint32_t k = 0; st == HD_OK && k <= warps; k++) {
    hd_counters c;
    l.options.threshold.warps = k;
    l.options.part = (hd_replay_part){k, 1};
    st = hd_model_replay(v->model, v->traces[launch], &l.options, &c, d);
    cycles[k] = c.cycles;
  }
  replay_launch_free(&l);
  return st;
}

hd_status hd_study_vote(const hd_study *s, const hd_gpu *g, const hd_plan *p, uint32_t launch, uint32_t *ctas,
                        uint32_t *most, hd_diag *d) {
  voters v;
  if (!p->agents_voted && p->bypass.kind != HD_BYPASS_AUTO)
    return hd_fail(d, HD_ERR_USAGE, "a vote is taken under bypass=auto or bind=agents:auto");
  hd_status st = hd_plan_check(p, d);
  if (st != HD_OK) return st;
  st = open_voters(s, g, p, &v, d);
  if (st == HD_OK) st = count_ctas(&v, launch, ctas, most, d);
  close_voters(&v);
  return st;
}

hd_status hd_study_sample_thresholds(const hd_study *s, const hd_gpu *g, uint32_t launch, double *cycles,
                                     hd_diag *d) {
  static const hd_plan votes = {.bypass = {.kind = HD_BYPASS_AUTO}};
  voters v;
  hd_status st = open_voters(s, g, &votes, &v, d);
  if (st == HD_OK) st = time_alone(&v, launch, cycles, d);
  close_voters(&v);
  return st;
}
