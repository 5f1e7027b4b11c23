/* The parser's data: tables of a module, kept for later insertions (ptx_tables, in the module's arena), and
 * the state of one parse (ptx_parser).
 *
 * How names are resolved. Every name is interned once per module (ptx_name) and knows its meaning at the
 * current place: its innermost visible declaration. Declaring a name pushes the meaning it had on a stack,
 * closing a scope pops. Looking a name up is therefore one hash lookup, whatever the nesting.
 *
 * A register range (.reg .b32 %r<100>) declares its prefix. %r17 is resolved by
 * the prefix %r and the number 17, and gets a symbol when it is first used; names
 * of single registers, labels, variables and functions are looked up whole.
 *
 * Labels may be used before they are defined, and each { } has its own. A name
 * that is not a register, variable or function is noted (ptx_pending) and resolved
 * when its scope closes, or handed to the enclosing scope.
 */
#ifndef PTX_PARSER_H
#define PTX_PARSER_H

#include "heddle/ptx.h"
#include "ptx/map.h"

#include <setjmp.h>

enum { PTX_MAX_DEPTH = 256, PTX_REG_CACHE = 64 };

typedef struct ptx_name {
  const char *text;
  uint32_t len;
  hd_sym sym;     /* the innermost visible declaration; 0: none */
  uint32_t scope; /* its depth: 0 module, 1 function, 2... nested */
  uint32_t range; /* 1 + index of the innermost visible range with this prefix; 0: none. A
                     register %r and a range %r<10> may exist side by side */
} ptx_name;

typedef struct ptx_range {
  uint32_t var;   /* its declaration */
  uint32_t count; /* N of %r<N> */
  uint32_t scope; /* depth of the declaration */
  uint32_t outer; /* as ptx_name.range: the range of this prefix that it hides in part */
  hd_sym *dense;  /* the symbols of its registers, 0: not used so far; or NULL */
  bool shadowed;  /* a single register named like one of this range was declared */
} ptx_range;

/* A register of a range that has no table of its own: one that was declared far larger
 * than the text could make use of. */
typedef struct ptx_sparse {
  uint32_t var, number;
  hd_sym sym;
} ptx_sparse;

typedef struct ptx_tables {
  ptx_map words; /* opcodes and modifiers; see words.c */
  ptx_map name_map, form_map, sparse_map;
  bool plain_ranges; /* some range's prefix does not begin with '%' */
  ptx_name *names;
  ptx_range *ranges;
  ptx_sparse *sparse;
  uint32_t n_names, cap_names, n_ranges, cap_ranges, n_sparse, cap_sparse;
  /* hd_ptx_fresh_prefix: symbols that were looked at, and the least number that no name among them has. */
  uint32_t prefix_syms;
  uint64_t prefix_next;
  /* Capacities of the module's arrays. */
  uint32_t cap_items, cap_funcs, cap_protos, cap_vars, cap_dirs, cap_forms, cap_opnds, cap_syms, cap_dims,
      cap_mods;
} ptx_tables;

/* The meaning of a name before a declaration hid it. */
typedef struct ptx_undo {
  uint32_t name, scope, range;
  hd_sym sym;
} ptx_undo;

/* opnds[opnd] names something that is not declared so far. */
typedef struct ptx_pending {
  uint32_t opnd, name;
} ptx_pending;

typedef struct ptx_parser {
  const char *text; /* private, padded; see lexer.h */
  size_t len;
  uint32_t line;  /* of the position being parsed, from 1 */
  uint32_t depth; /* open scopes: 0 module, 1 function body */
  hd_ptx_module *m;
  ptx_tables *t;
  hd_arena *arena;
  const char *diag_name;
  hd_diag *diag;
  hd_status status; /* set by ptx_fail before it jumps */
  jmp_buf escape;
  bool generated;      /* inserted text: its statements have line 0 */
  bool call;           /* in a call instruction, where ( ) is a list */
  uint32_t n_regs;     /* of the function being parsed */
  unsigned linkage;    /* of the variable being declared */
  size_t dense_budget; /* entries that ptx_range.dense may still take in all */

  struct ptx_reg_slot {
    uint64_t key; /* the prefix's bytes, at most 7, as a number; 0: free */
    ptx_range *range;
  } reg_cache[PTX_REG_CACHE]; /* at ptx_reg_hash(key) */

  /* Operands of the statement being parsed, innermost list last. Those with
   * PTX_OF_PENDING set have a name's index in sym. */
  HD_VEC(hd_ptx_opnd) stack;
  uint32_t n_unresolved; /* operands on the stack with PTX_OF_PENDING */
  HD_VEC(hd_ptx_stmt) stmts;
  HD_VEC(ptx_undo) undo;
  HD_VEC(ptx_pending) pending;
  struct {
    uint32_t undo, pending;
  } scope[PTX_MAX_DEPTH + 2];
} ptx_parser;

static inline unsigned ptx_reg_hash(uint64_t key) {
  return (unsigned)((key * 0x9E3779B97F4A7C15ull) >> 32) % PTX_REG_CACHE;
}

enum { PTX_OF_PENDING = 0x80 }; /* in hd_ptx_opnd.flags, while parsing only */

/* ---- Arrays (module.c) ------------------------------------------------------- */

/* A copy of data[0..n) in the arena, with twice the capacity. More than 2^31 elements
 * are an input error that says what they are. */
void *ptx_grow(ptx_parser *ps, const void *data, uint32_t n, uint32_t *cap, size_t elem, const char *what);
_Noreturn void ptx_out_of_memory(ptx_parser *ps);

/* Make room for one more in module array `f`. */
#define PTX_ROOM(ps, f)                                                                                      \
  ((ps)->m->n_##f < (ps)->t->cap_##f                                                                         \
       ? (void)0                                                                                             \
       : (void)((ps)->m->f =                                                                                 \
                    ptx_grow((ps), (ps)->m->f, (ps)->m->n_##f, &(ps)->t->cap_##f, sizeof *(ps)->m->f, #f)))
/* Append to module array `f`; its index is then m->n_f - 1. */
#define PTX_PUSH(ps, f, ...) (PTX_ROOM(ps, f), (void)((ps)->m->f[(ps)->m->n_##f++] = (__VA_ARGS__)))
/* Append to a heap vector of the parser. */
#define PTX_VEC_PUSH(ps, v, ...) (hd_vec_push(&(ps)->v, __VA_ARGS__) ? (void)0 : ptx_out_of_memory(ps))

/* ---- Words (words.c) --------------------------------------------------------- */

void ptx_words_init(ptx_parser *ps);
/* The modifier spelt text[0..n); an unknown one gets a new number. */
hd_mod ptx_mod(ptx_parser *ps, const char *text, size_t n, const char *at);
/* HD_SR_... or HD_SR_NONE. */
uint32_t ptx_sreg(const char *text, size_t n);
/* Index of the form text[0..n), "ld.global.f32"; text lies in the padded source. */
uint32_t ptx_form(ptx_parser *ps, const char *text, size_t n, const char *at);

/* ---- Symbols (symbols.c) ----------------------------------------------------- */

hd_sym ptx_new_sym(ptx_parser *ps, hd_ptx_sym s);
/* A symbol that only carries text (a raw directive, a string): kind HD_SYM_UNDEF. */
hd_sym ptx_text_sym(ptx_parser *ps, const char *text, size_t n);
/* Index of the name text[0..n), interned. */
uint32_t ptx_intern(ptx_parser *ps, const char *text, size_t n);
/* Declare the name text[0..n) in the current scope as s (s.name and s.len are set here). Fails when the scope
 * has it already, unless the module only knows it as undefined or external. */
hd_sym ptx_declare(ptx_parser *ps, const char *text, size_t n, hd_ptx_sym s);
/* The same for a range of `count` registers, declared by variable s.decl. */
hd_sym ptx_declare_range(ptx_parser *ps, const char *text, size_t n, hd_ptx_sym s, uint32_t count);
/* Make the name of a variable or label declared before visible in this scope again. */
void ptx_rebind(ptx_parser *ps, hd_sym sym);
void ptx_rebind_range(ptx_parser *ps, hd_sym prefix);
/* The symbol the name text[0..n) means here; 0: none so far, *name is its index. */
hd_sym ptx_lookup(ptx_parser *ps, const char *text, size_t n, uint32_t *name);
/* The symbol of register `number` (below r->count) of a range. */
hd_sym ptx_range_reg(ptx_parser *ps, ptx_range *r, uint32_t number);
void ptx_scope_open(ptx_parser *ps, const char *at);
void ptx_scope_close(ptx_parser *ps);
/* Give names that are still pending their module-wide symbols. */
void ptx_resolve_rest(ptx_parser *ps, size_t from);
/* Drop all bindings down to undo entry `mark`, whatever scope made them. */
void ptx_unbind(ptx_parser *ps, size_t mark);

/* ---- Grammar ------------------------------------------------------------------- *
 *
 * Functions named after what they read take the position of its first character,
 * and return the position of the first character behind it and the blanks after it. */

/* Constant expressions (expr.c): HD_O_INT, HD_O_F32 or HD_O_F64. */
const char *ptx_expr(ptx_parser *ps, const char *p, hd_ptx_opnd *out);
const char *ptx_int_expr(ptx_parser *ps, const char *p, int64_t *out);

/* Operands (operand.c). */
/* All operands of a statement: opnds[*first .. *first + *n). */
const char *ptx_operands(ptx_parser *ps, const char *p, uint32_t *first, size_t *n);
/* Move the stack from `base` up into the module; returns the first one's index. */
uint32_t ptx_flush(ptx_parser *ps, size_t base);
/* A register that must be declared. */
const char *ptx_reg_operand(ptx_parser *ps, const char *p, hd_sym *sym);
/* An initialiser; *init is 1 + its index in opnds. */
const char *ptx_initialiser(ptx_parser *ps, const char *p, uint32_t *init);

/* Variables (decl.c). */
/* True when a directive of this name declares variables. */
bool ptx_declares(hd_mod word);
/* Linkage bit of .extern .visible .weak .common; 0: none of them. */
unsigned ptx_linkage_bit(hd_mod word);
/* A variable directive and its ';'. `linkage` has been read before. The variables
 * are the last ones of the module's. */
const char *ptx_var_directive(ptx_parser *ps, const char *p, unsigned linkage);
/* "( parameters )", the last ones of the module's variables. */
const char *ptx_params(ptx_parser *ps, const char *p, uint32_t *first, uint32_t *n);

/* "(...)" of an .attribute, as text. */
const char *ptx_attribute(ptx_parser *ps, const char *p, hd_sym *out);

/* Functions (func.c). */
/* .entry or .func, p behind that word: one more of funcs. */
const char *ptx_function(ptx_parser *ps, const char *p, bool entry, unsigned linkage, uint32_t line);
/* .callprototype, p behind that word, and its ';': one more of protos. */
const char *ptx_prototype(ptx_parser *ps, const char *p, uint32_t line);

/* Statements up to the '}' that closes the first one's block, or up to the end of
 * the text (body.c), appended to ps->stmts. */
const char *ptx_statements(ptx_parser *ps, const char *p);
/* Set the numbers of the labels that stmts[0..n) define. */
void ptx_number_labels(hd_ptx_module *m, const hd_ptx_stmt *stmts, uint32_t n);

/* Module-level items up to the end of the text (module.c). */
void ptx_items(ptx_parser *ps, const char *p);

/* Set up a parser over a private copy of text[0..len), run fn under its escape, and free the parser's own
 * memory. */
hd_status ptx_run(hd_ptx_module *m, const char *text, size_t len, const char *name, bool generated,
                  hd_diag *d, void (*fn)(ptx_parser *ps, const char *p, void *ctx), void *ctx);

#endif
