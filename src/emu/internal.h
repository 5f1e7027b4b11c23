/* emu/internal.h: the machine's own structures.
 *
 *   memory.c    device memory and its allocations
 *   access.c    the check that every access passes
 *   policy.c    cache policies, for the access hook
 *   shadow.c    what was written, and by which task
 *   warp.c      fibers and the loop that runs them
 *   call.c      frames, arguments and results
 *   barrier.c   barriers of a CTA
 *   wgmma.c     warpgroup products in flight
 *   copies.c    copies of single threads in flight
 *   async.h     mbarriers, bulk and tensor copies
 *   program.c   a module's variables and code
 *   grid.c      one launch: set-up, CTAs, faults
 *   dispatch.c  which CTA starts where
 *   launch.c    dispatchers, host threads
 *
 * Who may touch what while a grid runs: a CTA and all it owns belong to the host
 * thread that steps it; allocations change only under hd_emu.lock; the rest of
 * the emulator, the program and the grid are read-only but for the atomics.
 */
#ifndef HEDDLE_EMU_INTERNAL_H
#define HEDDLE_EMU_INTERNAL_H

#include "emu/machine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
  EMU_MAX_THREADS = 1024, /* of a CTA */
  EMU_MAX_WARPS = EMU_MAX_THREADS / HD_WARP,
  EMU_BARRIERS = 16,
  EMU_MAX_DEPTH = 4096,          /* calls: 16 bytes of a 64 KB stack each, the least a call takes */
  EMU_SHARED_LIMIT = 227 * 1024, /* bytes of a CTA */
  EMU_LOCAL_LIMIT = 512 * 1024,  /* bytes of a thread */
  EMU_BOUNDS = 64,               /* see emu_bounds */
  EMU_FREED = 16,                /* freed allocations remembered for diagnostics */
};

/* ---- Device memory --------------------------------------------------------- */

typedef struct emu_alloc {
  uint64_t lo, hi;  /* device addresses [lo, hi) */
  uint64_t written; /* [lo, lo + written) is known to be written; see emu_init_settle */
  bool readonly;    /* a .const variable: stores are faults */
  bool heap;        /* made by a kernel's malloc */
} emu_alloc;

/* emu_access, for one instruction set. */
typedef bool emu_access_fn(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32],
                           unsigned bytes, unsigned align, hd_access_kind kind, unsigned cache,
                           unsigned space, emu_view *out);

struct hd_emu {
  hd_emu_options opt; /* defaults filled in */
  emu_access_fn *access;
  char *memory;          /* opt.memory bytes of address space, for EMU_GLOBAL_BASE onwards */
  uint64_t delta;        /* host address of a device address: address + delta */
  uint64_t committed;    /* bytes of it made accessible, from the start */
  uint8_t *init;         /* CHECK_INIT: one byte a byte, 1 when written */
  uint64_t *race;        /* CHECK_RACE: one word a granule; see shadow.c */
  pthread_rwlock_t lock; /* over the allocations */
  emu_alloc *allocs;     /* sorted by address */
  size_t n_allocs, cap_allocs;
  size_t packed;               /* the first so many allocations leave no gap between them */
  _Atomic uint64_t generation; /* changes when an allocation goes: cached bounds are then stale */
  struct {
    uint64_t lo, hi;
  } freed[EMU_FREED]; /* the last ones, n_freed % EMU_FREED is the oldest */
  uint64_t n_freed;
  _Atomic uint32_t next_ticket; /* numbers of CTAs over all launches, for CHECK_RACE */
  uint64_t launches;            /* %gridid */
};

/* memory.c */
hd_status emu_alloc_aligned(hd_emu *e, uint64_t bytes, uint64_t align, uint64_t *address, hd_diag *d);
/* Index of the first allocation that begins after `address`. The caller holds the lock. */
size_t emu_upper_bound(const hd_emu *e, uint64_t address);
/* The allocation that holds `address`, or NULL. The caller holds the lock. */
emu_alloc *emu_find_alloc(hd_emu *e, uint64_t address);
void emu_set_readonly(hd_emu *e, uint64_t address);
/* Zero n bytes of an anonymous mapping, giving whole pages back when they are many. */
void emu_zero(void *p, size_t n);
/* Address space that takes memory as it is touched; NULL: refused. */
void *emu_reserve(uint64_t bytes);

/* access.c */
emu_access_fn *emu_access_for(hd_emu_isa isa);
/* policy.c: tell the hook, lanes of different priorities apart. w and i are where a.cache has EMU_CACHE_HINT.
 */
void emu_report_access(const emu_warp *w, const emu_inst *i, hd_access *a);

/* ---- Checks ------------------------------------------------------------------ */

typedef enum emu_watch { /* bits of hd_emu_cta.watch, beyond one per hd_space of the access hook */
                         EMU_WATCH_INIT = 1 << 8,
                         EMU_WATCH_RACE = 1 << 9,
} emu_watch;

/* Four bytes of memory whose bytes have different histories. */
typedef struct emu_race_split {
  uint64_t granule;
  uint64_t state[4];
} emu_race_split;

typedef struct emu_race_task {
  uint32_t ticket;
  uint64_t task;
} emu_race_task;

/* Of one launch. */
typedef struct emu_race_log {
  uint32_t several;            /* this launch's ticket for "more than one task"; its CTAs have greater ones */
  HD_VEC(emu_race_task) tasks; /* by ticket */
  HD_VEC(emu_race_split) splits;
} emu_race_log;

hd_status emu_shadow_create(hd_emu *e, hd_diag *d);
void emu_shadow_destroy(hd_emu *e);
void emu_init_mark(hd_emu *e, uint64_t address, uint64_t bytes, bool written);
/* Between launches: extend every allocation's written prefix as far as the shadow says. */
void emu_init_settle(hd_emu *e);
/* Were all of one lane's bytes written? */
bool emu_init_check(const uint8_t *shadow, unsigned bytes);
/* They are now; returns how many of them were not before. */
unsigned emu_init_set(uint8_t *shadow, unsigned bytes);
void emu_race_begin(hd_emu *e, emu_race_log *log);
void emu_race_end(emu_race_log *log);
/* A ticket for a CTA that starts; 0 when there are no more or no memory for them. */
uint32_t emu_race_ticket(hd_emu *e, emu_race_log *log, uint64_t task);
typedef struct emu_conflict {
  uint32_t other; /* a ticket, or log->several; 0: out of host memory */
  bool wrote;     /* else it read */
  unsigned lane;
  uint64_t address;
} emu_conflict;
/* A warp's access by the CTA of `ticket`; false: it conflicts. `rows` are the bytes that a store is about to
 * write, lane after lane (NULL: not known): what another task stored may be stored again. */
bool emu_race_access(hd_emu *e, emu_race_log *log, uint32_t ticket, uint32_t mask, const uint64_t addr[32],
                     unsigned bytes, hd_access_kind kind, const char *rows, emu_conflict *why);
/* The task of a ticket; false: it belongs to another launch. */
bool emu_race_task_of(const emu_race_log *log, uint32_t ticket, uint64_t *task);
/* Forget who touched [address, address + bytes). */
void emu_race_forget(hd_emu *e, uint64_t address, uint64_t bytes);

/* ---- Programs -------------------------------------------------------------------- */

/* What of a kernel, callees included, decides how it may be run. */
typedef struct emu_traits {
  bool order_sensitive;   /* CTAs are interleaved, on one host thread */
  bool prints, allocates; /* one host thread, so that the order is always the same */
} emu_traits;

typedef struct emu_symbol {
  uint32_t var;     /* index into module->vars */
  uint64_t address; /* 0: not allocated */
  uint64_t bytes;
  const char *missing; /* the undefined variable that its initialiser needs, or its own name; or NULL */
} emu_symbol;

struct hd_emu_program {
  hd_emu *emu;
  const hd_ptx_module *module;
  hd_arena arena;
  emu_symbol *symbols; /* one per module->vars; address 0 for registers and the like */
  emu_code **codes;    /* one per module->funcs */
  emu_traits *traits;  /* one per module->funcs */
};

/* ---- Launches ----------------------------------------------------------------------- */

typedef struct emu_mframe {
  emu_frame f;
  uint32_t cap_slots;
  const emu_code *filled; /* whose init slots are already in regs */
  struct emu_mframe *next;
} emu_mframe;

typedef struct emu_flight emu_flight;
typedef struct emu_copies emu_copies;

typedef struct emu_mwarp {
  emu_warp w;           /* what handlers see; first, so that emu_warp * converts */
  const emu_inst *stop; /* the run loop's end; NULL: stop at once (emu_fault) */
  char *local;          /* lane 0's stack; the next lane's is launch->stack_bytes further */
  emu_mframe *free_frames;
  emu_flight *flight; /* products in flight, or NULL */
  emu_copies *copies; /* of single threads in flight, or NULL */
  int barrier;        /* arrived there and waiting; -1: none */
  uint32_t spins;     /* see backward branches in warp.c */
  bool synced;        /* an atomic or uncached load since the last backward branch */
  bool yielded;       /* other warps' turn */
  bool starving;      /* another fiber's turn */
  uint32_t turn;
  uint32_t polls;             /* mbarriers asked in vain; see mbarrier.c */
  uint64_t poll_changes;      /* of the CTA's, at the last of these */
  uint64_t poll_instructions; /* of the warp's, at the last of these */
  unsigned issuer;            /* 1 + the lane whose bulk copy is being made: lanes of accesses are none; 0 */
} emu_mwarp;

typedef struct emu_barrier {
  uint32_t expected;    /* threads; 0: all of the CTA that have not exited */
  uint32_t arrivals;    /* of warps */
  uint32_t arrived;     /* one bit a warp */
  uint32_t popc;        /* of .red: threads whose predicate holds */
  uint32_t threads;     /* of .red: threads that brought one */
  const emu_inst *inst; /* the first to arrive; NULL: nobody has */
  const emu_code *code;
} emu_barrier;

/* Shared memory [lo, hi) that a bulk copy still writes: the phase of its mbarrier is not complete. */
typedef struct emu_landing {
  uint64_t bar; /* the mbarrier's offset */
  uint64_t lo, hi;
  uint32_t line;
} emu_landing;

/* Shared memory [lo, hi) that a bulk copy still reads: its thread has not waited for its group. */
typedef struct emu_reading {
  uint64_t lo, hi;
  uint32_t line;
  uint32_t thread;
  int64_t age; /* groups that the thread committed since its own; -1: it is not committed */
} emu_reading;

/* Of a CTA. Copies are remembered with CHECK_INIT only. */
typedef struct emu_async {
  uint64_t changes; /* of mbarriers: while there are none, a warp that asks again asks in vain */
  HD_VEC(emu_landing) landings;
  HD_VEC(emu_reading) readings;
} emu_async;

/* Bounds of the allocation that an instruction accessed last, kept in a direct-mapped table
 * by instruction. Whoever left an entry, an access inside it is in bounds. */
typedef struct emu_bounds {
  uint64_t lo, hi;
  uint64_t generation;
  bool readonly, written;
} emu_bounds;

struct hd_emu_cta {
  hd_emu_grid *grid;
  hd_emu *emu; /* as in the grid: at hand for every access */
  emu_access_fn *access;
  hd_emu_cta *next; /* in the grid's list of idle ones */
  uint64_t task;
  uint64_t ordinal; /* position in the order of starts; of two faults the earlier CTA's counts */
  uint32_t id[3];
  uint32_t sm;
  unsigned worker;
  uint32_t ticket;
  uint32_t n_warps;
  uint32_t live_warps;    /* with threads that have not exited */
  uint32_t live_mask;     /* one bit a warp */
  uint32_t blocked_warps; /* waiting at a barrier */
  bool stuck;
  unsigned watch; /* bit 1 << hd_space: the access hook wants it; emu_watch bits */
  uint64_t clock; /* warp instructions run */
  uint64_t clock_reads;
  char *shared;
  uint8_t *shared_init;
  uint64_t shared_bytes;
  uint64_t shared_unwritten; /* bytes that CHECK_INIT has not seen written, plus one per async.readings */
  char *local;
  uint64_t frame_bytes; /* host memory that frames take */
  emu_barrier barriers[EMU_BARRIERS];
  emu_async async;
  emu_bounds bounds[EMU_BOUNDS];
  emu_mwarp warps[];
};

struct hd_emu_grid {
  hd_emu *emu;
  hd_emu_program *program;
  emu_code *code;
  emu_traits traits;
  emu_launch_view view;
  hd_emu_hooks hooks;
  bool ordered; /* the driver runs CTAs up to the first faulty ordinal to their end */
  uint32_t n_warps, n_threads;
  uint64_t n_tasks;
  uint32_t dynamic_shared;
  uint64_t shared_bytes;       /* static and dynamic */
  uint64_t stack_bytes;        /* per thread, a multiple of 16 */
  uint64_t id;                 /* %gridid */
  uint32_t (*tid)[3][HD_WARP]; /* per warp: %tid.x, .y, .z of its lanes */
  emu_race_log race;
  pthread_mutex_t lock; /* over idle, race.tasks, fault, print */
  hd_emu_cta *idle;
  _Atomic uint64_t next_ordinal;
  _Atomic uint64_t fault_ordinal; /* UINT64_MAX: no fault */
  hd_diag fault;
};

/* grid.c */
hd_status emu_cta_start_at(hd_emu_grid *g, uint64_t task, uint64_t ordinal, uint32_t sm, unsigned worker,
                           hd_emu_cta **out, hd_diag *d);
/* The launch has ended for this CTA. */
static inline bool emu_cta_over(const hd_emu_cta *c) {
  uint64_t f = atomic_load_explicit(&c->grid->fault_ordinal, memory_order_relaxed);
  return f != UINT64_MAX && (f <= c->ordinal || !c->grid->ordered);
}
/* Fill in %tid and its kin. */
void emu_fill_sregs(emu_mwarp *m, emu_frame *f);
/* As emu_fault, at an instruction of `code`; i NULL: no instruction. */
void emu_fault_at(emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask, const char *fmt, ...)
    HD_PRINTF(5, 6);

/* warp.c */
typedef enum emu_waiting { EMU_READY = 0, EMU_AT_BARRIER = 1, EMU_AT_GATHER = 2 } emu_waiting;
/* A new fiber for some of f's lanes, in the same frame; there is always room. */
emu_fiber *emu_split_fiber(emu_warp *w, emu_fiber *f, uint32_t lanes, uint32_t pc);
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

/* call.c */
/* What an activation takes of a thread's stack. */
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

/* copies.c */
/* Forget the copies in flight. */
void emu_copies_reset(emu_mwarp *m);
void emu_copies_free(emu_mwarp *m);
/* The line of the cp.async that still writes some of the bytes at shared `offset`; 0: none does. */
uint32_t emu_copy_writer(const emu_cta *c, uint64_t offset, unsigned bytes);

/* barrier.c */
/* f, all its lanes active, is at barrier instruction i: it waits there, or goes on when it was the last. */
void emu_barrier_meet(emu_mwarp *m, emu_fiber *f, const emu_inst *i);
/* Do all threads of the warp wait at one barrier? Then the warp arrives there. */
void emu_barrier_settle_warp(emu_mwarp *m);
void emu_barrier_warp_exited(emu_cta *c);

/* dispatch.c */
typedef struct emu_dispatcher emu_dispatcher;
typedef enum emu_dispatch_result {
  EMU_DISPATCH_START,
  EMU_DISPATCH_WAIT,
  EMU_DISPATCH_END
} emu_dispatch_result;
hd_status emu_dispatcher_create(const hd_dispatch *how, uint64_t n_tasks, uint32_t n_sms,
                                emu_dispatcher **out, hd_diag *d);
void emu_dispatcher_destroy(emu_dispatcher *p);
/* The next CTA to start now, if there is a free place for it. */
emu_dispatch_result emu_dispatch_next(emu_dispatcher *p, uint64_t *task, uint32_t *sm);
void emu_dispatch_retire(emu_dispatcher *p, uint32_t sm);
/* For drivers that run each CTA to its end alone: the whole order of starts, with made-up running times
 * where the dispatcher depends on them. False at the end. */
bool emu_dispatch_take(emu_dispatcher *p, uint64_t *task, uint32_t *sm);
/* CTAs that may be alive at once, in the whole machine. */
uint64_t emu_dispatch_places(const emu_dispatcher *p);
/* Warp instructions the CTA at position n may run before others get their turn. */
uint64_t emu_dispatch_quantum(const emu_dispatcher *p, uint64_t n, uint64_t round, uint64_t base);

#endif
