/* Loads of memory that no thread writes during a workload's launches, so that they may go through the
 * read-only cache (.nc, PTX ISA: "read only for the duration of the kernel").
 *
 * The memory that a kernel may write follows from its text: the parameters that its stores, atomics and
 * copies are based on, and those that anything else in such an address is computed from: a store to b, or to
 * b + (a - b) in some threads, is to either. A kernel with a store whose parameter is not known, with a call
 * that cannot be followed, or with a distance in some store's address that came through memory, may write
 * anything. An index that was loaded in 32 bits is computed from what the kernel stored there (slice.c),
 * and is no distance that the host put there. Where the bits of two pointers become numbers, either's buffer
 * may be reached through the other (observed.c). Two parameters are of different memory where the workload
 * gives them different buffers in every launch, which are allocations of their own. None of this depends on
 * the data. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"
#include "heddle/ptx_facts.h"
#include "launch/launch.h"
#include "launch/slice.h"

/* Every call must have become a part of the analysis. */
static bool follows_all_calls(const hd_analysis *a) {
  const hd_cfg *g = &a->cfg;
  uint32_t calls = 0;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_stmt *s = hd_inst_stmt(g, i);
    calls += hd_inst_form(g, i)->flags & HD_OPF_CALLS && !hd_call_writes_nothing(a->module, s);
  }
  return calls + 1 == g->n_calls;
}

/* Which buffer it writes does not follow from its address. Images and tensor maps are over buffers, and which
 * one is not followed; multicast memory is that of other addresses, too. And where a kernel waits for the
 * grids before it, these write while it runs already. */
static bool writes_elsewhere(const hd_ptx_form *f) {
  const hd_ptx_access a = hd_ptx_access_of(f);
  if (f->op == HD_OP_GRIDDEPCONTROL) return hd_ptx_form_has(f, HD_M_WAIT);
  return hd_ptx_access_in(&a, f->op == HD_OP_MULTIMEM ? HD_IN_ANY_GLOBAL : HD_IN_SURFACE | HD_IN_TENSOR) &
         HD_ACC_WRITE;
}

static bool any_writes_elsewhere(const hd_analysis *a) {
  for (uint32_t i = 0; i < a->cfg.n_insts; i++)
    if (writes_elsewhere(hd_inst_form(&a->cfg, i))) return true;
  return false;
}

/* ---- What stores lead to ---------------------------------------------------------------------- */

/* A tensor map that is written in global memory; it is no access of the analysis. */
static void see_tensor_map(slice *s, uint32_t inst) {
  const hd_ptx_module *m = s->g->module;
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, inst));
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  if (hd_inst_form(s->g, inst)->op != HD_OP_TENSORMAP ||
      !(hd_ptx_access_in(&a, HD_IN_GLOBAL | HD_IN_GENERIC) & HD_ACC_WRITE))
    return;
  const hd_root root = hd_root_of(s->g, &s->writers, inst, &m->opnds[st->first_opnd + a.touches[0].operand]);
  const uint32_t param = root.loaded ? hd_cfg_param(s->g, root.sym) : HD_NONE;
  if (param < s->n_params)
    s->out->param[param] = true;
  else
    s->out->anything = true;
}

static hd_status follow_stores(const hd_analysis *a, uint32_t n_params, slice_writes *out, hd_diag *d) {
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : HD_OK;
  if (st == HD_OK) {
    slice s;
    slice_begin(&s, &a->cfg, n_params, out, &arena);
    for (uint32_t i = 0; i < a->n_sites; i++)
      if (hd_site_writes((hd_site_kind)a->sites[i].kind))
        slice_follow(&s, a->sites[i].inst, a->sites[i].param);
    for (uint32_t i = 0; i < a->cfg.n_insts; i++) see_tensor_map(&s, i);
  }
  hd_arena_free(&arena);
  return st;
}

/* ---- What a kernel writes ----------------------------------------------------------------- */

static hd_status find_writes(const hd_analysis *a, uint32_t n_params, slice_writes *out, hd_diag *d) {
  out->anything = a->over_budget || !follows_all_calls(a) || any_writes_elsewhere(a);
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    if (!hd_site_writes((hd_site_kind)s->kind)) continue;
    if (s->param < n_params)
      out->param[s->param] = true;
    else
      /* A variable of the module is no buffer, but a pointer that a constant holds may lead to one. */
      out->anything |= s->var == HD_NONE || a->module->vars[s->var].space == HD_M_CONST;
  }
  return follow_stores(a, n_params, out, d);
}

/* Whether no launch of the kernel passes the parameter's buffer to a parameter that is written. */
static bool is_apart(const hd_workload *w, uint32_t launch, uint32_t param, const slice_writes *found) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) != 0) continue;
    if (param >= l->n_args || !l->args[param].is_buffer) return false;
    for (uint32_t p = 0; p < l->n_args; p++)
      if (((found->param[p] || found->distance[p]) && !l->args[p].is_buffer) ||
          ((found->param[p] || found->other[p]) && l->args[p].is_buffer &&
           l->args[p].buffer == l->args[param].buffer))
        return false;
  }
  return true;
}

/* In some launch of the kernel. */
static bool is_buffer(const hd_workload *w, uint32_t launch, uint32_t param) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) == 0 && param < l->n_args && l->args[param].is_buffer)
      return true;
  }
  return false;
}

/* Whether the workload says that nothing writes the buffer, for all launches of the kernel. */
static bool is_by_word(const hd_workload *w, uint32_t launch, uint32_t param) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) != 0) continue;
    if (param >= l->n_args || !l->args[param].is_buffer || !w->buffers[l->args[param].buffer].unwritten)
      return false;
  }
  return true;
}

/* The kernel's text shows that a launch writes a buffer that the workload says nothing writes. */
static hd_status check_word(const hd_workload *w, uint32_t launch, const slice_writes *found, hd_diag *d) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) != 0) continue;
    for (uint32_t p = 0; p < l->n_args; p++)
      if (found->param[p] && l->args[p].is_buffer && w->buffers[l->args[p].buffer].unwritten)
        return hd_fail(d, HD_ERR_REFUSED, "%s: buffer '%s' is not unwritten: %s writes through parameter %u",
                       w->name, w->buffers[l->args[p].buffer].name, l->kernel, p + 1);
  }
  return HD_OK;
}

static const hd_site *site_of(const hd_analysis *a, uint32_t stmt) {
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_inst *in = &a->cfg.insts[a->sites[i].inst];
    if (!in->call && in->stmt == stmt) return &a->sites[i];
  }
  return NULL;
}

/* What may be listed, by parameter. */
typedef struct listing {
  const bool *apart;   /* loads through it */
  const bool *reached; /* its memory may be written: no load that may lead there */
  bool *used;          /* set where some load through it is listed; NULL: not asked for */
} listing;

static bool leads_elsewhere(slice *s, const hd_site *site, const bool *reached) {
  s->out->anything = false;
  memset(s->out->other, 0, s->n_params * sizeof *s->out->other);
  memset(s->out->relied, 0, s->n_params * sizeof *s->out->relied);
  slice_follow(s, site->inst, site->param);
  for (uint32_t p = 0; p < s->n_params; p++)
    if ((s->out->other[p] || s->out->relied[p]) && reached[p]) return true;
  return s->out->anything;
}

static void list_apart(slice *s, const hd_analysis *a, const hd_global_load *loads, size_t all,
                       const listing *what, uint32_t *out, uint32_t *n) {
  s->of_a_load = true;
  for (uint32_t i = 0; i < all; i++) {
    const hd_site *site = loads[i].kept ? NULL : site_of(a, loads[i].stmt);
    if (!site || site->kind != HD_SITE_LOAD || site->param == HD_NONE || !what->apart[site->param] ||
        leads_elsewhere(s, site, what->reached))
      continue;
    out[(*n)++] = i;
    if (!what->used) continue;
    what->used[site->param] = true;
    for (uint32_t p = 0; p < s->n_params; p++) what->used[p] |= s->out->relied[p];
  }
}

static hd_status list_loads(const hd_analysis *a, uint32_t n_params, const listing *what, uint32_t **out,
                            uint32_t *n, hd_diag *d) {
  const size_t all = hd_rewrite_loads(a->module, a->func, NULL, 0);
  hd_global_load *loads = calloc(all + 1, sizeof *loads);
  slice_writes of_load;
  const bool begun = slice_begin_writes(&of_load, n_params);
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  *out = calloc(all + 1, sizeof **out);
  hd_status st = !begun || !loads || !*out || setjmp(out_of_memory) ? hd_nomem(d) : HD_OK;
  if (st == HD_OK) {
    slice s;
    slice_begin(&s, &a->cfg, n_params, &of_load, &arena);
    hd_rewrite_loads(a->module, a->func, loads, all);
    list_apart(&s, a, loads, all, what, *out, n);
  }
  hd_arena_free(&arena);
  slice_end_writes(&of_load);
  free(loads);
  return st;
}

/* ---- Of a workload ---------------------------------------------------------------------- */

hd_status hd_unwritten_loads(const hd_ptx_module *m, uint32_t func, const hd_workload *w, uint32_t launch,
                             uint32_t **out, uint32_t *n, hd_diag *d) {
  hd_analysis *a;
  uint32_t n_params = m->funcs[func].n_params;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (w->launches[i].n_args > n_params) n_params = w->launches[i].n_args;
  slice_writes found;
  const bool begun = slice_begin_writes(&found, n_params);
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  bool *reached = calloc((size_t)n_params + 1, sizeof *reached);
  *out = NULL;
  *n = 0;
  hd_status st = begun && apart && reached ? hd_analyze(m, func, NULL, &a, d) : hd_nomem(d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    if (st == HD_OK) st = check_word(w, launch, &found, d);
    for (uint32_t p = 0; p < n_params; p++)
      found.anything |= found.relied[p] && !is_apart(w, launch, p, &found);
    for (uint32_t p = 0; p < n_params; p++) {
      apart[p] = is_by_word(w, launch, p) || (!found.anything && is_apart(w, launch, p, &found));
      reached[p] = !apart[p] && is_buffer(w, launch, p);
    }
    if (st == HD_OK) st = list_loads(a, n_params, &(listing){.apart = apart, .reached = reached}, out, n, d);
    hd_analysis_free(a);
  }
  free(reached);
  free(apart);
  slice_end_writes(&found);
  return st;
}

void hd_unwritten_params(const hd_workload *w, uint32_t launch, char *out, size_t cap) {
  size_t used = 0;
  out[0] = 0;
  for (uint32_t p = 0; p < w->launches[launch].n_args; p++) {
    if (!is_by_word(w, launch, p)) continue;
    int more = snprintf(out + used, cap - used, "%s%u", used ? "+" : "", p + 1);
    if (more < 0 || (size_t)more >= cap - used) {
      out[0] = 0; /* half a list would say something else */
      return;
    }
    used += (size_t)more;
  }
}

/* ---- Of launches that are looked at one by one ---------------------------------------------- */

static bool is_pointer(const hd_ptx_module *m, uint32_t func, uint32_t param) {
  const hd_ptx_var *v = &m->vars[m->funcs[func].first_param + param];
  return v->n_dims == 0 && v->vec <= 1 && hd_ptx_type_size(v->type) == sizeof(uint64_t);
}

hd_status hd_unwritten_if_apart(const hd_ptx_module *m, uint32_t func, bool *read, bool *written,
                                uint32_t **out, uint32_t *n, hd_diag *d) {
  const uint32_t n_params = m->funcs[func].n_params;
  hd_analysis *a;
  slice_writes found;
  const bool begun = slice_begin_writes(&found, n_params);
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  *out = NULL;
  *n = 0;
  hd_status st = begun && apart ? hd_analyze(m, func, NULL, &a, d) : hd_nomem(d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    for (uint32_t p = 0; p < n_params; p++) written[p] = found.param[p] || found.distance[p];
    for (uint32_t i = 0; i < a->n_sites; i++) /* pointers alone, not what a stride comes from */
      if (a->sites[i].param < n_params) written[a->sites[i].param] |= found.other[a->sites[i].param];
    for (uint32_t p = 0; p < n_params; p++) found.anything |= written[p] && !is_pointer(m, func, p);
    for (uint32_t p = 0; p < n_params; p++)
      apart[p] = !found.anything && !written[p] && is_pointer(m, func, p);
    const listing what = {.apart = apart, .reached = written, .used = read};
    if (st == HD_OK) st = list_loads(a, n_params, &what, out, n, d);
    for (uint32_t p = 0; p < n_params; p++) read[p] |= *n && found.relied[p];
    hd_analysis_free(a);
  }
  free(apart);
  slice_end_writes(&found);
  return st;
}

/* ---- By somebody's word alone --------------------------------------------------------------- */

hd_status hd_unwritten_by_word(const hd_ptx_module *m, uint32_t func, const char *params, uint32_t **out,
                               uint32_t *n, hd_diag *d) {
  const uint32_t n_params = m->funcs[func].n_params;
  const char *kernel = m->syms[m->funcs[func].sym].name;
  hd_analysis *a;
  slice_writes found;
  const bool begun = slice_begin_writes(&found, n_params);
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  *out = NULL;
  *n = 0;
  hd_status st = begun && apart ? HD_OK : hd_nomem(d);
  for (const char *p = params; st == HD_OK && *p;) {
    uint64_t number;
    const size_t len = strcspn(p, "+,"), skip = strncmp(p, "arg", 3) == 0 ? 3 : 0;
    if (len < skip || !hd_parse_u64(p + skip, len - skip, n_params, &number) || !number)
      st = hd_fail(d, HD_ERR_USAGE, "%s has parameters 1 to %u, and none '%.*s'", kernel, n_params,
                   (int)(len < 40 ? len : 40), p);
    else
      apart[number - 1] = true;
    p += len + (p[len] != 0);
  }
  if (st == HD_OK) st = hd_analyze(m, func, NULL, &a, d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    for (uint32_t p = 0; st == HD_OK && p < n_params; p++)
      if (apart[p] && found.param[p])
        st = hd_fail(d, HD_ERR_REFUSED, "%s writes through parameter %u, which was said to be unwritten",
                     kernel, p + 1);
    if (st == HD_OK)
      st = list_loads(a, n_params, &(listing){.apart = apart, .reached = found.param}, out, n, d);
    hd_analysis_free(a);
  }
  free(apart);
  slice_end_writes(&found);
  return st;
}
