/* The traces of a workload's original kernels. */
#include "predict/study.h"

#include <stdlib.h>
#include <string.h>

static hd_status take(hd_study *s, const retrace_contents *first, hd_diag *d) {
  uint64_t *addresses = HD_NEW_N(&s->arena, (size_t)s->w->n_buffers + 1, uint64_t);
  if (!addresses) return hd_nomem(d);
  double start = hd_seconds();
  hd_status st = retrace_take(s->code, NULL, &s->run, first, s->traces, s->shared, addresses, d);
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_buffers; i++)
    s->arrays[i] = (hd_reuse_array){s->w->buffers[i].name, addresses[i], s->w->buffers[i].bytes};
  s->seconds = hd_seconds() - start;
  return st;
}

static study_memo *open_memo(const hd_workload *w) {
  study_memo *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->changed = retrace_open(w);
  if (!m->changed) {
    free(m);
    return NULL;
  }
  pthread_mutex_init(&m->lock, NULL);
  return m;
}

static void close_memo(study_memo *m) {
  if (!m) return;
  for (size_t i = 0; i < m->tables.n; i++) hd_table_free(&m->tables.data[i].table);
  hd_vec_free(&m->tables);
  retrace_close(m->changed);
  pthread_mutex_destroy(&m->lock);
  free(m);
}

hd_status study_open(const hd_workload *w, const hd_run_options *o, const retrace_contents *first,
                     hd_study **out, hd_diag *d) {
  hd_study *s = calloc(1, sizeof *s);
  *out = NULL;
  if (!s) return hd_nomem(d);
  size_t n = (size_t)w->n_launches + 1;
  hd_arena_init(&s->arena);
  s->w = w;
  if (o) s->run = *o;
  s->run.arch = hd_launch_arch(NULL, s->run.arch);
  s->traces = HD_NEW_N(&s->arena, n, hd_trace *);
  s->shared = HD_NEW_N(&s->arena, n, uint32_t);
  s->arrays = HD_NEW_N(&s->arena, (size_t)w->n_buffers + 1, hd_reuse_array);
  s->memo = open_memo(w);
  hd_status st = s->traces && s->shared && s->arrays && s->memo ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = hd_workload_compiled(w, s->run.arch, &s->code, d);
  if (st == HD_OK) st = take(s, first, d);
  if (st == HD_OK)
    *out = s;
  else
    hd_study_close(s);
  return st;
}

hd_status hd_study_open(const hd_workload *w, const hd_run_options *o, hd_study **out, hd_diag *d) {
  return study_open(w, o, NULL, out, d);
}

void hd_study_close(hd_study *s) {
  if (!s) return;
  for (uint32_t i = 0; s->traces && i < s->w->n_launches; i++)
    if (s->traces[i]) hd_trace_destroy(s->traces[i]);
  close_memo(s->memo);
  hd_arena_free(&s->arena);
  free(s);
}

const hd_trace *hd_study_trace(const hd_study *s, uint32_t launch) { return s->traces[launch]; }

uint32_t hd_study_busiest(const hd_study *s) {
  uint32_t most = 0;
  for (uint32_t i = 1; i < s->w->n_launches; i++)
    if (hd_trace_get_info(hd_study_trace(s, i)).warp_accesses >
        hd_trace_get_info(hd_study_trace(s, most)).warp_accesses)
      most = i;
  return most;
}
double hd_study_seconds(const hd_study *s) { return s->seconds; }
const hd_reuse_array *hd_study_arrays(const hd_study *s, uint32_t *n) {
  if (n) *n = s->w->n_buffers;
  return s->arrays;
}

/* ---- Sources of studies -------------------------------------------------------------------- */

hd_status study_source_get(study_source *s, const hd_study **out, hd_diag *d) {
  hd_status st = HD_OK;
  bool fits = s->given && s->given->code == s->code;
  if (!fits && !s->own) st = hd_study_open(s->code->workload, &s->run, &s->own, d);
  *out = fits ? s->given : s->own;
  return st;
}

void study_source_close(study_source *s) { hd_study_close(s->own); }
