/* emu/ops/atomic.c: atom and red.
 *
 * Lanes act one after the other in ascending order. Global memory is shared with other
 * host threads, so there each lane's update is one host compare-and-swap; a CTA's shared
 * memory is its own thread's.
 */
#include "emu/ops/address.h"

/* ---- The new value ----------------------------------------------------------------------- */

#define INTEGER_OPS(T, S)                                                                                    \
  switch (op) {                                                                                              \
  case EMU_ATOM_ADD: return old + b;                                                                         \
  case EMU_ATOM_AND: return old & b;                                                                         \
  case EMU_ATOM_OR: return old | b;                                                                          \
  case EMU_ATOM_XOR: return old ^ b;                                                                         \
  case EMU_ATOM_EXCH: return b;                                                                              \
  case EMU_ATOM_CAS: return old == b ? c : old;                                                              \
  case EMU_ATOM_INC: return old >= b ? 0 : old + 1;                                                          \
  case EMU_ATOM_DEC: return old == 0 || old > b ? b : old - 1;                                               \
  case EMU_ATOM_MIN: return type == EMU_ATOM_S ? ((S)old < (S)b ? old : b) : old < b ? old : b;              \
  case EMU_ATOM_MAX: return type == EMU_ATOM_S ? ((S)old > (S)b ? old : b) : old > b ? old : b;              \
  }                                                                                                          \
  return old

static uint16_t half(emu_atom_op op, num_fmt fmt, uint16_t old, uint16_t b) {
  static const char letter[] = {[EMU_ATOM_ADD] = '+', [EMU_ATOM_MIN] = 'm', [EMU_ATOM_MAX] = 'M'};
  return num_arith_16(fmt, letter[op], old, b, 0, false, false, false);
}
static uint32_t halves(emu_atom_op op, num_fmt fmt, uint32_t old, uint32_t b) {
  return half(op, fmt, (uint16_t)old, (uint16_t)b) |
         (uint32_t)half(op, fmt, (uint16_t)(old >> 16), (uint16_t)(b >> 16)) << 16;
}

static uint16_t update_16(emu_atom_op op, emu_atom_type type, uint16_t old, uint16_t b, uint16_t c,
                          bool global) {
  (void)global;
  if (op == EMU_ATOM_CAS) return old == b ? c : old;
  if (op == EMU_ATOM_EXCH) return b;
  return half(op, type == EMU_ATOM_BF16 ? NUM_BF16 : NUM_F16, old, b);
}
static uint32_t update_32(emu_atom_op op, emu_atom_type type, uint32_t old, uint32_t b, uint32_t c,
                          bool global) {
  switch (type) {
  case EMU_ATOM_F: return num_b32(num_arith_f32('+', num_f32(old), num_f32(b), 0, NUM_RN, global, false));
  case EMU_ATOM_F16X2: return halves(op, NUM_F16, old, b);
  case EMU_ATOM_BF16X2: return halves(op, NUM_BF16, old, b);
  default: break;
  }
  INTEGER_OPS(uint32_t, int32_t);
}
static uint64_t update_64(emu_atom_op op, emu_atom_type type, uint64_t old, uint64_t b, uint64_t c,
                          bool global) {
  if (type == EMU_ATOM_F)
    return global ? num_add_f64_memory(old, b)
                  : num_b64(num_arith_f64('+', num_f64(old), num_f64(b), 0, NUM_RN));
  INTEGER_OPS(uint64_t, int64_t);
}

/* ---- One lane ------------------------------------------------------------------------------ */

/* f32 sums in global memory flush subnormals, in shared memory they do not (PTX ISA, atom). */
#define DEFINE_SWAP(bits, T)                                                                                 \
  static T swap_##bits(const emu_inst *i, T *at, T b, T c, bool shared) {                                    \
    const emu_atom_op op = (emu_atom_op)i->mem.atom;                                                         \
    const emu_atom_type type = (emu_atom_type)i->mem.type;                                                   \
    if (shared) {                                                                                            \
      const T old = *at;                                                                                     \
      *at = update_##bits(op, type, old, b, c, false);                                                       \
      return old;                                                                                            \
    }                                                                                                        \
    T old = __atomic_load_n(at, __ATOMIC_RELAXED);                                                           \
    while (!__atomic_compare_exchange_n(at, &old, update_##bits(op, type, old, b, c, true), true,            \
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {                               \
    }                                                                                                        \
    return old;                                                                                              \
  }
DEFINE_SWAP(16, uint16_t)
DEFINE_SWAP(32, uint32_t)
DEFINE_SWAP(64, uint64_t)

/* ---- Handlers -------------------------------------------------------------------------------- */

INLINE bool find(emu_warp *w, const emu_inst *i, char *r, uint32_t mask, unsigned bytes, emu_hosts *h) {
  uint64_t addr[32] __attribute__((aligned(64)));
  addresses_of(r, i->mem.mode, i->src[0], i->imm, addr);
  return locate(w, i, mask, addr,
                &(const emu_locate){i->mem.space, bytes, bytes, i->mem.cache, HD_ACCESS_ATOMIC}, h);
}

/* S is the register storage of memory type T. Old values go through a temporary: the
 * destination may be the slot of an operand. */
#define DEFINE_ATOM(bits, T, S)                                                                              \
  HANDLER(atom_##bits) {                                                                                     \
    emu_hosts h;                                                                                             \
    if (!find(w, i, r, mask, sizeof(T), &h)) return;                                                         \
    const T_##S *pb = slot(r, i->src[1]), *pc = slot(r, i->src[2]);                                          \
    T_##S old[32] __attribute__((aligned(64))) = {0};                                                        \
    FOR_LANES(l, mask)                                                                                       \
    old[l] = swap_##bits(i, (T *)(uintptr_t)h.at[l], (T)pb[l], (T)pc[l], h.shared >> l & 1);                 \
    if (!i->mem.no_old) BLEND((T_##S *)slot(r, i->dst), old, mask);                                          \
  }                                                                                                          \
  /* extra: the n operands' slots, then the n destinations'. */                                              \
  HANDLER(atom_##bits##_v) {                                                                                 \
    const unsigned n = i->mem.count;                                                                         \
    const uint32_t *slots = i->extra;                                                                        \
    emu_hosts h;                                                                                             \
    T_##S old[8][32] __attribute__((aligned(64))) = {0};                                                     \
    if (!find(w, i, r, mask, n * (unsigned)sizeof(T), &h)) return;                                           \
    for (unsigned k = 0; k < n; k++) {                                                                       \
      const T_##S *pb = slot(r, slots[k]);                                                                   \
      FOR_LANES(l, mask)                                                                                     \
      old[k][l] = swap_##bits(i, (T *)(uintptr_t)h.at[l] + k, (T)pb[l], 0, h.shared >> l & 1);               \
    }                                                                                                        \
    for (unsigned k = 0; k < n; k++)                                                                         \
      if (!i->mem.no_old && slots[n + k] != EMU_NO_SLOT)                                                     \
        BLEND((T_##S *)slot(r, slots[n + k]), old[k], mask);                                                 \
  }
DEFINE_ATOM(16, uint16_t, w)
DEFINE_ATOM(32, uint32_t, w)
DEFINE_ATOM(64, uint64_t, d)

#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
/* 128 bits: exch and cas. */
HANDLER(atom_128) {
  emu_hosts h;
  if (!find(w, i, r, mask, 16, &h)) return;
  uint64_t old[2][32] __attribute__((aligned(64))) = {0};
#define PAIR(s, l)                                                                                           \
  ((unsigned __int128)((const uint64_t *)slot(r, (s) + 2))[l] << 64 | ((const uint64_t *)slot(r, (s)))[l])
  FOR_LANES(l, mask) {
    unsigned __int128 *at = (unsigned __int128 *)(uintptr_t)h.at[l];
    const unsigned __int128 b = PAIR(i->src[1], l);
    unsigned __int128 seen;
    if (i->mem.atom == EMU_ATOM_CAS) {
      seen = __sync_val_compare_and_swap(at, b, PAIR(i->src[2], l));
    } else {
      unsigned __int128 expected = 0;
      while ((seen = __sync_val_compare_and_swap(at, expected, b)) != expected) expected = seen;
    }
    old[0][l] = (uint64_t)seen;
    old[1][l] = (uint64_t)(seen >> 64);
  }
  if (i->mem.no_old) return;
  for (unsigned k = 0; k < 2; k++) blend64(slot(r, i->dst + 2 * k), old[k], mask);
}
#endif

const emu_op EMU_OPS(atomic)[] = {{"atom.16", "", atom_16},
                                  {"atom.32", "", atom_32},
                                  {"atom.64", "", atom_64},
                                  {"atom.v.16", "", atom_16_v},
                                  {"atom.v.32", "", atom_32_v},
                                  {"atom.v.64", "", atom_64_v},
#ifdef __GCC_HAVE_SYNC_COMPARE_AND_SWAP_16
                                  {"atom.128", "", atom_128},
#endif
                                  {0}};
