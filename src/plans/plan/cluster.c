/* Clusters (CLU 4.2): V tasks in M contiguous clusters, as numbers and as programs. */
#include "plan/order.h"

uint64_t hd_cluster_size(uint64_t V, uint64_t M, uint64_t i) { return V / M + (i < V % M); }

/* Eq. 7 with w = 0: i*(n + 1) + min(r - i, 0), which is i*n + min(i, r). */
uint64_t hd_cluster_start(uint64_t V, uint64_t M, uint64_t i) {
  uint64_t r = V % M;
  return i * (V / M) + (i < r ? i : r);
}

void hd_cluster_of(uint64_t V, uint64_t M, uint64_t v, uint64_t *w, uint64_t *i) {
  uint64_t n = V / M, r = V % M;
  /* The first r clusters, of n + 1 tasks, end before r*(n + 1). */
  *i = v < r * (n + 1) ? v / (n + 1) : (v - r) / n;
  *w = v - hd_cluster_start(V, M, *i);
}

/* n = V / M and r = V mod M. */
static void sizes(plan_builder *b, plan_val V, plan_val M, plan_val *n, plan_val *r) {
  plan_divmod(b, V, M, n, r);
}

/* The first task of cluster i <= M of V tasks. */
static plan_val start(plan_builder *b, plan_val V, plan_val n, plan_val r, plan_val i) {
  plan_val whole = plan_bound(b, plan_mul(b, i, n), 0, plan_hi(b, V));
  return plan_bound(b, plan_add(b, whole, plan_min(b, i, r)), 0, plan_hi(b, V));
}

/* x - y, and 0 where that is less. */
static plan_val above(plan_builder *b, plan_val x, plan_val y) { return plan_sub(b, plan_max(b, x, y), y); }

plan_val plan_deal_by(plan_builder *b, plan_val V, plan_val M, plan_val u) {
  plan_val n, r, w, i;
  sizes(b, V, M, &n, &r);
  plan_divmod(b, u, M, &w, &i);
  return plan_bound(b, plan_add(b, start(b, V, n, r, i), w), 0, plan_hi(b, u));
}

plan_val plan_deal(plan_builder *b, plan_val V, uint32_t M, plan_val u) {
  return plan_deal_by(b, V, plan_const(b, M), u);
}

/* n + 1, in 32 bits where the tasks are not known but fewer than 2^32: n = 2^32 - 1 is one cluster of all
 * tasks then, and dividing by n instead says the same of each. */
static plan_val one_more(plan_builder *b, plan_val n) {
  if (!plan_is_const(b, n)) n = plan_min(b, n, plan_const(b, UINT32_MAX - 1));
  return plan_add(b, n, plan_const(b, 1));
}

plan_val plan_collect_by(plan_builder *b, plan_val V, plan_val M, plan_val v) {
  plan_val n, r;
  if (plan_equals(b, M, 1)) return v;
  sizes(b, V, M, &n, &r);
  /* v/(n + 1) is right in the first r clusters, (v - r)/n in the others; each is
   * the greater of the two where it is right. With n = 0 the first always is. */
  plan_val short_one = plan_max(b, n, plan_const(b, 1));
  plan_val i = plan_div(b, above(b, v, r), short_one);
  if (!plan_equals(b, r, 0)) i = plan_max(b, i, plan_div(b, v, one_more(b, n)));
  plan_val w = plan_bound(b, plan_sub(b, v, start(b, V, n, r, i)), 0, plan_hi(b, n));
  plan_val row = plan_bound(b, plan_mul(b, w, M), 0, plan_hi(b, v));
  return plan_bound(b, plan_add(b, row, i), 0, plan_hi(b, v));
}

plan_val plan_collect(plan_builder *b, plan_val V, uint32_t M, plan_val v) {
  return plan_collect_by(b, V, plan_const(b, M), v);
}

/* ---- Splits -------------------------------------------------------------------- */

/* All splits are waves of M*size positions: cluster i takes run i, of `size`, of each wave. Positions behind
 * the last whole wave are cut by chunk. */
typedef struct waves {
  plan_val size;  /* of a run; may be 0, and then there are no waves */
  bool several;   /* else there is at most one wave */
  plan_val share; /* each cluster's positions in all whole waves */
  plan_val whole; /* positions in all whole waves: share * M */
} waves;

static waves cut(plan_builder *b, const plan_space *s, const hd_split *split, uint32_t M) {
  plan_val clusters = plan_const(b, M), n = plan_div(b, s->tasks, clusters);
  waves c = {.size = plan_const(b, split->wave), .several = split->kind == HD_SPLIT_WAVE};
  if (c.several) {
    plan_val count = plan_div(b, s->tasks, plan_const(b, (uint64_t)split->wave * M));
    c.share = plan_mul(b, count, c.size);
  } else if (split->kind != HD_SPLIT_CHUNK) {
    /* Rows of all planes, one behind the other; columns, their like. */
    unsigned along = split->kind == HD_SPLIT_ROWS ? 0 : 1;
    plan_val lines = plan_cells(b, s, s->n[1 - along], s->n[2]);
    c.size = plan_mul(b, plan_div(b, lines, clusters), s->n[along]);
    c.share = c.size = plan_bound(b, c.size, 0, plan_hi(b, n));
  } else {
    c.share = c.size;
  }
  c.share = plan_bound(b, c.share, 0, plan_hi(b, n));
  c.whole = plan_bound(b, plan_mul(b, c.share, clusters), 0, plan_hi(b, s->tasks));
  return c;
}

plan_val plan_quota_by(plan_builder *b, plan_val V, plan_val M, plan_val i) {
  plan_val n, r;
  sizes(b, V, M, &n, &r);
  return plan_bound(b, plan_add(b, n, plan_lt(b, i, r)), 0, plan_hi(b, V));
}

plan_val plan_quota(plan_builder *b, const plan_space *s, uint32_t M, plan_val i) {
  return plan_quota_by(b, s->tasks, plan_const(b, M), i);
}

plan_val plan_place_by(plan_builder *b, plan_val V, plan_val M, plan_val i, plan_val w) {
  plan_val n, r;
  sizes(b, V, M, &n, &r);
  return plan_bound(b, plan_add(b, start(b, V, n, r, i), w), 0, plan_hi(b, V) - 1);
}

plan_val plan_place(plan_builder *b, const plan_space *s, const hd_split *split, uint32_t M, plan_val i,
                    plan_val w) {
  waves c = cut(b, s, split, M);
  plan_val n, r, left = plan_sub(b, s->tasks, c.whole);
  sizes(b, left, plan_const(b, M), &n, &r);
  plan_val begin = plan_bound(b, plan_add(b, c.whole, start(b, left, n, r, i)), 0, plan_hi(b, s->tasks));
  plan_val chunk = plan_add(b, begin, above(b, w, c.share));
  plan_val last = plan_sub(b, s->tasks, plan_const(b, 1));
  if (plan_hi(b, c.share) == 0) return plan_bound(b, chunk, 0, plan_hi(b, last));
  plan_val run = i, at = w;
  if (c.several) {
    plan_val wave;
    plan_divmod(b, w, c.size, &wave, &at);
    run = plan_mad(b, wave, plan_const(b, M), i);
  }
  plan_val in_wave = plan_mad(b, run, c.size, at);
  return plan_bound(b, plan_select(b, plan_lt(b, w, c.share), in_wave, chunk), 0, plan_hi(b, last));
}

plan_val plan_split_deal(plan_builder *b, const plan_space *s, const hd_split *split, uint32_t M,
                         plan_val u) {
  plan_val w, i;
  if (split->kind == HD_SPLIT_CHUNK) return plan_deal(b, s->tasks, M, u);
  plan_divmod(b, u, plan_const(b, M), &w, &i);
  return plan_place(b, s, split, M, i, w);
}

plan_val plan_split_collect(plan_builder *b, const plan_space *s, const hd_split *split, uint32_t M,
                            plan_val v) {
  waves c = cut(b, s, split, M);
  plan_val left = plan_sub(b, s->tasks, c.whole);
  plan_val chunk = plan_add(b, c.whole, plan_collect(b, left, M, above(b, v, c.whole)));
  plan_val highest = plan_const(b, plan_hi(b, s->tasks) - 1);
  if (plan_hi(b, c.share) == 0) return plan_bound(b, chunk, 0, plan_hi(b, highest));
  plan_val size = plan_max(b, c.size, plan_const(b, 1)), run, at, wave, i;
  plan_divmod(b, v, size, &run, &at);
  plan_divmod(b, run, plan_const(b, M), &wave, &i);
  plan_val w = c.several ? plan_mad(b, wave, size, at) : at;
  plan_val in_wave = plan_mad(b, w, plan_const(b, M), i);
  return plan_bound(b, plan_select(b, plan_lt(b, v, c.whole), in_wave, chunk), 0, plan_hi(b, highest));
}
