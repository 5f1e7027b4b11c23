/* difftest/reduce.h: reduces a program that differs to a small one. */
#ifndef HEDDLE_DIFFTEST_REDUCE_H
#define HEDDLE_DIFFTEST_REDUCE_H

#include "difftest/side.h"
#include "heddle/difftest.h"

/* Drop operations of a differing program while it differs, and describe the rest. `why`: it did not run.
 */
hd_status dt_reduce(dt_side *emulator, dt_side *other, const dt_program *p, unsigned sm,
                    hd_difftest_report *out, hd_diag *d);

#endif
