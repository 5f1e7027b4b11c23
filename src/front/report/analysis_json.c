/* The results of one kernel's analysis, as JSON. */
#include <stdio.h>
#include <string.h>

#include "report/analysis.h"
#include "report/json.h"

static const char *kind(const void *refusal) { return hd_refusal_name(((const hd_refusal *)refusal)->kind); }
const field report_refusal_fields[] = {
    {"kind", .text = kind}, {"line", MEMBER(hd_refusal, line)}, {"what", MEMBER(hd_refusal, what)}, {0}};

/* A kernel's, as they are. */
typedef struct kernel {
  hd_analysis *a;
  const hd_analysis_page *page;
} kernel;

static json_t *poly_json(const hd_analysis *a, hd_poly p) {
  hd_buf b = {0};
  hd_poly_print(a, p, &b);
  return report_text_json(&b);
}

/* ---- An access ------------------------------------------------------------------------------------ */

typedef struct access {
  hd_analysis *a;
  const hd_analysis_page *page;
  uint32_t i;
  const hd_site *s;
  hd_ptx_source source;
  hd_coalescing warp;
} access;

static hd_analysis *analysis_of(const void *row) { return ((const access *)row)->a; }
static const hd_site *site_of(const void *row) { return ((const access *)row)->s; }

static const char *kind_name(const void *row) { return hd_site_kind_name((hd_site_kind)site_of(row)->kind); }
static const char *level_name(const void *row) { return hd_level_name((hd_level)site_of(row)->level); }
static const char *why_name(const void *row) { return hd_why_name((hd_why)site_of(row)->why); }
static bool has_why(const void *row) { return site_of(row)->why; }
static bool has_formula(const void *row) { return site_of(row)->level < HD_LEVEL_DATA; }
static bool has_source(const void *row) { return ((const access *)row)->source.line; }
static bool is_known(const void *warp) { return ((const hd_coalescing *)warp)->known; }
static bool is_line(const void *line) { return *(const uint32_t *)line; }

/* The buffer that the kernel's first launch gives for the access's parameter; NULL: none is known. */
static const char *buffer_of(const void *row) {
  const hd_analysis *a = analysis_of(row);
  const hd_workload *w = ((const access *)row)->page->workload;
  const hd_site *s = site_of(row);
  const char *name = a->module->syms[a->module->funcs[a->func].sym].name;
  for (uint32_t i = 0; w && i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, name) != 0) continue;
    const bool known = s->param < l->n_args && l->args[s->param].is_buffer;
    return known ? w->buffers[l->args[s->param].buffer].name : NULL;
  }
  return NULL;
}

/* What the address is based on. */
static bool is_param(const void *row) { return site_of(row)->param != HD_NONE; }
static bool is_variable(const void *row) { return !is_param(row) && site_of(row)->var != HD_NONE; }
static bool has_base(const void *row) { return is_param(row) || is_variable(row); }
static const char *param_name(const void *row) {
  const hd_analysis *a = analysis_of(row);
  const hd_ptx_module *m = a->module;
  return m->syms[m->vars[m->funcs[a->func].first_param + site_of(row)->param].sym].name;
}
static const char *variable_name(const void *row) {
  const hd_ptx_module *m = analysis_of(row)->module;
  return m->syms[m->vars[site_of(row)->var].sym].name;
}
#define SITE(member) THROUGH(access, s, hd_site, member)
static const field base_fields[] = {
    {"param", .when = is_param, SITE(param)},
    {"name", .when = is_param, .text = param_name},
    {"offset", .when = is_param, SITE(param_offset)},
    {"variable", .when = is_variable, .text = variable_name},
    {0},
};

static void put_address(const void *row, hd_buf *out) {
  hd_poly_print(analysis_of(row), site_of(row)->address, out);
}

static json_t *strides_json(const void *row) {
  hd_analysis *a = analysis_of(row);
  json_t *j = json_object();
  for (uint32_t k = HD_V_TID; k <= HD_V_TILE; k++)
    for (uint32_t i = 0; j && i < (k == HD_V_COUNTER ? a->cfg.n_loops : 3); i++) {
      const hd_symbol symbol = hd_find_symbol(a, (hd_symbol_kind)k, i, 0);
      char name[32];
      hd_poly stride;
      if (symbol == HD_NONE) continue;
      report_variable_name((hd_symbol_kind)k, i, name, sizeof name);
      const bool linear = hd_poly_stride(a, site_of(row)->address, symbol, &stride);
      if (!linear || stride) j = report_set(j, name, linear ? poly_json(a, stride) : json_null());
    }
  return j;
}

static const char *pattern(const void *row) {
  hd_buf words = {0};
  const char *name =
      report_pattern(analysis_of(row), ((const access *)row)->i, ((const access *)row)->page->at, &words);
  hd_buf_free(&words);
  return name;
}
static void put_verdict(const void *row, hd_buf *out) {
  report_pattern(analysis_of(row), ((const access *)row)->i, ((const access *)row)->page->at, out);
}
static json_t *file_json(const void *source) {
  const hd_ptx_source *from = source;
  return report_bytes_json(from->file, (size_t)from->file_len);
}

static json_t *guards_json(const void *row) {
  const hd_analysis *a = analysis_of(row);
  json_t *j = json_array();
  for (uint32_t i = 0; j && i < site_of(row)->n_guards; i++) {
    hd_buf b = {0};
    hd_guard_print(a, a->guards[site_of(row)->first_guard + i].poly, &b);
    j = report_append(j, report_text_json(&b));
  }
  return j;
}

static json_t *assumptions_json(const void *row) {
  const hd_analysis *a = analysis_of(row);
  json_t *j = json_array();
  for (uint32_t i = 0; j && i < site_of(row)->n_assumptions; i++) {
    hd_buf b = {0};
    hd_assumption_print(a, &a->assumptions[a->assumption_lists[site_of(row)->first_assumption + i]], &b);
    j = report_append(j, report_text_json(&b));
  }
  return j;
}

static const field source_fields[] = {
    {"file", .tree = file_json}, {"line", MEMBER(hd_ptx_source, line)}, {0}};
static const field warp_fields[] = {{"lanes", MEMBER(hd_coalescing, lanes)},
                                    {"sectors", MEMBER(hd_coalescing, sectors)},
                                    {"lines", MEMBER(hd_coalescing, lines)},
                                    {"bytes", MEMBER(hd_coalescing, bytes)},
                                    {0}};
static const field access_fields[] = {
    {"line", SITE(line)},
    {"kind", .text = kind_name},
    {"bytes", SITE(bytes)},
    {"class", .text = level_name},
    {"base", .null = true, .when = has_base, SELF(base_fields)},
    {"array", .text = buffer_of},
    {"address", .when = has_formula, .put = put_address},
    {"strides", .when = has_formula, .tree = strides_json},
    {.section = has_why},
    {"why", .text = why_name},
    {"why_line", .null = true, .has = is_line, SITE(why_line)},
    {.section = field_always},
    {"pattern", .text = pattern},
    {"verdict", .put = put_verdict},
    {"source", .when = has_source, STRUCT(access, source, source_fields)},
    {"guards", .tree = guards_json},
    {"guards_complete", SITE(guards_complete)},
    {"assumptions", .tree = assumptions_json},
    {"first_warp", .has = is_known, STRUCT(access, warp, warp_fields)},
    {0},
};

static json_t *accesses_json(const void *row) {
  const kernel *k = row;
  json_t *list = json_array();
  for (uint32_t i = 0; list && i < k->a->n_sites; i++) {
    access one = {.a = k->a, .page = k->page, .i = i, .s = &k->a->sites[i]};
    one.source = report_source_of(k->a, one.s->inst);
    if (k->page->at) one.warp = hd_site_coalescing(k->a, i, k->page->at, 0);
    list = report_append(list, report_fields_json(access_fields, &one));
  }
  return list;
}

/* ---- Loops and tiles ------------------------------------------------------------------------------ */

typedef struct looped {
  const hd_analysis *a;
  const hd_loop *loop;
  const hd_loop_values *values;
  char name[16];
} looped;

static bool has_poly(const void *poly) { return *(const hd_poly *)poly != HD_NONE; }
static void put_trips(const void *row, hd_buf *out) {
  hd_poly_print(((const looped *)row)->a, ((const looped *)row)->values->trips, out);
}
static void put_rounds(const void *row, hd_buf *out) {
  hd_poly_print(((const looped *)row)->a, ((const looped *)row)->values->rounds, out);
}
static bool knows_trips(const void *row) { return has_poly(&((const looped *)row)->values->trips); }
static bool knows_rounds(const void *row) { return has_poly(&((const looped *)row)->values->rounds); }
static const field loop_fields[] = {
    {"counter", MEMBER(looped, name)},
    {"line", THROUGH(looped, loop, hd_loop, line)},
    {"depth", THROUGH(looped, loop, hd_loop, depth)},
    {"back_edges", .null = true, .when = knows_trips, .put = put_trips},
    {"runs", .null = true, .when = knows_rounds, .put = put_rounds},
    {0},
};

static json_t *loops_json(const void *row) {
  const hd_analysis *a = ((const kernel *)row)->a;
  json_t *list = json_array();
  for (uint32_t l = 0; list && l < a->cfg.n_loops; l++) {
    looped one = {a, &a->cfg.loops[l], &a->loop_values[l], ""};
    snprintf(one.name, sizeof one.name, "k%u", l + 1);
    list = report_append(list, report_fields_json(loop_fields, &one));
  }
  return list;
}

static const hd_tiles *tiles_of(const void *row) { return &((const kernel *)row)->a->tiles; }
static const char *tiles_answer(const void *row) {
  static const char *const answers[] = {"none", "launch", "found", "unknown"};
  return answers[tiles_of(row)->answer];
}
static bool were_found(const void *row) { return tiles_of(row)->answer == HD_TILES_FOUND; }
static bool has_tiles(const void *row) {
  return ((const kernel *)row)->a->at_launch || tiles_of(row)->answer != HD_TILES_NONE;
}
static bool has_loop(const void *row) { return tiles_of(row)->loop != HD_NONE; }
static int64_t tiles_loop(const void *row) { return (int64_t)tiles_of(row)->loop + 1; }
static int64_t tiles_line(const void *row) { return tiles_of(row)->line; }
static void put_shape(const void *row, hd_buf *out) { hd_shape_print(&tiles_of(row)->shape, out); }
static json_t *deciding_json(const void *row) {
  const hd_tiles *t = tiles_of(row);
  json_t *params = json_array();
  for (uint32_t i = 0; params && i < t->n_params; i++) {
    hd_buf name = {0};
    hd_param_print(((const kernel *)row)->a, t->params[i], &name);
    params = report_append(params, report_text_json(&name));
  }
  return params;
}
static const field count_fields[] = {{"tiles", ARRAY(hd_analysis, tiles.n)}, {0}};
static const field tiles_fields[] = {
    {"answer", .text = tiles_answer},
    {"loop", .null = true, .when = has_loop, .count = tiles_loop},
    {"line", .count = tiles_line},
    {"params", .tree = deciding_json},
    {.section = were_found},
    {"shape", .put = put_shape},
    {"tiles", .spread = true, STRUCT_AT(kernel, a, count_fields)},
    {0},
};

/* ---- The kernel ----------------------------------------------------------------------------------- */

static const char *kernel_name(const void *row) {
  const hd_analysis *a = ((const kernel *)row)->a;
  return a->module->syms[a->module->funcs[a->func].sym].name;
}
static const char *order_free(const void *row) {
  return ((const kernel *)row)->page->n_refusals ? "no" : "unrefuted";
}
static json_t *refusals_json(const void *row) {
  const hd_analysis_page *p = ((const kernel *)row)->page;
  return report_rows_json(report_refusal_fields, p->refusals, p->n_stored, sizeof *p->refusals);
}

static const field kernel_fields[] = {
    {"kernel", .text = kernel_name},
    {"instructions", THROUGH(kernel, a, hd_analysis, cfg.n_insts)},
    {"blocks", THROUGH(kernel, a, hd_analysis, cfg.n_blocks)},
    {"over_budget", THROUGH(kernel, a, hd_analysis, over_budget)},
    {"tiles", .when = has_tiles, SELF(tiles_fields)},
    {"loops", .tree = loops_json},
    {"accesses", .tree = accesses_json},
    {"order_free", .text = order_free},
    {"refusals", .tree = refusals_json},
    {0},
};

json_t *report_kernel_json(hd_analysis *a, const hd_analysis_page *p) {
  return report_fields_json(kernel_fields, &(kernel){a, p});
}
