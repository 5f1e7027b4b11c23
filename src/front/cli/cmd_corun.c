/* Two workloads on a device at the same time. */
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "heddle/results.h"

typedef struct session {
  hd_device *device;
  hd_workload *w[2];
  hd_corun_options o;
  hd_corun_result r;
} session;

static int print(const session *s, bool json) {
  hd_buf out = {0};
  const hd_corun_report r = {(const hd_workload *const *)s->w, hd_device_get_info(s->device),
                             hd_device_get_gpu(s->device), &s->r};
  (json ? hd_corun_json : hd_corun_text)(&r, &out);
  return cli_print(&out);
}

static hd_status parse_plans(session *s, const cli_list *plans, hd_diag *d) {
  if (plans->n > 2) return hd_fail(d, HD_ERR_USAGE, "corun: two plans at most, one for each workload");
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < plans->n; i++) {
    st = hd_plan_parse(plans->items[i], &s->o.plans[i], d);
    if (st == HD_OK && (s->o.plans[i].bind != HD_BIND_NONE || hd_numbers_count(&s->o.plans[i].sms)))
      st = hd_fail(d, HD_ERR_USAGE, "corun: corun finds bind and sms itself; leave them out of the plans");
  }
  return st;
}

/* A's or B's part of "A,B", or all of it. */
static const char *size_of(const char *size, int i, char room[64]) {
  const char *comma = size ? strchr(size, ',') : NULL;
  if (!comma) return size;
  if (i) return comma + 1;
  snprintf(room, 64, "%.*s", (int)(comma - size), size);
  return room;
}

int cmd_corun(int argc, char **argv) {
  const char *device = "cuda:0", *size = NULL;
  uint64_t repetitions = 0, warmups = 0, sms = 0;
  bool json = false;
  cli_list plans = {0};
  const cli_option options[] = {
      {"device", 0, CLI_TEXT, &device, 0, "D", "cuda:N or model:NAME (default: cuda:0)"},
      CLI_COMMON_AS("size", &size,
                    "both workloads' size, or A's and B's with a comma between (default: small)"),
      {"plan", 0, CLI_LIST, &plans, 0, "P",
       "other levers of the partitions' plans: of A, and given again, of B"},
      {"sms", 0, CLI_NUMBER, &sms, 65536, "N",
       "that A gets of a partition (default: what a search finds best)"},
      CLI_COMMON_AS(
          "repetitions", &repetitions,
          "timed rounds (default: 21); an interval needs 8. Of a model: turns of each (default: 3)"),
      CLI_COMMON_AS("warmups", &warmups, "rounds before them (default: 2)"),
      CLI_COMMON("json", &json),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  session s = {.o = {.run.watch = cli_watch,
                     .sms = (uint32_t)sms,
                     .warmups = (uint32_t)warmups,
                     .repetitions = (uint32_t)repetitions}};
  hd_status st = parse_plans(&s, &plans, &d);
  char room[64];
  for (int i = 0; st == HD_OK && i < 2; i++)
    st = hd_workload_open(argv[1 + i], cli_kernels_dir(), size_of(size, i, room), &s.w[i], &d);
  if (st == HD_OK) st = cli_open_device(device, 0, &s.device, &d);
  if (st == HD_OK) st = hd_corun(s.device, (const hd_workload *const *)s.w, &s.o, &s.r, &d);
  rc = st == HD_OK ? print(&s, json) : cli_fail(&d);
  hd_device_close(s.device);
  for (int i = 0; i < 2; i++) hd_workload_close(s.w[i]);
  return rc;
}
