/* How accesses coalesce; whether a CTA makes the accesses of the CTA before it, moved. */
#include <stdlib.h>
#include <string.h>

#include "heddle/sharing.h"
#include "reuse/arrays.h"

enum {
  SECTOR = 32,
  LINE = 128,
  RUN = 64, /* neighbouring CTAs looked at together */
  KNOWN = 4 /* distances: instructions that access one array may each have their own */
};
static const uint64_t default_tasks = 1024;

/* One access: where its first byte lies and what it looks like from there. */
typedef struct place {
  uint64_t start, shape;
} place;

/* The accesses of one warp to one array. */
typedef HD_VEC(place) places;

/* How far a CTA's accesses to one array were moved from those of the CTA before. */
typedef struct moves {
  uint64_t distance[KNOWN];
  uint32_t n;
} moves;

typedef struct matching {
  reuse_arrays arrays;
  hd_pattern *out;
  uint64_t warps;
  places *now, *before;        /* [warp * (arrays + 1) + array]; before: of the CTA before */
  moves *moved, *moved_before; /* per array; before: of the CTA before */
  uint64_t task;
  uint32_t position;  /* of the CTA in its run */
  bool count, failed; /* count: totals too, not only compared accesses */
} matching;

static uint64_t shape_of(const hd_trace_event *e) {
  uint64_t h = (uint64_t)e->kind << 32 | e->n;
  for (uint32_t i = 0; i < e->n; i++) h = hd_random_at(h, (e->start[i] - e->start[0]) << 8 | e->bytes[i]);
  return h;
}

static int ascending(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Distinct granules that the access touches: few, and mostly in order. */
static uint64_t granules(const hd_trace_event *e, uint64_t size) {
  uint64_t sorted[HD_WARP], n = 0, next = 0;
  uint32_t bytes[HD_WARP];
  bool in_order = true;
  for (uint32_t i = 1; i < e->n; i++) in_order &= e->start[i] >= e->start[i - 1];
  if (in_order) {
    for (uint32_t i = 0; i < e->n; i++) {
      uint64_t first = e->start[i] / size, end = (e->start[i] + e->bytes[i] - 1) / size + 1;
      if (first < next) first = next;
      if (end > first) n += end - first, next = end;
    }
    return n;
  }
  for (uint32_t i = 0; i < e->n; i++) sorted[i] = e->start[i] << 6 | i; /* addresses are below 2^37 */
  qsort(sorted, e->n, sizeof *sorted, ascending);
  for (uint32_t i = 0; i < e->n; i++) bytes[i] = e->bytes[sorted[i] & 63];
  for (uint32_t i = 0; i < e->n; i++) {
    uint64_t start = sorted[i] >> 6, first = start / size, end = (start + bytes[i] - 1) / size + 1;
    if (first < next) first = next;
    if (end > first) n += end - first, next = end;
  }
  return n;
}

static bool has(const moves *p, uint64_t distance) {
  for (uint32_t i = 0; i < p->n; i++)
    if (p->distance[i] == distance) return true;
  return false;
}

static void count_access(hd_pattern_row *row, const hd_trace_event *e) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < e->n; i++) bytes += e->bytes[i];
  row->accesses++;
  row->bytes += bytes;
  row->sectors += granules(e, SECTOR);
  row->least_sectors += (bytes + SECTOR - 1) / SECTOR;
  row->lines += granules(e, LINE);
  row->least_lines += (bytes + LINE - 1) / LINE;
}

static void on_access(void *ctx, const hd_trace_event *e) {
  matching *m = ctx;
  uint32_t array = reuse_arrays_find(&m->arrays, e->start[0]);
  hd_pattern_row *row = &m->out->arrays[array];
  if (m->count) count_access(row, e);
  size_t at = (size_t)e->warp * (m->out->n_arrays + 1) + array;
  place p = {e->start[0], shape_of(e)};
  places *own = &m->now[at];
  const places *other = &m->before[at];
  if (!hd_vec_push(own, p)) m->failed = true;
  if (!m->position || m->failed) return;
  size_t k = own->n - 1;
  bool alike = k < other->n && other->data[k].shape == p.shape;
  uint64_t distance = alike ? p.start - other->data[k].start : 0;
  moves *moved = &m->moved[array];
  if (alike && moved->n < KNOWN && !has(moved, distance)) moved->distance[moved->n++] = distance;
  if (m->position < 2) return;
  row->compared++;
  row->followed += alike && has(&m->moved_before[array], distance);
}

/* n CTAs from `first` on, `step` apart. */
static hd_status walk_run(matching *m, const hd_trace *t, uint64_t first, uint64_t step, uint64_t n,
                          hd_diag *d) {
  size_t arrays = (size_t)m->out->n_arrays + 1, streams = m->warps * arrays;
  hd_status st = HD_OK;
  for (m->position = 0; st == HD_OK && m->position < n; m->position++) {
    for (size_t k = 0; k < streams; k++) m->now[k].n = 0;
    memset(m->moved, 0, arrays * sizeof *m->moved);
    st = hd_trace_walk(t, first + m->position * step, 1, on_access, m, d);
    places *places_before = m->before;
    moves *moves_before = m->moved_before;
    m->before = m->now;
    m->now = places_before;
    m->moved_before = m->moved;
    m->moved = moves_before;
  }
  if (st == HD_OK && m->failed) st = hd_fail(d, HD_ERR_NOMEM, "out of memory while comparing CTAs");
  return st;
}

/* Runs along dimension k, spread over the launch, of `tasks` CTAs in all. */
static hd_status walk_along(matching *m, const hd_trace *t, const uint32_t grid[3], unsigned k,
                            uint64_t tasks, hd_diag *d) {
  uint64_t step[3] = {1, grid[0], (uint64_t)grid[0] * grid[1]}, all = hd_trace_tasks(t);
  uint64_t length = grid[k] < RUN ? grid[k] : RUN, lines = all / grid[k];
  uint64_t pieces = grid[k] / length, runs = tasks / length ? tasks / length : 1;
  if (runs > lines * pieces) runs = lines * pieces;
  hd_status st = HD_OK;
  for (uint64_t i = 0; st == HD_OK && i < runs; i++) {
    uint64_t number = (uint64_t)((double)(lines * pieces) * (double)i / (double)runs);
    uint64_t line = number / pieces, piece = number % pieces;
    uint64_t first = line % step[k] + line / step[k] * step[k] * grid[k] + piece * length * step[k];
    uint64_t n = runs == lines * pieces && piece + 1 == pieces ? grid[k] - piece * length : length;
    st = walk_run(m, t, first, step[k], n, d);
  }
  return st;
}

static double regularity(const hd_pattern *p) {
  uint64_t compared = 0, followed = 0;
  for (uint32_t a = 0; a <= p->n_arrays; a++) {
    compared += p->arrays[a].compared;
    followed += p->arrays[a].followed;
  }
  return compared ? (double)followed / (double)compared : -1;
}

/* Edges of the grid break the regularity of short rows, or of short columns: the best direction counts. */
static hd_status walk_all(matching *m, const hd_trace *t, const uint32_t grid[3], uint64_t tasks,
                          hd_diag *d) {
  hd_pattern *out = m->out;
  hd_pattern_row *best = calloc((size_t)out->n_arrays + 1, sizeof *best);
  if (!best) return hd_nomem(d);
  double best_regularity = -2;
  hd_status st = HD_OK;
  for (unsigned k = 0; st == HD_OK && k < 3; k++) {
    if (k > 0 && grid[k] < 3) continue;
    for (uint32_t a = 0; a <= out->n_arrays; a++) out->arrays[a].compared = out->arrays[a].followed = 0;
    m->count = k == 0;
    st = walk_along(m, t, grid, k, tasks, d);
    if (regularity(out) <= best_regularity) continue;
    best_regularity = regularity(out);
    memcpy(best, out->arrays, ((size_t)out->n_arrays + 1) * sizeof *best);
  }
  for (uint32_t a = 0; a <= out->n_arrays; a++) {
    out->arrays[a].compared = best[a].compared;
    out->arrays[a].followed = best[a].followed;
  }
  free(best);
  return st;
}

void hd_pattern_add(hd_pattern_row *sum, const hd_pattern_row *r) {
  sum->accesses += r->accesses;
  sum->bytes += r->bytes;
  sum->sectors += r->sectors;
  sum->least_sectors += r->least_sectors;
  sum->lines += r->lines;
  sum->least_lines += r->least_lines;
  sum->compared += r->compared;
  sum->followed += r->followed;
}

hd_status hd_pattern_measure(const hd_trace *t, const uint32_t grid[3], const hd_reuse_array *arrays,
                             uint32_t n, uint64_t tasks, hd_pattern *out, hd_diag *d) {
  *out = (hd_pattern){.n_arrays = n};
  uint64_t V;
  if (!hd_grid_tasks(grid, &V) || V != hd_trace_tasks(t))
    return hd_fail(d, HD_ERR_USAGE, "the grid is not that of the trace");
  matching m = {.out = out, .warps = hd_trace_get_info(t).warps_per_task};
  size_t streams = m.warps * ((size_t)n + 1);
  out->arrays = calloc((size_t)n + 1, sizeof *out->arrays);
  m.now = calloc(streams + 1, sizeof *m.now);
  m.before = calloc(streams + 1, sizeof *m.before);
  m.moved = calloc((size_t)n + 1, sizeof *m.moved);
  m.moved_before = calloc((size_t)n + 1, sizeof *m.moved_before);
  hd_status st = out->arrays && m.now && m.before && m.moved && m.moved_before ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = reuse_arrays_open(&m.arrays, arrays, n, d);
  if (st == HD_OK) st = walk_all(&m, t, grid, tasks ? tasks : default_tasks, d);
  for (uint32_t a = 0; st == HD_OK && a <= n; a++) hd_pattern_add(&out->all, &out->arrays[a]);
  for (size_t k = 0; m.now && m.before && k < streams; k++) {
    hd_vec_free(&m.now[k]);
    hd_vec_free(&m.before[k]);
  }
  free(m.now);
  free(m.before);
  free(m.moved);
  free(m.moved_before);
  reuse_arrays_close(&m.arrays);
  if (st != HD_OK) hd_pattern_free(out);
  return st;
}

void hd_pattern_free(hd_pattern *p) {
  free(p->arrays);
  *p = (hd_pattern){0};
}
