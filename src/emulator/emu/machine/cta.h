/* emu/machine/cta.h: a CTA: its warps, shared memory and barriers (barrier.c). */
#ifndef HEDDLE_EMU_CTA_H
#define HEDDLE_EMU_CTA_H

#include "emu/machine/memory.h"
#include "emu/machine/warp.h"
#include "heddle/limits.h"

enum {
  EMU_MAX_THREADS = HD_MAX_THREADS,
  EMU_MAX_WARPS = EMU_MAX_THREADS / HD_WARP,
  EMU_BARRIERS = 16,
  EMU_CLUSTER_BARRIER = EMU_BARRIERS, /* emu_mwarp.barrier: of the cluster */
  EMU_SHARED_LIMIT = HD_MAX_SHARED,
  EMU_BOUNDS = 256,  /* see emu_bounds */
  EMU_STATES = 1024, /* of emu_quiet */
};

typedef struct emu_barrier {
  uint32_t expected;    /* threads; 0: all of the CTA that have not exited */
  uint32_t arrivals;    /* of warps */
  uint32_t arrived;     /* one bit a warp */
  uint32_t popc;        /* of .red: threads whose predicate holds */
  uint32_t threads;     /* of .red: threads that brought one */
  const emu_inst *inst; /* the first to arrive; NULL: none has */
  const emu_code *code;
} emu_barrier;

/* Shared memory [lo, hi) that a bulk copy still writes: the phase of its mbarrier is not complete. */
typedef struct emu_landing {
  uint64_t bar;  /* the mbarrier's offset */
  uint32_t rank; /* of its CTA */
  uint32_t line;
  uint64_t lo, hi;
} emu_landing;

/* Shared memory [lo, hi) that a bulk copy still reads: its thread has not waited for its group. */
typedef struct emu_reading {
  uint64_t lo, hi;
  uint32_t line;
  uint32_t thread;
  int64_t age; /* groups that the thread committed since its own; -1: it is not committed */
} emu_reading;

/* Global memory [lo, hi) that a bulk copy of the CTA still writes, likewise; .read does not wait for it. */
typedef struct emu_writing {
  emu_reading copy;
  bool reduces;
} emu_writing;

/* A CTA's asynchronous copies, which are recorded with CHECK_INIT only. */
typedef struct emu_async {
  uint64_t changes; /* of mbarriers: while there are none, a warp that asks again asks in vain */
  uint64_t copies;  /* cp.async in flight; counted always */
  HD_VEC(emu_landing) landings;
  HD_VEC(emu_reading) readings;
  HD_VEC(emu_writing) writings;
} emu_async;

/* Bounds of the allocation that an instruction accessed last, kept in a direct-mapped table
 * by instruction. An access inside an entry is in bounds, whichever warp left it. */
typedef struct emu_bounds {
  uint64_t lo, hi;
  uint64_t generation;
  bool readonly, written;
} emu_bounds;

/* Changes of memory during a window of progress.c. */
typedef struct emu_quiet {
  uint64_t changes;
  uint64_t others; /* those of them that `memory` and the states of warps and barriers do not show */
  uint64_t memory; /* a hash of the bytes that have changed in the window */
  uint64_t seen[EMU_STATES];   /* hashes that there were */
  uint64_t fresh, late;        /* changes to a state of memory not seen before; of these in its second half */
  bool settling;               /* the first half of the window */
  uint32_t n;                  /* of written[] */
  struct emu_written *written; /* by the present instruction */
} emu_quiet;

typedef struct emu_order emu_order;
typedef struct emu_tmem emu_tmem;
typedef struct emu_cluster emu_cluster;

struct hd_emu_cta {
  hd_emu_grid *grid;
  hd_emu *emu; /* as in the grid: at hand for every access */
  emu_access_fn *access;
  hd_emu_cta *next;     /* in the grid's list of idle ones */
  emu_cluster *cluster; /* NULL: it is alone */
  uint32_t rank;        /* in the cluster */
  uint64_t task;
  uint64_t ordinal; /* position in the order of starts; of two faults the earlier CTA's counts */
  uint32_t id[3];
  uint32_t sm;
  unsigned worker;
  uint32_t ticket;     /* of its loads, and its stores unless warps have their own (flags.c) */
  uint32_t unreleased; /* its last ticket of loads that it can tell others of, and has not; 0: none */
  bool touched;        /* it has accessed global memory with its ticket */
  uint32_t n_warps;
  uint32_t live_warps;    /* with threads that have not exited */
  uint32_t live_mask;     /* one bit a warp */
  uint32_t blocked_warps; /* waiting at a barrier */
  bool stuck;
  bool waited, launched; /* some thread has executed griddepcontrol.wait, or .launch_dependents */
  unsigned watch;        /* bit 1 << hd_space: the access hook wants it; emu_watch bits */
  uint64_t clock;        /* warp instructions run */
  uint64_t counted;      /* thread instructions of it in hd_emu.worked */
  uint64_t clock_looks;  /* and as many cycles more, for looks at the clock */
  uint64_t stores;       /* instructions that stored to global or shared memory */
  emu_quiet *quiet;      /* NULL: no window is open */
  emu_order *order;      /* know.c; NULL: what its warps know does not matter */
  char *shared;
  uint8_t *shared_init;
  uint64_t shared_bytes;
  uint64_t shared_unwritten; /* bytes that CHECK_INIT has not seen written, plus one per async.readings */
  char *local;
  uint8_t *local_init;  /* beside it, as shadow.c keeps it; NULL: not needed */
  uint64_t frame_bytes; /* host memory that frames take */
  emu_barrier barriers[EMU_BARRIERS];
  emu_async async;
  emu_tmem *tmem; /* tmem.c; NULL: it has none yet */
  emu_bounds bounds[EMU_BOUNDS];
  emu_mwarp warps[];
};

static inline emu_bounds *emu_bounds_of(hd_emu_cta *c, const emu_inst *i) {
  return &c->bounds[(uintptr_t)i / sizeof *i % EMU_BOUNDS];
}

/* barrier.c */
/* f, all its lanes active, is at barrier instruction i: it waits there, or goes on when it was the last. */
void emu_barrier_meet(emu_mwarp *m, emu_fiber *f, const emu_inst *i);
/* Do all threads of the warp wait at one barrier? Then the warp arrives there. */
void emu_barrier_settle_warp(emu_mwarp *m);
void emu_barrier_warp_exited(emu_cta *c);

/* know.c: the warps' knowledge of each other; nothing where c->order is NULL. */
/* A warp arrives at a barrier; the barrier, of the whole CTA or not, lets these warps go; a warp is over. */
void emu_order_arrive(hd_emu_cta *c, uint32_t warp, uint32_t id);
void emu_order_complete(hd_emu_cta *c, uint32_t leaving, uint32_t id, bool whole);
void emu_order_exit(hd_emu_cta *c, uint32_t warp);
/* Lanes of a warp meet: at a barrier of the warp, which orders their accesses, or in another instruction. */
void emu_order_meet(emu_warp *w, uint32_t lanes, bool orders);
/* Lanes arrive at the mbarrier at a shared offset; its phase is complete; they have seen that. Relaxed: only
 * fences before and behind order other accesses. */
void emu_order_signal(emu_warp *w, uint32_t lanes, uint64_t offset, bool relaxed);
/* The warp's next accesses have a later time. An arrival has one to itself: who sees the phase knows of the
 * arrival's own access, which comes behind the signal, and of none that follow. */
void emu_order_step(emu_warp *w);
void emu_order_phase(hd_emu_cta *c, uint64_t offset);
void emu_order_wait(emu_warp *w, uint32_t lanes, uint64_t offset, bool relaxed);
/* The warp has waited for its bulk copies' writes to global memory (flags.c). */
void emu_flags_copied(emu_warp *w);
/* They make a strong access of any memory; c->order is not NULL. */
void emu_order_flag(emu_warp *w, const emu_inst *i, hd_access_kind kind, uint32_t mask);

/* progress.c */
/* An access in a window: at addr[] + delta on the host. */
void emu_quiet_access(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[HD_WARP],
                      unsigned bytes, hd_access_kind kind, hd_space space, uint64_t delta);
/* Memory, a barrier or the heap has changed otherwise than by an access. */
static inline void emu_quiet_changed(emu_cta *c) {
  if (!c->quiet) return;
  c->quiet->changes++;
  c->quiet->others++;
}
/* A warp arrives at a barrier of the CTA, which is part of the machine's state. */
static inline void emu_quiet_arrived(emu_cta *c) {
  if (c->quiet) c->quiet->changes++;
}
/* Bytes are about to be written otherwise than by an access. */
void emu_quiet_write(emu_cta *c, const char *at, unsigned bytes);

/* Bytes of an SM's shared memory that a CTA takes: it is given out in units of 128. */
static inline uint64_t emu_shared_taken(uint64_t bytes) { return (bytes + 127) / 128 * 128; }

#endif
