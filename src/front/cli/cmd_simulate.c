/* One plan on a modelled GPU. */
#include "heddle/results.h"
#include "heddle/timelines.h"
#include "model_common.h"

int cmd_simulate(int argc, char **argv) {
  model_options o = {0};
  const char *plan_text = "baseline", *timeline = NULL;
  bool json = false;
  const cli_option options[] = {{"plan", 0, CLI_TEXT, &plan_text, 0, "P", "the plan (default: baseline)"},
                                CLI_COMMON("timeline", &timeline),
                                REPLAY_OPTIONS(o),
                                CLI_COMMON("json", &json),
                                {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  model_session s = {0};
  hd_plan plan = {0};
  hd_simulation r = {0};
  hd_status st = hd_plan_parse(plan_text, &plan, &d);
  if (st == HD_OK) st = model_open_workload(&s, argv[1], &o, &d);
  if (st == HD_OK) st = model_open_study(&s, &o, 1, &d);
  if (st == HD_OK) st = hd_study_replay(s.study, &s.gpu, &plan, s.dispatch, o.seed, &r.counters, &d);
  if (st == HD_OK && timeline)
    st = hd_timelines_write(s.study, s.workload, &s.gpu, s.dispatch, o.seed, &plan, 1, timeline, &d);
  if (st != HD_OK) {
    rc = cli_fail(&d);
  } else {
    hd_buf out = {0};
    r = (hd_simulation){s.workload, &s.gpu,  hd_dispatch_name(s.dispatch), &plan,
                        r.counters, s.timed, hd_study_part(s.study),       hd_study_leaves_ends(s.study)};
    (json ? hd_simulation_json : hd_simulation_text)(&r, &out);
    rc = cli_print(&out);
  }
  model_close(&s);
  return rc;
}
