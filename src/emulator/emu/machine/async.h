/* emu/machine/async.h: mbarriers, bulk copies and tensor copies: declarations that their files share.
 *
 *   mbarrier.c      the objects, their phases, threads that wait for one
 *   bulk.c          copies of contiguous bytes; what a copy in flight still reads and writes
 *   remote.c        registers sent to another CTA of the cluster; zeros
 *   tensor.c        copies of boxes
 *   tensormap.c     tensor maps
 *   decode/async.c  their rules
 *
 * A copy is made when it is issued: waiting for it is a question of its mbarrier's phase or its thread's
 * groups alone. With HD_CHECK_INIT the machine remembers the reads and writes that a copy would still be
 * doing on a GPU, so that these are faults:
 *   - reading shared memory that a copy writes before the phase of its mbarrier is complete;
 *   - writing shared memory that a copy reads before the issuing thread has waited for its group.
 *   - writing shared memory that a copy writes, cp.async too, before it is complete;
 *   - accessing global memory that a copy of the CTA writes before the issuing thread has waited for its
 * group without .read; of tensors' boxes those alone that are contiguous. HD_CHECK_RACE finds such accesses
 * of other CTAs (flags.c), reads by threads that never waited for the phase, and missing proxy fences
 * (order.c, shadow.c). */
#ifndef HEDDLE_EMU_ASYNC_H
#define HEDDLE_EMU_ASYNC_H

#include "emu/machine/grid.h"

/* ---- Operands -------------------------------------------------------------------------- */

/* An address operand beside the first, which has its place in emu_inst. */
typedef struct emu_pointer {
  uint32_t slot; /* EMU_ADDR_ABS: none */
  uint8_t mode;  /* emu_addr_mode */
  uint8_t space; /* hd_space or EMU_GENERIC */
  int64_t imm;
} emu_pointer;

static inline uint64_t emu_pointer_at(const char *r, const emu_pointer *p, unsigned lane) {
  switch (p->mode) {
  case EMU_ADDR_64: return emu_lane_u64(r, p->slot, lane) + (uint64_t)p->imm;
  case EMU_ADDR_32: return emu_lane_u32(r, p->slot, lane) + (uint32_t)p->imm;
  default: return (uint64_t)p->imm;
  }
}
/* A lane's offset in the CTA's shared memory, whatever the operand's space; false after a fault. */
bool emu_shared_offset(emu_warp *w, const emu_inst *i, const emu_pointer *p, const char *r, unsigned lane,
                       uint64_t *offset);

/* ---- mbarrier.c -------------------------------------------------------------------------- */

typedef enum emu_mbarrier_op {
  EMU_MBARRIER_INIT,
  EMU_MBARRIER_INVAL,
  EMU_MBARRIER_EXPECT_TX,
  EMU_MBARRIER_COMPLETE_TX,
  EMU_MBARRIER_ARRIVE,
  EMU_MBARRIER_ARRIVE_DROP,
  EMU_MBARRIER_WAIT,   /* test_wait, try_wait */
  EMU_MBARRIER_COPIES, /* cp.async.mbarrier.arrive */
} emu_mbarrier_op;

/* The extra of an instruction on an mbarrier. */
typedef struct emu_mbarrier {
  emu_mbarrier_op op;
  emu_pointer at;
  uint32_t count_slot; /* arrivals or bytes (u32), parity (u32), state (u64); EMU_NO_SLOT: one arrival */
  uint32_t state_slot; /* ARRIVE, ARRIVE_DROP: gets the state before (u64); EMU_NO_SLOT: not wanted */
  uint32_t dst_slot;   /* WAIT: the predicate */
  bool parity;         /* WAIT: for a parity, else for a state's phase */
  bool expects;        /* ARRIVE...: count_slot are bytes to expect, before one arrival */
  bool completes;      /* ARRIVE...: it may complete the phase (not .noComplete) */
  bool increments;     /* COPIES: not .noinc */
  bool relaxed;        /* ARRIVE..., WAIT: it orders no other accesses */
} emu_mbarrier;
void emu_run_mbarrier(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* mbarrier.pending_count: src[0] state, dst u32. */
void emu_run_pending_count(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* `bytes` of a copy have landed: complete_tx on the object at `offset`; false after a fault. */
bool emu_mbarrier_complete_tx(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset, uint64_t bytes);

/* tcgen05.commit: where the object is on the host, NULL after a fault; its arrival, whose thread may be over.
 */
char *emu_mbarrier_locate(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t offset);
bool emu_mbarrier_commit(emu_mwarp *m, const emu_code *code, const emu_inst *i, unsigned lane,
                         uint64_t offset, char *host);

/* ---- bulk.c ------------------------------------------------------------------------------ */

typedef enum emu_bulk_op {
  EMU_BULK_LOAD,     /* global to shared */
  EMU_BULK_STORE,    /* shared to global */
  EMU_BULK_SHARED,   /* shared to shared of the cluster */
  EMU_BULK_PREFETCH, /* to L2 */
} emu_bulk_op;

typedef enum emu_bulk_type {
  EMU_BULK_U32,
  EMU_BULK_S32,
  EMU_BULK_U64,
  EMU_BULK_S64,
  EMU_BULK_F16,
  EMU_BULK_BF16,
  EMU_BULK_F32,
  EMU_BULK_F64,
} emu_bulk_type;
/* Whether the PTX ISA has a reduction of this operation and type (cp.reduce.async.bulk). */
bool emu_bulk_reduces(emu_atom_op op, emu_bulk_type type);

enum { EMU_TENSOR_ROWS = 4 };

/* The extra of a copy. */
typedef struct emu_bulk {
  emu_bulk_op op;
  emu_pointer dst, src; /* STORE, LOAD of a tensor: the map instead of the global side */
  emu_pointer bar;      /* LOAD, SHARED */
  uint32_t size_slot;   /* bytes (u32); EMU_NO_SLOT for tensors */
  uint32_t mask_slot;   /* LOAD: the ranks of the CTAs that get it (u16); EMU_NO_SLOT: one */
  uint32_t policy_slot; /* a cache policy, which says nothing about the result */
  bool pair;            /* LOAD: .cta_group::2: the mbarrier may be in the other CTA of the pair */
  bool reduce;
  emu_atom_op atom;
  emu_bulk_type type;
  uint32_t rank; /* tensors: of the instruction, 1 to 5 */
  bool by_rows;  /* tile::gather4, tile::scatter4: the coordinates are a column and EMU_TENSOR_ROWS rows */
  uint32_t coordinate[HD_TENSOR_DIMS];
  uint32_t bytes_slot; /* .cp_mask: which of each 16 bytes are copied (u16); EMU_NO_SLOT: all */
} emu_bulk;
void emu_run_bulk(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* commit_group; wait_group, which leaves the `imm` youngest groups. */
void emu_run_bulk_commit(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_bulk_wait(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* With .read: until their sources are read. */
void emu_run_bulk_wait_read(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

enum { EMU_CONVERT_FTZ = 1, EMU_CONVERT_TF32 = 2 };

/* One thread's copy under way: pieces of up to 16 bytes that are accessed up to 32 at a time. */
typedef struct emu_mover {
  emu_warp *w;
  const emu_inst *i;
  const emu_bulk *b; /* op, reduction */
  emu_bulk_type type;
  uint64_t bar;                 /* LOAD, SHARED: the mbarrier's offset */
  unsigned lane;                /* that issued it */
  unsigned n, bytes;            /* pieces waiting, of so many bytes */
  unsigned convert;             /* EMU_CONVERT_... of each f32 that is copied */
  bool filling;                 /* they are to be filled with `fill` instead of copied */
  uint16_t fill;                /* repeated */
  const char *given;            /* these bytes instead; NULL: `fill` */
  uint64_t lo, hi;              /* the shared bytes touched so far */
  uint64_t out_lo, out_hi, out; /* STORE: the global bytes, and how many they are */
  uint64_t from[HD_WARP], to[HD_WARP];
} emu_mover;
void emu_mover_begin(emu_mover *m, emu_warp *w, const emu_inst *i, const emu_bulk *b, unsigned lane);
/* Copy (reduce, prefetch) `bytes` <= 16; false after a fault. */
bool emu_mover_copy(emu_mover *m, uint64_t from, uint64_t to, unsigned bytes);
bool emu_mover_fill(emu_mover *m, uint64_t to, unsigned bytes);
/* All pieces are known: make the remaining ones, and remember the copy. */
bool emu_mover_end(emu_mover *m);

/* The ranks that a copy goes to, as bits; 0 after a fault. emu_copy_next takes one after the other and puts
 * it into the addresses of the bytes and of the mbarrier; false when none is left. */
uint32_t emu_copy_ranks(emu_warp *w, const emu_inst *i, const emu_bulk *b, const char *r, unsigned lane);
bool emu_copy_next(emu_warp *w, const emu_bulk *b, uint32_t *ranks, uint64_t *dst, uint64_t *bar);

/* Forget a CTA's copies in flight; or free them. */
void emu_bulk_reset(hd_emu_cta *c);
void emu_bulk_free(hd_emu_cta *c);
/* The phase of the mbarrier at `offset` is complete: bytes that its copies wrote may be read. */
void emu_bulk_landed(hd_emu_cta *c, uint64_t offset);
/* The line of the copy that still writes (reads) some of the bytes at shared `offset`; 0: none does. */
uint32_t emu_bulk_writer(const hd_emu_cta *c, uint64_t offset, unsigned bytes, uint64_t *bar);
uint32_t emu_bulk_reader(const hd_emu_cta *c, uint64_t offset, unsigned bytes);
/* The line of the copy that still writes some of the bytes at the global address. */
uint32_t emu_bulk_out_writer(const hd_emu_cta *c, uint64_t address, unsigned bytes, bool atomic);

/* ---- remote.c -------------------------------------------------------------------------------- */

enum { EMU_REMOTE_BYTES = 16 };
/* The extra of st.async and red.async: op EMU_BULK_SHARED, without a source. */
typedef struct emu_remote {
  emu_bulk copy;
  unsigned n, bytes; /* registers, and the bytes of each */
  uint32_t slot[4];
} emu_remote;
void emu_run_remote(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* The extra of st.bulk, which fills shared memory with zeros. */
typedef struct emu_fill {
  emu_pointer at;
  uint32_t size_slot; /* bytes (u64) */
} emu_fill;
void emu_run_fill(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* ---- cancel.c ---------------------------------------------------------------------------------- */

/* The extra of clusterlaunchcontrol.try_cancel: where the answer goes, and the mbarrier. */
typedef struct emu_cancel {
  emu_bulk copy;
  bool to_all; /* CTAs of the cluster, each at its own addresses */
} emu_cancel;
void emu_run_try_cancel(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* The extra of clusterlaunchcontrol.query_cancel. */
typedef struct emu_query {
  uint32_t answer_slot; /* of 128 bits */
  uint32_t taken_slot;  /* a predicate: it took a CTA over; EMU_NO_SLOT: coordinates are asked for */
  uint32_t at_slot[3];  /* its x, y, z; EMU_NO_SLOT: not wanted */
} emu_query;
void emu_run_query_cancel(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* ---- tensor.c ---------------------------------------------------------------------------------- */

void emu_run_tensor(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* The extra of tensormap.replace. */
typedef struct emu_replace {
  emu_pointer map;
  uint8_t field; /* emu_tensor_field */
  bool wide;     /* the value has 64 bits */
  uint32_t ordinal_slot, value_slot;
} emu_replace;
void emu_run_tensormap_replace(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* tensormap.cp_fenceproxy: extra emu_bulk. */
void emu_run_tensormap_copy(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* ---- cluster.c --------------------------------------------------------------------------------------- */

/* mapa: src[0] address (mem.bytes 4 or 8 bytes), src[1] rank. getctarank: dst. */
void emu_run_mapa(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_getctarank(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

#endif
