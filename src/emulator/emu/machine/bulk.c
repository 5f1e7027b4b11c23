/* emu/machine/bulk.c: bulk copies and reductions of contiguous bytes, their groups, and the record of copies
 * in flight (see async.h). */
#include "emu/machine/async.h"
#include "emu/machine/cluster.h"

#include "emu/num/num.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
  PIECE = 16,          /* bytes of an access's lane */
  COPY_ALIGN = 16,     /* of both addresses and the size */
  MAX_READINGS = 1024, /* of a CTA's copies */
  MAX_WRITINGS = 64,   /* likewise; every access to global memory looks at them */
  SHADOW_PENDING = 2,  /* in CHECK_INIT's shadow: written when the copy's phase is complete */
};

/* ---- Reductions ------------------------------------------------------------------------------ */

static const struct {
  uint8_t bytes;
  bool is_float, is_signed;
} types[] = {
    [EMU_BULK_U32] = {4, false, false}, [EMU_BULK_S32] = {4, false, true}, [EMU_BULK_U64] = {8, false, false},
    [EMU_BULK_S64] = {8, false, true},  [EMU_BULK_F16] = {2, true, true},  [EMU_BULK_BF16] = {2, true, true},
    [EMU_BULK_F32] = {4, true, true},   [EMU_BULK_F64] = {8, true, true},
};

bool emu_bulk_reduces(emu_atom_op op, emu_bulk_type type) {
  const bool wide = types[type].bytes == 8, half = types[type].bytes == 2;
  switch (op) {
  case EMU_ATOM_ADD: return type != EMU_BULK_S64;
  case EMU_ATOM_MIN:
  case EMU_ATOM_MAX: return half || !types[type].is_float;
  case EMU_ATOM_INC:
  case EMU_ATOM_DEC: return type == EMU_BULK_U32;
  case EMU_ATOM_AND:
  case EMU_ATOM_OR:
  case EMU_ATOM_XOR: return !types[type].is_float && !(wide && types[type].is_signed);
  default: return false;
  }
}

static uint64_t reduce_integer(emu_atom_op op, bool is_signed, uint64_t old, uint64_t b) {
  const bool less = is_signed ? (int64_t)b < (int64_t)old : b < old;
  switch (op) {
  case EMU_ATOM_ADD: return old + b;
  case EMU_ATOM_AND: return old & b;
  case EMU_ATOM_OR: return old | b;
  case EMU_ATOM_XOR: return old ^ b;
  case EMU_ATOM_INC: return old >= b ? 0 : old + 1;
  case EMU_ATOM_DEC: return old == 0 || old > b ? b : old - 1;
  case EMU_ATOM_MIN: return less ? b : old;
  default: return less ? old : b;
  }
}

static uint64_t reduce(const emu_bulk *k, emu_bulk_type type, uint64_t old, uint64_t b) {
  static const char letter[] = {[EMU_ATOM_ADD] = '+', [EMU_ATOM_MIN] = 'm', [EMU_ATOM_MAX] = 'M'};
  switch (type) {
  case EMU_BULK_F16:
  case EMU_BULK_BF16:
    return num_arith_16(type == EMU_BULK_F16 ? NUM_F16 : NUM_BF16, letter[k->atom], (uint16_t)old,
                        (uint16_t)b, 0, false, false, false);
  case EMU_BULK_F32: /* the PTX ISA says that these flush subnormals; an sm_90 GPU does not */
    return num_b32(num_arith_f32('+', num_f32((uint32_t)old), num_f32((uint32_t)b), 0, NUM_RN, false, false));
  case EMU_BULK_F64: return num_add_f64_memory(old, b);
  case EMU_BULK_S32:
    return (uint32_t)reduce_integer(k->atom, true, (uint64_t)(int32_t)old, (uint64_t)(int32_t)b);
  default: return reduce_integer(k->atom, types[type].is_signed, old, b);
  }
}

/* Elements are updated one by one, each atomically: other host threads may run CTAs that reduce into them. */
#define DEFINE_REDUCE(bits)                                                                                  \
  static void reduce_##bits(const emu_bulk *k, emu_bulk_type type, char *to, const char *from) {             \
    uint##bits##_t b, old;                                                                                   \
    uint##bits##_t *at = (void *)to;                                                                         \
    memcpy(&b, from, sizeof b);                                                                              \
    old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                             \
    while (!__atomic_compare_exchange_n(at, &old, (uint##bits##_t)reduce(k, type, old, b), true,             \
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {                               \
    }                                                                                                        \
  }
DEFINE_REDUCE(16)
DEFINE_REDUCE(32)
DEFINE_REDUCE(64)

static void reduce_piece(const emu_mover *m, char *to, const char *from) {
  const unsigned size = types[m->type].bytes;
  for (unsigned at = 0; at < m->bytes; at += size) {
    if (size == 2)
      reduce_16(m->b, m->type, to + at, from + at);
    else if (size == 4)
      reduce_32(m->b, m->type, to + at, from + at);
    else
      reduce_64(m->b, m->type, to + at, from + at);
  }
}

/* ---- Pieces -------------------------------------------------------------------------------------- */

void emu_mover_begin(emu_mover *m, emu_warp *w, const emu_inst *i, const emu_bulk *b, unsigned lane) {
  m->w = w;
  m->i = i;
  m->b = b;
  m->type = b->type;
  m->bar = 0;
  m->lane = lane;
  m->n = m->bytes = 0;
  m->convert = 0;
  m->filling = false;
  m->fill = 0;
  m->given = NULL;
  m->lo = m->out_lo = UINT64_MAX;
  m->hi = m->out_hi = m->out = 0;
  ((emu_mwarp *)w)->issuer = 1 + lane;
  ((emu_mwarp *)w)->copied = 0;
}

static bool watches_init(const emu_cta *c) { return c->watch & EMU_WATCH_INIT; }

/* Until the phase is complete the bytes count as not written. They were accessed, so their CTA is there. What
 * is reduced stays written: others may be reduced into it meanwhile. */
static void mark_pending(emu_mover *m) {
  if (m->b->reduce) return;
  for (unsigned k = 0; k < m->n; k++) {
    uint64_t at = m->to[k];
    emu_cta *c = emu_owner_of(m->w, m->i, m->lane, &at);
    if (!c) return;
    memset(c->shared_init + at, SHADOW_PENDING, m->bytes);
    c->shared_unwritten += m->bytes;
  }
}

static void widen(emu_mover *m, uint64_t at) {
  if (at < m->lo) m->lo = at;
  if (at + m->bytes > m->hi) m->hi = at + m->bytes;
}

static void widen_out(emu_mover *m, uint64_t at) {
  if (at < m->out_lo) m->out_lo = at;
  if (at + m->bytes > m->out_hi) m->out_hi = at + m->bytes;
  m->out += m->bytes;
}

static void convert(unsigned how, unsigned bytes, char *p) {
  const uint32_t exponent = 0x7f800000, dropped = 0x1fff, half = 0x1000, sign = 0x80000000;
  for (unsigned at = 0; at < bytes; at += 4) {
    uint32_t v;
    memcpy(&v, p + at, sizeof v);
    if (how & EMU_CONVERT_FTZ && !(v & exponent)) v &= sign;
    /* The carry of the greatest numbers makes them infinite; a NaN keeps what tf32 has of it. */
    if (how & EMU_CONVERT_TF32) v = ((v & exponent) == exponent ? v : v + half) & ~dropped;
    memcpy(p + at, &v, sizeof v);
  }
}

/* Read the bytes of piece k. */
static void read_piece(const emu_mover *m, const emu_view *from, unsigned k, char *out) {
  if (m->given)
    memcpy(out, m->given, m->bytes);
  else if (m->filling)
    for (unsigned at = 0; at < m->bytes; at++) out[at] = (char)(m->fill >> 8 * (at & 1));
  else
    memcpy(out, (const void *)(uintptr_t)(m->from[k] + from->delta), m->bytes);
  if (m->convert && !m->filling) convert(m->convert, m->bytes, out);
}

static bool move_pieces(emu_mover *m) {
  static const struct {
    uint8_t from, to; /* hd_space */
  } spaces[] = {[EMU_BULK_LOAD] = {HD_SPACE_GLOBAL, HD_SPACE_SHARED},
                [EMU_BULK_STORE] = {HD_SPACE_SHARED, HD_SPACE_GLOBAL},
                [EMU_BULK_SHARED] = {HD_SPACE_SHARED, HD_SPACE_SHARED},
                [EMU_BULK_PREFETCH] = {HD_SPACE_GLOBAL, HD_SPACE_GLOBAL}};
  if (!m->n) return true;
  const emu_bulk_op op = m->b->op;
  const uint32_t mask = m->n == HD_WARP ? UINT32_MAX : (1u << m->n) - 1;
  emu_view from = {0}, to;
  /* Lanes that take no part must not look like far addresses to a trace. */
  for (unsigned k = m->n; k < HD_WARP; k++) m->from[k] = m->from[0], m->to[k] = m->to[0];
  if (op == EMU_BULK_PREFETCH) {
    (void)emu_access(m->w, m->i, mask, m->from, m->bytes, 1, HD_ACCESS_PREFETCH, 0, HD_SPACE_GLOBAL, &from);
    m->n = 0;
    return true;
  }
  const unsigned element = m->b->reduce ? types[m->type].bytes : 1;
  if (!m->filling &&
      !emu_access(m->w, m->i, mask, m->from, m->bytes, element, HD_ACCESS_LOAD, 0, spaces[op].from, &from))
    return false;
  ((emu_mwarp *)m->w)->landing = op == EMU_BULK_STORE ? 0 : m->bar + 1;
  char rows[HD_WARP * PIECE];
  for (unsigned k = 0; k < m->n; k++) read_piece(m, &from, k, rows + (size_t)k * m->bytes);
  m->w->storing = m->b->reduce ? NULL : rows;
  const bool ok = emu_access(m->w, m->i, mask, m->to, m->bytes, element,
                             m->b->reduce ? HD_ACCESS_ATOMIC : HD_ACCESS_STORE, 0, spaces[op].to, &to);
  m->w->storing = NULL;
  ((emu_mwarp *)m->w)->landing = 0;
  if (!ok) return false;
  for (unsigned k = 0; k < m->n; k++) {
    char *dst = (char *)(uintptr_t)(m->to[k] + to.delta);
    const char *src = rows + (size_t)k * m->bytes;
    if (m->b->reduce)
      reduce_piece(m, dst, src);
    else
      memcpy(dst, src, m->bytes);
    widen(m, op == EMU_BULK_STORE ? m->from[k] : m->to[k]);
    if (op == EMU_BULK_STORE) widen_out(m, m->to[k]);
  }
  if (op != EMU_BULK_STORE && watches_init(m->w->cta)) mark_pending(m);
  m->n = 0;
  return true;
}

static bool flush(emu_mover *m) {
  emu_mwarp *self = (emu_mwarp *)m->w;
  self->copies_async = true;
  const bool ok = move_pieces(m);
  self->copies_async = false;
  return ok;
}

static bool add(emu_mover *m, uint64_t from, uint64_t to, unsigned bytes, bool filling) {
  if ((m->n == HD_WARP || bytes != m->bytes || filling != m->filling) && !flush(m)) return false;
  m->bytes = bytes;
  m->filling = filling;
  m->from[m->n] = from;
  m->to[m->n++] = to;
  return true;
}

bool emu_mover_copy(emu_mover *m, uint64_t from, uint64_t to, unsigned bytes) {
  return add(m, from, to, bytes, false);
}
bool emu_mover_fill(emu_mover *m, uint64_t to, unsigned bytes) { return add(m, 0, to, bytes, true); }

static bool out_of_memory(emu_mover *m) {
  emu_nomem(m->w, m->i, 1u << m->lane, "the record of copies");
  return false;
}

static uint32_t thread_of(const emu_mover *m) { return m->w->index * HD_WARP + m->lane; }

bool emu_mover_end(emu_mover *m) {
  emu_cta *c = m->w->cta;
  const bool ok = flush(m);
  ((emu_mwarp *)m->w)->issuer = 0;
  if (!ok) return false;
  if (!watches_init(c) || m->hi <= m->lo) return true;
  if (m->b->op != EMU_BULK_STORE) {
    emu_landing l = {.bar = m->bar, .lo = m->lo, .hi = m->hi - 1, .line = m->i->line};
    hd_emu_cta *to = emu_owner_of(m->w, m->i, m->lane, &l.lo),
               *by = emu_owner_of(m->w, m->i, m->lane, &l.bar);
    if (!to || !emu_owner_of(m->w, m->i, m->lane, &l.hi) || !by ||
        (by != to && (!m->b->pair || (by->rank ^ to->rank) > 1))) {
      emu_fault(m->w, m->i, 1u << m->lane, HD_FAULT_OTHER,
                "the mbarrier of a bulk copy is not in the CTA that it copies to");
      return false;
    }
    l.rank = by->rank;
    l.hi++;
    return hd_vec_push(&to->async.landings, l) || out_of_memory(m);
  }
  if (m->out_hi - m->out_lo == m->out) {
    const emu_reading out = {
        .lo = m->out_lo, .hi = m->out_hi, .line = m->i->line, .thread = thread_of(m), .age = -1};
    if (c->async.writings.n == MAX_WRITINGS)
      memmove(c->async.writings.data, c->async.writings.data + 1,
              --c->async.writings.n * sizeof *c->async.writings.data);
    if (!hd_vec_push(&c->async.writings, ((emu_writing){out, m->b->reduce}))) return out_of_memory(m);
  }
  const emu_reading r = {.lo = m->lo, .hi = m->hi, .line = m->i->line, .thread = thread_of(m), .age = -1};
  /* A kernel that never waits: the oldest one is forgotten. */
  if (c->async.readings.n == MAX_READINGS) {
    memmove(c->async.readings.data, c->async.readings.data + 1,
            --c->async.readings.n * sizeof *c->async.readings.data);
    c->shared_unwritten--;
  }
  if (!hd_vec_push(&c->async.readings, r)) return out_of_memory(m);
  c->shared_unwritten++;
  return true;
}

/* ---- Copies in flight ------------------------------------------------------------------------------- */

void emu_bulk_reset(hd_emu_cta *c) {
  c->async.changes = c->async.copies = 0;
  c->async.landings.n = c->async.readings.n = c->async.writings.n = 0;
}
void emu_bulk_free(hd_emu_cta *c) {
  hd_vec_free(&c->async.landings);
  hd_vec_free(&c->async.readings);
  hd_vec_free(&c->async.writings);
}

/* Of the copies into `c`, those whose mbarrier is the one at `offset` in the CTA of this rank. */
static void land(hd_emu_cta *c, uint32_t rank, uint64_t offset) {
  size_t kept = 0;
  for (size_t k = 0; k < c->async.landings.n; k++) {
    const emu_landing l = c->async.landings.data[k];
    if (l.bar != offset || l.rank != rank) {
      c->async.landings.data[kept++] = l;
      continue;
    }
    uint8_t *shadow = c->shared_init + l.lo;
    uint64_t landed = 0;
    for (uint64_t at = 0; at < l.hi - l.lo; at++) { /* in vectors */
      landed += shadow[at] == SHADOW_PENDING;
      shadow[at] = shadow[at] == SHADOW_PENDING ? 1 : shadow[at];
    }
    c->shared_unwritten -= landed;
  }
  c->async.landings.n = kept;
}

void emu_bulk_landed(hd_emu_cta *c, uint64_t offset) {
  for (uint32_t k = 0; k < emu_unit_size(c); k++) land(emu_unit_cta(c, k), c->rank, offset);
}

uint32_t emu_bulk_writer(const hd_emu_cta *c, uint64_t offset, unsigned bytes, uint64_t *bar) {
  for (uint64_t at = offset; at < offset + bytes; at++) {
    if (c->shared_init[at] != SHADOW_PENDING) continue;
    for (size_t k = 0; k < c->async.landings.n; k++) {
      const emu_landing *l = &c->async.landings.data[k];
      if (at < l->lo || at >= l->hi) continue;
      *bar = l->bar;
      return l->line;
    }
  }
  return 0;
}

uint32_t emu_bulk_reader(const hd_emu_cta *c, uint64_t offset, unsigned bytes) {
  for (size_t k = 0; k < c->async.readings.n; k++) {
    const emu_reading *r = &c->async.readings.data[k];
    if (offset < r->hi && offset + bytes > r->lo) return r->line;
  }
  return 0;
}

uint32_t emu_bulk_out_writer(const hd_emu_cta *c, uint64_t address, unsigned bytes, bool atomic) {
  for (size_t k = 0; k < c->async.writings.n; k++) {
    const emu_writing *x = &c->async.writings.data[k];
    if (address < x->copy.hi && address + bytes > x->copy.lo && !(atomic && x->reduces)) return x->copy.line;
  }
  return 0;
}

/* ---- Groups ------------------------------------------------------------------------------------------ */

static bool is_of(const emu_reading *x, const emu_warp *w, uint32_t mask) {
  return x->thread / HD_WARP == w->index && mask >> x->thread % HD_WARP & 1;
}

void emu_run_bulk_commit(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  emu_cta *c = w->cta;
  for (size_t k = 0; k < c->async.readings.n; k++)
    c->async.readings.data[k].age += is_of(&c->async.readings.data[k], w, mask);
  for (size_t k = 0; k < c->async.writings.n; k++)
    c->async.writings.data[k].copy.age += is_of(&c->async.writings.data[k].copy, w, mask);
}

void emu_run_bulk_wait_read(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  emu_cta *c = w->cta;
  size_t kept = 0;
  for (size_t k = 0; k < c->async.readings.n; k++) {
    const emu_reading x = c->async.readings.data[k];
    if (!is_of(&x, w, mask) || x.age < i->imm) c->async.readings.data[kept++] = x;
  }
  c->shared_unwritten -= c->async.readings.n - kept;
  c->async.readings.n = kept;
}

/* Other CTAs are told of the writes of all groups: which one a write belonged to is not known any more. */
void emu_run_bulk_wait(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  emu_cta *c = w->cta;
  size_t kept = 0;
  emu_run_bulk_wait_read(w, i, r, mask);
  for (size_t k = 0; k < c->async.writings.n; k++) {
    const emu_writing x = c->async.writings.data[k];
    if (!is_of(&x.copy, w, mask) || x.copy.age < i->imm) c->async.writings.data[kept++] = x;
  }
  c->async.writings.n = kept;
  emu_flags_copied(w);
}

/* ---- Copies to several CTAs ------------------------------------------------------------------------ */

enum { ONCE = 1 }; /* the ranks of a copy that goes where its addresses say */

uint32_t emu_copy_ranks(emu_warp *w, const emu_inst *i, const emu_bulk *b, const char *r, unsigned lane) {
  if (b->pair && (!w->cta->cluster || w->cta->cluster->n % 2)) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "the CTA has no other to form a pair with in its cluster");
    return 0;
  }
  if (b->mask_slot == EMU_NO_SLOT) return ONCE;
  const uint32_t ranks = emu_lane_u32(r, b->mask_slot, lane) & UINT16_MAX, n = emu_unit_size(w->cta);
  if (!(ranks >> n)) return ranks;
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "a copy to the CTAs 0x%x of a cluster of %u", ranks, n);
  return 0;
}

/* CUTLASS clears bit 24 of the mbarrier's address for copies of .cta_group::2: the lowest one of the rank. So
 * an address without a rank is that in the pair's even CTA. */
static uint64_t of_pair(emu_warp *w, uint64_t dst, uint64_t bar) {
  if (emu_has_rank(bar)) return bar;
  const uint32_t rank = emu_has_rank(dst) ? (uint32_t)(dst >> EMU_RANK_SHIFT) - 1 : w->cta->rank;
  return emu_ranked(bar, rank & ~1u);
}

bool emu_copy_next(emu_warp *w, const emu_bulk *b, uint32_t *ranks, uint64_t *dst, uint64_t *bar) {
  if (!*ranks) return false;
  const uint32_t rank = (uint32_t)__builtin_ctz(*ranks);
  *ranks &= *ranks - 1;
  if (!w->cta->cluster) return true;
  if (b->mask_slot != EMU_NO_SLOT) {
    *dst = emu_ranked(*dst, rank);
    *bar = emu_ranked(*bar, b->pair ? rank & ~1u : rank);
  } else if (b->pair) {
    *bar = of_pair(w, *dst, *bar);
  }
  return true;
}

/* ---- The copy itself ------------------------------------------------------------------------- */

static bool aligned(emu_warp *w, const emu_inst *i, unsigned lane, const char *what, uint64_t value) {
  if (value % COPY_ALIGN == 0) return true;
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "the %s of a bulk copy is 0x%" PRIx64 ", no multiple of %d",
            what, value, COPY_ALIGN);
  return false;
}

/* One side's address: an offset in shared memory, or a device address. */
static bool side(emu_warp *w, const emu_inst *i, const emu_pointer *p, bool shared, const char *what,
                 const char *r, unsigned lane, uint64_t *at) {
  if (shared) {
    if (!emu_shared_offset(w, i, p, r, lane, at)) return false;
  } else {
    *at = emu_pointer_at(r, p, lane);
  }
  return aligned(w, i, lane, what, *at);
}

enum { ALL_BYTES = (1 << PIECE) - 1 };

/* The bytes of 16 whose bits are set: run by run. */
static bool copy_piece(emu_mover *m, uint64_t src, uint64_t dst, uint32_t bytes) {
  if (bytes == ALL_BYTES) return emu_mover_copy(m, src, dst, PIECE);
  while (bytes) {
    const unsigned first = (unsigned)__builtin_ctz(bytes), n = (unsigned)__builtin_ctz(~(bytes >> first));
    if (!emu_mover_copy(m, src + first, dst + first, n)) return false;
    bytes &= ~(((1u << n) - 1) << first);
  }
  return true;
}

static bool copy(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  const emu_bulk *b = i->extra;
  const uint64_t size = emu_lane_u32(r, b->size_slot, lane);
  const bool waits = b->op == EMU_BULK_LOAD || b->op == EMU_BULK_SHARED;
  uint64_t src, dst = 0, bar = 0;
  if (!side(w, i, &b->src, b->op == EMU_BULK_STORE || b->op == EMU_BULK_SHARED, "source", r, lane, &src) ||
      (b->op != EMU_BULK_PREFETCH && !side(w, i, &b->dst, waits, "destination", r, lane, &dst)) ||
      !aligned(w, i, lane, "size", size) || (waits && !emu_shared_offset(w, i, &b->bar, r, lane, &bar)))
    return false;
  /* No hook listens: a prefetch of 4 GB should take no time. */
  if (b->op == EMU_BULK_PREFETCH && !(w->cta->watch & 1u << HD_SPACE_GLOBAL)) return true;
  bool ok = true;
  for (uint32_t ranks = emu_copy_ranks(w, i, b, r, lane); ok && emu_copy_next(w, b, &ranks, &dst, &bar);) {
    emu_mover m;
    emu_mover_begin(&m, w, i, b, lane);
    m.bar = bar;
    const uint32_t bytes = b->bytes_slot == EMU_NO_SLOT ? ALL_BYTES : emu_lane_u32(r, b->bytes_slot, lane);
    for (uint64_t at = 0; ok && at < size; at += PIECE)
      ok = copy_piece(&m, src + at, dst + at, bytes & ALL_BYTES);
    ok = ok && emu_mover_end(&m);
    ((emu_mwarp *)w)->issuer = 0;
    ok = ok && (!waits || emu_mbarrier_complete_tx(w, i, lane, bar, size));
  }
  return ok;
}

void emu_run_bulk(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!copy(w, i, r, (unsigned)__builtin_ctz(left))) return;
}
