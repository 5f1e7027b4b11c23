/* Advice on a workload. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advise/advice.h"
#include "launch/runner.h"

/* ---- Direction ---------------------------------------------------------------------------- */

/* CLU 4.2.1: CTAs that share along x belong together in rows (Y-partitioning), along y in columns; in a grid
 * of one dimension there is nothing to choose, which CLU calls X-partitioning. */
static void find_direction(const hd_workload *w, hd_advice *out) {
  const hd_sharing_row *r = &out->sum.sharing.all;
  unsigned best = 0;
  bool line = true;
  for (unsigned k = 0; k < 3; k++) out->along[k] = advice_part(r->along[k], r->pairs);
  for (unsigned k = 1; k < 3; k++)
    if (out->along[k] > out->along[best]) best = k;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const uint32_t *g = w->launches[i].grid;
    line &= (g[0] > 1) + (g[1] > 1) + (g[2] > 1) <= 1;
  }
  out->direction = out->along[best] >= 0.01 ? "xyz"[best] : 0;
  out->partition = line                    ? "X-P"
                   : out->direction == 'x' ? "Y-P"
                   : out->direction == 'y' ? "X-P"
                   : out->direction == 'z' ? "Z"
                                           : "";
}

/* ---- Freedom of the order --------------------------------------------------------------------- */

static hd_status check_races(advising *a, hd_diag *d) {
  runner r = {0};
  const hd_compiled *code;
  hd_diag e = {0};
  hd_dispatch how = {.kind = HD_DISPATCH_ROUND_ROBIN, .resident = 4};
  hd_status st = hd_workload_compiled(a->w, hd_launch_arch(NULL, a->o.run.compile.arch), &code, d);
  if (st == HD_OK) st = runner_open(&r, code, NULL, &a->o.run, HD_CHECK_BOUNDS | HD_CHECK_RACE, d);
  if (st == HD_OK) st = runner_fill(&r, d);
  if (st == HD_OK) {
    st = runner_run(&r, &how, NULL, NULL, &e);
    if (st == HD_ERR_FAULT) {
      a->out->order_free = HD_ORDER_FREE_NO;
      hd_diag_line(&e, a->out->order_why, sizeof a->out->order_why);
      st = HD_OK;
    } else if (st != HD_OK && d) {
      *d = e;
    }
  }
  runner_close(&r);
  return st;
}

static hd_status find_order_free(advising *a, hd_diag *d) {
  hd_advice *out = a->out;
  if (out->n_refusals) {
    out->order_free = HD_ORDER_FREE_NO;
    hd_fit(out->order_why, sizeof out->order_why, "%s, line %u: %s", out->refused_kernels[0],
           out->refusals[0].line, out->refusals[0].what);
    return HD_OK;
  }
  out->order_free = a->o.no_race_check ? HD_ORDER_FREE_UNCHECKED : HD_ORDER_FREE_CHECKED;
  return a->o.no_race_check ? HD_OK : check_races(a, d);
}

/* ---- All of it ----------------------------------------------------------------------------------- */

hd_status hd_advise(const hd_workload *w, hd_study *s, const hd_gpu *g, const hd_advise_options *o,
                    hd_advice *out, hd_diag *d) {
  memset(out, 0, sizeof *out);
  uint32_t n;
  advising a = {
      .w = w, .s = s, .g = g, .out = out, .arrays = hd_study_arrays(s, &n), .experiment = advice_experiment};
  if (o) a.o = *o;
  out->partition = "";
  hd_status st = advice_facts(&a, d);
  if (st == HD_OK) st = advice_text(&a, d);
  if (st == HD_OK) st = advice_category(&a, d);
  if (st == HD_OK) find_direction(w, out);
  if (st == HD_OK) st = find_order_free(&a, d);
  if (st == HD_OK && !a.o.no_proposals) st = advice_propose(&a, d);
  if (st != HD_OK) hd_advice_free(out);
  return st;
}

void hd_advice_free(hd_advice *a) {
  hd_facts_free(&a->sum);
  for (uint32_t i = 0; i < a->n_launches; i++) hd_facts_free(&a->launches[i]);
  free(a->launches);
  free(a->buffers);
  free(a->refusals);
  free(a->refused_kernels);
  free(a->proposals);
  memset(a, 0, sizeof *a);
}
