/* Operations in streams: submitted in the program's order, run in any order that the streams allow.
 *
 * An operation waits for the earlier ones of its stream and for those in `after`: the operations that an
 * event recorded, and those that the default stream orders. Without a seed every operation runs where it is
 * submitted, unless it waits for the host (aside.c). With a seed it stays until the program waits for it, and
 * the seed picks the next among those that may run, so that a result that depends on an order the program
 * does not ensure comes out differently.
 */
#include <stdlib.h>

#include "cuda/core/capture.h"
#include "cuda/core/order.h"
#include "cuda/core/queue.h"

core_queue core_queue_now;
static core_queue *const queue = &core_queue_now;

/* ---- Works and operations ----------------------------------------------------------------------------- */

void *core_work_new(core_work_kind kind, size_t bytes, core_context *c, cu_result (*run)(core_work *)) {
  core_work *w = calloc(1, bytes);
  if (!w) return NULL;
  *w = (core_work){.kind = kind, .refs = 1, .context = c, .run = run};
  return w;
}

void core_work_release(core_work *w) {
  if (!w || --w->refs) return;
  if (w->drop) w->drop(w);
  free(w);
}

void core_op_release(core_op *o) {
  if (!o || --o->refs) return;
  core_work_release(o->work);
  hd_vec_free(&o->clock);
  free(o->after);
  free(o);
}

static bool depend(core_op *o, core_op *on) {
  if (on) core_order_behind(o, on);
  if (!on || on->state == CORE_DONE) return true;
  core_op **grown = realloc(o->after, (o->n_after + 1) * sizeof *grown);
  if (!grown) return false;
  o->after = grown;
  o->after[o->n_after++] = on;
  on->refs++;
  return true;
}

/* The legacy default stream comes behind all streams that do not opt out, and they behind it. */
static bool depend_on_default(core_op *o) {
  core_stream *s = o->stream;
  const core_context *c = s->context;
  if (s->flags & CU_STREAM_NON_BLOCKING) return true;
  if (s != c->legacy) return depend(o, c->legacy->last);
  for (size_t k = 0; k < c->streams.n; k++)
    if (!(c->streams.data[k]->flags & CU_STREAM_NON_BLOCKING) && !depend(o, c->streams.data[k]->last))
      return false;
  return true;
}

/* ---- Running --------------------------------------------------------------------------------- */

static bool ready(const core_op *o) {
  for (size_t k = 0; k < o->n_after; k++)
    if (o->after[k]->state != CORE_DONE) return false;
  return true;
}

core_op *core_queue_pick(void) {
  core_op *best = NULL;
  uint64_t n = 0;
  for (size_t k = 0; k < core.contexts.n; k++)
    for (size_t i = 0; i < core.contexts.data[k]->streams.n; i++) {
      core_op *o = core.contexts.data[k]->streams.data[i]->head;
      if (!o || o->state != CORE_PENDING || !ready(o)) continue;
      n++;
      if (core.settings.seed ? hd_random_at(core.settings.seed, queue->draws++) % n == 0
                             : !best || o->serial < best->serial)
        best = o;
    }
  return best;
}

void core_queue_start(core_op *o) {
  queue->running = true;
  queue->current = o;
  o->state = CORE_RUNNING;
  if (!o->work->may_wait || !core_aside_start(o)) core_queue_run(o);
}

void core_queue_run(core_op *o) {
  core_context *c = o->work->context;
  cu_result r = c->fault;
  if (r == CU_SUCCESS) {
    core_order_begin(o);
    pthread_mutex_unlock(&core.lock);
    r = o->work->run(o->work);
    pthread_mutex_lock(&core.lock);
    core_order_end(o);
  }
  if (r != CU_SUCCESS && c->fault == CU_SUCCESS) c->fault = r;
  core_work_release(o->work);
  o->work = NULL;
  o->state = CORE_DONE;
  o->ended = hd_seconds();
  for (size_t k = 0; k < o->n_after; k++) core_op_release(o->after[k]);
  o->n_after = 0;
  o->stream->head = o->next;
  queue->running = false;
  queue->current = NULL;
  queue->pending--;
  queue->events++;
  pthread_cond_broadcast(&core.changed);
  core_op_release(o);
}

/* Run the next operation. False: none can run now. */
static bool run_next(void) {
  core_op *o = queue->pending && !queue->running ? core_queue_pick() : NULL;
  if (o) core_queue_start(o);
  return o != NULL;
}

/* Let an operation run, or end, for a thread that stays until `op` ends; NULL: all. False: none can. */
static bool step(const core_op *op) {
  if (run_next()) return true;
  if (!queue->running && !queue->waiting) return false;
  core_blocked me = {op, queue->blocked}, **at = &queue->blocked;
  queue->blocked = &me;
  pthread_cond_wait(&core.changed, &core.lock);
  while (*at != &me) at = &(*at)->next;
  *at = me.next;
  return true;
}

/* Likewise for a thread that does not stay while operations wait for others. */
static bool step_submitted(void) {
  if (run_next()) return true;
  if (!queue->running || core_aside_waited(queue->current)) return false;
  pthread_cond_wait(&core.changed, &core.lock);
  return true;
}

/* ---- Submitting and waiting ------------------------------------------------------------------ */

static core_op *new_op(core_stream *s, core_work *w, core_op *after) {
  core_op *o = calloc(1, sizeof *o);
  if (!o) return NULL;
  *o = (core_op){.refs = 1, .stream = s, .work = w, .serial = ++queue->serial};
  if (depend(o, after) && depend_on_default(o)) return o;
  for (size_t k = 0; k < o->n_after; k++) core_op_release(o->after[k]);
  free(o->after);
  free(o);
  return NULL;
}

static const cu_node_type node_types[] = {
    [CORE_WORK_KERNEL] = CU_NODE_KERNEL, [CORE_WORK_COPY] = CU_NODE_COPY,
    [CORE_WORK_SET] = CU_NODE_SET,       [CORE_WORK_HOST] = CU_NODE_HOST,
    [CORE_WORK_EMPTY] = CU_NODE_EMPTY,   [CORE_WORK_EVENT] = CU_NODE_RECORD,
    [CORE_WORK_FREE] = CU_NODE_FREE,     [CORE_WORK_GRAPH] = CU_NODE_GRAPH,
    [CORE_WORK_ALLOC] = CU_NODE_ALLOC,   [CORE_WORK_VALUE] = CU_NODE_VALUE};

cu_result core_submit(core_stream *s, core_work *w, core_op *after, core_op **out) {
  if (out) *out = NULL;
  const cu_result implicit = s == s->context->legacy ? core_capture_implicit(s->context) : CU_SUCCESS;
  if (implicit != CU_SUCCESS) {
    core_work_release(w);
    return implicit;
  }
  if (s->capture) return core_capture_add(s, node_types[w->kind], w);
  core_op *o = s->context->fault ? NULL : new_op(s, w, after);
  if (!o) {
    core_work_release(w);
    return s->context->fault ? s->context->fault : CU_OUT_OF_MEMORY;
  }
  core_order_submitted(o, !queue->pending);
  if (s->head)
    s->last->next = o;
  else
    s->head = o;
  core_op_release(s->last);
  o->refs++; /* the queue's, and the stream's last */
  s->last = o;
  queue->pending++;
  queue->events++;
  if (out) {
    *out = o;
    o->refs++;
  }
  /* A fault shows at a later call, as it does where operations really are asynchronous. */
  o->refs++;
  if (!core.settings.seed)
    while (o->state != CORE_DONE && !core_aside_waited(o) && step_submitted()) continue;
  else if (hd_random_at(~core.settings.seed, queue->draws++) % 3 == 0)
    step_submitted(); /* some run early */
  core_op_release(o);
  core_aside_later();
  return CU_SUCCESS;
}

/* Run operations until this one is over, of which the host then knows. */
static cu_result wait_op(core_op *o, core_context *c, void (*know)(const core_op *)) {
  if (o) {
    o->refs++;
    while (o->state != CORE_DONE && step(o)) continue;
    if (know) know(o);
    core_op_release(o);
  }
  return c->fault;
}

cu_result core_wait_op(core_op *o, core_context *c) { return wait_op(o, c, core_order_waited); }

cu_result core_wait_staged(core_op *o, core_context *c, bool async) {
  return wait_op(o, c, async ? NULL : core_order_waited_before);
}

static cu_result wait_for(core_context *c, bool all) {
  for (size_t k = 0; k < c->streams.n; k++)
    if (all || !(c->streams.data[k]->flags & CU_STREAM_NON_BLOCKING))
      core_wait_op(c->streams.data[k]->last, c);
  core_order_waited_gone(c, all);
  return c->fault;
}

/* The default stream is behind all that do not opt out. */
cu_result core_wait_stream(core_stream *s) {
  if (s->capture) return core_capture_refuse(s);
  return s == s->context->legacy ? wait_for(s->context, false) : core_wait_op(s->last, s->context);
}

cu_result core_wait_context(core_context *c) { return wait_for(c, true); }

cu_result core_wait_all(void) {
  while (queue->pending && step(NULL)) continue;
  for (size_t k = 0; k < core.contexts.n; k++) (void)wait_for(core.contexts.data[k], true);
  return CU_SUCCESS;
}

bool core_stream_idle(core_stream *s) {
  const core_context *c = s->context;
  bool idle = !s->head;
  for (size_t k = 0; s == c->legacy && k < c->streams.n; k++)
    idle &= c->streams.data[k]->flags & CU_STREAM_NON_BLOCKING || !c->streams.data[k]->head;
  if (idle)
    (void)core_wait_stream(s); /* the program knows, as if it had waited */
  else if (core.settings.seed)
    run_next(); /* so that a program that polls makes progress */
  return idle;
}

bool core_op_over(const core_op *o) {
  if (o->state != CORE_DONE && core.settings.seed) run_next();
  if (o->state == CORE_DONE) core_order_waited(o);
  return o->state == CORE_DONE;
}

core_op *core_op_now(void) {
  const core_op *o = queue->current;
  core_op *now = o ? calloc(1, sizeof *now) : NULL;
  if (!now) return NULL;
  *now = (core_op){.refs = 1,
                   .state = CORE_DONE,
                   .stream = o->stream,
                   .serial = o->serial,
                   .ended = hd_seconds(),
                   .tick = o->tick};
  for (size_t k = 0; k < o->clock.n; k++)
    if (!hd_vec_push(&now->clock, o->clock.data[k]))
      break; /* what is not known to be over is taken as pending */
  return now;
}

/* ---- Streams --------------------------------------------------------------------------------- */

cu_result core_stream_create(core_context *c, unsigned flags, int priority, core_stream **out) {
  core_stream *s = calloc(1, sizeof *s);
  if (!s || !hd_vec_push(&c->streams, s)) {
    free(s);
    return CU_OUT_OF_MEMORY;
  }
  s->kind = CORE_STREAM;
  s->context = c;
  s->flags = flags;
  s->priority = priority;
  s->id = ++core.next_id;
  *out = s;
  return CU_SUCCESS;
}

void core_stream_destroy(core_stream *s) {
  core_context *c = s->context;
  core_graph *lost;
  if (s->capture && s->capture->origin == s && core_capture_end(s, &lost) == CU_SUCCESS)
    core_graph_destroy(lost);
  while (s->head && step(s->last)) continue;
  core_order_destroyed(s);
  core_unordered_destroyed(s);
  core_op_release(s->last);
  s->last = NULL;
  free(s->attributes);
  s->attributes = NULL;
  for (size_t k = 0; k < c->streams.n; k++)
    if (c->streams.data[k] == s) c->streams.data[k] = c->streams.data[--c->streams.n];
  s->kind = CORE_DEAD;
}

static cu_result thread_stream(core_context *c, core_stream **out) {
  const uint64_t me = core_thread();
  for (size_t k = 0; k < c->streams.n; k++)
    if (c->streams.data[k]->thread == me) {
      *out = c->streams.data[k];
      return CU_SUCCESS;
    }
  cu_result r = core_stream_create(c, 0, 0, out);
  if (r == CU_SUCCESS) (*out)->thread = me;
  return r;
}

cu_result core_stream_of(cu_stream handle, bool per_thread, core_stream **out) {
  core_context *c = core_current();
  if (!c) return CU_INVALID_CONTEXT;
  if (handle == CU_STREAM_PER_THREAD || (!handle && per_thread)) return thread_stream(c, out);
  if (!handle || handle == CU_STREAM_LEGACY) {
    *out = c->legacy;
    return CU_SUCCESS;
  }
  *out = handle;
  if (handle->kind == CORE_STREAM) return CU_SUCCESS;
  return handle->kind == CORE_DEAD ? CU_CONTEXT_IS_DESTROYED : CU_INVALID_HANDLE;
}
