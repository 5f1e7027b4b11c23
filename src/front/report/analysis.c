/* The results of one kernel's analysis, as text and as JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "report/analysis.h"
#include "report/json.h"
#include "report/table.h"

/* ---- One kernel --------------------------------------------------------------------------- */

/* Bases in the order in which they come up, with the kinds of their accesses. */
static void put_arrays(const hd_analysis *a, hd_buf *out) {
  hd_buf_puts(out, "arrays:");
  unsigned n = 0;
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    bool first = true, reads = false, writes = false;
    for (uint32_t k = 0; k < a->n_sites; k++) {
      const hd_site *o = &a->sites[k];
      if (o->param != s->param || o->var != s->var || o->param_offset != s->param_offset) continue;
      first &= k >= i;
      reads |= hd_site_reads((hd_site_kind)o->kind);
      writes |= hd_site_writes((hd_site_kind)o->kind);
    }
    if (!first || (s->param == HD_NONE && s->var == HD_NONE)) continue;
    hd_buf_puts(out, n++ ? ", " : " ");
    report_put_base(a, s, out);
    hd_buf_puts(out, reads && writes ? " read and written"
                     : writes        ? " written"
                     : reads         ? " read"
                                     : " prefetched");
  }
  hd_buf_puts(out, n ? "\n" : " none that a parameter names\n");
}

static void put_loops(const hd_analysis *a, bool cut, hd_buf *out) {
  for (uint32_t l = 0; l < a->cfg.n_loops; l++) {
    const hd_loop *loop = &a->cfg.loops[l];
    hd_buf rounds = {0};
    if (a->loop_values[l].rounds != HD_NONE) hd_poly_print(a, a->loop_values[l].rounds, &rounds);
    hd_buf_printf(out, "loop k%u: line %u, %s%u blocks, ", l + 1, loop->line,
                  loop->depth > 1 ? "inside another, " : "", loop->n_blocks);
    if (!rounds.len)
      hd_buf_puts(out, "runs an unknown number of times\n");
    else if (cut && rounds.len > REPORT_SHORT_FORMULA)
      hd_buf_printf(out, "runs %.*s... times\n", REPORT_SHORT_FORMULA - 3, rounds.data);
    else
      hd_buf_printf(out, "runs %s times\n", rounds.data);
    hd_buf_free(&rounds);
  }
}

static void put_conditions(const hd_analysis *a, hd_buf *out) {
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    if (!s->n_guards && !s->n_assumptions) continue;
    hd_buf_printf(out, "line %u:\n", s->line);
    for (uint32_t k = 0; k < s->n_guards; k++) {
      hd_buf_puts(out, k ? "       and " : "  runs if ");
      hd_guard_print(a, a->guards[s->first_guard + k].poly, out);
      hd_buf_putc(out, '\n');
    }
    if (!s->guards_complete) hd_buf_puts(out, "  and maybe other conditions\n");
    for (uint32_t k = 0; k < s->n_assumptions; k++) {
      hd_buf_puts(out, "  assuming ");
      hd_assumption_print(a, &a->assumptions[a->assumption_lists[s->first_assumption + k]], out);
      hd_buf_putc(out, '\n');
    }
  }
}

/* In one line. */
static void put_verdict(const hd_analysis_page *p, hd_buf *out) {
  if (!p->n_refusals)
    hd_buf_puts(out, "order of the CTAs: nothing in the code bars changing it\n");
  else if (p->refusals[0].line)
    hd_buf_printf(out, "order of the CTAs: fixed, line %u: %s\n", p->refusals[0].line, p->refusals[0].what);
  else
    hd_buf_printf(out, "order of the CTAs: fixed: %s\n", p->refusals[0].what);
}

/* The quantities that decide how the CTA's number is divided: "m and n". */
static void put_deciding(const hd_analysis *a, hd_buf *out) {
  const hd_tiles *t = &a->tiles;
  for (uint32_t i = 0; i < t->n_params; i++) {
    hd_buf_puts(out, !i ? "" : i + 1 == t->n_params ? " and " : ", ");
    hd_param_print(a, t->params[i], out);
  }
  if (!t->n_params) hd_buf_puts(out, "constants");
}

static void put_tiles(const hd_analysis *a, hd_buf *out) {
  const hd_tiles *t = &a->tiles;
  if (a->at_launch) hd_buf_puts(out, "at this launch: numbers stand for its arguments\n");
  if (t->answer == HD_TILES_NONE) return;
  hd_buf_puts(out, "tiles: ");
  if (t->loop != HD_NONE)
    hd_buf_printf(out, "loop k%u, line %u, goes through them in steps of the grid's size; ", t->loop + 1,
                  a->cfg.loops[t->loop].line);
  if (t->line) {
    hd_buf_printf(out, "line %u divides the CTA's number, by ", t->line);
    put_deciding(a, out);
    hd_buf_puts(out, "; ");
  }
  if (t->answer == HD_TILES_LAUNCH) hd_buf_puts(out, "the accesses follow the launch's own ids\n");
  if (t->answer == HD_TILES_UNKNOWN) hd_buf_puts(out, "no shape is known that names each tile once\n");
  if (t->answer != HD_TILES_FOUND) return;
  hd_buf_printf(out, "%u x %u x %u tiles, %s", t->n[0], t->n[1], t->n[2],
                t->shape.kind == HD_SHAPE_LAUNCH ? "in an order of the kernel's own" : "shape=");
  hd_shape_print(&t->shape, out);
  hd_buf_putc(out, '\n');
}

void hd_report_analysis(hd_analysis *a, const hd_analysis_page *p, hd_buf *out) {
  hd_coverage c = {0};
  hd_coverage_add(&c, a);
  uint64_t good = c.levels[HD_LEVEL_LAUNCH] + c.levels[HD_LEVEL_AFFINE], conditions = 0;
  hd_kernel_title(a->module->syms[a->module->funcs[a->func].sym].name, false, out);
  hd_buf_printf(out,
                ": %u instructions, %u loops, %u accesses to global memory: %" PRIu64 " affine, %" PRIu64
                " quasi-affine, %" PRIu64 " neither\n",
                a->cfg.n_insts, a->cfg.n_loops, a->n_sites, good, c.levels[HD_LEVEL_QUASI],
                c.sites - good - c.levels[HD_LEVEL_QUASI]);
  put_tiles(a, out);
  put_arrays(a, out);
  put_loops(a, p->cut, out);
  put_verdict(p, out);
  if (a->over_budget) hd_buf_puts(out, "over the budget: what is marked so was not worked out\n");
  if (!a->n_sites) return;
  hd_buf_putc(out, '\n');
  report_put_accesses(a, p, out);
  for (uint32_t i = 0; i < a->n_sites; i++) conditions += a->sites[i].n_assumptions;
  if (p->verbose) {
    hd_buf_putc(out, '\n');
    put_conditions(a, out);
  } else if (conditions) {
    hd_buf_puts(out,
                "\nSome addresses hold only where 32-bit numbers did not wrap; -v lists the conditions.\n");
  }
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *poly_json(const hd_analysis *a, hd_poly p) {
  hd_buf b = {0};
  hd_poly_print(a, p, &b);
  return report_text_json(&b);
}

static json_t *poly_or_null(const hd_analysis *a, hd_poly p) {
  return p == HD_NONE ? json_null() : poly_json(a, p);
}

static json_t *strides_json(hd_analysis *a, const hd_site *s) {
  json_t *j = json_object();
  for (uint32_t kind = HD_V_TID; kind <= HD_V_TILE; kind++)
    for (uint32_t i = 0; i < (kind == HD_V_COUNTER ? a->cfg.n_loops : 3); i++) {
      hd_symbol symbol = hd_find_symbol(a, (hd_symbol_kind)kind, i, 0);
      char name[32];
      hd_poly stride;
      if (symbol == HD_NONE) continue;
      report_variable_name((hd_symbol_kind)kind, i, name, sizeof name);
      bool linear = hd_poly_stride(a, s->address, symbol, &stride);
      if (!linear || stride) json_object_set_new(j, name, linear ? poly_json(a, stride) : json_null());
    }
  return j;
}

static json_t *guards_json(const hd_analysis *a, const hd_site *s) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < s->n_guards; i++) {
    hd_buf b = {0};
    hd_guard_print(a, a->guards[s->first_guard + i].poly, &b);
    json_array_append_new(j, report_text_json(&b));
  }
  return j;
}

static json_t *assumptions_json(const hd_analysis *a, const hd_site *s) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < s->n_assumptions; i++) {
    hd_buf b = {0};
    hd_assumption_print(a, &a->assumptions[a->assumption_lists[s->first_assumption + i]], &b);
    json_array_append_new(j, report_text_json(&b));
  }
  return j;
}

static json_t *base_json(const hd_analysis *a, const hd_site *s) {
  const hd_ptx_module *m = a->module;
  if (s->param != HD_NONE)
    return json_pack("{s:i, s:s, s:i}", "param", (int)s->param, "name",
                     m->syms[m->vars[m->funcs[a->func].first_param + s->param].sym].name, "offset",
                     (int)s->param_offset);
  if (s->var != HD_NONE) return json_pack("{s:s}", "variable", m->syms[m->vars[s->var].sym].name);
  return json_null();
}

static void add_source(json_t *j, const hd_analysis *a, const hd_site *s) {
  hd_ptx_source from = report_source_of(a, s->inst);
  if (from.line)
    json_object_set_new(j, "source",
                        json_pack("{s:s%, s:i}", "file", from.file, from.file_len, "line", (int)from.line));
}

/* The buffer that the kernel's first launch gives for the access's parameter; NULL: none is known. */
static const char *buffer_of(const hd_analysis *a, const hd_site *s, const hd_workload *w) {
  const char *kernel = a->module->syms[a->module->funcs[a->func].sym].name;
  for (uint32_t i = 0; w && i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, kernel) != 0) continue;
    const bool known = s->param < l->n_args && l->args[s->param].is_buffer;
    return known ? w->buffers[l->args[s->param].buffer].name : NULL;
  }
  return NULL;
}

static json_t *site_json(hd_analysis *a, uint32_t i, const hd_analysis_page *p) {
  const hd_point *at = p->at;
  const hd_site *s = &a->sites[i];
  const char *buffer = buffer_of(a, s, p->workload);
  json_t *j = json_pack("{s:i, s:s, s:i, s:s, s:o}", "line", (int)s->line, "kind",
                        hd_site_kind_name((hd_site_kind)s->kind), "bytes", (int)s->bytes, "class",
                        hd_level_name((hd_level)s->level), "base", base_json(a, s));
  if (buffer) json_object_set_new(j, "array", json_string(buffer));
  if (s->level < HD_LEVEL_DATA) {
    json_object_set_new(j, "address", poly_json(a, s->address));
    json_object_set_new(j, "strides", strides_json(a, s));
  }
  if (s->why) {
    json_object_set_new(j, "why", json_string(hd_why_name((hd_why)s->why)));
    json_object_set_new(j, "why_line", s->why_line ? json_integer(s->why_line) : json_null());
  }
  hd_buf words = {0};
  json_object_set_new(j, "pattern", json_string(report_pattern(a, i, at, &words)));
  json_object_set_new(j, "verdict", report_text_json(&words));
  add_source(j, a, s);
  json_object_set_new(j, "guards", guards_json(a, s));
  json_object_set_new(j, "guards_complete", json_boolean(s->guards_complete));
  json_object_set_new(j, "assumptions", assumptions_json(a, s));
  hd_coalescing c = at ? hd_site_coalescing(a, i, at, 0) : (hd_coalescing){0};
  if (c.known)
    json_object_set_new(j, "first_warp",
                        json_pack("{s:i, s:i, s:i, s:i}", "lanes", (int)c.lanes, "sectors", (int)c.sectors,
                                  "lines", (int)c.lines, "bytes", (int)c.bytes));
  return j;
}

static json_t *tiles_json(const hd_analysis *a) {
  static const char *const answers[] = {"none", "launch", "found", "unknown"};
  const hd_tiles *t = &a->tiles;
  json_t *params = json_array();
  for (uint32_t i = 0; i < t->n_params; i++) {
    hd_buf name = {0};
    hd_param_print(a, t->params[i], &name);
    json_array_append_new(params, report_text_json(&name));
  }
  json_t *loop = t->loop == HD_NONE ? json_null() : json_integer((json_int_t)t->loop + 1);
  json_t *j = json_pack("{s:s, s:o, s:i, s:o}", "answer", answers[t->answer], "loop", loop, "line",
                        (int)t->line, "params", params);
  if (t->answer != HD_TILES_FOUND) return j;
  hd_buf shape = {0};
  hd_shape_print(&t->shape, &shape);
  json_object_set_new(j, "shape", report_text_json(&shape));
  json_object_set_new(j, "tiles", json_pack("[i, i, i]", (int)t->n[0], (int)t->n[1], (int)t->n[2]));
  return j;
}

json_t *report_kernel_json(hd_analysis *a, const hd_analysis_page *p) {
  json_t *j = json_pack("{s:s, s:i, s:i, s:b}", "kernel", a->module->syms[a->module->funcs[a->func].sym].name,
                        "instructions", (int)a->cfg.n_insts, "blocks", (int)a->cfg.n_blocks, "over_budget",
                        (int)a->over_budget);
  json_t *loops = json_array(), *accesses = json_array(), *why = json_array();
  for (uint32_t l = 0; l < a->cfg.n_loops; l++) {
    const hd_loop *loop = &a->cfg.loops[l];
    char name[16];
    snprintf(name, sizeof name, "k%u", l + 1);
    json_array_append_new(loops, json_pack("{s:s, s:i, s:i, s:o, s:o}", "counter", name, "line",
                                           (int)loop->line, "depth", (int)loop->depth, "back_edges",
                                           poly_or_null(a, a->loop_values[l].trips), "runs",
                                           poly_or_null(a, a->loop_values[l].rounds)));
  }
  for (uint32_t i = 0; i < a->n_sites; i++) json_array_append_new(accesses, site_json(a, i, p));
  for (size_t i = 0; i < p->n_stored; i++)
    json_array_append_new(why, json_pack("{s:s, s:i, s:s}", "kind", hd_refusal_name(p->refusals[i].kind),
                                         "line", (int)p->refusals[i].line, "what", p->refusals[i].what));
  if (a->at_launch) json_object_set_new(j, "tiles", tiles_json(a));
  json_object_set_new(j, "loops", loops);
  json_object_set_new(j, "accesses", accesses);
  json_object_set_new(j, "order_free", json_string(p->n_refusals ? "no" : "unrefuted"));
  json_object_set_new(j, "refusals", why);
  return j;
}
