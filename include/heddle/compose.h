/* heddle/compose.h: random sizes of a workload and random compositions of every lever, to compare rewritten
 * kernels with their originals. Everything follows from a seed, on every machine.
 */
#ifndef HEDDLE_COMPOSE_H
#define HEDDLE_COMPOSE_H

#include "heddle/plan.h"
#include "heddle/workload.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a rewritten kernel is made and run. */
typedef struct hd_composition {
  hd_plan plan;
  bool any_grid, no_hoisting;
  uint32_t n_sms;       /* of the machine that the kernel is written for and runs on */
  hd_dispatch dispatch; /* any dispatcher, with a seed and a number of resident CTAs */
} hd_composition;

/* Values for the size's parameters, by number: those that have a range are drawn from it, between its least
 * value and some three to eight times the present one, the least ones often. hd_workload_open_with decides
 * whether they go together, since ranges may depend on other parameters. */
HD_OWN void hd_compose_size(const hd_workload *w, uint64_t seed, int64_t *values);

/* A composition for launches of this grid. Each lever of the notation has its chance, with parameters from 1
 * to beyond the grid; combinations that the notation refuses are drawn again. `table`: the file for
 * order=table (NULL: that order is not drawn). `tiles`: of the kernel's own loop, as hd_launch_loop_shape
 * finds them (NULL: there is none); orders of these need the caller's word that no tile carries anything to
 * the next. `can_cancel`: the kernel is for an architecture that has bind=cancel. */
HD_OWN hd_status hd_compose(const uint32_t grid[3], const char *table, const hd_shape *tiles, bool can_cancel,
                            uint64_t seed, hd_composition *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
