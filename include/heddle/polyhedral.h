/* heddle/polyhedral.h: which CTAs share which cache lines, computed from the code.
 *
 * For one launch (grid, block and argument values known) every access of level NONLINEAR or better becomes a
 * relation from CTA coordinates to lines; per array these give
 *
 *   distances  MAP's inter-CTA reuse distances (MAP eq. 3 to 6): the largest |x' - x| of two CTAs with equal
 *              other coordinates that touch a common line; 0: none do
 *   shares     how many of the lines that a CTA touches its neighbour at x + 1, y + 1 or z + 1 touches too
 *   direction  MAP's algorithm 1
 *
 * Nothing is executed, and no cache enters but its line size. All accesses count, loads, stores and atomics;
 * prefetches do not.
 *
 * Exact or absent. Numbers are exact for the launch, or the array is marked `inexact` and has none. An array
 * counts as inexact for as little as one access whose address, guards or trip counts are not known from the
 * launch. The launch's direction then comes from the others alone (hd_polyhedral.complete).
 *
 * Two methods. Distances come from integer programming over isl relations, with the threads and loop counters
 * of a CTA projected out; shares from listing the lines of each CTA as intervals. Where accesses are not
 * quasi-affine or isl's budget is hit, the listed lines give the distances as well; if listing is over its
 * budget, isl's distances stand alone. */
#ifndef HEDDLE_POLYHEDRAL_H
#define HEDDLE_POLYHEDRAL_H

#include "heddle/analysis.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hd_polyhedral_inexact {
  HD_INEXACT_NO = 0,
  HD_INEXACT_ADDRESS,    /* an address depends on data, or on values that are not given */
  HD_INEXACT_GUARDS,     /* so does whether an access runs */
  HD_INEXACT_TRIPS,      /* or how often a loop runs */
  HD_INEXACT_SIZE,       /* an access by a whole warp or CTA, or of unknown size */
  HD_INEXACT_ASSUMPTION, /* a 32-bit number may wrap */
  HD_INEXACT_OVERFLOW,   /* numbers too large */
  HD_INEXACT_BUDGET,     /* both methods were over their budgets */
  HD_INEXACT_COUNT
} hd_polyhedral_inexact;
HD_OWN const char *hd_polyhedral_inexact_text(hd_polyhedral_inexact why); /* for people */

typedef enum hd_map_direction {
  HD_MAP_ROUND_ROBIN = 0, /* no reuse between CTAs */
  HD_MAP_X,
  HD_MAP_Y,
  HD_MAP_Z,
} hd_map_direction;
HD_OWN const char *hd_map_direction_name(hd_map_direction d); /* "round-robin", "x", "y", "z" */

/* Sites with one base address. Where the base is no parameter and no variable, addresses count from 0. */
typedef struct hd_polyhedral_array {
  uint32_t param, param_offset, var; /* as in hd_site, of the first site */
  uint64_t base;                     /* its address in the launch */
  uint32_t n_sites;
  bool reads, writes;
  uint8_t inexact; /* hd_polyhedral_inexact; else the rest is valid */
  uint32_t line;   /* inexact: the PTX line to blame, 0: none */
  bool by_isl;     /* the distances are isl's */
  bool counted;    /* pairs and shared are valid */
  uint32_t distance[3];
  uint64_t pairs;     /* (CTA, line): the CTA touches the line */
  uint64_t shared[3]; /* of these, the CTA at x + 1, y + 1, z + 1 touches the line too */
} hd_polyhedral_array;

typedef struct hd_polyhedral {
  hd_polyhedral_array *arrays; /* in the order of their first sites */
  uint32_t n_arrays;
  uint32_t distance[3];       /* the largest of the exact arrays */
  hd_map_direction direction; /* MAP algorithm 1, extended to z; of equal distances the earlier axis */
  bool complete;              /* every array is exact */
} hd_polyhedral;

typedef struct hd_polyhedral_options {
  uint32_t line;           /* bytes, a power of two from 32 to 256; 128 when 0 */
  uint64_t isl_operations; /* per array; 0: 300,000 */
  uint64_t steps;          /* of listing, about an interval each, per array; 0: 10 million */
} hd_polyhedral_options;

/* `at` needs grid, block and args; ctaid, tid and counters are ignored. `a` may have been made with or
 * without the launch's block. Errors: HD_ERR_USAGE for a launch without grid or block, HD_ERR_NOMEM.
 * *out is freed by hd_polyhedral_free; on failure it needs no freeing. */
HD_OWN hd_status hd_polyhedral_measure(const hd_analysis *a, const hd_point *at,
                                       const hd_polyhedral_options *o, hd_polyhedral *out, hd_diag *d);
HD_OWN void hd_polyhedral_free(hd_polyhedral *p);

#ifdef __cplusplus
}
#endif
#endif
