/* Thresholds of bypassing L1 by BYP's run-time ways (4.4.2), on a model. */
#include <stdlib.h>
#include <string.h>

#include "predict/study.h"

static const hd_plan votes = {.bypass = {.kind = HD_BYPASS_AUTO}};

/* The launches up to that one, which finds what they left in L2. */
static hd_status count_ctas(hd_model *m, const hd_study *s, const hd_gpu *g, hd_trace *const *traces,
                            uint32_t launch, uint32_t *ctas, hd_diag *d) {
  static const hd_added nothing;
  hd_status st = HD_OK;
  for (uint32_t i = 0; st == HD_OK && i <= launch; i++) {
    replay_launch l;
    hd_counters c;
    st = replay_launch_make(s, i, traces[i], g, &votes, &nothing, &l, d);
    l.options.dispatch.kind = g->dispatch;
    l.options.keep_caches = i > 0;
    if (i == launch) l.options.ctas = ctas;
    if (st == HD_OK) st = hd_model_replay(m, traces[i], &l.options, &c, d);
    replay_launch_free(&l);
  }
  return st;
}

static hd_status time_alone(hd_model *m, const hd_study *s, const hd_gpu *g, hd_trace *const *traces,
                            uint32_t launch, double *cycles, hd_diag *d) {
  static const hd_added nothing;
  replay_launch l;
  hd_status st = replay_launch_make(s, launch, traces[launch], g, &votes, &nothing, &l, d);
  const uint32_t warps = l.options.threshold.warps;
  const uint64_t ctas = hd_trace_tasks(traces[launch]);
  if (st == HD_OK && ctas <= warps)
    st = hd_fail(d, HD_ERR_UNSUPPORTED, "%u thresholds, and %llu CTAs to try them", warps + 1,
                 (unsigned long long)ctas);
  l.options.vote = false;
  l.options.dispatch = (hd_dispatch){.kind = g->dispatch, .resident = 1};
  for (uint32_t k = 0; st == HD_OK && k <= warps; k++) {
    hd_counters c;
    l.options.threshold.warps = k;
    l.options.part = (hd_replay_part){k, 1};
    st = hd_model_replay(m, traces[launch], &l.options, &c, d);
    cycles[k] = c.cycles;
  }
  replay_launch_free(&l);
  return st;
}

/* A model of the GPU, and the traces of the kernels that vote. */
typedef struct voters {
  const hd_study *study;
  hd_model *model;
  hd_trace *const *traces;
} voters;

static hd_status open_voters(const hd_study *s, const hd_gpu *g, voters *out, hd_diag *d) {
  recording *recorded;
  *out = (voters){.study = s};
  if (s->sample)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "the launches are sampled, which shows a part of the CTAs only");
  if (!s->run.timed) return hd_fail(d, HD_ERR_UNSUPPORTED, "CTAs are timed by a clock alone");
  hd_status st = hd_model_create(g, &out->model, d);
  return st == HD_OK ? replay_retrace(s, g, &votes, &recorded, &out->traces, d) : st;
}

static void close_voters(voters *v) {
  if (v->traces) retrace_release(v->study->memo->changed, v->traces);
  hd_model_destroy(v->model);
}

hd_status hd_study_vote(const hd_study *s, const hd_gpu *g, uint32_t launch, uint32_t *ctas, hd_diag *d) {
  voters v;
  hd_status st = open_voters(s, g, &v, d);
  if (st == HD_OK) st = count_ctas(v.model, s, g, v.traces, launch, ctas, d);
  close_voters(&v);
  return st;
}

hd_status hd_study_sample_thresholds(const hd_study *s, const hd_gpu *g, uint32_t launch, double *cycles,
                                     hd_diag *d) {
  voters v;
  hd_status st = open_voters(s, g, &v, d);
  if (st == HD_OK) st = time_alone(v.model, s, g, v.traces, launch, cycles, d);
  close_voters(&v);
  return st;
}
