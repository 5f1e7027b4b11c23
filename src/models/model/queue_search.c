/* Workers whose queue is empty look through the others, 32 at a time, and try the nearest that has tasks. */
#include <stdlib.h>

#include "model/dispatch.h"

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* Until so many queues are seen by loads that were half way at `cycle`. They wait for each other on the way
 * from the SM, and at L2. */
static uint64_t seen(dispatch_search *s, uint32_t number, uint64_t cycle, uint32_t queues) {
  const uint64_t rounds = (queues + HD_WARP - 1) / HD_WARP, alone = cycle + rounds * s->look - s->look / 2;
  const double sectors = (double)queues * s->at_once;
  double done = (double)alone;
  if (s->port_rate > 0) {
    s->port[number] = larger(s->port[number], (double)cycle) + sectors / s->port_rate;
    done = larger(done, s->port[number]);
  }
  if (s->l2_rate > 0) {
    s->l2 = larger(s->l2, (double)cycle) + sectors / s->l2_rate;
    done = larger(done, s->l2);
  }
  return (uint64_t)done;
}

/* How much further on than the queue `from` the nearest with tasks is; 0: none has any. */
static uint32_t nearest(const model_dispatcher *q, uint32_t from) {
  const uint32_t n = q->claims.n_queues;
  for (uint32_t k = 1; q->left && k < n; k++)
    if (model_dispatch_left(q, (from + k) % n)) return k;
  return 0;
}

/* All queues are empty: the worker counts itself out, on a line that all of them use. */
static void leave(model_dispatcher *q, uint64_t cycle) {
  dispatch_search *s = &q->search;
  s->line = larger(s->line, (double)cycle) + s->line_cycles * s->at_once;
  s->gone = later(s->gone, (uint64_t)s->line + s->way);
}

/* The next step of a search; true: it is over. A task begins after the epoch that ends `now`. */
static bool step(model_dispatcher *q, hd_model *m, dispatch_wait *w, uint64_t now) {
  dispatch_search *s = &q->search;
  const uint32_t n = q->claims.n_queues;
  if (w->tries) {
    const uint64_t told = w->at + s->way / 2 + s->code;
    if (model_dispatch_take(q, m, w->sm, w->cta, w->queue, later(told, now))) return true;
    w->tries = false;
    w->at = told + s->look / 2;
    return false;
  }
  const uint32_t from = w->queue, k = nearest(q, from);
  const uint32_t lanes = (k + HD_WARP - 1) / HD_WARP * HD_WARP;
  const uint64_t known = seen(s, w->sm, w->at, !k || lanes > n ? n : lanes);
  if (!k) {
    if (q->claims.agents && !q->claims.strides) leave(q, known);
    return true;
  }
  w->queue = (from + k) % n;
  w->tries = true;
  w->at = known + s->way / 2;
  return false;
}

static int by_cycle(const void *a, const void *b) {
  const dispatch_wait *x = a, *y = b;
  if (x->at != y->at) return x->at < y->at ? -1 : 1;
  return x->sm != y->sm ? (x->sm < y->sm ? -1 : 1) : x->cta < y->cta ? -1 : x->cta > y->cta;
}

void model_dispatch_search(model_dispatcher *q, hd_model *m, uint64_t now) {
  dispatch_search *s = &q->search;
  if (s->wake > now) return;
  qsort(s->waits, s->n, sizeof *s->waits, by_cycle);
  uint32_t kept = 0;
  s->wake = SM_NEVER;
  for (uint32_t i = 0; i < s->n; i++) {
    dispatch_wait w = s->waits[i];
    bool over = false;
    while (!over && w.at <= now) over = step(q, m, &w, now);
    if (over) continue;
    s->waits[kept++] = w;
    if (w.at < s->wake) s->wake = w.at;
  }
  s->n = kept;
}

uint64_t model_dispatch_tail(const model_dispatcher *q, uint64_t end) {
  const uint64_t over = q->search.gone > end ? q->search.gone - end : 0;
  const bool clears = q->claims.n_queues && !q->claims.strides; /* the last worker, when it leaves */
  return clears ? over + q->search.fence : 0;
}
