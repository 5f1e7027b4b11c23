/* The main job: trace, sweep, prove the winner, write it. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/optimize.h"
#include "heddle/timelines.h"
#include "heddle/whole.h"
#include "model_common.h"

typedef struct optimization {
  const char *timeline; /* the file; NULL: none */
  model_session s;
  hd_optimized found;
  hd_optimized_files files;
  hd_report report;
} optimization;

static hd_optimize_options options_of(const model_options *o, const model_session *s) {
  cli_catch_interrupts();
  return (hd_optimize_options){.run = {.machine.threads = (unsigned)o->threads, .compile.assume = o->assume},
                               .dispatch = s->dispatch,
                               .seed = o->seed,
                               .plans = o->plans.n ? s->plans.at : NULL,
                               .n_plans = o->plans.n ? s->plans.n : 0,
                               .keep_launch = o->keep_launch,
                               .seconds = (double)o->budget,
                               .wall = (double)o->wall,
                               .exact = o->exact,
                               .progress = cli_stage,
                               .stop = cli_interrupted};
}

static hd_status optimize(optimization *z, const char *name, const model_options *o, const char *folder,
                          hd_diag *d) {
  const char *dir = folder ? folder : ".";
  hd_status st = hd_folder_make(dir, d); /* before the work whose results go there */
  if (st != HD_OK && !folder) return hd_fail(d, st, "this folder cannot be written; -o names another");
  if (st == HD_OK) st = model_open_workload(&z->s, name, o, d);
  if (st == HD_OK && (o->plans.n || o->exact)) st = model_list_plans(&z->s, o, d);
  const hd_optimize_options options = options_of(o, &z->s);
  if (st == HD_OK) st = hd_optimize(z->s.workload, &z->s.gpu, &options, &z->found, d);
  if (st == HD_OK)
    st =
        hd_optimized_write(z->s.workload, &z->s.gpu, z->s.dispatch, &z->found, dir, &z->files, &z->report, d);
  if (st != HD_OK || !z->timeline) return st;
  if (!z->found.study || z->found.rows[0].status != HD_OK) {
    fprintf(stderr, "heddle: %s: not written: the launch was not replayed\n", z->timeline);
    return HD_OK;
  }
  const hd_plan plans[] = {hd_plan_original, z->found.rows[z->found.best].plan};
  return hd_timelines_write(z->found.study, z->s.workload, &z->s.gpu, z->s.dispatch, o->seed, plans,
                            z->found.best ? 2 : 1, z->timeline, d);
}

static int print(optimization *z, size_t rows, bool json, double began) {
  hd_buf out = {0};
  z->report.all_seconds = hd_seconds() - began;
  if (json)
    hd_report_json(&z->report, &out);
  else
    hd_report_text(&z->report, rows, cli_colour(), &out), hd_optimized_launch(z->s.workload, &z->found, &out);
  const int rc = cli_print(&out);
  if (rc != EXIT_OK) return rc;
  if (z->found.stopped) return EXIT_INTERRUPTED;
  if (!hd_optimize_answers(&z->found)) return EXIT_UNANSWERED;
  return z->found.fixed[0] && !z->found.best ? EXIT_NO : EXIT_OK;
}

/* ---- A program ---------------------------------------------------------------------------------- */

static void tell(const hd_diag *d) { cli_fail(d); }

/* NULL: all words are of use to it; else one that describes a kernel's launch. */
static const char *launch_word(const cli_input *in) {
  if (in->size) return "size";
  if (in->params.n) return "param";
  for (size_t i = 0; i < in->n_words; i++)
    if (strcmp(in->words[i].option, "kernel") != 0) return in->words[i].option;
  return NULL;
}

static hd_status find_program(hd_whole_options *p, const model_options *o, model_session *s, hd_hot *hot,
                              hd_diag *d) {
  const char *word = launch_word(&o->in);
  if (word) return hd_fail(d, HD_ERR_USAGE, "--%s is for a kernel's launch: a program makes its own", word);
  hd_status st = model_open_gpu(s, o, d);
  if (st == HD_OK) st = model_read_plans(&o->plans, &s->plans, d);
  p->gpu = &s->gpu;
  p->gpu_name = o->gpu_name ? o->gpu_name : "h100";
  p->gpu_dir = cli_gpus_dir();
  p->save = o->in.save;
  p->kernel = cli_word(&o->in, "kernel");
  p->each = options_of(o, s);
  p->told = tell;
  return st == HD_OK ? hd_whole_optimize(p, hot, d) : st;
}

static int optimize_program(const hd_whole_options *p, const model_options *o, size_t rows, bool json) {
  hd_whole_options own = *p;
  model_session s = {0};
  hd_diag d = {0};
  hd_hot hot;
  hd_buf out = {0};
  size_t answered = 0;
  const hd_status st = find_program(&own, o, &s, &hot, &d);
  model_close(&s);
  if (st != HD_OK) return cli_fail(&d);
  for (size_t k = 0; k < hot.n; k++) answered += hot.kernels[k].looked_at && !hot.kernels[k].unanswered;
  json ? hd_hot_json(&hot, &out) : hd_hot_text(&hot, rows, &out);
  const bool stopped = hot.stopped;
  hd_hot_free(&hot);
  const int rc = cli_print(&out);
  return rc != EXIT_OK ? rc : stopped ? EXIT_INTERRUPTED : answered ? EXIT_OK : EXIT_UNANSWERED;
}

int cmd_optimize(int argc, char **argv) {
  model_options o = {0};
  hd_whole_options p = {0};
  const char *folder = NULL, *timeline = NULL;
  uint64_t most = 0;
  const double began = hd_seconds();
  uint64_t rows = 12;
  bool json = false;
  const cli_option options[] = {
      {"plans", 0, CLI_LIST, &o.plans, 0, "LIST", "as for sweep"},
      {"output", 'o', CLI_TEXT, &folder, 0, "DIR",
       "where NAME.ptx and NAME.html go, made if need be (default: this folder; of a program:\nheddle-out, "
       "with index.html and predictions.json)"},
      {"keep-launch", 0, CLI_FLAG, &o.keep_launch, 0, NULL,
       "leave out plans that need another launch: bind=agents, bind=claim, sms"},
      {"most", 0, CLI_NUMBER, &most, 0, "N", "of a program: so many kernels, the hottest (default: 5)"},
      CLI_COMMON("library", &p.library),
      CLI_COMMON("timeline", &timeline),
      {"rows", 0, CLI_NUMBER, &rows, 0, "N", "rows of the table to print (default: 12)"},
      MODEL_OPTIONS(o),
      CLI_INPUT_OPTIONS(&o.in, "the workload's size (default: paper if there is one)"),
      CLI_COMMON("wall", &o.wall),
      CLI_COMMON("assume", &o.assume),
      CLI_COMMON("threads", &o.threads),
      CLI_COMMON("json", &json),
      {0}};
  int n, words = 1;
  while (words < argc && strcmp(argv[words], "--") != 0) words++;
  int rc = cli_parse(options, words + 1 < argc ? words + 2 : argc, argv, &n);
  if (rc >= 0) return rc;
  if (words + 1 < argc && timeline)
    return cli_usage("--timeline is for one workload; a program's kernels have theirs on their pages");
  if (words + 1 < argc) {
    p.argv = argv + words + 1;
    p.folder = folder ? folder : "heddle-out";
    p.most = (size_t)most;
    return optimize_program(&p, &o, (size_t)rows, json);
  }
  hd_diag d = {0};
  optimization *z = calloc(1, sizeof *z);
  if (!z) return cli_usage("out of memory");
  z->timeline = timeline;
  hd_status st = optimize(z, argv[1], &o, folder, &d);
  const hd_diag one = d;
  if (st == HD_ERR_USAGE && hd_workload_is_file(argv[1]) && access(argv[1], X_OK) == 0)
    hd_fail(&d, st, "%s; all of the program: heddle optimize -- %s", one.message, argv[1]);
  if (st != HD_OK)
    rc = cli_fail(&d);
  else
    rc = print(z, (size_t)rows, json, began);
  hd_optimized_free(&z->found);
  model_close(&z->s);
  free(z);
  return rc;
}
