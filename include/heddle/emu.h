/* heddle/emu.h: a functional emulator of PTX kernels.
 *
 * hd_emu          device memory and settings
 * hd_emu_program  a module, decoded and checked: an instruction that is not emulated is
 *                 refused by name here, before any launch
 * hd_emu_grid     one launch in progress: CTAs are started on SMs and their warps
 *                 stepped from outside, so that dispatchers, interleavings and timing
 *                 models sit on top of one machine
 * hd_emu_launch   the plain driver over that: a dispatcher, host threads, to the end
 *
 * Every mistake of the kernel (out of bounds, misaligned, never-written memory read,
 * barriers, races between CTAs, waits that cannot end, a trap, an assertion) ends the launch with
 * HD_ERR_FAULT and a diagnostic whose `fault` says which it is; it holds the PTX line and,
 * in the message, the instruction, kernel, CTA, thread and address.
 */
#ifndef HEDDLE_EMU_H
#define HEDDLE_EMU_H

#include "heddle/ptx.h"
#include "heddle/texture.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { HD_WARP = 32 };

/* ---- Machine ------------------------------------------------------------- */

typedef struct hd_emu hd_emu;

/* HD_CHECK_RACE, global memory: a task reads or overwrites memory that another task of the same launch wrote,
 * or writes memory that another one read. Exempt are two accesses that are morally strong (PTX ISA, memory
 * consistency model): both atomic, .volatile, .relaxed or stronger, of a scope wider than the CTA; the plain
 * load whose value is a guess that atom.cas compares; and plain stores of the bytes that another task's
 * stores left there. Flags order accesses, too: a strong write of a scope beyond the CTA and its cluster
 * publishes what its warp knows if it releases, else what was known when a thread last fenced for such a
 * scope; a strong read of the same address learns that. A barrier of the CTA publishes nothing to other CTAs.
 * Lanes of one warp count as one there. Shared memory: accesses of two threads, one of them a store and not
 * both strong, with no barrier, mbarrier or flag with fences between them. Lanes of a warp need a barrier,
 * too (bar.warp.sync; a shuffle or a vote is none), but not within one instruction. Bytes of a bulk copy are
 * known to who has waited for its mbarrier, what one writes to global memory to who has waited behind its
 * wait_group, and a bulk copy or a warpgroup's product must not read what threads wrote without
 * fence.proxy.async. Uses of an mbarrier must come behind its init. Threads of one CTA are not compared in
 * global memory. A cluster of several CTAs is one task, races in its shared memory are not looked for.
 * Launches use one host thread. */
typedef enum hd_emu_check {                      /* bits */
                            HD_CHECK_BOUNDS = 1, /* out of bounds and misaligned accesses (always on) */
                            HD_CHECK_INIT = 2,   /* reads of memory never written; local: see `unwritten` */
                            HD_CHECK_RACE = 4,   /* races */
                            HD_CHECK_NC = 8, /* non-coherent loads of memory that the launch wrote before */
                            HD_CHECK_ALL = 15,
} hd_emu_check;

typedef enum hd_emu_isa { HD_ISA_AUTO = 0, HD_ISA_PORTABLE, HD_ISA_AVX2, HD_ISA_AVX512 } hd_emu_isa;

typedef struct hd_emu_options {
  unsigned checks;           /* hd_emu_check bits */
  unsigned threads;          /* host threads for hd_emu_launch; 0: all processors */
  unsigned sm;               /* emulated architecture, 90 when 0 */
  unsigned n_sms;            /* 132 when 0: %nsmid, and SMs a dispatcher may use */
  uint64_t memory;           /* bytes of device memory that may be allocated; 0: 16 GB */
  uint64_t max_instructions; /* warp instructions one CTA may run before it counts as hung;
                                0: 2^36 */
  /* Warp instructions that a launch's CTAs may run, all of them only reading the same addresses over and over
   * while no memory changes, before they count as hung; 0: 2^30. A loop that provably never ends is found
   * without waiting for this. A 64th for each warp is enough if all poll, by atomics or past the caches. The
   * same holds if memory changes and goes through the same few states. If the whole machine comes back to a
   * state again and again, a 64th is enough (a livelock). */
  uint64_t quiet_instructions;
  hd_emu_isa isa; /* AUTO picks the best that the processor has */
  bool shared;    /* device memory lies in a file, for hd_emu_show and `like` */
  /* Device memory begins with the bytes of this emulator's, which was created with `shared`; pages are copied
   * when they are written. Nothing may change that emulator's memory as long as this one lives, and its
   * allocations must be made here, too. NULL: memory begins with zeros. */
  const hd_emu *like;
  const bool *stop; /* launches end with HD_ERR_BUDGET once it is true (hd_is_over); NULL: never */
} hd_emu_options;

HD_API hd_status hd_emu_create(const hd_emu_options *opt, hd_emu **out, hd_diag *d);
HD_API void hd_emu_destroy(hd_emu *e);
HD_OWN hd_emu_isa hd_emu_isa_used(const hd_emu *e);
/* Launches end with HD_ERR_BUDGET at `at` (hd_seconds); 0: they take as long as they take. Any thread may
 * call it, during a launch, too: its hooks can so end it. */
HD_OWN void hd_emu_set_until(hd_emu *e, double at);
/* The launches of this emulator may run so many thread instructions, together: the one that reaches them ends
 * with HD_ERR_BUDGET, even if it is of one CTA, and so do all that follow. 0: as many as there are. Not
 * during a launch. */
HD_OWN void hd_emu_set_work(hd_emu *e, uint64_t thread_instructions);
/* So many have run. */
HD_OWN bool hd_emu_is_spent(const hd_emu *e);
/* With `skip`, mma, wmma and wgmma leave the registers of their results as they are: for traces of kernels
 * whose accesses do not follow from products; such traces are then several times as fast. Not during a
 * launch. */
HD_OWN void hd_emu_skip_products(hd_emu *e, bool skip);

/* Device memory. Addresses are 256-byte aligned and never 0; accesses past an
 * allocation's end are caught. Fresh memory counts as never written. */
HD_API hd_status hd_emu_alloc(hd_emu *e, uint64_t bytes, uint64_t *address, hd_diag *d);
/* At a multiple of `align`, a power of two. */
HD_OWN hd_status hd_emu_alloc_aligned(hd_emu *e, uint64_t bytes, uint64_t align, uint64_t *address,
                                      hd_diag *d);
HD_API hd_status hd_emu_free(hd_emu *e, uint64_t address, hd_diag *d);
/* Let only the launches of these users access the allocation that begins at `address`: a bit for each
 * hd_emu_launch_params.user. At first all may. Not during a launch. HD_ERR_USAGE: none begins there. */
HD_OWN hd_status hd_emu_set_users(hd_emu *e, uint64_t address, uint64_t users, hd_diag *d);
/* The first address that device memory may have, and how many bytes follow. */
HD_OWN void hd_emu_range(const hd_emu *e, uint64_t *first, uint64_t *bytes);
/* Map the pages that hold [address, address + bytes) a second time, at `at`, which has the same offset in its
 * page as `address`; an earlier mapping there is replaced. For memory that host and device share: only of an
 * emulator created with `shared`. HD_ERR_IO. */
HD_OWN hd_status hd_emu_show(hd_emu *e, uint64_t address, uint64_t bytes, void *at, hd_diag *d);
/* Host pointer to [address, address+bytes), or NULL when that is not inside one
 * allocation. Writing through it needs hd_emu_mark_written. Addresses are valid
 * until freed. */
HD_OWN void *hd_emu_ptr(hd_emu *e, uint64_t address, uint64_t bytes);
HD_API hd_status hd_emu_write(hd_emu *e, uint64_t address, const void *src, uint64_t bytes, hd_diag *d);
HD_API hd_status hd_emu_read(hd_emu *e, uint64_t address, void *dst, uint64_t bytes, hd_diag *d);
HD_OWN void hd_emu_mark_written(hd_emu *e, uint64_t address, uint64_t bytes);
HD_OWN void hd_emu_mark_unwritten(hd_emu *e, uint64_t address, uint64_t bytes);
/* After a copy of device memory: bytes at `to` are written if those at `from` are. */
HD_OWN void hd_emu_copy_written(hd_emu *e, uint64_t to, uint64_t from, uint64_t bytes);
/* How many of these bytes, from the first on, were written; all of them without HD_CHECK_INIT. */
HD_OWN uint64_t hd_emu_written(hd_emu *e, uint64_t address, uint64_t bytes);

/* ---- Memory as it was ------------------------------------------------------- */

/* A number that grows with every call, and every launch, that may change what a launch reads: device memory
 * (hd_emu_ptr gives a pointer to write through), allocations, programs, textures. Writes of the host to
 * memory that hd_emu_show has mapped are not seen. */
HD_OWN uint64_t hd_emu_changes(const hd_emu *e);

/* A copy of the device memory that was ever touched, of an emulator created with `shared`. HD_ERR_NOMEM:
 * there is no memory for it, or it takes more than `most` bytes. No launch may be under way, here or when it
 * is compared. */
typedef struct hd_emu_snapshot hd_emu_snapshot;
HD_OWN hd_status hd_emu_snapshot_take(hd_emu *e, uint64_t most, hd_emu_snapshot **out, hd_diag *d);
HD_OWN void hd_emu_snapshot_free(hd_emu_snapshot *s);
HD_OWN uint64_t hd_emu_snapshot_bytes(const hd_emu_snapshot *s);
/* Whether a launch would find the same state as then: the same bytes, in the same pages, with the same
 * allocations, programs and textures. */
HD_OWN bool hd_emu_snapshot_same(const hd_emu_snapshot *s);
/* Whether these bytes of one allocation are the same. */
HD_OWN bool hd_emu_snapshot_same_at(const hd_emu_snapshot *s, uint64_t address, uint64_t bytes);

/* ---- Programs -------------------------------------------------------------- */

typedef struct hd_emu_program hd_emu_program;

/* Decode every kernel and function of a parsed module; allocate and fill its .global and .const variables.
 * Kernels with an instruction that is not emulated are kept, but refused at launch with HD_ERR_UNSUPPORTED,
 * naming instruction and line (see hd_emu_supported). The module must outlive the program. */
HD_API hd_status hd_emu_load(hd_emu *e, const hd_ptx_module *m, hd_emu_program **out, hd_diag *d);
HD_OWN void hd_emu_unload(hd_emu_program *p);
/* HD_OK, or HD_ERR_UNSUPPORTED naming the first instruction that is not emulated. */
HD_OWN hd_status hd_emu_supported(const hd_emu_program *p, const char *kernel, hd_diag *d);
/* Whether the kernel has ordered loads of global memory, or atomics whose old value it uses, as loops have
 * that wait for others. */
HD_OWN bool hd_emu_may_wait(const hd_emu_program *p, const char *kernel);
/* Bytes of static shared memory a CTA of the kernel takes, called functions included; 0 when there is no
 * such kernel. */
HD_OWN uint32_t hd_emu_static_shared(const hd_emu_program *p, const char *kernel);
/* Address and size of a module-level .global or .const variable. The host writes it with hd_emu_write, a
 * .const one too. One without an initial value holds zeros. */
HD_OWN hd_status hd_emu_symbol(hd_emu_program *p, const char *name, uint64_t *address, uint64_t *bytes,
                               hd_diag *d);
/* Give every variable its initial value again. */
HD_OWN void hd_emu_reset(hd_emu_program *p);

/* ---- Textures and surfaces ----------------------------------------------------- */

/* The handle of a texture or surface object over memory of this emulator: what kernels take as a
 * cudaTextureObject_t. Never 0. The image must lie inside one allocation, else HD_ERR_USAGE; every access
 * checks that again. A wrong handle, or one of the wrong kind, is a fault of the kernel. Not to be called
 * while a launch is under way. */
HD_OWN hd_status hd_emu_texture(hd_emu *e, const hd_texture *t, uint64_t *handle, hd_diag *d);
HD_OWN hd_status hd_emu_surface(hd_emu *e, const hd_image *i, uint64_t *handle, hd_diag *d);
HD_OWN hd_status hd_emu_release(hd_emu *e, uint64_t handle, hd_diag *d);
/* Let the module's .texref or .surfref variable `name` stand for this handle; 0: for none, as at first. */
HD_OWN hd_status hd_emu_bind(hd_emu_program *p, const char *name, uint64_t handle, hd_diag *d);

/* ---- Launches ---------------------------------------------------------------- */

/* GPUs map memory in large pages, and do not notice an access outside of all allocations in a page that holds
 * one; nor one behind a CTA's shared memory, which is given out in units of 128 bytes. Each is what a fault
 * would have said of the first such access of an instruction. The caller frees the vector. */
#define HD_EMU_PAGE (UINT64_C(2) << 20) /* bytes */
typedef HD_VEC(hd_diag) hd_emu_strays;

typedef struct hd_emu_launch_params {
  const char *kernel;
  uint32_t grid[3], block[3];
  uint32_t dynamic_shared; /* bytes */
  /* CTAs of a cluster along each dimension, of which the grid's are multiples; 0: as the kernel says
   * (.reqnctapercluster), else 1. CTAs of a cluster are resident together, on SMs next to each other. */
  uint32_t cluster[3];
  const void *args; /* the parameter block, laid out by hd_ptx_param_layout */
  uint64_t args_bytes;
  /* All CTAs are resident at once, whatever the dispatcher: they may wait for each other, and grid.sync() of
   * cooperative groups works. HD_ERR_USAGE if they do not fit: `fit` of them on each of the machine's SMs; 0:
   * as many as have room in an SM with 2048 threads, 32 CTAs and 228 KB of shared memory. */
  bool cooperative;
  uint32_t fit;
  uint64_t user; /* its bit in hd_emu_set_users; 0: all memory is accessible */
  /* Accesses that a GPU would not notice happen, and are added here when the launch ends, in the order of
   * their lines. NULL, or with HD_CHECK_INIT or HD_CHECK_RACE: they are faults. */
  hd_emu_strays *strays;
  /* HD_CHECK_INIT: loads of memory never written are added here, the first of each instruction, and the
   * kernel goes on. NULL: they are faults, and local memory is not checked. */
  hd_emu_strays *unwritten;
} hd_emu_launch_params;

/* ---- Asynchronous operations ------------------------------------------------------- */

/* cp.async, bulk and tensor copies and wgmma.mma_async are carried out in the order of the program, but code
 * that does not wait for them gets useless values:
 *   cp.async         Until the issuing thread's wait_group or wait_all covers the copy, all bits of its
 *                    destination are set: NaN in every format. Under HD_CHECK_INIT reading it before is a
 *                    fault.
 *   wgmma.mma_async  The bits of D's registers are set likewise until a wait_group covers the product.
 *                    Before that it is a fault to write them, or to change A's registers or the shared
 *                    memory that the product reads. So are a first product without wgmma.fence, and warps
 *                    of a warpgroup that issue different products.
 *   bulk copies      Under HD_CHECK_INIT it is a fault to read the destination before the mbarrier's phase
 *                    is complete, and to write the source before the group is waited for.
 *   Under HD_CHECK_RACE: see there.
 * Not caught: a missing proxy fence before a copy that reads global memory, or writes shared memory that
 * threads wrote; a wgmma.fence missing later than before the first product; shared memory that changed and
 * was changed back. */

/* ---- Tensor maps ----------------------------------------------------------------- */

/* The numbers are those of the CUtensorMap enumerations of cuda.h, so that one description serves the
 * emulator and cuTensorMapEncodeTiled. */
typedef enum hd_tensor_type {
  HD_TENSOR_U8 = 0,
  HD_TENSOR_U16,
  HD_TENSOR_U32,
  HD_TENSOR_S32,
  HD_TENSOR_U64,
  HD_TENSOR_S64,
  HD_TENSOR_F16,
  HD_TENSOR_F32,
  HD_TENSOR_F64,
  HD_TENSOR_BF16,
  /* f32 that loads convert: subnormal numbers to zeros, and the others to tf32, to the nearest one, ties away
   * from zero (as cvt.rna.tf32 does; the ISA does not say how). */
  HD_TENSOR_F32_FTZ,
  HD_TENSOR_TF32,
  HD_TENSOR_TF32_FTZ,
  HD_TENSOR_TYPES
} hd_tensor_type;

typedef enum hd_tensor_interleave {
  HD_TENSOR_INTERLEAVE_NONE = 0,
  HD_TENSOR_INTERLEAVE_16B,
  HD_TENSOR_INTERLEAVE_32B,
} hd_tensor_interleave;

typedef enum hd_tensor_swizzle {
  HD_TENSOR_SWIZZLE_NONE = 0,
  HD_TENSOR_SWIZZLE_32B,
  HD_TENSOR_SWIZZLE_64B,
  HD_TENSOR_SWIZZLE_128B,
  HD_TENSOR_SWIZZLE_128B_ATOM_32B,
  HD_TENSOR_SWIZZLE_128B_ATOM_32B_FLIP_8B,
  HD_TENSOR_SWIZZLE_128B_ATOM_64B,
  HD_TENSOR_SWIZZLES
} hd_tensor_swizzle;

typedef enum hd_tensor_promotion {
  HD_TENSOR_PROMOTION_NONE = 0,
  HD_TENSOR_PROMOTION_64B,
  HD_TENSOR_PROMOTION_128B,
  HD_TENSOR_PROMOTION_256B,
} hd_tensor_promotion;

typedef enum hd_tensor_fill {
  HD_TENSOR_FILL_ZERO = 0,
  HD_TENSOR_FILL_NAN, /* of floating-point types */
} hd_tensor_fill;

enum { HD_TENSOR_DIMS = 5, HD_TENSOR_MAP_BYTES = 128, HD_TENSOR_MAP_ALIGN = 64 };

/* A tiled tensor in global memory. Dimension 0 is the innermost one, whose elements are neighbours. */
typedef struct hd_tensor {
  uint64_t address; /* a multiple of 16 */
  hd_tensor_type type;
  uint32_t rank;                           /* 1 to 5 */
  uint64_t dim[HD_TENSOR_DIMS];            /* elements: 1 to 2^32 */
  uint64_t stride[HD_TENSOR_DIMS - 1];     /* bytes between neighbours along dimensions 1, 2, ...: multiples
                                              of 16 below 2^40 */
  uint32_t box[HD_TENSOR_DIMS];            /* elements a copy takes along each dimension: 1 to 256; the
                                              innermost ones have a multiple of 16 bytes */
  uint32_t element_stride[HD_TENSOR_DIMS]; /* 1 to 8: every n-th of box[i] elements is copied; dimension 0's
                                              is ignored */
  hd_tensor_interleave interleave;         /* with any other than NONE maps are made, but copies refused */
  hd_tensor_swizzle swizzle;
  hd_tensor_promotion promotion; /* without effect here */
  hd_tensor_fill fill;           /* of elements outside the tensor */
} hd_tensor;

/* Check the description as cuTensorMapEncodeTiled does; HD_ERR_USAGE says what is wrong. */
HD_OWN hd_status hd_tensor_check(const hd_tensor *t, hd_diag *d);
/* The same, and make the tensor map that kernels on the emulator are given (in their parameters at a
 * multiple of HD_TENSOR_MAP_ALIGN, or in global memory). It means nothing to a GPU. */
HD_OWN hd_status hd_emu_tensor_map(const hd_tensor *t, void *map, hd_diag *d);
/* Make a map describe the same tensor at another address. */
HD_OWN hd_status hd_emu_tensor_map_move(void *map, uint64_t address, hd_diag *d);

/* ---- Trace hooks --------------------------------------------------------------- */

typedef enum hd_access_kind {
  HD_ACCESS_LOAD = 0,
  HD_ACCESS_STORE,
  HD_ACCESS_ATOMIC,
  HD_ACCESS_PREFETCH,
} hd_access_kind;

/* How an access may use the caches, from its operator, state space and policy: two bits for the way, two for
 * the eviction priority in L1 and two for that in L2 (0: normal). UNCHANGED leaves a line's priority as it
 * is; UNCHANGED in L1 without a way through it is .L1::no_allocate, which hits lines that are there and
 * leaves L1 alone. */
typedef enum hd_access_cache {
  HD_CACHE_L1 = 1,       /* may allocate in L1 (.ca or default) */
  HD_CACHE_READONLY = 2, /* .nc: read-only / texture path */
  HD_CACHE_L1_FIRST = 4, /* L1::evict_first, .cs, .lu */
  HD_CACHE_L1_LAST = 8,
  HD_CACHE_L1_UNCHANGED = 12,
  HD_CACHE_L2_FIRST = 16, /* L2::evict_first, a policy, .cs, .lu */
  HD_CACHE_L2_LAST = 32,
  HD_CACHE_L2_UNCHANGED = 48,
  HD_CACHE_STREAM = HD_CACHE_L1_FIRST | HD_CACHE_L2_FIRST, /* .cs, .lu */
  HD_CACHE_WAYS = 3,                                       /* masks */
  HD_CACHE_L1_PRIORITY = 12,
  HD_CACHE_L2_PRIORITY = 48,
} hd_access_cache;

typedef enum hd_space {
  HD_SPACE_GLOBAL = 0,
  HD_SPACE_SHARED,
  HD_SPACE_LOCAL,
  HD_SPACE_CONST,
  HD_SPACE_PARAM
} hd_space;

/* One warp's memory instruction. Addresses of inactive lanes are unspecified. An access whose lanes have
 * different cache policies is reported as several, and lanes that prefetch memory that is not allocated are
 * left out. A bulk copy is reported as accesses to up to 32 pieces of up to 16 bytes each, global ones past
 * L1 (cache 0). Its "lanes" are pieces then, not threads; pieces outside a tensor map's bounds are not
 * accessed. */
typedef struct hd_access {
  uint64_t task; /* CTA's number in the launched grid: x + gx*(y + gy*z) */
  uint32_t warp; /* in its CTA */
  uint32_t line; /* PTX line */
  uint32_t inst; /* statement number in the kernel or function, which identifies loads */
  bool called;   /* it is a function's that the kernel calls, not the kernel's own */
  bool strong;   /* towards threads of other CTAs (PTX ISA, memory consistency model) */
  bool system;   /* and towards the host */
  bool launched; /* behind griddepcontrol.launch_dependents of its CTA */
  uint8_t kind, cache, space;
  uint8_t bytes;        /* per lane: 1..16, vector width included */
  uint32_t mask;        /* active lanes */
  uint32_t waited;      /* those behind griddepcontrol.wait, by themselves or by threads before them */
  const uint64_t *addr; /* [32] */
} hd_access;

/* Called from the thread that steps the warp; hooks of one CTA come in program
 * order per warp. Any may be NULL. `worker` is the host thread's number. */
typedef struct hd_emu_hooks {
  void *ctx;
  unsigned spaces; /* bit 1 << hd_space of the accesses wanted */
  void (*access)(void *ctx, unsigned worker, const hd_access *a);
  void (*barrier)(void *ctx, unsigned worker, uint64_t task, uint32_t warp);
  /* The warp has run the instructions first..last of funcs[func], one after the other; a function's
   * instructions count from 0 in the order of its text; calls through a pointer to other programs' functions
   * are not reported. Their accesses were reported before, but for those of instructions at which threads of
   * a warp wait for each other, which come later. */
  void (*ran)(void *ctx, unsigned worker, uint64_t task, uint32_t warp, uint32_t func, uint32_t first,
              uint32_t last);
  void (*cta_start)(void *ctx, unsigned worker, uint64_t task, uint32_t sm);
  void (*cta_end)(void *ctx, unsigned worker, uint64_t task, uint64_t warp_instructions,
                  uint64_t thread_instructions);
  /* Called before each CTA starts, from all host threads: false ends the launch with HD_ERR_BUDGET. */
  bool (*go_on)(void *ctx);
  /* Called if no CTA goes on unless memory is changed from outside the launch: while the call lasts, no CTA
   * runs. `proved`: that is certain, or has been so for very long; then true lets the CTAs read memory again,
   * and false (or NULL here) ends the launch as one that cannot continue. Not proved: they seem to wait, and
   * go on in any case. `moved`: they may have changed memory since the last call, or the start. */
  bool (*wait)(void *ctx, bool proved, bool moved);
  /* vprintf output; NULL: thrown away. Calls are serialised. */
  void (*print)(void *ctx, const char *text, size_t len);
} hd_emu_hooks;

/* ---- Stepping from outside --------------------------------------------------------- */

typedef struct hd_emu_grid hd_emu_grid;
typedef struct hd_emu_cta hd_emu_cta;

typedef enum hd_step {
  HD_STEP_RUNNING = 0, /* ran its quantum, can go on */
  HD_STEP_BARRIER,     /* waits for other warps of its CTA */
  HD_STEP_DONE,        /* all its threads have exited */
  HD_STEP_FAULT,       /* the launch is over: hd_emu_grid_end has the diagnostic */
} hd_step;

/* Check the launch (grid and block limits, parameters' size, shared memory,
 * support) and set it up. One grid is used by several host threads when each CTA
 * is stepped by one of them. */
HD_OWN hd_status hd_emu_grid_begin(hd_emu_program *p, const hd_emu_launch_params *l,
                                   const hd_emu_hooks *hooks, hd_emu_grid **out, hd_diag *d);
/* Start CTA number `task` on SM `sm`, slot free for the caller to say (%smid reads
 * `sm`; several CTAs may live on one SM). `worker` goes to the hooks. HD_ERR_UNSUPPORTED in a launch in
 * clusters, whose CTAs start together. */
HD_OWN hd_status hd_emu_cta_start(hd_emu_grid *g, uint64_t task, uint32_t sm, unsigned worker,
                                  hd_emu_cta **out, hd_diag *d);
/* Launches in clusters; in others each CTA is a cluster by itself, with its own number. How many there are,
 * and which one has that CTA. */
HD_OWN uint64_t hd_emu_clusters(const hd_emu_grid *g);
HD_OWN uint64_t hd_emu_cluster_of(const hd_emu_grid *g, uint64_t task);
/* Start all CTAs of a cluster, on SMs from `sm` on. *out: the first of them. One host thread steps them all,
 * and hd_emu_cta_end ends them all. */
HD_OWN hd_status hd_emu_cluster_start(hd_emu_grid *g, uint64_t cluster, uint32_t sm, unsigned worker,
                                      hd_emu_cta **out, hd_diag *d);
/* Of the first CTA: how many the cluster has, and the one with that rank. */
HD_OWN uint32_t hd_emu_cluster_size(const hd_emu_cta *first);
HD_OWN hd_emu_cta *hd_emu_cluster_cta(hd_emu_cta *first, uint32_t rank);
HD_OWN uint32_t hd_emu_cta_warps(const hd_emu_cta *c);
/* What the CTA has run since the last call is work of its emulator (hd_emu_set_work), as hd_emu_launch counts
 * by itself. False: the work is spent. */
HD_OWN bool hd_emu_cta_work(hd_emu_cta *c);
HD_OWN uint64_t hd_emu_warp_instructions(const hd_emu_cta *c, uint32_t w); /* that it has run */
/* Run warp `w` for at most `quantum` warp instructions. It stops early at barriers, and when it gives its
 * turn away: at a nanosleep, at a test of an mbarrier whose phase is not complete (HD_STEP_RUNNING: it will
 * ask again). */
HD_OWN hd_step hd_emu_warp_step(hd_emu_cta *c, uint32_t w, uint64_t quantum);
/* True when no warp can ever run again though some have not exited: a barrier that some threads skipped, an
 * mbarrier whose phase no warp is left to complete. The step that led there returned HD_STEP_FAULT. */
HD_OWN bool hd_emu_cta_stuck(const hd_emu_cta *c);
/* Run all warps of the CTA to the end (or a fault), round robin with that quantum. */
HD_OWN hd_step hd_emu_cta_run(hd_emu_cta *c, uint64_t quantum);
/* Give its resources back; every started CTA, or cluster, must be ended. */
HD_OWN void hd_emu_cta_end(hd_emu_cta *c);
/* End the launch; HD_ERR_FAULT with the first fault if there was one. */
HD_OWN hd_status hd_emu_grid_end(hd_emu_grid *g, hd_diag *d);

/* ---- Dispatchers and the plain driver ----------------------------------------------- */

/* Which CTA starts when and on which SM. All hand out CTA ids in increasing order
 * unless said otherwise, as the hardware does. */
typedef enum hd_dispatch_kind {
  HD_DISPATCH_ROUND_ROBIN = 0, /* CTA u on SM u mod M, the first wave and ever after */
  HD_DISPATCH_DEMAND,          /* first wave round robin, then wherever a CTA retires, with
                                  seeded jitter of running times (H100.md) */
  HD_DISPATCH_SHUFFLED,        /* seeded: any CTA on any SM in any order */
  HD_DISPATCH_ONE_SM,          /* all on SM 0 */
  HD_DISPATCH_STARVED,         /* half of the SMs never get a CTA, ids with holes */
  HD_DISPATCH_LATE,            /* most SMs wake up only after half of the CTAs have run */
  HD_DISPATCH_SERIAL,          /* one CTA at a time in the whole machine */
  HD_DISPATCH_REVERSE,         /* ids from the last to the first */
  HD_DISPATCH_COUNT
} hd_dispatch_kind;
HD_API const char *hd_dispatch_name(hd_dispatch_kind k);
/* NULL leaves *out as it is. HD_ERR_USAGE names those that there are. */
HD_API hd_status hd_dispatch_parse(const char *name, hd_dispatch_kind *out, hd_diag *d);

enum { HD_MOST_RESIDENT = 4096 };
typedef struct hd_dispatch {
  hd_dispatch_kind kind;
  uint64_t seed;
  uint32_t resident; /* CTAs alive at once per SM, at most HD_MOST_RESIDENT; 0: 1 */
} hd_dispatch;

/* Instructions, here and in the hooks, are counted thus: every PTX instruction that a warp issues, once for
 * each group of its threads that runs it apart, whatever its kind and even if its guard holds for no thread;
 * waiting costs nothing. Thread instructions: of these, the active threads whose guard holds. */
typedef struct hd_emu_stats {
  uint64_t ctas, warps;
  uint64_t warp_instructions, thread_instructions;
  bool waited;       /* a thread has executed griddepcontrol.wait */
  bool waited_first; /* so has one before its CTA let dependent grids start, or ended */
  double seconds;    /* wall clock, set-up included */
} hd_emu_stats;

/* Run a launch to its end. CTAs are spread over the host threads; when the kernel's
 * result could depend on their timing (floating-point atomics, atomics whose old
 * value is used, spins), one thread runs them, all resident ones in turn, so results
 * do not depend on the number of threads; nor do the order of printed text, the
 * addresses that kernels allocate, and which of several faults is reported: the
 * first CTA's in the order of starts. A CTA run alone that only waits is not given up: from then on all
 * resident ones are run in turn. Where no CTA can go on (the loop it waits in, at the load's line, which CTAs
 * are resident and the dispatcher are named) the launch ends with HD_ERR_FAULT. CTAs that run alone on
 * several host threads count as resident, whatever the dispatcher. `how` NULL: round robin. */
HD_API hd_status hd_emu_launch(hd_emu_program *p, const hd_emu_launch_params *l, const hd_dispatch *how,
                               const hd_emu_hooks *hooks, hd_emu_stats *stats, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
