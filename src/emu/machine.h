/* emu/machine.h: what the machine (memory, warps, barriers, calls) and the
 * operations (decoder, handlers) of the emulator know of each other.
 *
 *   machine   memory.c access.c shadow.c warp.c barrier.c wgmma.c copies.c call.c grid.c dispatch.c launch.c
 * program.c mbarrier.c bulk.c tensor.c (async.h) operations  decode*.c ops/ *.c builtin.c  (numerics: num*.c)
 *
 * Registers. A warp's register file is an array of 128-byte slots, one 32-bit
 * value per lane. A 64-bit register takes two consecutive slots, read as u64[32]
 * (256 bytes); a 128-bit one takes four: u64 lo[32], u64 hi[32]. Registers of 8 and
 * 16 bits take one slot, zero-extended in each lane. A predicate takes one slot whose first
 * u32 holds one bit per lane. Immediates and special registers are slots too: they are
 * written once when a frame is made, so an operand is always `frame + slot * 128`.
 *
 * Divergence. The threads of a warp that are at one place form a fiber: (frame, pc,
 * mask). Fibers of one warp have disjoint masks. Handlers write only the lanes in
 * their mask.
 */
#ifndef HEDDLE_EMU_MACHINE_H
#define HEDDLE_EMU_MACHINE_H

#include "heddle/emu.h"

enum { EMU_SLOT_BYTES = 128, EMU_FULL_MASK = -1 };

/* ---- The generic address space ------------------------------------------- */
/* Device addresses are deterministic: windows at fixed places. Global memory (module
 * variables and .const data included) lies at EMU_GLOBAL_BASE; shared addresses are offsets
 * into the CTA's block, local ones into the thread's stack, and become generic by adding
 * their window's base; a kernel's parameter block is at EMU_PARAM_BASE; a function's
 * address is EMU_FUNC_BASE + 16 * its index in the module. */
#define EMU_SHARED_BASE 0x600000000000ull
#define EMU_LOCAL_BASE 0x610000000000ull
#define EMU_PARAM_BASE 0x620000000000ull
#define EMU_FUNC_BASE 0x630000000000ull
#define EMU_WINDOW_BYTES 0x010000000000ull
#define EMU_GLOBAL_BASE 0x700000000000ull

/* ---- Decoded instructions --------------------------------------------------- */

typedef struct emu_inst emu_inst;
typedef struct emu_code emu_code;
typedef struct emu_warp emu_warp;
typedef struct emu_frame emu_frame;
typedef struct hd_emu_cta emu_cta;

/* A plain operation: all lanes of `mask` (never 0), registers at `r` (the frame's slot 0).
 * A fault is recorded with emu_fault and ends the launch after the handler returns. */
typedef void emu_fn(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

typedef enum emu_control {
  EMU_PLAIN = 0, /* fn */
  EMU_BRA,       /* target; taken by lanes whose guard holds */
  EMU_BRX,       /* brx.idx: src[0] index register (u32), extra: emu_targets */
  EMU_CALL,      /* extra: emu_call */
  EMU_RET,       /* from a kernel: exit */
  EMU_EXIT,
  EMU_BAR,    /* barrier of the CTA: extra: emu_bar */
  EMU_GATHER, /* a warp-synchronous plain operation: waits until all threads named by the member
                 mask (src[3] when x.gather_mask, else all threads of the warp that have
                 not exited) are at this instruction, then runs fn once with their union.
                 Threads that have exited are not waited for. All lanes of one run of fn
                 have named the same mask. fn NULL: bar.warp.sync, which threads may also
                 meet from different instructions. */
  EMU_TRAP,   /* trap; brkpt */
  EMU_NOP,    /* membar, fence, pragma-like: costs an instruction, does nothing */
  EMU_YIELD,  /* nanosleep: lets other fibers and warps run */
  EMU_POLL,   /* fn, which may have found that it must wait: then as EMU_YIELD */
} emu_control;

struct emu_inst {
  emu_fn *fn;
  const void *extra;
  int64_t imm;         /* address offset of ld/st/atom; whatever the handler wants */
  uint32_t src[4];     /* slots */
  uint32_t dst, dst2;  /* slots */
  uint32_t guard;      /* predicate slot; see guarded */
  uint32_t target;     /* EMU_BRA: index into code->insts */
  uint32_t stmt, line; /* PTX statement and source line */
  uint8_t control;     /* emu_control */
  uint8_t guarded;     /* 0: no guard, 1: @p, 2: @!p */
  uint8_t gather_mask; /* EMU_GATHER: src[3] holds the member mask */
  uint8_t x[9];        /* for the handler */
};

typedef struct emu_targets {
  uint32_t n;
  uint32_t *target; /* code indices */
} emu_targets;

/* Where a call's argument or result lives on one side. */
typedef struct emu_place {
  bool in_local;  /* else in a register */
  uint32_t where; /* offset in the function's local frame; or slot */
  uint32_t bytes;
} emu_place;

typedef struct emu_call {
  const emu_code *callee; /* NULL: through a register (fn_slot) or a builtin */
  uint32_t fn_slot;       /* u64 function address */
  int builtin;            /* emu_builtin number, 0: none; run by emu_run_builtin */
  uint32_t n_args, n_rets;
  emu_place *args, *rets; /* on the caller's side, in order */
} emu_call;

typedef enum emu_bar_kind {
  EMU_BAR_SYNC,
  EMU_BAR_ARRIVE,
  EMU_BAR_POPC,
  EMU_BAR_AND,
  EMU_BAR_OR
} emu_bar_kind;
typedef struct emu_bar {
  emu_bar_kind kind;
  bool aligned; /* all threads of the warp must come together */
  bool has_count;
  bool negate;                  /* .red: the predicate is !p */
  uint32_t id_slot, count_slot; /* u32; count in threads */
  uint32_t pred_slot, dst_slot; /* .red */
} emu_bar;

/* The registers of D of a wgmma.mma_async. */
typedef struct emu_wgmma_regs {
  uint16_t n; /* columns */
  uint16_t n_regs;
  bool halves;              /* two f16 to a register, else one f32 or s32 */
  uint32_t least, greatest; /* of slot[] */
  uint32_t *slot;
} emu_wgmma_regs;

/* A function or kernel, decoded. */
struct emu_code {
  const hd_ptx_func *func;
  const char *name;
  emu_inst *insts;
  uint32_t n_insts; /* the last one is an EMU_RET */
  uint32_t n_slots; /* of a frame */
  /* Slots [0, n_init) are copied from init (n_init * 128 bytes) when a frame is made:
   * immediates, addresses of variables, launch-independent values. */
  char *init;
  uint32_t n_init;
  /* Special registers to fill in when a frame is made: %tid.x -> slot. */
  /* All of them are u32 in one slot, but %gridid, %current_graph_exec and %pmN_64: u64 in two. */
  struct emu_sreg {
    uint16_t id;
    uint8_t part; /* 0 x, 1 y, 2 z, 3 w */
    uint32_t slot;
  } * sregs;
  uint32_t n_sregs;
  /* u64 slots (two of 128 bytes each) that init filled with the offset of a .local or .param variable
   * in this function's frame: the machine adds the frame's local_base, so that they hold
   * addresses in the thread's stack. Handlers then need no local_base. */
  const uint32_t *local_slots;
  uint32_t n_local_slots;
  uint32_t local_bytes;     /* this function's .local and .param variables, per thread */
  uint32_t shared_bytes;    /* static shared memory of a kernel, callees included */
  emu_place *params, *rets; /* of a .func: formal side, in order */
  uint32_t n_params, n_rets;
  bool order_sensitive; /* results may depend on the interleaving of CTAs: floating-point atomics,
                           atomics whose old value is used, volatile or acquire loads of global memory */
  uint64_t stack_bytes; /* local memory a thread needs, callees included; recursion: a fixed stack */
  hd_diag unsupported;  /* status HD_OK: everything is emulated, callees included */
};

/* ---- Machine state -------------------------------------------------------------- */

/* One activation of a function. Frames of a warp form a tree: lanes that come from different calls have
 * frames of their own; lanes that come from one call of one activation share it, even when they come
 * at different times. */
struct emu_frame {
  emu_frame *caller;
  const emu_code *code;
  uint32_t return_pc;   /* in the caller's code */
  const emu_call *call; /* in the caller: how results come back */
  uint32_t local_base;  /* offset of this activation in each thread's stack */
  uint32_t refs;        /* fibers and callee frames that point here */
  uint32_t depth;       /* calls below the kernel: 0 for its own frame */
  char *regs;           /* n_slots * 128 bytes, 64-byte aligned */
};

typedef struct emu_fiber {
  emu_frame *frame;
  uint32_t pc;
  uint32_t mask;
  uint8_t waiting; /* 0 ready, 1 at a barrier, 2 at a gather */
  uint32_t turn;   /* the machine's: when it last ran */
} emu_fiber;

struct emu_warp {
  emu_cta *cta;
  uint32_t index; /* in the CTA */
  uint32_t live;  /* threads that exist and have not exited */
  uint32_t n_fibers;
  emu_fiber fibers[32];
  emu_fiber *current; /* the fiber being run */
  uint64_t instructions, thread_instructions;
  const char
      *storing; /* while a plain store's addresses are checked: its bytes, lane after lane; else NULL */
  /* The machine's own part follows: emu_mwarp in internal.h. */
};

/* What handlers may ask of the launch. */
typedef struct emu_launch_view {
  const char *params; /* parameter block, host bytes */
  uint64_t params_bytes;
  uint32_t grid[3], block[3];
} emu_launch_view;
const emu_launch_view *emu_warp_launch(const emu_warp *w);

/* Where the bytes of an access are on the host:
 *   host(lane) = (char *)(addr[lane] + delta) + lane * lane_stride */
typedef struct emu_view {
  uint64_t delta;
  int64_t lane_stride;
} emu_view;

/* Check a warp's access of `bytes` per lane (alignment to `align`, bounds, and what the
 * options ask for), call the trace hook, and say where the bytes are. `addr` holds addresses
 * in `space` (offsets for shared and local), or generic ones when space is EMU_GENERIC:
 * then all lanes of `mask` must lie in one window (emu_split_generic). Returns false after
 * recording a fault. A kernel's ld.param reads emu_warp_launch directly; EMU_GENERIC addresses in the
 * parameter window, and HD_SPACE_PARAM (offsets), are served too, for loads.
 * HD_ACCESS_PREFETCH only traces: it never faults, and *out is not to be used after it. */
enum { EMU_GENERIC = 100 };
bool emu_access(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t addr[32], unsigned bytes,
                unsigned align, hd_access_kind kind, unsigned cache, unsigned space, emu_view *out);
/* The lanes of `mask` whose generic address lies in the same window as the lowest lane's; *space
 * gets that window's space (HD_SPACE_GLOBAL, SHARED, LOCAL, PARAM; a bad address counts as global). */
uint32_t emu_split_generic(const uint64_t addr[32], uint32_t mask, unsigned *space);

/* Record a fault at this instruction for the lowest lane of `mask`; the first one wins. */
void emu_fault(emu_warp *w, const emu_inst *i, uint32_t mask, const char *fmt, ...) HD_PRINTF(4, 5);

/* Text for vprintf, serialised. */
void emu_print(emu_warp *w, const char *text, size_t len);
/* A C string / bytes at a generic address of one thread; false after a fault. */
bool emu_read_generic(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t addr, void *dst, size_t n);
/* Device-side malloc/free, from the machine's heap: 0 when there is no room. */
uint64_t emu_heap_alloc(emu_warp *w, uint64_t bytes);
bool emu_heap_free(emu_warp *w, uint64_t addr);

/* ---- Asynchronous operations ------------------------------------------------------ */
/* They are carried out when they are issued, but what they give is kept back until the warp waits for it. */

/* wgmma.c. The sums that a product with these registers adds to, f32 or s32, [16][d->n]; the registers
 * are out of reach from now on. NULL after a fault. The descriptors (of A: 0 when it is in registers) must be
 * the same in all warps of the warpgroup. */
uint32_t *emu_wgmma_begin(emu_warp *w, const emu_inst *i, const emu_wgmma_regs *d,
                          const uint64_t descriptor[2]);
/* After emu_wgmma_begin: what the product read, chunks of 16 bytes at these shared addresses, and
 * A's four registers unless NULL, must stay as they are. False after a fault. */
bool emu_wgmma_reads(emu_warp *w, const emu_inst *i, const uint32_t *chunk, uint32_t n,
                     const uint32_t *a_slot);
void emu_wgmma_fence(emu_warp *w, const emu_inst *i);
void emu_wgmma_commit(emu_warp *w);
/* All but the last n groups are complete. */
void emu_wgmma_wait(emu_warp *w, const emu_inst *i, uint32_t n);

/* copies.c. cp.async of the lanes in the mask: `rows`, of `bytes` each, come to the host addresses `at` in
 * shared memory when their lane waits for them. False after a fault. */
bool emu_copy_begin(emu_warp *w, const emu_inst *i, uint32_t mask, const uint64_t at[32], unsigned bytes,
                    const char *rows);
bool emu_copy_commit(emu_warp *w, const emu_inst *i, uint32_t mask);
/* All but each lane's last n groups are complete; all copies, in groups or not. */
void emu_copy_wait(emu_warp *w, uint32_t mask, uint32_t n);
void emu_copy_wait_all(emu_warp *w, uint32_t mask);

/* Special registers that change while a CTA runs: %clock, %clock64, %globaltimer: one count per
 * warp instruction of the CTA. */
uint64_t emu_clock(const emu_warp *w);

/* ---- Operations' side ----------------------------------------------------------- */

/* Decode all functions of a module. codes[i] belongs to m->funcs[i] (NULL for declarations
 * without a body). Addresses of .global and .const variables are asked from `address_of`
 * (vars index -> device address).
 *
 * Shared memory is laid out by the decoder: two .shared variables that some kernel reaches
 * both (itself or through callees) never overlap, so one decoded function serves all kernels
 * that call it. extern .shared arrays without a size start where the static part of the
 * largest kernel that reaches them ends; code->shared_bytes of those kernels is that offset,
 * so dynamic shared memory always begins at code->shared_bytes.
 *
 * %clock, %clock64 and %globaltimer are read through emu_clock and never stand in
 * emu_code.sregs; %laneid and %lanemask_* are init slots. */
typedef struct emu_decode_env {
  const hd_ptx_module *m;
  hd_arena *arena; /* codes live here */
  hd_emu_isa isa;
  unsigned sm;
  uint64_t (*address_of)(void *ctx, uint32_t var, bool *ok);
  void *ctx;
} emu_decode_env;
hd_status emu_decode_module(const emu_decode_env *env, emu_code ***codes, hd_diag *d);

/* Run a builtin call (vprintf, __assertfail, malloc, free, memcpy, memset, ...) for the lanes of
 * `mask`; arguments and results are in the caller's places. */
int emu_find_builtin(const char *name); /* 0: none */
void emu_run_builtin(emu_warp *w, const emu_inst *i, const emu_call *c, char *r, uint32_t mask);
/* Host pointer to `lane`'s byte at `offset` of the current frame's local memory. */
char *emu_local_ptr(emu_warp *w, unsigned lane, uint32_t offset);

/* The best instruction set this processor has. */
hd_emu_isa emu_best_isa(void);

#endif
