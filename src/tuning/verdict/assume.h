/* verdict/assume.h: what a verdict rests on, as its text: "no-waits", "unwritten=1+3", or both joined by a
 * comma. hd_verdict_assume reads it. */
#ifndef HEDDLE_VERDICT_ASSUME_H
#define HEDDLE_VERDICT_ASSUME_H

#include "heddle/verdict.h"

/* Of a plan for the kernel of a launch: `assume` as HD_ASSUME_ has it, and, for bypass=ro, the parameters
 * that the workload says nothing writes. False: it does not fit. */
bool verdict_assume_print(const hd_workload *w, uint32_t launch, const hd_plan *p, unsigned assume, char *out,
                          size_t cap);

#endif
