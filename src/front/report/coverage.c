/* Accesses by class, over all kernels of files. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "heddle/container.h"
#include "heddle/launch.h"
#include "report/fields.h"
#include "report/summary.h"

void hd_coverage_add(hd_coverage *c, const hd_analysis *a) {
  c->kernels++;
  c->over_budget += a->over_budget;
  for (uint32_t i = 0; i < a->n_sites; i++) {
    c->sites++;
    c->levels[a->sites[i].level]++;
    c->whys[a->sites[i].why]++;
  }
}

static hd_status add_any_launch(hd_coverage *c, const hd_analysis *a, hd_diag *d) {
  hd_launch_class *classes = calloc((size_t)a->n_sites + 1, sizeof *classes);
  hd_status st = classes ? hd_classes_at_launch(a, classes, d) : hd_nomem(d);
  for (uint32_t i = 0; st == HD_OK && i < a->n_sites; i++) {
    c->any_launch[classes[i].level]++;
    c->any_launch_starts[classes[i].start]++;
    if (classes[i].start == HD_START_FORMULA) c->any_launch_whys[classes[i].why]++;
  }
  if (st == HD_OK) c->any_launch_sites += a->n_sites;
  free(classes);
  return st;
}

static uint64_t count_formed(const uint64_t levels[HD_LEVEL_COUNT]) {
  return levels[HD_LEVEL_LAUNCH] + levels[HD_LEVEL_AFFINE] + levels[HD_LEVEL_QUASI];
}

/* A kernel at its launch. */
static void add_launched(hd_coverage *c, const hd_analysis *a) {
  c->launched += a->n_sites;
  for (uint32_t i = 0; i < a->n_sites; i++) c->launched_levels[a->sites[i].level]++;
  c->divided += a->tiles.answer != HD_TILES_NONE;
  c->shaped += a->tiles.answer == HD_TILES_FOUND || a->tiles.answer == HD_TILES_LAUNCH;
}

static void put_share(const char *what, uint64_t n, uint64_t of, hd_buf *out) {
  if (n) hd_buf_printf(out, "  %s: %" PRIu64 " (%.1f%%)\n", what, n, 100 * report_rate(n, of));
}

/* Reasons by an address's nature come first, and what the analysis does not follow last. */
static void put_any_launch(const hd_coverage *c, hd_buf *out) {
  static const hd_why by_nature[] = {HD_WHY_LOAD, HD_WHY_EXCHANGE, HD_WHY_SCHEDULE, HD_WHY_TENSOR_MAP};
  const uint64_t formed = count_formed(c->any_launch), all = c->any_launch_sites;
  const uint64_t computed = c->any_launch_starts[HD_START_COMPUTED],
                 loaded = c->any_launch_starts[HD_START_LOADED];
  uint64_t nature = 0;
  for (size_t i = 0; i < sizeof by_nature / sizeof *by_nature; i++)
    nature += c->any_launch_whys[by_nature[i]];
  hd_buf_printf(out, "Files, at any launch: %" PRIu64 " of %" PRIu64 " accesses (%.1f%%).\n", formed, all,
                100 * report_rate(formed, all));
  put_share("affine or quasi-affine in a CTA, from a start computed from its number", computed, all, out);
  put_share("the same, from a start that a load brings, as a pointer of a batch", loaded, all, out);
  put_share("with all of these", computed + loaded ? formed + computed + loaded : 0, all, out);
  put_share("loaded, from other threads, or through a tensor map", nature, all, out);
  put_share("not followed", all - formed - computed - loaded - nature, all, out);
}

typedef struct counted {
  const char *indent, *name;
  uint64_t n;
  double share;
  const char *why;
} counted;

static void put_class(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%s%s", ((const counted *)row)->indent, ((const counted *)row)->name);
}
static const field class_fields[] = {
    {.heading = "address", .put = put_class},
    {.heading = "accesses", MEMBER(counted, n)},
    {.heading = "share", .kind = FIELD_PERCENT, .decimals = 1, MEMBER(counted, share)},
    {.heading = "because of", MEMBER(counted, why)},
    {0},
};

/* Classes, and the reasons of those that have no formula; what does not occur is left out. */
static void put_classes(const hd_coverage *c, hd_buf *out) {
  field_sheet sheet = report_sheet(class_fields, 0);
  for (int l = 0; l < HD_LEVEL_COUNT; l++)
    if (c->levels[l])
      report_sheet_row(&sheet, &(counted){"", hd_level_name((hd_level)l), c->levels[l],
                                          report_rate(c->levels[l], c->sites), ""});
  for (int w = HD_WHY_NONE + 1; w < HD_WHY_COUNT; w++)
    if (c->whys[w])
      report_sheet_row(&sheet, &(counted){"  ", hd_why_name((hd_why)w), c->whys[w],
                                          report_rate(c->whys[w], c->sites), hd_why_text((hd_why)w)});
  report_put_sheet(&sheet, out);
}

void hd_report_coverage(const hd_coverage *c, hd_buf *out) {
  report_put_count(c->modules, "module", out);
  hd_buf_puts(out, ", ");
  report_put_count(c->kernels, "kernel", out);
  hd_buf_printf(
      out, " (%" PRIu64 " failed, %" PRIu64 " over the budget), %" PRIu64 " access%s to global memory\n\n",
      c->failed, c->over_budget, c->sites, c->sites == 1 ? "" : "es");
  put_classes(c, out);
  uint64_t formed = count_formed(c->launched_levels);
  hd_buf_printf(out, "\nAffine or quasi-affine: %" PRIu64 " (%.1f%%).\n", count_formed(c->levels),
                100 * report_rate(count_formed(c->levels), c->sites));
  if (c->any_launch_sites) put_any_launch(c, out);
  if (!c->launched) return;
  hd_buf_printf(out,
                "Of workloads, with their launches' arguments: %" PRIu64 " of %" PRIu64
                " accesses (%.1f%%).\n%" PRIu64
                " of their kernels divide the CTA's number; the tiles of %" PRIu64 " (%.1f%%) are known.\n",
                formed, c->launched, 100 * report_rate(formed, c->launched), c->divided, c->shaped,
                100 * report_rate(c->shaped, c->divided));
}

/* Every kernel of one module. */
static void cover_module(const hd_ptx_text *text, hd_coverage *c) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  c->modules++;
  if (hd_ptx_parse(text->data, text->len, text->label, &arena, &m, NULL) != HD_OK) {
    c->failed++;
    hd_arena_free(&arena);
    return;
  }
  for (uint32_t f = 0; f < m->n_funcs; f++) {
    hd_analysis *a;
    if (!m->funcs[f].entry || !m->funcs[f].has_body) continue;
    if (hd_analyze(m, f, NULL, &a, NULL) == HD_OK) {
      hd_coverage_add(c, a);
      c->failed += add_any_launch(c, a, NULL) != HD_OK;
      hd_analysis_free(a);
    } else {
      c->failed++;
    }
  }
  hd_arena_free(&arena);
}

static hd_status cover_launch(const hd_compiled *code, uint32_t kernel, hd_coverage *c, hd_diag *d) {
  hd_analysis *a;
  hd_status st = hd_analyze(code->module, code->kernels[kernel].func, NULL, &a, d);
  if (st != HD_OK) return st;
  hd_coverage_add(c, a);
  hd_analysis_free(a);
  st = hd_launch_analyze(code, code->kernels[kernel].first, &a, d);
  if (st != HD_OK) return st;
  add_launched(c, a);
  hd_analysis_free(a);
  return HD_OK;
}

static hd_status cover_workload(const char *folder, hd_coverage *c, hd_diag *d) {
  hd_workload *w;
  const hd_compiled *code;
  hd_status st = hd_workload_open(folder, NULL, "small", &w, d);
  if (st != HD_OK) return st;
  st = hd_workload_compiled(w, hd_launch_arch(NULL, 0), &code, d);
  c->modules += st == HD_OK;
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels; k++) st = cover_launch(code, k, c, d);
  hd_workload_close(w);
  return st;
}

static bool is_workload(const char *path) {
  char inside[4096];
  int n = snprintf(inside, sizeof inside, "%s/workload.toml", path);
  return n > 0 && (size_t)n < sizeof inside && access(inside, R_OK) == 0;
}

hd_status hd_coverage_file(const char *path, hd_coverage *c, hd_diag *d) {
  hd_container *file;
  if (is_workload(path)) return cover_workload(path, c, d);
  uint64_t n = 0;
  hd_status st = c->sample ? hd_container_count(path, &n, d) : HD_OK;
  if (st == HD_OK) st = hd_container_open(path, &file, d);
  if (st != HD_OK) return st;
  bool more = true;
  for (uint64_t i = 0; more;) {
    hd_ptx_text text;
    more = false;
    if (hd_container_next(file, &text, &more, NULL) != HD_OK)
      c->failed++;
    else if (more && hd_container_sampled(i++, n, c->sample))
      cover_module(&text, c);
  }
  hd_container_close(file);
  return HD_OK;
}

/* ---- JSON ----------------------------------------------------------------------------------------- */

static const hd_coverage *coverage_of(const void *row) { return row; }
static json_t *levels(const uint64_t n[HD_LEVEL_COUNT]) {
  json_t *j = json_object();
  for (int l = 0; j && l < HD_LEVEL_COUNT; l++)
    j = report_set(j, hd_level_name((hd_level)l), json_integer((json_int_t)n[l]));
  return j;
}
static json_t *levels_json(const void *row) { return levels(coverage_of(row)->levels); }
static json_t *launched_levels_json(const void *row) { return levels(coverage_of(row)->launched_levels); }
static json_t *any_launch_json(const void *row) { return levels(coverage_of(row)->any_launch); }
static json_t *whys_json(const void *row) {
  json_t *j = json_object();
  for (int w = HD_WHY_NONE + 1; j && w < HD_WHY_COUNT; w++)
    j = report_set(j, hd_why_name((hd_why)w), json_integer((json_int_t)coverage_of(row)->whys[w]));
  return j;
}

#define OF(member) MEMBER(hd_coverage, member)
static const field launched_fields[] = {{"accesses", OF(launched)},
                                        {"classes", .tree = launched_levels_json},
                                        {"divided", OF(divided)},
                                        {"shaped", OF(shaped)},
                                        {0}};
static const field coverage_fields[] = {
    {"modules", OF(modules)},
    {"kernels", OF(kernels)},
    {"failed", OF(failed)},
    {"over_budget", OF(over_budget)},
    {"accesses", OF(sites)},
    {"classes", .tree = levels_json},
    {"whys", .tree = whys_json},
    {"any_launch_computed_start", OF(any_launch_starts[HD_START_COMPUTED])},
    {"any_launch_loaded_start", OF(any_launch_starts[HD_START_LOADED])},
    {"any_launch", .tree = any_launch_json},
    {"launched", SELF(launched_fields)},
    {0},
};

void hd_coverage_json(const hd_coverage *c, hd_buf *out) { report_put_fields_json(coverage_fields, c, out); }
