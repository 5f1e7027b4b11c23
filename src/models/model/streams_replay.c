/* Launches of several streams on one GPU. */
#include <stdlib.h>
#include <string.h>

#include "model/dispatch.h"

enum { NO_STREAM = HD_REPLAY_STREAMS };

/* One stream's side. */
typedef struct lane {
  hd_replay_stream *stream;
  model_pace **paces; /* per launch */
  uint32_t *resident;
  model_dispatcher q;           /* of the launch under way */
  bool open;                    /* there is one */
  uint32_t launch;              /* the one under way, or the next */
  uint64_t begun;               /* the cycle at which it came */
  uint64_t ready;               /* the cycle from which the next may come */
  uint64_t first_end, last_end; /* the cycles at which the first turn ended, and the last one so far */
} lane;

typedef struct corun {
  hd_model *m;
  lane lanes[HD_REPLAY_STREAMS];
  uint32_t n;
  uint32_t *owner; /* per SM: the stream whose CTAs it has; NO_STREAM */
  uint32_t *live;  /* per SM: CTAs */
  bool *empty;     /* per SM: it had none when fill() came to it */
} corun;

/* ---- Launches ------------------------------------------------------------------------- */

static hd_status open_launch(corun *c, lane *l, uint64_t now, hd_diag *d) {
  const hd_replay_launch *at = &l->stream->launches[l->launch];
  if (!model_dispatch_init(&l->q, c->m, at->trace, at->options, l->resident[l->launch]))
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a model of %s", c->m->gpu.name);
  l->open = true;
  l->begun = now;
  return HD_OK;
}

/* The last CTA has ended. */
static void end_launch(const corun *c, lane *l, uint64_t now) {
  hd_replay_stream *s = l->stream;
  uint64_t end = now + model_dispatch_tail(&l->q, now);
  model_dispatch_free(&l->q);
  l->open = false;
  l->ready = end + (uint64_t)(c->m->gpu.launch.next_us * c->m->gpu.clock_mhz);
  if (++l->launch < s->n) return;
  l->launch = 0;
  l->last_end = l->ready;
  if (!s->turns++) l->first_end = l->ready;
}

static void take_counters(corun *c, uint32_t sm) {
  model_sm *s = &c->m->sms[sm];
  if (c->owner[sm] == NO_STREAM) return;
  hd_replay_stream *of = c->lanes[c->owner[sm]].stream;
  of->l1_sectors += s->l1_sectors / s->l1_unit;
  of->l1_hits += s->l1_hits / s->l1_unit;
}

/* ---- SMs --------------------------------------------------------------------------------- */

/* An SM without CTAs is the stream's. */
static void turn_over(corun *c, uint32_t sm, uint32_t stream) {
  hd_model *m = c->m;
  lane *l = &c->lanes[stream];
  const hd_replay_launch *at = &l->stream->launches[l->launch];
  take_counters(c, sm);
  model_clock_reset(&m->clocks[sm], l->paces[l->launch], &m->gpu, l->q.running, model_trace_warps(at->trace),
                    NULL);
  model_sm_reset(&m->sms[sm], at->trace, l->q.running);
  m->sms[sm].ccws = NULL;
  m->sms[sm].threshold = model_replay_threshold(at->options, sm);
  m->sms[sm].line_base = stream << 30;
  c->owner[sm] = stream;
}

/* The stream whose launch came first, of those with a task for the SM; its worker. */
static uint32_t find_work(corun *c, uint32_t sm, uint64_t now, uint64_t *worker) {
  bool seen[HD_REPLAY_STREAMS] = {false};
  for (uint32_t k = 0; k < c->n; k++) {
    uint32_t first = NO_STREAM;
    for (uint32_t i = 0; i < c->n; i++)
      if (c->lanes[i].open && !seen[i] && (first == NO_STREAM || c->lanes[i].begun < c->lanes[first].begun))
        first = i;
    if (first == NO_STREAM) return NO_STREAM;
    seen[first] = true;
    if (model_dispatch_next(&c->lanes[first].q, sm, 0, c->m->gpu.n_sms, now, worker)) return first;
  }
  return NO_STREAM;
}

/* SMs without CTAs take what there is: one on each before a second on any. An SM that has some keeps its free
 * places: each of them was asked when its CTA ended (retire), and the other ones' claims are not theirs. */
static void fill(corun *c, uint64_t now) {
  const uint32_t n_sms = c->m->gpu.n_sms;
  uint32_t most = 0;
  for (uint32_t sm = 0; sm < n_sms; sm++) {
    uint64_t worker;
    c->empty[sm] = !c->live[sm];
    if (!c->empty[sm]) continue;
    uint32_t stream = find_work(c, sm, now, &worker);
    if (stream == NO_STREAM) continue;
    model_dispatcher *q = &c->lanes[stream].q;
    turn_over(c, sm, stream);
    model_dispatch_start(q, c->m, sm, 0, worker, now, q->claim_delay);
    c->live[sm] = 1;
    if (q->running > most) most = q->running;
  }
  for (uint32_t cta = 1; cta < most; cta++)
    for (uint32_t sm = 0; sm < n_sms; sm++) {
      uint64_t worker;
      if (!c->empty[sm] || c->live[sm] != cta) continue;
      model_dispatcher *q = &c->lanes[c->owner[sm]].q;
      if (cta >= q->running || !model_dispatch_next(q, sm, cta, n_sms, now, &worker)) continue;
      model_dispatch_start(q, c->m, sm, cta, worker, now, q->claim_delay);
      c->live[sm]++;
    }
}

static int by_cycle(const void *a, const void *b) {
  const model_sm_retired *x = a, *y = b;
  if (x->cycle != y->cycle) return x->cycle < y->cycle ? -1 : 1;
  return x->sm != y->sm ? (x->sm < y->sm ? -1 : 1) : x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* A CTA has ended: its place goes to the launch's next one. */
static void retire(corun *c, const model_sm_retired *r, uint64_t now) {
  lane *l = &c->lanes[c->owner[r->sm]];
  uint64_t worker;
  l->q.ended++;
  if (model_dispatch_next(&l->q, r->sm, r->cta, c->m->gpu.n_sms, now, &worker)) {
    model_dispatch_start(&l->q, c->m, r->sm, r->cta, worker, now, model_dispatch_gap(&l->q));
    return;
  }
  c->live[r->sm]--;
  if (l->q.ended == l->q.part.n) end_launch(c, l, now);
}

/* ---- Time ------------------------------------------------------------------------------------ */

static bool all_done(const corun *c, uint32_t turns) {
  for (uint32_t i = 0; i < c->n; i++)
    if (c->lanes[i].stream->turns <= turns) return false;
  return true;
}

/* From an SM's next step, or a launch that is to come; SM_NEVER: nothing happens any more. */
static uint64_t next_cycle(const corun *c) {
  uint64_t least = model_replay_wake(c->m);
  for (uint32_t i = 0; i < c->n; i++)
    if (!c->lanes[i].open && c->lanes[i].ready < least) least = c->lanes[i].ready;
  return least;
}

static hd_status run(corun *c, uint32_t turns, hd_diag *d) {
  hd_model *m = c->m;
  uint64_t now = 0;
  while (!all_done(c, turns)) {
    hd_status st = HD_OK;
    for (uint32_t i = 0; st == HD_OK && i < c->n; i++)
      if (!c->lanes[i].open && c->lanes[i].ready <= now) st = open_launch(c, &c->lanes[i], now, d);
    if (st != HD_OK) return st;
    fill(c, now);
    uint64_t next = next_cycle(c);
    if (next == SM_NEVER) return hd_fail(d, HD_ERR_INPUT, "no SM has CTAs, and none can start");
    const uint32_t n = model_replay_epoch(m, next, &now);
    if (n > 1) qsort(m->retired, n, sizeof *m->retired, by_cycle);
    for (uint32_t i = 0; i < n; i++) retire(c, &m->retired[i], now);
  }
  return HD_OK;
}

/* ---- All of it --------------------------------------------------------------------------------- */

static hd_status prepare(corun *c, lane *l, uint64_t *l1_bytes, hd_diag *d) {
  hd_replay_stream *s = l->stream;
  if (!s->n) return hd_fail(d, HD_ERR_USAGE, "a stream without launches");
  l->paces = calloc(s->n, sizeof(model_pace *));
  l->resident = calloc(s->n, sizeof *l->resident);
  hd_status st = l->paces && l->resident ? HD_OK : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < s->n; i++) {
    const hd_replay_options *o = s->launches[i].options;
    const hd_trace *t = s->launches[i].trace;
    if (!o->timed || o->part.n || hd_trace_get_info(t).recorded != model_trace_tasks(t))
      return hd_fail(d, HD_ERR_USAGE, "co-runs are replayed whole, and by a clock");
    st = model_replay_check(c->m, t, o, &l->resident[i], d);
    if (st == HD_OK) st = model_replay_set_scheduler(c->m, o, d);
    if (st == HD_OK && c->m->gpu.scheduler == HD_SCHED_CCWS)
      st = hd_fail(d, HD_ERR_UNSUPPORTED, "the warp scheduler ccws works on one launch");
    if (st == HD_OK) st = model_pace_make(t, &c->m->gpu, o->loads_within, &l->paces[i], d);
    uint64_t bytes =
        st == HD_OK ? model_replay_l1_bytes(&c->m->gpu, l->resident[i], o->shared_bytes) : UINT64_MAX;
    if (bytes < *l1_bytes) *l1_bytes = bytes;
  }
  return st;
}

static void free_lane(lane *l) {
  if (l->open) model_dispatch_free(&l->q);
  for (uint32_t i = 0; l->paces && i < l->stream->n; i++) model_pace_destroy(l->paces[i]);
  free(l->paces);
  free(l->resident);
}

static hd_status replay(corun *c, uint32_t turns, uint64_t l1_bytes, hd_diag *d) {
  hd_model *m = c->m;
  c->owner = calloc(m->gpu.n_sms, sizeof *c->owner);
  c->live = calloc(m->gpu.n_sms, sizeof *c->live);
  c->empty = calloc(m->gpu.n_sms, sizeof *c->empty);
  if (!c->owner || !c->live || !c->empty || !model_replay_make_sms(m, l1_bytes) ||
      !model_replay_make_clocks(m))
    return hd_fail(d, HD_ERR_NOMEM, "out of memory for a model of %s", m->gpu.name);
  model_memory_reset(&m->mem, false, true);
  m->timed = true;
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) {
    c->owner[i] = NO_STREAM;
    m->sms[i].wake = SM_NEVER;
  }
  return run(c, turns, d);
}

hd_status hd_model_replay_streams(hd_model *m, hd_replay_stream *streams, uint32_t n, uint32_t turns,
                                  hd_diag *d) {
  corun c = {.m = m, .n = n};
  uint64_t l1_bytes = UINT64_MAX;
  if (!n || n > HD_REPLAY_STREAMS || !turns)
    return hd_fail(d, HD_ERR_USAGE, "%u streams, %u turns: there are up to %d streams, of a turn at least", n,
                   turns, HD_REPLAY_STREAMS);
  hd_status st = HD_OK;
  for (uint32_t i = 0; i < n; i++) {
    streams[i].turns = 0;
    streams[i].us = 0;
    streams[i].l1_sectors = streams[i].l1_hits = 0;
    c.lanes[i].stream = &streams[i];
  }
  for (uint32_t i = 0; st == HD_OK && i < n; i++) st = prepare(&c, &c.lanes[i], &l1_bytes, d);
  if (st == HD_OK) st = replay(&c, turns, l1_bytes, d);
  for (uint32_t i = 0; st == HD_OK && i < m->gpu.n_sms; i++) take_counters(&c, i);
  for (uint32_t i = 0; st == HD_OK && i < n; i++) {
    streams[i].resident = c.lanes[i].resident[0];
    const lane *l = &c.lanes[i];
    streams[i].turns--;
    streams[i].us = (double)(l->last_end - l->first_end) / streams[i].turns / m->gpu.clock_mhz;
  }
  for (uint32_t i = 0; m->sms && i < m->gpu.n_sms; i++) m->sms[i].line_base = 0;
  for (uint32_t i = 0; i < n; i++) free_lane(&c.lanes[i]);
  free(c.owner);
  free(c.live);
  free(c.empty);
  return st;
}
