/* The traces of a workload's original kernels. */
#include "predict/study.h"

#include <stdlib.h>
#include <string.h>

static hd_status take(hd_study *s, const retrace_contents *first, hd_diag *d) {
  uint64_t *addresses = HD_NEW_N(&s->arena, (size_t)s->w->n_buffers + 1, uint64_t);
  if (!addresses) return hd_nomem(d);
  double start = hd_seconds();
  hd_status st =
      retrace_take(s->code, NULL, &s->run, s->how.timed, first, s->traces, s->shared, addresses, d);
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_buffers; i++)
    s->arrays[i] = (hd_reuse_array){s->w->buffers[i].name, addresses[i], s->w->buffers[i].bytes};
  s->seconds = hd_seconds() - start;
  return st;
}

/* Buffers that a launch can reach. */
static void mark_argument(const hd_workload *w, const hd_wl_arg *a, bool *reached) {
  if (a->is_buffer || a->tensor) reached[a->buffer] = true;
  if (a->image) reached[w->images[a->image - 1].buffer] = true;
  for (uint32_t i = 0; i < a->n_fields; i++) mark_argument(w, &a->fields[i].value, reached);
}

/* By addresses in those that it reaches; of recorded ones they may lie in any. */
static void follow_addresses(const hd_workload *w, bool *reached) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < w->n_buffers; i++)
      for (uint32_t k = 0; reached[i] && w->buffers[i].points && k < w->n_buffers; k++) {
        const bool named = w->buffers[i].pointed == i || w->buffers[i].pointed == k;
        more |= named && !reached[k];
        reached[k] |= named;
      }
  }
}

/* *bytes: what a launch can access. */
static hd_status bytes_of(const hd_workload *w, uint32_t launch, uint64_t *bytes, hd_diag *d) {
  bool *reached = calloc((size_t)w->n_buffers + 1, sizeof *reached);
  *bytes = 0;
  if (!reached) return hd_nomem(d);
  for (uint32_t i = 0; i < w->n_buffers; i++) reached[i] = w->buffers[i].variable;
  for (uint32_t i = 0; i < w->n_images; i++)
    if (w->images[i].reference) reached[w->images[i].buffer] = true;
  for (uint32_t k = 0; k < w->launches[launch].n_args; k++)
    mark_argument(w, &w->launches[launch].args[k], reached);
  follow_addresses(w, reached);
  for (uint32_t i = 0; i < w->n_buffers; i++) *bytes += reached[i] ? w->buffers[i].bytes : 0;
  free(reached);
  return HD_OK;
}

/* The tasks of all launches that a replay needs. */
static uint64_t count_tasks(const hd_study *s, hd_trace *const *traces) {
  uint64_t n = 0;
  for (uint32_t i = 0; i < s->w->n_launches; i++) {
    const uint64_t launched = hd_trace_tasks(traces[i]);
    if (!s->sample || !sample_leaves_out(s->sample, i))
      n += s->sample ? sample_size(&s->sample->launches[i], launched) : launched;
  }
  return n;
}

hd_meter study_meter(const hd_study *s) {
  return hd_meter_begin(&s->run.watch, "replaying", s->run.watch.tell ? count_tasks(s, s->traces) : 0);
}

/* A recording of the originals, with the parts that a replay of them needs. */
static hd_status record(hd_study *s, hd_diag *d) {
  const double start = hd_seconds();
  record_options how = sample_record(s->sample);
  hd_meter meter = {0};
  how.timed = s->how.timed;
  hd_status st = record_open(s->code, NULL, &s->run, &how, &s->recording, d);
  if (st == HD_OK) meter = hd_meter_begin(&s->run.watch, "tracing", count_tasks(s, s->recording->traces));
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_launches; i++) {
    const hd_wl_launch *l = &s->w->launches[i];
    const hd_replay_options original = {0};
    uint64_t *tasks, n;
    s->traces[i] = s->recording->traces[i];
    s->shared[i] = hd_emu_static_shared(s->recording->r.program, l->kernel) + l->dynamic_shared;
    if (sample_leaves_out(s->sample, i)) continue;
    st = sample_tasks(&s->sample->launches[i], &original, hd_trace_tasks(s->traces[i]), &tasks, &n, d);
    hd_trace_set_meter(s->traces[i], &meter);
    if (st == HD_OK) st = record_tasks(s->recording, i, tasks, n, s->sample->launches[i].most, d);
    hd_trace_set_meter(s->traces[i], NULL);
    free(tasks);
    uint64_t bytes = 0;
    if (st == HD_OK) st = bytes_of(s->w, i, &bytes, d);
    if (st == HD_OK) sample_learn(s->sample, i, s->traces[i], bytes);
  }
  hd_meter_end(&meter);
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_launches; i++) hd_trace_show_so_far(s->traces[i]);
  for (uint32_t i = 0; st == HD_OK && i < s->w->n_buffers; i++)
    s->arrays[i] = (hd_reuse_array){s->w->buffers[i].name, hd_trace_address(s->recording->r.addresses[i]),
                                    s->w->buffers[i].bytes};
  s->seconds += hd_seconds() - start;
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

static hd_status make_study(const hd_workload *w, const hd_run_options *run, const hd_study_options *how,
                            const retrace_contents *first, const sample *like, hd_study **out, hd_diag *d) {
  hd_study *s = calloc(1, sizeof *s);
  *out = NULL;
  if (!s) return hd_nomem(d);
  size_t n = (size_t)w->n_launches + 1;
  hd_arena_init(&s->arena);
  s->w = w;
  if (run) s->run = *run;
  if (how) s->how = *how;
  s->run.compile.arch = hd_launch_arch(NULL, s->run.compile.arch);
  s->traces = HD_NEW_N(&s->arena, n, hd_trace *);
  s->shared = HD_NEW_N(&s->arena, n, uint32_t);
  s->arrays = HD_NEW_N(&s->arena, (size_t)w->n_buffers + 1, hd_reuse_array);
  s->memo = open_memo(w);
  hd_status st = s->traces && s->shared && s->arrays && s->memo ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = hd_workload_compiled(w, s->run.compile.arch, &s->code, d);
  if (st == HD_OK && s->how.timed && !first) st = sample_make(s->code, &s->run, &s->how, like, &s->sample, d);
  if (st == HD_OK) st = s->sample ? record(s, d) : take(s, first, d);
  if (st == HD_OK) s->replay_seconds = estimate_replay(s->traces, s->sample, w->n_launches, s->how.timed);
  if (st == HD_OK)
    *out = s;
  else
    hd_study_close(s);
  return st;
}

hd_status study_open(const hd_workload *w, const hd_run_options *run, const hd_study_options *how,
                     const retrace_contents *first, hd_study **out, hd_diag *d) {
  return make_study(w, run, how, first, NULL, out, d);
}

hd_status hd_study_open_like(const hd_study *other, const hd_run_options *run, const hd_study_options *how,
                             hd_study **out, hd_diag *d) {
  const bool same = hd_launch_arch(NULL, run->compile.arch) == other->run.compile.arch;
  return make_study(other->w, run, how, NULL, same ? other->sample : NULL, out, d);
}

void study_set_threads(hd_study *s, unsigned threads) {
  s->run.machine.threads = threads;
  if (s->recording) s->recording->threads = threads;
}

void hd_study_set_until(hd_study *s, double at) { s->run.budget.until = at; }

hd_status hd_study_open(const hd_workload *w, const hd_run_options *run, const hd_study_options *how,
                        hd_study **out, hd_diag *d) {
  return study_open(w, run, how, NULL, out, d);
}

void hd_study_close(hd_study *s) {
  if (!s) return;
  for (uint32_t i = 0; s->traces && !s->recording && i < s->w->n_launches; i++)
    if (s->traces[i]) hd_trace_destroy(s->traces[i]);
  close_memo(s->memo);
  record_close(s->recording);
  sample_free(s->sample);
  hd_arena_free(&s->arena);
  free(s);
}

const hd_trace *hd_study_trace(const hd_study *s, uint32_t launch) { return s->traces[launch]; }

bool hd_study_leaves_out(const hd_study *s, uint32_t launch) {
  return s->sample && sample_leaves_out(s->sample, launch);
}

uint32_t hd_study_busiest(const hd_study *s) {
  uint32_t most = 0;
  while (most + 1 < s->w->n_launches && hd_study_leaves_out(s, most)) most++;
  for (uint32_t i = most + 1; i < s->w->n_launches; i++)
    if (!hd_study_leaves_out(s, i) && hd_trace_get_info(hd_study_trace(s, i)).warp_accesses >
                                          hd_trace_get_info(hd_study_trace(s, most)).warp_accesses)
      most = i;
  return most;
}

double hd_study_part(const hd_study *s) { return s && s->sample ? s->sample->part : 1; }
bool hd_study_leaves_ends(const hd_study *s) {
  for (uint32_t i = 0; s && s->sample && i < s->w->n_launches; i++)
    if (s->sample->launches[i].varied) return true;
  return false;
}
double hd_study_units(const hd_study *s) {
  double units = 0;
  if (s->sample) return s->sample->units;
  for (uint32_t i = 0; i < s->w->n_launches; i++) {
    const hd_trace_info info = hd_trace_get_info(s->traces[i]);
    units += sample_units_of(&info);
  }
  return units;
}
double hd_study_replay_seconds(const hd_study *s) { return s->replay_seconds; }
double hd_study_seconds(const hd_study *s) { return s->seconds; }
const hd_reuse_array *hd_study_arrays(const hd_study *s, uint32_t *n) {
  if (n) *n = s->w->n_buffers;
  return s->arrays;
}

/* ---- Sources of studies -------------------------------------------------------------------- */

hd_status study_source_get(study_source *s, const hd_study **out, hd_diag *d) {
  hd_status st = HD_OK;
  bool fits = s->given && s->given->code == s->code;
  if (!fits && !s->own) st = hd_study_open(s->code->workload, &s->run, NULL, &s->own, d);
  *out = fits ? s->given : s->own;
  return st;
}

void study_source_close(study_source *s) { hd_study_close(s->own); }
