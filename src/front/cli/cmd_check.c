/* Proof of one plan. */
#include "cli.h"
#include "heddle/results.h"

static int print(const hd_check_report *c, bool json) {
  hd_buf out = {0};
  if (json)
    hd_check_json(c, &out);
  else if (c->result->equal)
    hd_check_text(c, &out);
  int rc = cli_print(&out);
  if (c->result->equal) return rc;
  fprintf(stderr, "heddle: %s: %s\n", c->workload->name, c->result->what);
  return rc ? rc : EXIT_NO;
}

static void say_how_long(const hd_workload *w, const hd_check_options *o) {
  hd_buf line = {0};
  hd_check_estimate_print(w, o->run.compile.arch, o->n_dispatchers + 1, &line, NULL);
  if (line.len) cli_usage("%s", line.data);
  hd_buf_free(&line);
}

int cmd_check(int argc, char **argv) {
  const char *plan_text = "baseline", *dispatchers = NULL, *device = NULL;
  unsigned assume = 0;
  uint64_t threads = 0, sms = 0, seed = 0, runs = 0, resident = 0;
  cli_input in = {0};
  cli_work work = {0};
  bool whole = true, json = false, any_grid = false, no_hoisting = false, no_reference = false;
  const cli_option options[] = {
      {"plan", 0, CLI_TEXT, &plan_text, 0, "P",
       "the plan (default: baseline: the kernel against its reference)"},
      {"dispatcher", 0, CLI_TEXT, &dispatchers, 0, "LIST", "names joined by commas (default: all)"},
      {"sms", 0, CLI_NUMBER, &sms, 65536, "N", "SMs of the emulated machine (default: 16)"},
      {"resident", 0, CLI_NUMBER, &resident, HD_MOST_RESIDENT, "N",
       "CTAs alive at once on each (default: 4)"},
      {"device", 0, CLI_TEXT, &device, 0, "D",
       "run there instead, as it dispatches: cuda:N, model:NAME or emu"},
      {"runs", 0, CLI_NUMBER, &runs, 1000000, "N", "of the rewritten kernel on the device (default: 3)"},
      {"no-reference", 0, CLI_FLAG, &no_reference, 0, NULL, "do not compare with reference.c"},
      CLI_COMMON("any-grid", &any_grid),
      CLI_COMMON("no-hoisting", &no_hoisting),
      CLI_COMMON("assume", &assume),
      CLI_COMMON_AS("seed", &seed, "seed of the dispatchers"),
      CLI_INPUT_OPTIONS(&in, "the workload's size (default: small)"),
      CLI_COMMON("threads", &threads),
      CLI_WORK_OPTIONS(work),
      CLI_COMMON("json", &json),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (device && (dispatchers || work.shard || work.journal))
    return cli_usage("check: --dispatcher and parts are for the emulator, not for --device");

  hd_diag d = {0};
  hd_plan plan = {0};
  hd_workload *w = NULL;
  hd_dispatch_kind kinds[HD_DISPATCH_COUNT];
  hd_check_options o = {
      .run = {.machine.threads = (unsigned)threads,
              .machine.n_sms = (unsigned)sms,
              .compile = {.any_grid = any_grid, .no_hoisting = no_hoisting, .assume = assume}},
      .dispatchers = kinds,
      .seed = seed,
      .resident = (uint32_t)resident,
      .no_reference = no_reference,
      .runs = (uint32_t)runs};
  hd_device *dev = NULL;
  hd_check_result result;
  hd_work_how how;
  hd_status st = cli_work_how(&work, &how, &d);
  if (st == HD_OK) st = hd_plan_parse(plan_text, &plan, &d);
  if (st == HD_OK) st = hd_check_parse_dispatchers(dispatchers, kinds, &o.n_dispatchers, &d);
  if (st == HD_OK) st = cli_open_workload(argv[1], &in, NULL, &w, &d);
  if (st == HD_OK && !device) say_how_long(w, &o);
  if (st == HD_OK && device) st = cli_open_device(device, (unsigned)threads, &dev, &d);
  if (st == HD_OK)
    st = dev ? hd_check_on(dev, w, &plan, &o, &result, &d)
             : hd_check_split(w, &plan, &o, &how, cli_progress, "checking", &whole, &result, &d);
  if (st == HD_OK && !whole) {
    rc = cli_work_left(&how);
  } else if (st == HD_OK) {
    const char *title = dev ? hd_device_get_info(dev)->title : NULL;
    rc = print(&(hd_check_report){w, &plan, title, &result}, json);
  } else {
    hd_buf out = {0};
    if (json && (st == HD_ERR_REFUSED || st == HD_ERR_FAULT)) hd_check_refused_json(d.message, &out);
    if (out.len) cli_print(&out);
    rc = cli_fail(&d);
  }
  hd_device_close(dev);
  hd_workload_close(w);
  return rc;
}
