/* heddle/ptx.h: the PTX language as data.
 *
 * hd_ptx_parse reads a whole PTX module (up to ISA 9.0) into arena-allocated
 * arrays; hd_ptx_print writes it back so that ptxas makes the same machine
 * code of it. Parsing never fails on a valid file because an opcode, a
 * modifier or a directive is new: unknown ones are kept as written.
 *
 * Everything is an index into one of the module's arrays. Index 0 of `syms`
 * is reserved, so hd_sym 0 means "none".
 *
 * Nothing in a parsed module points into the source text.
 */
#ifndef HEDDLE_PTX_H
#define HEDDLE_PTX_H

#include "heddle/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Words ------------------------------------------------------------- */

/* Opcodes: HD_OP_ADD, HD_OP_LD, ... from one table (ptx_ops.def, which also says
 * what they do: ptx_facts.h). HD_OP_UNKNOWN is an opcode the table does not know.
 * HD_OP_COUNT is one past the last. */
typedef uint16_t hd_ptx_op;
enum {
  HD_OP_UNKNOWN = 0,
#define PTX_OP(id, text, class, alike, result, flags) HD_OP_##id,
#include "heddle/ptx_ops.def"
#undef PTX_OP
  HD_OP_COUNT
};

/* A dotted word without its dot: ".f32", ".global", ".rn", ".L1::no_allocate",
 * ".v4", ".m16n8k16", ".entry". Types, state spaces, rounding modes, vector
 * widths, cache operators and directives are all hd_mod. Known ones are the
 * constants HD_M_F32, ... (ptx_mods.def, with what they say: ptx_facts.h); others are numbered from
 * HD_M_COUNT up, per module (hd_ptx_mod_text spells any). */
typedef uint16_t hd_mod;
enum {
  HD_M_NONE = 0,
#define PTX_MOD(id, text) HD_M_##id,
#include "heddle/ptx_mods.def"
  HD_M_COUNT
};

/* Special registers: HD_SR_TID, HD_SR_CTAID, ... (ptx_sregs.def, with what they depend on:
 * ptx_facts.h); .x .y .z .w are in hd_ptx_opnd.part. */
enum {
  HD_SR_NONE = 0,
#define PTX_SREG(id, text, kind) HD_SR_##id,
#include "heddle/ptx_sregs.def"
#undef PTX_SREG
  HD_SR_COUNT
};

/* ---- Symbols ----------------------------------------------------------- */

typedef uint32_t hd_sym;

typedef enum hd_ptx_sym_kind {
  HD_SYM_UNDEF = 0, /* named but not declared here (kept: ptxas or a linker decides) */
  HD_SYM_REG,       /* `decl`: its hd_ptx_var; `index`: dense number in its function (for the
                       prefix of a range, which is no register itself: the parser's own) */
  HD_SYM_VAR,       /* `decl`: index into vars */
  HD_SYM_FUNC,      /* `decl`: index into funcs (the definition if there is one) */
  HD_SYM_LABEL,     /* `index`: statement number in its function, UINT32_MAX when undefined */
  HD_SYM_PROTO,     /* .callprototype label; `decl`: index into protos; `index`: statement number */
  HD_SYM_TARGETS,   /* .branchtargets / .calltargets label; `index`: statement number */
  HD_SYM_SREG,      /* `index`: HD_SR_...; 0 when the special register is unknown */
} hd_ptx_sym_kind;

typedef struct hd_ptx_sym {
  const char *name; /* NUL-terminated, as written (%r17, $L__BB0_2, _Z3foov) */
  uint32_t len;
  uint8_t kind; /* hd_ptx_sym_kind */
  uint8_t vec;  /* registers: 1, 2, 4 */
  hd_mod type;  /* registers and variables: HD_M_U32 ...; else HD_M_NONE */
  uint32_t decl;
  uint32_t index;
} hd_ptx_sym;

/* ---- Operands ---------------------------------------------------------- */

typedef enum hd_ptx_opnd_kind {
  HD_O_NONE = 0,
  HD_O_REG,     /* sym; part; NEG for "!%p" and "-%r" */
  HD_O_SREG,    /* sym (HD_SYM_SREG); part */
  HD_O_INT,     /* imm: value, two's complement; constant expressions are folded, WARP_SZ is 32 */
  HD_O_F32,     /* imm: the 32 bits of 0f........ */
  HD_O_F64,     /* imm: the 64 bits of 0d........, or of a decimal float literal */
  HD_O_SYM,     /* the address of variable / function / label `sym`, plus imm */
  HD_O_ADDR,    /* [sym + imm]; sym is a register, a variable, or 0: [imm] */
  HD_O_VEC,     /* {a, b, ...}: kids */
  HD_O_LIST,    /* (a, b, ...) of a call: kids */
  HD_O_BRACKET, /* [a, b, ...] or [a, {b, c}]: kids; textures, tensors, surfaces, mbarriers. A kid
                   that is a register with an offset is an HD_O_ADDR */
  HD_O_PAIR,    /* p|q: two kids */
  HD_O_SINK,    /* _ */
  HD_O_INDEX,   /* a[i]: two kids: HD_O_SYM and an integer, a register or an HD_O_ADDR */
  HD_O_GENERIC, /* generic(sym) + imm, in initialisers */
  HD_O_MASKED,  /* mask(sym + imm), e.g. 0xFF00(foo), in initialisers: one kid (HD_O_SYM or
                   HD_O_GENERIC) at opnds[sym]; imm is the mask */
  HD_O_STRING,  /* "text": sym names the text */
  HD_O_RAW,     /* sym names text kept as written: a .samplerref's initialiser */
} hd_ptx_opnd_kind;

enum {
  HD_OF_NEG = 1,      /* HD_O_REG: ! before a predicate, - before any other */
  HD_OF_UNSIGNED = 2, /* HD_O_INT: written with the suffix U, or above 2^63 - 1 */
  HD_OF_ZERO = 4,     /* HD_O_ADDR, HD_O_SYM, HD_O_GENERIC: imm is 0 and was written: [a+0], from
                         which unoptimised ptxas makes other code than from [a] */
};

typedef struct hd_ptx_opnd {
  uint8_t kind;  /* hd_ptx_opnd_kind */
  uint8_t flags; /* HD_OF_... */
  hd_mod part;   /* HD_M_X, HD_M_Y, ... HD_M_B0, HD_M_H1 ... after the name; else 0 */
  uint32_t sym;  /* symbol; or, with kids, index of the first kid in opnds */
  union {
    int64_t imm;
    uint64_t bits;
    uint32_t n_kids;
  };
} hd_ptx_opnd;

/* ---- Instructions and statements --------------------------------------- */

/* An instruction's dotted word, interned: "ld.global.nc.v4.f32" is parsed once
 * per module however often it occurs. */
enum { HD_PTX_MAX_MODS = 20 };
typedef struct hd_ptx_form {
  const char *text;
  hd_ptx_op op;
  uint8_t n_mods;
  hd_mod mods[HD_PTX_MAX_MODS]; /* in the order written */
  uint32_t flags;               /* HD_OPF_...: what these instructions do (ptx_facts.h) */
} hd_ptx_form;

typedef enum hd_ptx_stmt_kind {
  HD_S_INST = 1, /* form, guard, opnds */
  HD_S_LABEL,    /* sym */
  HD_S_VAR,      /* index: vars (.reg .local .shared .param .const .global) */
  HD_S_OPEN,     /* { */
  HD_S_CLOSE,    /* } */
  HD_S_LOC,      /* .loc: text (sym) as written without the directive word and line end */
  HD_S_PRAGMA,   /* .pragma: opnds, strings */
  HD_S_TARGETS,  /* label sym: .branchtargets / .calltargets (mod): opnds */
  HD_S_PROTO,    /* label sym: .callprototype; the label's `decl` is an index into protos */
  HD_S_RAW,      /* a directive kept as written: sym is its text, terminator included */
} hd_ptx_stmt_kind;

typedef struct hd_ptx_stmt {
  uint8_t kind;
  uint8_t guard_neg; /* @!%p */
  uint16_t n_opnds;
  uint32_t form;       /* HD_S_INST: index into forms */
  hd_sym guard;        /* 0: none */
  uint32_t first_opnd; /* index into opnds */
  uint32_t line;       /* source line, from 1; 0 for generated statements */
  union {
    hd_sym sym;
    uint32_t index;
  };
  hd_mod mod;
} hd_ptx_stmt;

/* ---- Declarations ------------------------------------------------------ */

typedef enum hd_ptx_linkage { /* bits: .weak .extern may come with others */
                              HD_LINK_EXTERN = 1,
                              HD_LINK_VISIBLE = 2,
                              HD_LINK_WEAK = 4,
                              HD_LINK_COMMON = 8,
} hd_ptx_linkage;

typedef struct hd_ptx_var {
  hd_sym sym;      /* for a register range %r<100>: the prefix "%r" */
  uint8_t linkage; /* hd_ptx_linkage bits */
  uint8_t vec;     /* 1, 2, 4, 8 */
  hd_mod space;    /* HD_M_REG HD_M_LOCAL HD_M_SHARED HD_M_PARAM HD_M_CONST HD_M_GLOBAL HD_M_SREG */
  hd_mod type;     /* HD_M_B8 ... HD_M_PRED HD_M_TEXREF ... */
  uint32_t align;  /* bytes; 0: natural */
  uint32_t range;  /* N of %r<N>; 0: a single one */
  uint8_t n_dims;  /* array dimensions */
  bool unsized;    /* the first dimension is [] (its entry in dims is 0) */
  bool ptr;        /* .param ... .ptr: points into ptr_space (0: generic), ptr_align */
  hd_mod ptr_space;
  uint32_t ptr_align;
  uint32_t first_dim; /* index into dims */
  uint32_t init;      /* 1 + index into opnds; 0: none */
  uint32_t bank;      /* .const[N]: N + 1; 0: none */
  hd_sym attribute;   /* text of .attribute(...), without the word; 0: none */
  uint32_t line;
} hd_ptx_var;

/* Bytes of one scalar of this type; 0: unknown, opaque, a predicate or below 8 bits. */
HD_OWN uint64_t hd_ptx_type_size(hd_mod type);

/* A directive of a function: .maxntid 256, 1, 1  or .noreturn */
typedef struct hd_ptx_dir {
  hd_mod name;
  uint8_t n_vals;
  uint32_t vals[4];
  hd_sym text; /* .pragma "..." and unknown ones: everything after the word */
} hd_ptx_dir;

typedef struct hd_ptx_func {
  hd_sym sym; /* 0 for a .callprototype's "_" */
  uint8_t linkage;
  bool entry;                     /* .entry, else .func */
  bool has_body;                  /* else a declaration */
  uint32_t first_ret, n_rets;     /* into vars; space HD_M_PARAM or HD_M_REG */
  uint32_t first_param, n_params; /* into vars */
  uint32_t first_dir, n_dirs;     /* into dirs */
  hd_ptx_stmt *stmts;             /* body, its outer braces not included */
  uint32_t n_stmts;
  uint32_t n_regs; /* dense register numbers used: 0..n_regs-1 */
  uint32_t line;
  const char
      *remark; /* lines printed as comments at the beginning of the body; NULL: none. Never read back */
} hd_ptx_func;

/* The items at module level, in order. */
typedef enum hd_ptx_item_kind {
  HD_I_VAR = 1, /* index: vars */
  HD_I_FUNC,    /* index: funcs */
  HD_I_RAW,     /* .file .section .alias .pragma and unknown ones: index is a
                   symbol whose name is the text, terminator included */
} hd_ptx_item_kind;
typedef struct hd_ptx_item {
  uint8_t kind;
  uint32_t index;
} hd_ptx_item;

typedef struct hd_ptx_module {
  hd_arena *arena;
  const char *name; /* for diagnostics */
  unsigned version_major, version_minor;
  const char *target;    /* "sm_90a, texmode_independent, debug": as written */
  unsigned sm;           /* 90; 0 when there is none */
  uint32_t target_line;  /* of the list's first target */
  unsigned address_size; /* 32 or 64 */
  hd_ptx_item *items;
  uint32_t n_items;
  hd_ptx_func *funcs;
  uint32_t n_funcs;
  hd_ptx_func *protos;
  uint32_t n_protos;
  hd_ptx_var *vars;
  uint32_t n_vars;
  hd_ptx_dir *dirs;
  uint32_t n_dirs;
  hd_ptx_form *forms;
  uint32_t n_forms;
  hd_ptx_opnd *opnds;
  uint32_t n_opnds;
  hd_ptx_sym *syms;
  uint32_t n_syms;
  uint64_t *dims;
  uint32_t n_dims;
  const char **mods;
  uint32_t n_mods; /* spellings of HD_M_COUNT, HD_M_COUNT+1, ... */
  void *priv;      /* parser's tables, for hd_ptx_insert */
} hd_ptx_module;

/* ---- Reading and writing ------------------------------------------------ */

/* Parse text[0..len). `name` is copied and used in diagnostics. The module and
 * all it holds are allocated from *arena. A trailing NUL ends the text (fatbins
 * pad with them). Errors: HD_ERR_INPUT with line, column and source line;
 * HD_ERR_NOMEM when arena->limit is hit. Nesting deeper than 256, more than
 * 2^31 of anything, or text of 4 GB or more is HD_ERR_INPUT. */
HD_API hd_status hd_ptx_parse(const char *text, size_t len, const char *name, hd_arena *arena,
                              hd_ptx_module **out, hd_diag *d);

/* Append the module's text to *out. Canonical: one statement a line. */
HD_OWN hd_status hd_ptx_print(const hd_ptx_module *m, hd_buf *out);
/* The same, but statements that came from a file stay on their source lines if they can (ptxas makes names
 * and line tables of PTX line numbers); comments become blank lines. */
HD_OWN hd_status hd_ptx_print_in_place(const hd_ptx_module *m, hd_buf *out);
/* Append the text of one module with everything that these n texts of modules define, as a linker joins them:
 * if several define the same (.weak, .common), the first stays. Names that are private to a module get its
 * number. */
HD_OWN hd_status hd_ptx_link(const char *const *texts, size_t n, hd_buf *out, hd_diag *d);
/* One statement as it would be printed, without indentation or newline. */
HD_OWN void hd_ptx_print_stmt(const hd_ptx_module *m, const hd_ptx_stmt *s, hd_buf *out);

/* Parse `text` as statements in the scope of funcs[func]'s body (its outermost
 * scope: registers, labels and variables declared there and in the module are
 * visible; declarations in `text` join that scope) and insert them before
 * statement `at`; labels move along. New names must not clash: use a prefix of
 * your own (hd_ptx_fresh_prefix). After a failure the module prints as before. */
HD_OWN hd_status hd_ptx_insert(hd_ptx_module *m, uint32_t func, uint32_t at, const char *text, hd_diag *d);
/* Parse `text`, "(.param .u64 a, .param .u32 b)", and append these to the parameters of funcs[func]; text
 * inserted later sees them. Names must not clash. After a failure the module prints as before. */
HD_OWN hd_status hd_ptx_add_params(hd_ptx_module *m, uint32_t func, const char *text, hd_diag *d);
/* Give funcs[func] these directives in place of its own; `dirs` is copied and may be part of m->dirs. */
HD_OWN hd_status hd_ptx_set_directives(hd_ptx_module *m, uint32_t func, const hd_ptx_dir *dirs, uint32_t n,
                                       hd_diag *d);
/* Parse `text` as module-level items and insert them before item number `at`. */
HD_OWN hd_status hd_ptx_insert_items(hd_ptx_module *m, uint32_t at, const char *text, hd_diag *d);

/* These do not go through text. The form spelled `text`, "ld.global.cg.f32"; it is made if there is none. */
HD_OWN hd_status hd_ptx_add_form(hd_ptx_module *m, const char *text, uint32_t *form, hd_diag *d);
/* Append copies of these operands, which may be the module's own, to m->opnds: consecutive from *first. */
HD_OWN hd_status hd_ptx_add_operands(hd_ptx_module *m, const hd_ptx_opnd *opnds, uint32_t n, uint32_t *first,
                                     hd_diag *d);
/* A new symbol of this name, like symbol `like` otherwise, or a label when that is 0. Statements define it.
 */
HD_OWN hd_status hd_ptx_add_label(hd_ptx_module *m, const char *name, hd_sym like, hd_sym *out, hd_diag *d);
/* Give funcs[func] copies of these statements as its body; labels get their new numbers. */
HD_OWN hd_status hd_ptx_set_body(hd_ptx_module *m, uint32_t func, const hd_ptx_stmt *stmts, uint32_t n,
                                 hd_diag *d);

/* A name prefix ("heddle", "heddle1", ...) that no symbol of the module begins with, a leading % or $ not
 * counted. */
HD_OWN const char *hd_ptx_fresh_prefix(hd_ptx_module *m);

/* ---- Questions ---------------------------------------------------------- */

HD_OWN const char *hd_ptx_op_text(hd_ptx_op op);
HD_OWN const char *hd_ptx_mod_text(const hd_ptx_module *m, hd_mod mod); /* without the dot */
HD_OWN bool hd_ptx_form_has(const hd_ptx_form *f, hd_mod mod);
/* Index into funcs of the kernel (or function) of this name; -1: none. With
 * name NULL: the only kernel, -1 when there is none or more than one. */
HD_API int64_t hd_ptx_find_kernel(const hd_ptx_module *m, const char *name);
HD_OWN int64_t hd_ptx_find_func(const hd_ptx_module *m, const char *name);
/* The directive of this name, or NULL. */
HD_OWN const hd_ptx_dir *hd_ptx_func_dir(const hd_ptx_module *m, const hd_ptx_func *f, hd_mod name);
/* A line of the source that the module was compiled from, as its .loc says. */
typedef struct hd_ptx_source {
  const char *file; /* the last part of its path; not terminated */
  size_t file_len;
  uint32_t line; /* 0: the text does not say */
} hd_ptx_source;
/* Of statement number `stmt` of funcs[func]. */
HD_OWN hd_ptx_source hd_ptx_source_of(const hd_ptx_module *m, uint32_t func, uint32_t stmt);
/* Of the instruction on this line of the module's text. */
HD_OWN hd_ptx_source hd_ptx_source_at(const hd_ptx_module *m, uint32_t line);
/* Checks that the kernel's .reqntid and .maxntid allow such a block. The message of HD_ERR_USAGE says which
 * blocks they allow. */
HD_OWN hd_status hd_ptx_check_block(const hd_ptx_module *m, const hd_ptx_func *f, const uint32_t block[3],
                                    hd_diag *d);
/* Offset of each kernel parameter in the parameter block (natural alignment,
 * as the ABI lays them out); offsets[n_params]; returns the block's size, or
 * UINT64_MAX on overflow. */
HD_OWN uint64_t hd_ptx_param_layout(const hd_ptx_module *m, const hd_ptx_func *f, uint64_t *offsets);
/* Bytes of a variable: element size times vec times dimensions; an open first dimension
 * counts the initialiser's elements, 0 without one. UINT64_MAX on overflow or when the
 * type has no size. References (.texref ...) take 8 bytes. */
HD_OWN uint64_t hd_ptx_var_size(const hd_ptx_module *m, const hd_ptx_var *v);
/* As declared, else natural: the size of one vector. */
HD_OWN uint32_t hd_ptx_var_align(const hd_ptx_var *v);

#ifdef __cplusplus
}
#endif
#endif
