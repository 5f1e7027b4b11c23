/* A probe's page: plots of the measurements. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "heddle/report.h"
#include "report/html.h"

enum { WIDTH = 760, HEIGHT = 260, LEFT = 64, RIGHT = 16, TOP = 12, BOTTOM = 40 };
enum { PLOT_WIDTH = WIDTH - LEFT - RIGHT, PLOT_HEIGHT = HEIGHT - TOP - BOTTOM };

/* ---- Frames ----------------------------------------------------------------------- */

typedef struct frame {
  hd_buf *out;
  double x0, x1, y0, y1; /* values at the edges; x as its logarithm where the axis is one */
} frame;

static double at_x(const frame *f, double x) { return LEFT + (x - f->x0) / (f->x1 - f->x0) * PLOT_WIDTH; }
static double at_y(const frame *f, double y) { return TOP + (f->y1 - y) / (f->y1 - f->y0) * PLOT_HEIGHT; }

static void heading(hd_buf *out, const char *title, const char *text) {
  hd_buf_printf(out, "<h2>%s</h2><p class=\"sub\">%s</p>\n", title, text);
}

static void open_frame(const frame *f, const char *x_label, const char *y_label) {
  hd_buf_printf(
      f->out,
      "<svg viewBox=\"0 0 %d %d\" width=\"100%%\" role=\"img\"><rect x=\"%d\" y=\"%d\" width=\"%d\" "
      "height=\"%d\" fill=\"#f8fafc\" stroke=\"#cbd5e1\"/>"
      "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>"
      "<text transform=\"translate(12,%d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
      WIDTH, HEIGHT, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT, LEFT + PLOT_WIDTH / 2, HEIGHT - 6, x_label,
      TOP + PLOT_HEIGHT / 2, y_label);
}

static void close_frame(const frame *f) { hd_buf_puts(f->out, "</svg>\n"); }

enum { MOST_TICKS = 25 };

/* 1, 2 or 5 times a power of ten: some five of them up to `most`, MOST_TICKS at the most. */
static double tick_step(double most) {
  double step = pow(10, floor(log10(most > 0 ? most / 5 : 1)));
  return most / step > 25 ? 5 * step : most / step > 10 ? 2 * step : step;
}

static void y_ticks(const frame *f) {
  const double step = tick_step(f->y1 - f->y0), first = ceil(f->y0 / step);
  for (int k = 0; k <= MOST_TICKS && (first + k) * step <= f->y1 + step / 1000; k++) {
    const double y = (first + k) * step;
    hd_buf_printf(f->out,
                  "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#e2e8f0\"/>"
                  "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                  LEFT, LEFT + PLOT_WIDTH, at_y(f, y), at_y(f, y), LEFT - 6, at_y(f, y) + 4, y);
  }
}

static void x_tick(const frame *f, double x, const char *label) {
  hd_buf_printf(f->out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", at_x(f, x),
                TOP + PLOT_HEIGHT + 15, label);
}

static void put_bytes(uint64_t bytes, char out[24]) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0)
    snprintf(out, 24, "%" PRIu64 " MB", bytes >> 20);
  else
    snprintf(out, 24, "%" PRIu64 " KB", bytes >> 10);
}

/* ---- Plots -------------------------------------------------------------------------- */

/* A level's size or latency, as a dashed line across. */
static void level(const frame *f, double y, const char *name) {
  if (y < f->y0 || y > f->y1) return;
  hd_buf_printf(
      f->out,
      "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#94a3b8\" stroke-dasharray=\"4 3\"/>"
      "<text x=\"%d\" y=\"%.1f\">%s: %.0f cycles</text>\n",
      LEFT, LEFT + PLOT_WIDTH, at_y(f, y), at_y(f, y), LEFT + 6, at_y(f, y) - 4, name, y);
}

static void plot_latency(const hd_probe_result *r, hd_buf *out) {
  if (r->n_footprints < 2) return;
  const hd_probe_footprint *p = r->footprints;
  double most = r->dram_cycles;
  for (uint32_t i = 0; i < r->n_footprints; i++)
    if (p[i].cycles > most) most = p[i].cycles;
  frame f = {out, log2((double)p[0].bytes), log2((double)p[r->n_footprints - 1].bytes), 0, 1.1 * most};
  if (!(f.y1 > 0)) return;
  heading(
      out, "Latency against footprint",
      "One thread walks a ring of lines in random order: cycles from load to use, by what the ring spans.");
  open_frame(&f, "bytes of the ring", "cycles");
  y_ticks(&f);
  for (uint32_t i = 0; i < r->n_footprints; i++) {
    char label[24];
    put_bytes(p[i].bytes, label);
    if ((p[i].bytes & (p[i].bytes - 1)) == 0 && (uint32_t)lround(log2((double)p[i].bytes)) % 2 == 0)
      x_tick(&f, log2((double)p[i].bytes), label);
  }
  level(&f, r->l1_cycles, "L1");
  level(&f, r->l2_cycles, "L2");
  level(&f, r->dram_cycles, "DRAM");
  hd_buf_puts(out, "<polyline fill=\"none\" stroke=\"#1d4ed8\" stroke-width=\"2\" points=\"");
  for (uint32_t i = 0; i < r->n_footprints; i++)
    hd_buf_printf(out, "%s%.1f,%.1f", i ? " " : "", at_x(&f, log2((double)p[i].bytes)),
                  at_y(&f, p[i].cycles));
  hd_buf_puts(out, "\"/>\n");
  close_frame(&f);
}

typedef struct bar {
  char name[24], value[32];
  double height;
} bar;

static void plot_bars(const bar *bars, size_t n, const char *x_label, const char *y_label, hd_buf *out) {
  frame f = {out, 0, (double)n, 0, 0};
  for (size_t i = 0; i < n; i++)
    if (bars[i].height > f.y1) f.y1 = bars[i].height;
  f.y1 = f.y1 > 0 ? 1.15 * f.y1 : 1;
  open_frame(&f, x_label, y_label);
  y_ticks(&f);
  for (size_t i = 0; i < n; i++) {
    double x = at_x(&f, (double)i + 0.2), width = 0.6 * PLOT_WIDTH / (double)n, y = at_y(&f, bars[i].height);
    hd_buf_printf(out,
                  "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"#1d4ed8\"/>"
                  "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                  x, y, width, at_y(&f, 0) - y, x + width / 2, y - 4, bars[i].value);
    x_tick(&f, (double)i + 0.5, bars[i].name);
  }
  close_frame(&f);
}

static void plot_carveout(const hd_probe_result *r, hd_buf *out) {
  bar bars[HD_PROBE_CARVEOUTS];
  for (int i = 0; i < HD_PROBE_CARVEOUTS; i++) {
    snprintf(bars[i].name, sizeof bars[i].name, "%u%%", r->carveout[i]);
    snprintf(bars[i].value, sizeof bars[i].value, "%" PRIu64 " KB", r->l1_bytes[i] >> 10);
    bars[i].height = (double)(r->l1_bytes[i] >> 10);
  }
  heading(out, "L1 by carve-out",
          "The largest ring that L1 still holds, by the part of its store that a kernel asks "
          "for as shared memory.");
  plot_bars(bars, HD_PROBE_CARVEOUTS, "asked for as shared memory", "KB that hit", out);
}

static void plot_bandwidth(const hd_probe_result *r, hd_buf *out) {
  const struct {
    const char *name;
    double value;
  } all[] = {{"L1", r->l1_bandwidth},
             {"L2", r->l2_bandwidth},
             {"DRAM read", r->dram_read_bandwidth},
             {"DRAM copy", r->copy_bandwidth}};
  enum { N = sizeof all / sizeof *all };
  bar bars[N];
  double most = 0;
  for (size_t i = 0; i < N; i++) {
    snprintf(bars[i].name, sizeof bars[i].name, "%s", all[i].name);
    snprintf(bars[i].value, sizeof bars[i].value, "%.2f TB/s", all[i].value / 1e12);
    bars[i].height = all[i].value / 1e12;
    if (bars[i].height > most) most = bars[i].height;
  }
  if (!(most > 0)) return;
  heading(out, "Bandwidth", "All SMs together; a copy counts what is read and what is written.");
  plot_bars(bars, N, "", "TB/s", out);
}

static void plot_sectors(const hd_probe_result *r, hd_buf *out) {
  bar bars[HD_PROBE_SECTORS - 1];
  for (uint32_t i = 1; i < HD_PROBE_SECTORS; i++) {
    snprintf(bars[i - 1].name, sizeof bars[0].name, "%u", 16 * i);
    snprintf(bars[i - 1].value, sizeof bars[0].value, "%u", r->sector_cycles[i]);
    bars[i - 1].height = r->sector_cycles[i];
  }
  char text[160];
  snprintf(
      text, sizeof text,
      "Cycles of a load behind a word that was just fetched from DRAM: one miss brings %u bytes into L1, %u "
      "into L2.",
      r->l1_sector, r->l2_sector);
  heading(out, "Bytes that one miss fetches", text);
  plot_bars(bars, HD_PROBE_SECTORS - 1, "bytes behind the word", "cycles", out);
}

/* CTA u of the first wave as a dot at (u, its SM): orange where round robin would have put it, else blue. */
static void plot_launch(const hd_probe_result *r, const hd_probe_launch *l, uint32_t number, hd_buf *out) {
  enum { SIDE = 230 };
  uint32_t n = r->device.n_sms;
  double cell = (double)SIDE / n, radius = cell / 2 < 1 ? 1 : cell / 2;
  char name[24];
  snprintf(name, sizeof name, l->staggered ? "staggered" : "launch %u", number);
  hd_buf_printf(
      out,
      "<svg width=\"%d\" height=\"%d\" role=\"img\" style=\"display:inline-block;margin:0 12px 8px 0\">"
      "<rect y=\"14\" width=\"%d\" height=\"%d\" fill=\"#f1f5f9\"/><text x=\"0\" y=\"10\">%s: %u of %u "
      "SMs</text>\n",
      SIDE, SIDE + 14, SIDE, SIDE, name, l->distinct, n);
  for (uint32_t u = 0; u < n && u < r->n_ctas; u++)
    hd_buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\"/>\n", (u + 0.5) * cell,
                  14 + (l->sm[u] + 0.5) * cell, radius, l->sm[u] == u % n ? "#ea580c" : "#1d4ed8");
  hd_buf_puts(out, "</svg>\n");
}

static void plot_launches(const hd_probe_result *r, hd_buf *out) {
  if (!r->n_launches || !r->device.n_sms) return;
  heading(out, "Which SM runs which CTA",
          "The first wave of each launch: CTAs to the right, SMs downwards. Orange: CTA u on SM u, as round "
          "robin "
          "would have it.");
  hd_buf_puts(out, "<div>\n");
  for (uint32_t i = 0; i < r->n_launches; i++) plot_launch(r, &r->launches[i], i + 1, out);
  hd_buf_puts(out, "</div>\n");
}

/* ---- The page ------------------------------------------------------------------------ */

void hd_report_probe(const hd_probe_result *r, hd_buf *out) {
  html_begin(out, r->device.title);
  hd_buf_puts(out, "<h1>");
  hd_buf_html(out, r->device.title);
  hd_buf_printf(
      out,
      "</h1><p class=\"sub\">%u SMs, sm_%u, %.0f MHz while one thread runs. Latency: L1 %.1f, L2 %.1f, "
      "DRAM %.1f cycles; lines of %u bytes.</p>\n",
      r->device.n_sms, r->device.arch, r->clock_mhz, r->l1_cycles, r->l2_cycles, r->dram_cycles, r->line);
  plot_latency(r, out);
  plot_carveout(r, out);
  plot_bandwidth(r, out);
  plot_sectors(r, out);
  plot_launches(r, out);
  html_end(out);
}
