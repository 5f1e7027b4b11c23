/* A probe's figures. */
#include <inttypes.h>

#include "heddle/results.h"
#include "report/beside.h"
#include "report/fields.h"
#include "report/json.h"
#include "report/trees.h"

/* ---- A launch ------------------------------------------------------------------------------------- */

typedef struct launched {
  const hd_probe_result *r;
  const hd_probe_launch *launch;
} launched;

static const hd_probe_result *result_of(const void *row) { return ((const launched *)row)->r; }
static const hd_probe_launch *launch_of(const void *row) { return ((const launched *)row)->launch; }

static void put_number(const void *row, hd_buf *out) {
  if (launch_of(row)->staggered)
    hd_buf_puts(out, "staggered");
  else
    hd_buf_printf(out, "%td", launch_of(row) - result_of(row)->launches + 1);
}
static int64_t first_sm(const void *row) { return launch_of(row)->sm[0]; }
static void put_distinct(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%u of %u", launch_of(row)->distinct, result_of(row)->device.n_sms);
}
static double in_turn(const void *row) {
  return (double)launch_of(row)->round_robin / result_of(row)->n_ctas;
}
static void put_ctas(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%u to %u", launch_of(row)->least, launch_of(row)->most);
}
static void put_cycles(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%u / %u cycles", launch_of(row)->first, launch_of(row)->later);
}

static json_t *numbers(const uint32_t *v, size_t n) {
  json_t *a = json_array();
  for (size_t i = 0; a && i < n; i++) a = report_append(a, json_integer(v[i]));
  return a;
}
static json_t *sm_json(const void *row) { return numbers(launch_of(row)->sm, result_of(row)->n_ctas); }
static json_t *cycles_json(const void *row) { return numbers(launch_of(row)->ticks, result_of(row)->n_ctas); }

#define OF(member) THROUGH(launched, launch, hd_probe_launch, member)
static const field launch_fields[] = {
    {"staggered", OF(staggered)},
    {.heading = "launch", .put = put_number},
    {.heading = "SM of CTA 0", .count = first_sm},
    {"distinct_sms", OF(distinct)},
    {.heading = "SMs of the first wave", .align = 'r', .put = put_distinct},
    {"round_robin_ctas", OF(round_robin)},
    {.heading = "on SM u mod M", .kind = FIELD_PERCENT, .decimals = 1, .real = in_turn},
    {"least_ctas", OF(least)},
    {"most_ctas", OF(most)},
    {.heading = "CTAs per SM", .align = 'r', .put = put_ctas},
    {"first_cycles", OF(first)},
    {"later_cycles", OF(later)},
    {.heading = "first / later", .align = 'r', .put = put_cycles},
    {"later_hits", "later CTAs served by L1", FIELD_PERCENT, 1, OF(hits)},
    {"sm", .tree = sm_json},
    {"cycles", .tree = cycles_json},
    {0},
};

/* ---- All that was measured ------------------------------------------------------------------------ */

/* Bytes that stay in L1, by the carve-out or by the stride. */
typedef struct held {
  uint32_t at;
  uint64_t bytes;
} held;
static const field carveout_fields[] = {{"percent", MEMBER(held, at)}, {"bytes", MEMBER(held, bytes)}, {0}};
static const field stride_fields[] = {{"stride", MEMBER(held, at)}, {"bytes", MEMBER(held, bytes)}, {0}};
static json_t *held_json(const field *fields, const uint32_t *at, const uint64_t *bytes, size_t n) {
  json_t *a = json_array();
  for (size_t i = 0; a && i < n; i++)
    a = report_append(a, report_fields_json(fields, &(held){at[i], bytes[i]}));
  return a;
}
static json_t *carveouts_json(const void *row) {
  const hd_probe_result *r = row;
  return held_json(carveout_fields, r->carveout, r->l1_bytes, HD_PROBE_CARVEOUTS);
}
static json_t *strides_json(const void *row) {
  const hd_probe_result *r = row;
  return held_json(stride_fields, r->stride, r->stride_span, HD_PROBE_STRIDES);
}

static json_t *footprints_json(const void *row) {
  static const field fields[] = {
      {"bytes", MEMBER(hd_probe_footprint, bytes)}, {"cycles", MEMBER(hd_probe_footprint, cycles)}, {0}};
  const hd_probe_result *r = row;
  return report_rows_json(fields, r->footprints, r->n_footprints, sizeof *r->footprints);
}

static json_t *launches_json(const void *row) {
  const hd_probe_result *r = row;
  json_t *a = json_array();
  for (uint32_t i = 0; a && i < r->n_launches; i++)
    a = report_append(a, report_fields_json(launch_fields, &(launched){r, &r->launches[i]}));
  return a;
}

static const field figure_fields[] = {{"name", "figure", MEMBER(hd_probe_figure, name)},
                                      {"value", "value", .decimals = 2, MEMBER(hd_probe_figure, value)},
                                      {"unit", "unit", MEMBER(hd_probe_figure, unit)},
                                      {0}};
#define ALL(member) MEMBER(hd_probe_result, member)
static const field measured_fields[] = {
    {"device", ALL(device.name)},
    {"title", ALL(device.title)},
    {"sms", ALL(device.n_sms)},
    {"clock_mhz", ALL(clock_mhz)},
    {"l1_cycles", ALL(l1_cycles)},
    {"l2_cycles", ALL(l2_cycles)},
    {"dram_cycles", ALL(dram_cycles)},
    {"line", ALL(line)},
    {"l1_sector", ALL(l1_sector)},
    {"l2_sector", ALL(l2_sector)},
    {"sector_cycles", ARRAY(hd_probe_result, sector_cycles)},
    {"l1_by_carveout", .tree = carveouts_json},
    {"l1_by_stride", .tree = strides_json},
    {"l1_bytes_per_second", ALL(l1_bandwidth)},
    {"l2_bytes_per_second", ALL(l2_bandwidth)},
    {"dram_read_bytes_per_second", ALL(dram_read_bandwidth)},
    {"copy_bytes_per_second", ALL(copy_bandwidth)},
    {"latency_by_footprint", .tree = footprints_json},
    {"launches", .tree = launches_json},
    {"figures", LIST(hd_probe_result, figures, n_figures, figure_fields)},
    {0},
};
static const field model_fields[] = {{"device", ALL(device.name)},
                                     {"title", ALL(device.title)},
                                     {"sms", ALL(device.n_sms)},
                                     {"modelled", .flag = field_always},
                                     {0}};

json_t *report_probe_tree(const hd_probe_result *r, const hd_probe_beside *beside) {
  json_t *j = report_fields_json(r->device.kind == HD_DEVICE_MODEL ? model_fields : measured_fields, r);
  if (!beside || !j || json_object_set_new(j, "beside", report_beside_json(beside)) == 0) return j;
  json_decref(j);
  return NULL;
}

void hd_probe_json(const hd_probe_result *r, const hd_probe_beside *beside, hd_buf *out) {
  report_put_json(report_probe_tree(r, beside), out);
}

/* ---- The text ------------------------------------------------------------------------------------- */

static void put_launches(const hd_probe_result *r, hd_buf *out) {
  field_sheet sheet = report_sheet(launch_fields, 0);
  for (uint32_t i = 0; i < r->n_launches; i++) report_sheet_row(&sheet, &(launched){r, &r->launches[i]});
  report_put_sheet(&sheet, out);
}

static void put_figures(const hd_probe_result *r, hd_buf *out) {
  hd_buf_puts(out, "\nInstructions (per SM), requests to memory (all SMs), launches, what SMs share:\n\n");
  report_put_bare_rows(figure_fields, r->figures, r->n_figures, sizeof *r->figures, out);
}

static void put_measured(const hd_probe_result *r, hd_buf *out) {
  hd_buf_printf(out, "%s (%s), %u SMs, %.0f MHz\n\n", r->device.title, r->device.name, r->device.n_sms,
                r->clock_mhz);
  hd_buf_printf(out, "Where CTAs run, and what L1 serves (%u CTAs of one warp; CLU listing 3):\n\n",
                r->n_ctas);
  put_launches(r, out);
  hd_buf_puts(out, "\nFirst wave: CTA -> SM:");
  for (uint32_t u = 0; u < 32 && u < r->n_ctas; u++) hd_buf_printf(out, " %u", r->launches[0].sm[u]);
  hd_buf_printf(out, " ...\n\nLatency, cycles: L1 %.1f, L2 %.1f, DRAM %.1f\n", r->l1_cycles, r->l2_cycles,
                r->dram_cycles);
  hd_buf_printf(out, "Bandwidth, TB/s: L1 %.2f, L2 %.2f, DRAM read %.2f, copy %.2f (read and written)\n",
                r->l1_bandwidth / 1e12, r->l2_bandwidth / 1e12, r->dram_read_bandwidth / 1e12,
                r->copy_bandwidth / 1e12);
  hd_buf_puts(out, "L1 that loads find, by carve-out for shared memory:");
  for (int i = 0; i < HD_PROBE_CARVEOUTS; i++)
    hd_buf_printf(out, "%s %u%%: %" PRIu64 " KB", i ? "," : "", r->carveout[i], r->l1_bytes[i] >> 10);
  hd_buf_printf(out, "\nOne miss brings %u bytes into L1, %u into L2; lines of %u bytes\n", r->l1_sector,
                r->l2_sector, r->line);
  if (r->n_figures) put_figures(r, out);
  hd_buf_putc(out, '\n');
}

void hd_probe_text(const hd_probe_result *r, const char *path, const char *html,
                   const hd_probe_beside *beside, hd_buf *out) {
  if (r->device.kind == HD_DEVICE_MODEL)
    hd_buf_printf(out, "%s (%s) is a model: these are its file's values, and nothing was measured.\n",
                  r->device.title, r->device.name);
  else
    put_measured(r, out);
  hd_buf_printf(out, "Wrote %s%s%s.\n", path, html ? " and " : "", html ? html : "");
  if (beside) report_put_beside(beside, out);
}
