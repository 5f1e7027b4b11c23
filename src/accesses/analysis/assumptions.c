/* Assumptions and sets of them, interned: equal ones have equal numbers. */
#include <string.h>

#include "analysis/algebra.h"

static uint64_t assumption_key(const hd_assumption *s) {
  return an_mix(an_mix(an_mix(3, s->poly), (uint64_t)s->lo), (uint64_t)s->hi);
}
static uint64_t assumption_rehash(const void *of, uint32_t i) {
  const an_algebra *a = of;
  return assumption_key(&a->assumptions.data[i]);
}
static bool assumption_equal(const void *of, uint32_t i, const void *key) {
  const an_algebra *a = of;
  const hd_assumption *s = &a->assumptions.data[i], *k = key;
  return s->poly == k->poly && s->lo == k->lo && s->hi == k->hi;
}

static uint64_t set_rehash(const void *of, uint32_t i) {
  const an_algebra *a = of;
  return an_list_hash(a->set_items.data + a->sets.data[i].first, a->sets.data[i].n);
}
static bool set_equal(const void *of, uint32_t i, const void *key) {
  const an_algebra *a = of;
  const an_list *k = key;
  const an_set *s = &a->sets.data[i];
  return s->n == k->n && memcmp(a->set_items.data + s->first, k->s, k->n * sizeof *k->s) == 0;
}

static uint32_t intern_set(an_algebra *a, const uint32_t *items, uint32_t n) {
  if (!n) return 0;
  uint64_t h = an_list_hash(items, n);
  an_list key = {items, n};
  uint32_t i = an_hash_find(&a->set_hash, h, set_equal, a, &key);
  if (i != HD_NONE) return i;
  i = (uint32_t)a->sets.n;
  an_set s = {(uint32_t)a->set_items.n, n};
  for (uint32_t k = 0; k < n; k++) AN_PUSH(a->arena, &a->set_items, items[k]);
  AN_PUSH(a->arena, &a->sets, s);
  an_hash_add(a->arena, &a->set_hash, h, i, set_rehash, a);
  return i;
}

uint32_t an_union(an_algebra *a, uint32_t s, uint32_t t) {
  if (s == t || !t) return s;
  if (!s) return t;
  uint32_t ns = a->sets.data[s].n, nt = a->sets.data[t].n, i = 0, j = 0, n = 0;
  a->work += ns + nt;
  AN_RESERVE(a->arena, &a->set_scratch, (size_t)ns + nt);
  uint32_t *out = a->set_scratch.data;
  const uint32_t *x = a->set_items.data + a->sets.data[s].first,
                 *y = a->set_items.data + a->sets.data[t].first;
  while (i < ns || j < nt) {
    uint32_t u = i < ns ? x[i] : UINT32_MAX, v = j < nt ? y[j] : UINT32_MAX;
    out[n++] = u < v ? u : v;
    i += u <= v;
    j += v <= u;
  }
  return intern_set(a, out, n);
}

uint32_t an_assume(an_algebra *a, uint32_t set, hd_poly p, int64_t lo, int64_t hi, uint32_t inst) {
  hd_assumption s = {p, lo, hi, inst};
  uint64_t h = assumption_key(&s);
  uint32_t i = an_hash_find(&a->assumption_hash, h, assumption_equal, a, &s);
  if (i == HD_NONE) {
    i = (uint32_t)a->assumptions.n;
    AN_PUSH(a->arena, &a->assumptions, s);
    an_hash_add(a->arena, &a->assumption_hash, h, i, assumption_rehash, a);
  }
  return an_union(a, set, intern_set(a, &i, 1));
}

void an_note_range(an_algebra *a, hd_poly p, int64_t lo, int64_t hi, uint32_t assumed) {
  if (p == HD_NONE) return;
  hd_polynomial *q = &a->polys.data[p];
  if (lo <= q->lo && hi >= q->hi) return;
  if (lo > q->lo) q->lo = lo;
  if (hi < q->hi) q->hi = hi;
  if (assumed) a->range_assumed.data[p] = an_union(a, a->range_assumed.data[p], assumed);
}
