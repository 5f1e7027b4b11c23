/* tune/corun_row.h: a row's plans and figures (heddle/corun.h), alike on devices and on modelled GPUs. */
#ifndef HEDDLE_TUNE_CORUN_ROW_H
#define HEDDLE_TUNE_CORUN_ROW_H

#include "heddle/corun.h"

/* Of n_sms SMs the first `sms` are workload 0's, and the others workload 1's. Fails where one has none. */
hd_status corun_check_split(uint32_t sms, uint32_t n_sms, hd_diag *d);
/* Workload i's plan on its side of that split, with as many agents on an SM. */
hd_plan corun_plan(const hd_plan *own, int i, uint32_t sms, uint32_t n_sms, uint32_t agents);
hd_status corun_name_plan(const hd_plan *p, int i, hd_corun_row *row, hd_diag *d);

/* From the times alone and together. */
double corun_antt(const double alone[2], const double us[2]);
double corun_stp(const double alone[2], const double us[2]);

#endif
