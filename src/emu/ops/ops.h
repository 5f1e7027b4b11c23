/* emu/ops/ops.h: the tables of instruction handlers, and what the decoder puts into
 * emu_inst.x for them.
 *
 * Every file of ops/ is compiled once per instruction set and ends in a table of its
 * handlers. The decoder finds a handler by name; a name is the PTX instruction with
 * what does not change its meaning left out (decode_form.c says how).
 */
#ifndef HEDDLE_EMU_OPS_H
#define HEDDLE_EMU_OPS_H

#include "emu/machine.h"
#include "emu/num_wgmma.h"

/* `shape` tells the operands: "w=wd" writes a 32-bit register and reads a 32-bit and
 * a 64-bit one. Letters also say how the handler reads them:
 *   h k   16 bits, unsigned and signed       w i   32 bits, unsigned and signed
 *   d j   64 bits, unsigned and signed       f g   f32, f64
 *   q     128 bits                           p     predicate
 * "" means that the decoder resolves the operands itself. */
typedef struct emu_op {
  const char *name;
  const char *shape;
  emu_fn *fn;
} emu_op;

/* Tables end with a NULL name, the list of tables with NULL. The tables of all instruction
 * sets list the same handlers in the same order. */
const emu_op *const *emu_op_tables(hd_emu_isa isa); /* NULL: not built in */

/* ---- emu_inst.x ------------------------------------------------------------- */

/* Directed rounding and approximations: round.*, approx.* */
enum {
  X_OP = 0,    /* the operation's letter of num_arith_*, or num_approx */
  X_ROUND = 1, /* num_round */
  X_FTZ = 2,
  X_SAT = 3,
  X_FMT = 4, /* num_fmt of half operations */
  X_NAN = 5,
  X_RELU = 6,
  X_SRC_FMT = 7, /* cvt: num_fmt of a floating-point source */
  X_SATFINITE = 8,
};

/* cvt handlers that go lane by lane: x[X_OP] holds these bits; for an integer side X_FMT
 * (destination) and X_SRC_FMT are its width in bits, and X_NAN is the width of the
 * destination register that an integer result fills. */
enum {
  CVT_SRC_64 = 1, /* the source is in a 64-bit register */
  CVT_DST_64 = 2, /* so is the destination */
  CVT_SRC_SIGNED = 4,
  CVT_DST_SIGNED = 8,
  CVT_INTEGRAL = 16, /* to an integral value: .rni .rzi .rmi .rpi between floats */
};

/* setp, set: the comparison is combined with predicate src[2]. */
enum {
  X_BOOL = 0, /* emu_bool */
  X_PAIR = 1, /* dst2 gets the negated comparison */
  X_NEG = 2,  /* src[2] (vote: src[0]) is negated */
  X_CMP = 3,  /* num_cmp, of the f16 and bf16 comparisons; their format is X_FMT */
  X_CMP_FTZ = 5,
};
typedef enum emu_bool { EMU_BOOL_NONE = 0, EMU_BOOL_AND, EMU_BOOL_OR, EMU_BOOL_XOR } emu_bool;

/* ld, st, atom, red, prefetch, cp.async, ldmatrix, stmatrix. The address is src[0] plus
 * emu_inst.imm; a vector's slots are in `extra` (uint32_t[X_COUNT], EMU_NO_SLOT for "_"),
 * a single value is dst or src[1]. */
enum {
  X_SPACE = 0,  /* hd_space, EMU_GENERIC or EMU_FRAME */
  X_CACHE = 1,  /* hd_access_cache, and EMU_CACHE_HINT */
  X_ADDR = 2,   /* emu_addr_mode */
  X_COUNT = 3,  /* elements of a vector */
  X_BYTES = 4,  /* per lane, all elements together */
  X_ATOM = 5,   /* emu_atom_op */
  X_TYPE = 6,   /* emu_atom_type */
  X_NO_OLD = 7, /* red, or the old value is not wanted */
};
enum { EMU_FRAME = 101 };
enum { EMU_CACHE_HINT = 128 }; /* src[3] is a policy (64 bits), instead of a priority in L2 */
#define EMU_NO_SLOT UINT32_MAX
#define EMU_ALLOCA_BYTES 16384u
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
  num_mma_quad quad; /* f16 m8n8k4, of which m has the numbers of registers only */
  char split;        /* wmma: 'm' or 'n' */
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
