/* polyhedral/internal.h: a kernel's accesses at one launch, between the two methods.
 *
 *   substituted.c  polynomials with the launch's values put in
 *   site_footprint.c  a site's addresses as a linear form over those variables that matter
 *   stretches.c   an array's sites over the whole launch
 *   listing.c     the lines of each CTA, as intervals
 *   relation.c    the same as isl relations
 *   polyhedral.c  arrays, both methods, MAP's algorithm
 */
#ifndef HEDDLE_POLYHEDRAL_INTERNAL_H
#define HEDDLE_POLYHEDRAL_INTERNAL_H

#include "heddle/polyhedral.h"

/* Variables: ctaid.xyz, tid.xyz, then counters: of the loops around a site, outermost first, and of other
 * loops that assumptions may mention. */
enum {
  POLYHEDRAL_TID = 3,
  POLYHEDRAL_COUNTER = 6,
  POLYHEDRAL_LOOPS = 10,
  POLYHEDRAL_VARS = POLYHEDRAL_COUNTER + POLYHEDRAL_LOOPS,
  POLYHEDRAL_FUNCTIONS = 24, /* unresolved ones in a linear form */
};

/* ---- Forms --------------------------------------------------------------------------- */

typedef struct polyhedral_term {
  int64_t coefficient;
  uint32_t what; /* variable, or POLYHEDRAL_VARS + function */
} polyhedral_term;

/* A sum of multiples of variables and functions. */
typedef struct polyhedral_form {
  uint32_t first, n; /* into terms */
  int64_t constant;
} polyhedral_form;

typedef struct polyhedral_function {
  uint8_t kind;     /* hd_symbol_kind; 0: the product of a and b */
  uint32_t a, b;    /* forms */
  uint32_t vars;    /* bit per variable that occurs in it */
  uint32_t nesting; /* of functions in its arguments */
} polyhedral_function;

/* The forms of one site: its loops number the counters. */
typedef struct polyhedral_forms {
  const hd_analysis *a;
  hd_point at;
  uint32_t *loops; /* per loop of the kernel: its variable, or HD_NONE */
  HD_VEC(polyhedral_form) forms;
  HD_VEC(polyhedral_term) terms;
  HD_VEC(polyhedral_function) functions;
  uint64_t *work; /* counts ranges of functions, the greater part of the cost */
  bool no_memory;
} polyhedral_forms;

/* The form of p, or HD_NONE: it depends on unknown values, or is too large. */
uint32_t polyhedral_form_of(polyhedral_forms *f, hd_poly p);

typedef struct polyhedral_box {
  int64_t lo[POLYHEDRAL_VARS], hi[POLYHEDRAL_VARS];
} polyhedral_box;

/* A form over a box, simplified by the ranges of the box. */
typedef struct polyhedral_linear {
  int64_t constant, coefficient[POLYHEDRAL_VARS];
  uint32_t function[POLYHEDRAL_FUNCTIONS]; /* those that the box does not decide */
  int64_t times[POLYHEDRAL_FUNCTIONS];
  uint32_t n_functions;
  uint32_t loose; /* variables in these functions */
} polyhedral_linear;

/* False: numbers too large. */
bool polyhedral_flatten(const polyhedral_forms *f, uint32_t form, const polyhedral_box *box,
                        polyhedral_linear *out);
bool polyhedral_range(const polyhedral_forms *f, uint32_t form, const polyhedral_box *box, int64_t *lo,
                      int64_t *hi);
uint32_t polyhedral_variables(const polyhedral_linear *l); /* bit per variable that occurs */
bool polyhedral_function_value(const polyhedral_forms *f, uint32_t function, const int64_t *point,
                               int64_t *out);
bool polyhedral_value(const polyhedral_forms *f, uint32_t form, const int64_t *point, int64_t *out);

/* ---- Sites ------------------------------------------------------------------------------ */

typedef struct polyhedral_condition {
  uint32_t form;
  int64_t lo, hi;
  uint32_t after; /* must hold where that many guards do */
} polyhedral_condition;

typedef struct polyhedral_site {
  polyhedral_forms forms;
  uint32_t site;
  uint32_t bytes;
  uint32_t address;          /* form */
  uint32_t n_vars, n_around; /* n_around: loops around it */
  uint32_t trips[POLYHEDRAL_LOOPS];
  uint32_t *guards; /* forms: 0 or 1 */
  uint32_t n_guards;
  polyhedral_condition *assumed;
  uint32_t n_assumed;
} polyhedral_site;

/* Addresses count from `origin`, the start of a line. HD_INEXACT_NO, or why there is no form. */
hd_polyhedral_inexact polyhedral_site_open(polyhedral_site *s, const hd_analysis *a, uint32_t site,
                                           const hd_point *at, int64_t origin, uint64_t *work);
void polyhedral_site_close(polyhedral_site *s);

/* A stretch of addresses that is repeated: base + sum of stride * (0 .. n-1) + [0, width). */
typedef struct polyhedral_dim {
  int64_t stride; /* > 0 */
  int64_t n;      /* > 1 */
} polyhedral_dim;

/* A site over a part of the launch. Variables are bound, when something but the linear address depends on
 * them, or free: those are folded into width and dims at the granularity of lines. */
typedef struct polyhedral_footprint {
  bool never; /* the site does not run */
  polyhedral_box box;
  polyhedral_linear address;  /* coefficients of free variables are 0 */
  uint32_t bound;             /* bit per variable; CTA coordinates are never free */
  uint32_t trips;             /* bit per loop: its trips are not a constant */
  uint32_t *guards, n_guards; /* those left: numbers in the site's guards */
  uint32_t n_assumed;         /* some assumptions are left; all are to be tried */
  int64_t width;
  polyhedral_dim dims[POLYHEDRAL_VARS];
  uint32_t n_dims;
} polyhedral_footprint;

/* CTA coordinates within lo .. hi. guards has room for the site's. */
hd_polyhedral_inexact polyhedral_site_footprint(const polyhedral_site *s, const int64_t lo[3],
                                                const int64_t hi[3], uint32_t line, uint32_t *guards,
                                                polyhedral_footprint *out);

/* ---- Both methods ------------------------------------------------------------------------- */

typedef struct polyhedral_launch {
  uint32_t grid[3], line;
  uint64_t isl_operations, steps;
} polyhedral_launch;

/* A site over the whole launch. Plain ones depend on nothing but the CTA, linearly: address + [0, width) +
 * dims is all there is to them, and they may stand for several sites. */
typedef struct polyhedral_swept {
  uint32_t site; /* index into sites */
  bool plain;
  uint32_t *guards;
  polyhedral_footprint f;
} polyhedral_swept;

/* Sweeps over those of one array's sites that run. The caller frees *out, after a failure too. */
hd_polyhedral_inexact polyhedral_sweep(const polyhedral_launch *l, const polyhedral_site *sites,
                                       const uint32_t *which, uint32_t n, polyhedral_swept **out,
                                       uint32_t *n_out);
void polyhedral_sweep_free(polyhedral_swept *all, uint32_t n);

/* False: over the budget, or not expressible; distance is as it was. */
bool polyhedral_distances(const polyhedral_launch *l, const polyhedral_site *sites,
                          const polyhedral_swept *all, uint32_t n, uint32_t distance[3]);

/* Fills pairs, shared and, unless they are isl's, the distances. */
hd_polyhedral_inexact polyhedral_list(const polyhedral_launch *l, const polyhedral_site *sites,
                                      const polyhedral_swept *all, uint32_t n, hd_polyhedral_array *out);

#endif
