/* Two workloads on a device at the same time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/corun.h"

typedef struct session {
  hd_device *device;
  hd_workload *w[2];
  hd_corun_options o;
  hd_corun_result r;
} session;

static json_t *number(double v) { return isfinite(v) ? json_real(v) : json_null(); }

static json_t *figure_json(const hd_corun_figure *f) {
  return json_pack("{s:f, s:o, s:o}", "median", f->median, "low", number(f->low), "high", number(f->high));
}

static json_t *row_json(const hd_corun_row *r, const char *mode) {
  if (r->status != HD_OK) return json_pack("{s:s, s:s}", "mode", mode, "failed", r->why);
  json_t *j = json_pack("{s:s, s:[f, f], s:o, s:o}", "mode", mode, "us", r->us[0], r->us[1], "stp",
                        figure_json(&r->stp), "antt", figure_json(&r->antt));
  if (j && r->sms[0]) {
    json_object_set_new(j, "sms", json_pack("[i, i]", (int)r->sms[0], (int)r->sms[1]));
    json_object_set_new(j, "agents", json_pack("[i, i]", (int)r->agents[0], (int)r->agents[1]));
    if (r->plans[0][0]) json_object_set_new(j, "plans", json_pack("[s, s]", r->plans[0], r->plans[1]));
    json_object_set_new(j, "tried", json_integer(r->tried));
  }
  return j;
}

static int print_json(const session *s) {
  const hd_corun_result *r = &s->r;
  json_t *rows = json_array();
  for (int m = 0; m < HD_CORUN_MODES; m++)
    json_array_append_new(rows, row_json(&r->rows[m], hd_corun_mode_name((hd_corun_mode)m)));
  return cli_print_json(json_pack("{s:[s, s], s:[s, s], s:s, s:[i, i], s:[f, f], s:i, s:o}", "workloads",
                                  s->w[0]->name, s->w[1]->name, "sizes", s->w[0]->size, s->w[1]->size,
                                  "device", hd_device_get_info(s->device)->title, "turns", (int)r->turns[0],
                                  (int)r->turns[1], "alone_us", r->alone_us[0], r->alone_us[1], "rounds",
                                  (int)r->rounds, "rows", rows));
}

static void figure_cell(hd_text_table *t, const hd_corun_figure *f) {
  if (f->low > 0)
    hd_text_table_cell(t, "%.3f (%.3f to %.3f)", f->median, f->low, f->high);
  else
    hd_text_table_cell(t, "%.3f", f->median);
}

static void put_row(hd_text_table *t, const hd_corun_row *r, const char *mode) {
  hd_text_table_cell(t, "%s", mode);
  if (r->status != HD_OK) {
    for (int i = 0; i < 6; i++) hd_text_table_cell(t, "-");
    return;
  }
  if (r->sms[0])
    hd_text_table_cell(t, "%u + %u", r->sms[0], r->sms[1]);
  else
    hd_text_table_cell(t, "%s", "");
  char agents[2][16] = {"all", "all"};
  for (int i = 0; i < 2; i++)
    if (r->agents[i]) snprintf(agents[i], sizeof agents[i], "%u", r->agents[i]);
  hd_text_table_cell(t, "%s, %s", agents[0], agents[1]);
  for (int i = 0; i < 2; i++) hd_text_table_cell(t, "%.2f", r->us[i]);
  figure_cell(t, &r->stp);
  figure_cell(t, &r->antt);
}

static int print_text(const session *s) {
  const hd_corun_result *r = &s->r;
  hd_text_table *t = hd_text_table_new("lllrrll");
  if (!t) return cli_usage("out of memory");
  static const char *const head[] = {"mode", "SMs", "CTAs per SM", "A us", "B us", "STP", "ANTT"};
  for (size_t i = 0; i < sizeof head / sizeof *head; i++) hd_text_table_cell(t, "%s", head[i]);
  hd_text_table_rule(t);
  for (int m = 0; m < HD_CORUN_MODES; m++) put_row(t, &r->rows[m], hd_corun_mode_name((hd_corun_mode)m));
  hd_buf out = {0};
  hd_buf_printf(&out, "on %s (%s), %u rounds, medians (99%% intervals)\n",
                hd_device_get_info(s->device)->name, hd_device_get_info(s->device)->title, r->rounds);
  for (int i = 0; i < 2; i++)
    hd_buf_printf(&out, "%c: %s (%s), %u turn%s, %.2f us alone\n", 'A' + i, s->w[i]->name, s->w[i]->size,
                  r->turns[i], r->turns[i] == 1 ? "" : "s", r->alone_us[i]);
  hd_buf_putc(&out, '\n');
  hd_text_table_print(t, &out);
  hd_text_table_free(t);
  const hd_corun_row *partition = &r->rows[HD_CORUN_PARTITION];
  if (partition->status == HD_OK)
    hd_buf_printf(&out, "\npartition: A under %s, B under %s\n", partition->plans[0], partition->plans[1]);
  for (int m = 0; m < HD_CORUN_MODES; m++)
    if (r->rows[m].status != HD_OK)
      hd_buf_printf(&out, "\n%s: %s\n", hd_corun_mode_name((hd_corun_mode)m), r->rows[m].why);
  return cli_print(&out);
}

static hd_status parse_plans(session *s, const cli_list *plans, hd_diag *d) {
  if (plans->n > 2) return hd_fail(d, HD_ERR_USAGE, "corun: two plans at most, one for each workload");
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < plans->n; i++) {
    st = hd_plan_parse(plans->items[i], &s->o.plans[i], d);
    if (st == HD_OK && (s->o.plans[i].bind != HD_BIND_NONE || s->o.plans[i].sms.n))
      st = hd_fail(d, HD_ERR_USAGE, "corun: bind and sms of the plans are for corun to find");
  }
  return st;
}

int cmd_corun(int argc, char **argv) {
  const char *device = "cuda:0", *size = NULL;
  uint64_t repetitions = 0, warmups = 0, sms = 0;
  bool json = false;
  cli_list plans = {0};
  const cli_option options[] = {
      {"device", 0, CLI_TEXT, &device, 0, "D", "cuda:N (default: cuda:0)"},
      {"size", 0, CLI_TEXT, &size, 0, "NAME", "both workloads' size (default: small)"},
      {"plan", 0, CLI_LIST, &plans, 0, "P",
       "other levers of the partitions' plans: of A, and given again, of B"},
      {"sms", 0, CLI_NUMBER, &sms, 65536, "N",
       "that A gets of a partition (default: what a search finds best)"},
      {"repetitions", 0, CLI_NUMBER, &repetitions, 100000, "N",
       "timed rounds (default: 21); an interval needs 8"},
      {"warmups", 0, CLI_NUMBER, &warmups, 100000, "N", "rounds before them (default: 2)"},
      CLI_JSON_OPTION(json),
      {0}};
  int n, rc = cli_parse(cli_find("corun"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n != 2) {
    return cli_usage("corun: name two workloads ('heddle list' shows them)");
  }
  hd_diag d = {0};
  session s = {
      .o = {.sms = (uint32_t)sms, .warmups = (uint32_t)warmups, .repetitions = (uint32_t)repetitions}};
  hd_status st = parse_plans(&s, &plans, &d);
  for (int i = 0; st == HD_OK && i < 2; i++)
    st = hd_workload_open(argv[1 + i], cli_kernels_dir(), size, &s.w[i], &d);
  if (st == HD_OK) st = cli_open_device(device, 0, &s.device, &d);
  if (st == HD_OK) st = hd_corun(s.device, (const hd_workload *const *)s.w, &s.o, &s.r, &d);
  if (st != HD_OK)
    rc = cli_fail(&d);
  else
    rc = json ? print_json(&s) : print_text(&s);
  for (int i = 0; i < 2; i++) hd_plan_free(&s.o.plans[i]);
  hd_device_close(s.device);
  for (int i = 0; i < 2; i++) hd_workload_close(s.w[i]);
  return rc;
}
