/* The part of `heddle analyze` that runs the workload: reuse, category, proposals. */
#include <string.h>

#include "analyze.h"

static hd_status put_affinity(const model_session *s, hd_buf *out, hd_diag *d) {
  enum { MOST_EDGES = 2000 };
  uint32_t most = 0;
  for (uint32_t i = 1; i < hd_study_launches(s->study); i++)
    if (hd_trace_get_info(hd_study_trace(s->study, i)).warp_accesses >
        hd_trace_get_info(hd_study_trace(s->study, most)).warp_accesses)
      most = i;
  hd_affinity graph;
  hd_status st = hd_affinity_build(hd_study_trace(s->study, most), NULL, &graph, d);
  if (st != HD_OK) return st;
  hd_affinity_dot(&graph, MOST_EDGES, out);
  hd_affinity_free(&graph);
  return HD_OK;
}

hd_status analyze_measured(const char *name, const analyze_run *run, json_t *json, hd_buf *text, hd_diag *d) {
  model_session s = {0};
  hd_advice advice = {0};
  /* As for the static part: small, where nothing is named. */
  model_options o = {.gpu_name = run->gpu, .size = run->size ? run->size : "small", .threads = run->threads};
  hd_status st = model_open_workload(&s, name, &o, d);
  if (st == HD_OK) st = model_open_study(&s, &o, d);
  if (st == HD_OK && run->affinity) {
    st = put_affinity(&s, text, d);
  } else if (st == HD_OK) {
    hd_advise_options options = {.run = {.threads = (unsigned)o.threads, .n_sms = s.gpu.n_sms},
                                 .dispatch = s.dispatch,
                                 .seconds = run->seconds ? (double)run->seconds : 0};
    st = hd_advise(s.workload, s.study, &s.gpu, &options, &advice, d);
    json_t *own = st == HD_OK && json ? advice_json(&s, &advice) : NULL;
    if (own) json_object_update(json, own);
    json_decref(own);
    if (st == HD_OK && !json) advice_print(&s, &advice, run->verbose, text);
    hd_advice_free(&advice);
  }
  model_close(&s);
  return st;
}
