#include <inttypes.h>
#include <string.h>

#include "model_common.h"

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

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

static int print_counters(const model_session *s, const hd_plan *plan, const hd_counters *c) {
  hd_buf out = {0}, text = {0};
  hd_plan_print(plan, &text);
  hd_buf_printf(&out, "%s (%s) on %s, %s dispatch, plan %s\n", s->workload->name, s->workload->size,
                s->gpu.title, hd_dispatch_name(s->dispatch), text.data ? text.data : "");
  hd_text_table *t = hd_text_table_new("ll");
  if (!t) return cli_usage("out of memory");
  put_line(t, "predicted time", "%.1f us (bound by cycles: issue %.0f, L1 %.0f, L2 %.0f, DRAM %.0f)",
           c->time_us, c->cycles_issue, c->cycles_l1, c->cycles_l2, c->cycles_dram);
  put_line(t, "CTAs per SM", "%u", c->resident);
  put_line(t, "L1 sectors", "%" PRIu64 ", %.1f%% hits (miss rate %.1f%%)", c->l1_sectors,
           percent(c->l1_hits, c->l1_sectors), 100 - percent(c->l1_hits, c->l1_sectors));
  put_line(t, "L2 sectors", "%" PRIu64 ", %.1f%% hits", c->l2_sectors, percent(c->l2_hits, c->l2_sectors));
  put_line(t, "DRAM read", "%.3f MB", (double)c->dram_read_bytes / 1e6);
  put_line(t, "DRAM written", "%.3f MB", (double)c->dram_write_bytes / 1e6);
  put_line(t, "compulsory", "%.3f MB (%.2fx moved)", (double)c->compulsory_bytes / 1e6,
           c->compulsory_bytes
               ? (double)(c->dram_read_bytes + c->dram_write_bytes) / (double)c->compulsory_bytes
               : 0.0);
  hd_text_table_print(t, &out);
  hd_text_table_free(t);
  hd_buf_free(&text);
  return cli_print(&out);
}

int cmd_simulate(int argc, char **argv) {
  model_options o = {0};
  const char *plan_text = "baseline";
  bool json = false;
  const cli_option options[] = {
      {"gpu", 0, CLI_TEXT, &o.gpu_name, 0, "NAME",
       "a file of gpus/ (gtx480 to gtx1080, k40, m2075, h100, h200) or a .toml (default: h100)"},
      {"l1", 0, CLI_NUMBER, &o.l1_bytes, UINT32_MAX, "BYTES", "of L1 per SM, in place of the GPU's own"},
      {"plan", 0, CLI_TEXT, &plan_text, 0, "P", "the plan (default: baseline)"},
      {"dispatcher", 0, CLI_TEXT, &o.dispatcher, 0, "NAME",
       "demand or round-robin (default: as the GPU's file says)"},
      {"seed", 0, CLI_NUMBER, &o.seed, 0, "N", "seed of the dispatcher"},
      {"size", 0, CLI_TEXT, &o.size, 0, "NAME", "the workload's size (default: small)"},
      CLI_THREADS_OPTION(o.threads),
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("simulate"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n != 1) return cli_usage("simulate: name one workload ('heddle list' shows them)");
  hd_diag d = {0};
  model_session s = {0};
  hd_plan plan = {0};
  hd_counters c;
  hd_status st = hd_plan_parse(plan_text, &plan, &d);
  if (st == HD_OK) st = model_open_workload(&s, argv[1], &o, &d);
  if (st == HD_OK) st = model_open_study(&s, &o, &d);
  if (st == HD_OK) st = hd_study_replay(s.study, &s.gpu, &plan, s.dispatch, o.seed, &c, &d);
  if (st != HD_OK) {
    rc = cli_fail(&d);
  } else if (!json) {
    rc = print_counters(&s, &plan, &c);
  } else {
    hd_buf text = {0};
    hd_plan_print(&plan, &text);
    json_t *j = cli_counters_json(&c);
    if (j) {
      json_object_set_new(j, "workload", json_string(s.workload->name));
      json_object_set_new(j, "size", json_string(s.workload->size));
      json_object_set_new(j, "gpu", json_string(s.gpu.name));
      json_object_set_new(j, "plan", json_string(text.data ? text.data : ""));
      json_object_set_new(j, "dispatcher", json_string(hd_dispatch_name(s.dispatch)));
    }
    hd_buf_free(&text);
    rc = cli_print_json(j);
  }
  hd_plan_free(&plan);
  model_close(&s);
  return rc;
}
