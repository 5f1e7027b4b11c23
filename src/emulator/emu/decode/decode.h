/* emu/decode/decode.h: the interface between the decoder's files.
 *
 *   decode.c            the module: one emu_code per function
 *   form.c              an instruction's dotted word, taken apart once per module
 *   name.c              the order of its words
 *   operand.c           registers, immediates and addresses to slots
 *   plain.c             instructions found by name: arithmetic, logic, mov, selp, ...
 *   video.c             vadd, vset4, vmad, ...
 *   convert.c           cvt, cvta, comparisons, half precision, rounding
 *   mixed.c             sums of f32 and halves, minima of three, stochastic rounding
 *   memory.c            ld, st, atom, red, cp.async
 *   hint.c              createpolicy, prefetch, discard, fences, setmaxnreg, griddepcontrol
 *   control.c           branches, calls, barriers
 *   warp.c              shfl, vote, match, redux, mma, wmma, ldmatrix
 *   wgmma.c             warpgroup products
 *   image.c             textures and surfaces
 *   async.c             mbarrier, bulk copies, tensor maps
 *   remote.c            st.async, red.async, st.bulk; mapa, getctarank
 *   multimem.c          multimem, as plain accesses
 *   guess.c             plain loads of values that atom.cas then compares
 *   store.c             where the next store is
 *   share.c             registers that share slots
 *   link.c              the call graph: shared memory, stacks, the needs of callees
 *   program.c           a module loaded: its variables, then its code
 *   tables.c            the handlers of an instruction set
 *
 * Every opcode has a rule. Its `prepare` looks at the form, once per module, and
 * either finds the handler or says why there is none; its `emit` turns one statement
 * into one emu_inst. An instruction that is not emulated ends in emu_refuse or
 * form->refused, never in a handler that guesses.
 */
#ifndef HEDDLE_EMU_DECODE_H
#define HEDDLE_EMU_DECODE_H

#include "emu/ops/ops.h"
#include "heddle/ptx_facts.h"

#include <stdlib.h>
#include <string.h>

/* ---- The decoder's entry ------------------------------------------------------------ */

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
  uint64_t functions; /* the address of function 0 */
  uint64_t (*address_of)(void *ctx, uint32_t var, bool *ok);
  void *ctx;
} emu_decode_env;
hd_status emu_decode_module(const emu_decode_env *env, emu_code ***codes, hd_diag *d);

typedef struct emu_decoder emu_decoder;
typedef struct emu_function emu_function;
typedef struct emu_form emu_form;

/* ---- Forms --------------------------------------------------------------------- */

typedef struct emu_rule {
  void (*prepare)(emu_decoder *d, emu_form *f);
  bool (*emit)(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in);
} emu_rule;

/* The modifiers of an instruction that mean the same for all instructions. */
typedef struct emu_words {
  hd_mod types[4]; /* in the order written */
  uint8_t n_types;
  uint8_t vec;              /* .v2 .v4 .v8, else 1 */
  uint8_t round;            /* num_round; NUM_RN when there is none */
  bool has_round, integral; /* .rni and its kin */
  bool ftz, sat, satfinite, relu, nan, xorsign, abs, approx, full;
  hd_mod other; /* the first modifier that is none of these; HD_M_NONE */
} emu_words;

struct emu_form {
  const hd_ptx_form *ptx;
  const emu_rule *rule;
  const char *refused; /* why it is not emulated; NULL: it is */
  const emu_op *op;    /* its handler, where the form alone decides */
  emu_inst proto;      /* arith and its like, imm, control: copied into every instruction of this form */
  emu_words words;
  uint32_t data[9]; /* for the rule's emit */
};

/* ---- The module ------------------------------------------------------------------ */

/* Where a variable lies. */
typedef enum emu_where {
  EMU_NOWHERE = 0,
  EMU_IN_GLOBAL, /* .global and .const: at its device address */
  EMU_IN_SHARED, /* at an offset of the CTA's block */
  EMU_IN_FRAME,  /* .local, and .param of functions and calls: at an offset of the frame */
  EMU_IN_PARAMS, /* a kernel's parameter: at an offset of the parameter block */
} emu_where;
typedef struct emu_location {
  emu_where where;
  uint64_t offset;
} emu_location;

struct emu_decoder {
  const emu_decode_env *env;
  const hd_ptx_module *m;
  hd_arena scratch;     /* lives as long as the decoder */
  emu_form *forms;      /* per m->forms; rule NULL: not looked at yet */
  emu_location *vars;   /* per m->vars, and shared memory that is reserved (link.c) */
  emu_code **codes;     /* per m->funcs */
  const emu_op **names; /* hash table of handlers by name */
  uint32_t n_names;     /* its size, a power of two */
  struct emu_graph *graph;
  uint64_t variadic; /* bytes of the greatest argument of any call: room for `.param .b8 rest[]` */
};

/* ---- Growing arrays in an arena; out of memory longjmps to the decoder's entry. ------ */

#define EMU_VEC(T)                                                                                           \
  struct {                                                                                                   \
    T *data;                                                                                                 \
    uint32_t n, cap;                                                                                         \
  }
void emu_vec_room(hd_arena *a, void **data, uint32_t n, uint32_t *cap, size_t size);
#define emu_push(arena, v, x)                                                                                \
  (emu_vec_room((arena), (void **)&(v)->data, (v)->n, &(v)->cap, sizeof *(v)->data),                         \
   (void)((v)->data[(v)->n++] = (x)))

/* ---- A function ---------------------------------------------------------------------- */

/* Slot numbers while a function is decoded: those of init have this bit set, because
 * init comes first in the frame and its size is known only at the end. */
#define EMU_INIT_SLOT 0x80000000u

/* The content of an init slot in lane l. */
typedef enum emu_init_kind {
  EMU_INIT_32, /* bits */
  EMU_INIT_64,
  EMU_INIT_128,     /* bits, zero-extended */
  EMU_INIT_PRED,    /* bits: the lanes' mask */
  EMU_INIT_LOCAL,   /* the address at offset `bits` of the frame */
  EMU_INIT_RESERVE, /* the address of alloca's reserve */
  EMU_INIT_LANE,    /* l */
  EMU_INIT_EQ,      /* %lanemask_eq ... */
  EMU_INIT_LE,
  EMU_INIT_LT,
  EMU_INIT_GE,
  EMU_INIT_GT,
} emu_init_kind;
typedef struct emu_init {
  uint64_t bits;
  emu_init_kind kind;
  uint32_t slot; /* in init */
} emu_init;

struct emu_function {
  emu_decoder *d;
  const hd_ptx_func *func;
  emu_code *code;
  hd_arena *scratch;   /* lives as long as the function is decoded */
  uint32_t n_slots;    /* outside init */
  uint32_t n_init;     /* slots in init */
  uint32_t *reg_slots; /* per register number: 1 + slot; 0: not used yet */
  uint32_t *reg_uses;  /* per register number: operands that name it */
  EMU_VEC(emu_init) inits;
  uint32_t *init_table, init_table_size; /* hash: 1 + index into inits */
  EMU_VEC(uint32_t *) refs;              /* slot numbers to settle at the end */
  EMU_VEC(struct emu_sreg) sregs;
  uint32_t carry_slot;  /* CC.CF; EMU_NO_SLOT until it is used */
  uint32_t alloca_slot; /* bytes taken by alloca; EMU_NO_SLOT until it is used */
  uint64_t frame_used, frame_peak;
  EMU_VEC(emu_range) locals;
};

/* ---- decode.c ---------------------------------------------------------------------------- */

/* Record that `s` is not emulated, and why; the first one counts. */
void emu_note_refusal(emu_function *fn, const hd_ptx_stmt *s, const char *fmt, ...) HD_PRINTF(3, 4);
/* The same; false. */
#define emu_refuse(fn, s, ...)                                                                               \
  ({                                                                                                         \
    emu_note_refusal((fn), (s), __VA_ARGS__);                                                                \
    false;                                                                                                   \
  })

/* ---- name.c        -------------------------------------------------------------------------- */

/* Of handlers' names, which are the same in any order of their modifiers. */
uint32_t emu_name_hash(const char *name);
bool emu_same_name(const char *a, const char *b);
/* A modifier that belongs to the opcode but does not stand behind it; HD_M_NONE: there is none. */
hd_mod emu_misplaced(const hd_ptx_form *f);

/* ---- form.c        -------------------------------------------------------------------------- */

void emu_form_init(emu_decoder *d);
/* The form of a statement, prepared. */
const emu_form *emu_form_of(emu_decoder *d, uint32_t index);
const emu_op *emu_find_op(const emu_decoder *d, const char *name);
/* The handler called OP.mod.mod..., where OP is a name of its own or the opcode's, and types
 * are tried as written, then as .iN (integers), then as .bN (integers; all types when
 * any_type). `drop` and 0-terminated: modifiers to leave out. */
const emu_op *emu_find_form(const emu_decoder *d, const char *op, const hd_ptx_form *f, const hd_mod *drop,
                            bool any_type);
void emu_read_words(const hd_ptx_form *f, emu_words *w);
/* "why", formatted, in the decoder's memory. */
const char *emu_why(emu_decoder *d, const char *fmt, ...) HD_PRINTF(2, 3);
/* The word of a form, or the form as a whole, is refused. */
void emu_refuse_word(emu_decoder *d, emu_form *f, hd_mod mod);
extern const char emu_no_form[];
/* Look the handler up by name; refused when there is none in this build. */
void emu_use(emu_decoder *d, emu_form *f, const char *name);

typedef enum emu_class {
  EMU_CLASS_NONE,
  EMU_CLASS_U,
  EMU_CLASS_S,
  EMU_CLASS_B,
  EMU_CLASS_F,
  EMU_CLASS_PRED
} emu_class;
/* A modifier's kind of type, and its bits; EMU_CLASS_NONE: no scalar type. Packed pairs (.f16x2 ...) are
 * EMU_CLASS_F or _U/_S of 32 bits. */
emu_class emu_type_class(hd_mod type);
unsigned emu_type_bits(hd_mod type);
bool emu_num_fmt(hd_mod type, num_fmt *fmt, bool *pair);

/* Let the form be another one, which means the same, and another rule's. */
void emu_use_plain(emu_decoder *d, emu_form *f, const hd_ptx_form *plain, const emu_rule *rule);

/* The rules, by subject. */
extern const emu_rule emu_rule_plain, emu_rule_lop3, emu_rule_mov, emu_rule_alloca, emu_rule_stack,
    emu_rule_nop;
extern const emu_rule emu_rule_video;
extern const emu_rule emu_rule_float, emu_rule_approx, emu_rule_cvt, emu_rule_cvta, emu_rule_isspacep,
    emu_rule_setp, emu_rule_set, emu_rule_carry;
extern const emu_rule emu_rule_ld, emu_rule_st, emu_rule_atom, emu_rule_prefetch, emu_rule_cp,
    emu_rule_createpolicy, emu_rule_fence, emu_rule_setmaxnreg, emu_rule_griddepcontrol;
extern const emu_rule emu_rule_tex, emu_rule_image_query, emu_rule_surface;
extern const emu_rule emu_rule_bra, emu_rule_brx, emu_rule_call, emu_rule_ret, emu_rule_exit, emu_rule_trap,
    emu_rule_bar, emu_rule_yield;
extern const emu_rule emu_rule_shfl, emu_rule_vote, emu_rule_match, emu_rule_redux, emu_rule_activemask,
    emu_rule_elect, emu_rule_mma, emu_rule_wmma, emu_rule_wgmma, emu_rule_ldmatrix, emu_rule_stmatrix,
    emu_rule_movmatrix;

/* ---- async.c        ------------------------------------------------------------------------------ */

extern const emu_rule emu_rule_mbarrier, emu_rule_tensormap, emu_rule_launch_control;
/* A pointer into shared memory: with the state space, or generic and then shared when it runs. */
struct emu_pointer;
bool emu_put_shared(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned space,
                    struct emu_pointer *p);
/* An emu_atom_op, an emu_bulk_type; -1: none. */
int emu_bulk_atom_of(hd_mod mod);
int emu_bulk_type_of(hd_mod mod);
/* The rule of a cp that is no plain cp.async: bulk copies, cp.async.mbarrier.arrive; NULL: it is one. */
const emu_rule *emu_async_copy_rule(const emu_form *f);

/* ---- tcgen05.c        ---------------------------------------------------------------------------- */

extern const emu_rule emu_rule_tcgen05;

/* ---- remote.c        ----------------------------------------------------------------------------- */

extern const emu_rule emu_rule_remote, emu_rule_fill, emu_rule_cluster_address;

/* ---- multimem.c        --------------------------------------------------------------------------- */

extern const emu_rule emu_rule_multimem;

/* ---- mixed.c        ---------------------------------------------------------------------------- */

extern const emu_rule emu_rule_mixed, emu_rule_extreme, emu_rule_stochastic;
/* Is it add, sub or fma of f32 and f16, or of f32 and bf16? */
bool emu_is_mixed(const emu_form *f);

/* ---- plain.c        ---------------------------------------------------------------------------- */

/* Bits of an operand by its letter in a shape (ops.h). */
unsigned emu_shape_bits(char letter);
/* The operands as the handler's shape tells. */
bool emu_emit_shape(emu_function *fn, const emu_form *f, const hd_ptx_stmt *s, emu_inst *in);

/* ---- operand.c        -------------------------------------------------------------------------- */

/* The operands of a statement; NULL past its end. */
const hd_ptx_opnd *emu_operand(const emu_function *fn, const hd_ptx_stmt *s, unsigned k);
const hd_ptx_opnd *emu_kid(const emu_function *fn, const hd_ptx_opnd *o, unsigned k);

/* Put a slot number where it belongs; settled when the function is finished. */
void emu_ref(emu_function *fn, uint32_t *where, uint32_t slot);
/* `n` fresh slots, zero when a frame is made. */
uint32_t emu_new_slots(emu_function *fn, uint32_t n);
/* An init slot that holds `bits` in every lane, of 32, 64 or 128 (zero-extended) bits. */
uint32_t emu_constant(emu_function *fn, uint64_t bits, unsigned width);
uint32_t emu_init_slot(emu_function *fn, emu_init_kind kind, uint64_t bits);
/* Bits of a register: 8 to 128, 1 for a predicate. */
unsigned emu_reg_bits(const emu_function *fn, hd_sym sym);
/* Slot of a register; its size is the register's. */
bool emu_reg(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, uint32_t *slot, unsigned *bits);
/* A source of `bits` (1: predicate): a register of that size, an immediate, a special register, an
 * address. */
bool emu_source(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits, uint32_t *where);
/* The same for a predicate that may be written !p; *negated may be NULL where it may not. */
bool emu_predicate(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, uint32_t *where,
                   uint8_t *negated);
/* A destination register of `bits`; with sink, "_" gives EMU_NO_SLOT. */
bool emu_destination(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned bits, bool sink,
                     uint32_t *where);
/* A constant integer operand. */
bool emu_integer(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, int64_t *value);
/* d|p: `first` is the part before the bar, or the whole; *second NULL when there is none. */
void emu_pair(const emu_function *fn, const hd_ptx_opnd *o, const hd_ptx_opnd **first,
              const hd_ptx_opnd **second);
/* Where the variable `sym` lies; false after a refusal. */
bool emu_locate_var(emu_function *fn, const hd_ptx_stmt *s, hd_sym sym, emu_location *out);

/* An address operand. `space` is HD_SPACE_* or EMU_GENERIC, and may change: a named variable is
 * reached in its own space. */
typedef struct emu_address {
  unsigned space;
  emu_addr_mode mode;
  uint32_t slot; /* EMU_ADDR_ABS: none */
  int64_t imm;
} emu_address;
bool emu_address_of(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned space,
                    emu_address *out);
/* The same, put into an instruction: src[0], imm, mem.mode, mem.space. */
bool emu_put_address(emu_function *fn, const hd_ptx_stmt *s, const hd_ptx_opnd *o, unsigned space,
                     emu_inst *in);

/* Room for a variable in the frame. */
bool emu_frame_room(emu_function *fn, uint64_t bytes, uint64_t align, uint32_t *offset);
#define EMU_HAS(f, mod) hd_ptx_form_has((f)->ptx, HD_M_##mod)

/* ---- link.c        ----------------------------------------------------------------------------------- */

/* Once a function's slots are settled: guess.c, store.c. */
static inline hd_ptx_op emu_op_of(const emu_function *fn, const emu_inst *i) {
  return (hd_ptx_op)fn->d->m->forms[fn->func->stmts[i->stmt].form].op;
}
void emu_mark_guesses(emu_function *fn);
void emu_find_stores(emu_function *fn);
/* share.c: once nothing tells registers by their slots any more. */
void emu_share_slots(emu_function *fn);

/* Before any function: the call graph, and where .shared variables lie. */
void emu_link_begin(emu_decoder *d);
/* After all functions: stacks, order-sensitivity and refusals, passed along the calls. */
void emu_link_end(emu_decoder *d);
/* Static shared memory of kernel number `func`. */
uint32_t emu_link_shared(const emu_decoder *d, uint32_t func);

#endif
