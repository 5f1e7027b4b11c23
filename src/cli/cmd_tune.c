/* The plan that wins for workloads on a device, kept as a verdict. */
#include <stdlib.h>
#include <string.h>

#include "heddle/results.h"
#include "tuning.h"

typedef struct options {
  cli_input in;
  const char *device, *store;
  unsigned l2, strategy;
  uint64_t budget, threads, rows;
  cli_list plans;
  unsigned assume;
  bool again, verify, whole, shared, no_advice, no_proof, no_counters, any_grid, json;
} options;

typedef struct session {
  options o;
  hd_device *device;
  hd_store *store;
  hd_gpu advisor;
  hd_plan *plans;
  size_t n_plans;
  hd_tune_options tune;
  hd_tuning_list *list; /* NULL: text is wanted, as each ends */
  unsigned failed;
} session;

/* ---- One workload --------------------------------------------------------------------- */

static hd_status find_plans(session *s, const hd_workload *w, hd_tuning *t, hd_diag *d) {
  bool found = false;
  hd_status st = HD_OK;
  if (!s->o.again && s->store) st = hd_tuning_recall(s->store, s->device, w, &s->tune, t, &found, d);
  if (st != HD_OK) return st;
  if (found && !s->o.verify) return HD_OK;
  if (s->o.verify && !found)
    return hd_fail(d, HD_ERR_USAGE, "%s (%s): there is no verdict to verify", w->name, w->size);
  st = found ? hd_tuning_verify(s->device, w, &s->tune, 0, t, d) : hd_tune(s->device, w, &s->tune, t, d);
  if (st == HD_OK && s->store) {
    st = hd_tuning_keep(s->store, s->device, w, &s->tune, t, d);
    if (st != HD_OK) hd_tuning_free(t);
  } else if (st != HD_OK && found) {
    hd_tuning_free(t);
  }
  return st;
}

static int print_text(const hd_tuning_report *r) {
  hd_buf out = {0};
  hd_tuning_text(r, &out);
  return cli_print(&out);
}

static hd_status tune_one(session *s, const char *name, hd_diag *d) {
  hd_workload *w;
  hd_tuning t;
  hd_status st = cli_open_workload(name, &s->o.in, hd_tune_size(hd_device_get_info(s->device)), &w, d);
  if (st != HD_OK) return st;
  s->tune.ctx = (void *)name;
  st = find_plans(s, w, &t, d);
  tuning_progress_end();
  if (st == HD_OK) {
    const hd_tuning_report r = {.workload = w,
                                .device = hd_device_get_info(s->device),
                                .tuning = &t,
                                .strategy = s->tune.strategy,
                                .most_trials = (uint32_t)s->o.rows,
                                .verified = s->o.verify};
    if (s->list && !hd_tuning_list_add(s->list, &r))
      st = hd_nomem(d);
    else if (!s->list && print_text(&r) != EXIT_OK)
      st = hd_fail(d, HD_ERR_IO, "cannot write to stdout");
    hd_tuning_free(&t);
  }
  hd_workload_close(w);
  return st;
}

/* ---- All of them -------------------------------------------------------------------------- */

static hd_status prepare(session *s, hd_diag *d) {
  const options *o = &s->o;
  s->plans = calloc(o->plans.n + 1, sizeof *s->plans);
  hd_status st = s->plans ? HD_OK : hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < o->plans.n; i++)
    if ((st = hd_plan_parse(o->plans.items[i], &s->plans[s->n_plans], d)) == HD_OK) s->n_plans++;
  if (st == HD_OK) st = cli_open_device(o->device, (unsigned)o->threads, &s->device, d);
  if (st == HD_OK && strcmp(o->store ? o->store : "", "none") != 0)
    st = hd_store_open(o->store, &s->store, d);
  bool advice = st == HD_OK && !o->no_advice && tuning_advisor(s->device, &s->advisor);
  s->tune = (hd_tune_options){
      .run = {.threads = (unsigned)o->threads, .apply = {.any_grid = o->any_grid, .assume = o->assume}},
      .budget = (double)o->budget,
      .keep_l2 = o->l2 == L2_KEEP,
      .shared = o->shared,
      .whole = o->whole,
      .no_proof = o->no_proof,
      .no_counters = o->no_counters,
      .strategy = o->strategy ? (hd_tune_strategy)(o->strategy - 1) : HD_TUNE_SEARCH,
      .advisor = advice ? &s->advisor : NULL,
      .plans = s->plans,
      .n_plans = s->n_plans,
      .progress = tuning_progress};
  return st;
}

static int close_session(session *s, int rc) {
  for (size_t i = 0; i < s->n_plans; i++) hd_plan_free(&s->plans[i]);
  free(s->plans);
  hd_tuning_list_free(s->list);
  hd_store_close(s->store);
  hd_device_close(s->device);
  return rc;
}

int cmd_tune(int argc, char **argv) {
  session s = {.o = {.device = "cuda:0", .rows = 8}};
  options *o = &s.o;
  const cli_option table[] = {
      CLI_COMMON("device", &o->device),
      CLI_COMMON("budget", &o->budget),
      {"plan", 0, CLI_LIST, &o->plans, 0, "P", "try this plan first; may be given several times"},
      {"again", 0, CLI_FLAG, &o->again, 0, NULL, "tune though there is a verdict"},
      {"verify", 0, CLI_FLAG, &o->verify, 0, NULL,
       "measure the verdicts again; those that no longer win are dropped"},
      {"whole", 0, CLI_FLAG, &o->whole, 0, NULL,
       "one plan for all kernels of a workload (models always do that)"},
      {"strategy", 0, CLI_CHOICE, &o->strategy, 0, "search|vote|compare",
       "how many warps bypass L1: search times every number, vote has SMs try them during the\nsame launches "
       "and times the one they choose, compare does both (default: search)"},
      CLI_INPUT_OPTIONS(&o->in, "the workloads' size (default: gpu; on models small)"),
      CLI_COMMON_AS("l2", &o->l2, "as for time"),
      CLI_COMMON("shared", &o->shared),
      CLI_COMMON("store", &o->store),
      {"rows", 0, CLI_NUMBER, &o->rows, 1000, "N", "plans to show of each kernel (default: 8)"},
      CLI_COMMON("no-advice", &o->no_advice),
      {"no-proof", 0, CLI_FLAG, &o->no_proof, 0, NULL, "do not check the winner on the emulator"},
      CLI_COMMON("no-counters", &o->no_counters),
      CLI_COMMON("any-grid", &o->any_grid),
      CLI_COMMON("assume", &o->assume),
      CLI_COMMON("threads", &o->threads),
      CLI_COMMON("json", &o->json),
      {0}};
  int n, rc = cli_parse(table, argc, argv, &n);
  if (rc >= 0) return rc;
  if (o->again && o->verify)
    return close_session(&s,
                         cli_usage("tune: --again makes new verdicts, --verify measures those there are"));
  hd_diag d = {0};
  if (prepare(&s, &d) != HD_OK) return close_session(&s, cli_fail(&d));
  if (o->json && !(s.list = hd_tuning_list_new())) return close_session(&s, cli_usage("out of memory"));
  rc = EXIT_OK;
  for (int i = 0; i < n; i++)
    if (tune_one(&s, argv[1 + i], &d) != HD_OK) rc = cli_fail(&d);
  if (s.list) {
    hd_buf out = {0};
    hd_tuning_list_json(s.list, &out);
    int printed = cli_print(&out);
    if (printed != EXIT_OK) rc = printed;
  }
  return close_session(&s, rc);
}
