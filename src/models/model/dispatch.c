#include "model/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "model/watch.h"

/* ---- Places and tasks --------------------------------------------------------------- */

/* The tasks of queue i of n before a place of the order. Queues round the same part of their sizes at
 * different places, so that their sum is the place, about: were all rounded down, one wave of one task a
 * queue would have none. */
static uint64_t queue_before(uint64_t place, uint64_t tasks, uint32_t n, uint32_t i) {
  const uint64_t all = hd_cluster_size(tasks, n, i), whole = all * place / tasks, rest = all * place % tasks;
  if (place >= tasks) return all;
  return whole + (rest * n >= tasks * (n - i));
}

void model_dispatch_queue(const hd_replay_part *p, uint64_t tasks, uint32_t n, uint32_t i, uint64_t *from,
                          uint64_t *to) {
  *from = queue_before(p->first, tasks, n, i);
  *to = queue_before(p->first + p->n, tasks, n, i);
}

/* Of so many tasks in strides, those in strides from `first` on. */
static uint64_t in_strides(uint64_t tasks, uint64_t strides, uint64_t first) {
  const uint64_t rest = tasks % strides;
  return tasks / strides * (strides - first) + (rest > first ? rest - first : 0);
}

uint64_t model_dispatch_left(const model_dispatcher *q, uint32_t i) {
  uint64_t from, to;
  model_dispatch_queue(&q->part, q->n_tasks, q->claims.n_queues, i, &from, &to);
  return q->claims.strides ? in_strides(to - from, q->running, q->taken[i]) : to - from - q->taken[i];
}

/* Places in the order from queue i; false: it is empty. */
static bool take(model_dispatcher *q, uint32_t i, dispatch_segment *s) {
  const uint32_t n = q->claims.n_queues;
  uint64_t from, to;
  model_dispatch_queue(&q->part, q->n_tasks, n, i, &from, &to);
  const uint64_t left = model_dispatch_left(q, i), start = hd_cluster_start(q->n_tasks, n, i);
  if (!left) return false;
  s->next = start + from + q->taken[i];
  if (q->claims.strides) {
    s->apart = q->running;
    s->stop = start + to;
    q->taken[i]++;
  } else {
    s->apart = 1;
    s->stop = s->next + (left < q->at_once ? left : q->at_once);
    q->taken[i] += s->stop - s->next;
  }
  q->left -= left - model_dispatch_left(q, i);
  return true;
}

/* From the SM's own queue; where searches cost nothing, from the next one that has tasks. */
static bool claim(model_dispatcher *q, uint32_t number, dispatch_segment *s) {
  const uint32_t n = q->claims.n_queues, own = q->claims.queue_of[number];
  for (uint32_t k = 0; k < (q->search.waits ? 1 : n); k++)
    if (take(q, (uint32_t)(((uint64_t)own + k) % n), s)) return true;
  return false;
}

static dispatch_segment *segment_of(const model_dispatcher *q, uint32_t number, uint32_t cta) {
  return &q->segments[(size_t)number * q->running + cta];
}

/* The place's next one of its segment. Agents that claim ahead of time have the one after it from then on, as
 * far as their own queue has any. */
static uint64_t next_place(model_dispatcher *q, uint32_t number, dispatch_segment *s) {
  const uint64_t place = s->next;
  s->next += s->apart;
  if (q->claims.ahead && !q->claims.strides && s->next == s->stop) take(q, q->claims.queue_of[number], s);
  return place;
}

/* Workers that take one stride: no more start if all strides are taken, or if there are empty ones on the SM.
 */
static bool has_ended(model_dispatcher *q, uint32_t number) {
  const uint32_t own = q->claims.queue_of[number];
  if (!q->claims.strides) return false;
  if (!q->left) return true;
  const bool empty = q->taken[own] < q->running && !model_dispatch_left(q, own);
  q->taken[own] += empty;
  return empty;
}

/* The next place of the worker in place `cta` of SM `number`. */
static bool claim_next(model_dispatcher *q, uint32_t number, uint32_t cta, uint64_t cycle, uint64_t *place) {
  dispatch_segment *s = segment_of(q, number, cta);
  const bool done = s->next >= s->stop;
  if (done && has_ended(q, number)) return false;
  if (done && !claim(q, number, s)) {
    if (q->search.waits) dispatch_search_begin(&q->search, number, cta, q->claims.queue_of[number], cycle);
    return false;
  }
  *place = next_place(q, number, s);
  return true;
}

/* `ready`: when the task's own instructions begin. */
static void begin_task(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta, uint64_t worker,
                       uint64_t cycle, uint64_t ready) {
  const uint64_t task = q->order ? q->order->task[worker] : worker;
  q->started++;
  if (q->ctas) q->ctas[number]++;
  if (q->watch) model_watch_start(q->watch, number, cta, task, cycle);
  if (m->timed && q->extra)
    model_clock_occupy(&m->clocks[number], cycle,
                       q->extra * m->sms[number].warps_per_cta / m->gpu.issue_per_cycle);
  if (m->timed)
    model_clock_start(&m->clocks[number], &m->sms[number], cta, task, ready);
  else
    model_interleave_start(&m->sms[number], cta, task, ready);
}

void model_dispatch_start(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta, uint64_t worker,
                          uint64_t cycle, uint64_t delay) {
  if (m->timed && m->gpu.launch.cta_cycles > 0 && !(q->claims.agents && delay == q->task_delay)) {
    q->launched = larger(q->launched, (double)cycle);
    cycle = (uint64_t)q->launched;
    q->launched += m->gpu.launch.cta_cycles;
  }
  if (q->how.kind == HD_DISPATCH_DEMAND && q->jitter) cycle += hd_random_at(q->how.seed, worker) % q->jitter;
  begin_task(q, m, number, cta, worker, cycle, cycle + delay);
}

bool model_dispatch_take(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta, uint32_t i,
                         uint64_t cycle) {
  dispatch_segment *s = segment_of(q, number, cta);
  if (!take(q, i, s)) return false;
  begin_task(q, m, number, cta, next_place(q, number, s), cycle, cycle);
  return true;
}

bool model_dispatch_next(model_dispatcher *q, uint32_t number, uint32_t cta, uint32_t n_sms, uint64_t cycle,
                         uint64_t *worker) {
  if (q->claims.n_queues && q->claims.queue_of[number] == UINT32_MAX) return false;
  if (q->claims.vote && cta >= hd_agents_voted(q->running, q->claims.queue_of[number])) return false;
  if (q->claims.n_queues && q->claims.agents)
    return claim_next(q, number, cta, cycle + q->task_delay, worker);
  uint64_t *next = q->how.kind == HD_DISPATCH_DEMAND ? &q->next : &q->queue[number];
  if (*next >= q->n_workers) return false;
  *worker = *next;
  *next += q->how.kind == HD_DISPATCH_DEMAND ? 1 : n_sms;
  return q->claims.n_queues ? claim_next(q, number, cta, cycle + q->claim_delay, worker) : true;
}

/* ---- Costs and parts -------------------------------------------------------------------- */

/* At least one: with claims by workers that are no agents, it is. */
static uint64_t tasks_at_once(const hd_replay_options *o, uint64_t n_tasks, uint32_t running) {
  uint64_t workers = (uint64_t)o->claims.n_queues * running;
  if (!o->claims.agents || !o->claims.segment) return 1;
  return o->claims.segment < UINT64_MAX || !workers ? o->claims.segment : (n_tasks + workers - 1) / workers;
}

/* A claim that was not made ahead of time goes to L2 and back. */
static void price_claims(const hd_model *m, const hd_trace *t, const hd_replay_options *o,
                         model_dispatcher *q) {
  const hd_gpu *g = &m->gpu;
  const uint64_t load = g->l2.latency, code = (uint64_t)o->extra_depth * g->units.alu_latency;
  const uint64_t way = g->l2_atomic_latency ? g->l2_atomic_latency : load;
  if (!o->timed) {
    if (o->claims.n_queues && !o->claims.agents) q->claim_delay = load;
    return;
  }
  q->extra = o->extra;
  q->claim_delay = q->task_delay = code;
  if (!o->claims.n_queues) return;
  q->claim_delay += way;
  if (!o->claims.ahead && !o->claims.segment) q->task_delay += way;
  q->search = (dispatch_search){
      .look = g->l2_look_cycles ? g->l2_look_cycles : load,
      .way = way,
      .code = code,
      .fence = g->units.fence_latency ? g->units.fence_latency : load,
      .at_once = o->claims.by_warp ? (model_trace_threads(t) + HD_WARP - 1) / HD_WARP : 1,
      .port_rate = g->l1_lines_per_cycle,
      .l2_rate = g->l2_requests_per_cycle,
      .line_cycles = g->l2_line_atomics_per_cycle > 0 ? 1 / g->l2_line_atomics_per_cycle : 0};
}

/* The tasks of a part, with queues. */
static uint64_t part_tasks(const hd_replay_part *p, uint64_t tasks, uint32_t n_queues) {
  uint64_t sum = 0, from, to;
  for (uint32_t i = 0; i < n_queues; i++, sum += to - from)
    model_dispatch_queue(p, tasks, n_queues, i, &from, &to);
  return sum;
}

hd_replay_part model_dispatch_part(const hd_replay_options *o, uint64_t tasks) {
  return o->part.n ? o->part : (hd_replay_part){0, tasks};
}

bool model_dispatch_init(model_dispatcher *q, const hd_model *m, const hd_trace *t,
                         const hd_replay_options *o, uint32_t resident) {
  *q = (model_dispatcher){.part = model_dispatch_part(o, model_trace_tasks(t)),
                          .n_tasks = model_trace_tasks(t),
                          .progress = o->timed ? o->progress : NULL,
                          .ctas = o->ctas,
                          .epochs_per_mark = 1,
                          .order = o->order,
                          .how = o->dispatch,
                          .jitter = o->timed ? 0 : m->gpu.dram_latency,
                          .claims = o->claims};
  price_claims(m, t, o, q);
  if (q->claims.n_queues)
    q->n_workers = q->left = part_tasks(&q->part, q->n_tasks, q->claims.n_queues);
  else
    q->next = q->part.first, q->n_workers = q->part.first + q->part.n;
  /* The shared memory of throttled workers stays taken, because they were launched. */
  q->running = resident;
  if (o->claims.agents && o->claims.active && o->claims.active < resident) q->running = o->claims.active;
  q->queue = calloc(m->gpu.n_sms, sizeof *q->queue);
  q->taken = calloc((size_t)o->claims.n_queues + 1, sizeof *q->taken);
  q->segments = calloc((size_t)m->gpu.n_sms * q->running + 1, sizeof *q->segments);
  q->at_once = tasks_at_once(o, q->part.n, q->running);
  if (q->ctas) memset(q->ctas, 0, m->gpu.n_sms * sizeof *q->ctas);
  if (q->progress) *q->progress = (hd_replay_progress){.places = (uint64_t)q->running * m->gpu.n_sms};
  if (!q->queue || !q->taken || !q->segments) {
    model_dispatch_free(q);
    return false;
  }
  for (uint32_t i = 0; i < m->gpu.n_sms; i++) q->queue[i] = q->next + i;
  return true;
}

void model_dispatch_free(model_dispatcher *q) {
  free(q->queue);
  free(q->taken);
  free(q->segments);
  dispatch_search_free(&q->search);
}

uint64_t model_dispatch_gap(const model_dispatcher *q) {
  return q->claims.agents ? q->task_delay : q->claim_delay;
}

bool dispatch_search_init(dispatch_search *s, uint32_t n_sms, uint32_t running) {
  s->port = calloc(n_sms, sizeof *s->port);
  s->waits = calloc((size_t)n_sms * running + 1, sizeof *s->waits);
  s->wake = SM_NEVER;
  return s->port && s->waits;
}

void dispatch_search_free(dispatch_search *s) {
  free(s->port);
  free(s->waits);
}

void dispatch_search_begin(dispatch_search *s, uint32_t number, uint32_t cta, uint32_t queue,
                           uint64_t cycle) {
  const uint64_t at = cycle + s->look / 2;
  s->waits[s->n++] = (dispatch_wait){.at = at, .sm = number, .cta = cta, .queue = queue};
  if (at < s->wake) s->wake = at;
}
