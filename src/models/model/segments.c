/* Segments: steps between two events of a warp, equal ones once. */
#include "model/builder.h"

#include <string.h>

static uint64_t hash_segment(const model_step *steps, uint32_t n, const model_segment *s) {
  uint64_t h = n ? hd_hash(steps, n * sizeof *steps) : 0;
  return h + s->event * 0x9E3779B97F4A7C15ull + s->joined + 0x51ull * s->repeats;
}

static uint64_t hash_kept(const void *pace, uint32_t number) {
  const model_pace *p = pace;
  const model_segment *s = &p->segments.data[number];
  return hash_segment(p->steps.data + s->step, s->n_steps, s);
}

/* The number of a segment of these steps: an equal one's if there is one. */
static bool intern(model_pace *p, const model_step *steps, model_segment *s, uint32_t *number) {
  model_index *x = &p->by_segment;
  if (!model_index_room(x, hash_kept, p)) return false;
  size_t at = hash_segment(steps, s->n_steps, s) & (x->cap - 1);
  for (; x->slot[at]; at = (at + 1) & (x->cap - 1)) {
    const model_segment *o = &p->segments.data[x->slot[at] - 1];
    if (o->n_steps != s->n_steps || o->event != s->event || o->joined != s->joined ||
        o->repeats != s->repeats)
      continue;
    if (s->n_steps && memcmp(p->steps.data + o->step, steps, s->n_steps * sizeof *steps) != 0) continue;
    *number = x->slot[at] - 1;
    return true;
  }
  s->step = (uint32_t)p->steps.n;
  if (p->segments.n >= UINT32_MAX - 1 || p->steps.n + s->n_steps > UINT32_MAX) return false;
  if (!hd_vec_reserve(&p->steps, p->steps.n + s->n_steps) || !hd_vec_push(&p->segments, *s)) return false;
  if (s->n_steps) memcpy(p->steps.data + p->steps.n, steps, s->n_steps * sizeof *steps);
  p->steps.n += s->n_steps;
  *number = (uint32_t)(p->segments.n - 1);
  model_index_put(x, at, *number);
  return true;
}

void pace_close_step(pace_builder *b, uint32_t wait) {
  model_step *s = &b->step;
  s->latency = (uint32_t)(b->now - b->began);
  for (unsigned u = 0; u < MODEL_UNITS; u++) {
    double whole = (double)(uint64_t)b->busy[u];
    if (whole > UINT16_MAX) whole = UINT16_MAX;
    s->busy[u] = (uint16_t)whole;
    b->busy[u] -= whole;
  }
  if ((s->latency || s->wait || s->issue) && !hd_vec_push(&b->steps, *s)) b->failed = true;
  uint32_t age = wait ? b->loads - wait + 1 : 0;
  *s = (model_step){.wait = (uint16_t)(age < PACE_LOADS ? age : PACE_LOADS), .repeat = 1};
  b->began = b->now;
}

static void end_segment(pace_builder *b, model_event_kind kind, bool joined) {
  pace_close_step(b, 0);
  model_segment s = {.n_steps = (uint32_t)b->steps.n,
                     .event = (uint8_t)kind,
                     .repeats = (uint16_t)b->repeats,
                     .joined = joined};
  b->repeats = 0;
  uint32_t number;
  if (!intern(b->pace, b->steps.data, &s, &number) || !hd_vec_push(&b->out->segments, number))
    b->failed = true;
  b->steps.n = 0;
  if (kind == EVENT_LOAD && !joined) b->loads++;
}

void pace_send(pace_builder *b, later *l) {
  for (; l->events; l->events--) end_segment(b, EVENT_ACCESS, false);
}

void pace_event(pace_builder *b, model_event_kind kind, bool joined) {
  while (b->unsent < b->laters.n) pace_send(b, &b->laters.data[b->unsent++]);
  end_segment(b, kind, joined);
}
