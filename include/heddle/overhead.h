/* heddle/overhead.h: what plans cost: instructions, registers, memory.
 *
 * Instructions are counted by the emulator, under the round-robin dispatcher, in the original and in the
 * rewritten kernels of a workload; ptxas, if it is installed, reports registers and memory of both. */
#ifndef HEDDLE_OVERHEAD_H
#define HEDDLE_OVERHEAD_H

#include "heddle/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ptxas's figures for one kernel, or the greatest over all kernels that a workload launches. */
typedef struct hd_kernel_resources {
  uint32_t registers;
  uint64_t shared_bytes; /* static */
  uint64_t local_bytes;  /* the stack frame */
  uint64_t spill_bytes;  /* stores and loads of registers that did not fit */
} hd_kernel_resources;

/* One plan on one workload; of several kernels, all together (instructions) or the one where most is added.
 */
typedef struct hd_overhead_row {
  hd_status status;
  char why[256];                        /* when status is not HD_OK: refused, mostly */
  uint64_t ctas, threads;               /* of the original's launches */
  uint64_t ptx_before, ptx_after;       /* instructions in the kernels' text */
  uint64_t warp_before, warp_after;     /* warp instructions run */
  uint64_t thread_before, thread_after; /* thread instructions run */
  bool assembled;
  char not_assembled[256];                                         /* why not */
  int64_t registers_added, shared_added, local_added, spill_added; /* the most, over the kernels */
} hd_overhead_row;

typedef struct hd_overhead_options {
  hd_run_options run; /* arch: 90 when 0 */
  bool no_assembler;
} hd_overhead_options;

/* rows[i] is the cost of plans[i]. A plan that cannot be applied fails its own row only; an original that
 * fails is an error. */
HD_OWN hd_status hd_overhead(const hd_workload *w, const hd_plan *plans, size_t n,
                             const hd_overhead_options *o, hd_overhead_row *rows, hd_diag *d);

/* ---- Over many workloads ---------------------------------------------------------- */

/* rows[w * n_plans + p]: of workload w and plan p. */
typedef struct hd_overhead_table {
  const hd_plan *plans;
  size_t n_plans;
  const char *const *workloads;
  size_t n_workloads;
  const hd_overhead_row *rows;
  const char *size;    /* of the workloads */
  const char *command; /* that made it */
} hd_overhead_table;

/* The additions that are counted, over the workloads that a plan applies to. */
typedef enum hd_overhead_measure {
  HD_OVERHEAD_THREAD,    /* instructions per thread */
  HD_OVERHEAD_CTA,       /* warp instructions per CTA */
  HD_OVERHEAD_PTX,       /* instructions in the text */
  HD_OVERHEAD_REGISTERS, /* from here on: of assembled kernels */
  HD_OVERHEAD_SHARED,
  HD_OVERHEAD_LOCAL,
  HD_OVERHEAD_SPILL,
  HD_OVERHEAD_MEASURES
} hd_overhead_measure;
HD_OWN double hd_overhead_value(const hd_overhead_row *r, hd_overhead_measure m);

typedef struct hd_overhead_summary {
  size_t n; /* workloads counted */
  double median, p90, worst;
  size_t worst_workload;
} hd_overhead_summary;
HD_OWN hd_status hd_overhead_summarise(const hd_overhead_table *t, size_t plan, hd_overhead_measure m,
                                       hd_overhead_summary *out, hd_diag *d);

/* The project's own targets. Orders alone: at most 12 instructions per thread and no register more
 * than the original's, on 90% of the workloads. Agents without throttling: at most 3 registers. */
enum { HD_OVERHEAD_ORDER_INSTRUCTIONS = 12, HD_OVERHEAD_ORDER_REGISTERS = 0, HD_OVERHEAD_SHARE = 90 };
typedef enum hd_overhead_target {
  HD_OVERHEAD_NO_TARGET = 0,
  HD_OVERHEAD_ORDER,
  HD_OVERHEAD_AGENTS
} hd_overhead_target;
/* Which target a plan has; *within and *of count workloads (those not assembled do not count). */
HD_OWN hd_overhead_target hd_overhead_meets(const hd_overhead_table *t, size_t plan, size_t *within,
                                            size_t *of);

/* The page, in Markdown, without notes. */
HD_OWN hd_status hd_report_overhead(const hd_overhead_table *t, hd_buf *out, hd_diag *d);

#ifdef __cplusplus
}
#endif
#endif
