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
static void sizes(plan_builder *b, plan_val V, uint32_t M, plan_val *n, plan_val *r) {
  plan_divmod(b, V, plan_const(b, M), n, r);
}

static plan_val start(plan_builder *b, plan_val n, plan_val r, plan_val i) {
  return plan_mad(b, i, n, plan_min(b, i, r));
}

plan_val plan_deal(plan_builder *b, plan_val V, uint32_t M, plan_val u) {
  plan_val n, r, w, i;
  sizes(b, V, M, &n, &r);
  plan_divmod(b, u, plan_const(b, M), &w, &i);
  return plan_bound(b, plan_add(b, start(b, n, r, i), w), 0, plan_hi(b, u));
}

plan_val plan_collect(plan_builder *b, plan_val V, uint32_t M, plan_val v) {
  plan_val n, r;
  if (M == 1) return v;
  sizes(b, V, M, &n, &r);
  /* v/(n + 1) is right in the first r clusters, (v - r)/n in the others; each is
   * the greater of the two where it is right. With n = 0 the first always is. */
  plan_val short_one = plan_max(b, n, plan_const(b, 1));
  plan_val i = plan_div(b, plan_sub(b, plan_max(b, v, r), r), short_one);
  if (!plan_equals(b, r, 0)) i = plan_max(b, i, plan_div(b, v, plan_add(b, n, plan_const(b, 1))));
  plan_val w = plan_bound(b, plan_sub(b, v, start(b, n, r, i)), 0, plan_hi(b, n));
  return plan_bound(b, plan_mad(b, w, plan_const(b, M), i), 0, plan_hi(b, v));
}
