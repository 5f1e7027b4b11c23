/* emu/machine/warp.h: a warp: fibers and the loop that runs them (warp.c), instructions where its
 * threads meet (gather.c), frames and calls (call.c),
 * warpgroup products (wgmma.c) and copies of single threads in flight (copies.c). */
#ifndef HEDDLE_EMU_WARP_H
#define HEDDLE_EMU_WARP_H

#include "emu/machine/machine.h"

#include <string.h>

typedef struct emu_mframe {
  emu_frame f;
  uint32_t cap_slots;
  const emu_code *filled; /* whose init slots are already in regs */
  struct emu_mframe *next;
} emu_mframe;

typedef struct emu_flight emu_flight;
typedef struct emu_copies emu_copies;

/* The state of a warp that progress.c keeps during a window. */
typedef struct emu_spin {
  uint64_t changes;      /* emu_quiet.changes when `state` was */
  uint64_t place, state; /* hashes of a state it was in */
  uint32_t power, steps; /* steps since then, of power many before a new one is taken */
  bool repeats;          /* it came there again */
  bool reads,
      roams;  /* it reads memory; in the second half of the window at other addresses than in the first */
  bool polls; /* some of that by atomics, or past the caches */
  uint64_t least, greatest;       /* addresses */
  uint32_t first_line, last_line; /* of the code that it ran since `state` */
  const emu_inst *inst;           /* an access since then: the last that reads, or the first */
  const emu_code *code;           /* of inst */
  uint32_t lanes;
  uint64_t address;
  struct { /* the same since the window began */
    uint32_t first_line, last_line;
    const emu_inst *inst;
    const emu_code *code;
    uint32_t lanes;
    uint64_t address;
  } window;
} emu_spin;

typedef struct emu_mwarp {
  emu_warp w;           /* the part for handlers; first, so that emu_warp * converts */
  const emu_inst *stop; /* the run loop's end; NULL: stop at once (emu_fault) */
  char *local;          /* lane 0's stack; the next lane's is launch->stack_bytes further */
  emu_mframe *free_frames;
  emu_flight *flight; /* products in flight, or NULL */
  emu_copies *copies; /* of single threads in flight, or NULL */
  int barrier;        /* arrived there and waiting; EMU_CLUSTER_BARRIER: at the cluster's; -1: none */
  uint32_t cluster_arrived, cluster_pending; /* lanes; see cluster.c */
  uint32_t spins;                            /* see backward branches in warp.c */
  bool synced;                               /* an atomic or uncached load since the last backward branch */
  bool yielded;                              /* other warps' turn */
  bool starving;                             /* another fiber's turn */
  uint32_t turn;
  bool to_store;              /* its turn ends before a store; see warp.c */
  uint32_t polls;             /* mbarriers asked in vain; see mbarrier.c */
  uint64_t poll_changes;      /* of the CTA's, at the last of these */
  uint64_t poll_instructions; /* of the warp's, at the last of these */
  unsigned issuer;            /* 1 + the lane whose bulk copy is being made: lanes of accesses are none; 0 */
  uint64_t landing;           /* 1 + the offset of the mbarrier on which that copy completes; 0: on none */
  bool copies_async;          /* an access of a bulk copy is being made */
  uint32_t copier, copied;    /* that copy as a writer, and its number; 0: it has none yet */
  uint32_t ticket, ticket_tells; /* of its stores to global memory, and emu_knower.tells then; see flags.c */
  uint32_t copy_ticket;          /* of its bulk copies that it has not waited for; 0: none */
  uint32_t unreleased;           /* its last ticket of which others were not told; 0: none */
  uint32_t told_first;           /* the first time up to which they were; 0: none */
  uint64_t told;                 /* the release with which they were told last */
  emu_spin spin;
} emu_mwarp;

/* warp.c */
typedef enum emu_waiting { EMU_READY = 0, EMU_AT_BARRIER, EMU_AT_GATHER, EMU_AT_CLUSTER } emu_waiting;
/* A new fiber for some of f's lanes, in the same frame; there is always room. */
emu_fiber *emu_split_fiber(emu_warp *w, emu_fiber *f, uint32_t lanes, uint32_t pc);
/* One instruction of every fiber that can run, as threads that make progress independently. */
void emu_warp_each(emu_mwarp *m);
static inline uint32_t emu_guard(const emu_inst *i, const char *r, uint32_t mask) {
  if (!i->guarded) return mask;
  uint32_t p;
  memcpy(&p, r + (size_t)i->guard * EMU_SLOT_BYTES, sizeof p);
  return mask & (i->guarded == 1 ? p : ~p);
}
static inline uint32_t emu_lane_u32(const char *r, uint32_t slot, unsigned lane) {
  uint32_t v;
  memcpy(&v, r + (size_t)slot * EMU_SLOT_BYTES + (size_t)lane * 4, sizeof v);
  return v;
}
static inline uint64_t emu_lane_u64(const char *r, uint32_t slot, unsigned lane) {
  uint64_t v;
  memcpy(&v, r + (size_t)slot * EMU_SLOT_BYTES + (size_t)lane * 8, sizeof v);
  return v;
}

/* gather.c */
/* f, all its lanes active, is at gather i. True: it ran, and f may go on without a new choice. */
bool emu_gather_meet(emu_mwarp *m, emu_fiber *f, const emu_inst *i);
/* All fibers wait. True: one of them can run after all. */
bool emu_gather_release(emu_mwarp *m);
/* No thread of the warp can ever run: report why. */
void emu_gather_stuck(emu_mwarp *m);

/* call.c */
/* Bytes of each thread's stack that an activation takes. */
static inline uint64_t emu_local_bytes(const emu_code *code) {
  return ((uint64_t)code->local_bytes + 15) / 16 * 16;
}
/* A frame for the lanes of `mask`, with one reference; NULL after a fault at i (NULL: at a kernel's start).
 */
emu_frame *emu_frame_make(emu_mwarp *m, const emu_code *code, emu_frame *caller, const emu_inst *i,
                          uint32_t mask);
void emu_frame_drop(emu_mwarp *m, emu_frame *f);
void emu_frames_free(emu_mwarp *m);
/* The call at f's pc, for all of f's lanes: f is then in the callee, or behind a builtin. Lanes that call
 * another function through the same register are split off. False after a fault. */
bool emu_call_enter(emu_mwarp *m, emu_fiber *f, const emu_inst *i);
/* Leave it: results go to the caller, f is moved there. */
void emu_call_leave(emu_mwarp *m, emu_fiber *f);

/* wgmma.c */
/* Forget the products in flight. */
void emu_wgmma_reset(emu_mwarp *m);
void emu_wgmma_free(emu_mwarp *m);
/* The last warp of the CTA, m, is over: did each warpgroup issue its products together? */
void emu_wgmma_cta_over(emu_mwarp *m);

/* mbarrier.c: the lanes of the mask whose offset is the first one's. */
uint32_t emu_lanes_as_first(uint32_t mask, const uint64_t offset[HD_WARP]);

/* copies.c */
/* Forget the copies in flight. */
void emu_copies_reset(emu_mwarp *m);
void emu_copies_free(emu_mwarp *m);
/* The line of the cp.async that still writes some of the bytes at shared `offset`; 0: none does. */
uint32_t emu_copy_writer(const emu_cta *c, uint64_t offset, unsigned bytes);

#endif
