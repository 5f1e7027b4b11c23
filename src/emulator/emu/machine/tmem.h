/* emu/machine/tmem.h: tensor memory of a CTA, and what of tcgen05 is in flight.
 *
 *   tmem.c            columns allocated, the operations in flight, conflicts between them
 *   tmem_move.c       tcgen05.ld, st, cp, shift, alloc, dealloc, commit, wait
 *   ops/tcgen05.c     tcgen05.mma
 *   decode/tcgen05.c  their rules
 *
 * Products, copies from shared memory and shifts are not carried out when they are issued but when a thread
 * of the CTA or its cluster next looks at an mbarrier, or when the CTA ends: in the order of issue, commits'
 * arrivals among them. So a kernel that does not wait for a commit's mbarrier finds tensor memory as it was.
 * These are faults:
 *   - a load, a store or a deallocation of columns that an operation in flight writes, a store of those that
 * one reads;
 *   - operations on columns that a warp stores, or loads, and has not waited for (tcgen05.wait);
 *   - shared memory that changed between the issue of an operation and when it read it;
 *   - columns that are not allocated;
 *   - under HD_CHECK_RACE a load or store by a warp that has not learned, by an mbarrier itself or by a
 * barrier behind it, that what wrote the columns is complete. A load's registers have their values at once:
 * the PTX ISA has programs wait (tcgen05.wait::ld), but ptxas makes GPUs wait where a register is read, and
 * programs that leave the wait out are around. So what overtakes a load is a fault with HD_CHECK_INIT only.
 * Missing tcgen05.fence are not found. */
#ifndef HEDDLE_EMU_TMEM_H
#define HEDDLE_EMU_TMEM_H

#include "emu/machine/async.h"
#include "emu/num/tcgen05.h"

enum { EMU_TMEM_POISON = -1 };

/* Columns [lo, hi) in the groups of 16 lanes that have a bit. */
typedef struct emu_tmem_span {
  hd_emu_cta *cta;
  uint8_t groups;
  uint16_t lo, hi;
} emu_tmem_span;

enum { EMU_TMEM_SPANS = 12 };
typedef struct emu_tmem_op emu_tmem_op;
/* Carry the operation out, or false. Its warp may be over. */
typedef bool emu_tmem_run(emu_tmem_op *op);

struct emu_tmem_op {
  emu_tmem_run *run;
  emu_warp *w; /* that issued it, from instruction i of `code` */
  const emu_code *code;
  const emu_inst *i;
  unsigned lane;
  uint32_t n_reads, n_writes;
  emu_tmem_span reads[EMU_TMEM_SPANS], writes[2];
  uint32_t n_chunks;  /* of 16 bytes of shared memory */
  const char **chunk; /* on the host; freed with the operation, as `used` is */
  uint8_t *used;      /* of each chunk's bytes, the first ones: behind them is padding */
  uint64_t hash;      /* of what they held */
  void *what;         /* the rest; freed with the operation */
};

static inline unsigned emu_tmem_lane(uint32_t address) { return address >> 16; }
static inline unsigned emu_tmem_column(uint32_t address) { return address & 0xffff; }

/* The CTAs of an instruction of .cta_group::1 or ::2, the even rank first; 0 after a fault. */
unsigned emu_tmem_ctas(emu_warp *w, const emu_inst *i, unsigned lane, unsigned group, hd_emu_cta *ctas[2]);
/* A row of a CTA's tensor memory. */
uint32_t *emu_tmem_row(hd_emu_cta *c, unsigned lane);
/* Whether the CTA has all these columns; else a fault. */
bool emu_tmem_allocated(emu_warp *w, const emu_inst *i, uint32_t mask, const emu_tmem_span *s);
/* Add to the reads or writes of an operation; false after a fault. */
bool emu_tmem_reads(emu_tmem_op *op, hd_emu_cta *c, unsigned groups, unsigned lo, unsigned n);
bool emu_tmem_writes(emu_tmem_op *op, hd_emu_cta *c, unsigned groups, unsigned lo, unsigned n);
/* Check and remember the shared memory at these addresses (of shared::cluster): 16 bytes each, of which the
 * first `used` are read. */
bool emu_tmem_shared(emu_tmem_op *op, const uint32_t *at, uint32_t n, unsigned used);
/* The operation is under way; it is emptied. False after a fault. */
bool emu_tmem_issue(emu_tmem_op *op);
void emu_tmem_forget(emu_tmem_op *op);
/* A commit, which is being carried out, of what its thread issued, to the mbarrier at a shared offset. */
void emu_tmem_commits(const emu_tmem_op *op, uint64_t offset);
/* Carry out what is in flight in the CTA and its cluster; false after a fault. */
bool emu_tmem_drain(emu_mwarp *m);
/* Columns of the CTA's own, a power of two of them; false after a fault. */
bool emu_tmem_alloc(emu_warp *w, const emu_inst *i, uint32_t columns, uint32_t *address);
bool emu_tmem_dealloc(emu_warp *w, const emu_inst *i, uint32_t address, uint32_t columns);
/* No more is allocated. */
void emu_tmem_relinquish(hd_emu_cta *c);
/* A warp's load or store of these columns begins, and lasts until it waits; false after a fault. */
bool emu_tmem_move_begin(emu_warp *w, const emu_inst *i, const emu_tmem_span *s, bool stores);
void emu_tmem_wait(emu_warp *w, bool stores);
/* Room of the CTA's own for the numbers of a product; NULL: out of memory. */
void *emu_tmem_room(hd_emu_cta *c, size_t bytes);

void emu_tmem_reset(hd_emu_cta *c);
void emu_tmem_free(hd_emu_cta *c);
/* The last warp of the CTA, m, is over. */
void emu_tmem_cta_over(emu_mwarp *m);

/* ---- tmem_move.c: handlers ------------------------------------------------------------------ */

/* alloc: src[0] columns (u32), extra: the shared address. dealloc: src[0] address, src[1] columns.
 * imm: the group. */
void emu_run_tmem_alloc(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_tmem_dealloc(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_tmem_relinquish(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* The extra of ld and st. */
typedef struct emu_tmem_move {
  emu_pointer at;
  uint8_t shape; /* num_tc_shape */
  bool packed;   /* a register holds the lower halves of two columns */
  uint16_t half; /* NUM_TC_16X32BX2 */
  uint16_t n_regs;
  uint32_t *slot;
} emu_tmem_move;
void emu_run_tmem_ld(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_tmem_st(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* imm: 1 waits for loads, 2 for stores. */
void emu_run_tmem_wait(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

typedef enum emu_tmem_spread { EMU_TMEM_ONCE, EMU_TMEM_02_13, EMU_TMEM_01_23, EMU_TMEM_X4 } emu_tmem_spread;
/* The extra of cp and shift. */
typedef struct emu_tmem_copy {
  emu_pointer at;
  uint32_t desc_slot;          /* u64 */
  uint8_t group, rows, chunks; /* chunks of 16 bytes to a row */
  uint8_t spread;              /* emu_tmem_spread */
  uint8_t bits;                /* of an element in shared memory, 4 or 6; 0: as it is */
} emu_tmem_copy;
void emu_run_tmem_cp(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
void emu_run_tmem_shift(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* The extra of commit. */
typedef struct emu_tmem_commit {
  emu_pointer bar;
  uint32_t mask_slot; /* u16: ranks; EMU_NO_SLOT: the CTA's own */
  uint8_t group;
} emu_tmem_commit;
void emu_run_tmem_commit(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* The extra of mma (ops/tcgen05.c). */
typedef struct emu_tmem_mma {
  num_tc_form form;
  emu_pointer d, a, meta, a_scale, b_scale; /* a: where A is in tensor memory */
  bool a_in_tensor;
  uint32_t a_slot, b_slot; /* u64 descriptors */
  uint32_t desc_slot;      /* u32 */
  uint32_t add_slot;       /* predicate: D is added to */
  uint8_t add_neg;
  uint8_t n_disabled; /* 0, 4 or 8 registers: the lanes of D that stay as they are */
  uint32_t disabled[8];
  uint8_t shrink;      /* D is multiplied by 2 to the minus this */
  uint32_t zeros_slot; /* u64: .ws, which columns of B are zero; EMU_NO_SLOT: none */
} emu_tmem_mma;

#endif
