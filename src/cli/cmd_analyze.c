#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze.h"
#include "heddle/container.h"

typedef struct analyze_options {
  const char *kernel, *size, *dot, *gpu;
  uint64_t module, threads, seconds;
  uint32_t grid[3], block[3];
  bool json, verbose, coverage, directions, static_only;
} analyze_options;

typedef struct analyze_output {
  const analyze_options *o;
  const hd_workload *workload; /* whose launch it is, or NULL */
  uint32_t line;               /* bytes, of the GPU's L1 */
  hd_text_table *directions;   /* only these, or NULL */
  bool brief;                  /* only which CTAs share lines */
  json_t *list;
  hd_buf text;
} analyze_output;

static bool is_kernel_file(const char *path) {
  struct stat st;
  size_t n = strlen(path);
  return stat(path, &st) == 0 && S_ISREG(st.st_mode) && !(n > 5 && strcmp(path + n - 5, ".toml") == 0);
}

/* ---- One kernel -------------------------------------------------------------------------- */

static void put_verdict(char *out, size_t cap, const hd_refusal *first, size_t n) {
  if (!n)
    snprintf(out, cap, "order of the CTAs: nothing in the code bars changing it");
  else if (first->line)
    snprintf(out, cap, "order of the CTAs: fixed, line %u: %s", first->line, first->what);
  else
    snprintf(out, cap, "order of the CTAs: fixed: %s", first->what);
}

static hd_status analyze_kernel(analyze_output *out, const hd_ptx_module *m, uint32_t func,
                                const hd_point *at, hd_diag *d) {
  enum { MAX_REFUSALS = 64 };
  hd_analysis *a;
  hd_status st = hd_analyze(m, func, NULL, &a, d);
  if (st != HD_OK) return st;
  bool launched = at && at->args && !out->o->dot;
  hd_polyhedral reuse = {0};
  if (launched) st = hd_polyhedral_measure(a, at, &(hd_polyhedral_options){.line = out->line}, &reuse, d);
  if (st != HD_OK) {
    hd_analysis_free(a);
    return st;
  }
  hd_refusal *refusals = calloc(MAX_REFUSALS, sizeof *refusals);
  size_t n = refusals ? hd_rewrite_refusals(m, func, refusals, MAX_REFUSALS) : 0;
  if (!refusals) {
    st = hd_nomem(d);
  } else if (out->directions) {
    analyze_directions_row(out->directions, a, &reuse, out->workload, at->grid);
  } else if (out->o->dot) {
    hd_cfg_dot(&a->cfg, m, &out->text);
  } else if (out->o->json) {
    json_t *one = analyze_json(a, at, refusals, n, n < MAX_REFUSALS ? n : MAX_REFUSALS);
    if (launched) json_object_set_new(one, "sharing", analyze_polyhedral_json(a, &reuse, out->workload));
    json_array_append_new(out->list, one);
  } else {
    char verdict[400];
    put_verdict(verdict, sizeof verdict, refusals, n);
    if (out->text.len && !out->brief) hd_buf_putc(&out->text, '\n');
    if (!out->brief) hd_report_analysis(a, &(hd_analysis_page){at, verdict, out->o->verbose}, &out->text);
    if (launched) analyze_polyhedral_print(a, &reuse, out->workload, &out->text);
  }
  free(refusals);
  hd_polyhedral_free(&reuse);
  hd_analysis_free(a);
  return st;
}

static hd_status analyze_file(analyze_output *out, const char *path, hd_diag *d) {
  const analyze_options *o = out->o;
  hd_arena arena;
  hd_arena_init(&arena);
  hd_ptx_module *m;
  hd_point at = {0};
  memcpy(at.grid, o->grid, sizeof at.grid);
  memcpy(at.block, o->block, sizeof at.block);
  hd_status st = cli_load_module(path, o->module, &arena, &m, d);
  size_t found = 0;
  for (uint32_t f = 0; st == HD_OK && f < m->n_funcs; f++) {
    if (!m->funcs[f].entry || !m->funcs[f].has_body) continue;
    if (o->kernel && strcmp(o->kernel, m->syms[m->funcs[f].sym].name) != 0) continue;
    found++;
    st = analyze_kernel(out, m, f, o->block[0] ? &at : NULL, d);
  }
  if (st == HD_OK && !found)
    st = o->kernel ? hd_fail(d, HD_ERR_USAGE, "%s: no kernel '%s' ('heddle ls' lists them)", path, o->kernel)
                   : hd_fail(d, HD_ERR_INPUT, "%s: no kernel in this module", path);
  hd_arena_free(&arena);
  return st;
}

/* ---- Workloads ------------------------------------------------------------------------------- */

/* The parameter block, with buffers at addresses that no launch mixes up: 2^40 apart. */
static void *fill_args(const hd_ptx_module *m, const hd_ptx_func *f, const hd_wl_launch *l, uint64_t *bytes) {
  uint64_t *offsets = calloc((size_t)f->n_params + 1, sizeof *offsets);
  *bytes = offsets && f->n_params == l->n_args ? hd_ptx_param_layout(m, f, offsets) : UINT64_MAX;
  char *args = *bytes == UINT64_MAX ? NULL : calloc(1, *bytes + 8);
  for (uint32_t k = 0; args && k < l->n_args; k++) {
    uint64_t value =
        l->args[k].is_buffer ? (uint64_t)(l->args[k].buffer + 1) << ANALYZE_BUFFER_SHIFT : l->args[k].bits;
    uint64_t size = hd_ptx_var_size(m, &m->vars[f->first_param + k]);
    memcpy(args + offsets[k], &value, size < 8 ? size : 8);
  }
  free(offsets);
  return args;
}

static bool launched_before(const hd_workload *w, uint32_t i) {
  for (uint32_t k = 0; k < i; k++)
    if (strcmp(w->launches[k].kernel, w->launches[i].kernel) == 0) return true;
  return false;
}

static hd_status analyze_workload(analyze_output *out, const char *name, hd_diag *d) {
  const analyze_options *o = out->o;
  hd_workload *w = NULL;
  hd_arena arena;
  hd_arena_init(&arena);
  hd_buf text = {0};
  hd_ptx_module *m;
  size_t found = 0;
  hd_status st = hd_workload_open(name, cli_kernels_dir(), o->size, &w, d);
  if (st == HD_OK) st = hd_workload_ptx(w, 80, &text, NULL, d);
  if (st == HD_OK) st = hd_ptx_parse(text.data, text.len, w->name, &arena, &m, d);
  hd_gpu gpu = {0};
  if (st == HD_OK) st = hd_gpu_load(o->gpu ? o->gpu : "h100", cli_gpus_dir(), &gpu, d);
  out->workload = w;
  out->line = gpu.l1.line;
  for (uint32_t i = 0; st == HD_OK && i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    int64_t func = hd_ptx_find_kernel(m, l->kernel);
    if (launched_before(w, i) || (o->kernel && strcmp(o->kernel, l->kernel) != 0)) continue;
    if (func < 0) {
      st = hd_fail(d, HD_ERR_INPUT, "%s: no kernel '%s'", w->name, l->kernel);
      break;
    }
    hd_point at = {0};
    memcpy(at.grid, l->grid, sizeof at.grid);
    memcpy(at.block, l->block, sizeof at.block);
    void *args = fill_args(m, &m->funcs[func], l, &at.args_bytes);
    at.args = args;
    found++;
    st = analyze_kernel(out, m, (uint32_t)func, &at, d);
    free(args);
  }
  if (st == HD_OK && !found)
    st = hd_fail(d, HD_ERR_USAGE, "%s launches no kernel '%s'", name, o->kernel ? o->kernel : "");
  hd_buf_free(&text);
  hd_arena_free(&arena);
  hd_workload_close(w);
  out->workload = NULL;
  return st;
}

/* ---- Coverage ------------------------------------------------------------------------------------ */

static hd_status cover_file(const char *path, hd_coverage *c, hd_diag *d) {
  hd_container *file;
  hd_status st = hd_container_open(path, &file, d);
  if (st != HD_OK) return st;
  for (;;) {
    hd_ptx_text text;
    bool more = false;
    if (hd_container_next(file, &text, &more, d) != HD_OK) {
      c->failed++;
      if (!more) break;
      continue;
    }
    if (!more) break;
    hd_arena arena;
    hd_arena_init(&arena);
    hd_ptx_module *m;
    c->modules++;
    if (hd_ptx_parse(text.data, text.len, text.label, &arena, &m, d) != HD_OK) {
      c->failed++;
    } else {
      for (uint32_t f = 0; f < m->n_funcs; f++) {
        hd_analysis *a;
        if (!m->funcs[f].entry || !m->funcs[f].has_body) continue;
        if (hd_analyze(m, f, NULL, &a, d) == HD_OK) {
          hd_coverage_add(c, a);
          hd_analysis_free(a);
        } else {
          c->failed++;
        }
      }
    }
    hd_arena_free(&arena);
  }
  hd_container_close(file);
  return HD_OK;
}

static int print_coverage(char **files, int n, bool json) {
  hd_coverage c = {0};
  hd_diag d = {0};
  for (int i = 0; i < n; i++)
    if (cover_file(files[i], &c, &d) != HD_OK) return cli_fail(&d);
  hd_buf out = {0};
  if (!json) {
    hd_report_coverage(&c, &out);
    return cli_print(&out);
  }
  json_t *classes = json_object(), *whys = json_object();
  for (int l = 0; l < HD_LEVEL_COUNT; l++)
    json_object_set_new(classes, hd_level_name((hd_level)l), json_integer((json_int_t)c.levels[l]));
  for (int w = HD_WHY_NONE + 1; w < HD_WHY_COUNT; w++)
    json_object_set_new(whys, hd_why_name((hd_why)w), json_integer((json_int_t)c.whys[w]));
  return cli_print_json(json_pack("{s:I, s:I, s:I, s:I, s:I, s:o, s:o}", "modules", (json_int_t)c.modules,
                                  "kernels", (json_int_t)c.kernels, "failed", (json_int_t)c.failed,
                                  "over_budget", (json_int_t)c.over_budget, "accesses", (json_int_t)c.sites,
                                  "classes", classes, "whys", whys));
}

/* ---- Directions ----------------------------------------------------------------------------------- */

static int print_directions(char **names, int n, const analyze_options *o) {
  analyze_output out = {.o = o, .directions = analyze_directions_new()};
  hd_diag d = {0};
  hd_status st = out.directions ? HD_OK : hd_nomem(&d);
  for (int i = 0; i < n && st == HD_OK; i++) st = analyze_workload(&out, names[i], &d);
  if (st == HD_OK) hd_text_table_print(out.directions, &out.text);
  if (out.directions) hd_text_table_free(out.directions);
  if (st == HD_OK) return cli_print(&out.text);
  hd_buf_free(&out.text);
  return cli_fail(&d);
}

/* ---- The command ------------------------------------------------------------------------------------ */

/* The kernels' accesses in one list, each with its kernel. */
static json_t *all_accesses(const json_t *kernels) {
  json_t *all = json_array(), *access, *kernel;
  size_t i, k;
  json_array_foreach(kernels, i, kernel) {
    json_t *name = json_object_get(kernel, "kernel");
    json_array_foreach(json_object_get(kernel, "accesses"), k, access) {
      json_t *one = json_copy(access);
      if (one && name) json_object_set(one, "kernel", name);
      json_array_append_new(all, one);
    }
  }
  return all;
}

int cmd_analyze(int argc, char **argv) {
  analyze_options o = {.module = UINT64_MAX};
  const cli_option options[] = {
      {"kernel", 'k', CLI_TEXT, &o.kernel, 0, "NAME",
       "the kernel (default: all of the file, or those the workload launches)"},
      {"module", 'm', CLI_NUMBER, &o.module, UINT32_MAX, "N", "module number when the file holds several"},
      {"grid", 0, CLI_DIMS, o.grid, 0, "X[,Y[,Z]]", "what is known of the launches of a file's kernels"},
      {"block", 0, CLI_DIMS, o.block, 0, "X[,Y[,Z]]", "likewise"},
      {"size", 0, CLI_TEXT, &o.size, 0, "NAME", "the workload's size (default: small)"},
      {"verbose", 'v', CLI_FLAG, &o.verbose, 0, NULL,
       "of a file: conditions and whole formulas; of a workload: every launch, every access"},
      {"static", 0, CLI_FLAG, &o.static_only, 0, NULL, "the kernel's text only: do not run the workload"},
      {"gpu", 0, CLI_TEXT, &o.gpu, 0, "NAME", "the GPU to model (default: h100)"},
      {"seconds", 0, CLI_NUMBER, &o.seconds, 86400, "N", "for predicting what plans do, about (default: 10)"},
      CLI_THREADS_OPTION(o.threads),
      {"dot", 0, CLI_TEXT, &o.dot, 0, "GRAPH",
       "instead, in Graphviz' language: cfg, the kernel's control-flow graph; of a workload,\naffinity, "
       "which CTAs share how much (the heaviest edges)"},
      {"coverage", 0, CLI_FLAG, &o.coverage, 0, "FILE...",
       "accesses by class over all kernels of these files instead"},
      {"directions", 0, CLI_FLAG, &o.directions, 0, "WORKLOAD...",
       "MAP's mapping directions, from the code, instead"},
      CLI_JSON_OPTION(o.json),
      {0}};
  int n, rc = cli_parse(cli_find("analyze"), options, argc, argv, &n);
  if (rc >= 0) return rc;
  if (n < 1 || (n > 1 && !o.coverage && !o.directions))
    return cli_usage("analyze: name one file or workload");
  if (o.coverage) return print_coverage(argv + 1, n, o.json);
  if (o.directions) return print_directions(argv + 1, n, &o);
  bool affinity = o.dot && strcmp(o.dot, "affinity") == 0, is_file = is_kernel_file(argv[1]);
  if (o.dot && !affinity && strcmp(o.dot, "cfg") != 0)
    return cli_usage("analyze: --dot draws cfg or affinity, not '%s'", o.dot);
  if (affinity && is_file)
    return cli_usage("analyze: --dot affinity needs a workload, whose CTAs can be run");
  analyze_output out = {.o = &o, .list = json_array()};
  analyze_run run = {o.gpu, o.size, o.threads, o.seconds, o.verbose, affinity};
  json_t *measured = o.json ? json_object() : NULL;
  hd_diag d = {0};
  hd_status st = HD_OK;
  if (!is_file && !o.static_only && (!o.dot || affinity))
    st = analyze_measured(argv[1], &run, measured, &out.text, &d);
  out.brief = !is_file && !o.static_only && !o.verbose && !o.json && !o.dot;
  if (st == HD_OK && !affinity)
    st = is_file ? analyze_file(&out, argv[1], &d) : analyze_workload(&out, argv[1], &d);
  if (st != HD_OK) {
    hd_buf_free(&out.text);
    json_decref(out.list);
    json_decref(measured);
    return cli_fail(&d);
  }
  if (!o.json) {
    json_decref(out.list);
    return cli_print(&out.text);
  }
  json_object_set_new(measured, "input", json_string(argv[1]));
  json_object_set_new(measured, "accesses", all_accesses(out.list));
  json_object_set_new(measured, "kernels", out.list);
  return cli_print_json(measured);
}
