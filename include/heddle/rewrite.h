/* heddle/rewrite.h: (kernel, plan) -> kernel.
 *
 * The rewritten kernel is launched with the same grid, block, shared memory and
 * arguments as the original. Each CTA computes which task it is (a few
 * instructions at entry) and uses that instead of %ctaid.
 */
#ifndef HEDDLE_REWRITE_H
#define HEDDLE_REWRITE_H

#include "heddle/plan.h"
#include "heddle/ptx.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hd_rewrite_options {
  hd_grid grid;          /* known: constants are baked in, and a launch with any
                            other grid would be wrong; unknown: any grid */
  const hd_table *table; /* the checked table of order=table; else NULL */
} hd_rewrite_options;

/* Why a kernel cannot be steered. */
typedef enum hd_refusal_kind {
  HD_REFUSE_NONE = 0,
  HD_REFUSE_NO_BODY,        /* a declaration only */
  HD_REFUSE_GRID_SYNC,      /* grid-wide synchronisation, or spinning on other CTAs' data */
  HD_REFUSE_CLUSTER,        /* thread-block clusters, distributed shared memory */
  HD_REFUSE_SREG,           /* reads %smid %warpid %gridid %clock ..., which the rewrite would change */
  HD_REFUSE_CTAID_IN_FUNC,  /* %ctaid read inside a function that is not inlined */
  HD_REFUSE_UNKNOWN_CALL,   /* calls what this module does not define (or through a pointer), which may read
                               %ctaid */
  HD_REFUSE_DYNAMIC_LAUNCH, /* takes over CTAs not launched yet (clusterlaunchcontrol) */
} hd_refusal_kind;

typedef struct hd_refusal {
  hd_refusal_kind kind;
  uint32_t line;  /* PTX line of the instruction; 0: none */
  char what[256]; /* "mov.u32 %r1, %smid: ..." one line */
} hd_refusal;

/* All reasons why `func` of m must not be reordered; at most cap are stored, the
 * total is returned. 0: it may. A property of the kernel, not of the plan. */
HD_API size_t hd_rewrite_refusals(const hd_ptx_module *m, uint32_t func, hd_refusal *out, size_t cap);
HD_API const char *hd_refusal_name(hd_refusal_kind k);

/* Rewrite kernel `func` of *m in place for plan `p`. A baseline plan changes
 * nothing. HD_ERR_REFUSED with the first refusal when there is one. On failure
 * the module must be thrown away. */
HD_API hd_status hd_rewrite(hd_ptx_module *m, uint32_t func, const hd_plan *p, const hd_rewrite_options *opt,
                            hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
