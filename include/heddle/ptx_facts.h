/* heddle/ptx_facts.h: facts about the instructions, types and special registers of PTX.
 *
 * The facts stand in ptx_ops.def, ptx_mods.def and ptx_sregs.def, beside the spellings; tables in facts.c,
 * results.c and access.c of src/code/ptx add what modifiers change. Code that needs a fact about an operation
 * asks here and lists no opcodes. Source of all facts: PTX ISA 9.0.
 *
 * Answers are on the safe side for words that the tables lack: an unknown opcode, or a known one with an
 * unknown modifier, may do everything that its operands allow, and its accesses are `unknown`.
 */
#ifndef HEDDLE_PTX_FACTS_H
#define HEDDLE_PTX_FACTS_H

#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Operations --------------------------------------------------------- */

/* Kinds of operations; an opcode is of one. */
typedef enum hd_ptx_class {
  HD_OPC_UNKNOWN = 0, /* HD_OP_UNKNOWN */
  HD_OPC_COMPUTE,     /* its result depends on its operands' values (and the carry) alone */
  HD_OPC_MEMORY,      /* some of its forms access memory: hd_ptx_access_of says which and how */
  HD_OPC_EXCHANGE,    /* its result depends on other threads of the warp */
  HD_OPC_SYNC,        /* barriers and fences */
  HD_OPC_CONTROL,     /* goes elsewhere, or ends */
  HD_OPC_STATE,       /* the stack, the register file, the clock: what is neither register nor memory */
} hd_ptx_class;

HD_OWN hd_ptx_class hd_ptx_op_class(hd_ptx_op op);

/* In which threads an opcode's results are alike, if their operands are; an opcode has one. */
typedef enum hd_ptx_alike {
  HD_ALIKE_NOWHERE = 0, /* perhaps in none: other threads, other threads' writes, the carry, or the thread's
                           own state may decide. Of unknown forms too */
  HD_ALIKE_NO_RESULT,   /* it writes no register */
  HD_ALIKE_OPERANDS,    /* in all: the result depends on the operands' values alone */
  HD_ALIKE_MEMORY,      /* in all threads between which the place that is read is not written */
  HD_ALIKE_MEMBERS,     /* .sync: in the lanes of one mask, the last operand */
  HD_ALIKE_SOURCE,      /* in lanes that get one lane's value: shfl */
  HD_ALIKE_BARRIER,     /* .red: in the threads that the barrier counts */
} hd_ptx_alike;

/* Of a module's form. */
HD_OWN hd_ptx_alike hd_ptx_alike_of(const hd_ptx_form *f);

/* Effects of a form's instructions: bits of hd_ptx_form.flags. */
enum {
  HD_OPF_RESULT = 1 << 0,       /* writes its first operand, unless that is an address. Not of calls, whose
                                   results stand in a list. Of unknown forms too */
  HD_OPF_READS_RESULT = 1 << 1, /* and reads it before: wgmma.mma_async. Of unknown forms too */
  HD_OPF_PURE = 1 << 2,         /* does nothing but write its first operand, which depends on its other
                                   operands' values alone (a special register's value is one) */
  HD_OPF_READS_CARRY = 1 << 3,  /* the condition code: addc */
  HD_OPF_WRITES_CARRY = 1 << 4, /* .cc */
  HD_OPF_BRINGS_DATA = 1 << 5,  /* its result comes from memory that is no constant of the launch, from other
                                   threads, or from unknown code. Of unknown forms too */
  HD_OPF_SEES_LANES = 1 << 6,   /* its result depends on other lanes: on their operands, or on which are
                                   active */
  HD_OPF_WARP_WIDE = 1 << 7,    /* threads of a warp do it together, and may wait for each other in it */
  HD_OPF_CTA_WIDE = 1 << 8,     /* a barrier for threads of a CTA */
  HD_OPF_CLUSTER_WIDE = 1 << 9, /* a barrier for the threads of a cluster */
  HD_OPF_JUMPS = 1 << 10,       /* bra, brx: to labels of its function */
  HD_OPF_CALLS = 1 << 11,
  HD_OPF_RETURNS = 1 << 12,     /* ret: to the caller; in a kernel the thread ends */
  HD_OPF_EXITS = 1 << 13,       /* exit, trap: the thread ends, wherever it is */
  HD_OPF_LASTING = 1 << 14,     /* leaves a state behind, outside of registers and ordinary memory, that
                                   later instructions of the CTA meet: mbarriers, the stack, setmaxnreg */
  HD_OPF_UNKNOWN = 1 << 15,     /* the opcode, or one of its words, is not in the tables */
  HD_OPF_NAMES_CTAS = 1 << 16,  /* maps an address to a CTA of the cluster, or says whose it is */
  HD_OPF_ACROSS_CTAS = 1 << 17, /* done for several CTAs of the cluster: .multicast::cluster, .cta_group::2 */
  HD_OPF_CLAIMS_CTAS = 1 << 18, /* takes over CTAs that were not launched yet: clusterlaunchcontrol */
  HD_OPF_FENCES = 1 << 19,      /* puts the thread's accesses in order, and makes none: fence, membar */
  HD_OPF_UPDATES = 1 << 20,     /* makes another word of one in memory, without a thread between: atom, red */
  HD_OPF_MATRICES = 1 << 21,    /* multiplies matrices */
};
/* The end of a basic block, if unguarded without a way to the next statement. */
enum { HD_OPF_LEAVES = HD_OPF_JUMPS | HD_OPF_RETURNS | HD_OPF_EXITS };

/* The flags of a form that was put together by hand; those of a module's forms are in hd_ptx_form.flags. */
HD_OWN uint32_t hd_ptx_flags_of(const hd_ptx_form *f);

/* ---- Results ------------------------------------------------------------ */

/* What an operation makes of the numbers that its operands are. The result has as many bits as its type, and
 * of a number that needs more the lowest ones. */
typedef enum hd_ptx_makes {
  HD_MAKES_ANYTHING = 0, /* this is not said. Of unknown forms too */
  HD_MAKES_SUM,          /* the sum of its terms; one term by itself is a copy, or a product */
  HD_MAKES_PLACE,        /* the address, in another space, of the place that operand 1 leads to: cvta */
  HD_MAKES_QUOTIENT,     /* terms[0].of divided by its `by`: rounded to 0, by a power down (shr) */
  HD_MAKES_REMAINDER,    /* of that division */
  HD_MAKES_MASKED,       /* the bits that terms[0].of and its `by` both have: and */
  HD_MAKES_PART,         /* some bits of a number that it makes of its operands: bfe, mul.hi */
  HD_MAKES_JOINED,       /* the bits that one of its terms has: or */
  HD_MAKES_NEGATED,      /* 0 less its term: neg */
  HD_MAKES_MIXED,        /* another number, which is no address if no operand is: xor */
  HD_MAKES_LEAST,        /* of its terms, like the next */
  HD_MAKES_GREATEST,
  HD_MAKES_CHOICE,     /* one of its terms: selp */
  HD_MAKES_COMPARISON, /* whether one of its terms is less than, equal to ... the other: setp */
} hd_ptx_makes;

/* An operand of the instruction, counted from the result, which is 0; or a product of two. */
typedef struct hd_ptx_term {
  uint8_t of;
  uint8_t by; /* the other factor; 0: none */
  bool power; /* the other factor is 2 to `by` */
  bool minus; /* it is taken away from the first term, which is an operand by itself, or from 0 */
} hd_ptx_term;

typedef struct hd_ptx_result {
  uint8_t makes;   /* hd_ptx_makes */
  uint8_t n_opnds; /* of the instruction, the result included; 0: it depends */
  uint8_t n_terms; /* a product is the first one */
  hd_ptx_term terms[2];
} hd_ptx_result;

/* How an instruction's result comes from its operands, taken as whole numbers. Nothing is said of floats and
 * packed numbers, but of their copies; of a form with a word that may change the result (.sat, .relu); nor of
 * a text with other operands than the instruction has. Factors of .wide are numbers of its type, and the
 * result is of twice as many bits; of forms with two types the operands are of the second, and the result is
 * of the first. */
HD_OWN const hd_ptx_result *hd_ptx_result_of(const hd_ptx_module *m, const hd_ptx_stmt *s);
/* The number that the value of an operand is to an instruction of the form, r being how its result comes: cut
 * to the operand's type, as 2^32 is 0 to mul.wide.u32 and 2^32 + 1 shifts by 1. One below 0 of an unsigned
 * type stays below 0, but as a factor of .wide: the low bits of the result are the same. Operands that r does
 * not name are as they are. */
HD_OWN int64_t hd_ptx_number_of(const hd_ptx_form *f, const hd_ptx_result *r, uint32_t operand,
                                int64_t value);
/* The same of an opcode, of numbers of any type: floats are rounded, and modifiers may take other bits. */
HD_OWN const hd_ptx_result *hd_ptx_op_result(hd_ptx_op op);

/* What is one of the operands, of its type or of another. */
static inline bool hd_ptx_is_copy(const hd_ptx_result *r) {
  return r->makes == HD_MAKES_SUM && r->n_terms == 1 && !r->terms[0].by;
}
/* The sum, or the difference, of two operands. */
static inline bool hd_ptx_adds_two(const hd_ptx_result *r) {
  return r->makes == HD_MAKES_SUM && r->n_terms == 2 && !r->terms[0].by;
}

/* ---- Words -------------------------------------------------------------- */

/* Kinds of dotted words, by what they say about an access or a value. */
typedef enum hd_mod_kind {
  HD_MK_PLAIN = 0,   /* something else */
  HD_MK_UNKNOWN,     /* it is not in the table */
  HD_MK_TYPE,        /* hd_ptx_type_of */
  HD_MK_SPACE,       /* value: HD_IN_... */
  HD_MK_ORDER,       /* value: hd_ptx_order */
  HD_MK_SCOPE,       /* value: hd_ptx_scope */
  HD_MK_CACHE,       /* a cache operator: .ca .cg .cs .lu .cv .wb .wt */
  HD_MK_L1_PRIORITY, /* .L1::evict_first ... */
  HD_MK_L2_PRIORITY, /* .L2::evict_first ... */
  HD_MK_L2_FETCH,    /* .L2::128B; value: bytes */
  HD_MK_WIDTH,       /* .v2 .v4 .v8; value: elements */
  HD_MK_OPERATION,   /* of atomics and reductions: .add .cas .exch ... (of other instructions as well) */
} hd_mod_kind;

HD_OWN hd_mod_kind hd_ptx_mod_kind(hd_mod mod);
HD_OWN unsigned hd_ptx_mod_value(hd_mod mod); /* 0 if the kind has none */

typedef enum hd_ptx_number {
  HD_NUM_NONE = 0, /* no type */
  HD_NUM_UNSIGNED,
  HD_NUM_SIGNED,
  HD_NUM_BITS,
  HD_NUM_PREDICATE,
  HD_NUM_FLOAT,
  HD_NUM_OPAQUE, /* .texref .samplerref .surfref */
} hd_ptx_number;

typedef enum hd_ptx_format {
  HD_FMT_NONE = 0, /* no floating-point type */
  HD_FMT_F16,
  HD_FMT_BF16,
  HD_FMT_F32,
  HD_FMT_F64,
  HD_FMT_TF32,
  HD_FMT_E4M3,
  HD_FMT_E5M2,
  HD_FMT_E2M3,
  HD_FMT_E3M2,
  HD_FMT_E2M1,
  HD_FMT_UE8M0,
  HD_FMT_UE4M3,
} hd_ptx_format;

typedef struct hd_ptx_type {
  uint8_t number;   /* hd_ptx_number */
  uint8_t format;   /* hd_ptx_format, of each element */
  uint8_t elements; /* 2 of f16x2; 1 of what is not packed */
  uint8_t bits;     /* of all elements, with their padding: .e2m3x2 takes 16 */
} hd_ptx_type;

/* {0} if the word is not a type. */
HD_OWN hd_ptx_type hd_ptx_type_of(hd_mod mod);
/* The types that a form names: the first, and the second (cvt's source); {0} where there is none. */
HD_OWN void hd_ptx_types_of(const hd_ptx_form *f, hd_ptx_type type[2]);
/* Whether its types are whole numbers of at least so many bits, not packed, and it keeps all low bits of a
 * result: it neither saturates nor takes the upper half, and has no carry. False if it names no type. */
HD_OWN bool hd_ptx_form_is_whole(const hd_ptx_form *f, unsigned least_bits);

/* ---- Barriers ------------------------------------------------------------ */

/* The operand of a CTA's barrier (HD_OPF_CTA_WIDE) that says how many threads it waits for; NULL: all. */
HD_OWN const hd_ptx_opnd *hd_ptx_barrier_count(const hd_ptx_module *m, const hd_ptx_stmt *s);
/* The number in that operand: of the text, or the block's size along an axis in a register that holds nothing
 * else. 0: it is not known, as sizes of 0 are not. */
HD_OWN uint64_t hd_ptx_barrier_threads(const hd_ptx_module *m, const hd_ptx_stmt *s, const uint32_t block[3]);

/* ---- Special registers -------------------------------------------------- */

/* Kinds of special registers, by what their values depend on. */
typedef enum hd_sreg_kind {
  HD_SRK_UNKNOWN = 0,
  HD_SRK_LAUNCH,      /* the same for all threads: %ntid, %nctaid */
  HD_SRK_CTA,         /* %ctaid */
  HD_SRK_THREAD,      /* %tid */
  HD_SRK_LANE,        /* where in its warp the thread is: %laneid, %lanemask_lt */
  HD_SRK_CLUSTER,     /* the cluster, or where in it the CTA is */
  HD_SRK_SHARED_SIZE, /* how much shared memory the kernel declares */
  HD_SRK_SCHEDULE,    /* where and when the CTA runs: %smid, %warpid, %clock, performance counters */
  HD_SRK_DRIVER,      /* %envreg: what the driver passes; the workspace of a cooperative launch is there */
} hd_sreg_kind;

HD_OWN hd_sreg_kind hd_ptx_sreg_kind(uint32_t sreg); /* HD_SR_... */

/* Registers of kind HD_SRK_SCHEDULE that give only the time. */
typedef enum hd_sreg_clock {
  HD_CLOCK_NONE = 0,
  HD_CLOCK_SM,    /* cycles of the SM: %clock, %clock_hi, %clock64 */
  HD_CLOCK_TIMER, /* nanoseconds of the device: %globaltimer, and its halves */
} hd_sreg_clock;

HD_OWN hd_sreg_clock hd_ptx_sreg_clock(uint32_t sreg);

/* ---- Accesses to memory --------------------------------------------------- */

/* Where an address points; bits, so that several can be asked for. */
enum {
  HD_IN_GENERIC = 1 << 0, /* any of global, shared, local, param and const */
  HD_IN_GLOBAL = 1 << 1,
  HD_IN_SHARED = 1 << 2,  /* of the CTA */
  HD_IN_CLUSTER = 1 << 3, /* of any CTA of the cluster: shared::cluster */
  HD_IN_LOCAL = 1 << 4,
  HD_IN_PARAM = 1 << 5,
  HD_IN_CONST = 1 << 6,
  HD_IN_TEXTURE = 1 << 7,
  HD_IN_SURFACE = 1 << 8,
  HD_IN_TENSOR = 1 << 9,    /* global, through a tensor map */
  HD_IN_TMEM = 1 << 10,     /* the tensor memory of tcgen05 */
  HD_IN_REGISTER = 1 << 11, /* .reg and .sreg, of declarations */
};
/* Memory that other CTAs may share: global memory, under whichever name. */
enum {
  HD_IN_ANY_GLOBAL = HD_IN_GENERIC | HD_IN_GLOBAL | HD_IN_TEXTURE | HD_IN_SURFACE | HD_IN_TENSOR,
  HD_IN_ANY_SHARED = HD_IN_SHARED | HD_IN_CLUSTER,
};

/* Operations on it; bits. */
enum {
  HD_ACC_READ = 1 << 0,
  HD_ACC_WRITE = 1 << 1,
  HD_ACC_ATOMIC = 1 << 2,   /* both in one step; READ and WRITE are set as well */
  HD_ACC_PREFETCH = 1 << 3, /* moves lines between caches and memory; no value is seen */
  HD_ACC_DISCARD = 1 << 4,  /* the old contents are lost; WRITE is set as well */
};

/* From weaker to stronger; of an access with several words the strongest counts. */
typedef enum hd_ptx_order {
  HD_ORDERED_NONE = 0, /* neither an access nor a fence */
  HD_ORDERED_WEAK,
  HD_ORDERED_RELAXED,
  HD_ORDERED_ACQUIRE,
  HD_ORDERED_RELEASE,
  HD_ORDERED_ACQ_REL,
  HD_ORDERED_SC,
  HD_ORDERED_VOLATILE, /* relaxed at system scope, and done as often as written */
  HD_ORDERED_MMIO,
} hd_ptx_order;

typedef enum hd_ptx_scope {
  HD_SCOPE_NONE = 0, /* of weak accesses */
  HD_SCOPE_CTA,
  HD_SCOPE_CLUSTER,
  HD_SCOPE_GPU,
  HD_SCOPE_SYS,
} hd_ptx_scope;

/* One place of memory that an instruction accesses. */
typedef struct hd_ptx_touch {
  uint16_t space;  /* one HD_IN_... */
  uint8_t kinds;   /* HD_ACC_... */
  uint8_t operand; /* the statement's operand with the address: HD_O_ADDR or HD_O_BRACKET, of wgmma and
                      tcgen05 also a descriptor in a register. A vector of registers there is no address, and
                      the statement may have fewer operands (optional ones): then there is no such access */
} hd_ptx_touch;

enum { HD_PTX_MAX_TOUCHES = 3 };
typedef struct hd_ptx_access {
  uint8_t kinds;                            /* of all places; 0: no access */
  uint8_t n;                                /* places */
  hd_ptx_touch touches[HD_PTX_MAX_TOUCHES]; /* destination of a copy first, its mbarrier last */
  uint8_t order; /* hd_ptx_order; of fences, too. Of several places it is the ordered one's */
  uint8_t scope; /* hd_ptx_scope */
  hd_mod cache;  /* cache operator as written; 0: none */
  hd_mod l1_priority, l2_priority; /* as written; 0: none */
  hd_mod operation;                /* .add .cas .exch ... of an atomic or a reduction; 0: none */
  uint16_t bytes;   /* each thread's, of vectors all elements; 0: not said by the form (bulk, matrices) */
  uint8_t elements; /* of those vectors; 1 of others */
  uint8_t value; /* the operand that is stored by st, or combined with what is there by atom and red, of cas
                    the first; 0: another access */
  bool noncoherent; /* .nc, ldu, textures: other threads' writes may not be seen */
  bool policy;      /* .L2::cache_hint: the last operand is a cache policy */
  bool async;       /* done later: the instruction does not wait for it */
  bool bulk;        /* a range of bytes, a box or a matrix, by one thread or a whole warp for all */
  bool unknown;     /* an opcode or a word that is not in the tables: order, kinds and space may be others */
} hd_ptx_access;

/* How instructions of this form access memory. An unknown opcode reads and writes generic memory, by any of
 * its operands (touches[0].operand is 0). Calls are no accesses: HD_OPF_CALLS. */
HD_OWN hd_ptx_access hd_ptx_access_of(const hd_ptx_form *f);

/* The kinds of its accesses in these spaces (HD_IN_... bits). */
HD_OWN unsigned hd_ptx_access_in(const hd_ptx_access *a, unsigned spaces);

/* ---- Operands ------------------------------------------------------------ */

/* How an instruction uses a leaf of its operands; bits. */
enum {
  HD_ROLE_READ = 1 << 0, /* its value: a register's, a special register's, a number, the address of a symbol,
                            the contents of a .param variable among a call's arguments */
  HD_ROLE_WRITTEN = 1 << 1, /* a register, _, or a .param variable among a call's results */
  HD_ROLE_BASE = 1 << 2,    /* an address is computed from it: [leaf + imm], or the first of [a, {b, c}]. A
                               register or a special register is READ as well */
  HD_ROLE_GUARD = 1 << 3,   /* the predicate of @p; READ as well */
  HD_ROLE_CALLEE = 1 << 4,  /* what is called: HD_O_SYM, or a register that is READ as well; in a list of
                               .calltargets, too */
  HD_ROLE_LABEL = 1 << 5,   /* where a branch may go; in a list of .branchtargets, too */
  HD_ROLE_LIST = 1 << 6,    /* the name of a .branchtargets, .calltargets or .callprototype */
};

/* A leaf: an operand without kids. For a guard `opnd` is NULL and `index` UINT32_MAX. */
typedef struct hd_ptx_leaf {
  const hd_ptx_opnd *opnd;
  uint32_t index;  /* of the operand in m->opnds, to replace it */
  hd_sym sym;      /* the symbol that it names; 0: none */
  uint8_t role;    /* HD_ROLE_... */
  uint8_t operand; /* which of the statement's operands it belongs to; UINT8_MAX: beyond, or the guard */
} hd_ptx_leaf;

/* True: continue. The function may change the leaf's operand in place, but add none to the module. */
typedef bool hd_ptx_visitor(void *ctx, const hd_ptx_leaf *leaf);

/* Visits every leaf of an instruction or a list of targets, the guard first, then the operands as written.
 * Other statements have none. False: the visitor stopped it. */
HD_OWN bool hd_ptx_visit(const hd_ptx_module *m, const hd_ptx_stmt *s, hd_ptx_visitor *visit, void *ctx);

/* The same for the operand m->opnds[index] alone, say a variable's initialiser; its leaves get this role,
 * with BASE where they stand in brackets. */
HD_OWN bool hd_ptx_visit_operand(const hd_ptx_module *m, uint32_t index, unsigned role, hd_ptx_visitor *visit,
                                 void *ctx);

#ifdef __cplusplus
}
#endif
#endif
