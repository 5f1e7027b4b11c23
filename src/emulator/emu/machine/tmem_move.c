/* emu/machine/tmem_move.c: tcgen05 but for its products: allocation, loads and stores of warps, copies from
 * shared memory, shifts, commits and waits. */
#include "emu/machine/cluster.h"
#include "emu/machine/tmem.h"

#include <inttypes.h>
#include <stdlib.h>

/* A value that all threads of the warp must agree on. */
static bool agree(emu_warp *w, const emu_inst *i, const char *r, const emu_pointer *p, uint32_t mask,
                  uint32_t *value) {
  *value = (uint32_t)emu_pointer_at(r, p, (unsigned)__builtin_ctz(mask));
  for (uint32_t left = mask; left; left &= left - 1) {
    const unsigned l = (unsigned)__builtin_ctz(left);
    if ((uint32_t)emu_pointer_at(r, p, l) == *value) continue;
    emu_fault(w, i, 1u << l, HD_FAULT_OTHER, "the threads' operands differ");
    return false;
  }
  return true;
}
static bool agree_slot(emu_warp *w, const emu_inst *i, const char *r, uint32_t slot, uint32_t mask,
                       uint32_t *value) {
  const emu_pointer p = {.slot = slot, .mode = EMU_ADDR_32};
  return agree(w, i, r, &p, mask, value);
}

static bool whole_warp(emu_warp *w, const emu_inst *i, uint32_t mask) {
  if (mask == UINT32_MAX) return true;
  emu_fault(w, i, mask, HD_FAULT_OTHER, "not all threads of the warp take part");
  return false;
}

/* ---- Allocation ----------------------------------------------------------------------------- */

void emu_run_tmem_alloc(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_pointer *to = i->extra;
  hd_emu_cta *ctas[2];
  uint32_t columns, address;
  uint64_t at[HD_WARP] = {0}, offset;
  emu_view v;
  if (!whole_warp(w, i, mask) || !agree_slot(w, i, r, i->src[0], mask, &columns) ||
      !emu_tmem_ctas(w, i, 0, (unsigned)i->imm, ctas) || !emu_shared_offset(w, i, to, r, 0, &offset) ||
      !emu_tmem_alloc(w, i, columns, &address))
    return;
  at[0] = offset;
  w->storing = (const char *)&address;
  if (emu_access(w, i, 1, at, 4, 4, HD_ACCESS_STORE, 0, HD_SPACE_SHARED, &v))
    memcpy((void *)(uintptr_t)(offset + v.delta), &address, sizeof address);
  w->storing = NULL;
}

void emu_run_tmem_dealloc(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  hd_emu_cta *ctas[2];
  uint32_t address, columns;
  if (!whole_warp(w, i, mask) || !agree_slot(w, i, r, i->src[0], mask, &address) ||
      !agree_slot(w, i, r, i->src[1], mask, &columns) || !emu_tmem_ctas(w, i, 0, (unsigned)i->imm, ctas))
    return;
  (void)emu_tmem_dealloc(w, i, address, columns);
}

void emu_run_tmem_relinquish(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  hd_emu_cta *ctas[2];
  if (whole_warp(w, i, mask) && emu_tmem_ctas(w, i, 0, (unsigned)i->imm, ctas)) emu_tmem_relinquish(w->cta);
}

/* ---- Loads and stores ----------------------------------------------------------------------- */

/* Columns of 32 bits that the instruction reaches, from its first one on. */
static unsigned reach_of(const emu_tmem_move *x) {
  const num_tc_shape shape = (num_tc_shape)x->shape;
  const unsigned columns = x->n_regs / num_tc_regs(shape) * num_tc_width(shape);
  return columns * (x->packed ? 2 : 1);
}

/* The two parts of a .16x32bx2 are one span if they follow each other. */
static bool begin(emu_warp *w, const emu_inst *i, uint32_t address, bool stores) {
  const emu_tmem_move *x = i->extra;
  const unsigned lane = emu_tmem_lane(address), column = emu_tmem_column(address),
                 quarter = w->index % 4 * 32, lanes = num_tc_lanes((num_tc_shape)x->shape), n = reach_of(x);
  if (lane < quarter || lane + lanes > quarter + 32 || lane % 16) {
    emu_fault(w, i, w->live, HD_FAULT_OTHER,
              "warp %u reaches the lanes %u to %u of tensor memory, not the %u from lane %u on", w->index,
              quarter, quarter + 31, lanes, lane);
    return false;
  }
  const unsigned last = column + n + (x->shape == NUM_TC_16X32BX2 ? x->half : 0);
  emu_tmem_span s = {w->cta, (uint8_t)((lanes == 32 ? 3 : 1) << lane / 16), (uint16_t)column,
                     (uint16_t)(column + n)};
  if (last > NUM_TC_COLUMNS) {
    emu_fault(w, i, w->live, HD_FAULT_BOUNDS, "it reaches column %u of tensor memory, which has 512",
              last - 1);
    return false;
  }
  if (!emu_tmem_move_begin(w, i, &s, stores)) return false;
  s.lo = (uint16_t)(last - n);
  s.hi = (uint16_t)last;
  return s.lo == column || emu_tmem_move_begin(w, i, &s, stores);
}

static uint32_t *cell(emu_warp *w, const emu_tmem_move *x, uint32_t address, unsigned thread, unsigned reg) {
  unsigned lane, column;
  num_tc_place((num_tc_shape)x->shape, thread, reg, 0, &lane, &column);
  column *= x->packed ? 2 : 1;
  if (x->shape == NUM_TC_16X32BX2) column += thread / 16 * x->half;
  return &emu_tmem_row(w->cta, emu_tmem_lane(address) + lane)[emu_tmem_column(address) + column];
}

void emu_run_tmem_ld(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_tmem_move *x = i->extra;
  uint32_t address;
  if (!whole_warp(w, i, mask) || !agree(w, i, r, &x->at, mask, &address) || !begin(w, i, address, false))
    return;
  for (unsigned k = 0; k < x->n_regs; k++) {
    uint32_t *value = (uint32_t *)(uintptr_t)(r + (size_t)x->slot[k] * EMU_SLOT_BYTES);
    for (unsigned l = 0; x->slot[k] != EMU_NO_SLOT && l < HD_WARP; l++) {
      const uint32_t *c = cell(w, x, address, l, k);
      value[l] = x->packed ? (c[0] & 0xffff) | c[1] << 16 : c[0];
    }
  }
}

void emu_run_tmem_st(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  const emu_tmem_move *x = i->extra;
  uint32_t address;
  if (!whole_warp(w, i, mask) || !agree(w, i, r, &x->at, mask, &address) || !begin(w, i, address, true))
    return;
  for (unsigned k = 0; k < x->n_regs; k++)
    for (unsigned l = 0; l < HD_WARP; l++) {
      uint32_t *c = cell(w, x, address, l, k);
      const uint32_t v = emu_lane_u32(r, x->slot[k], l);
      c[0] = x->packed ? v & 0xffff : v;
      if (x->packed) c[1] = v >> 16;
    }
  emu_quiet_changed(w->cta);
}

void emu_run_tmem_wait(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  (void)r;
  if (whole_warp(w, i, mask)) emu_tmem_wait(w, i->imm == 2);
}

/* ---- Copies from shared memory -------------------------------------------------------------- */

typedef struct copying {
  emu_tmem_copy how;
  unsigned n_ctas, lane, column;
  hd_emu_cta *ctas[2];
} copying;

/* The first of the lanes that row r comes to, and how many of them, 32 or 64 apart. */
static unsigned lanes_of(const emu_tmem_copy *x, unsigned row, unsigned *n, unsigned *apart) {
  *n = x->spread == EMU_TMEM_ONCE ? 1 : x->spread == EMU_TMEM_X4 ? 4 : 2;
  *apart = x->spread == EMU_TMEM_02_13 ? 64 : 32;
  if (x->rows == 4) return 32 * row;
  return x->spread == EMU_TMEM_01_23 ? row / 32 * 64 + row % 32 : row;
}

static bool run_copy(emu_tmem_op *op) {
  const copying *x = op->what;
  const char **from = op->chunk;
  for (unsigned c = 0; c < x->n_ctas; c++)
    for (unsigned row = 0; row < x->how.rows; row++)
      for (unsigned k = 0; k < x->how.chunks; k++) {
        unsigned n, apart, lane = lanes_of(&x->how, row, &n, &apart);
        uint8_t bytes[16];
        memcpy(bytes, *from++, sizeof bytes);
        if (x->how.bits) num_tc_unpad((const uint8_t *)from[-1], x->how.bits, bytes);
        for (unsigned j = 0; j < n; j++)
          memcpy(emu_tmem_row(x->ctas[c], x->lane + lane + j * apart) + x->column + (size_t)k * 4, bytes,
                 sizeof bytes);
      }
  return true;
}

static bool read_rows(emu_tmem_op *op, const copying *x, const num_tc_desc *d, unsigned which) {
  uint32_t at[NUM_TC_LANES * 2], n = 0;
  for (unsigned row = 0; row < x->how.rows; row++)
    for (unsigned k = 0; k < x->how.chunks; k++) {
      at[n] = num_tc_chunk(d, row, k);
      if (at[n] == UINT32_MAX) {
        emu_fault(op->w, op->i, 1u << op->lane, HD_FAULT_OTHER, "the swizzle is too narrow for its rows");
        return false;
      }
      if (x->how.group == 2) at[n] = (uint32_t)emu_ranked(at[n], x->ctas[which]->rank);
      n++;
    }
  return emu_tmem_shared(op, at, n, x->how.bits ? 2u * x->how.bits : 16);
}

/* A new operation of a thread, with `what` as its own. */
static bool start(emu_tmem_op *op, emu_warp *w, const emu_inst *i, unsigned lane, emu_tmem_run *run,
                  const copying *what) {
  *op = (emu_tmem_op){.run = run, .w = w, .i = i, .lane = lane};
  op->what = malloc(sizeof *what);
  if (!op->what) {
    emu_nomem(w, i, 1u << lane, "an operation in flight");
    return false;
  }
  memcpy(op->what, what, sizeof *what);
  return true;
}

static bool copy(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  copying x = {.how = *(const emu_tmem_copy *)i->extra};
  const uint32_t to = (uint32_t)emu_pointer_at(r, &x.how.at, lane);
  num_tc_desc d;
  emu_tmem_op op;
  const char *why = num_tc_descriptor(emu_lane_u64(r, x.how.desc_slot, lane), &d);
  x.lane = emu_tmem_lane(to);
  x.column = emu_tmem_column(to);
  if (!why && (x.how.rows == 4 ? x.lane >= 32 : x.lane != 0)) why = "its lane must be 0, of .4x256b below 32";
  if (why) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "descriptor or address: %s", why);
    return false;
  }
  x.n_ctas = emu_tmem_ctas(w, i, lane, x.how.group, x.ctas);
  if (!x.n_ctas || !start(&op, w, i, lane, run_copy, &x)) return false;
  bool ok = true;
  for (unsigned c = 0; ok && c < x.n_ctas; c++)
    ok = emu_tmem_writes(&op, x.ctas[c], x.how.rows == 4 ? 0x55 << x.lane / 16 : 0xff, x.column,
                         x.how.chunks * 4u) &&
         read_rows(&op, &x, &d, c);
  if (ok) return emu_tmem_issue(&op);
  emu_tmem_forget(&op);
  return false;
}

void emu_run_tmem_cp(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!copy(w, i, r, (unsigned)__builtin_ctz(left))) return;
}

/* ---- Shifts --------------------------------------------------------------------------------- */

enum { SHIFT_COLUMNS = 8 }; /* 32 bytes */

/* Of 32 lanes each but the last gets the row of the next: what .4x256b of cp then fills is the last. */
static bool run_shift(emu_tmem_op *op) {
  const copying *x = op->what;
  for (unsigned c = 0; c < x->n_ctas; c++)
    for (unsigned lane = x->lane; lane < x->lane + 31; lane++)
      memcpy(emu_tmem_row(x->ctas[c], lane) + x->column, emu_tmem_row(x->ctas[c], lane + 1) + x->column,
             SHIFT_COLUMNS * sizeof(uint32_t));
  return true;
}

static bool shift(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  copying x = {.how = *(const emu_tmem_copy *)i->extra};
  const uint32_t at = (uint32_t)emu_pointer_at(r, &x.how.at, lane);
  emu_tmem_op op;
  x.lane = emu_tmem_lane(at);
  x.column = emu_tmem_column(at);
  if (x.lane % 32 || x.lane >= NUM_TC_LANES) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER, "its lane, %u, is none of 0, 32, 64, 96", x.lane);
    return false;
  }
  x.n_ctas = emu_tmem_ctas(w, i, lane, x.how.group, x.ctas);
  if (!x.n_ctas || !start(&op, w, i, lane, run_shift, &x)) return false;
  bool ok = true;
  for (unsigned c = 0; ok && c < x.n_ctas; c++)
    ok = emu_tmem_writes(&op, x.ctas[c], 3u << x.lane / 16, x.column, SHIFT_COLUMNS);
  if (ok) return emu_tmem_issue(&op);
  emu_tmem_forget(&op);
  return false;
}

void emu_run_tmem_shift(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!shift(w, i, r, (unsigned)__builtin_ctz(left))) return;
}

/* ---- Commits -------------------------------------------------------------------------------- */

typedef struct arrival {
  uint64_t offset;
  char *host;
} arrival;

static bool run_arrival(emu_tmem_op *op) {
  const arrival *a = op->what;
  emu_tmem_commits(op, a->offset);
  return emu_mbarrier_commit((emu_mwarp *)op->w, op->code, op->i, op->lane, a->offset, a->host);
}

static bool arrive_at(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset) {
  arrival *a = malloc(sizeof *a);
  emu_tmem_op op = {.run = run_arrival, .w = w, .i = i, .lane = lane, .what = a};
  if (a) *a = (arrival){offset, emu_mbarrier_locate(w, i, lane, offset)};
  if (a && a->host) return emu_tmem_issue(&op);
  if (!a) emu_nomem(w, i, 1u << lane, "an operation in flight");
  free(a);
  return false;
}

static bool commit(emu_warp *w, const emu_inst *i, const char *r, unsigned lane) {
  const emu_tmem_commit *x = i->extra;
  hd_emu_cta *ctas[2];
  uint64_t offset;
  if (!emu_tmem_ctas(w, i, lane, x->group, ctas) || !emu_shared_offset(w, i, &x->bar, r, lane, &offset))
    return false;
  if (x->mask_slot == EMU_NO_SLOT) return arrive_at(w, i, lane, offset);
  const uint32_t ranks = emu_lane_u32(r, x->mask_slot, lane) & 0xffff;
  if (ranks >> emu_unit_size(w->cta)) {
    emu_fault(w, i, 1u << lane, HD_FAULT_OTHER,
              "its mask 0x%x names a CTA that the cluster of %u does not have", ranks, emu_unit_size(w->cta));
    return false;
  }
  for (uint32_t left = ranks; left; left &= left - 1)
    if (!arrive_at(w, i, lane, w->cta->cluster ? emu_ranked(offset, (uint32_t)__builtin_ctz(left)) : offset))
      return false;
  return true;
}

void emu_run_tmem_commit(emu_warp *w, const emu_inst *i, char *r, uint32_t mask) {
  for (uint32_t left = mask; left; left &= left - 1)
    if (!commit(w, i, r, (unsigned)__builtin_ctz(left))) return;
}
