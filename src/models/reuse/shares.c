/* Shares of reuse, footprints, work; distances in a second walk. */
#include <string.h>

#include "heddle/reuse.h"
#include "reuse/arrays.h"
#include "reuse/distance.h"
#include "reuse/lines.h"

enum {
  WORD = 4, /* bytes */
  DEFAULT_LINE = 128,
};
static const uint64_t default_distance_budget = 4 << 20;

/* The task and warp that named a granule last, in the walk by task number. */
typedef struct granule {
  uint32_t task; /* + 1; 0: none yet */
  uint16_t warp;
  uint16_t flags;
  uint32_t event; /* number of the access, cut to 32 bits: one access names a granule once */
} granule;

enum { SHARED = 1, WRITTEN = 2, WRITTEN_SHARED = 4 };

typedef struct measuring {
  reuse_arrays arrays;
  uint32_t line, words; /* bytes and words of a line */
  hd_reuse *out;
  reuse_lines lines;
  HD_VEC(granule) line_state;
  HD_VEC(granule) word_state;  /* `words` for each line */
  HD_VEC(uint32_t) line_array; /* row of each line: where its first request lay */
  uint32_t *footprint;         /* per task */
  uint32_t event;
  /* distances */
  reuse_distance distance;
  uint64_t sample_below; /* lines whose hash is below are followed; 0: all */
  bool failed;
} measuring;

/* ---- Shares -------------------------------------------------------------------------- */

typedef enum request_kind { COLD, INTRA_WARP, INTRA_CTA, INTER_CTA, SAME_ACCESS } request_kind;

static request_kind request(granule *g, const hd_trace_event *e, uint32_t event) {
  uint32_t task = (uint32_t)e->task + 1;
  if (g->task == task && g->warp == e->warp && g->event == event) return SAME_ACCESS;
  request_kind kind = !g->task             ? COLD
                      : g->task != task    ? INTER_CTA
                      : g->warp != e->warp ? INTRA_CTA
                                           : INTRA_WARP;
  g->task = task;
  g->warp = (uint16_t)e->warp;
  g->event = event;
  return kind;
}

static void count(hd_reuse_shares *s, request_kind kind) {
  s->requests++;
  s->cold += kind == COLD;
  s->intra_warp += kind == INTRA_WARP;
  s->intra_cta += kind == INTRA_CTA;
  s->inter_cta += kind == INTER_CTA;
}

static bool new_line(measuring *m, uint32_t row) {
  static const granule fresh = {0};
  if (!hd_vec_push(&m->line_state, fresh) || !hd_vec_push(&m->line_array, row) ||
      !hd_vec_reserve(&m->word_state, m->word_state.n + m->words))
    return false;
  memset(m->word_state.data + m->word_state.n, 0, m->words * sizeof *m->word_state.data);
  m->word_state.n += m->words;
  return true;
}

static void count_line(measuring *m, const hd_trace_event *e, uint32_t number, request_kind kind,
                       hd_reuse_row *row) {
  granule *g = &m->line_state.data[number];
  row->load_requests += e->kind == HD_ACCESS_LOAD || e->kind == HD_ACCESS_PREFETCH;
  row->store_requests += e->kind == HD_ACCESS_STORE;
  row->atomic_requests += e->kind == HD_ACCESS_ATOMIC;
  if (kind == COLD) row->distinct_lines++;
  if (kind == COLD || kind == INTER_CTA) m->footprint[e->task]++;
  if (kind == INTER_CTA && !(g->flags & SHARED)) {
    g->flags |= SHARED;
    row->shared_lines++;
  }
  if (e->kind == HD_ACCESS_STORE || e->kind == HD_ACCESS_ATOMIC) g->flags |= WRITTEN;
  if ((g->flags & (SHARED | WRITTEN | WRITTEN_SHARED)) == (SHARED | WRITTEN)) {
    g->flags |= WRITTEN_SHARED;
    row->written_shared_lines++;
  }
}

static void share_line(measuring *m, const hd_trace_event *e, uint64_t line, uint64_t from, uint64_t to) {
  size_t known = m->lines.n;
  uint32_t number = reuse_lines_number(&m->lines, line);
  if (number == UINT32_MAX || (m->lines.n > known && !new_line(m, reuse_arrays_find(&m->arrays, from)))) {
    m->failed = true;
    return;
  }
  uint32_t a = m->line_array.data[number];
  hd_reuse_row *row = &m->out->arrays[a];
  request_kind kind = request(&m->line_state.data[number], e, m->event);
  if (kind != SAME_ACCESS) {
    count(&row->lines, kind);
    count_line(m, e, number, kind, row);
  }
  uint64_t base = line * m->line;
  for (uint64_t w = (from - base) / WORD; w <= (to - 1 - base) / WORD; w++) {
    request_kind of_word = request(&m->word_state.data[(size_t)number * m->words + w], e, m->event);
    if (of_word != SAME_ACCESS) count(&row->words, of_word);
  }
}

static void on_share(void *ctx, const hd_trace_event *e) {
  measuring *m = ctx;
  m->event++;
  for (uint32_t i = 0; i < e->n && !m->failed; i++) {
    uint64_t from = e->start[i], end = from + e->bytes[i];
    while (from < end && !m->failed) {
      uint64_t line = from / m->line, to = (line + 1) * m->line;
      share_line(m, e, line, from, to < end ? to : end);
      from = to;
    }
  }
}

/* ---- Distances ------------------------------------------------------------------------- */

static uint64_t scramble(uint64_t x) { return hd_random_at(x, 0); }

static unsigned bucket_of(uint64_t distance) {
  return distance ? 64 - (unsigned)__builtin_clzll(distance) : 0;
}

static void distance_line(measuring *m, const hd_trace_event *e, uint64_t line, uint64_t from) {
  if (m->sample_below && scramble(line) >= m->sample_below) return;
  uint32_t number = reuse_lines_number(&m->lines, line);
  static const granule fresh = {0};
  if (number == UINT32_MAX || (number == m->line_state.n && !hd_vec_push(&m->line_state, fresh))) {
    m->failed = true;
    return;
  }
  request_kind kind = request(&m->line_state.data[number], e, m->event);
  if (kind == SAME_ACCESS) return;
  int64_t distance = reuse_distance_next(&m->distance, number);
  if (distance == -2) m->failed = true;
  if (distance < 0) return;
  hd_reuse_row *row = &m->out->arrays[reuse_arrays_find(&m->arrays, from)];
  uint64_t scaled = m->sample_below ? (uint64_t)((double)distance / m->out->sampled) : (uint64_t)distance;
  unsigned b = bucket_of(scaled);
  if (b >= HD_REUSE_BUCKETS) b = HD_REUSE_BUCKETS - 1;
  if (kind == INTER_CTA)
    row->inter_distance[b]++;
  else
    row->intra_distance[b]++;
}

static void on_distance(void *ctx, const hd_trace_event *e) {
  measuring *m = ctx;
  m->event++;
  for (uint32_t i = 0; i < e->n && !m->failed; i++) {
    uint64_t from = e->start[i], end = from + e->bytes[i];
    for (; from < end && !m->failed; from = (from / m->line + 1) * m->line)
      distance_line(m, e, from / m->line, from);
  }
}

static void scale(uint64_t *bucket, double by) {
  for (unsigned i = 0; i < HD_REUSE_BUCKETS; i++) bucket[i] = (uint64_t)((double)bucket[i] * by + 0.5);
}

static hd_status measure_distances(measuring *m, const hd_trace *t, const hd_reuse_options *o, hd_diag *d) {
  uint64_t budget = o->distance_budget ? o->distance_budget : default_distance_budget;
  uint64_t requests = m->out->all.lines.requests, tasks = hd_trace_tasks(t);
  m->out->sampled = 1;
  m->sample_below = 0;
  if (requests > budget) {
    m->out->sampled = (double)budget / (double)requests;
    m->sample_below = (uint64_t)(m->out->sampled * 0x1p64);
  }
  reuse_lines_free(&m->lines);
  m->line_state.n = 0;
  m->event = 0;
  hd_status st = HD_OK;
  if (o->order && o->order->n != tasks)
    return hd_fail(d, HD_ERR_USAGE, "the order has %llu tasks, the trace %llu",
                   (unsigned long long)o->order->n, (unsigned long long)tasks);
  if (!o->order) st = hd_trace_walk(t, 0, tasks, on_distance, m, d);
  for (uint64_t p = 0; o->order && st == HD_OK && p < tasks; p++)
    st = hd_trace_walk(t, o->order->task[p], 1, on_distance, m, d);
  for (uint32_t a = 0; a <= m->out->n_arrays; a++) {
    scale(m->out->arrays[a].inter_distance, 1 / m->out->sampled);
    scale(m->out->arrays[a].intra_distance, 1 / m->out->sampled);
  }
  return st;
}

/* ---- Sums ------------------------------------------------------------------------------ */

static void add_shares(hd_reuse_shares *sum, const hd_reuse_shares *s) {
  sum->requests += s->requests;
  sum->cold += s->cold;
  sum->intra_warp += s->intra_warp;
  sum->intra_cta += s->intra_cta;
  sum->inter_cta += s->inter_cta;
}

static void add_row(hd_reuse_row *sum, const hd_reuse_row *r) {
  add_shares(&sum->lines, &r->lines);
  add_shares(&sum->words, &r->words);
  sum->load_requests += r->load_requests;
  sum->store_requests += r->store_requests;
  sum->atomic_requests += r->atomic_requests;
  sum->distinct_lines += r->distinct_lines;
  sum->shared_lines += r->shared_lines;
  sum->written_shared_lines += r->written_shared_lines;
  for (unsigned i = 0; i < HD_REUSE_BUCKETS; i++) {
    sum->inter_distance[i] += r->inter_distance[i];
    sum->intra_distance[i] += r->intra_distance[i];
  }
}

static void sum_arrays(hd_reuse *r) {
  memset(&r->all, 0, sizeof r->all);
  for (uint32_t a = 0; a <= r->n_arrays; a++) add_row(&r->all, &r->arrays[a]);
}

static void add_spread(hd_reuse_spread *sum, const hd_reuse_spread *s) {
  if (s->least < sum->least) sum->least = s->least;
  if (s->most > sum->most) sum->most = s->most;
  if (s->median_tasks > sum->median_tasks) {
    sum->median = s->median;
    sum->median_tasks = s->median_tasks;
  }
  double total = sum->mean * (double)sum->tasks + s->mean * (double)s->tasks;
  sum->tasks += s->tasks;
  sum->mean = sum->tasks ? total / (double)sum->tasks : 0;
}

void hd_reuse_add(hd_reuse *sum, const hd_reuse *r) {
  for (uint32_t a = 0; a <= sum->n_arrays && a <= r->n_arrays; a++) add_row(&sum->arrays[a], &r->arrays[a]);
  add_row(&sum->all, &r->all);
  add_spread(&sum->footprint, &r->footprint);
  add_spread(&sum->work, &r->work);
  if (r->sampled < sum->sampled) sum->sampled = r->sampled;
}

static int compare_u64(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

static void spread_of(uint64_t *values, uint64_t n, hd_reuse_spread *out) {
  double sum = 0;
  qsort(values, n, sizeof *values, compare_u64);
  for (uint64_t i = 0; i < n; i++) sum += (double)values[i];
  *out = (hd_reuse_spread){.tasks = n,
                           .least = values[0],
                           .median = values[n / 2],
                           .most = values[n - 1],
                           .median_tasks = n,
                           .mean = sum / (double)n};
}

static hd_status measure_spreads(measuring *m, const hd_trace *t, hd_diag *d) {
  uint64_t n = hd_trace_tasks(t), *values = malloc(n * sizeof *values);
  if (!values) return hd_nomem(d);
  for (uint64_t i = 0; i < n; i++) values[i] = m->footprint[i];
  spread_of(values, n, &m->out->footprint);
  for (uint64_t i = 0; i < n; i++) values[i] = hd_trace_task_instructions(t, i);
  spread_of(values, n, &m->out->work);
  free(values);
  return HD_OK;
}

static hd_status measure(measuring *m, const hd_trace *t, const hd_reuse_array *arrays,
                         const hd_reuse_options *o, hd_diag *d) {
  uint64_t tasks = hd_trace_tasks(t);
  if (tasks >= UINT32_MAX) return hd_fail(d, HD_ERR_UNSUPPORTED, "too many tasks to measure their reuse");
  m->out->arrays = calloc((size_t)m->out->n_arrays + 1, sizeof *m->out->arrays);
  m->footprint = calloc(tasks, sizeof *m->footprint);
  if (!m->out->arrays || !m->footprint) return hd_nomem(d);
  hd_status st = reuse_arrays_open(&m->arrays, arrays, m->out->n_arrays, d);
  if (st == HD_OK) st = hd_trace_walk(t, 0, tasks, on_share, m, d);
  if (st == HD_OK && !m->failed) st = measure_spreads(m, t, d);
  if (st == HD_OK && !m->failed) {
    sum_arrays(m->out);
    st = measure_distances(m, t, o, d);
  }
  if (st == HD_OK && m->failed) st = hd_fail(d, HD_ERR_NOMEM, "out of memory while measuring reuse");
  if (st == HD_OK) sum_arrays(m->out);
  return st;
}

hd_status hd_reuse_measure(const hd_trace *t, const hd_reuse_array *arrays, uint32_t n,
                           const hd_reuse_options *o, hd_reuse *out, hd_diag *d) {
  static const hd_reuse_options defaults = {0};
  memset(out, 0, sizeof *out);
  if (!o) o = &defaults;
  uint32_t line = o->line ? o->line : DEFAULT_LINE;
  if (line < 32 || line > 256 || (line & (line - 1)))
    return hd_fail(d, HD_ERR_USAGE, "a line of %u bytes: 32, 64, 128 or 256", line);
  measuring m = {.line = line, .words = line / WORD, .out = out};
  out->n_arrays = n;
  hd_status st = measure(&m, t, arrays, o, d);
  reuse_lines_free(&m.lines);
  reuse_distance_free(&m.distance);
  hd_vec_free(&m.line_state);
  hd_vec_free(&m.word_state);
  hd_vec_free(&m.line_array);
  reuse_arrays_close(&m.arrays);
  free(m.footprint);
  if (st != HD_OK) hd_reuse_free(out);
  return st;
}

void hd_reuse_free(hd_reuse *r) {
  free(r->arrays);
  *r = (hd_reuse){0};
}
