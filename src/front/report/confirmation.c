/* What modelled times rest on: how they were confirmed, and what they lack. */
#include "heddle/accuracy.h"
#include "report/summary.h"

void report_put_lacks(const hd_gpu *g, bool clock, hd_buf *out) {
  if (!clock) {
    hd_buf_puts(out, "There are no times without a clock (");
    hd_buf_printf(out, hd_gpu_has_clock(g) ? "--depth traffic" : "the file of %s has no [units]", g->name);
    hd_buf_puts(out, "): plans rank by traffic, the bytes that L2 and DRAM move.\n");
  } else if (!hd_gpu_has_launches(g)) {
    hd_buf_printf(out,
                  "The file of %s has no [launch]: a launch costs nothing beside its CTAs' "
                  "work.\n",
                  g->name);
  }
}

/* How the GPU's file says that a clock compares with what others published. */
static void put_published(const hd_published *p, hd_buf *out) {
  if (!p->figures) return;
  hd_buf_printf(out, "Beside %u figures that others published of it, the clock was off by %.1f%% (mean)",
                p->figures, p->error);
  if (p->apart)
    hd_buf_printf(out, "; beside the %u of them on which its file does not rest, by %.1f%%", p->apart,
                  p->apart_error);
  hd_buf_puts(out, " (docs/gpus.md).\n");
}

/* How the GPU's file says that times by a clock compare with measurements. */
static void put_compared(const hd_gpu *g, hd_buf *out) {
  const hd_compared *c = &g->compared;
  hd_buf_puts(out, "Times are by a clock");
  if (!c->effects) {
    hd_buf_puts(out, " that was not compared with such a GPU (docs/decisions/clock.md).\n");
    put_published(&g->published, out);
    return;
  }
  hd_buf_printf(out,
                ". Compared with such a GPU, it was off by %.1f%% (mean of %u default launches), and right "
                "about the sign of %.0f%% of plans' effects over %.0f%% (docs/decisions/clock.md).\n",
                c->time_error, c->launches, 100.0 * c->right_signs / c->effects, 100 * HD_ACCURACY_EFFECT);
}

void report_put_part(const hd_gpu *g, double part, const char *more, bool lack_ends, hd_buf *out) {
  if (part >= 1) return;
  hd_buf_printf(out, "%.1f%% of the launches' work was replayed (%s).", 100 * part, more);
  if (lack_ends)
    hd_buf_puts(out, " A few warps have far more work than others and were cut: times compare plans, but do "
                     "not say how long these warps take.");
  else if (g->compared.sampled)
    hd_buf_printf(out, " Such times were off by %.1f%% (mean of %u) from those of whole replays.",
                  g->compared.sampled_error, g->compared.sampled);
  hd_buf_putc(out, '\n');
}

static bool is_unsure(const hd_counters *c) { return c->time_error_us > HD_SAMPLE_ERROR * c->time_us; }

void report_put_confirmation(const hd_gpu *g, bool clock, double part, bool lack_ends, const hd_counters *c,
                             hd_buf *out) {
  if (clock) put_compared(g, out);
  report_put_lacks(g, clock, out);
  report_put_part(g, part, "--exact replays all", lack_ends, out);
  if (c && c->time_error_us > 0)
    hd_buf_printf(out,
                  "Parts of the work stand for those like them: the standard error of the time is %.2f us "
                  "(%.1f%%)%s.\n",
                  c->time_error_us, 100 * c->time_error_us / c->time_us,
                  is_unsure(c) ? ", so that it is unsure" : "");
}

void hd_sweep_unsure(const hd_sweep_row *rows, size_t n, hd_buf *out) {
  size_t unsure = 0, replayed = 0, worst = 0;
  double most = 0;
  for (size_t i = 0; i < n; i++) {
    const hd_counters *c = &rows[i].counters;
    if (!(c->time_us > 0)) continue; /* not replayed; what was struck out later was */
    replayed++;
    unsure += is_unsure(c);
    if (!is_unsure(c) || c->time_error_us / c->time_us <= most) continue;
    most = c->time_error_us / c->time_us;
    worst = i;
  }
  if (!unsure) return;
  hd_buf plan = {0};
  hd_plan_print(&rows[worst].plan, &plan);
  hd_buf_printf(out, "%zu of %zu times %s unsure: the standard error is above %.0f%% (%s: %.0f%%)", unsure,
                replayed, unsure == 1 ? "is" : "are", 100 * HD_SAMPLE_ERROR, plan.data ? plan.data : "",
                100 * most);
  hd_buf_free(&plan);
}

void report_put_own_confirmation(const hd_report *r, hd_buf *out) {
  report_put_confirmation(r->gpu, report_by_clock(r), r->part > 0 ? r->part : 1, r->lack_ends,
                          report_default(r), out);
  const size_t before = out->len;
  hd_sweep_unsure(r->rows, r->n_rows, out);
  if (out->len > before) hd_buf_puts(out, "; --exact replays all.\n");
}
