/* model/stream.h: the accesses of one warp, as bytes.
 *
 * Loops make the same accesses again, moved by a constant. So for each instruction
 * (a slot) both sides remember where it last accessed, its stride, its shape (which bytes,
 * relative to the address of the first), and which slot came after it. An access that
 * is as remembered costs nothing but a count; else an op holds the difference:
 *
 *   op byte: low 3 bits the op, high 5 bits its argument
 *   0 REPEAT   argument + 1 accesses as remembered (argument 31: a varint adds to it)
 *   1 MOVE     the slot as remembered; its move: zigzag varint
 *   2 SHAPE    ... ; its move as remembered; a new shape
 *   3 BOTH     ... ; its move, a new shape
 *   4 GOTO     another slot (argument; 31: the next byte), all else as remembered
 *   5 GOTO_MOVE, 6 GOTO_BOTH
 *   7 DEFINE   a new instruction in that slot: attribute byte, varint which instruction, move from the last
 *              access of the warp (whichever slot), shape
 *
 * A move replaces the stride unless the stride has been right since the last one: the jump
 * to an outer loop's next row does not spoil the inner loop's stride.
 *
 * A shape: byte (runs - 1) | SHAPE_EVEN | SHAPE_AFFINE; when there are several runs, a u16 with how
 * many bytes follow; then varints: bytes of the first run; for each further run the zigzag distance of its
 * start from the last one's (only once when SHAPE_AFFINE: all the same), and its bytes (not when SHAPE_EVEN:
 * all the same).
 *
 * Slot 0 is a barrier. Streams are made by this program only: readers trust them. */
#ifndef HEDDLE_MODEL_STREAM_H
#define HEDDLE_MODEL_STREAM_H

#include "model/coalesce.h"

enum {
  STREAM_SLOTS = 64,
  STREAM_BARRIER = 0,
  STREAM_END = 255, /* event.slot when there is nothing more */
  SHAPE_EVEN = 32,
  SHAPE_AFFINE = 64,
  SHAPE_SCATTERED = 128,
};

enum { OP_REPEAT, OP_MOVE, OP_SHAPE, OP_BOTH, OP_GOTO, OP_GOTO_MOVE, OP_GOTO_BOTH, OP_DEFINE };

/* hd_access.kind and .cache in one byte. */
static inline uint8_t model_stream_attr(unsigned kind, unsigned cache) {
  return (uint8_t)(kind | cache << 2);
}
static inline unsigned model_stream_kind(uint8_t attr) { return attr & 3; }
static inline unsigned model_stream_cache(uint8_t attr) { return attr >> 2; }
/* Some priority in it is not the normal one. */
static inline bool model_stream_ranks(uint8_t attr) {
  return (attr & (HD_CACHE_L1_PRIORITY | HD_CACHE_L2_PRIORITY) << 2) != 0;
}

/* ---- Writing ---------------------------------------------------------------- */

typedef struct model_stream_writer_slot {
  uint64_t key;
  uint64_t address, stride;
  size_t shape; /* where its shape was last written in `out` */
  uint32_t shape_bytes;
  uint8_t next, trusted;
} model_stream_writer_slot;

typedef struct model_stream_writer {
  HD_VEC(uint8_t) out;
  uint64_t base; /* address of the first access: not part of `out`, so that warps that differ
                    only in where they start write the same bytes */
  uint64_t last; /* address of the latest access */
  uint64_t accesses;
  uint64_t repeats; /* accesses as remembered that are not written yet */
  uint32_t n_slots, victim;
  uint8_t current;
  bool failed; /* out of memory */
  model_stream_writer_slot slots[STREAM_SLOTS];
} model_stream_writer;

void model_stream_begin(model_stream_writer *w); /* keeps the memory of `out` */
/* `inst` identifies the instruction, and readers find it in the slot; runs->n >= 1. */
void model_stream_put(model_stream_writer *w, uint32_t inst, uint8_t attr, const model_runs *runs);
void model_stream_put_barrier(model_stream_writer *w);
void model_stream_finish(model_stream_writer *w);
void model_stream_free(model_stream_writer *w);

/* ---- Reading ------------------------------------------------------------------ */

typedef struct model_stream_slot {
  uint64_t address, stride;
  const uint8_t *shape;
  uint32_t inst;
  uint8_t attr, next, trusted;
  uint8_t words; /* of the shape, in the bank of which it has most (banks.h); 0: not counted yet */
} model_stream_slot;

typedef struct model_stream_event {
  uint64_t address;
  const uint8_t *shape;
  uint8_t slot; /* or STREAM_END */
  uint8_t attr;
} model_stream_event;

typedef struct model_stream_reader {
  const uint8_t *p, *end;
  model_stream_slot *slots; /* STREAM_SLOTS of them, the caller's */
  uint64_t repeats;
  uint64_t last;
  uint8_t current;
} model_stream_reader;

void model_stream_open(model_stream_reader *r, model_stream_slot *slots, uint64_t base, const uint8_t *bytes,
                       size_t n);
/* The next event when it is not as remembered. */
void model_stream_next_op(model_stream_reader *r, model_stream_event *e);
static inline void model_stream_next(model_stream_reader *r, model_stream_event *e) {
  if (!r->repeats) {
    model_stream_next_op(r, e);
    return;
  }
  r->repeats--;
  uint8_t slot = r->slots[r->current].next;
  model_stream_slot *s = &r->slots[slot];
  s->address += s->stride;
  s->trusted = 1;
  r->current = slot;
  if (slot != STREAM_BARRIER) r->last = s->address;
  *e = (model_stream_event){s->address, s->shape, slot, s->attr};
}

static inline const uint8_t *model_stream_varint(const uint8_t *p, uint64_t *v) {
  uint64_t x = *p++;
  if (x & 0x80) {
    x &= 0x7f;
    for (unsigned shift = 7;; shift += 7) {
      uint64_t b = *p++;
      x |= (b & 0x7f) << shift;
      if (!(b & 0x80)) break;
    }
  }
  *v = x;
  return p;
}

/* The varints of a shape. */
static inline const uint8_t *model_shape_body(const uint8_t *shape) { return shape + (*shape & 31 ? 3 : 1); }

void model_stream_runs(const uint8_t *shape, uint64_t address, model_runs *out);
/* As model_lines_of(model_stream_runs(...)), for several runs. */
void model_stream_lines_of(const uint8_t *shape, uint64_t address, model_lines *out);

/* The lines of an event's access; `full` is filled for stores only. */
static inline void model_stream_lines(const model_stream_event *e, model_lines *out) {
  if (model_stream_kind(e->attr) == HD_ACCESS_STORE) {
    model_runs runs;
    model_stream_runs(e->shape, e->address, &runs);
    model_lines_of_store(&runs, out);
  } else if (e->shape[0] & 31) {
    model_stream_lines_of(e->shape, e->address, out);
  } else {
    uint64_t bytes;
    model_stream_varint(model_shape_body(e->shape), &bytes);
    model_lines_of_range(e->address, (uint32_t)bytes, out);
  }
}

#endif
