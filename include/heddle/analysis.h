/* heddle/analysis.h: what a kernel's memory accesses touch.
 *
 * hd_analyze takes one kernel of a parsed module, inlines the module's functions, builds the
 * control-flow graph, and finds for every access to global memory (a "site") its address as a
 * polynomial over the launch: CTA and thread ids, loop counters, dimensions and parameters; or the
 * reason why there is none. Nothing is executed.
 *
 * Everything is an index into one of the analysis' arrays, which are plain and public.
 *
 * Exactness. Addresses hold modulo 2^64 as the hardware computes them. Where a 32-bit value is
 * widened, compared, divided or shifted right and its range cannot be bounded from the ranges of
 * its parts, the analysis assumes that it did not wrap and lists the range with every site that
 * rests on it (hd_assumption); hd_point_assumption decides it for a launch and a point. 64-bit
 * integers that are compared, divided or shifted right are taken not to have wrapped.
 */
#ifndef HEDDLE_ANALYSIS_H
#define HEDDLE_ANALYSIS_H

#include "heddle/cfg.h"
#include "heddle/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Values -------------------------------------------------------------------- */

typedef uint32_t hd_poly;   /* index into polys; equal polynomials have equal numbers; 0 is zero */
typedef uint32_t hd_symbol; /* index into symbols; 0 is unused */

/* A value's dependence, from the best to the worst. */
typedef enum hd_level {
  HD_LEVEL_LAUNCH = 0, /* the same for all threads of a launch */
  HD_LEVEL_AFFINE,     /* linear in CTA ids, thread ids and loop counters, coefficients of level LAUNCH */
  HD_LEVEL_QUASI,      /* with floors of divisions by constants, minima, maxima and case distinctions too */
  HD_LEVEL_NONLINEAR,  /* otherwise computed from the launch */
  HD_LEVEL_DATA,       /* depends on what memory holds, or on where and when the CTA runs */
  HD_LEVEL_CALL,       /* depends on code that is not in the module */
  HD_LEVEL_BUDGET,     /* not computed: over the budget */
  HD_LEVEL_COUNT
} hd_level;
HD_OWN const char *hd_level_name(hd_level l);

/* Why a value is no better than NONLINEAR, DATA or CALL. */
typedef enum hd_why {
  HD_WHY_NONE = 0,
  HD_WHY_PRODUCT,     /* product of two quantities that vary */
  HD_WHY_DIVISION,    /* division by a quantity unknown before the launch, of one that varies */
  HD_WHY_BITS,        /* bit operations of two quantities */
  HD_WHY_INSTRUCTION, /* an instruction that has no polynomial form */
  HD_WHY_RECURRENCE,  /* carried around a loop, not in even steps */
  HD_WHY_PATH,        /* one of several values, by a path too involved to follow */
  HD_WHY_LOOP_COUNT,  /* how often a loop ran */
  HD_WHY_LOAD,        /* loaded from memory */
  HD_WHY_EXCHANGE,    /* from other threads: shuffles, votes, atomics */
  HD_WHY_SCHEDULE,    /* where and when the CTA runs */
  HD_WHY_CALL,        /* a call that cannot be followed */
  HD_WHY_UNDEFINED,   /* a register never written */
  HD_WHY_TENSOR_MAP,  /* addressed through a tensor map */
  HD_WHY_COMPLEX,     /* the formula grew too long */
  HD_WHY_BUDGET,
  HD_WHY_COUNT
} hd_why;
HD_OWN const char *hd_why_name(hd_why w); /* "product", "load", ... */
HD_OWN const char *hd_why_text(hd_why w); /* for people */

typedef enum hd_symbol_kind {
  /* variables */
  HD_V_TID = 1, /* a: 0 1 2 for .x .y .z */
  HD_V_CTAID,   /* a: as above */
  HD_V_COUNTER, /* a: loop */
  HD_V_TILE,    /* a: 0 1 2 for x y z of the CTA's cell in hd_analysis.tiles */
  HD_V_TASK,    /* a: loop; ctaid.x + nctaid.x * its counter: the number of the tile that a round works on */
  /* constants of a launch */
  HD_V_NTID,    /* a: 0 1 2 */
  HD_V_NCTAID,  /* a: 0 1 2 */
  HD_V_PARAM,   /* a: parameter, b: byte offset in it; width, is_signed: how its bytes are read */
  HD_V_CONST,   /* a: module variable in .const, b: byte offset; width, is_signed */
  HD_V_ADDRESS, /* a: variable (module->vars); its address in its own space */
  HD_V_WINDOW,  /* a: HD_M_SHARED or HD_M_LOCAL: where that space begins among generic addresses */
  HD_V_SREG,    /* a: HD_SR_..., b: component; other special registers that are fixed for a launch */
  /* functions of polynomials a and b */
  HD_V_FLOOR,  /* floor(a / b), b > 0 */
  HD_V_POS,    /* max(a, 0) */
  HD_V_GE,     /* 1 if a >= 0, else 0 */
  HD_V_EQ,     /* 1 if a == 0, else 0 */
  HD_V_BOTH,   /* a and b are 0 or 1: a * b */
  HD_V_IF,     /* b if a (0 or 1), else 0 */
  HD_V_POW2,   /* 2^a, 0 if a >= 64 */
  HD_V_BITAND, /* two's complement of 64 bits */
  HD_V_BITXOR,
  HD_V_PHI, /* only while the analysis runs */
  /* unknown values; a: instruction */
  HD_V_LOAD,   /* read from memory */
  HD_V_CALL,   /* result of a call that is not inlined */
  HD_V_OPAQUE, /* result b of an instruction that is not modelled */
  HD_V_MERGE,  /* one of several values, by the path taken; a: block, b: number */
  HD_V_RECUR,  /* carried around a loop, not in even steps; a: block, b: number */
  HD_V_EXIT,   /* the counter of loop a when the loop was left */
  HD_V_UNDEF,  /* a register never written */
} hd_symbol_kind;

typedef struct hd_value_symbol {
  uint8_t kind;  /* hd_symbol_kind */
  uint8_t level; /* hd_level */
  uint8_t width; /* PARAM, CONST: bits */
  bool is_signed;
  bool iterates;  /* some loop's counter occurs in it */
  uint8_t varies; /* bits 0..2: tid.xyz, 3..5: ctaid.xyz occur in it */
  uint8_t reason; /* hd_why, of an unknown value */
  uint32_t a, b;
  uint32_t why;   /* level above QUASI: the instruction that makes it so, or HD_NONE */
  int64_t lo, hi; /* its range; INT64_MIN or INT64_MAX: no bound */
} hd_value_symbol;

/* coefficient * product of the symbols factors[first .. first + n), sorted; n 0: the constant term */
typedef struct hd_term {
  int64_t coefficient;
  uint32_t product;
} hd_term;
typedef struct hd_product {
  uint32_t first, n; /* into factors */
} hd_product;
typedef struct hd_polynomial {
  uint32_t first, n; /* into terms, sorted by product; product 0 is the empty one */
  uint8_t level;
  bool iterates;
  uint8_t varies; /* as in hd_value_symbol */
  int64_t lo, hi;
} hd_polynomial;

/* A condition that makes a polynomial form right: lo <= poly <= hi. */
typedef struct hd_assumption {
  hd_poly poly;
  int64_t lo, hi;
  uint32_t inst; /* that rests on it */
} hd_assumption;

/* ---- Sites ------------------------------------------------------------------------ */

typedef enum hd_site_kind {
  HD_SITE_LOAD = 0,
  HD_SITE_STORE,
  HD_SITE_ATOMIC,
  HD_SITE_PREFETCH,
  HD_SITE_COPY_IN,  /* cp.async, cp.async.bulk: global to shared memory */
  HD_SITE_COPY_OUT, /* cp.async.bulk: shared memory to global */
  HD_SITE_COUNT
} hd_site_kind;
HD_OWN const char *hd_site_kind_name(hd_site_kind k);
HD_OWN bool hd_site_reads(hd_site_kind k);
HD_OWN bool hd_site_writes(hd_site_kind k);

/* Something an access is executed under: `poly` is 0 or 1 and is 1 when the access runs. */
typedef struct hd_guard {
  hd_poly poly;
  uint32_t block; /* of the branch; the site's own block: its predicate */
  uint32_t loop;  /* innermost loop around the branch: counters of loops inside it do not occur */
  uint32_t first_assumption, n_assumptions; /* into assumption_lists: what poly rests on */
} hd_guard;

typedef struct hd_site {
  uint32_t inst;     /* into cfg.insts */
  uint32_t line;     /* PTX line */
  uint8_t kind;      /* hd_site_kind */
  uint8_t level;     /* hd_level: the class of its address */
  uint8_t why;       /* hd_why, when the level is above QUASI */
  bool generic;      /* generic address: may be another space if the base is not known */
  bool whole_warp;   /* one access by a whole warp or CTA (wmma, bulk copies): the address is its base */
  uint32_t why_line; /* the instruction to blame; 0: none */
  uint32_t bytes;    /* per thread, vector width included; bulk copies: if it is a constant, else 0 */
  hd_poly address;
  uint32_t param;                 /* the kernel parameter it is based on, or HD_NONE */
  uint32_t param_offset;          /* of the pointer in it, in bytes */
  uint32_t var;                   /* the module variable it is based on (module->vars), or HD_NONE */
  uint32_t first_guard, n_guards; /* into guards: those on the dominator path, outermost first */
  bool guards_complete; /* the access runs exactly when all guards hold (at the counters' values within trips)
                         */
  uint32_t first_assumption, n_assumptions; /* into assumption_lists */
} hd_site;

/* A loop's iterations, as far as they are known; parallel to cfg.loops. */
typedef struct hd_loop_values {
  uint32_t counter; /* the symbol that counts its finished iterations, 0-based; HD_NONE: nothing needed it */
  uint32_t trips;   /* polynomial: how often the back edge is taken; HD_NONE: not known */
  uint32_t rounds;  /* polynomial: how often the body runs, once entered: trips + 1, or trips if the loop is
                       left from its header before that accesses memory; HD_NONE: not known */
  uint32_t first_assumption, n_assumptions; /* into assumption_lists: what trips rests on */
} hd_loop_values;

/* ---- Tiles ---------------------------------------------------------------------------- */

/* The tiles that the CTAs of one launch work on, if the kernel divides the CTA's number itself. */
typedef enum hd_tiles_answer {
  HD_TILES_NONE = 0, /* nothing divides it, or no launch is at hand */
  HD_TILES_LAUNCH,   /* the accesses follow the launch's own ids all the same */
  HD_TILES_FOUND,
  HD_TILES_UNKNOWN, /* no coordinates name each tile once, or the kernel numbers them in an order of its own
                     */
} hd_tiles_answer;

enum { HD_TILES_PARAMS = 8 };

typedef struct hd_tiles {
  hd_tiles_answer answer;
  hd_shape shape; /* found: as shape= takes it; HD_SHAPE_LAUNCH: the tiles are numbered in another order */
  uint32_t n[3];  /* found: tiles along x, y, z */
  const uint32_t *at[3]; /* found: coordinates by the CTA's number */
  uint32_t loop; /* over tiles: round k of CTA c works on tile number c + nctaid.x * k, and formulas of
                    accesses in       it are those of that number's cell; HD_NONE: a tile for each CTA */
  uint32_t line; /* of the first division in the text; 0: none is known */
  uint32_t params[HD_TILES_PARAMS], n_params; /* parameters that divisors are computed from */
} hd_tiles;

/* ---- The analysis ------------------------------------------------------------------- */

typedef struct hd_analysis {
  const hd_ptx_module *module;
  uint32_t func;
  hd_cfg cfg;
  hd_loop_values *loop_values; /* cfg.n_loops */
  hd_value_symbol *symbols;
  uint32_t n_symbols;
  hd_polynomial *polys;
  uint32_t n_polys;
  hd_term *terms;
  uint32_t n_terms;
  hd_product *products;
  uint32_t n_products;
  hd_symbol *factors;
  uint32_t n_factors;
  hd_assumption *assumptions;
  uint32_t n_assumptions;
  uint32_t *assumption_lists;
  uint32_t n_assumption_lists;
  hd_guard *guards;
  uint32_t n_guards;
  hd_site *sites;
  uint32_t n_sites; /* reachable ones, in program order */
  uint64_t work;    /* steps taken; compare hd_analyze_options.work */
  hd_tiles tiles;   /* hd_analyze_launch */
  bool at_launch;   /* the same: numbers stand for arguments */
  bool over_budget; /* some sites were not worked out: their level is BUDGET */
  void *priv;
} hd_analysis;

typedef struct hd_analyze_options {
  uint32_t block[3];  /* %ntid where known; 0: unknown (.reqntid counts as known) */
  uint32_t grid[3];   /* %nctaid where known; 0: unknown */
  uint64_t work;      /* budget in steps, about 20 million a second; 0: 40 million */
  uint32_t max_insts; /* inlining stops above that many instructions; 0: 1,000,000 */
} hd_analyze_options;

/* Analyse kernel `func` of m, which must outlive the result. Errors: HD_ERR_INPUT for a kernel
 * without a body or one that jumps to a label that is not there; HD_ERR_NOMEM. */
HD_OWN hd_status hd_analyze(const hd_ptx_module *m, uint32_t func, const hd_analyze_options *opt,
                            hd_analysis **out, hd_diag *d);
HD_OWN void hd_analysis_free(hd_analysis *a);

typedef struct hd_point hd_point;
/* The same of one launch, whose grid, block and arguments *at gives. Dimensions and arguments are numbers
 * then, but those that addresses are based on. If the kernel divides the CTA's number, a->tiles says which
 * tiles it means, and formulas are in the tiles' coordinates: every part that depends on the CTA alone was
 * worked out in all CTAs (up to 2^17) and is linear in them. */
HD_OWN hd_status hd_analyze_launch(const hd_ptx_module *m, uint32_t func, const hd_point *at,
                                   hd_analysis **out, hd_diag *d);
/* The analysis of the two that says more: of the launch if its grid and arguments decide how more addresses
 * are formed or which tiles CTAs work on, else hd_analyze, which has names in place of numbers. Arguments may
 * be unknown: if constants divide the CTA's number, the grid is enough. Its `tiles` are the launch's in
 * either case. at NULL, or without a grid: hd_analyze. */
HD_OWN hd_status hd_analyze_best(const hd_ptx_module *m, uint32_t func, const hd_point *at, hd_analysis **out,
                                 hd_diag *d);

/* The class of an address at a launch, whichever it is: parameters are numbers there, and so are values at
 * one address, the same for all threads, in memory that the kernel does not write through the same pointer
 * (only the launch shows whether another pointer leads there, too). */
typedef struct hd_launch_class {
  uint8_t level; /* hd_level */
  uint8_t why;   /* hd_why, when the level is above QUASI */
  uint8_t start; /* hd_start */
  uint32_t inst; /* the instruction to blame, or HD_NONE */
} hd_launch_class;
/* An address above QUASI that is still affine or quasi-affine in the threads and loops of each CTA, from a
 * start of the CTA's own. */
typedef enum hd_start {
  HD_START_FORMULA = 0, /* no: all of the address is as the level says */
  HD_START_COMPUTED,    /* from the CTA's number and the arguments, in ways that no formula shows: a root, a
                           search; the level is NONLINEAR */
  HD_START_LOADED,      /* by a load, one for each CTA, as a pointer of a batch; the level is DATA */
  HD_START_COUNT
} hd_start;
/* classes[i]: of site i. */
HD_OWN hd_status hd_classes_at_launch(const hd_analysis *a, hd_launch_class *classes, hd_diag *d);

/* "4*n*ctaid.y + floor(tid.x / 32)": names as CUDA has them, parameters by name, loop counters as
 * k1, k2 (loop number from 1). */
HD_OWN void hd_poly_print(const hd_analysis *a, hd_poly p, hd_buf *out);
/* The name of one of the kernel's parameters; "paramN" for the "KERNEL_param_N" that compilers make of it. */
HD_OWN void hd_param_print(const hd_analysis *a, uint32_t param, hd_buf *out);
/* A guard or assumption in words: "n - 1 - ctaid.x*ntid.x - tid.x >= 0". */
HD_OWN void hd_guard_print(const hd_analysis *a, hd_poly p, hd_buf *out);
HD_OWN void hd_assumption_print(const hd_analysis *a, const hd_assumption *s, hd_buf *out);

/* The coefficient of a variable (tid.*, ctaid.*, a counter) in p: true when p is linear in it and its
 * coefficient is of level LAUNCH (0 when it does not occur). False, too, if p has an unknown value
 * (hd_poly_is_known): that may depend on the variable. */
HD_OWN bool hd_poly_stride(hd_analysis *a, hd_poly p, hd_symbol variable, hd_poly *out);
/* No value occurs in p that differs from thread to thread or from round to round in a way that is not known:
 * what is loaded, rounded from floats, carried around a loop in uneven steps. */
HD_OWN bool hd_poly_is_known(const hd_analysis *a, hd_poly p);
/* The symbol of this kind with these a and b, or HD_NONE when the kernel has none. */
HD_OWN hd_symbol hd_find_symbol(const hd_analysis *a, hd_symbol_kind kind, uint32_t x, uint32_t y);

/* ---- At a launch ----------------------------------------------------------------------- */

/* Values for the symbols. Unknown parts make evaluation fail, and only it. */
struct hd_point {
  uint32_t grid[3], block[3]; /* 0: unknown */
  const void *args;           /* the parameter block (hd_ptx_param_layout), or NULL */
  uint64_t args_bytes;
  uint32_t ctaid[3], tid[3];
  const uint64_t *counters; /* per loop, or NULL */
  /* Address of a module variable (.global, .const), and bytes of one; NULL: unknown. */
  bool (*address)(void *ctx, uint32_t var, uint64_t *out);
  bool (*constant)(void *ctx, uint32_t var, uint32_t offset, void *out, uint32_t bytes);
  void *ctx;
};

/* Evaluate modulo 2^64. False: it depends on something unknown. */
HD_OWN bool hd_poly_eval(const hd_analysis *a, hd_poly p, const hd_point *at, int64_t *out);
HD_OWN bool hd_symbol_eval(const hd_analysis *a, hd_symbol s, const hd_point *at, int64_t *out);
/* 1: it holds at this point, 0: it does not, -1: not known. */
HD_OWN int hd_point_assumption(const hd_analysis *a, const hd_assumption *s, const hd_point *at);

/* Visit the accesses that one thread makes at a site, in its order: counters run up to `trips`, where
 * all guards hold. `visit` returns false to stop. The result: how many were visited; -1 when that is
 * not known: unknown trips or guards, ones that rest on an assumption which does not hold or cannot be
 * decided, more than `limit`. The address' own assumptions are left to `visit`. at->counters is ignored. */
HD_OWN int64_t hd_site_visit(const hd_analysis *a, uint32_t site, const hd_point *at, uint64_t limit,
                             bool (*visit)(void *ctx, const uint64_t *counters, uint64_t address), void *ctx);

/* How a warp's lanes lie to each other. */
typedef struct hd_coalescing {
  bool known;
  uint32_t lanes;   /* threads of the warp */
  uint32_t sectors; /* of 32 bytes, in one request of all of them */
  uint32_t lines;   /* of 128 bytes */
  uint32_t bytes;   /* distinct bytes asked for */
} hd_coalescing;
/* The warp that begins at thread `first` of its CTA. Needs at->block. Where the address itself cannot be
 * evaluated at *at but the lanes' distances can, the lowest lane's address counts as a multiple of 128.
 * Counters not given are 0; predicates and guards are taken to hold. */
HD_OWN hd_coalescing hd_site_coalescing(const hd_analysis *a, uint32_t site, const hd_point *at,
                                        uint32_t first);

#ifdef __cplusplus
}
#endif
#endif
