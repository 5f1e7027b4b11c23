/* A CUDA program under the best plans known. */
#include "cli.h"
#include "heddle/steer.h"

static void tell(const hd_diag *store) {
  char line[1600];
  fprintf(stderr, "heddle: no verdicts: %s\n", hd_diag_line(store, line, sizeof line));
}

int cmd_run(int argc, char **argv) {
  hd_steer_options o = {0};
  const cli_option options[] = {
      {"pin", 0, CLI_TEXT, &o.pin, 0, "FILE",
       "only the verdicts of a file that heddle verdicts export wrote"},
      {"force-plan", 0, CLI_TEXT, &o.plan, 0, "P",
       "this plan for every kernel that admits it; nothing proves it"},
      {"tune", 0, CLI_FLAG, &o.tune, 0, NULL,
       "find plans for hot launches while the program runs, on its own data"},
      {"budget", 0, CLI_TEXT, &o.budget, 0, "S",
       "seconds of tuning for each kernel and shape of launch (default: 5)"},
      {"total", 0, CLI_TEXT, &o.total, 0, "S",
       "and for all of them; 5%: of the time that the program has run (default: that, and 0.5 s at least)"},
      {"worth", 0, CLI_TEXT, &o.worth, 0, "S",
       "seconds that launches take before they are tuned (default: 0.001)"},
      {"gain", 0, CLI_TEXT, &o.gain, 0, "X", "the least speedup for which a plan is adopted (default: 1.01)"},
      {"no-guard", 0, CLI_FLAG, &o.unguarded, 0, NULL,
       "apply verdicts without measuring them in the program, and whatever they cost"},
      {"json", 0, CLI_TEXT, &o.report, 0, "FILE", "the report as JSON in FILE"},
      {"html", 0, CLI_TEXT, &o.page, 0, "FILE", "and as a page"},
      {"quiet", 'q', CLI_FLAG, &o.quiet, 0, NULL, "no report"},
      CLI_COMMON("library", &o.folder),
      {0}};
  int n, rc = cli_parse(options, argc, argv, &n);
  if (rc >= 0) return rc;
  hd_diag d = {0};
  argv[n + 1] = NULL;
  hd_steer_exec(&o, argv + 1, tell, &d);
  return cli_fail(&d);
}
