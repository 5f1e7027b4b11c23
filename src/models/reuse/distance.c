#include "reuse/distance.h"

#include <stdlib.h>
#include <string.h>

static void add(reuse_distance *r, uint32_t at, uint32_t by) {
  for (; at <= r->cap; at += at & -at) r->tree[at] += by; /* wraps for by = -1 */
}

static uint32_t sum_to(const reuse_distance *r, uint32_t at) {
  uint32_t sum = 0;
  for (; at; at -= at & -at) sum += r->tree[at];
  return sum;
}

/* Number the live requests from 1 again, in twice the room that they take. */
static bool renumber(reuse_distance *r) {
  uint32_t cap = r->live < 512 ? 1024 : 2 * r->live, now = 0;
  if (r->live > 1u << 30) return false;
  uint32_t *tree = calloc((size_t)cap + 1, sizeof *tree), *owner = malloc(((size_t)cap + 1) * sizeof *owner);
  if (!tree || !owner) {
    free(tree);
    free(owner);
    return false;
  }
  for (uint32_t t = 1; t <= r->now; t++) {
    if (r->last.data[r->owner[t]] != t) continue;
    owner[++now] = r->owner[t];
    r->last.data[r->owner[t]] = now;
  }
  /* A Fenwick tree over ones at 1 .. now: each node holds how many of them it covers. */
  for (uint32_t i = 1; i <= cap; i++) {
    uint32_t from = i - (i & -i);
    tree[i] = from >= now ? 0 : (i < now ? i : now) - from;
  }
  free(r->tree);
  free(r->owner);
  r->tree = tree;
  r->owner = owner;
  r->cap = cap;
  r->now = now;
  return true;
}

int64_t reuse_distance_next(reuse_distance *r, uint32_t line) {
  while (r->last.n <= line)
    if (!hd_vec_push(&r->last, REUSE_NEVER)) return -2;
  if (r->now == r->cap && !renumber(r)) return -2;
  uint32_t before = r->last.data[line];
  int64_t distance = -1;
  if (before != REUSE_NEVER) {
    distance = (int64_t)r->live - sum_to(r, before);
    add(r, before, UINT32_MAX);
  } else {
    r->live++;
  }
  r->last.data[line] = ++r->now;
  r->owner[r->now] = line;
  add(r, r->now, 1);
  return distance;
}

void reuse_distance_free(reuse_distance *r) {
  free(r->tree);
  free(r->owner);
  hd_vec_free(&r->last);
}
