/* The order of operations that the program ensures: by streams, events, the default stream, graphs and waits
 * of the host. Each operation has a vector clock of the operations before it; the host has one of those that
 * it has waited for.
 */
#include <stdlib.h>

#include "cuda/core/order.h"
#include "cuda/core/queue.h"

static core_clock host;

static bool wanted(void) { return (core.settings.checks & HD_PROGRAM_CHECK_STREAMS) != 0; }

/* ---- Clocks ---------------------------------------------------------------------------------- */

uint64_t core_clock_at(const core_clock *c, uint64_t stream) {
  for (size_t k = 0; k < c->n; k++)
    if (c->data[k].stream == stream) return c->data[k].tick;
  return 0;
}

static void advance(core_clock *c, uint64_t stream, uint64_t tick) {
  for (size_t k = 0; k < c->n; k++)
    if (c->data[k].stream == stream) {
      if (c->data[k].tick < tick) c->data[k].tick = tick;
      return;
    }
  const core_tick t = {stream, tick};
  (void)hd_vec_push(c, t);
}

void core_clock_join(core_clock *c, const core_clock *with) {
  for (size_t k = 0; k < with->n; k++) advance(c, with->data[k].stream, with->data[k].tick);
}

static bool host_knows(uint64_t stream, uint64_t tick) { return core_clock_at(&host, stream) >= tick; }

static void host_learns(const core_clock *c) {
  core_clock_join(&host, c);
  core_unordered_release(host_knows);
}

/* Streams that have gone, and all of whose operations the host has waited for: every later operation comes
 * behind these, so that no clock needs them. */
static void drop_gone_streams(void) {
  size_t n = 0;
  for (size_t k = 0; k < host.n; k++) {
    bool live = false;
    for (size_t c = 0; c < core.contexts.n && !live; c++)
      for (size_t s = 0; s < core.contexts.data[c]->streams.n && !live; s++)
        live = core.contexts.data[c]->streams.data[s]->id == host.data[k].stream;
    if (live || core_unordered_has(host.data[k].stream)) host.data[n++] = host.data[k];
  }
  host.n = n;
}

/* ---- Operations ------------------------------------------------------------------------------ */

void core_order_behind(core_op *o, const core_op *on) {
  if (wanted()) core_clock_join(&o->clock, &on->clock);
}

void core_order_submitted(core_op *o, bool alone) {
  enum { OFTEN = 64 };
  if (!wanted()) return;
  if (alone && host.n > OFTEN && !(o->serial % OFTEN)) drop_gone_streams();
  if (alone) core_unordered_forget_known(host_knows);
  core_clock_join(&o->clock, &host);
  o->surely = core_clock_at(&o->clock, o->stream->id);
  if (o->stream->last) core_clock_join(&o->clock, &o->stream->last->clock);
  if (o->stream == o->stream->context->legacy) core_clock_join(&o->clock, &o->stream->context->gone[0]);
  o->tick = ++o->stream->ticks;
  advance(&o->clock, o->stream->id, o->tick);
}

void core_order_waited(const core_op *o) {
  if (wanted()) host_learns(&o->clock);
}

void core_order_waited_before(const core_op *o) {
  if (!wanted()) return;
  for (size_t k = 0; k < o->clock.n; k++) {
    const core_tick t = o->clock.data[k];
    advance(&host, t.stream, t.tick - (t.stream == o->stream->id));
  }
  core_unordered_release(host_knows);
}

void core_order_destroyed(const core_stream *s) {
  const bool alone = (s->flags & CU_STREAM_NON_BLOCKING) != 0;
  if (wanted() && s->last) core_clock_join(&s->context->gone[alone], &s->last->clock);
}

void core_order_waited_gone(core_context *c, bool all) {
  for (int k = 0; k < (all ? 2 : 1); k++) {
    if (c->gone[k].n) host_learns(&c->gone[k]);
    hd_vec_free(&c->gone[k]); /* later operations come behind the host */
  }
}

/* A host function runs behind the operations before its own, and can let any thread know. */
void core_order_host_function(const core_op *o) {
  if (!wanted()) return;
  for (size_t k = 0; k < o->clock.n; k++) {
    const core_tick t = o->clock.data[k];
    advance(&host, t.stream, t.tick - (t.stream == o->stream->id && o->work->kind == CORE_WORK_GRAPH));
  }
  core_unordered_release(host_knows);
}

/* Which wait a value ends is not known: all operations that are pending then count as behind all that was
 * published. Findings may be missed, but none is wrong. */
void core_order_tell(void) {
  pthread_mutex_lock(&core.lock);
  core_order_host_function(core_queue_now.current);
  pthread_mutex_unlock(&core.lock);
}

void core_order_told(void) {
  if (!wanted()) return;
  pthread_mutex_lock(&core.lock);
  for (size_t c = 0; c < core.contexts.n; c++)
    for (size_t k = 0; k < core.contexts.data[c]->streams.n; k++)
      for (core_op *o = core.contexts.data[c]->streams.data[k]->head; o; o = o->next) {
        const uint64_t surely = core_clock_at(&host, o->stream->id);
        core_clock_join(&o->clock, &host);
        if (o->surely < surely) o->surely = surely;
      }
  pthread_mutex_unlock(&core.lock);
}

/* ---- Steps of a graph ------------------------------------------------------------------------ */

bool core_steps_join(core_steps *to, const core_steps *from) {
  const size_t have = to->n;
  if (from->n <= have) {
    for (size_t k = 0; k < from->n; k++) to->data[k] |= from->data[k];
    return true;
  }
  if (!hd_vec_reserve(to, from->n)) return false;
  for (size_t k = 0; k < from->n; k++) to->data[k] = from->data[k] | (k < have ? to->data[k] : 0);
  to->n = from->n;
  return true;
}

bool core_steps_add(core_steps *to, uint32_t step) {
  if (!wanted()) return true;
  while (to->n <= step / 64)
    if (!hd_vec_push(to, 0)) return false;
  to->data[step / 64] |= UINT64_C(1) << step % 64;
  return true;
}

bool core_steps_has(const core_steps *s, uint32_t step) {
  return step / 64 < s->n && s->data[step / 64] >> step % 64 & 1;
}
