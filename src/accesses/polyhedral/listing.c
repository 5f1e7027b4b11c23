/* The lines of each CTA as sorted intervals, and how many of them neighbours have in common. */
#include <stdlib.h>
#include <string.h>

#include "polyhedral/internal.h"

enum { POINT_STEPS = 4, RANGE_STEPS = 1, FOOTPRINT_STEPS = 50 }; /* by what they cost; an interval is 1 */

typedef struct interval {
  int64_t first, last; /* lines */
} interval;
typedef HD_VEC(interval) interval_list;

typedef struct listing {
  const polyhedral_launch *l;
  const polyhedral_site *sites;
  const polyhedral_swept *all;
  uint32_t n;
  uint64_t steps;
  uint32_t *guards; /* scratch */
  interval_list lines;
  size_t *start; /* per CTA, and one more: into lines */
  size_t from;   /* where the present CTA's begin */
  hd_polyhedral_inexact why;
} listing;

/* ---- One site, one CTA ------------------------------------------------------------------ */

typedef struct walk {
  listing *to;
  const polyhedral_site *s;
  polyhedral_footprint f;
  int64_t point[POLYHEDRAL_VARS];
} walk;

static bool stop(listing *to, hd_polyhedral_inexact why) {
  to->why = why;
  return false;
}

static bool spend(listing *to, uint64_t steps) {
  if (to->steps < steps) return stop(to, HD_INEXACT_BUDGET);
  to->steps -= steps;
  return true;
}

static int64_t line_of(int64_t address, uint32_t line) { return address >> __builtin_ctz(line); }

static bool put(walk *w, int64_t from, uint32_t dims) {
  if (dims) {
    const polyhedral_dim *d = &w->f.dims[dims - 1];
    for (int64_t i = 0; i < d->n; i++)
      if (!put(w, from + i * d->stride, dims - 1)) return false;
    return true;
  }
  listing *to = w->to;
  interval one = {line_of(from, to->l->line), line_of(from + w->f.width - 1, to->l->line)};
  if (!spend(to, 1)) return false;
  if (to->lines.n > to->from) {
    const interval last = to->lines.data[to->lines.n - 1];
    if (last.first <= one.first && last.last >= one.last) return true;
  }
  return hd_vec_push(&to->lines, one) || stop(to, HD_INEXACT_BUDGET);
}

/* Checks the assumptions that must hold behind `first` to `last` guards. */
static bool assumptions_hold(walk *w, uint32_t first, uint32_t last) {
  const polyhedral_site *s = w->s;
  for (uint32_t i = 0; i < s->n_assumed && w->f.n_assumed; i++) {
    const polyhedral_condition *c = &s->assumed[i];
    int64_t v;
    if (c->after < first || c->after > last) continue;
    if (!polyhedral_value(&s->forms, c->form, w->point, &v) || v < c->lo || v > c->hi)
      return stop(w->to, HD_INEXACT_ASSUMPTION);
  }
  return true;
}

static bool at_point(walk *w) {
  const polyhedral_site *s = w->s;
  int64_t v, address = w->f.address.constant;
  if (!spend(w->to, POINT_STEPS)) return false;
  uint32_t passed = 0; /* guards; those that are not left hold */
  for (uint32_t i = 0; i < w->f.n_guards; i++) {
    uint32_t guard = w->f.guards[i];
    if (!assumptions_hold(w, passed, guard)) return false;
    if (!polyhedral_value(&s->forms, s->guards[guard], w->point, &v)) return stop(w->to, HD_INEXACT_OVERFLOW);
    if (!v) return true;
    passed = guard + 1;
  }
  if (!assumptions_hold(w, passed, s->n_guards)) return false;
  for (uint32_t i = POLYHEDRAL_TID; i < s->n_vars; i++) address += w->f.address.coefficient[i] * w->point[i];
  for (uint32_t i = 0; i < w->f.address.n_functions; i++) {
    if (!polyhedral_function_value(&s->forms, w->f.address.function[i], w->point, &v))
      return stop(w->to, HD_INEXACT_OVERFLOW);
    address += w->f.address.times[i] * v;
  }
  return put(w, address, w->f.n_dims);
}

static bool walk_variable(walk *w, uint32_t v) {
  for (; v < w->s->n_vars && !(w->f.bound >> v & 1); v++) w->point[v] = w->f.box.lo[v];
  if (v >= w->s->n_vars) return at_point(w);
  int64_t hi = w->f.box.hi[v];
  if (v >= POLYHEDRAL_COUNTER && w->f.trips >> (v - POLYHEDRAL_COUNTER) & 1 &&
      !polyhedral_value(&w->s->forms, w->s->trips[v - POLYHEDRAL_COUNTER], w->point, &hi))
    return stop(w->to, HD_INEXACT_OVERFLOW);
  for (int64_t k = w->f.box.lo[v]; k <= hi; k++) {
    w->point[v] = k;
    if (!walk_variable(w, v + 1)) return false;
  }
  return true;
}

/* ---- One CTA ------------------------------------------------------------------------------ */

static int by_first(const void *pa, const void *pb) {
  const interval *x = pa, *y = pb;
  return (x->first > y->first) - (x->first < y->first);
}

/* Sort the intervals behind `from`, and merge those that touch. */
static void tidy(interval_list *list, size_t from) {
  size_t n = list->n - from, kept = 0;
  interval *at = list->data + from;
  if (!n) return;
  qsort(at, n, sizeof *at, by_first);
  for (size_t i = 1; i < n; i++) {
    if (at[i].first > at[kept].last + 1)
      at[++kept] = at[i];
    else if (at[i].last > at[kept].last)
      at[kept].last = at[i].last;
  }
  list->n = from + kept + 1;
}

static bool list_cta(listing *to, const int64_t cta[3]) {
  to->from = to->lines.n;
  for (uint32_t i = 0; i < to->n; i++) {
    const polyhedral_swept *one = &to->all[i];
    walk w = {.to = to, .s = &to->sites[one->site], .f = one->f};
    if (one->plain) {
      int64_t address = one->f.address.constant;
      for (uint32_t k = 0; k < 3; k++) address += one->f.address.coefficient[k] * cta[k];
      if (!put(&w, address, w.f.n_dims)) return false;
      continue;
    }
    if (!spend(to, FOOTPRINT_STEPS)) return false;
    uint64_t before = *w.s->forms.work;
    hd_polyhedral_inexact why = polyhedral_site_footprint(w.s, cta, cta, to->l->line, to->guards, &w.f);
    if (why) return stop(to, why);
    if (!spend(to, (*w.s->forms.work - before) * RANGE_STEPS)) return false;
    if (w.f.never) continue;
    memcpy(w.point, cta, 3 * sizeof *cta);
    if (!walk_variable(&w, POLYHEDRAL_TID)) return false;
  }
  tidy(&to->lines, to->from);
  return true;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static uint64_t common(const listing *to, uint64_t x, uint64_t y) {
  size_t i = to->start[x], k = to->start[y];
  uint64_t sum = 0;
  while (i < to->start[x + 1] && k < to->start[y + 1]) {
    const interval *p = &to->lines.data[i], *q = &to->lines.data[k];
    int64_t first = p->first > q->first ? p->first : q->first, last = p->last < q->last ? p->last : q->last;
    if (first <= last) sum += (uint64_t)(last - first) + 1;
    if (p->last < q->last)
      i++;
    else
      k++;
  }
  return sum;
}

static void count(const listing *to, hd_polyhedral_array *out) {
  const uint32_t *grid = to->l->grid;
  uint64_t step[3] = {1, grid[0], (uint64_t)grid[0] * grid[1]}, tasks = step[2] * grid[2];
  out->pairs = 0;
  memset(out->shared, 0, sizeof out->shared);
  for (uint64_t t = 0; t < tasks; t++) {
    for (size_t i = to->start[t]; i < to->start[t + 1]; i++)
      out->pairs += (uint64_t)(to->lines.data[i].last - to->lines.data[i].first) + 1;
    for (uint32_t k = 0; k < 3; k++)
      if (t / step[k] % grid[k] + 1 < grid[k]) out->shared[k] += common(to, t, t + step[k]);
  }
  out->counted = true;
}

/* The farthest CTAs of each row that share: tried from the widest distance downwards, so that all that is
 * tried beyond the answer shares nothing. */
static bool find_distances(listing *to, uint32_t distance[3]) {
  const uint32_t *grid = to->l->grid;
  uint64_t step[3] = {1, grid[0], (uint64_t)grid[0] * grid[1]}, tasks = step[2] * grid[2];
  for (uint32_t k = 0; k < 3; k++) {
    distance[k] = 0;
    for (uint32_t far = grid[k] - 1; far > 0 && !distance[k]; far--)
      for (uint64_t t = 0; t < tasks && !distance[k]; t++) {
        if (t / step[k] % grid[k] + far >= grid[k]) continue;
        uint64_t work = 1 + to->start[t + 1] - to->start[t];
        if (work > to->steps) return false;
        to->steps -= work;
        if (common(to, t, t + far * step[k])) distance[k] = far;
      }
  }
  return true;
}

hd_polyhedral_inexact polyhedral_list(const polyhedral_launch *l, const polyhedral_site *sites,
                                      const polyhedral_swept *all, uint32_t n, hd_polyhedral_array *out) {
  uint64_t tasks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
  uint32_t guards = 0;
  if (tasks > l->steps) return HD_INEXACT_BUDGET;
  for (uint32_t i = 0; i < n; i++)
    if (sites[all[i].site].n_guards > guards) guards = sites[all[i].site].n_guards;
  listing to = {.l = l, .sites = sites, .all = all, .n = n, .steps = l->steps};
  to.start = calloc(tasks + 1, sizeof *to.start);
  to.guards = calloc((size_t)guards + 1, sizeof *to.guards);
  bool listed = to.start && to.guards;
  if (!listed) to.why = HD_INEXACT_BUDGET;
  for (uint64_t t = 0; listed && t < tasks; t++) {
    int64_t cta[3] = {(int64_t)(t % l->grid[0]), (int64_t)(t / l->grid[0] % l->grid[1]),
                      (int64_t)(t / l->grid[0] / l->grid[1])};
    listed = list_cta(&to, cta);
    to.start[t + 1] = to.lines.n;
  }
  if (listed) {
    uint32_t distance[3];
    to.steps = l->steps;
    if (!out->by_isl && !find_distances(&to, distance)) {
      to.why = HD_INEXACT_BUDGET;
    } else {
      if (!out->by_isl) memcpy(out->distance, distance, sizeof distance);
      count(&to, out);
    }
  }
  hd_vec_free(&to.lines);
  free(to.start);
  free(to.guards);
  return to.why;
}
