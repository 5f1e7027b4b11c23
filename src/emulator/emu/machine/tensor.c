/* emu/machine/tensor.c: copies of boxes of a tensor (tiled mode), and changes to tensor maps in memory.
 *
 * A box is a sequence of rows along dimension 0. In shared memory the rows follow each other densely, or,
 * with a swizzle, at the distance of its width; the swizzle then permutes the chunks of each row by the
 * address bits above it (PTX ISA, swizzling modes). */
#include "emu/machine/async.h"
#include "emu/machine/tensormap.h"

#include <inttypes.h>

enum {
  BOX_ALIGN = 128, /* of the shared address */
  CHUNK = 16,
  MAP_PIECE = 16,
  NAN_PATTERN = 0x7ff7, /* a NaN in f16, bf16, f32 and f64; which one a GPU takes is not documented */
};

/* ---- Tensor maps in memory ------------------------------------------------------------------ */

/* Check an access to all 128 bytes. `space` EMU_GENERIC for reads; *host is contiguous. */
static bool locate_map(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t address, unsigned space,
                       hd_access_kind kind, char **host) {
  uint64_t at[HD_WARP];
  emu_view v;
  for (unsigned k = 0; k < HD_WARP; k++) at[k] = address + k % (HD_TENSOR_MAP_BYTES / MAP_PIECE) * MAP_PIECE;
  if (address % HD_TENSOR_MAP_ALIGN) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "the tensor map at 0x%" PRIx64 " is not aligned to %d bytes",
              address, HD_TENSOR_MAP_ALIGN);
    return false;
  }
  emu_mwarp *m = (emu_mwarp *)w;
  m->issuer = 1 + lane;
  const bool ok = emu_access(w, i, (1u << HD_TENSOR_MAP_BYTES / MAP_PIECE) - 1, at, MAP_PIECE, MAP_PIECE,
                             kind, 0, space, &v);
  m->issuer = 0;
  if (ok) *host = (char *)(uintptr_t)(address + v.delta);
  return ok;
}

static bool bad_map(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t address, const char *why) {
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "the tensor map at 0x%" PRIx64 ": %s", address, why);
  return false;
}

static bool read_map(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t address, hd_tensor *t) {
  char *host, why[160];
  emu_tensor_map map;
  uint64_t window[HD_WARP] = {0};
  unsigned space;
  window[lane] = address;
  emu_split_generic(window, 1u << lane, &space);
  if (space == HD_SPACE_LOCAL || space == HD_SPACE_SHARED)
    return bad_map(w, i, lane, address, "it is neither in global memory nor a parameter");
  if (!locate_map(w, i, lane, address, EMU_GENERIC, HD_ACCESS_LOAD, &host)) return false;
  memcpy(&map, host, sizeof map);
  if (!emu_tensor_read(&map, t, why, sizeof why)) return bad_map(w, i, lane, address, why);
  if (t->interleave != HD_TENSOR_INTERLEAVE_NONE)
    return bad_map(w, i, lane, address, "interleaved layouts are not emulated");
  return true;
}

void emu_run_tensormap_replace(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_replace *x = i->extra;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    const uint64_t at = emu_pointer_at(r, &x->map, l);
    char *host, why[160];
    emu_tensor_map map;
    if (!locate_map(w, i, l, at, x->map.space, HD_ACCESS_LOAD, &host) ||
        !locate_map(w, i, l, at, x->map.space, HD_ACCESS_STORE, &host))
      return;
    memcpy(&map, host, sizeof map);
    const uint64_t value = x->wide ? emu_lane_u64(r, x->value_slot, l) : emu_lane_u32(r, x->value_slot, l);
    const uint32_t ordinal = x->ordinal_slot == EMU_NO_SLOT ? 0 : emu_lane_u32(r, x->ordinal_slot, l);
    if (!emu_tensor_replace(&map, (emu_tensor_field)x->field, ordinal, value, why, sizeof why)) {
      bad_map(w, i, l, at, why);
      return;
    }
    memcpy(host, &map, sizeof map);
  }
}

/* The whole warp copies one map, once. */
void emu_run_tensormap_copy(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_bulk *b = i->extra;
  const unsigned lane = (unsigned)__builtin_ctz(mask);
  const uint64_t dst = emu_pointer_at(r, &b->dst, lane);
  uint64_t src;
  char *from, *to;
  if (!emu_shared_offset(w, i, &b->src, r, lane, &src)) return;
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    uint64_t other;
    if (!emu_shared_offset(w, i, &b->src, r, l, &other)) return;
    if (other == src && emu_pointer_at(r, &b->dst, l) == dst) continue;
    emu_fault(w, i, 1u << l, HD_FAULT_OTHER, "the threads of the warp name different addresses");
    return;
  }
  if (locate_map(w, i, lane, src, HD_SPACE_SHARED, HD_ACCESS_LOAD, &from) &&
      locate_map(w, i, lane, dst, HD_SPACE_GLOBAL, HD_ACCESS_STORE, &to))
    memcpy(to, from, HD_TENSOR_MAP_BYTES);
}

/* ---- Swizzles ---------------------------------------------------------------------------------- */

/* Address bits [from, from + bits) are exchanged for their sum without carry with bits [7, 7 + bits). */
static const struct {
  uint8_t from, bits;
} patterns[HD_TENSOR_SWIZZLES] = {
    [HD_TENSOR_SWIZZLE_32B] = {4, 1},
    [HD_TENSOR_SWIZZLE_64B] = {4, 2},
    [HD_TENSOR_SWIZZLE_128B] = {4, 3},
    [HD_TENSOR_SWIZZLE_128B_ATOM_32B] = {5, 2},
    [HD_TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B] = {5, 2},
    [HD_TENSOR_SWIZZLE_128B_ATOM_64B] = {6, 1},
};

static uint64_t swizzled(hd_tensor_swizzle s, uint64_t address) {
  const uint64_t row = address >> 7;
  uint64_t out = address ^ (row & ((1u << patterns[s].bits) - 1)) << patterns[s].from;
  if (s == HD_TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B) out ^= (row & 1) << 3;
  return out;
}

/* ---- Boxes ------------------------------------------------------------------------------------------ */

typedef struct box {
  hd_tensor t;
  int64_t start[HD_TENSOR_DIMS];
  uint32_t count[HD_TENSOR_DIMS]; /* elements copied along each dimension */
  unsigned element;               /* bytes */
  unsigned unit;                  /* bytes of a row that stay neighbours in shared memory */
  uint64_t pitch;                 /* bytes between rows in shared memory */
  uint64_t rows;                  /* along dimension 0 */
  uint64_t bytes;                 /* that count on the mbarrier: the box's, inside the tensor or not */
} box;

static void measure(box *b) {
  const unsigned width = emu_tensor_swizzle_bytes(b->t.swizzle);
  b->element = emu_tensor_element_bytes(b->t.type);
  b->bytes = b->element;
  b->rows = 1;
  for (uint32_t k = 0; k < HD_TENSOR_DIMS; k++) {
    const uint32_t step = k ? b->t.element_stride[k] : 1;
    b->count[k] = k < b->t.rank ? (b->t.box[k] + step - 1) / step : 1;
    b->bytes *= b->count[k];
    if (k) b->rows *= b->count[k];
  }
  b->pitch = width ? width : (uint64_t)b->count[0] * b->element;
  b->unit = b->t.swizzle == HD_TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B ? CHUNK / 2 : CHUNK;
}

/* The address of the row's element 0 of the tensor; false: it lies outside. *overflow: it has none. */
static bool row_address(const box *b, const uint32_t index[HD_TENSOR_DIMS], uint64_t *address,
                        bool *overflow) {
  *address = b->t.address;
  for (uint32_t k = 1; k < b->t.rank; k++) {
    const int64_t at = b->start[k] + (int64_t)index[k] * b->t.element_stride[k];
    uint64_t offset;
    if (at < 0 || (uint64_t)at >= b->t.dim[k]) return false;
    *overflow |= __builtin_mul_overflow((uint64_t)at, b->t.stride[k - 1], &offset) ||
                 __builtin_add_overflow(*address, offset, address);
  }
  return true;
}

/* Elements [lo, hi) of the row, counted from the box's first, are inside the tensor. */
static void inside(const box *b, uint32_t *lo, uint32_t *hi) {
  const int64_t n = b->count[0], first = -b->start[0], last = (int64_t)b->t.dim[0] - b->start[0];
  *lo = (uint32_t)(first < 0 ? 0 : first > n ? n : first);
  *hi = (uint32_t)(last < 0 ? 0 : last > n ? n : last);
  if (*hi < *lo) *hi = *lo;
}

static bool fill(emu_mover *m, uint64_t to, unsigned bytes) {
  return !bytes || m->b->op != EMU_BULK_LOAD || emu_mover_fill(m, to, bytes);
}

/* One row: at `global` (its first element of the box, inside or not) and shared offset `shared`. */
static bool move_row(emu_mover *m, const box *b, uint64_t global, uint64_t shared, uint32_t lo, uint32_t hi) {
  const unsigned bytes = b->count[0] * b->element, first = lo * b->element, end = hi * b->element;
  for (unsigned at = 0; at < bytes; at += b->unit) {
    const uint64_t where = swizzled(b->t.swizzle, shared + at);
    const unsigned from = first < at ? at : first > at + b->unit ? at + b->unit : first;
    const unsigned to = end < from ? from : end > at + b->unit ? at + b->unit : end;
    if (!fill(m, where, from - at)) return false;
    const uint64_t near = where + (from - at), far = global + from;
    if (to > from && !(m->b->op == EMU_BULK_STORE ? emu_mover_copy(m, near, far, to - from)
                                                  : emu_mover_copy(m, far, near, to - from)))
      return false;
    if (!fill(m, where + (to - at), at + b->unit - to)) return false;
  }
  return true;
}

static bool move_box(emu_mover *m, const box *b, uint64_t shared) {
  uint32_t index[HD_TENSOR_DIMS] = {0}, lo, hi;
  inside(b, &lo, &hi);
  for (;;) {
    uint64_t row;
    bool overflow = false;
    const bool in = row_address(b, index, &row, &overflow) && lo < hi;
    if (in && overflow) {
      emu_fault(m->w, m->i, 1u << m->lane, HD_FAULT_OTHER, "the tensor reaches beyond the address space");
      return false;
    }
    if (!move_row(m, b, row + (uint64_t)b->start[0] * b->element, shared, in ? lo : 0, in ? hi : 0))
      return false;
    shared += b->pitch;
    uint32_t k = 1;
    while (k < b->t.rank && ++index[k] == b->count[k]) index[k++] = 0;
    if (k >= b->t.rank) return true;
  }
}

/* Boxes of one row, each at a row of its own, one behind the other: a column and four rows. */
static bool move_rows(emu_mover *m, box *b, const char *r, uint64_t shared) {
  for (unsigned k = 0; k < EMU_TENSOR_ROWS; k++) {
    b->start[1] = (int32_t)emu_lane_u32(r, m->b->coordinate[1 + k], m->lane);
    if (!move_box(m, b, shared + k * b->pitch)) return false;
  }
  return true;
}

/* ---- Copies ---------------------------------------------------------------------------------- */

/* The reduction's type is the tensor's. */
static bool reduction_type(emu_warp *w, const emu_inst *i, unsigned lane, const emu_bulk *b,
                           const hd_tensor *t, emu_bulk_type *out) {
  static const int of[HD_TENSOR_TYPES] = {[HD_TENSOR_U8] = -1,
                                          [HD_TENSOR_U16] = -1,
                                          [HD_TENSOR_U32] = EMU_BULK_U32,
                                          [HD_TENSOR_S32] = EMU_BULK_S32,
                                          [HD_TENSOR_U64] = EMU_BULK_U64,
                                          [HD_TENSOR_S64] = EMU_BULK_S64,
                                          [HD_TENSOR_F16] = EMU_BULK_F16,
                                          [HD_TENSOR_F32] = EMU_BULK_F32,
                                          [HD_TENSOR_F64] = EMU_BULK_F64,
                                          [HD_TENSOR_BF16] = EMU_BULK_BF16,
                                          [HD_TENSOR_F32_FTZ] = -1,
                                          [HD_TENSOR_TF32] = -1,
                                          [HD_TENSOR_TF32_FTZ] = -1};
  const int type = of[t->type];
  if (type >= 0 && emu_bulk_reduces(b->atom, (emu_bulk_type)type)) {
    *out = (emu_bulk_type)type;
    return true;
  }
  emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "there is no such reduction of the tensor's element type");
  return false;
}

static unsigned conversion_of(hd_tensor_type type) {
  static const unsigned of[HD_TENSOR_TYPES] = {[HD_TENSOR_F32_FTZ] = EMU_CONVERT_FTZ,
                                               [HD_TENSOR_TF32] = EMU_CONVERT_TF32,
                                               [HD_TENSOR_TF32_FTZ] = EMU_CONVERT_FTZ | EMU_CONVERT_TF32};
  return of[type];
}

static bool copy(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  const emu_bulk *b = i->extra;
  const uint64_t map = emu_pointer_at(r, b->op == EMU_BULK_STORE ? &b->dst : &b->src, lane);
  uint64_t shared = 0, bar = 0;
  box x;
  emu_mover m;
  if (!read_map(w, i, lane, map, &x.t)) return false;
  if (x.t.rank != b->rank) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "the tensor map at 0x%" PRIx64 " has %u dimensions, the instruction %u", map, x.t.rank,
              b->rank);
    return false;
  }
  for (uint32_t k = 0; k < b->rank; k++) x.start[k] = (int32_t)emu_lane_u32(r, b->coordinate[k], lane);
  measure(&x);
  if (b->by_rows && x.rows != 1) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "the box of the tensor map at 0x%" PRIx64 " has %" PRIu64 " rows, not 1", map, x.rows);
    return false;
  }
  if (x.rows > EMU_SHARED_LIMIT / x.pitch) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "the box of the tensor map at 0x%" PRIx64 " has %" PRIu64 " bytes, more than shared memory",
              map, x.rows * x.pitch);
    return false;
  }
  if (b->op != EMU_BULK_PREFETCH) {
    if (!emu_shared_offset(w, i, b->op == EMU_BULK_STORE ? &b->src : &b->dst, r, lane, &shared)) return false;
    if (shared % BOX_ALIGN) {
      emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
                "a tensor copy's shared offset is 0x%" PRIx64 ", no multiple of %d", shared, BOX_ALIGN);
      return false;
    }
    if (b->op == EMU_BULK_LOAD && !emu_shared_offset(w, i, &b->bar, r, lane, &bar)) return false;
  }
  bool ok = true;
  for (uint32_t ranks = emu_copy_ranks(w, i, b, r, lane); ok && emu_copy_next(w, b, &ranks, &shared, &bar);) {
    emu_mover_begin(&m, w, i, b, lane);
    m.bar = bar;
    m.convert = b->op == EMU_BULK_LOAD ? conversion_of(x.t.type) : 0;
    m.fill = x.t.fill == HD_TENSOR_FILL_NAN ? NAN_PATTERN : 0;
    ok = !b->reduce || reduction_type(w, i, lane, b, &x.t, &m.type);
    ok = ok && (b->by_rows ? move_rows(&m, &x, r, shared) : move_box(&m, &x, shared)) && emu_mover_end(&m);
    ((emu_mwarp *)w)->issuer = 0;
    ok = ok && (b->op != EMU_BULK_LOAD ||
                emu_mbarrier_complete_tx(w, i, lane, bar, b->by_rows ? EMU_TENSOR_ROWS * x.bytes : x.bytes));
  }
  return ok;
}

void emu_run_tensor(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!copy(w, i, r, (unsigned)__builtin_ctz(left))) return;
}
