/* CLU 4.4's experiments, for categories that counts leave open: replays on the modelled GPU. */
#include "advise/advice.h"

static hd_status replay(const advising *a, const hd_gpu *g, hd_order_kind order, bool redirect,
                        hd_counters *out, hd_diag *d) {
  hd_plan p = {.order = {.kind = order}, .bind = redirect ? HD_BIND_REDIRECT : HD_BIND_NONE};
  return hd_study_replay(a->s, g, &p, a->o.dispatch, a->o.seed, out, d);
}

hd_status advice_experiment(advising *a, hd_diag *d) {
  hd_experiments *e = &a->out->experiments;
  if (a->o.no_experiments) return HD_OK;
  hd_gpu l1 = *a->g, no_l1 = *a->g;
  l1.l1_global = true;
  no_l1.l1_global = false;
  hd_status st = replay(a, &l1, HD_ORDER_ROW, false, &e->baseline, d);
  if (st == HD_OK) st = replay(a, &l1, HD_ORDER_ROW, true, &e->along_x, d);
  if (st == HD_OK) st = replay(a, &l1, HD_ORDER_COL, true, &e->along_y, d);
  if (st == HD_OK) st = replay(a, &no_l1, HD_ORDER_ROW, false, &e->no_l1, d);
  /* Kernels in clusters are bound to no SM. Without the experiments the category rests on the text. */
  const bool refused = st == HD_ERR_REFUSED;
  if (refused) *e = (hd_experiments){0};
  e->done = st == HD_OK;
  return refused ? HD_OK : st;
}
