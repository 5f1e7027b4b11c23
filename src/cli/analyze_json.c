/* An analysis as JSON. */
#include <stdlib.h>

#include "analyze.h"

static json_t *text_of(hd_buf *b) {
  json_t *j = json_string(b->data ? b->data : "");
  hd_buf_free(b);
  return j;
}

static json_t *poly_json(const hd_analysis *a, hd_poly p) {
  hd_buf b = {0};
  hd_poly_print(a, p, &b);
  return text_of(&b);
}

static json_t *strides_json(hd_analysis *a, const hd_site *s) {
  static const char part[] = "xyz";
  json_t *j = json_object();
  for (uint32_t kind = HD_V_TID; kind <= HD_V_COUNTER; kind++)
    for (uint32_t i = 0; i < (kind == HD_V_COUNTER ? a->cfg.n_loops : 3); i++) {
      hd_symbol symbol = hd_find_symbol(a, (hd_symbol_kind)kind, i, 0);
      char name[32];
      hd_poly stride;
      if (symbol == HD_NONE) continue;
      if (kind == HD_V_COUNTER)
        snprintf(name, sizeof name, "k%u", i + 1);
      else
        snprintf(name, sizeof name, "%s.%c", kind == HD_V_TID ? "tid" : "ctaid", part[i]);
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
    json_array_append_new(j, text_of(&b));
  }
  return j;
}

static json_t *assumptions_json(const hd_analysis *a, const hd_site *s) {
  json_t *j = json_array();
  for (uint32_t i = 0; i < s->n_assumptions; i++) {
    hd_buf b = {0};
    hd_assumption_print(a, &a->assumptions[a->assumption_lists[s->first_assumption + i]], &b);
    json_array_append_new(j, text_of(&b));
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

static json_t *site_json(hd_analysis *a, uint32_t i, const hd_point *at) {
  const hd_site *s = &a->sites[i];
  json_t *j = json_pack("{s:i, s:s, s:i, s:s, s:o}", "line", (int)s->line, "kind",
                        hd_site_kind_name((hd_site_kind)s->kind), "bytes", (int)s->bytes, "class",
                        hd_level_name((hd_level)s->level), "base", base_json(a, s));
  if (s->level < HD_LEVEL_DATA) {
    json_object_set_new(j, "address", poly_json(a, s->address));
    json_object_set_new(j, "strides", strides_json(a, s));
  }
  if (s->why) {
    json_object_set_new(j, "why", json_string(hd_why_name((hd_why)s->why)));
    json_object_set_new(j, "why_line", s->why_line ? json_integer(s->why_line) : json_null());
  }
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

json_t *analyze_json(hd_analysis *a, const hd_point *at, const hd_refusal *refusals, size_t n_refusals,
                     size_t n_stored) {
  json_t *j = json_pack("{s:s, s:i, s:i, s:b}", "kernel", a->module->syms[a->module->funcs[a->func].sym].name,
                        "instructions", (int)a->cfg.n_insts, "blocks", (int)a->cfg.n_blocks, "over_budget",
                        (int)a->over_budget);
  json_t *loops = json_array(), *accesses = json_array(), *why = json_array();
  for (uint32_t l = 0; l < a->cfg.n_loops; l++) {
    const hd_loop *loop = &a->cfg.loops[l];
    char name[16];
    snprintf(name, sizeof name, "k%u", l + 1);
    json_array_append_new(
        loops,
        json_pack("{s:s, s:i, s:i, s:o}", "counter", name, "line", (int)loop->line, "depth", (int)loop->depth,
                  "back_edges",
                  a->loop_values[l].trips == HD_NONE ? json_null() : poly_json(a, a->loop_values[l].trips)));
  }
  for (uint32_t i = 0; i < a->n_sites; i++) json_array_append_new(accesses, site_json(a, i, at));
  for (size_t i = 0; i < n_stored; i++)
    json_array_append_new(why, json_pack("{s:s, s:i, s:s}", "kind", hd_refusal_name(refusals[i].kind), "line",
                                         (int)refusals[i].line, "what", refusals[i].what));
  json_object_set_new(j, "loops", loops);
  json_object_set_new(j, "accesses", accesses);
  json_object_set_new(j, "order_free", json_string(n_refusals ? "no" : "unrefuted"));
  json_object_set_new(j, "refusals", why);
  return j;
}
