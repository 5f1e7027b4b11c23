#include "model/dispatch.h"

#include <stdlib.h>

static double larger(double a, double b) { return a > b ? a : b; }

/* ---- Places and tasks --------------------------------------------------------------- */

void model_dispatch_queue(const hd_replay_part *p, uint64_t tasks, uint32_t n, uint32_t i, uint64_t *from,
                          uint64_t *to) {
  const uint64_t all = hd_cluster_size(tasks, n, i);
  *from = (uint64_t)((double)all * (double)p->first / (double)tasks);
  *to = (uint64_t)((double)all * (double)(p->first + p->n) / (double)tasks);
  if (*to > all || p->first + p->n == tasks) *to = all;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/* A look at so many queues at cycle `now`, by a worker on SM `number` that searches since `since`: when it
 * has seen them. Loads wait for each other on the way from the SM, and at L2. */
static uint64_t look(dispatch_search *s, uint32_t number, uint64_t since, uint64_t now, uint32_t queues) {
  const double sectors = (double)queues * s->at_once;
  double done = (double)(now + (queues + HD_WARP - 1) / HD_WARP * s->look);
  if (s->port_rate > 0) {
    s->port[number] = larger(s->port[number], (double)since) + sectors / s->port_rate;
    done = larger(done, s->port[number]);
  }
  if (s->l2_rate > 0) {
    s->l2 = larger(s->l2, (double)since) + sectors / s->l2_rate;
    done = larger(done, s->l2);
  }
  return (uint64_t)done;
}

/* The places in the order that a worker on SM `number` claims, and the cycles that its search takes; false:
 * all queues are empty. */
static bool claim(model_dispatcher *q, uint32_t number, uint64_t cycle, dispatch_segment *s,
                  uint64_t *cycles) {
  const uint32_t n = q->claims.n_queues, own = q->claims.queue_of[number];
  uint64_t now = cycle;
  *cycles = 0;
  for (uint32_t k = 0, seen = 0; k < n; k++) {
    const uint32_t i = (uint32_t)(((uint64_t)own + k) % n);
    uint64_t from, to;
    model_dispatch_queue(&q->part, q->n_tasks, n, i, &from, &to);
    const uint64_t left = to - from - q->taken[i];
    /* It had tasks when the worker looked at it. */
    const bool late = k && !left && to > from && q->search.emptied[i] + q->search.seen > now;
    if (!left && !late) continue;
    if (k) now = look(&q->search, number, cycle, now, k - seen) + q->search.take;
    seen = k;
    if (late) continue;
    s->next = hd_cluster_start(q->n_tasks, n, i) + from + q->taken[i];
    s->stop = s->next + (left < q->at_once ? left : q->at_once);
    q->taken[i] += s->stop - s->next;
    *cycles = now - cycle;
    q->search.emptied[i] = now;
    return true;
  }
  *cycles = look(&q->search, number, cycle, now, n) - cycle;
  return false;
}

/* The next place of the worker in place `cta` of SM `number`. */
static bool claim_next(model_dispatcher *q, uint32_t number, uint32_t cta, uint64_t cycle,
                       dispatch_turn *out) {
  dispatch_segment *s = &q->segments[(size_t)number * q->running + cta];
  out->search = 0;
  if (s->next == s->stop && !claim(q, number, cycle, s, &out->search)) return false;
  out->worker = s->next++;
  return true;
}

void model_dispatch_start(model_dispatcher *q, hd_model *m, uint32_t number, uint32_t cta,
                          const dispatch_turn *turn, uint64_t cycle, uint64_t delay) {
  q->started++;
  uint64_t task = q->order ? q->order->task[turn->worker] : turn->worker;
  if (m->timed && m->gpu.launch.cta_cycles > 0 && !(q->claims.agents && delay == q->task_delay)) {
    q->launched = larger(q->launched, (double)cycle);
    cycle = (uint64_t)q->launched;
    q->launched += m->gpu.launch.cta_cycles;
  }
  cycle += delay;
  if (q->how.kind == HD_DISPATCH_DEMAND && q->jitter)
    cycle += hd_random_at(q->how.seed, turn->worker) % q->jitter;
  if (m->timed && q->extra)
    model_clock_occupy(&m->clocks[number], cycle - delay,
                       q->extra * m->sms[number].warps_per_cta / m->gpu.issue_per_cycle);
  if (m->timed)
    model_clock_start(&m->clocks[number], &m->sms[number], cta, task, cycle + turn->search);
  else
    model_sm_start(&m->sms[number], cta, task, cycle);
}

bool model_dispatch_next(model_dispatcher *q, uint32_t number, uint32_t cta, uint32_t n_sms, uint64_t cycle,
                         dispatch_turn *out) {
  out->search = 0;
  if (q->claims.n_queues && q->claims.queue_of[number] == UINT32_MAX) return false;
  if (q->claims.n_queues && q->claims.agents) {
    const bool found = claim_next(q, number, cta, cycle, out);
    if (!found) q->gone = later(q->gone, cycle + q->leave_delay + out->search);
    return found;
  }
  uint64_t *next = q->how.kind == HD_DISPATCH_DEMAND ? &q->next : &q->queue[number];
  if (*next >= q->n_workers) return false;
  out->worker = *next;
  *next += q->how.kind == HD_DISPATCH_DEMAND ? 1 : n_sms;
  return q->claims.n_queues ? claim_next(q, number, cta, cycle, out) : true;
}

/* ---- Costs and parts -------------------------------------------------------------------- */

/* At least one: with claims by workers that are no agents, it is. */
static uint64_t tasks_at_once(const hd_replay_options *o, uint64_t n_tasks, uint32_t running) {
  uint64_t workers = (uint64_t)o->claims.n_queues * running;
  if (!o->claims.agents || !o->claims.segment) return 1;
  return o->claims.segment < UINT64_MAX || !workers ? o->claims.segment : (n_tasks + workers - 1) / workers;
}

/* A claim that was not made ahead of time goes to L2 and back; so does an agent that leaves, first to find
 * its own queue empty, and after its search to count itself out. */
static void price_claims(const hd_model *m, const hd_trace *t, const hd_replay_options *o,
                         model_dispatcher *q) {
  if (!o->timed) {
    if (o->claims.n_queues && !o->claims.agents) q->claim_delay = m->gpu.l2.latency;
    return;
  }
  uint64_t look = m->gpu.l2.latency, way = m->gpu.l2_atomic_latency ? m->gpu.l2_atomic_latency : look;
  uint64_t code = (uint64_t)o->extra_depth * m->gpu.units.alu_latency;
  q->extra = o->extra;
  q->claim_delay = q->task_delay = code;
  if (!o->claims.n_queues) return;
  q->claim_delay += way;
  q->leave_delay = o->claims.agents ? 2 * way : 0;
  q->fence = m->gpu.units.fence_latency ? m->gpu.units.fence_latency : look;
  q->search.look = look;
  q->search.take = way;
  q->search.seen = (look + way) / 2;
  q->search.at_once = o->claims.by_warp ? (model_trace_threads(t) + HD_WARP - 1) / HD_WARP : 1;
  q->search.port_rate = m->gpu.l1_lines_per_cycle;
  q->search.l2_rate = m->gpu.l2_requests_per_cycle;
}

uint64_t model_dispatch_tail(const model_dispatcher *q, uint64_t end) {
  const uint64_t over = q->gone > end ? q->gone - end : 0;
  return q->claims.n_queues ? over + q->fence : 0; /* the last worker clears the queues */
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
                          .epochs_per_mark = 1,
                          .order = o->order,
                          .how = o->dispatch,
                          .jitter = o->timed ? 0 : m->gpu.dram_latency,
                          .claims = o->claims};
  price_claims(m, t, o, q);
  if (q->claims.n_queues)
    q->n_workers = part_tasks(&q->part, q->n_tasks, q->claims.n_queues);
  else
    q->next = q->part.first, q->n_workers = q->part.first + q->part.n;
  /* The shared memory of throttled workers stays taken, because they were launched. */
  q->running = resident;
  if (o->claims.agents && o->claims.active && o->claims.active < resident) q->running = o->claims.active;
  q->queue = calloc(m->gpu.n_sms, sizeof *q->queue);
  q->taken = calloc((size_t)o->claims.n_queues + 1, sizeof *q->taken);
  q->segments = calloc((size_t)m->gpu.n_sms * q->running + 1, sizeof *q->segments);
  q->search.emptied = calloc((size_t)o->claims.n_queues + 1, sizeof *q->search.emptied);
  q->search.port = calloc(m->gpu.n_sms, sizeof *q->search.port);
  q->at_once = tasks_at_once(o, q->part.n, q->running);
  if (q->progress) *q->progress = (hd_replay_progress){.places = (uint64_t)q->running * m->gpu.n_sms};
  if (!q->queue || !q->taken || !q->segments || !q->search.emptied || !q->search.port) {
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
  free(q->search.emptied);
  free(q->search.port);
}

uint64_t model_dispatch_gap(const model_dispatcher *q) {
  return q->claims.agents ? q->task_delay : q->leave_delay + q->claim_delay;
}
