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

hd_status hd_study_vote(const hd_study *s, const hd_gpu *g, uint32_t launch, uint32_t *ctas, hd_diag *d) {
  hd_trace *const *traces;
  recording *recorded;
  hd_model *m;
  if (s->sample)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "the launches are sampled, which shows a part of the CTAs only");
  hd_status st = hd_model_create(g, &m, d);
  if (st != HD_OK) return st;
  st = replay_retrace(s, g, &votes, &recorded, &traces, d);
  if (st == HD_OK) {
    st = count_ctas(m, s, g, traces, launch, ctas, d);
    retrace_release(s->memo->changed, traces);
  }
  hd_model_destroy(m);
  return st;
}
