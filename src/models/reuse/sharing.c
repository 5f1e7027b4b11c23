/* Lines that several CTAs name: every (CTA, line) pair with the words it uses, sorted by line. */
#include "heddle/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "reuse/arrays.h"
#include "reuse/lines.h"

enum { WORD = 4, DEFAULT_LINE = 128, MAX_SAMPLING = 40 };
static const uint64_t default_budget = 8 << 20;

typedef struct pair {
  uint32_t line; /* number */
  uint32_t task;
  uint32_t read, written; /* bit per word of the line */
} pair;

typedef struct line_state {
  uint64_t key;
  uint64_t last; /* pair of the task that named it last; UINT64_MAX: none */
  uint32_t array;
} line_state;

/* Pairs come in ascending order of their tasks. */
typedef struct collecting {
  reuse_arrays arrays;
  uint32_t line;
  uint64_t budget;
  unsigned sampling; /* lines whose hash has this many low bits clear are followed */
  reuse_lines numbers;
  HD_VEC(line_state) lines;
  HD_VEC(pair) pairs;
  bool failed;
} collecting;

/* ---- Collecting -------------------------------------------------------------------- */

static bool followed(const collecting *c, uint64_t line) {
  return (hd_random_at(line, 1) & ((1ull << c->sampling) - 1)) == 0;
}

static void drop_lines(collecting *c) {
  while (c->pairs.n > c->budget && c->sampling < MAX_SAMPLING) {
    c->sampling++;
    size_t out = 0;
    for (size_t i = 0; i < c->pairs.n; i++) {
      line_state *l = &c->lines.data[c->pairs.data[i].line];
      if (!followed(c, l->key)) continue;
      l->last = out;
      c->pairs.data[out++] = c->pairs.data[i];
    }
    c->pairs.n = out;
  }
}

/* Words from .. to-1 (bytes) of a line are accessed. */
static void note(collecting *c, const hd_trace_event *e, uint64_t line, uint64_t from, uint64_t to) {
  if (!followed(c, line)) return;
  uint32_t number = reuse_lines_number(&c->numbers, line);
  if (number == UINT32_MAX) {
    c->failed = true;
    return;
  }
  if (number == c->lines.n) {
    line_state fresh = {line, UINT64_MAX, reuse_arrays_find(&c->arrays, from)};
    if (!hd_vec_push(&c->lines, fresh)) {
      c->failed = true;
      return;
    }
  }
  line_state *l = &c->lines.data[number];
  uint32_t task = (uint32_t)e->task;
  if (l->last == UINT64_MAX || c->pairs.data[l->last].task != task) {
    pair fresh = {number, task, 0, 0};
    l->last = c->pairs.n;
    if (!hd_vec_push(&c->pairs, fresh)) {
      c->failed = true;
      return;
    }
  }
  uint64_t base = line * c->line, first = (from - base) / WORD, last = (to - 1 - base) / WORD;
  uint32_t words = (uint32_t)((2ull << last) - (1ull << first));
  pair *p = &c->pairs.data[l->last];
  if (e->kind != HD_ACCESS_STORE) p->read |= words;
  if (e->kind == HD_ACCESS_STORE || e->kind == HD_ACCESS_ATOMIC) p->written |= words;
  if (c->pairs.n > c->budget) drop_lines(c);
}

static void on_access(void *ctx, const hd_trace_event *e) {
  collecting *c = ctx;
  for (uint32_t i = 0; i < e->n; i++) {
    uint64_t from = e->start[i], end = from + e->bytes[i];
    while (from < end && !c->failed) {
      uint64_t line = from / c->line, to = (line + 1) * c->line;
      note(c, e, line, from, to < end ? to : end);
      from = to;
    }
  }
}

/* ---- Counting ------------------------------------------------------------------------ */

/* The pairs of one line, ascending by task. */
typedef struct sharers {
  const collecting *c;
  const uint64_t *pair;
  uint64_t n;
} sharers;

static uint32_t task_at(const sharers *s, uint64_t i) { return s->c->pairs.data[s->pair[i]].task; }

static bool names_it(const sharers *s, uint64_t task) {
  uint64_t low = 0, high = s->n;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (task_at(s, middle) < task)
      low = middle + 1;
    else
      high = middle;
  }
  return low < s->n && task_at(s, low) == task;
}

static void count_neighbours(const sharers *s, const uint32_t grid[3], hd_sharing_row *row) {
  uint64_t step[3] = {1, grid[0], (uint64_t)grid[0] * grid[1]};
  for (uint64_t i = 0; i < s->n; i++) {
    uint64_t task = task_at(s, i);
    bool near = false;
    for (unsigned k = 0; k < 3; k++) {
      uint64_t at = task / step[k] % grid[k];
      bool next = at + 1 < grid[k] && names_it(s, task + step[k]);
      row->along[k] += next;
      near |= next || (at > 0 && names_it(s, task - step[k]));
    }
    row->apart += !near;
  }
}

static void count_line(const sharers *s, uint64_t tasks, const uint32_t grid[3], hd_sharing_row *row) {
  const collecting *c = s->c;
  uint32_t once = 0, twice = 0; /* words that one task uses, that several do */
  uint64_t writers = 0, used = 0, used_shared = 0;
  for (uint64_t i = 0; i < s->n; i++) {
    const pair *p = &c->pairs.data[s->pair[i]];
    uint32_t words = p->read | p->written;
    twice |= once & words;
    once |= words;
    writers += p->written != 0;
  }
  for (uint64_t i = 0; i < s->n; i++) {
    const pair *p = &c->pairs.data[s->pair[i]];
    uint32_t words = p->read | p->written;
    used += hd_bits32(words);
    used_shared += hd_bits32(words & twice);
    row->loads += p->read != 0;
    row->stores += p->written != 0;
    row->fed += p->read && writers > (p->written != 0);
    row->skewed += (p->read & ~p->written) != 0;
  }
  row->lines++;
  row->pairs += s->n;
  if (s->n < 2) return;
  row->shared += s->n;
  if (2 * s->n >= tasks && tasks > 2) {
    row->common += s->n;
    row->common_words += used;
    row->shared_common_words += used_shared;
  } else {
    row->words += used;
    row->shared_words += used_shared;
    count_neighbours(s, grid, row);
  }
}

static hd_status count_all(collecting *c, uint64_t tasks, const uint32_t grid[3], hd_sharing *out,
                           hd_diag *d) {
  size_t n = c->lines.n;
  uint64_t *first = calloc(n + 2, sizeof *first), *sorted = malloc((c->pairs.n + 1) * sizeof *sorted);
  if (!first || !sorted) {
    free(first);
    free(sorted);
    return hd_nomem(d);
  }
  for (size_t i = 0; i < c->pairs.n; i++) first[c->pairs.data[i].line + 2]++;
  for (size_t i = 0; i < n; i++) first[i + 2] += first[i + 1];
  for (size_t i = 0; i < c->pairs.n; i++) sorted[first[c->pairs.data[i].line + 1]++] = i;
  for (size_t i = 0; i < n; i++) {
    sharers s = {c, sorted + first[i], first[i + 1] - first[i]};
    if (s.n) count_line(&s, tasks, grid, &out->arrays[c->lines.data[i].array]);
  }
  free(first);
  free(sorted);
  for (uint32_t a = 0; a <= out->n_arrays; a++) hd_sharing_add(&out->all, &out->arrays[a]);
  out->sampled = 1.0 / (double)(1ull << c->sampling);
  return HD_OK;
}

/* ---- All of it -------------------------------------------------------------------------- */

void hd_sharing_add(hd_sharing_row *sum, const hd_sharing_row *r) {
  sum->pairs += r->pairs;
  sum->lines += r->lines;
  sum->shared += r->shared;
  sum->common += r->common;
  for (unsigned k = 0; k < 3; k++) sum->along[k] += r->along[k];
  sum->apart += r->apart;
  sum->words += r->words;
  sum->common_words += r->common_words;
  sum->shared_words += r->shared_words;
  sum->shared_common_words += r->shared_common_words;
  sum->loads += r->loads;
  sum->stores += r->stores;
  sum->fed += r->fed;
  sum->skewed += r->skewed;
}

hd_status hd_sharing_measure(const hd_trace *t, const uint32_t grid[3], const hd_reuse_array *arrays,
                             uint32_t n, const hd_sharing_options *o, hd_sharing *out, hd_diag *d) {
  *out = (hd_sharing){.n_arrays = n};
  uint32_t line = o && o->line ? o->line : DEFAULT_LINE;
  uint64_t tasks = hd_trace_tasks(t), V;
  if (line != 32 && line != 64 && line != 128)
    return hd_fail(d, HD_ERR_USAGE, "a line of %u bytes: 32, 64 or 128", line);
  if (!hd_grid_tasks(grid, &V) || V != tasks)
    return hd_fail(d, HD_ERR_USAGE, "the grid is not that of the trace");
  if (tasks >= UINT32_MAX)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "too many tasks to look for what they share");
  collecting c = {.line = line, .budget = o && o->budget ? o->budget : default_budget};
  out->arrays = calloc((size_t)n + 1, sizeof *out->arrays);
  hd_status st = out->arrays ? HD_OK : hd_nomem(d);
  if (st == HD_OK) st = reuse_arrays_open(&c.arrays, arrays, n, d);
  if (st == HD_OK) st = hd_trace_walk(t, 0, tasks, on_access, &c, d);
  if (st == HD_OK && c.failed)
    st = hd_fail(d, HD_ERR_NOMEM, "out of memory while looking for what CTAs share");
  if (st == HD_OK) st = count_all(&c, tasks, grid, out, d);
  reuse_arrays_close(&c.arrays);
  reuse_lines_free(&c.numbers);
  hd_vec_free(&c.lines);
  hd_vec_free(&c.pairs);
  if (st != HD_OK) hd_sharing_free(out);
  return st;
}

void hd_sharing_free(hd_sharing *s) {
  free(s->arrays);
  *s = (hd_sharing){0};
}
