/* The one-page report. Drawings are inline SVG; numbers in them come from the same counters as
 * the tables beside them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/html.h"
#include "report/picture.h"
#include "report/stalls.h"
#include "report/summary.h"

static void put_plan(hd_buf *out, const hd_plan *p) {
  hd_buf text = {0};
  hd_plan_print(p, &text);
  hd_buf_html(out, text.data ? text.data : "");
  hd_buf_free(&text);
}

/* ---- The landscape: every plan as a column, fastest to the left ------------------- */

enum { WIDTH = 920, PLOT_LEFT = 60, PLOT_HEIGHT = 180 };

static double largest(const hd_report *r, double (*value)(const hd_report *, size_t)) {
  double top = 0;
  for (size_t i = 0; i < r->n_rows; i++)
    if (r->rows[i].status == HD_OK && value(r, i) > top) top = value(r, i);
  return top > 0 ? top : 1;
}

static double relative_time(const hd_report *r, size_t i) { return 1 / hd_report_speedup(r, i); }
static double l2_over_compulsory(const hd_report *r, size_t i) {
  const hd_counters *c = &r->rows[i].counters;
  return report_rate(c->l2_sectors * 32, c->compulsory_bytes);
}
static double dram_over_compulsory(const hd_report *r, size_t i) {
  const hd_counters *c = &r->rows[i].counters;
  return report_rate(hd_counters_dram(c), c->compulsory_bytes);
}
static double l1_miss_percent(const hd_report *r, size_t i) {
  const hd_counters *c = &r->rows[i].counters;
  return 100 * (1 - report_rate(c->l1_hits, c->l1_sectors));
}

static void put_landscape(hd_buf *out, const hd_report *r, const size_t *rank, const char *title,
                          const char *unit, double (*value)(const hd_report *, size_t), const char *colour) {
  double top = largest(r, value) * 1.08;
  size_t shown = 0;
  for (size_t i = 0; i < r->n_rows; i++) shown += r->rows[i].status == HD_OK;
  double step = (double)(WIDTH - PLOT_LEFT - 10) / (double)(shown ? shown : 1);
  hd_buf_printf(out,
                "<svg viewBox=\"0 0 %d %d\" width=\"100%%\" role=\"img\"><text x=\"%d\" y=\"12\">%s</text>",
                WIDTH, PLOT_HEIGHT + 24, PLOT_LEFT, title);
  for (int tick = 0; tick <= 4; tick++) {
    double y = 18 + PLOT_HEIGHT - tick * PLOT_HEIGHT / 4.0;
    hd_buf_printf(out,
                  "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e5e7eb\"/>"
                  "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g%s</text>",
                  PLOT_LEFT, WIDTH - 10, y, y, PLOT_LEFT - 6, y + 4, top * tick / 4, unit);
  }
  for (size_t k = 0; k < r->n_rows; k++) {
    size_t i = rank[k];
    if (r->rows[i].status != HD_OK) continue;
    double h = value(r, i) / top * PLOT_HEIGHT;
    const char *fill = (int64_t)i == r->best && i ? "#1a7f37" : i == 0 ? "#d97706" : colour;
    hd_buf_printf(out, "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"><title>",
                  PLOT_LEFT + (double)k * step, 18 + PLOT_HEIGHT - h, step > 3 ? step - 1 : step, h, fill);
    put_plan(out, &r->rows[i].plan);
    hd_buf_printf(out, ": %.4g%s</title></rect>", value(r, i), unit);
  }
  hd_buf_puts(out, "</svg>");
}

/* ---- Table ------------------------------------------------------------------------------ */

/* A GPU's name is its file's, and may be anything. */
static void put_confirmation(hd_buf *out, const hd_report *r) {
  hd_buf text = {0};
  report_put_own_confirmation(r, &text);
  out->failed |= text.failed;
  hd_buf_html(out, text.data ? text.data : "");
  hd_buf_free(&text);
}

static void put_table(hd_buf *out, const hd_report *r, const size_t *rank) {
  hd_buf_puts(out, "<p class=\"sub\">");
  put_confirmation(out, r);
  hd_buf_printf(out,
                "</p><table><tr><th>plan</th><th>L1 hits</th><th>L2 MB</th><th>L2 hits</th>"
                "<th>DRAM MB</th><th>vs compulsory</th><th>%s &micro;s</th><th>change</th></tr>",
                report_by_clock(r) ? "predicted" : "bound");
  for (size_t k = 0; k < r->n_rows; k++) {
    size_t i = rank[k];
    const hd_counters *c = &r->rows[i].counters;
    hd_buf_printf(out, "<tr%s><td>",
                  (int64_t)i == r->best && i ? " class=\"best\""
                  : i == 0                   ? " class=\"base\""
                                             : "");
    put_plan(out, &r->rows[i].plan);
    if (r->rows[i].status != HD_OK) {
      hd_buf_printf(out, "</td><td colspan=\"7\">%s", report_is_untried(r, i) ? "not tried: " : "");
      hd_buf_html(out, r->rows[i].why);
      hd_buf_puts(out, "</td></tr>");
      continue;
    }
    hd_buf_printf(
        out,
        "</td><td>%.1f%%</td><td>%.2f</td><td>%.1f%%</td><td>%.2f</td><td>%.2f&times;</td><td>%.1f</td>"
        "<td>%.2f&times;</td></tr>",
        100 * report_rate(c->l1_hits, c->l1_sectors), (double)c->l2_sectors * 32 / 1e6,
        100 * report_rate(c->l2_hits, c->l2_sectors), (double)hd_counters_dram(c) / 1e6,
        report_rate(hd_counters_dram(c), c->compulsory_bytes), c->time_us, hd_report_speedup(r, i));
  }
  hd_buf_puts(out, "</table>");
}

static void put_bounds(hd_buf *out, const hd_report *r) {
  hd_buf_puts(out, "<h2>Bounds on the time</h2><table><tr><th>cycles</th><th>issue</th><th>L1</th><th>L2</th>"
                   "<th>DRAM</th></tr>");
  size_t shown[2] = {0, (size_t)(r->best > 0 ? r->best : 0)};
  for (size_t k = 0; k < (r->best > 0 ? 2u : 1u); k++) {
    const hd_counters *c = &r->rows[shown[k]].counters;
    hd_buf_puts(out, "<tr><td>");
    put_plan(out, &r->rows[shown[k]].plan);
    hd_buf_printf(out, "</td><td>%.0f</td><td>%.0f</td><td>%.0f</td><td>%.0f</td></tr>", c->cycles_issue,
                  c->cycles_l1, c->cycles_l2, c->cycles_dram);
  }
  hd_buf_puts(out, "</table>");
}

static void put_verdict(hd_buf *out, const hd_report *r) {
  if (!report_has_answer(r)) {
    hd_buf text = {0};
    report_put_no_answer(r, &text);
    hd_buf_puts(out, "<div class=\"verdict none\">");
    hd_buf_html(out, text.data ? text.data : "");
    hd_buf_puts(out, ".</div>");
    hd_buf_free(&text);
    if (r->best <= 0) return;
  }
  if (r->best <= 0) {
    hd_buf_puts(out, "<div class=\"verdict none\">No order helps: ");
    hd_buf_html(out, r->nothing_helps ? r->nothing_helps : "the default is the best of the plans tried");
    hd_buf_puts(out, ". The kernel is left as it is.</div>");
    return;
  }
  hd_buf_puts(out, "<div class=\"verdict\"><code>");
  put_plan(out, &r->rows[r->best].plan);
  hd_buf_printf(out, "</code> is predicted to run %.2f&times; as fast as the default.",
                hd_report_speedup(r, (size_t)r->best));
  if (r->proof && r->proof->equal)
    hd_buf_printf(out, " The rewritten kernel%s%s computed the same %" PRIu64 " bytes under %u dispatchers.",
                  report_proof_is_smaller(r) ? " of the smaller size " : "",
                  report_proof_is_smaller(r) ? r->proof_size : "", r->proof->bytes_compared, r->proof->runs);
  if (report_proof_is_smaller(r)) hd_buf_puts(out, " At this size it was not proved.");
  if (r->proof && r->proof->assume)
    hd_buf_printf(out, " It rests on the word <code>%s</code>.", hd_assume_text(r->proof->assume));
  if (r->output) {
    hd_buf_puts(out, " It is in <code>");
    hd_buf_html(out, r->output);
    hd_buf_puts(out, "</code>.");
  }
  hd_buf_puts(out, "</div>");
}

void hd_report_html(const hd_report *r, hd_buf *out) {
  size_t *rank = report_ranking(r);
  if (!rank) {
    out->failed = true;
    return;
  }
  const hd_workload *w = r->workload;
  const hd_counters *base = &r->rows[0].counters;
  char title[128];
  snprintf(title, sizeof title, "heddle: %.110s", w->name);
  html_begin(out, title);
  hd_buf_puts(out, "<h1>");
  hd_buf_html(out, w->name);
  hd_buf_puts(out, "</h1><p class=\"sub\">");
  hd_buf_html(out, w->title);
  hd_buf_printf(out, " &middot; size %s &middot; modelled %s, %s dispatch &middot; %zu plans</p>", w->size,
                r->gpu->title, r->dispatch, r->n_rows);
  put_verdict(out, r);
  hd_buf_printf(
      out,
      "<p>Compulsory traffic (each byte read and written once): %.2f MB. The default moves %.2f MB between "
      "DRAM and L2, %.2f MB between L2 and L1. Trace taken in %.1f s, plans replayed in %.1f s.</p>",
      (double)base->compulsory_bytes / 1e6, (double)hd_counters_dram(base) / 1e6,
      (double)base->l2_sectors * 32 / 1e6, r->seconds.trace, r->seconds.replay);
  hd_buf_puts(out,
              "<h2>The landscape</h2><p class=\"sub\">Every plan tried, fastest to the left; orange is the "
              "default, green the plan kept.");
  if (report_count_untried(r))
    hd_buf_printf(out, " %zu of the %zu plans were not tried.", report_count_untried(r), r->n_rows);
  hd_buf_puts(out, "</p>");
  put_landscape(out, r, rank, "predicted time, relative to the default", "", relative_time, "#94a3b8");
  put_landscape(out, r, rank, "L1 miss rate", "%", l1_miss_percent, "#a5b4c8");
  put_landscape(out, r, rank, "L2 traffic, times compulsory", "", l2_over_compulsory, "#8fb3d9");
  put_landscape(out, r, rank, "DRAM traffic, times compulsory", "", dram_over_compulsory, "#b7a3d0");
  if (r->picture) report_put_picture(out, r->picture);
  report_put_stall_bars(r, out);
  put_bounds(out, r);
  hd_buf_puts(out, "<h2>All plans</h2>");
  put_table(out, r, rank);
  html_end(out);
  free(rank);
}
