/* One plan's counters on a modelled GPU. */
#include <inttypes.h>
#include <stdio.h>

#include "heddle/results.h"
#include "report/json.h"
#include "report/stalls.h"
#include "report/summary.h"
#include "report/table.h"

static void put_line(hd_text_table *t, const char *label, const char *fmt, ...) HD_PRINTF(3, 4);
static void put_line(hd_text_table *t, const char *label, const char *fmt, ...) {
  char text[128];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  hd_text_table_cell(t, "  %s", label);
  hd_text_table_cell(t, "%s", text);
}

/* Where warps' time went; what they did per cycle. */
static void put_stalls(hd_text_table *t, const hd_gpu *g, const hd_counters *c) {
  const double sms = c->cycles * g->n_sms;
  hd_buf stalls = {0};
  report_put_stalls(c, &stalls);
  put_line(t, "per cycle, SM", "%.2f warp instructions of the PTX, %.1f of %u warps resident",
           sms > 0 ? (double)c->warp_instructions / sms : 0, sms > 0 ? c->warp_cycles / sms : 0,
           g->max_warps);
  put_line(t, "warps wait", "%s", stalls.data ? stalls.data : "");
  hd_buf_free(&stalls);
  if (g->dram_channels > 1)
    put_line(t, "DRAM channels", "%.1f%% of the whole rate while any is busy, which is %.1f%% of the time",
             100 * (c->dram_busy > 0 ? c->dram_useful / c->dram_busy : 0),
             100 * (c->cycles > 0 ? c->dram_busy / c->cycles : 0));
}

void hd_simulation_text(const hd_simulation *s, hd_buf *out) {
  const hd_counters *c = &s->counters;
  hd_buf text = {0};
  hd_plan_print(s->plan, &text);
  hd_buf_printf(out, "%s (%s) on %s, %s dispatch, plan %s\n", s->workload->name, s->workload->size,
                s->gpu->title, s->dispatch, text.data ? text.data : "");
  hd_text_table *t = hd_text_table_new("ll");
  if (!t) {
    out->failed = true;
    hd_buf_free(&text);
    return;
  }
  put_line(t, s->timed ? "predicted time" : "bound on time",
           s->timed ? "%.1f us (by a clock; busy cycles: issue %.0f, L1 %.0f, L2 %.0f, DRAM %.0f)"
                    : "%.1f us (bound by cycles: issue %.0f, L1 %.0f, L2 %.0f, DRAM %.0f)",
           c->time_us, c->cycles_issue, c->cycles_l1, c->cycles_l2, c->cycles_dram);
  if (s->timed) put_stalls(t, s->gpu, c);
  if (s->part < 1) put_line(t, "sampled", "%.1f%% of the work was replayed", 100 * s->part);
  put_line(t, "CTAs per SM", "%u", c->resident);
  put_line(t, "L1 sectors", "%" PRIu64 ", %.1f%% hits (miss rate %.1f%%)", c->l1_sectors,
           100 * report_rate(c->l1_hits, c->l1_sectors), 100 - 100 * report_rate(c->l1_hits, c->l1_sectors));
  put_line(t, "L2 sectors", "%" PRIu64 ", %.1f%% hits", c->l2_sectors,
           100 * report_rate(c->l2_hits, c->l2_sectors));
  put_line(t, "DRAM read", "%.3f MB", (double)c->dram_read_bytes / 1e6);
  put_line(t, "DRAM written", "%.3f MB", (double)c->dram_write_bytes / 1e6);
  put_line(t, "compulsory", "%.3f MB (%.2fx moved)", (double)c->compulsory_bytes / 1e6,
           c->compulsory_bytes ? (double)hd_counters_dram(c) / (double)c->compulsory_bytes : 0.0);
  hd_text_table_print(t, out);
  hd_text_table_free(t);
  report_put_confirmation(s->gpu, s->timed, s->part, s->lack_ends, c, out);
  hd_buf_free(&text);
}

void hd_simulation_json(const hd_simulation *s, hd_buf *out) {
  json_t *j = report_counters_json(&s->counters);
  json_object_set_new(j, "workload", json_string(s->workload->name));
  json_object_set_new(j, "size", json_string(s->workload->size));
  json_object_set_new(j, "gpu", json_string(s->gpu->name));
  json_object_set_new(j, "plan", report_plan_json(s->plan));
  json_object_set_new(j, "depth", json_string(s->timed ? "timing" : "traffic"));
  json_object_set_new(j, "dispatcher", json_string(s->dispatch));
  json_object_set_new(j, "replayed_part", json_real(s->part));
  report_put_json(j, out);
}
