/* One plan's counters on a modelled GPU. */
#include <inttypes.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/stalls.h"
#include "report/summary.h"

/* ---- The lines ------------------------------------------------------------------------------------ */

static const hd_counters *counters_of(const void *row) { return &((const hd_simulation *)row)->counters; }
static bool is_timed(const void *row) { return ((const hd_simulation *)row)->timed; }
static bool has_no_clock(const void *row) { return !is_timed(row); }
static bool is_sampled(const void *row) { return ((const hd_simulation *)row)->part < 1; }
static bool has_channels(const void *row) {
  return is_timed(row) && ((const hd_simulation *)row)->gpu->dram_channels > 1;
}

static void put_time(const void *row, hd_buf *out) {
  const hd_counters *c = counters_of(row);
  hd_buf_printf(out, "%.1f us (by a clock; busy cycles: issue %.0f, L1 %.0f, L2 %.0f, DRAM %.0f)", c->time_us,
                c->cycles_issue, c->cycles_l1, c->cycles_l2, c->cycles_dram);
}

static void put_rates(const void *row, hd_buf *out) {
  const hd_gpu *g = ((const hd_simulation *)row)->gpu;
  const hd_counters *c = counters_of(row);
  const double sms = c->cycles * g->n_sms;
  hd_buf_printf(out, "%.2f warp instructions of the PTX, %.1f of %u warps resident",
                sms > 0 ? (double)c->warp_instructions / sms : 0, sms > 0 ? c->warp_cycles / sms : 0,
                g->max_warps);
}

static void put_waits(const void *row, hd_buf *out) { report_put_stalls(counters_of(row), out); }

static void put_channels(const void *row, hd_buf *out) {
  const hd_counters *c = counters_of(row);
  hd_buf_printf(out, "%.1f%% of the whole rate while any is busy, which is %.1f%% of the time",
                100 * (c->dram_busy > 0 ? c->dram_useful / c->dram_busy : 0),
                100 * (c->cycles > 0 ? c->dram_busy / c->cycles : 0));
}

static void put_part(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%.1f%% of the work was replayed", 100 * ((const hd_simulation *)row)->part);
}

static void put_l1(const void *row, hd_buf *out) {
  const hd_counters *c = counters_of(row);
  const double hits = 100 * report_rate(c->l1_hits, c->l1_sectors);
  hd_buf_printf(out, "%" PRIu64 ", %.1f%% hits (miss rate %.1f%%)", c->l1_sectors, hits, 100 - hits);
}

static void put_l2(const void *row, hd_buf *out) {
  const hd_counters *c = counters_of(row);
  hd_buf_printf(out, "%" PRIu64 ", %.1f%% hits", c->l2_sectors, 100 * report_rate(c->l2_hits, c->l2_sectors));
}

static void put_megabytes(uint64_t bytes, hd_buf *out) { hd_buf_printf(out, "%.3f MB", (double)bytes / 1e6); }
static void put_read(const void *row, hd_buf *out) { put_megabytes(counters_of(row)->dram_read_bytes, out); }
static void put_written(const void *row, hd_buf *out) {
  put_megabytes(counters_of(row)->dram_write_bytes, out);
}

static void put_traffic(const void *row, hd_buf *out) {
  put_megabytes(hd_counters_traffic(counters_of(row)), out);
}

static void put_compulsory(const void *row, hd_buf *out) {
  const hd_counters *c = counters_of(row);
  put_megabytes(c->compulsory_bytes, out);
  hd_buf_printf(out, " (%.2fx moved)", report_rate(hd_counters_dram(c), c->compulsory_bytes));
}

/* ---- The fields ----------------------------------------------------------------------------------- */

static const char *depth(const void *row) { return is_timed(row) ? "timing" : "traffic"; }

static const field simulation_fields[] = {
    {"counters", .spread = true, MEMBER(hd_simulation, counters)},
    {"workload", THROUGH(hd_simulation, workload, hd_workload, name)},
    {"size", THROUGH(hd_simulation, workload, hd_workload, size)},
    {"gpu", THROUGH(hd_simulation, gpu, hd_gpu, name)},
    {"plan", POINTED(hd_simulation, plan)},
    {"depth", .text = depth},
    {"dispatcher", MEMBER(hd_simulation, dispatch)},
    {"replayed_part", MEMBER(hd_simulation, part)},
    {.heading = "predicted time", .when = is_timed, .put = put_time},
    {.heading = "traffic", .when = has_no_clock, .put = put_traffic},
    {.heading = "per cycle, SM", .when = is_timed, .put = put_rates},
    {.heading = "warps wait", .when = is_timed, .put = put_waits},
    {.heading = "DRAM channels", .when = has_channels, .put = put_channels},
    {.heading = "sampled", .when = is_sampled, .put = put_part},
    {.heading = "CTAs per SM", MEMBER(hd_simulation, counters.resident)},
    {.heading = "L1 sectors", .put = put_l1},
    {.heading = "L2 sectors", .put = put_l2},
    {.heading = "DRAM read", .put = put_read},
    {.heading = "DRAM written", .put = put_written},
    {.heading = "compulsory", .put = put_compulsory},
    {0},
};

void hd_simulation_json(const hd_simulation *s, hd_buf *out) {
  report_put_fields_json(simulation_fields, s, out);
}

void hd_simulation_text(const hd_simulation *s, hd_buf *out) {
  hd_buf_printf(out, "%s (%s) on %s, %s dispatch, plan ", s->workload->name, s->workload->size, s->gpu->title,
                s->dispatch);
  hd_plan_print(s->plan, out);
  hd_buf_putc(out, '\n');
  report_put_lines(simulation_fields, s, out);
  report_put_confirmation(s->gpu, s->timed, s->part, s->lack_ends, &s->counters, out);
}
