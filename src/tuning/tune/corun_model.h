/* tune/corun_model.h: two workloads at the same time on a modelled GPU. */
#ifndef HEDDLE_TUNE_CORUN_MODEL_H
#define HEDDLE_TUNE_CORUN_MODEL_H

#include "heddle/corun.h"

/* hd_corun there; *out is empty. */
hd_status corun_on_model(const hd_gpu *g, const hd_workload *const w[2], const hd_corun_options *o,
                         hd_corun_result *out, hd_diag *d);

#endif
