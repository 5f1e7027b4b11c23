/* Several studies on one modelled GPU at the same time. */
#include <stdlib.h>

#include "predict/study.h"

/* One study's launches, as the model takes them. */
typedef struct stream {
  hd_added *extra;
  replay_launch *made;
  uint32_t n_made;
  hd_replay_launch *launches;
} stream;

static void free_stream(stream *s) {
  for (uint32_t i = 0; i < s->n_made; i++) replay_launch_free(&s->made[i]);
  free(s->made);
  free(s->extra);
  free(s->launches);
}

static hd_status make_stream(const hd_stream_row *row, const hd_gpu *g, stream *out, hd_diag *d) {
  const hd_study *s = row->study;
  const hd_plan *p = row->plan;
  const size_t n = s->w->n_launches;
  hd_status st = hd_plan_check(p, d);
  if (st == HD_OK && (retrace_is_needed(p) || s->sample || !s->how.timed))
    st = hd_fail(d, HD_ERR_UNSUPPORTED,
                 "%s: co-runs need whole traces, a clock, and plans that change no accesses", s->w->name);
  if (st != HD_OK) return st;
  out->extra = calloc(n + 1, sizeof *out->extra);
  out->made = calloc(n + 1, sizeof *out->made);
  out->launches = calloc(n + 1, sizeof *out->launches);
  if (!out->extra || !out->made || !out->launches) return hd_nomem(d);
  if (!hd_plan_is_baseline(p)) st = replay_extra(s, p, g->n_sms, out->extra, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    replay_launch *l = &out->made[out->n_made++];
    st = replay_launch_make(s, i, s->traces[i], g, p, &out->extra[i], l, d);
    l->options.dispatch = (hd_dispatch){.kind = HD_DISPATCH_DEMAND};
    out->launches[i] = (hd_replay_launch){s->traces[i], &l->options};
  }
  return st;
}

hd_status hd_study_replay_streams(hd_stream_row *rows, uint32_t n, const hd_gpu *g, uint32_t turns,
                                  hd_diag *d) {
  stream streams[HD_REPLAY_STREAMS] = {0};
  hd_replay_stream replays[HD_REPLAY_STREAMS] = {0};
  hd_model *m;
  if (n > HD_REPLAY_STREAMS)
    return hd_fail(d, HD_ERR_USAGE, "%u workloads: at most %d at once", n, HD_REPLAY_STREAMS);
  hd_status st = hd_model_create(g, &m, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    st = make_stream(&rows[i], g, &streams[i], d);
    replays[i] = (hd_replay_stream){.launches = streams[i].launches, .n = streams[i].n_made};
  }
  if (st == HD_OK) st = hd_model_replay_streams(m, replays, n, turns, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    const hd_replay_stream *r = &replays[i];
    rows[i].us = r->us;
    rows[i].turns = r->turns;
    rows[i].resident = r->resident;
    rows[i].l1_hits = r->l1_sectors ? (double)r->l1_hits / (double)r->l1_sectors : 0;
  }
  for (uint32_t i = 0; i < n; i++) free_stream(&streams[i]);
  hd_model_destroy(m);
  return st;
}
