/* analysis/internal.h: the data of one analysis, shared by its passes.
 *
 * hd_analyze runs them in this order; each needs what stands above it:
 *   (cfg)         calls -> one list of instructions, blocks and edges, dominator trees, loops
 *   slots.c       variables that pass values into and out of inlined functions
 *   taint.c       registers that data, or the thread's number, may have reached, on demand
 *   defs.c        which definition reaches a use: SSA form, made on demand per register
 *   sites.c       the accesses, their classes, guards, bases
 * and, called from there, on demand:
 *   value.c, transfer.c   the polynomial of a definition (arithmetic.c, bits.c, value_moves.c)
 *   merge.c               of a join of paths, or of a loop's header
 *   trips.c               how often a loop goes round
 * With a launch at hand, at_launch.c runs before and tiles.c (cells.c) behind them.
 *   poly.c, poly_symbols.c, poly_function.c, assumptions.c   arithmetic of polynomials (algebra.h)
 */
#ifndef HEDDLE_ANALYSIS_INTERNAL_H
#define HEDDLE_ANALYSIS_INTERNAL_H

#include "analysis/algebra.h"
#include "heddle/limits.h"
#include "heddle/ptx_facts.h"

enum { AN_WARP = 32, AN_AXES = 3 };

/* ---- Instructions ---------------------------------------------------------------- */

/* A .param variable that passes values into or out of an inlined function, cut into the pieces in which
 * it is stored and loaded. It behaves like a register and is numbered behind them. */
typedef struct an_slot {
  uint32_t call; /* the inlined call in whose body the variable is declared */
  hd_sym var;
  uint64_t offset;
  uint32_t bytes;
} an_slot;

/* ---- Definitions ------------------------------------------------------------------- */

/* A value. Numbers are given in this order: definitions (an instruction writes a register), iteration counts
 * of loops that were left, and phis (a register where paths join). */
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

/* The content of a register, as far as it is known: `poly` modulo 2^width. */
typedef struct an_val {
  hd_poly poly;
  int64_t lo, hi;   /* range of the polynomial */
  uint64_t maybe;   /* bits of the content that may be 1 */
  uint32_t assumes; /* the polynomial's assumptions (an_set) */
  uint32_t ranged;  /* those of lo, hi and maybe beyond these */
  uint32_t pending; /* lowest number of a phi under evaluation that this rests on; HD_NONE */
  uint8_t width;    /* 1 for predicates, 16, 32, 64 */
  bool undefined;
} an_val;

typedef struct an_active {
  an_value phi;
  uint32_t trail; /* length when it began */
} an_active;

enum { AN_WAITING = 0, AN_ACTIVE, AN_DONE };

/* slots.c: the pieces of variables that pass values. */
typedef struct an_slot_table {
  AN_VEC(an_slot) list;
  an_hash hash;
} an_slot_table;

/* defs.c: the definition that reaches a use. */
typedef struct an_ssa {
  an_def *defs;
  uint32_t n_defs;
  uint32_t *inst_def;  /* per instruction and one more: its first definition */
  uint32_t *reg_first; /* per register and one more: its definitions in reg_list, in program order */
  uint32_t *reg_list;
  an_reg_defs **reg_defs; /* made on demand */
  AN_VEC(an_phi) phis;
  uint32_t *dom_order;                  /* blocks in preorder of the dominator tree */
  uint32_t *dom_level;                  /* per block: depth in it */
  uint32_t *mark, *heap, *found, *pres; /* scratch, per block */
  uint32_t mark_stamp;
  uint8_t *tainted; /* taint.c: per register, what reached it; NULL: not asked for yet */
} an_ssa;

/* value.c: the values, and the state of their evaluation. */
typedef struct an_evaluation {
  AN_VEC(an_val) vals;      /* per value */
  AN_VEC(uint8_t) states;   /* per value: AN_... */
  AN_VEC(an_active) active; /* phis under evaluation, outermost first */
  AN_VEC(an_value) trail;   /* values that rest on those */
  AN_VEC(an_value) work;    /* values under evaluation; each waits for those above it */
  uint32_t n_fresh;         /* unknown values that belong to no instruction */
  bool stop;                /* over budget */
} an_evaluation;

/* A coordinate of a box that an instruction copies through a tensor map: no address, but the tile is in it.
 */
typedef struct an_place {
  hd_poly at;
  uint32_t inst;
} an_place;

/* sites.c: the part that the caller sees. */
typedef struct an_result {
  AN_VEC(hd_site) sites;
  AN_VEC(hd_guard) guards;
  AN_VEC(an_place) places;     /* for tiles.c */
  AN_VEC(uint32_t) list_items; /* assumptions by number */
  AN_VEC(uint32_t) set_lists;  /* per set of assumptions: where its list begins; HD_NONE */
} an_result;

/* A pointer among the parameters. */
typedef struct an_base {
  uint32_t param, offset;
} an_base;

typedef struct an {
  hd_analysis pub;
  hd_arena arena; /* holds everything; leaves by out_of_memory */
  jmp_buf out_of_memory;
  hd_diag *diag;
  const hd_ptx_module *m;
  hd_analyze_options opt;
  const hd_point *launch; /* hd_analyze_launch; else NULL */
  AN_VEC(an_base) bases;  /* then: parameters that stay symbols */
  uint64_t budget;
  uint64_t *param_offsets, param_bytes; /* of the parameter block; UINT64_MAX: not known */
  int64_t max_block[3], max_threads;    /* of a CTA, as the kernel's directives allow */
  an_slot_table slots;
  an_ssa ssa;
  an_evaluation eval;
  an_algebra alg;
  an_result result;
} an;

/* In an_phi.args[0]: not looked up yet. */
#define AN_UNRESOLVED (UINT32_MAX - 1)

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
static inline an_value an_loop_value(const an *a, uint32_t loop) { return a->ssa.n_defs + loop; }
static inline an_value an_first_phi(const an *a) { return a->ssa.n_defs + a->pub.cfg.n_loops; }
static inline bool an_is_phi(const an *a, an_value v) { return v >= an_first_phi(a); }
static inline bool an_is_loop(const an *a, an_value v) { return v >= a->ssa.n_defs && v < an_first_phi(a); }
/* A phi's values, one per predecessor of its block. */
const an_value *an_phi_args(an *a, an_value v);

/* ---- taint.c: data from memory, other threads or unknown code may be in the register ------------- */

bool an_tainted(an *a, uint32_t reg);
/* Neither that nor the thread's number: the CTA's number and the launch's arguments decide what the register
 * holds, on every path and in every round. */
bool an_is_of_cta(an *a, uint32_t reg);

/* ---- value.c ------------------------------------------------------------------------------ */

/* Evaluate all values on the stack; false: over budget. */
bool an_run(an *a);
/* For the functions that evaluate one value. False: the value is not known yet and was put on the stack; the
 * caller returns false too, and is called again when it is known. */
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
/* The value p, computed from x and y; where p is HD_NONE (too large), an unknown value of their level. */
an_val an_val_from(an *a, hd_poly p, unsigned width, const an_val *x, const an_val *y);
an_val an_val_unknown(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, hd_level level, an_blame blame,
                      unsigned width);
/* The register's value in the block, if that is no level above NONLINEAR, is one number for all threads of a
 * CTA and for all rounds of loops. */
bool an_decided_by_cta(an *a, uint32_t reg, uint32_t block);
an_val an_val_of_cta(an *a, hd_symbol_kind kind, uint32_t x, uint32_t y, an_blame blame, unsigned width);
/* Raise *level to that of a part (which may be NULL), which is then to blame. */
void an_raise(an *a, const an_val *part, hd_level *level, an_blame *blame);
/* Take over assumptions and pending phis. */
void an_inherit(an *a, an_val *to, const an_val *from);
/* Add the assumptions collected since an_begin to the value's. */
void an_end(an *a, an_val *v);
/* The range of an operand decides something: the result rests on the range's assumptions. */
void an_use_range(an *a, an_val *v);
/* Of the polynomial: where a result was reduced to its width, the polynomial is another one, and the range
 * not its. */
void an_known_range(an *a, an_val *v, int64_t lo, int64_t hi);
/* The value as an integer of its width, signed or unsigned: proven or assumed. */
an_val an_extend(an *a, const an_val *v, bool is_signed, uint32_t inst);
an_val an_select(an *a, const an_val *cond, const an_val *yes, const an_val *no);

/* ---- transfer.c: what a definition's instruction writes ---------------------------- */

bool an_transfer(an *a, uint32_t d, an_val *out);

/* ---- merge.c, trips.c: what a phi holds, how often a loop goes round ----------------------- */

bool an_merge(an *a, an_value phi, an_val *out);
bool an_trips(an *a, uint32_t loop, an_val *out);
hd_symbol an_counter(an *a, uint32_t loop); /* of the loop's rounds; made when first asked for */

/* ---- sites.c --------------------------------------------------------------------------------- */

void an_sites(an *a);
/* ---- at_launch.c, tiles.c: one launch ------------------------------------------------------- */

/* `plain`: the analysis without arguments. */
hd_status an_prepare_launch(an *a, const hd_analysis *plain);
/* The number that a parameter holds; false: it stays a symbol. */
bool an_argument(const an *a, const hd_value_symbol *param, int64_t *out);
/* at_point.c: the same from the bytes at a point. */
bool an_param_value(const hd_analysis *a, const hd_value_symbol *param, const hd_point *at, int64_t *out);
/* tile_loop.c: the loop over tiles of a persistent kernel, whose accesses are then formulas in HD_V_TASK;
 * HD_NONE: there is none. */
uint32_t an_find_tile_loop(an *a, const hd_point *at, uint64_t *tasks);
/* After an_sites. */
hd_status an_find_tiles(an *a, const hd_point *at);

/* Make the arrays grown meanwhile visible to the caller. */
void an_publish(an *a);

#endif
