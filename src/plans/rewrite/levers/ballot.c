/* bypass=auto: the kernel that takes a vote on how many warps should bypass L1 (BYP 4.4.2).
 *
 * The paper first samples one CTA for each threshold, alone on its SM, where it has the whole L1 to itself;
 * and then suggests the remedy implemented here: the grid fills the GPU as always, and SMs differ in the
 * threshold that their CTAs use. Nothing has to be timed. The hardware gives the next CTA to the SM that has
 * room first, so that in a grid of many waves an SM's share of the CTAs is its share of the speed: each CTA
 * counts itself on its SM, and the host counts the votes. Work that varies between CTAs averages out over the
 * SMs of a threshold. */
#include "rewrite/rewrite_internal.h"

hd_status rewrite_check_ballot(const rewrite_job *j, hd_diag *d) {
  const hd_plan *p = j->plan;
  if (!j->asked)
    return hd_fail(d, HD_ERR_USAGE,
                   "bypass=auto is decided by measuring; name a cache and a number of warps");
  if (p->order.kind != HD_ORDER_ROW || p->shape.kind != HD_SHAPE_LAUNCH || p->bind != HD_BIND_NONE ||
      p->threads.kind != HD_ORDER_ROW || p->prefetch.kind != HD_PREFETCH_NONE)
    return hd_fail(d, HD_ERR_USAGE, "bypass=auto takes its vote alone; other levers come after it");
  if (!rewrite_threads(j))
    return hd_fail(d, HD_ERR_USAGE, "bypass=auto needs the block: its warps are what is voted on");
  return HD_OK;
}

hd_status rewrite_put_ballot(rewrite_job *j, hd_buf *text, hd_diag *d) {
  uint32_t warps = (rewrite_threads(j) + 31) / 32;
  j->recipe->ballot = true;
  j->recipe->state_bytes = sizeof(uint32_t) * HD_BALLOT_SMS;
  hd_status st = rewrite_add_params(j, d);
  if (st != HD_OK) return st;
  rewrite_put(j, text,
              "\t.reg .b32 %%~sm, %%~limit;\n\t.reg .b64 %%~ballot;\n\t.reg .pred %%~first;\n"
              "\tmov.u32 %%~sm, %%smid;\n"
              "\trem.u32 %%~limit, %%~sm, %u;\n\tsub.u32 %%~limit, %u, %%~limit;\n"
              "\tshl.b32 %%~limit, %%~limit, 5;\n" /* hd_bypass_voted */
              "\tand.b32 %%~sm, %%~sm, %u;\n",
              warps + 1, warps, HD_BALLOT_SMS - 1);
  rewrite_put_state(j, text, "ballot");
  rewrite_put(j, text,
              "\tmad.wide.u32 %%~ballot, %%~sm, %u, %%~ballot;\n"
              "\tsetp.eq.u32 %%~first, %%~linear, 0;\n"
              "\t@%%~first red.global.add.u32 [%%~ballot], 1;\n",
              (unsigned)sizeof(uint32_t));
  return HD_OK;
}
