/* emu/machine/machine.h: the interface between the emulator's machine (memory, warps,
 * barriers, calls) and its operations (decoder, handlers).
 *
 *   num/      arithmetic on single values; includes nothing of the others
 *   machine/  memory, warps, barriers, calls, launches; includes num/
 *   ops/      the handlers of plain operations; include num/ and machine/
 *   decode/   PTX to instructions; includes all of them
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

#include "emu/machine/inst.h"

/* ---- The generic address space ------------------------------------------- */
/* Device addresses are deterministic: windows at fixed places. Global memory (module
 * variables and .const data included) lies at EMU_GLOBAL_BASE; shared addresses are offsets
 * into the CTA's block, local ones into the thread's stack, .const ones from EMU_CONST_BASE, and become
 * generic by adding their window's base; a kernel's parameter block is at EMU_PARAM_BASE; a function's
 * address is that of its program's first one + 16 * its index in the module, from EMU_FUNC_BASE on. */
#define EMU_SHARED_BASE 0x600000000000ull
#define EMU_LOCAL_BASE 0x610000000000ull
#define EMU_PARAM_BASE 0x620000000000ull
#define EMU_FUNC_BASE 0x630000000000ull
#define EMU_WINDOW_BYTES 0x010000000000ull
#define EMU_GLOBAL_BASE 0x700000000000ull
#define EMU_CONST_BASE EMU_GLOBAL_BASE

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
  uint8_t waiting; /* emu_waiting */
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
  /* The machine's own part follows: emu_mwarp in warp.h. */
};

/* The launch, as far as handlers need it. */
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
/* Of lanes with addresses in shared memory: those that name a CTA of the cluster, or do not, as the lowest
 * lane's does. */
uint32_t emu_split_cluster(const uint64_t addr[32], uint32_t mask);

/* Record a fault at this instruction for the lowest lane of `mask`; the first one wins. */
void emu_fault(emu_warp *w, const emu_inst *i, uint32_t mask, hd_fault kind, const char *fmt, ...)
    HD_PRINTF(5, 6);
/* The same where memory ran out: the launch ends with HD_ERR_NOMEM. */
void emu_nomem(emu_warp *w, const emu_inst *i, uint32_t mask, const char *what);

/* know.c: the handler of fences. */
void emu_run_fence(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);
/* depend.c: griddepcontrol; imm is 1 to wait, 0 to launch dependent grids. */
void emu_run_griddepcontrol(emu_warp *w, const emu_inst *i, char *r, uint32_t mask);

/* Text for vprintf, serialised. */
void emu_print(emu_warp *w, const char *text, size_t len);
/* A C string / bytes at a generic address of one thread; false after a fault. */
bool emu_read_generic(emu_warp *w, const emu_inst *i, unsigned lane, uint64_t addr, void *dst, size_t n);
/* Device-side malloc/free, from the machine's heap: 0 when there is no room. */
uint64_t emu_heap_alloc(emu_warp *w, uint64_t bytes);
bool emu_heap_free(emu_warp *w, uint64_t addr);

/* ---- Asynchronous operations ------------------------------------------------------ */
/* They are carried out when they are issued, but their results are kept back until the warp waits for
 * them. */

/* hd_emu_skip_products says so. */
bool emu_skips_products(const emu_warp *w);

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
/* Each lane's mbarrier, at a shared offset, tracks its copies, which are complete when that phase is. */
bool emu_copy_hand_over(emu_warp *w, uint32_t mask, const uint64_t bar[32]);

/* Special registers that change while a CTA runs: %clock, %clock64, %globaltimer: one count per
 * warp instruction of the CTA. */
uint64_t emu_clock(const emu_warp *w);

/* ---- Operations' side ----------------------------------------------------------- */

/* Run a builtin call (vprintf, __assertfail, malloc, free, memcpy, memset, ...) for the lanes of
 * `mask`; arguments and results are in the caller's places. */
int emu_find_builtin(const char *name); /* 0: none */
/* Whether this is the name of a function of CUDA's device runtime, which launches kernels from kernels. */
bool emu_of_device_runtime(const char *name);
/* Whether a declaration has the parameters and results of the built-in function. */
bool emu_builtin_fits(int builtin, const hd_ptx_module *m, const hd_ptx_func *f);
void emu_run_builtin(emu_warp *w, const emu_inst *i, const emu_call *c, char *r, uint32_t mask);
/* Host pointer to `lane`'s byte at `offset` of the current frame's local memory. */
char *emu_local_ptr(emu_warp *w, unsigned lane, uint32_t offset);

/* The best instruction set this processor has. */
hd_emu_isa emu_best_isa(void);

#endif
