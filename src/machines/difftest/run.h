/* difftest/run.h: programs on two devices, over host threads. */
#ifndef HEDDLE_DIFFTEST_RUN_H
#define HEDDLE_DIFFTEST_RUN_H

#include "difftest/side.h"
#include "heddle/difftest.h"

/* hd_difftest_run with a change to the text that the other side compiles. */
hd_status dt_run_changed(const hd_difftest_options *o, dt_change change, const hd_work_how *how, bool *whole,
                         hd_difftest_result *out, hd_diag *d);

#endif
