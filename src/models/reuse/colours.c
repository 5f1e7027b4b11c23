/* Groups of CTAs by where the lines lie that they share: every (CTA, line) pair, in order of the CTAs. */
#include <stdlib.h>

#include "heddle/sharing.h"
#include "reuse/arrays.h"
#include "reuse/lines.h"

enum { MAX_SAMPLING = 40 };
static const uint64_t most_pairs = 4 << 20;

typedef struct pair {
  uint32_t line, task; /* numbers */
} pair;

typedef struct line_state {
  uint64_t key;
  uint32_t array;
  uint32_t users, last; /* CTAs that name it, and the latest of them */
  uint64_t requests;    /* of warps' accesses */
  uint32_t once, twice; /* groups of which one, several of these are */
} line_state;

typedef struct collecting {
  reuse_arrays arrays;
  uint32_t line, task;
  unsigned sampling; /* lines whose hash has this many low bits clear are followed */
  reuse_lines numbers;
  HD_VEC(line_state) lines;
  HD_VEC(pair) pairs;
  bool failed;
} collecting;

/* ---- Collecting -------------------------------------------------------------------- */

static bool followed(const collecting *c, uint64_t line) {
  return (hd_random_at(line, 2) & ((1ull << c->sampling) - 1)) == 0;
}

static void drop_lines(collecting *c) {
  while (c->pairs.n > most_pairs && c->sampling < MAX_SAMPLING) {
    size_t left = 0;
    c->sampling++;
    for (size_t i = 0; i < c->pairs.n; i++)
      if (followed(c, c->lines.data[c->pairs.data[i].line].key)) c->pairs.data[left++] = c->pairs.data[i];
    c->pairs.n = left;
  }
}

static void note(collecting *c, uint64_t line, uint64_t address) {
  if (!followed(c, line)) return;
  const uint32_t number = reuse_lines_number(&c->numbers, line);
  const line_state fresh = {.key = line, .last = UINT32_MAX};
  if (number == UINT32_MAX || (number == c->lines.n && !hd_vec_push(&c->lines, fresh))) {
    c->failed = true;
    return;
  }
  line_state *l = &c->lines.data[number];
  if (!l->users) l->array = reuse_arrays_find(&c->arrays, address);
  l->requests++;
  if (l->last == c->task) return;
  l->last = c->task;
  l->users++;
  const pair one = {number, c->task};
  if (!hd_vec_push(&c->pairs, one)) c->failed = true;
  if (c->pairs.n > most_pairs) drop_lines(c);
}

static void on_access(void *ctx, const hd_trace_event *e) {
  collecting *c = ctx;
  for (uint32_t i = 0; i < e->n; i++) {
    const uint64_t end = e->start[i] + e->bytes[i];
    for (uint64_t at = e->start[i]; at < end && !c->failed; at = (at / c->line + 1) * c->line)
      note(c, at / c->line, at);
  }
}

/* ---- Grouping ------------------------------------------------------------------------ */

/* Where a task's shared lines of an array lie, on average. */
typedef struct place {
  double mean;
  uint64_t sum, n;
  uint32_t task;
} place;

static int by_place(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->mean != y->mean) return x->mean < y->mean ? -1 : 1;
  return x->task < y->task ? -1 : x->task > y->task;
}

/* A group for each place, or, where there are too many, as many tasks in each; a place is never divided. */
static void group(place *places, uint32_t n, hd_colouring *out) {
  uint32_t sharing = 0, distinct = 0, at = 0;
  for (uint32_t i = 0; i < n; i++) {
    if (!places[i].n) continue;
    places[i].mean = (double)places[i].sum / (double)places[i].n;
    places[sharing++] = places[i];
  }
  qsort(places, sharing, sizeof *places, by_place);
  for (uint32_t i = 0; i < sharing; i++) distinct += !i || places[i].mean != places[i - 1].mean;
  for (uint32_t i = 0, seen = 0; i < sharing; i++) {
    const bool other = i && places[i].mean != places[i - 1].mean;
    seen += other;
    if (other) at = distinct <= HD_COLOURS ? seen : (uint32_t)((uint64_t)i * HD_COLOURS / sharing);
    out->of[places[i].task] = (uint8_t)at;
    if (out->n < at + 1) out->n = at + 1;
  }
}

/* The pairs of an array whose lines others of the same group have. */
static void count_within(collecting *c, hd_colouring *out) {
  for (size_t i = 0; i < c->lines.n; i++)
    if (c->lines.data[i].array == out->array && c->lines.data[i].users >= 2 &&
        followed(c, c->lines.data[i].key))
      out->requests += c->lines.data[i].requests << c->sampling;
  for (size_t i = 0; i < c->pairs.n; i++) {
    line_state *l = &c->lines.data[c->pairs.data[i].line];
    if (l->array != out->array || l->users < 2) continue;
    const uint32_t bit = 1u << out->of[c->pairs.data[i].task];
    out->uses++;
    out->within += l->twice & bit ? 1 : l->once & bit ? 2 : 0;
    l->twice |= l->once & bit;
    l->once |= bit;
  }
}

static hd_status colour(collecting *c, uint32_t n, uint32_t n_arrays, hd_colouring *out, hd_diag *d) {
  place *places = calloc((size_t)n + 1, sizeof *places);
  for (uint32_t a = 0; places && a <= n_arrays; a++) {
    out[a].array = a;
    if (!(out[a].of = malloc((size_t)n + 1))) break;
    for (uint32_t i = 0; i < n; i++) {
      places[i] = (place){.task = i};
      out[a].of[i] = HD_NO_COLOUR;
    }
    for (size_t i = 0; i < c->pairs.n; i++) {
      const line_state *l = &c->lines.data[c->pairs.data[i].line];
      if (l->array != a || l->users < 2) continue;
      places[c->pairs.data[i].task].sum += l->key;
      places[c->pairs.data[i].task].n++;
    }
    group(places, n, &out[a]);
    count_within(c, &out[a]);
  }
  const bool ok = places && out[n_arrays].of;
  free(places);
  return ok ? HD_OK : hd_nomem(d);
}

static int by_use(const void *a, const void *b) {
  const hd_colouring *x = a, *y = b;
  if ((x->n > 1) != (y->n > 1)) return x->n > 1 ? -1 : 1;
  if (x->within != y->within) return x->within > y->within ? -1 : 1;
  return x->array < y->array ? -1 : x->array > y->array;
}

/* ---- All of it -------------------------------------------------------------------------- */

hd_status hd_sharing_colour(const hd_trace *t, const uint64_t *tasks, uint32_t n,
                            const hd_reuse_array *arrays, uint32_t n_arrays, uint32_t line,
                            hd_colouring **out, hd_diag *d) {
  *out = calloc((size_t)n_arrays + 1, sizeof **out);
  if (!*out) return hd_nomem(d);
  collecting c = {.line = line ? line : 128};
  hd_status st = reuse_arrays_open(&c.arrays, arrays, n_arrays, d);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    c.task = i;
    if (hd_trace_has(t, tasks[i])) st = hd_trace_walk(t, tasks[i], 1, on_access, &c, d);
  }
  if (st == HD_OK && c.failed)
    st = hd_fail(d, HD_ERR_NOMEM, "out of memory while looking for what CTAs share");
  if (st == HD_OK) st = colour(&c, n, n_arrays, *out, d);
  if (st == HD_OK) qsort(*out, (size_t)n_arrays + 1, sizeof **out, by_use);
  reuse_arrays_close(&c.arrays);
  reuse_lines_free(&c.numbers);
  hd_vec_free(&c.lines);
  hd_vec_free(&c.pairs);
  if (st == HD_OK) return HD_OK;
  hd_colourings_free(*out, n_arrays);
  *out = NULL;
  return st;
}

void hd_colourings_free(hd_colouring *c, uint32_t n_arrays) {
  for (uint32_t a = 0; c && a <= n_arrays; a++) free(c[a].of);
  free(c);
}
