/* analysis/internal.h: what the passes of one analysis share.
 *
 * hd_analyze runs them in this order; each needs what stands above it:
 *   (cfg)         calls -> one list of instructions, blocks and edges, dominator trees, loops
 *   slots.c       variables that pass values into and out of inlined functions
 *   taint.c       registers that data may have reached, on demand
 *   defs.c        which definition reaches a use: SSA form, made on demand per register
 *   sites.c       the accesses, their classes, guards, bases
 * and, called from there, on demand:
 *   value.c, transfer.c   the polynomial of a definition
 *   merge.c               of a join of paths, or of a loop's header
 *   poly.c, function.c    arithmetic of polynomials, functions of them
 */
#ifndef HEDDLE_ANALYSIS_INTERNAL_H
#define HEDDLE_ANALYSIS_INTERNAL_H

#include "heddle/analysis.h"
#include "heddle/limits.h"
#include "heddle/ptx_facts.h"

enum { AN_WARP = 32 };

/* ---- Instructions ---------------------------------------------------------------- */

/* A .param variable that passes values into or out of an inlined function, cut into the pieces in which
 * it is stored and loaded. It behaves like a register and is numbered behind them. */
typedef struct an_slot {
  uint32_t call; /* the inlined call in whose body the variable is declared */
  hd_sym var;
  uint64_t offset;
  uint32_t bytes;
} an_slot;

/* An open-addressing hash table of numbers; the caller holds the keys. */
typedef struct an_hash {
  uint32_t *slots; /* value + 1; 0: free */
  uint32_t cap, n; /* cap is a power of two */
} an_hash;

/* ---- Definitions ------------------------------------------------------------------- */

/* A value. In this order: what an instruction writes into a register (a definition); how often a loop went
 * round before it was left; what a register holds where paths join (a phi). */
typedef uint32_t an_value;

typedef struct an_def {
  uint32_t inst;
  uint32_t reg; /* register or slot */
} an_def;

typedef struct an_phi {
  uint32_t reg, block;
  an_value *args; /* per predecessor of the block; HD_NONE: undefined */
} an_phi;

/* Where a register that has several definitions gets a new value: blocks, sorted by dom_pre. */
typedef struct an_def_block {
  uint32_t block;
  uint32_t parent;   /* the nearest of these that dominates this one; HD_NONE */
  an_value phi;      /* at its head; HD_NONE */
  uint32_t first, n; /* definitions in it: of the register's own list */
} an_def_block;
typedef struct an_reg_defs {
  an_def_block *blocks;
  uint32_t n_blocks;
} an_reg_defs;

/* ---- Values ----------------------------------------------------------------------------- */

/* What is known of a register's content: it is `poly` modulo 2^width. */
typedef struct an_val {
  hd_poly poly;
  int64_t lo, hi;   /* range of the polynomial */
  uint64_t maybe;   /* bits of the content that may be 1 */
  uint32_t assumes; /* what the polynomial rests on (an_set) */
  uint32_t ranged;  /* what lo, hi and maybe rest on beyond that */
  uint32_t pending; /* lowest number of a phi under evaluation that this rests on; HD_NONE */
  uint8_t width;    /* 1 for predicates, 16, 32, 64 */
  bool undefined;
} an_val;

typedef struct an_active {
  an_value phi;
  uint32_t trail; /* length when it began */
} an_active;

enum { AN_WAITING = 0, AN_ACTIVE, AN_DONE };

/* Sets of assumptions, interned: sorted lists. */
typedef struct an_set {
  uint32_t first, n; /* into set_items */
} an_set;

typedef struct an {
  hd_analysis pub;
  hd_arena arena;
  const hd_ptx_module *m;
  hd_analyze_options opt;
  uint64_t budget;
  int64_t max_block[3], max_threads; /* of a CTA, as the kernel's directives allow */

  /* inline.c */
  HD_VEC(an_slot) slots;
  an_hash slot_hash;

  /* defs.c */
  an_def *defs;
  uint32_t n_defs;
  uint32_t *inst_def;  /* per instruction and one more: its first definition */
  uint32_t *reg_first; /* per register and one more: its definitions in reg_list, in program order */
  uint32_t *reg_list;
  an_reg_defs **reg_defs; /* made on demand */
  HD_VEC(an_phi) phis;
  uint32_t *dom_order;                  /* blocks in preorder of the dominator tree */
  uint32_t *dom_level;                  /* per block: depth in it */
  uint32_t *mark, *heap, *found, *pres; /* scratch, per block */
  uint32_t mark_stamp;
  uint8_t *tainted; /* per register; NULL: not asked for yet */

  /* value.c */
  HD_VEC(an_val) vals;      /* per value */
  HD_VEC(uint8_t) states;   /* per value: AN_... */
  HD_VEC(an_active) active; /* phis under evaluation, outermost first */
  HD_VEC(an_value) trail;   /* values that rest on those */
  HD_VEC(an_value) work;    /* what is being evaluated; each waits for those above it */
  uint32_t n_fresh;         /* unknown values that belong to no instruction */
  bool stop;                /* over budget */

  /* poly.c */
  HD_VEC(hd_value_symbol) symbols;
  HD_VEC(hd_polynomial) polys;
  HD_VEC(hd_term) terms;
  HD_VEC(hd_product) products;
  HD_VEC(hd_symbol) factors;
  HD_VEC(hd_assumption) assumptions;
  HD_VEC(an_set) sets;
  HD_VEC(uint32_t) set_items, set_scratch;
  HD_VEC(uint32_t) range_assumed;  /* per polynomial: the set its range rests on */
  HD_VEC(uint32_t) symbol_assumed; /* likewise, per symbol */
  uint32_t used;                   /* what the simplifications made since the last an_begin rest on */
  HD_VEC(uint32_t) seen, memo;     /* per polynomial: scratch of searches and substitutions */
  uint32_t seen_stamp;
  an_hash symbol_hash, poly_hash, product_hash, assumption_hash, set_hash;
  HD_VEC(uint32_t) list_items, set_lists; /* assumptions by number; per set: where its list begins */
  HD_VEC(hd_guard) guards;
  HD_VEC(hd_site) sites;

  hd_diag *diag;
  jmp_buf out_of_memory;
} an;

/* Who is to blame for a value that is not affine. */
typedef struct an_blame {
  hd_why reason;
  uint32_t inst; /* or HD_NONE */
} an_blame;

/* Memory runs out: leave the analysis altogether. */
_Noreturn void an_nomem(an *a);
#define AN_PUSH(a, v, x)                                                                                     \
  do {                                                                                                       \
    if (!hd_vec_push((v), (x))) an_nomem(a);                                                                 \
  } while (0)

/* In an_phi.args[0]: not looked up yet. */
#define AN_UNRESOLVED (UINT32_MAX - 1)

/* Calls equal(a, value, key) on candidates with this hash; HD_NONE: not there. */
typedef bool (*an_equal)(const an *a, uint32_t value, const void *key);
uint32_t an_hash_find(const an *a, const an_hash *h, uint64_t hash, an_equal equal, const void *key);
typedef uint64_t (*an_rehash)(const an *a, uint32_t value);
void an_hash_add(an *a, an_hash *h, uint64_t hash, uint32_t value, an_rehash rehash);
static inline uint64_t an_mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

/* ---- slots.c ------------------------------------------------------ */

void an_slots(an *a);
/* The register number of a register symbol in the body of `call`. */
static inline uint32_t an_reg(const an *a, uint32_t call, hd_sym sym) {
  return a->pub.cfg.calls[call].reg_base + a->m->syms[sym].index;
}
/* The slot of bytes [offset, offset + bytes) of a .param variable as named in the body of `call`; HD_NONE:
 * it belongs to no inlined call, or is a parameter of the kernel itself. */
uint32_t an_slot_of(an *a, uint32_t call, hd_sym var, uint64_t offset, uint32_t bytes, bool make);
static inline bool an_is_inlined(const an *a, uint32_t inst) { return a->pub.cfg.insts[inst].body != 0; }
static inline const hd_ptx_stmt *an_stmt(const an *a, uint32_t inst) {
  const hd_inst *i = &a->pub.cfg.insts[inst];
  return &a->m->funcs[i->func].stmts[i->stmt];
}
static inline const hd_ptx_form *an_form(const an *a, uint32_t inst) {
  return &a->m->forms[an_stmt(a, inst)->form];
}

/* ---- defs.c ---------------------------------------------------------------------------------- */

void an_defs(an *a);
/* The value of a register just before an instruction; HD_NONE: undefined. */
an_value an_reaching(an *a, uint32_t reg, uint32_t inst);
/* At a block's end. */
an_value an_reaching_out(an *a, uint32_t reg, uint32_t block);
an_value an_reaching_in(an *a, uint32_t reg, uint32_t block);
uint32_t an_value_block(const an *a, an_value v);
static inline an_value an_loop_value(const an *a, uint32_t loop) { return a->n_defs + loop; }
static inline an_value an_first_phi(const an *a) { return a->n_defs + a->pub.cfg.n_loops; }
static inline bool an_is_phi(const an *a, an_value v) { return v >= an_first_phi(a); }
static inline bool an_is_loop(const an *a, an_value v) { return v >= a->n_defs && v < an_first_phi(a); }
/* A phi's values, one per predecessor of its block. */
const an_value *an_phi_args(an *a, an_value v);

/* ---- taint.c: data from memory, other threads or unknown code may be in the register ---- */

bool an_tainted(an *a, uint32_t reg);

/* ---- Assumptions -------------------------------------------------------------------------------------- */

uint32_t an_assume(an *a, uint32_t set, hd_poly p, int64_t lo, int64_t hi, uint32_t inst);
uint32_t an_union(an *a, uint32_t s, uint32_t t);

/* ---- poly.c, function.c
 * -------------------------------------------------------------------------------------- */

void an_poly_init(an *a);
hd_poly an_const(an *a, int64_t c);
hd_poly an_sym(an *a, hd_symbol s);
hd_poly an_add(an *a, hd_poly p, hd_poly q);
hd_poly an_sub(an *a, hd_poly p, hd_poly q);
hd_poly an_scale(an *a, hd_poly p, int64_t c);
hd_poly an_add_const(an *a, hd_poly p, int64_t c);
/* HD_NONE: too large. */
hd_poly an_mul(an *a, hd_poly p, hd_poly q);
/* Coefficients reduced to signed numbers of that many bits. */
hd_poly an_wrap(an *a, hd_poly p, unsigned width);
bool an_is_const(const an *a, hd_poly p, int64_t *c);
/* p with s replaced by q, in functions' arguments too; HD_NONE: too large. */
hd_poly an_subst(an *a, hd_poly p, hd_symbol s, hd_poly q);
bool an_mentions(an *a, hd_poly p, hd_symbol s);
/* Something that may change from one iteration of the loop to the next. */
bool an_mentions_loop(an *a, hd_poly p, uint32_t loop);
/* p = step * s + rest, neither holding s: false when s occurs otherwise. */
bool an_linear_in(an *a, hd_poly p, hd_symbol s, hd_poly *step, hd_poly *rest);

hd_symbol an_symbol(an *a, hd_value_symbol s); /* interned on kind, a, b, width, is_signed */
/* An unknown value. */
hd_poly an_unknown(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, hd_level level, an_blame blame);
/* What keeps p from a better level. */
an_blame an_culprit(const an *a, hd_poly p);
/* The range is a fact about the polynomial itself, or follows from that assumption. */
void an_note_range(an *a, hd_poly p, int64_t lo, int64_t hi, uint32_t assumed);

/* Functions, simplified where they can be. HD_NONE in, HD_NONE out, here and above. */
hd_poly an_floor(an *a, hd_poly p, hd_poly divisor, uint32_t inst);
hd_poly an_floor_const(an *a, hd_poly p, int64_t divisor, uint32_t inst);
hd_poly an_max0(an *a, hd_poly p);
hd_poly an_ge0(an *a, hd_poly p);
hd_poly an_eq0(an *a, hd_poly p);
hd_poly an_not(an *a, hd_poly p); /* 1 - p */
hd_poly an_both(an *a, hd_poly p, hd_poly q);
hd_poly an_either(an *a, hd_poly p, hd_poly q);
hd_poly an_if(an *a, hd_poly cond, hd_poly p); /* cond ? p : 0 */
hd_poly an_bits(an *a, hd_symbol_kind kind, hd_poly p, hd_poly q, uint32_t inst);
hd_poly an_pow2(an *a, hd_poly p, uint32_t inst);
bool an_is_bool(const an *a, hd_poly p);

/* Greatest common divisor of the coefficients but the constant term's; 0: there are none. */
int64_t an_content(const an *a, hd_poly p, int64_t *constant);
hd_poly an_divide_exact(an *a, hd_poly p, int64_t d); /* every coefficient is a multiple of d */
/* p = d * result + *rest, the rest's coefficients below d and of their signs, its constant in 0 .. d - 1. */
hd_poly an_multiples(an *a, hd_poly p, int64_t d, hd_poly *rest);
bool an_is_function(uint8_t kind); /* hd_symbol_kind whose a (and b) are polynomials */
/* A loop's counter is at most hi. */
void an_note_counter(an *a, hd_symbol k, int64_t hi, uint32_t assumed);

typedef struct an_range {
  int64_t lo, hi; /* INT64_MIN, INT64_MAX: no bound */
} an_range;
an_range an_range_add(an_range x, an_range y);
an_range an_range_mul(an_range x, an_range y);

/* A decision about p made use of its range. */
static inline void an_rely(an *a, hd_poly p) {
  if (a->range_assumed.data[p]) a->used = an_union(a, a->used, a->range_assumed.data[p]);
}

/* The power of two that divides every value of p: 0..63; p is not 0. */
unsigned an_trailing_zeros(const an *a, hd_poly p);

/* ---- value.c ------------------------------------------------------------------------------ */

/* Evaluate all that was asked for; false: over budget. */
bool an_run(an *a);
/* For the functions that evaluate one value. false: it is not there yet and has been asked for; they
 * return false as well, and are called again when it is. */
bool an_get(an *a, an_value v, an_val *out);
unsigned an_reg_width(const an *a, uint32_t reg); /* bits; 1: a predicate */
/* The same, as seen in block `at`: counters of loops left meanwhile become exit counts. */
bool an_get_at(an *a, an_value v, uint32_t at, an_val *out);
bool an_leave_loops(an *a, an_val *v, uint32_t from_block, uint32_t to_block);
/* An operand of an instruction. */
bool an_operand(an *a, uint32_t inst, const hd_ptx_opnd *o, unsigned width, an_val *out);
hd_poly an_ntid(an *a, uint32_t part);
/* The instruction's predicate: 1 where it runs. */
bool an_guard(an *a, uint32_t inst, an_val *out);
/* The condition under which a block's first successor follows it. */
bool an_branch(an *a, uint32_t block, an_val *out);

an_val an_val_of(an *a, hd_poly p, unsigned width); /* p is not HD_NONE */
/* Of the parts' level where p is HD_NONE: too large. */
an_val an_val_from(an *a, hd_poly p, unsigned width, const an_val *x, const an_val *y);
an_val an_val_unknown(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, hd_level level, an_blame blame,
                      unsigned width);
/* Raise *level to that of a part (which may be NULL), which is then to blame. */
void an_raise(an *a, const an_val *part, hd_level *level, an_blame *blame);
/* Take over assumptions and what the value rests on. */
void an_inherit(an *a, an_val *to, const an_val *from);
/* What was decided since an_begin goes into the value's assumptions. */
static inline void an_begin(an *a) { a->used = 0; }
void an_end(an *a, an_val *v);
/* The range of an operand decides something: the result rests on what the range does. */
void an_use_range(an *a, an_val *v);
void an_known_range(an *a, an_val *v, int64_t lo, int64_t hi);
/* The value as an integer of its width, signed or unsigned: proven or assumed. */
an_val an_extend(an *a, const an_val *v, bool is_signed, uint32_t inst);
an_val an_select(an *a, const an_val *cond, const an_val *yes, const an_val *no);

/* ---- transfer.c, bits.c: what a definition's instruction writes ---------------------------- */

bool an_transfer(an *a, uint32_t d, an_val *out);

/* ---- merge.c: what a phi holds, how often a loop goes round -------------------------------- */

bool an_merge(an *a, an_value phi, an_val *out);
bool an_trips(an *a, uint32_t loop, an_val *out);

/* ---- sites.c
 * ------------------------------------------------------------------------------------------------ */

void an_sites(an *a);
/* Make the arrays grown meanwhile visible to the caller. */
void an_publish(an *a);

#endif
