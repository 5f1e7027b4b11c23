/* The plan that wins for workloads on a device, kept as a verdict. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "heddle/program.h"
#include "heddle/suite.h"

typedef struct options {
  cli_input in;
  const char *device, *store;
  unsigned l2, strategy;
  uint64_t budget, wall, threads, rows;
  cli_list plans;
  unsigned assume;
  cli_work work;
  bool again, verify, mixed, once, whole, shared, no_advice, no_proof, no_counters, any_grid, json;
} options;

typedef struct session {
  options o;
  hd_tunings t;
  hd_gpu advisor;
  hd_plan *plans;
  size_t n_plans;
  hd_tuning_list *list; /* NULL: text is wanted, as each ends */
  int rc;
} session;

static bool told(void *ctx, const char *text, size_t len) {
  session *s = ctx;
  cli_progress_end();
  if (s->list) return hd_tuning_list_add(s->list, text, len);
  return fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0;
}

static void unanswered(void *ctx) { ((session *)ctx)->rc = EXIT_UNANSWERED; }
static void failed(void *ctx, const hd_diag *d) { ((session *)ctx)->rc = cli_fail(d); }

static hd_status prepare(session *s, hd_diag *d) {
  const options *o = &s->o;
  s->plans = calloc(o->plans.n + 1, sizeof *s->plans);
  hd_status st = s->plans ? HD_OK : hd_nomem(d);
  for (size_t i = 0; st == HD_OK && i < o->plans.n; i++)
    if ((st = hd_plan_parse(o->plans.items[i], &s->plans[s->n_plans], d)) == HD_OK) s->n_plans++;
  if (st == HD_OK) st = cli_open_device(o->device, (unsigned)o->threads, &s->t.device, d);
  /* An emulated GPU's times are no verdict on a GPU. */
  const bool emulated = st == HD_OK && getenv(HD_PROGRAM_VARIABLE) && !hd_device_get_gpu(s->t.device);
  if (st == HD_OK && !emulated && strcmp(o->store ? o->store : "", "none") != 0)
    st = hd_store_open(o->store, &s->t.store, d);
  bool advice = st == HD_OK && !o->no_advice && cli_advisor(s->t.device, &s->advisor);
  s->t.tune =
      (hd_tune_options){.run = {.machine.threads = (unsigned)o->threads,
                                .compile = {.any_grid = o->any_grid, .assume = o->assume}},
                        .budget = (double)o->budget,
                        .wall = (double)o->wall,
                        .keep_l2 = o->l2 == L2_KEEP,
                        .shared = o->shared,
                        .whole = o->whole,
                        .no_proof = o->no_proof,
                        .no_counters = o->no_counters,
                        .strategy = o->strategy ? (hd_tune_strategy)(o->strategy - 1) : HD_TUNE_SEARCH,
                        .advisor = advice ? &s->advisor : NULL,
                        .plans = s->plans,
                        .n_plans = s->n_plans,
                        .progress = cli_stage};
  return st;
}

static int close_session(session *s, int rc) {
  free(s->plans);
  hd_tuning_list_free(s->list);
  hd_store_close(s->t.store);
  hd_device_close(s->t.device);
  return rc;
}

static int run(session *s, char **names, size_t n) {
  const options *o = &s->o;
  hd_work_how how;
  hd_diag d = {0};
  bool whole = false;
  s->t.like = cli_request(NULL, &o->in, NULL);
  s->t.names = names;
  s->t.n = n;
  hd_bench_describe(s->t.device, HEDDLE_VERSION, &s->t.place);
  s->t.how = &how;
  s->t.most_trials = (uint32_t)o->rows;
  hd_status st = cli_work_how(&o->work, &how, &d);
  if (st == HD_OK) st = hd_suite_tunings(&s->t, &whole, &d);
  if (st != HD_OK) return cli_fail(&d);
  if (!whole) return cli_work_left(&how);
  if (s->list) {
    hd_buf out = {0};
    hd_tuning_list_json(s->list, &out);
    const int printed = cli_print(&out);
    if (printed != EXIT_OK) return printed;
  }
  return s->rc;
}

int cmd_tune(int argc, char **argv) {
  session s = {.o = {.device = "cuda", .rows = 8},
               .t = {.told = told, .failed = failed, .unanswered = unanswered, .ctx = &s}};
  options *o = &s.o;
  const cli_option table[] = {
      CLI_COMMON_AS("device", &o->device, "as for bench"),
      CLI_COMMON("budget", &o->budget),
      CLI_COMMON("wall", &o->wall),
      {"plan", 0, CLI_LIST, &o->plans, 0, "P", "try this plan first; may be given several times"},
      {"again", 0, CLI_FLAG, &o->again, 0, NULL, "tune though there is a verdict"},
      {"verify", 0, CLI_FLAG, &o->verify, 0, NULL,
       "measure the verdicts again; those that no longer win are dropped"},
      {"whole", 0, CLI_FLAG, &o->whole, 0, NULL,
       "one plan for all kernels of a workload (models always do that)"},
      {"strategy", 0, CLI_CHOICE, &o->strategy, 0, "search|vote|sample|compare",
       "warps that bypass L1, and agents: search times whole launches, vote has SMs try all numbers\nin the "
       "same launches (agents as a --plan with bind=agents:auto says), sample (on models) has one\nCTA try "
       "each number of warps, alone; compare does all (default: search)"},
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
      CLI_WORK_OPTIONS(o->work),
      CLI_COMMON("mixed", &o->mixed),
      CLI_COMMON("once", &o->once),
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
  s.t.again = o->again;
  s.t.verify = o->verify;
  s.t.mixed = o->mixed;
  s.t.once = o->once;
  s.t.json = o->json;
  return close_session(&s, run(&s, argv + 1, (size_t)n));
}
