/* What this GPU's dispatcher and caches do. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/report.h"

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

static int print_json(const hd_probe_result *r) {
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
  return cli_print_json(json_pack(
      "{s:s, s:s, s:i, s:f, s:f, s:f, s:f, s:i, s:i, s:i, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:o, s:o}",
      "device", r->device.name, "title", r->device.title, "sms", (int)r->device.n_sms, "clock_mhz",
      r->clock_mhz, "l1_cycles", r->l1_cycles, "l2_cycles", r->l2_cycles, "dram_cycles", r->dram_cycles,
      "line", (int)r->line, "l1_sector", (int)r->l1_sector, "l2_sector", (int)r->l2_sector, "sector_cycles",
      numbers(r->sector_cycles, HD_PROBE_SECTORS), "l1_by_carveout",
      sizes(r->carveout, r->l1_bytes, HD_PROBE_CARVEOUTS, "percent"), "l1_by_stride",
      sizes(r->stride, r->stride_span, HD_PROBE_STRIDES, "stride"), "l1_bytes_per_second", r->l1_bandwidth,
      "l2_bytes_per_second", r->l2_bandwidth, "dram_read_bytes_per_second", r->dram_read_bandwidth,
      "copy_bytes_per_second", r->copy_bandwidth, "latency_by_footprint", footprints(r), "launches",
      launches));
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
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) hd_text_table_cell(t, "%s", head[i]);
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

static int print_text(const hd_probe_result *r, const char *path, const char *html) {
  hd_buf out = {0};
  hd_buf_printf(&out, "%s (%s), %u SMs, %.0f MHz\n\n", r->device.title, r->device.name, r->device.n_sms,
                r->clock_mhz);
  hd_buf_printf(&out, "Where CTAs run, and what L1 serves (%u CTAs of one warp; CLU listing 3):\n\n",
                r->n_ctas);
  put_launches(r, &out);
  hd_buf_puts(&out, "\nFirst wave: CTA -> SM:");
  for (uint32_t u = 0; u < 32 && u < r->n_ctas; u++) hd_buf_printf(&out, " %u", r->launches[0].sm[u]);
  hd_buf_printf(&out, " ...\n\nLatency, cycles: L1 %.1f, L2 %.1f, DRAM %.1f\n", r->l1_cycles, r->l2_cycles,
                r->dram_cycles);
  hd_buf_printf(&out, "Bandwidth, TB/s: L1 %.2f, L2 %.2f, DRAM read %.2f, copy %.2f (read and written)\n",
                r->l1_bandwidth / 1e12, r->l2_bandwidth / 1e12, r->dram_read_bandwidth / 1e12,
                r->copy_bandwidth / 1e12);
  hd_buf_puts(&out, "L1 that loads find, by carve-out for shared memory:");
  for (int i = 0; i < HD_PROBE_CARVEOUTS; i++)
    hd_buf_printf(&out, "%s %u%%: %" PRIu64 " KB", i ? "," : "", r->carveout[i], r->l1_bytes[i] >> 10);
  hd_buf_printf(&out, "\nOne miss brings %u bytes into L1, %u into L2; lines of %u bytes\n", r->l1_sector,
                r->l2_sector, r->line);
  hd_buf_printf(&out, "\nWrote %s%s%s.\n", path, html ? " and " : "", html ? html : "");
  return cli_print(&out);
}

int cmd_probe(int argc, char **argv) {
  const char *device = "cuda:0", *output = NULL, *html = NULL;
  uint64_t launches = 0, delay = 0, megabytes = 0;
  bool json = false;
  const cli_option options[] = {
      {"device", 0, CLI_TEXT, &device, 0, "D", "the GPU (default: cuda:0)"},
      {"launches", 0, CLI_NUMBER, &launches, 1000, "N",
       "of the dispatcher's benchmark, plus a staggered one (default: 5)"},
      {"delay", 0, CLI_NUMBER, &delay, 10000000, "CYCLES",
       "between the waves of the staggered launch (default: 3000)"},
      {"dram", 0, CLI_NUMBER, &megabytes, 1 << 20, "MB", "what the DRAM bandwidths read (default: 2048)"},
      {"output", 'o', CLI_TEXT, &output, 0, "OUT",
       "the GPU file (default: its name with .toml, in this folder)"},
      {"html", 0, CLI_TEXT, &html, 0, "OUT", "a page of plots as well"},
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("probe"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n) return cli_usage("probe: takes no arguments");
  hd_diag d = {0};
  hd_device *dev = NULL;
  hd_probe_result r = {0};
  hd_buf toml = {0}, page = {0};
  char path[128];
  hd_probe_options o = {
      .launches = (uint32_t)launches, .delay = (uint32_t)delay, .dram_bytes = megabytes << 20};
  hd_status st = cli_open_device(device, 0, &dev, &d);
  if (st == HD_OK) st = hd_probe(dev, &o, &r, &d);
  if (st == HD_OK) {
    char name[64];
    hd_probe_name(&r, name, sizeof name);
    snprintf(path, sizeof path, "%s.toml", name[0] ? name : "gpu");
    if (!output) output = path;
    hd_probe_toml(&r, &toml);
    st = toml.failed ? hd_nomem(&d) : hd_file_write(output, toml.data, toml.len, &d);
  }
  if (st == HD_OK && html) {
    hd_report_probe(&r, &page);
    st = page.failed ? hd_nomem(&d) : hd_file_write(html, page.data, page.len, &d);
  }
  rc = st != HD_OK ? cli_fail(&d) : json ? print_json(&r) : print_text(&r, output, html);
  hd_buf_free(&page);
  hd_buf_free(&toml);
  hd_probe_free(&r);
  hd_device_close(dev);
  return rc;
}
