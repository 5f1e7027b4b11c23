#include "model/stream.h"

#include <stdlib.h>
#include <string.h>

static inline uint64_t zigzag(uint64_t v) { return (v << 1) ^ (uint64_t)((int64_t)v >> 63); }
static inline uint64_t unzigzag(uint64_t v) { return (v >> 1) ^ -(v & 1); }

/* ---- Writing ---------------------------------------------------------------- */

enum { VARINT_MAX = 10, SHAPE_MAX = 3 + HD_WARP * 2 * VARINT_MAX };

static uint8_t *varint_put(uint8_t *p, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *p++ = (uint8_t)(v | 0x80);
  *p++ = (uint8_t)v;
  return p;
}

static uint32_t shape_put(const model_runs *runs, uint8_t *out) {
  bool even = true, affine = runs->n > 1;
  uint32_t varints = 0; /* bytes that the distances would take */
  bool units = true;    /* all distances are i32 in units of 4 bytes */
  uint64_t step = runs->n > 1 ? runs->start[1] - runs->start[0] : 0;
  for (uint32_t i = 1; i < runs->n; i++) {
    uint64_t distance = runs->start[i] - runs->start[i - 1];
    even &= runs->bytes[i] == runs->bytes[0];
    affine &= distance == step;
    varints += (70u - (unsigned)__builtin_clzll(zigzag(distance) | 1)) / 7;
    units &= !(distance & 3) && distance + (1ull << 33) < 1ull << 34;
  }
  bool scattered = runs->n > 1 && even && !affine && units && varints + 4 >= 4 * (runs->n - 1);
  uint8_t *p = out;
  *p++ = (uint8_t)((runs->n - 1) | (even ? SHAPE_EVEN : 0) | (affine ? SHAPE_AFFINE : 0) |
                   (scattered ? SHAPE_SCATTERED : 0));
  uint8_t *length = p;
  if (runs->n > 1) p += 2;
  uint8_t *body = p;
  p = varint_put(p, runs->bytes[0]);
  if (affine) p = varint_put(p, zigzag(step));
  for (uint32_t i = 1; i < runs->n; i++) {
    uint64_t distance = runs->start[i] - runs->start[i - 1];
    if (scattered) {
      int32_t units_of_4 = (int32_t)((int64_t)distance / 4);
      memcpy(p, &units_of_4, sizeof units_of_4);
      p += sizeof units_of_4;
    } else if (!affine) {
      p = varint_put(p, zigzag(distance));
    }
    if (!even) p = varint_put(p, runs->bytes[i]);
  }
  if (runs->n > 1) {
    length[0] = (uint8_t)(p - body);
    length[1] = (uint8_t)((p - body) >> 8);
  }
  return (uint32_t)(p - out);
}

void model_stream_begin(model_stream_writer *w) {
  w->out.n = 0;
  w->base = w->last = 0;
  w->accesses = w->repeats = 0;
  w->n_slots = 1;
  w->victim = 1;
  w->current = STREAM_BARRIER;
  w->failed = false;
  memset(&w->slots[STREAM_BARRIER], 0, sizeof w->slots[0]);
}

void model_stream_free(model_stream_writer *w) { hd_vec_free(&w->out); }

static void put(model_stream_writer *w, const uint8_t *bytes, size_t n) {
  if (!hd_vec_reserve(&w->out, w->out.n + n)) {
    w->failed = true;
    return;
  }
  memcpy(w->out.data + w->out.n, bytes, n);
  w->out.n += n;
}

static void flush_repeats(model_stream_writer *w) {
  if (!w->repeats) return;
  uint8_t bytes[1 + VARINT_MAX], *p = bytes;
  uint64_t more = w->repeats - 1;
  *p++ = (uint8_t)(OP_REPEAT | (more < 31 ? more : 31) << 3);
  if (more >= 31) p = varint_put(p, more - 31);
  put(w, bytes, (size_t)(p - bytes));
  w->repeats = 0;
}

void model_stream_finish(model_stream_writer *w) { flush_repeats(w); }

static uint8_t *op_put(uint8_t *p, unsigned op, uint8_t slot) {
  *p++ = (uint8_t)(op | (slot < 31 ? slot : 31) << 3);
  if (slot >= 31) *p++ = slot;
  return p;
}

/* After an access in `slot`: it follows the one before. */
static void link_slot(model_stream_writer *w, uint8_t slot) {
  w->slots[w->current].next = slot;
  w->current = slot;
}

void model_stream_put_barrier(model_stream_writer *w) {
  if (w->slots[w->current].next == STREAM_BARRIER) {
    w->repeats++;
  } else {
    uint8_t op[2];
    flush_repeats(w);
    put(w, op, (size_t)(op_put(op, OP_GOTO, STREAM_BARRIER) - op));
  }
  link_slot(w, STREAM_BARRIER);
}

/* The slot of an instruction, or 0: it has none. */
static uint8_t find_slot(const model_stream_writer *w, uint64_t key) {
  uint8_t guess = w->slots[w->current].next;
  if (guess != STREAM_BARRIER && w->slots[guess].key == key) return guess;
  for (uint32_t i = 1; i < w->n_slots; i++)
    if (w->slots[i].key == key) return (uint8_t)i;
  return 0;
}

static void define(model_stream_writer *w, uint64_t key, uint32_t inst, uint8_t attr,
                   const model_runs *runs) {
  /* A kernel with more memory instructions than slots: they take turns. */
  uint8_t slot = (uint8_t)w->victim;
  if (w->n_slots < STREAM_SLOTS)
    slot = (uint8_t)w->n_slots++;
  else
    w->victim = w->victim + 1 < STREAM_SLOTS ? w->victim + 1 : 1;
  flush_repeats(w);
  uint8_t bytes[3 + 2 * VARINT_MAX + SHAPE_MAX], *p = op_put(bytes, OP_DEFINE, slot);
  *p++ = attr;
  p = varint_put(p, inst);
  p = varint_put(p, zigzag(runs->start[0] - w->last));
  uint32_t shape_bytes = shape_put(runs, p);
  model_stream_writer_slot *s = &w->slots[slot];
  *s = (model_stream_writer_slot){.key = key,
                                  .address = runs->start[0],
                                  .shape = w->out.n + (size_t)(p - bytes),
                                  .shape_bytes = shape_bytes};
  put(w, bytes, (size_t)(p - bytes) + shape_bytes);
  link_slot(w, slot);
}

void model_stream_put(model_stream_writer *w, uint32_t inst, uint8_t attr, const model_runs *runs) {
  uint64_t address = runs->start[0], key = (uint64_t)inst << 8 | attr;
  if (!w->accesses++) w->base = w->last = address;
  uint8_t slot = w->failed ? 0 : find_slot(w, key);
  if (!slot) {
    if (!w->failed) define(w, key, inst, attr, runs);
    w->last = address;
    return;
  }
  model_stream_writer_slot *s = &w->slots[slot];
  uint8_t shape[SHAPE_MAX];
  uint32_t shape_bytes = shape_put(runs, shape);
  uint64_t move = address - s->address;
  bool other_slot = slot != w->slots[w->current].next, other_move = move != s->stride;
  bool other_shape = shape_bytes != s->shape_bytes || memcmp(shape, w->out.data + s->shape, shape_bytes) != 0;
  if (!other_slot && !other_move && !other_shape) {
    w->repeats++;
    s->trusted = 1;
  } else {
    static const uint8_t op_of[2][2][2] = {/* other slot, move, shape */
                                           {{OP_REPEAT, OP_SHAPE}, {OP_MOVE, OP_BOTH}},
                                           {{OP_GOTO, OP_GOTO_BOTH}, {OP_GOTO_MOVE, OP_GOTO_BOTH}}};
    unsigned op = op_of[other_slot][other_move][other_shape];
    flush_repeats(w);
    uint8_t bytes[2 + VARINT_MAX], *p = bytes;
    if (other_slot)
      p = op_put(p, op, slot);
    else
      *p++ = (uint8_t)op;
    if (op == OP_SHAPE || op == OP_GOTO) {
      s->trusted = 1;
    } else {
      p = varint_put(p, zigzag(move));
      if (!s->trusted) s->stride = move;
      s->trusted = 0;
    }
    put(w, bytes, (size_t)(p - bytes));
    if (other_shape) {
      s->shape = w->out.n;
      s->shape_bytes = shape_bytes;
      put(w, shape, shape_bytes);
    }
  }
  s->address = w->last = address;
  link_slot(w, slot);
}

/* ---- Reading ------------------------------------------------------------------ */

void model_stream_open(model_stream_reader *r, model_stream_slot *slots, uint64_t base, const uint8_t *bytes,
                       size_t n) {
  *r = (model_stream_reader){.p = bytes, .end = bytes + n, .slots = slots, .last = base};
  memset(&slots[STREAM_BARRIER], 0, sizeof slots[0]);
}

static inline const uint8_t *distance_get(const uint8_t *p, uint8_t head, uint64_t *distance) {
  if (head & SHAPE_AFFINE) return p;
  if (head & SHAPE_SCATTERED) {
    int32_t units_of_4;
    memcpy(&units_of_4, p, sizeof units_of_4);
    *distance = (uint64_t)((int64_t)units_of_4 * 4);
    return p + sizeof units_of_4;
  }
  p = model_stream_varint(p, distance);
  *distance = unzigzag(*distance);
  return p;
}

/* Bytes of the first run, and the distance of all others where that is the same. */
static inline const uint8_t *first_run(const uint8_t *shape, uint64_t *bytes, uint64_t *distance) {
  const uint8_t *p = model_stream_varint(model_shape_body(shape), bytes);
  *distance = 0;
  if (*shape & SHAPE_AFFINE) {
    p = model_stream_varint(p, distance);
    *distance = unzigzag(*distance);
  }
  return p;
}

void model_stream_runs(const uint8_t *shape, uint64_t address, model_runs *out) {
  uint8_t head = *shape;
  uint64_t bytes, distance;
  const uint8_t *p = first_run(shape, &bytes, &distance);
  out->n = (head & 31) + 1u;
  out->start[0] = address;
  out->bytes[0] = (uint32_t)bytes;
  for (uint32_t i = 1; i < out->n; i++) {
    p = distance_get(p, head, &distance);
    if (!(head & SHAPE_EVEN)) p = model_stream_varint(p, &bytes);
    address += distance;
    out->start[i] = address;
    out->bytes[i] = (uint32_t)bytes;
  }
}

void model_stream_lines_of(const uint8_t *shape, uint64_t address, model_lines *out) {
  uint8_t head = *shape;
  uint64_t bytes, distance;
  const uint8_t *p = first_run(shape, &bytes, &distance);
  model_line_index index;
  memset(&index, 0, sizeof index);
  out->n = 0;
  model_lines_add(&index, out, address, (uint32_t)bytes);
  for (uint32_t more = head & 31; more; more--) {
    p = distance_get(p, head, &distance);
    if (!(head & SHAPE_EVEN)) p = model_stream_varint(p, &bytes);
    address += distance;
    model_lines_add(&index, out, address, (uint32_t)bytes);
  }
}

static const uint8_t *shape_end(const uint8_t *shape) {
  const uint8_t *p = model_shape_body(shape);
  if (*shape & 31) return p + (shape[1] | shape[2] << 8);
  while (*p++ & 0x80) {
  }
  return p;
}

void model_stream_next_op(model_stream_reader *r, model_stream_event *e) {
  if (r->p == r->end) {
    *e = (model_stream_event){.slot = STREAM_END};
    return;
  }
  const uint8_t *p = r->p;
  unsigned op = *p & 7, argument = *p >> 3;
  p++;
  if (op == OP_REPEAT) {
    uint64_t more = 0;
    if (argument == 31) p = model_stream_varint(p, &more);
    r->p = p;
    r->repeats = more + argument + 1;
    model_stream_next(r, e);
    return;
  }
  uint8_t slot = r->slots[r->current].next;
  if (op >= OP_GOTO) slot = argument == 31 ? *p++ : (uint8_t)argument;
  model_stream_slot *s = &r->slots[slot];
  uint64_t move;
  switch (op) {
  case OP_DEFINE:
    *s = (model_stream_slot){.attr = *p++};
    p = model_stream_varint(p, &move);
    s->inst = (uint32_t)move;
    p = model_stream_varint(p, &move);
    s->address = r->last + unzigzag(move);
    break;
  case OP_SHAPE:
  case OP_GOTO:
    s->address += s->stride;
    s->trusted = 1;
    break;
  default:
    p = model_stream_varint(p, &move);
    move = unzigzag(move);
    s->address += move;
    if (!s->trusted) s->stride = move;
    s->trusted = 0;
    break;
  }
  if (op == OP_SHAPE || op == OP_BOTH || op == OP_GOTO_BOTH || op == OP_DEFINE) {
    s->shape = p;
    s->words = 0;
    p = shape_end(p);
  }
  r->p = p;
  r->slots[r->current].next = slot;
  r->current = slot;
  if (slot != STREAM_BARRIER) r->last = s->address;
  *e = (model_stream_event){s->address, s->shape, slot, s->attr};
}
