/* Why an optimization leaves a kernel as it is, from the default's counters. */
#include "report/summary.h"

/* What may bound a time, by its busy cycles. */
static const struct limit {
  const char *name;
  size_t at; /* in hd_counters */
} limits[] = {{"instruction issue", offsetof(hd_counters, cycles_issue)},
              {"L1 bandwidth", offsetof(hd_counters, cycles_l1)},
              {"L2 bandwidth", offsetof(hd_counters, cycles_l2)},
              {"DRAM bandwidth", offsetof(hd_counters, cycles_dram)}};

static const char *busiest(const hd_counters *c) {
  const char *name = limits[0].name;
  double most = 0;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    const double cycles = *(const double *)(const void *)((const char *)c + limits[i].at);
    if (cycles > most) most = cycles, name = limits[i].name;
  }
  return name;
}

/* ---- What the DRAM traffic says, over the compulsory ---------------------------------------------- */

typedef void putter(double over, const char *limit, const char *gpu, hd_buf *out);

static void put_found(double over, const char *limit, const char *gpu, hd_buf *out) {
  hd_buf_printf(out,
                "launches find other launches' data in L2, so DRAM traffic is %.2fx compulsory, and %s "
                "bounds the time on %s",
                over, limit, gpu);
}

static void put_within(double over, const char *limit, const char *gpu, hd_buf *out) {
  const double percent = 100 * (over - 1);
  hd_buf_printf(out, "DRAM traffic is within %.0f%% of compulsory already and %s bounds the time on %s",
                percent < 1 ? 1 : percent, limit, gpu);
}

static void put_over(double over, const char *limit, const char *gpu, hd_buf *out) {
  hd_buf_printf(out, "%s bounds the time on %s (DRAM traffic is %.2fx compulsory)", limit, gpu, over);
}

/* The first one that the traffic lies below. What is within a twentieth leaves an order nothing to win. */
static const struct finding {
  double below;
  putter *put;
  bool beyond; /* what the order of the CTAs changes */
} findings[] = {{0.97, put_found, true}, {1.05, put_within, true}, {1.0 / 0.0, put_over, false}};

/* False: an order might change it. */
static bool put_bound(const hd_workload *w, const hd_counters *base, const hd_gpu *g, hd_buf *out) {
  const hd_filling filling = hd_find_filling(w, base->resident, g);
  const double dram = (double)hd_counters_dram(base),
               over = base->compulsory_bytes ? dram / (double)base->compulsory_bytes : 1;
  const struct finding *f = findings;
  if (filling.few) {
    char text[200];
    hd_filling_print(&filling, g, text, sizeof text);
    hd_buf_printf(out, "latency bounds the time on %s, not bandwidth: %s", g->name, text);
    return false;
  }
  while (!(over < f->below)) f++;
  f->put(over, busiest(base), g->name, out);
  return f->beyond;
}

void hd_bound_print(const hd_workload *w, const hd_counters *base, const hd_gpu *g, hd_buf *out) {
  put_bound(w, base, g, out);
}

void report_put_nothing_helps(const hd_report *r, hd_buf *out) {
  if (!r->no_gain) {
    hd_buf_puts(out, r->nothing_helps ? r->nothing_helps : "the default is the best of the plans tried");
    return;
  }
  hd_buf_puts(out, "no gain");
  if (r->most) {
    hd_buf_puts(out, " beyond what the model may err (the best: ");
    hd_plan_print(&r->rows[r->most].plan, out);
    hd_buf_printf(out, ", %.2fx)", hd_report_speedup(r, r->most));
  }
  hd_buf_puts(out, " is predicted; ");
  if (put_bound(r->workload, &r->rows[0].counters, r->gpu, out))
    hd_buf_puts(out, ", which the order of the CTAs does not change");
}
