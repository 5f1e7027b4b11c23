/* A probe's figures; probe.c draws them. */
#include <inttypes.h>

#include "heddle/results.h"
#include "report/beside.h"
#include "report/json.h"
#include "report/table.h"

static json_t *numbers(const uint32_t *v, size_t n) {
  json_t *a = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(a, json_integer(v[i]));
  return a;
}

static json_t *footprints(const hd_probe_result *r) {
  json_t *a = json_array();
  for (uint32_t i = 0; i < r->n_footprints; i++)
    json_array_append_new(a, json_pack("{s:I, s:f}", "bytes", (json_int_t)r->footprints[i].bytes, "cycles",
                                       r->footprints[i].cycles));
  return a;
}

static json_t *sizes(const uint32_t *at, const uint64_t *v, size_t n, const char *key) {
  json_t *a = json_array();
  for (size_t i = 0; i < n; i++)
    json_array_append_new(a, json_pack("{s:i, s:I}", key, (int)at[i], "bytes", (json_int_t)v[i]));
  return a;
}

static json_t *figures(const hd_probe_result *r) {
  json_t *a = json_array();
  for (uint32_t i = 0; i < r->n_figures; i++)
    json_array_append_new(a, json_pack("{s:s, s:f, s:s}", "name", r->figures[i].name, "value",
                                       r->figures[i].value, "unit", r->figures[i].unit));
  return a;
}

static json_t *model_json(const hd_probe_result *r) {
  return json_pack("{s:s, s:s, s:i, s:b}", "device", r->device.name, "title", r->device.title, "sms",
                   (int)r->device.n_sms, "modelled", 1);
}

static json_t *measured_json(const hd_probe_result *r) {
  json_t *launches = json_array();
  for (uint32_t i = 0; i < r->n_launches; i++) {
    const hd_probe_launch *l = &r->launches[i];
    json_array_append_new(
        launches, json_pack("{s:b, s:i, s:i, s:i, s:i, s:i, s:i, s:f, s:o, s:o}", "staggered", l->staggered,
                            "distinct_sms", (int)l->distinct, "round_robin_ctas", (int)l->round_robin,
                            "least_ctas", (int)l->least, "most_ctas", (int)l->most, "first_cycles",
                            (int)l->first, "later_cycles", (int)l->later, "later_hits", l->hits, "sm",
                            numbers(l->sm, r->n_ctas), "cycles", numbers(l->ticks, r->n_ctas)));
  }
  return json_pack("{s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:o, s:o, s:o, s:f, s:f, "
                   "s:f, s:f, s:o, s:o, s:o}",
                   "device", r->device.name, "title", r->device.title, "sms", (int)r->device.n_sms,
                   "clock_mhz", r->clock_mhz, "l1_cycles", r->l1_cycles, "l2_cycles", r->l2_cycles,
                   "dram_cycles", r->dram_cycles, "line", (int)r->line, "l1_sector", (int)r->l1_sector,
                   "l2_sector", (int)r->l2_sector, "sector_cycles",
                   numbers(r->sector_cycles, HD_PROBE_SECTORS), "l1_by_carveout",
                   sizes(r->carveout, r->l1_bytes, HD_PROBE_CARVEOUTS, "percent"), "l1_by_stride",
                   sizes(r->stride, r->stride_span, HD_PROBE_STRIDES, "stride"), "l1_bytes_per_second",
                   r->l1_bandwidth, "l2_bytes_per_second", r->l2_bandwidth, "dram_read_bytes_per_second",
                   r->dram_read_bandwidth, "copy_bytes_per_second", r->copy_bandwidth, "latency_by_footprint",
                   footprints(r), "launches", launches, "figures", figures(r));
}

void hd_probe_json(const hd_probe_result *r, const hd_probe_beside *beside, hd_buf *out) {
  json_t *j = r->device.kind == HD_DEVICE_MODEL ? model_json(r) : measured_json(r);
  if (beside) json_object_set_new(j, "beside", report_beside_json(beside));
  report_put_json(j, out);
}

static void put_launches(const hd_probe_result *r, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrrrrrr");
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {
      "launch",      "SM of CTA 0",   "SMs of the first wave",  "on SM u mod M",
      "CTAs per SM", "first / later", "later CTAs served by L1"};
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  for (uint32_t i = 0; i < r->n_launches; i++) {
    const hd_probe_launch *l = &r->launches[i];
    hd_text_table_cell(t, l->staggered ? "staggered" : "%u", i + 1);
    hd_text_table_cell(t, "%u", l->sm[0]);
    hd_text_table_cell(t, "%u of %u", l->distinct, r->device.n_sms);
    hd_text_table_cell(t, "%.1f%%", 100.0 * l->round_robin / r->n_ctas);
    hd_text_table_cell(t, "%u to %u", l->least, l->most);
    hd_text_table_cell(t, "%u / %u cycles", l->first, l->later);
    hd_text_table_cell(t, "%.1f%%", 100.0 * l->hits);
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

static void put_figures(const hd_probe_result *r, hd_buf *out) {
  hd_text_table *t = hd_text_table_new("lrl");
  if (!t) {
    out->failed = true;
    return;
  }
  for (uint32_t i = 0; i < r->n_figures; i++) {
    hd_text_table_cell(t, "%s", r->figures[i].name);
    hd_text_table_cell(t, "%.2f", r->figures[i].value);
    hd_text_table_cell(t, "%s", r->figures[i].unit);
  }
  hd_buf_puts(out, "\nInstructions (per SM), requests to memory (all SMs), launches, what SMs share:\n\n");
  hd_text_table_print(t, out);
  hd_text_table_free(t);
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
