#include "model/clock.h"

#include <string.h>

#include "model/trace.h"
#include "model/watch.h"

void model_clock_reset(model_clock *c, const model_pace *p, const hd_gpu *g, uint32_t n_ctas,
                       uint32_t per_cta, model_ccws *ccws) {
  memset(c, 0, sizeof *c);
  model_warps_reset(&c->policy, g, n_ctas * per_cta, per_cta, ccws);
  c->per_issue = g->schedulers > g->issue_per_cycle ? g->schedulers / g->issue_per_cycle : 1;
  c->pace = p;
  c->schedulers = g->schedulers < CLOCK_MAX_SCHEDULERS ? g->schedulers : CLOCK_MAX_SCHEDULERS;
  for (uint32_t i = 0; i < c->schedulers; i++) c->choice[i].stale = true;
  uint8_t scheduler = 0, place = 0;
  for (uint32_t i = 0; i < SM_MAX_WARPS; i++) {
    c->warps[i].scheduler = scheduler;
    c->warps[i].place = place;
    if (++scheduler < c->schedulers) continue;
    scheduler = 0;
    place++;
  }
}

static uint64_t later_of(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* ---- Queues --------------------------------------------------------------------- */

static void leave_line(clock_line *l, uint64_t bit) {
  l->ripe &= ~bit;
  l->unripe &= ~bit;
  l->soonest &= ~bit;
}

static void join_line(clock_line *l, uint64_t bit, uint64_t ready, uint64_t now) {
  if (ready <= now) {
    l->ripe |= bit;
    return;
  }
  if (!l->unripe || (l->soonest && ready < l->next_ripe))
    l->next_ripe = ready, l->soonest = bit;
  else if (l->soonest && ready == l->next_ripe)
    l->soonest |= bit;
  l->unripe |= bit;
}

static void join_events(clock_queue *q, uint64_t bit, uint64_t ready) {
  if (!q->events || (q->first && ready < q->first_event))
    q->first_event = ready, q->first = bit;
  else if (q->first && ready == q->first_event)
    q->first |= bit;
  q->events |= bit;
}

static void leave_queue(clock_queue *q, uint64_t bit) {
  leave_line(&q->steps, bit);
  leave_line(&q->accesses, bit);
  q->events &= ~bit;
  q->first &= ~bit;
}

/* The warp is ready at another cycle, or for something else: its scheduler has to choose again. */
static void put_ready(model_clock *c, model_sm *s, uint32_t number, uint64_t ready) {
  const clock_warp *w = &c->warps[number];
  clock_queue *q = &c->queue[w->scheduler];
  const uint64_t bit = UINT64_C(1) << w->place;
  s->ready[number] = ready;
  c->choice[w->scheduler].stale = true;
  leave_queue(q, bit);
  if (ready == SM_NEVER) return;
  if (c->steps[number])
    join_line(&q->steps, bit, ready, c->free[w->scheduler]);
  else if (w->event <= EVENT_LOAD && c->policy.kind != HD_SCHED_LRR)
    join_line(&q->accesses, bit, ready, c->load_store);
  else
    join_events(q, bit, ready);
}

/* ---- Warps ------------------------------------------------------------------- */

/* When the load that the step waits for arrives. */
static uint64_t arrival_of(const clock_warp *w, const model_step *step) {
  if (!step->wait || !w->loads) return 0;
  if (step->wait > w->loads) return 0;
  uint64_t there = w->arrival[(w->loads - step->wait) % PACE_LOADS];
  return step->wait == PACE_LOADS ? later_of(there, w->older) : there;
}

/* The warp comes to its next step or event at `cycle`; it may begin no sooner than ready[]. */
static void await(model_clock *c, model_sm *s, uint32_t number, uint64_t cycle) {
  clock_warp *w = &c->warps[number];
  uint64_t ready = cycle;
  if (w->steps_left) {
    uint64_t there = arrival_of(w, w->step);
    ready = later_of(ready, there);
    c->stalls.memory += ready - cycle;
    if (__builtin_expect(s->watch != NULL, 0) && there > cycle)
      model_watch_wait(s->watch, s, number, w->loads - w->step->wait, there - cycle);
    w->repeat_left = w->step->repeat;
  }
  c->steps[number] = w->steps_left > 0;
  put_ready(c, s, number, ready);
}

static void enter_segment(model_clock *c, clock_warp *w) {
  const model_segment *g = &c->pace->segments.data[*w->segment];
  w->step = c->pace->steps.data + g->step;
  w->steps_left = g->n_steps;
  w->event = g->event;
  w->joined = g->joined;
  w->repeats = g->repeats;
}

static void next_segment(model_clock *c, model_sm *s, uint32_t number, uint64_t cycle) {
  clock_warp *w = &c->warps[number];
  w->segment++;
  enter_segment(c, w);
  await(c, s, number, cycle);
}

void model_clock_start(model_clock *c, model_sm *s, uint32_t cta, uint64_t task, uint64_t cycle) {
  const hd_trace *t = s->trace;
  const model_pace_worker *from = &c->pace->workers[model_trace_worker_of(t, task)];
  model_sm_open(s, cta, task);
  model_warps_order(&c->policy, s->by_age, s->n_by_age);
  for (uint32_t i = 0; i < s->warps_per_cta; i++) {
    uint32_t number = cta * s->warps_per_cta + i;
    clock_warp *w = &c->warps[number];
    w->segment = from->segments.data + from->paths[model_trace_path_of(t, task, i)].first;
    w->loads = 0;
    w->older = w->drained = 0;
    w->started = cycle;
    model_warps_start(&c->policy, number);
    enter_segment(c, w);
    await(c, s, number, cycle);
    if (s->ready[number] < s->wake) s->wake = s->ready[number];
  }
}

void model_clock_occupy(model_clock *c, uint64_t cycle, uint32_t cycles) {
  for (uint32_t i = 0; i < c->schedulers; i++) {
    c->free[i] = later_of(c->free[i], cycle) + cycles;
    c->choice[i].stale = true;
  }
}

/* ---- Events ------------------------------------------------------------------- */

/* The pipeline is taken until later: do more of the scheduler's accesses wait for it by then, or does another
 * event come first? */
static bool may_change(const model_clock *c, uint32_t scheduler) {
  const clock_queue *q = &c->queue[scheduler];
  const clock_line *l = &q->accesses;
  return q->events || !model_warps_oldest_first(&c->policy) ||
         (l->unripe && (!l->soonest || l->next_ripe <= c->load_store));
}

/* Inlined where it is called: a call for each access takes several percent of a replay. */
static inline __attribute__((always_inline)) void access_event(model_clock *c, model_sm *s, uint32_t number,
                                                               uint64_t cycle) {
  clock_warp *w = &c->warps[number];
  uint64_t asked = cycle;
  double l1;
  uint64_t again;
  c->stalls.throttle += cycle - s->ready[number];
  uint8_t attr = s->warps[number].next.attr;
  uint64_t there = model_sm_access(s, number, &cycle, &l1, &again);
  uint64_t busy = (uint64_t)(l1 + 0.5);
  s->l1_cycles += (double)(cycle - asked + busy);
  c->load_store = cycle + busy;
  for (uint32_t i = 0; c->policy.kind != HD_SCHED_LRR && i < c->schedulers; i++)
    if (may_change(c, i)) c->choice[i].stale = true;
  if (again) {
    c->stalls.throttle += again - asked;
    put_ready(c, s, number, again);
    return;
  }
  s->mem->atomics.asked += w->repeats * s->mem->repeat_cost;
  if (w->event == EVENT_LOAD) {
    const bool joined = w->joined && w->loads;
    uint64_t *slot = &w->arrival[(joined ? w->loads - 1 : w->loads) % PACE_LOADS];
    if (joined) {
      *slot = later_of(there, *slot);
    } else {
      if (w->loads >= PACE_LOADS) w->older = later_of(w->older, *slot);
      *slot = there;
      w->loads++;
    }
  }
  /* A store waits until the queues have taken it, and is on its way for as long as a load. */
  bool store = model_stream_kind(attr) == HD_ACCESS_STORE;
  w->drained = later_of(w->drained, there + (store ? s->gpu->l2.latency : 0));
  if (store) cycle = later_of(cycle, there);
  c->stalls.throttle += cycle - asked;
  next_segment(c, s, number, cycle);
}

/* The same, for a timeline. */
static __attribute__((noinline)) void watch_event(model_clock *c, model_sm *s, uint32_t number,
                                                  uint64_t cycle) {
  const clock_warp *w = &c->warps[number];
  const uint32_t inst = model_watch_next(s, number);
  const uint64_t before = c->stalls.throttle;
  const uint32_t *segment = w->segment;
  if (w->event == EVENT_LOAD)
    model_watch_load(s->watch, s, number, w->joined && w->loads ? w->loads - 1 : w->loads, inst);
  access_event(c, s, number, cycle);
  model_watch_access(s->watch, s, inst, c->stalls.throttle - before, w->segment == segment);
}

/* The scheduler does not let the warp load yet. */
static void hold(model_clock *c, model_sm *s, uint32_t number, uint64_t cycle) {
  c->stalls.issue += cycle + WARPS_HOLD - s->ready[number];
  put_ready(c, s, number, cycle + WARPS_HOLD);
}

/* The last warp has come to the barrier: all go on. */
static void release(model_clock *c, model_sm *s, uint32_t cta) {
  model_sm_cta *q = &s->ctas[cta];
  const hd_units *u = &s->gpu->units;
  q->waiting = 0;
  q->released += (uint64_t)(u->barrier + u->barrier_warp * s->warps_per_cta);
  for (uint32_t i = cta * s->warps_per_cta; i < (cta + 1) * s->warps_per_cta; i++) {
    clock_warp *w = &c->warps[i];
    if (s->ready[i] != SM_NEVER || w->event != EVENT_BARRIER || s->warps[i].ended) continue;
    model_stream_next(&s->warps[i].reader, &s->warps[i].next);
    c->stalls.barrier += q->released - w->arrived;
    model_warps_go_on(&c->policy, i);
    next_segment(c, s, i, q->released);
  }
}

/* The warp has come to its end, and waits for its stores. */
static void drain(model_clock *c, model_sm *s, uint32_t number, uint64_t cycle) {
  clock_warp *w = &c->warps[number];
  c->stalls.memory += w->drained - cycle;
  put_ready(c, s, number, w->drained);
}

/* A warp has come to a barrier, or to its end. True when that ends its CTA. */
static bool arrive(model_clock *c, model_sm *s, uint32_t number, uint64_t cycle) {
  clock_warp *w = &c->warps[number];
  uint32_t cta = s->warps[number].cta;
  model_sm_cta *q = &s->ctas[cta];
  put_ready(c, s, number, SM_NEVER);
  if (w->event == EVENT_BARRIER) {
    q->waiting++;
    w->arrived = cycle;
    model_warps_wait(&c->policy, number);
  } else {
    s->warps[number].ended = true;
    model_warps_end(&c->policy, number);
    c->stalls.resident += cycle - w->started;
    q->live--;
  }
  q->released = later_of(q->released, cycle);
  if (!q->live) {
    model_sm_close(s, cta);
    model_warps_order(&c->policy, s->by_age, s->n_by_age);
    c->end = later_of(c->end, q->released);
    return true;
  }
  if (q->waiting >= q->live) release(c, s, cta);
  return false;
}

/* ---- Steps ---------------------------------------------------------------------- */

static void do_step(model_clock *c, model_sm *s, uint32_t number, uint64_t cycle) {
  clock_warp *w = &c->warps[number];
  const uint32_t scheduler = w->scheduler;
  const model_step *step = w->step;
  uint32_t takes = step->latency > step->issue ? step->latency : step->issue;
  uint64_t end = cycle + takes;
  c->stalls.issue += cycle - s->ready[number];
  c->stalls.dependency += takes - step->issue;
  for (unsigned u = 0; u < MODEL_UNITS; u++) {
    if (!step->busy[u]) continue;
    uint64_t *pipe = u == UNIT_LSU ? &c->load_store : &c->pipe[u == UNIT_CONST ? 0 : scheduler][u];
    *pipe = later_of(*pipe, cycle) + step->busy[u];
    end = later_of(end, *pipe);
  }
  c->stalls.throttle += end - cycle - takes;
  c->free[scheduler] = cycle + step->issue;
  c->issued += step->issue;
  model_warps_issued(&c->policy, scheduler, number, c->policy.ccws ? step->issue / c->per_issue : 0);
  if (--w->repeat_left) {
    put_ready(c, s, number, end);
    return;
  }
  w->step++;
  w->steps_left--;
  await(c, s, number, end);
}

/* ---- Choosing --------------------------------------------------------------------- */

/* The cycle at which a warp's event can be: an access waits for the pipeline. */
static uint64_t event_cycle(const model_clock *c, uint32_t warp, uint64_t ready) {
  return c->warps[warp].event <= EVENT_LOAD ? later_of(ready, c->load_store) : ready;
}

/* Is the event of warp w to be preferred? Other policies than LRR have their say among those that wait for
 * the pipeline, too. */
static bool better_event(const model_clock *c, const clock_choice *best, uint32_t w, uint64_t at,
                         uint32_t turn) {
  if (best->event_at == SM_NEVER) return true;
  uint64_t own = event_cycle(c, w, at), other = event_cycle(c, best->event, best->event_at);
  return own < other || (own == other && model_warps_turn(&c->policy, w) < turn);
}

/* The places of its warps that are ready first. */
static uint64_t first_of(const model_clock *c, const model_sm *s, uint32_t scheduler, uint64_t places,
                         uint64_t *when) {
  uint64_t least = SM_NEVER, first = 0;
  for (uint64_t left = places; left; left &= left - 1) {
    const uint32_t place = (uint32_t)__builtin_ctzll(left);
    const uint64_t at = s->ready[place * c->schedulers + scheduler];
    if (at > least) continue;
    first = (at < least ? 0 : first) | UINT64_C(1) << place;
    least = at;
  }
  *when = least;
  return first;
}

/* The one whose turn it is, in circles from the warp behind the last that issued. */
static uint32_t next_of(const model_clock *c, uint32_t scheduler, uint64_t places) {
  const clock_warp *last = &c->warps[c->policy.last[scheduler]];
  const uint32_t from = last->scheduler == scheduler ? last->place + 1u : 0;
  const uint64_t behind = from < 64 ? places & ~UINT64_C(0) << from : 0;
  return (uint32_t)__builtin_ctzll(behind ? behind : places) * c->schedulers + scheduler;
}

/* Those that are ready by now, and the first of the others. */
static void ripen(const model_clock *c, const model_sm *s, uint32_t scheduler, clock_line *l, uint64_t now) {
  while (l->unripe) {
    if (!l->soonest) l->soonest = first_of(c, s, scheduler, l->unripe, &l->next_ripe);
    if (l->next_ripe > now) break;
    l->ripe |= l->soonest;
    l->unripe &= ~l->soonest;
    l->soonest = 0;
  }
}

/* The warps that can begin first, and when; `now`: no sooner. */
static uint64_t front_of(const clock_line *l, uint64_t now, uint64_t *when) {
  *when = l->ripe ? now : l->unripe ? l->next_ripe : SM_NEVER;
  return l->ripe ? l->ripe : l->unripe ? l->soonest : 0;
}

/* choose() under LRR, where accesses go in the order in which they came. */
static void choose_in_turn(model_clock *c, const model_sm *s, uint32_t scheduler) {
  clock_queue *q = &c->queue[scheduler];
  const uint64_t free = c->free[scheduler];
  clock_choice best = {.step_at = SM_NEVER, .event_at = SM_NEVER};
  ripen(c, s, scheduler, &q->steps, free);
  const uint64_t steps = front_of(&q->steps, free, &best.step_at);
  if (steps) best.step = next_of(c, scheduler, steps);
  if (q->events) {
    if (!q->first) q->first = first_of(c, s, scheduler, q->events, &q->first_event);
    best.event_at = q->first_event;
    best.event = next_of(c, scheduler, q->first);
  }
  c->choice[scheduler] = best;
}

/* choose() under policies that prefer the oldest, among those that wait for the pipeline, too. */
static void choose_oldest(model_clock *c, const model_sm *s, uint32_t scheduler) {
  clock_queue *q = &c->queue[scheduler];
  const uint64_t free = c->free[scheduler];
  clock_choice best = {.step_at = SM_NEVER, .event_at = SM_NEVER};
  ripen(c, s, scheduler, &q->steps, free);
  const uint64_t steps = front_of(&q->steps, free, &best.step_at);
  if (steps) best.step = model_warps_oldest(&c->policy, scheduler, steps);
  ripen(c, s, scheduler, &q->accesses, c->load_store);
  uint64_t at, events = front_of(&q->accesses, c->load_store, &at);
  if (q->events) {
    if (!q->first) q->first = first_of(c, s, scheduler, q->events, &q->first_event);
    if (q->first_event < at) events = 0;
    if (q->first_event <= at) events |= q->first;
  }
  if (events) {
    best.event = model_warps_oldest(&c->policy, scheduler, events);
    best.event_at = s->ready[best.event];
  }
  c->choice[scheduler] = best;
}

/* choose() under the policy two-level. */
static void choose_of_all(model_clock *c, const model_sm *s, uint32_t scheduler) {
  uint32_t n = s->n_ctas * s->warps_per_cta, of = c->schedulers, from = c->policy.last[scheduler] + of;
  uint64_t free = c->free[scheduler];
  clock_choice best = {.step_at = SM_NEVER, .event_at = SM_NEVER};
  if (from % of != scheduler || from >= n) from = scheduler;
  uint32_t w = from, turn = UINT32_MAX, event_turn = UINT32_MAX;
  for (uint32_t k = scheduler; k < n; k += of, w += of) {
    if (w >= n) w = scheduler;
    uint64_t at = s->ready[w];
    if (at == SM_NEVER) continue;
    if (!c->steps[w]) {
      if (!better_event(c, &best, w, at, event_turn)) continue;
      best.event_at = at;
      best.event = w;
      event_turn = model_warps_turn(&c->policy, w);
      continue;
    }
    if (at < free) at = free;
    if (at > best.step_at) continue;
    uint32_t own = model_warps_turn(&c->policy, w);
    if (at == best.step_at && own > turn) continue;
    best.step_at = at;
    best.step = w;
    turn = own;
  }
  c->choice[scheduler] = best;
}

/* Among its warps, the one that can do its step first, and the one that can do its event first. */
static void choose(model_clock *c, const model_sm *s, uint32_t scheduler) {
  if (c->policy.kind == HD_SCHED_LRR)
    choose_in_turn(c, s, scheduler);
  else if (model_warps_oldest_first(&c->policy))
    choose_oldest(c, s, scheduler);
  else
    choose_of_all(c, s, scheduler);
}

/* The warp to go next, and when. All schedulers' accesses go through one pipeline: of those that they chose,
 * the one that came first. */
static uint32_t pick(model_clock *c, const model_sm *s, uint64_t *when) {
  uint64_t least = SM_NEVER, came = SM_NEVER;
  uint32_t best = 0;
  for (uint32_t i = 0; i < c->schedulers; i++) {
    if (c->choice[i].stale) choose(c, s, i);
    const clock_choice *q = &c->choice[i];
    if (q->step_at < least) least = q->step_at, best = q->step, came = 0;
    if (q->event_at == SM_NEVER) continue;
    uint64_t at = event_cycle(c, q->event, q->event_at);
    if (at < least || (at == least && q->event_at < came)) least = at, best = q->event, came = q->event_at;
  }
  *when = least;
  return best;
}

uint32_t model_clock_run(model_clock *c, model_sm *s, uint64_t begin, uint64_t limit, uint32_t number,
                         model_sm_retired *retired) {
  uint32_t n = 0;
  if (s->wake >= limit) return 0;
  model_sm_begin_epoch(s, begin, limit);
  for (;;) {
    uint64_t when;
    uint32_t w = pick(c, s, &when);
    if (when >= limit) {
      s->wake = when;
      return n;
    }
    clock_warp *warp = &c->warps[w];
    if (warp->steps_left) {
      do_step(c, s, w, when);
    } else if (warp->event == EVENT_LOAD && !model_warps_may_load(&c->policy, w, when)) {
      hold(c, s, w, when);
    } else if (warp->event <= EVENT_LOAD) {
      if (__builtin_expect(s->watch != NULL, 0))
        watch_event(c, s, w, when);
      else
        access_event(c, s, w, when);
    } else if (warp->event == EVENT_END && warp->drained > when) {
      drain(c, s, w, when);
    } else if (arrive(c, s, w, when)) {
      uint8_t cta = s->warps[w].cta;
      retired[n] = (model_sm_retired){.cycle = s->ctas[cta].released, .sm = number, .cta = cta, .rank = n};
      n++;
    }
  }
}
