#include "tune/corun_row.h"

#include <stdio.h>

hd_status corun_check_split(uint32_t sms, uint32_t n_sms, hd_diag *d) {
  if (n_sms > HD_NUMBERS) return hd_fail(d, HD_ERR_UNSUPPORTED, "plans name at most %d SMs", HD_NUMBERS);
  if (sms >= 1 && sms < n_sms) return HD_OK;
  return hd_fail(d, HD_ERR_UNSUPPORTED, "%u of %u SMs leave none for the other", sms, n_sms);
}

hd_plan corun_plan(const hd_plan *own, int i, uint32_t sms, uint32_t n_sms, uint32_t agents) {
  hd_plan plan = *own;
  plan.bind = HD_BIND_AGENTS;
  plan.agents = agents;
  plan.sms = (hd_numbers){0};
  hd_numbers_add(&plan.sms, i ? sms : 0, (i ? n_sms : sms) - 1);
  return plan;
}

hd_status corun_name_plan(const hd_plan *p, int i, hd_corun_row *row, hd_diag *d) {
  hd_buf b = {0};
  hd_plan_print(p, &b);
  hd_status st = b.failed ? hd_nomem(d) : HD_OK;
  if (st == HD_OK) snprintf(row->plans[i], sizeof row->plans[i], "%s", b.data);
  hd_buf_free(&b);
  return st;
}

double corun_antt(const double alone[2], const double us[2]) {
  return (us[0] / alone[0] + us[1] / alone[1]) / 2;
}

double corun_stp(const double alone[2], const double us[2]) { return alone[0] / us[0] + alone[1] / us[1]; }
