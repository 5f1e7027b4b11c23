/* emu/machine/inst.h: decoded instructions, which the decoder makes and the run loop and the handlers
 * read. */
#ifndef HEDDLE_EMU_INST_H
#define HEDDLE_EMU_INST_H

#include "emu/num/wgmma.h"
#include "heddle/emu.h"

enum { EMU_SLOT_BYTES = 128, EMU_FULL_MASK = -1 };

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
  EMU_BAR,         /* barrier of the CTA: extra: emu_bar */
  EMU_CLUSTER_BAR, /* barrier.cluster: imm is an emu_cluster_part */
  EMU_GATHER,      /* a warp-synchronous plain operation: waits until all threads named by the member
                      mask (src[3] when gather_mask, else all threads of the warp that have
                      not exited) are at this instruction, then runs fn once with their union.
                      Threads that have exited are not waited for. All lanes of one run of fn
                      have named the same mask. fn NULL: bar.warp.sync, which threads may also
                      meet from different instructions, as they may where `exchange` is set. */
  EMU_TRAP,        /* trap; brkpt */
  EMU_NOP,         /* membar, fence, pragma-like: costs an instruction, does nothing */
  EMU_YIELD,       /* nanosleep: lets other fibers and warps run */
  EMU_POLL,        /* fn, which may have found that it must wait: then as EMU_YIELD */
} emu_control;

typedef enum emu_cluster_part {
  EMU_CLUSTER_WAIT = 0,
  EMU_CLUSTER_ARRIVE,
  EMU_CLUSTER_RELAXED
} emu_cluster_part;

/* Gathers whose threads may meet from several instructions of one kind (machine/gather.c). */
typedef enum emu_exchange {
  EMU_NO_EXCHANGE = 0,
  EMU_SHFL,
  EMU_BALLOT,
  EMU_VOTE,
  EMU_MATCH_ANY,
  EMU_MATCH_ANY_64,
  EMU_MATCH_ALL,
  EMU_MATCH_ALL_64,
  EMU_REDUX,
} emu_exchange;

/* Arithmetic that one handler does in several ways: rounded in a direction, approximate, on halves; redux. */
typedef struct emu_arith {
  uint8_t op;    /* the operation's letter of num_arith_*, or num_approx; redux of f32: 1 is max */
  uint8_t round; /* num_round */
  uint8_t ftz;
  uint8_t sat; /* redux: .abs */
  uint8_t fmt; /* num_fmt of halves */
  uint8_t nan; /* .NaN */
  uint8_t relu;
} emu_arith;

/* cvt handlers that go lane by lane. */
typedef struct emu_cvt {
  uint8_t flags; /* CVT_* */
  uint8_t round; /* num_round */
  uint8_t ftz, sat, relu, satfinite;
  uint8_t to, from; /* num_fmt, or the bits of an integer */
  uint8_t width;    /* bits of the destination register, which an integer result fills */
} emu_cvt;

/* setp and set, whose comparison is combined with predicate src[2]; lop3 with a predicate (src[3]), vote
 * (src[0] is the predicate). */
typedef struct emu_compare {
  uint8_t combine; /* emu_bool */
  uint8_t negate;  /* that predicate */
  uint8_t pair;    /* dst2 gets the negated comparison */
  uint8_t op;      /* num_cmp, of the f16 and bf16 comparisons */
  uint8_t fmt;     /* their num_fmt */
  uint8_t ftz;
} emu_compare;

/* ld, st, atom, red, prefetch, cp.async, ldmatrix, stmatrix, fences. The address is src[0] plus imm; a
 * vector's slots are in `extra` (uint32_t[count], EMU_NO_SLOT for "_"), a single value is dst or src[1]. */
typedef struct emu_mem {
  uint8_t space; /* hd_space, EMU_GENERIC, EMU_FRAME or EMU_CLUSTER */
  uint8_t cache; /* hd_access_cache, and EMU_CACHE_HINT */
  uint8_t mode;  /* emu_addr_mode */
  uint8_t count; /* elements of a vector; matrices */
  uint8_t bytes; /* per lane, all elements together; mapa: of the address */
  union {
    uint8_t atom;       /* emu_atom_op */
    uint8_t transposed; /* ldmatrix, stmatrix */
  };
  uint8_t type;   /* emu_atom_type */
  uint8_t no_old; /* red, or the old value is not wanted */
  uint8_t strong; /* emu_strength; a fence's scope */
  uint8_t sync;   /* emu_sync */
} emu_mem;

struct emu_inst {
  emu_fn *fn;
  const void *extra;
  int64_t imm;         /* address offset of ld/st/atom; other handlers: their own */
  uint32_t src[4];     /* slots */
  uint32_t dst, dst2;  /* slots */
  uint32_t guard;      /* predicate slot; see guarded */
  uint32_t target;     /* EMU_BRA: index into code->insts */
  uint32_t stmt, line; /* PTX statement and source line */
  uint8_t control;     /* emu_control */
  uint8_t guarded;     /* 0: no guard, 1: @p, 2: @!p */
  uint8_t gather_mask; /* EMU_GATHER: src[3] holds the member mask */
  uint8_t exchange;    /* EMU_GATHER: emu_exchange */
  union {              /* for the handler: by its group of operations */
    emu_arith arith;
    emu_cvt cvt;
    emu_compare compare;
    emu_mem mem;
  };
};

typedef struct emu_targets {
  uint32_t n;
  uint32_t *target; /* code indices */
} emu_targets;

/* Where a call's argument or result lives on one side. */
typedef struct emu_place {
  bool in_local;  /* else in a register */
  bool variadic;  /* of the function: `bytes` or fewer are passed */
  uint32_t where; /* offset in the function's local frame; or slot */
  uint32_t bytes;
} emu_place;

typedef struct emu_call {
  const emu_code *callee; /* NULL: through a register (fn_slot), a builtin, or a missing function */
  const char *missing; /* the name of a function of CUDA's device runtime, which is not emulated; or NULL */
  uint32_t fn_slot;    /* u64 function address */
  int builtin;         /* emu_builtin number, 0: none; run by emu_run_builtin */
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
/* Bytes [lo, hi). */
typedef struct emu_range {
  uint32_t lo, hi;
} emu_range;

struct emu_code {
  const hd_ptx_func *func;
  uint32_t index; /* of func in its module */
  const char *name;
  emu_inst *insts;
  uint32_t n_insts;           /* the last one is an EMU_RET */
  const uint32_t *next_store; /* at or behind each; UINT32_MAX: there is none. NULL: not known */
  uint32_t n_slots;           /* of a frame */
  uint32_t n_loose;           /* the last of them, which every path writes before it reads them */
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
  uint32_t local_bytes;    /* this function's .local and .param variables, per thread */
  const emu_range *locals; /* the .local ones that share their bytes with no others */
  uint32_t n_locals;
  uint32_t shared_bytes;    /* static shared memory of a kernel, callees included */
  emu_place *params, *rets; /* of a .func: formal side, in order */
  uint32_t n_params, n_rets;
  const struct hd_emu_program *program; /* NULL: of code made by hand, the launched one */
  bool shares;                          /* it names .shared variables, or a callee does */
  bool releases;                        /* fences and releases of a scope beyond the CTA and its cluster */
  bool depends;                         /* it waits for earlier grids */
  bool order_sensitive; /* results may depend on the interleaving of CTAs: floating-point atomics,
                           atomics whose old value is used, volatile or acquire loads of global memory */
  uint64_t stack_bytes; /* local memory a thread needs, callees included; recursion: a fixed stack */
  hd_diag unsupported;  /* status HD_OK: everything is emulated, callees included */
};

/* ---- An instruction's fields for its handler ------------------------------------------------------- */

/* cvt's flags. */
enum {
  CVT_SRC_64 = 1, /* the source is in a 64-bit register */
  CVT_DST_64 = 2, /* so is the destination */
  CVT_SRC_SIGNED = 4,
  CVT_DST_SIGNED = 8,
  CVT_INTEGRAL = 16, /* to an integral value: .rni .rzi .rmi .rpi between floats */
};

/* The threads towards which an access is strong (PTX ISA, memory consistency model). */
typedef enum emu_strength {
  EMU_WEAK = 0,
  EMU_STRONG_CTA, /* .cta scope */
  EMU_STRONG_CLUSTER,
  EMU_STRONG,     /* .gpu; atom and red without a scope; a load that is a mere guess of what atom.cas
                     then compares */
  EMU_STRONG_SYS, /* .sys; .volatile */
} emu_strength;
typedef enum emu_sync { /* bits */
                        EMU_ACQUIRES = 1,
                        EMU_RELEASES = 2,
                        EMU_COLLECTIVE =
                            4, /* wgmma: four warps read together, and any of them may say that they have */
                        EMU_SPREAD =
                            16, /* each lane gives the address of a row, of which others hold the data */
                        EMU_ASYNC_PROXY = 8,   /* a fence between accesses and asynchronous copies */
                        EMU_ASYNC_GLOBAL = 32, /* the same in global memory */
} emu_sync;                                    /* bits */

typedef enum emu_bool { EMU_BOOL_NONE = 0, EMU_BOOL_AND, EMU_BOOL_OR, EMU_BOOL_XOR } emu_bool;

enum {
  EMU_FRAME = 101,
  EMU_CLUSTER = 102
};                             /* emu_mem.space: parameters and results, in the frame; shared::cluster */
enum { EMU_CACHE_HINT = 128 }; /* src[3] is a policy (64 bits), instead of a priority in L2 */
#define EMU_NO_SLOT UINT32_MAX
#define EMU_ALLOCA_BYTES 16384u
enum { EMU_OPEN_STACK = 65536 }; /* bytes of a thread whose calls have no known depth */
typedef enum emu_addr_mode {
  EMU_ADDR_64 = 0, /* src[0] is a 64-bit register */
  EMU_ADDR_32,     /* src[0] is a 32-bit register; the sum wraps at 32 bits */
  EMU_ADDR_ABS,    /* imm */
} emu_addr_mode;

typedef enum emu_atom_op {
  EMU_ATOM_ADD,
  EMU_ATOM_AND,
  EMU_ATOM_OR,
  EMU_ATOM_XOR,
  EMU_ATOM_EXCH,
  EMU_ATOM_CAS,
  EMU_ATOM_INC,
  EMU_ATOM_DEC,
  EMU_ATOM_MIN,
  EMU_ATOM_MAX,
} emu_atom_op;
typedef enum emu_atom_type {
  EMU_ATOM_U, /* unsigned or bits, of the handler's width */
  EMU_ATOM_S,
  EMU_ATOM_F, /* f32, f64 */
  EMU_ATOM_F16,
  EMU_ATOM_BF16,
  EMU_ATOM_F16X2,
  EMU_ATOM_BF16X2,
} emu_atom_type;

enum { EMU_LINE_BYTES = 128 }; /* of discard and applypriority */

/* A cache policy: the first priority from bit 0, the second from bit EMU_POLICY_SECOND (0: none); bits 32 to
 * 63 are the fraction of accesses that get the first one, an f32, or under EMU_POLICY_RANGE the bytes that
 * do. */
typedef enum emu_policy {
  EMU_POLICY_FIRST = 1,
  EMU_POLICY_LAST,
  EMU_POLICY_NORMAL,
  EMU_POLICY_UNCHANGED,
  EMU_POLICY_SECOND = 4, /* bit */
  EMU_POLICY_RANGE = 1 << 8,
} emu_policy;

/* Registers taken as parts of a wider one: mov with a vector operand. */
typedef struct emu_parts {
  uint32_t n, bits; /* of one part: 8 to 64 */
  uint32_t slot[8]; /* EMU_NO_SLOT: not wanted */
} emu_parts;

/* cvt.rs: two or four f32, the first one on top, and the random bits. */
typedef struct emu_stochastic {
  uint32_t n, value[4], random; /* slots */
} emu_stochastic;

/* mov of a vector, element by element; registers of `bits` each, or slots of 32. */
typedef struct emu_vector {
  uint32_t n, bits;
  uint32_t from[4], to[4]; /* slots; to: EMU_NO_SLOT: not wanted */
} emu_vector;

/* cp.async: src[0] and imm are the shared destination, these the global source. */
typedef struct emu_cp_async {
  uint32_t src_slot;
  int64_t src_imm;
  uint8_t src_mode;   /* emu_addr_mode */
  uint8_t src_space;  /* HD_SPACE_GLOBAL */
  uint32_t size_slot; /* u32 bytes to read, the rest is zero; EMU_NO_SLOT: all */
  uint32_t skip_slot; /* predicate: read nothing; EMU_NO_SLOT: none */
  bool skip_neg;
} emu_cp_async;

/* mma: the registers of each fragment. A wmma product is two mma ones, which split m or n. */
enum { EMU_FRAGMENT_REGS = 8 };
typedef struct emu_mma {
  num_mma m;
  num_mma_quad quad;   /* f16 m8n8k4, of which m has the numbers of registers only */
  char split;          /* wmma: 'm' or 'n' */
  uint8_t selector;    /* mma.sp */
  uint32_t meta;       /* mma.sp */
  num_scaling scaling; /* .block_scale; per_k is 0: none. Its bytes and threads are the next slots' (u16) */
  uint32_t scale_a, scale_b, byte_a, thread_a, byte_b, thread_b;
  uint32_t d[EMU_FRAGMENT_REGS], a[EMU_FRAGMENT_REGS], b[EMU_FRAGMENT_REGS], c[EMU_FRAGMENT_REGS];
} emu_mma;

/* wgmma.mma_async: A is in registers, or in shared memory behind a descriptor. */
typedef struct emu_wgmma {
  num_wgmma m;
  emu_wgmma_regs d;
  bool a_in_regs;
  uint32_t a_slot[4];      /* a_in_regs */
  uint32_t a_desc, b_desc; /* u64 slots */
  uint32_t scale_slot;     /* predicate: D is added to */
  uint8_t scale_neg;
  bool negate_a, negate_b;
  bool a_mn_major, b_mn_major; /* transposed */
} emu_wgmma;

/* wmma.load and wmma.store of a fragment. */
typedef struct emu_wmma {
  num_mma m; /* one of the two products it is made of */
  char split;
  char which;        /* operand of m: 'a' 'b' 'c' */
  bool column_major; /* in m's rows and columns */
  uint8_t element;   /* bytes */
  uint8_t n_regs;
  uint8_t pitch;        /* elements between rows (columns) when stride_slot is EMU_NO_SLOT */
  uint32_t stride_slot; /* u32 */
  uint32_t slot[EMU_FRAGMENT_REGS];
} emu_wmma;

#endif
