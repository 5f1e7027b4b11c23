/* Analysis of code, and of its runs on a modelled GPU. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle/container.h"
#include "model_common.h"

enum { DOT_AFFINITY = 2, MOST_EDGES = 2000 }; /* DOT_AFFINITY: of "cfg|affinity" */

typedef struct options {
  cli_input in;
  unsigned dot;             /* number of a word of --dot */
  const char *kernel, *gpu; /* kernel: among those that a workload launches, or of a file's text */
  uint64_t threads, seconds, sample;
  bool json, verbose, coverage, directions, static_only;
} options;

/* The output for kernels: one of the three is set. */
typedef struct analyzer {
  const options *o;
  hd_analysis_document *document;
  hd_text_table *directions;
  hd_buf *dot;
  bool brief;                  /* only which CTAs share lines */
  const hd_workload *workload; /* whose launch it is, or NULL */
  uint32_t line;               /* bytes, of the GPU's L1 */
} analyzer;

/* ---- One kernel -------------------------------------------------------------------------- */

static hd_status put_kernel(analyzer *out, hd_analysis *a, uint32_t func, const hd_point *at, hd_diag *d) {
  enum { MAX_REFUSALS = 64 };
  hd_refusal refusals[MAX_REFUSALS];
  hd_polyhedral reuse = {0};
  bool launched = at && at->args;
  if (out->dot) {
    hd_cfg_dot(&a->cfg, a->module, out->dot);
    return HD_OK;
  }
  if (launched) {
    const hd_polyhedral_options lines = {.line = out->line};
    hd_status st = hd_polyhedral_measure(a, at, &lines, &reuse, d);
    if (st != HD_OK) return st;
  }
  if (out->directions) {
    hd_directions_row(out->directions, a, &reuse, out->workload, at->grid);
  } else {
    size_t n = hd_rewrite_refusals(a->module, func, refusals, MAX_REFUSALS);
    const hd_analysis_page page = {.at = at,
                                   .refusals = refusals,
                                   .n_refusals = n,
                                   .n_stored = n < MAX_REFUSALS ? n : MAX_REFUSALS,
                                   .verbose = out->o->verbose,
                                   .cut = !out->o->verbose && isatty(STDOUT_FILENO),
                                   .reuse = launched ? &reuse : NULL,
                                   .workload = out->workload,
                                   .brief = out->brief};
    hd_analysis_document_kernel(out->document, a, &page);
  }
  hd_polyhedral_free(&reuse);
  return HD_OK;
}

static hd_status analyze_kernel(analyzer *out, const hd_ptx_module *m, uint32_t func, const hd_point *at,
                                hd_diag *d) {
  hd_analysis *a;
  hd_status st = hd_analyze_best(m, func, at, &a, d);
  if (st != HD_OK) return st;
  st = put_kernel(out, a, func, at, d);
  hd_analysis_free(a);
  return st;
}

/* The kernels of a file's text. */
static hd_status analyze_file(analyzer *out, const char *path, hd_diag *d) {
  const options *o = out->o;
  hd_arena arena;
  hd_ptx_module *m = NULL;
  hd_point at = {0};
  uint64_t number = UINT64_MAX;
  uint32_t only = UINT32_MAX, found = 0;
  hd_status st = cli_read_launch("analyze", &o->in, &number, at.grid, at.block, d);
  if (st != HD_OK) return st;
  hd_arena_init(&arena);
  st = o->kernel ? hd_kernel_find(path, number, o->kernel, &arena, &m, &only, NULL, d)
                 : hd_module_load(path, number, &arena, &m, d);
  for (uint32_t f = 0; st == HD_OK && f < m->n_funcs; f++) {
    if (!m->funcs[f].entry || !m->funcs[f].has_body || (o->kernel && f != only)) continue;
    found++;
    if (at.block[0]) st = hd_ptx_check_block(m, &m->funcs[f], at.block, d);
    if (st == HD_OK) st = analyze_kernel(out, m, f, at.grid[0] || at.block[0] ? &at : NULL, d);
  }
  if (st == HD_OK && !found) st = hd_fail(d, HD_ERR_INPUT, "%s: no kernel in this module", path);
  hd_arena_free(&arena);
  return st;
}

/* ---- Workloads ------------------------------------------------------------------------------- */

/* The launch of a kernel that decides its analysis: the first one. */
static hd_status analyze_launched(analyzer *out, const hd_compiled *code, const hd_wl_kernel *kernel,
                                  hd_diag *d) {
  hd_point at;
  hd_status st = hd_report_point(code, kernel->first, &at, d);
  if (st != HD_OK) return st;
  st = analyze_kernel(out, code->module, kernel->func, &at, d);
  free((void *)at.args);
  return st;
}

static hd_status analyze_kernels(analyzer *out, const hd_compiled *code, hd_diag *d) {
  const char *wanted = out->o->kernel;
  hd_status st = HD_OK;
  uint32_t found = 0;
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++) {
    if (wanted && !hd_kernel_matches(code->kernels[k].name, wanted)) continue;
    found++;
    st = analyze_launched(out, code, &code->kernels[k], d);
  }
  if (st == HD_OK && !found)
    st = hd_fail_unknown(d, "%s launches no kernel '%s'", code->workload->name, wanted ? wanted : "");
  return st;
}

static hd_status analyze_workload(analyzer *out, const char *name, hd_diag *d) {
  const options *o = out->o;
  hd_workload *w = NULL;
  const hd_compiled *code;
  hd_gpu gpu = {0};
  hd_status st = cli_open_workload(name, &o->in, NULL, &w, d);
  if (st == HD_OK) st = hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, d);
  if (st == HD_OK) st = hd_gpu_load(o->gpu ? o->gpu : "h100", cli_gpus_dir(), &gpu, d);
  out->workload = w;
  out->line = gpu.l1.line;
  if (st == HD_OK) st = analyze_kernels(out, code, d);
  hd_workload_close(w);
  out->workload = NULL;
  return st;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The workload's traces: the graph of its CTAs, or advice. */
static hd_status analyze_runs(analyzer *out, const char *name, bool affinity, hd_diag *d) {
  const options *o = out->o;
  model_options model = {.in = o->in, .gpu_name = o->gpu, .threads = o->threads};
  if (!model.in.size) model.in.size = "small"; /* as for the static part */
  model_session s = {0};
  hd_status st = model_open_workload(&s, name, &model, d);
  if (st == HD_OK) st = model_open_study(&s, &model, 0, d);
  if (st == HD_OK && affinity) {
    st = hd_affinity_print(hd_study_trace(s.study, hd_study_busiest(s.study)), o->verbose ? 0 : MOST_EDGES,
                           out->dot, d);
  } else if (st == HD_OK) {
    hd_advice advice = {0};
    const hd_advise_options how = {
        .run = {.machine.threads = (unsigned)o->threads, .machine.n_sms = s.gpu.n_sms, .watch = cli_watch},
        .dispatch = s.dispatch,
        .seconds = (double)o->seconds};
    st = hd_advise(s.workload, s.study, &s.gpu, &how, &advice, d);
    const hd_advice_report r = {s.workload, &s.gpu, &advice, o->verbose};
    if (st == HD_OK) hd_analysis_document_advice(out->document, &r);
    hd_advice_free(&advice);
  }
  model_close(&s);
  return st;
}

/* ---- The command ------------------------------------------------------------------------------------ */

static int print_coverage(char **files, int n, const options *o) {
  hd_coverage c = {.sample = o->sample};
  hd_diag d = {0};
  hd_buf out = {0};
  for (int i = 0; i < n; i++) {
    cli_progress("reading files", (size_t)i, (size_t)n);
    if (hd_coverage_file(files[i], &c, &d) != HD_OK) return cli_fail(&d);
  }
  cli_progress_end();
  (o->json ? hd_coverage_json : hd_report_coverage)(&c, &out);
  return cli_print(&out);
}

static int print_directions(char **names, int n, const options *o) {
  analyzer a = {.o = o, .directions = hd_directions_new()};
  hd_diag d = {0};
  hd_buf out = {0};
  hd_status st = a.directions ? HD_OK : hd_nomem(&d);
  for (int i = 0; i < n && st == HD_OK; i++) {
    cli_progress("analyzing workloads", (size_t)i, (size_t)n);
    st = analyze_workload(&a, names[i], &d);
  }
  cli_progress_end();
  if (st == HD_OK) hd_text_table_print(a.directions, &out);
  hd_text_table_free(a.directions);
  return st == HD_OK ? cli_print(&out) : cli_fail(&d);
}

static int print_dot(const char *input, bool is_file, bool affinity, const options *o) {
  hd_buf out = {0};
  hd_diag d = {0};
  analyzer a = {.o = o, .dot = &out};
  hd_status st = affinity  ? analyze_runs(&a, input, true, &d)
                 : is_file ? analyze_file(&a, input, &d)
                           : analyze_workload(&a, input, &d);
  if (st == HD_OK) return cli_print(&out);
  hd_buf_free(&out);
  return cli_fail(&d);
}

static int print_document(const char *input, bool is_file, const options *o) {
  bool run = !is_file && !o->static_only;
  analyzer a = {.o = o, .document = hd_analysis_document_new(o->json)};
  hd_buf out = {0};
  hd_diag d = {0};
  a.brief = run && !o->verbose;
  hd_status st = a.document ? HD_OK : hd_nomem(&d);
  if (st == HD_OK && run) st = analyze_runs(&a, input, false, &d);
  if (st == HD_OK) st = is_file ? analyze_file(&a, input, &d) : analyze_workload(&a, input, &d);
  if (st == HD_OK) hd_analysis_document_print(a.document, input, &out);
  hd_analysis_document_free(a.document);
  return st == HD_OK ? cli_print(&out) : cli_fail(&d);
}

/* Without --arg, the words after a file state facts about its kernels; with it they describe launches. Of the
 * kernels that a workload launches -k chooses one. True: a file without arguments. */
static bool choose_kernel(options *o, const char *input) {
  const bool file = hd_workload_is_file(input), launches = cli_word(&o->in, "arg") || o->in.save;
  if (file && launches) return false;
  o->kernel = cli_word(&o->in, "kernel");
  if (!file && o->in.n_words == 1 && o->kernel) o->in.n_words = 0;
  return file;
}

int cmd_analyze(int argc, char **argv) {
  options o = {0};
  const cli_option table[] = {
      CLI_INPUT_OPTIONS(&o.in, "the workload's size (default: small)"),
      {"verbose", 'v', CLI_FLAG, &o.verbose, 0, NULL,
       "of a file: conditions and whole formulas; of a workload: every launch, every access"},
      {"static", 0, CLI_FLAG, &o.static_only, 0, NULL, "the kernel's text only: do not run the workload"},
      CLI_COMMON_AS("gpu", &o.gpu, "the GPU to model (default: h100)"),
      {"seconds", 0, CLI_NUMBER, &o.seconds, 86400, "N", "for predicting what plans do, about (default: 10)"},
      CLI_COMMON("threads", &o.threads),
      {"dot", 0, CLI_CHOICE, &o.dot, 0, "cfg|affinity",
       "instead, in Graphviz' language: cfg, the kernel's control-flow graph; of a workload,\naffinity, "
       "which CTAs share how much (the heaviest edges; --verbose: all)"},
      {"coverage", 0, CLI_FLAG, &o.coverage, 0, "FILE...",
       "accesses by class over all kernels of these files instead"},
      {"sample", 0, CLI_NUMBER, &o.sample, UINT32_MAX, "N",
       "with --coverage: N modules of each file, spread evenly"},
      {"directions", 0, CLI_FLAG, &o.directions, 0, "WORKLOAD...",
       "MAP's mapping directions, from the code, instead"},
      CLI_COMMON("json", &o.json),
      {0}};
  int n, rc = cli_parse(table, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n > 1 && !o.coverage && !o.directions) return cli_usage("analyze: name one file or workload");
  if (o.coverage) return print_coverage(argv + 1, n, &o);
  if (o.directions) return print_directions(argv + 1, n, &o);
  const bool affinity = o.dot == DOT_AFFINITY, is_file = choose_kernel(&o, argv[1]);
  if (affinity && is_file)
    return cli_usage("analyze: --dot affinity needs a workload, whose CTAs can be run");
  return o.dot ? print_dot(argv[1], is_file, affinity, &o) : print_document(argv[1], is_file, &o);
}
