/* Loads of memory that no thread writes during a workload's launches, so that they may go through the
 * read-only cache (.nc, PTX ISA: "read only for the duration of the kernel").
 *
 * The memory that a kernel may write follows from its text: the parameters that its stores, atomics and
 * copies are based on, and those that anything else in such an address is computed from: a store to b, or to
 * b + (a - b) in some threads, is to either. A kernel with a store whose parameter is not known, or with a
 * call that cannot be followed, may write anything. Two parameters are of different memory where the workload
 * gives them different buffers in every launch, which are allocations of their own. None of this depends on
 * the data. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/analysis.h"
#include "heddle/ptx_facts.h"
#include "launch/launch.h"

typedef struct writes {
  bool *param; /* by number: some store is based on it */
  bool *other; /* some store's address is computed from it besides; it may be no pointer */
  bool anything;
} writes;

/* The system's own, which write no buffer of the program. */
static bool writes_nothing(const hd_ptx_module *m, const hd_ptx_stmt *call) {
  static const char *const names[] = {"vprintf", "__assertfail", "malloc", "free"};
  const uint32_t callee = hd_callee(m, call);
  if (callee == HD_NONE || m->funcs[callee].has_body) return false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(m->syms[m->funcs[callee].sym].name, names[i]) == 0) return true;
  return false;
}

/* Every call must have become a part of the analysis. */
static bool follows_all_calls(const hd_analysis *a) {
  const hd_cfg *g = &a->cfg;
  uint32_t calls = 0;
  for (uint32_t i = 0; i < g->n_insts; i++) {
    const hd_ptx_stmt *s = hd_inst_stmt(g, i);
    calls += hd_inst_form(g, i)->op == HD_OP_CALL && !writes_nothing(a->module, s);
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

/* ---- What an address is computed from ---------------------------------------------------- */

/* The registers that a store's address is computed from, through all their writers, but not through memory.
 */
typedef struct slice {
  const hd_cfg *g;
  hd_writers writers;
  uint32_t *seen, *todo, n, stamp; /* registers; seen: the stamp of the store that came to it last */
} slice;

static void see_register(void *ctx, uint32_t reg) {
  slice *s = ctx;
  if (s->seen[reg] == s->stamp) return;
  s->seen[reg] = s->stamp;
  s->todo[s->n++] = reg;
}

/* The kernel's parameter that the instruction loads; HD_NONE: none. */
static uint32_t loaded_param(const hd_cfg *g, uint32_t inst, bool *of_function) {
  const hd_ptx_module *m = g->module;
  const hd_ptx_func *kernel = &m->funcs[g->calls[0].func];
  const hd_ptx_stmt *s = hd_inst_stmt(g, inst);
  const hd_ptx_opnd *o = &m->opnds[s->first_opnd + 1];
  const bool named = s->n_opnds > 1 && o->kind == HD_O_ADDR && m->syms[o->sym].kind == HD_SYM_VAR;
  const uint32_t var = named ? m->syms[o->sym].decl : HD_NONE;
  if (named && var >= kernel->first_param && var < kernel->first_param + kernel->n_params)
    return var - kernel->first_param;
  *of_function = true;
  return HD_NONE;
}

/* A function's parameters and results come from what any call passes. */
static void follow_calls(slice *s) {
  for (uint32_t i = 0; i < s->g->n_insts; i++) {
    const hd_ptx_form *f = hd_inst_form(s->g, i);
    const hd_ptx_access a = hd_ptx_access_of(f);
    if (f->op == HD_OP_CALL || hd_ptx_access_in(&a, HD_IN_PARAM) & HD_ACC_WRITE)
      hd_inst_reads(s->g, i, see_register, s);
  }
}

/* True: what it computes comes from calls. */
static bool follow_writer(slice *s, uint32_t inst, uint32_t base, uint32_t n_params, bool *other) {
  const hd_ptx_form *f = hd_inst_form(s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(f);
  bool of_function = f->op == HD_OP_CALL;
  if (hd_ptx_access_in(&a, HD_IN_PARAM) & HD_ACC_READ) {
    const uint32_t param = loaded_param(s->g, inst, &of_function);
    if (param < n_params && param != base) other[param] = true;
  } else if (!a.kinds && f->op != HD_OP_SETP) {
    hd_inst_reads(s->g, inst, see_register, s);
  }
  return of_function;
}

static void begin_at_address(slice *s, uint32_t inst) {
  const hd_ptx_module *m = s->g->module;
  const hd_ptx_stmt *st = hd_inst_stmt(s->g, inst);
  const hd_ptx_access a = hd_ptx_access_of(hd_inst_form(s->g, inst));
  const hd_ptx_opnd *o =
      a.n && a.touches[0].operand < st->n_opnds ? &m->opnds[st->first_opnd + a.touches[0].operand] : NULL;
  s->stamp++;
  if (o && o->kind == HD_O_ADDR && m->syms[o->sym].kind == HD_SYM_REG)
    see_register(s, hd_cfg_reg(s->g, s->g->insts[inst].call, o->sym));
  else
    hd_inst_reads(s->g, inst, see_register, s);
}

static void find_others(slice *s, const hd_site *site, uint32_t n_params, bool *other) {
  bool calls = false;
  begin_at_address(s, site->inst);
  while (s->n) {
    const uint32_t reg = s->todo[--s->n], *w = &s->writers.first[reg];
    bool of_function = w[0] == w[1]; /* a function's parameter that is a register */
    for (uint32_t i = w[0]; i < w[1]; i++)
      of_function |= follow_writer(s, s->writers.insts[i], site->param, n_params, other);
    if (of_function && !calls) follow_calls(s);
    calls |= of_function;
  }
}

static hd_status find_all_others(const hd_analysis *a, uint32_t n_params, bool *other, hd_diag *d) {
  slice s = {.g = &a->cfg};
  hd_arena arena;
  jmp_buf out_of_memory;
  hd_arena_init(&arena);
  arena.escape = &out_of_memory;
  hd_status st = setjmp(out_of_memory) ? hd_nomem(d) : HD_OK;
  if (st == HD_OK) {
    s.seen = HD_NEW_N(&arena, a->cfg.n_regs + 1u, uint32_t);
    s.todo = HD_NEW_N(&arena, a->cfg.n_regs + 1u, uint32_t);
    hd_writers_find(&a->cfg, &arena, &s.writers);
    for (uint32_t i = 0; i < a->n_sites; i++)
      if (hd_site_writes((hd_site_kind)a->sites[i].kind) && a->sites[i].param != HD_NONE)
        find_others(&s, &a->sites[i], n_params, other);
  }
  hd_arena_free(&arena);
  return st;
}

/* ---- What a kernel writes ----------------------------------------------------------------- */

static hd_status find_writes(const hd_analysis *a, uint32_t n_params, writes *out, hd_diag *d) {
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
  return find_all_others(a, n_params, out->other, d);
}

/* Whether no launch of the kernel passes the parameter's buffer to a parameter that is written. */
static bool is_apart(const hd_workload *w, uint32_t launch, uint32_t param, const writes *found) {
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const hd_wl_launch *l = &w->launches[i];
    if (strcmp(l->kernel, w->launches[launch].kernel) != 0) continue;
    if (param >= l->n_args || !l->args[param].is_buffer) return false;
    for (uint32_t p = 0; p < l->n_args; p++)
      if ((found->param[p] && !l->args[p].is_buffer) ||
          ((found->param[p] || found->other[p]) && l->args[p].is_buffer &&
           l->args[p].buffer == l->args[param].buffer))
        return false;
  }
  return true;
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
static hd_status check_word(const hd_workload *w, uint32_t launch, const writes *found, hd_diag *d) {
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

/* The loads through parameters for which apart[] is true; such a parameter is marked in used[]. */
static hd_status list_loads(const hd_analysis *a, const bool *apart, bool *used, uint32_t **out, uint32_t *n,
                            hd_diag *d) {
  size_t all = hd_rewrite_loads(a->module, a->func, NULL, 0);
  hd_global_load *loads = calloc(all + 1, sizeof *loads);
  *out = calloc(all + 1, sizeof **out);
  if (!loads || !*out) {
    free(loads);
    return hd_nomem(d);
  }
  hd_rewrite_loads(a->module, a->func, loads, all);
  for (uint32_t i = 0; i < all; i++) {
    const hd_site *s = loads[i].kept ? NULL : site_of(a, loads[i].stmt);
    if (!s || s->kind != HD_SITE_LOAD || s->param == HD_NONE || !apart[s->param]) continue;
    (*out)[(*n)++] = i;
    if (used) used[s->param] = true;
  }
  free(loads);
  return HD_OK;
}

/* ---- Of a workload ---------------------------------------------------------------------- */

hd_status hd_unwritten_loads(const hd_ptx_module *m, uint32_t func, const hd_workload *w, uint32_t launch,
                             uint32_t **out, uint32_t *n, hd_diag *d) {
  hd_analysis *a;
  uint32_t n_params = m->funcs[func].n_params;
  for (uint32_t i = 0; i < w->n_launches; i++)
    if (w->launches[i].n_args > n_params) n_params = w->launches[i].n_args;
  writes found = {.param = calloc((size_t)n_params + 1, sizeof *found.param),
                  .other = calloc((size_t)n_params + 1, sizeof *found.other)};
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  *out = NULL;
  *n = 0;
  hd_status st = found.param && found.other && apart ? hd_analyze(m, func, NULL, &a, d) : hd_nomem(d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    if (st == HD_OK) st = check_word(w, launch, &found, d);
    for (uint32_t p = 0; p < n_params; p++)
      apart[p] = is_by_word(w, launch, p) || (!found.anything && is_apart(w, launch, p, &found));
    if (st == HD_OK) st = list_loads(a, apart, NULL, out, n, d);
    hd_analysis_free(a);
  }
  free(apart);
  free(found.other);
  free(found.param);
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

static bool is_word(const hd_ptx_module *m, uint32_t func, uint32_t param) {
  const hd_ptx_var *v = &m->vars[m->funcs[func].first_param + param];
  return v->n_dims == 0 && v->vec <= 1 && hd_ptx_type_size(v->type) == sizeof(uint64_t);
}

hd_status hd_unwritten_if_apart(const hd_ptx_module *m, uint32_t func, bool *read, bool *written,
                                uint32_t **out, uint32_t *n, hd_diag *d) {
  const uint32_t n_params = m->funcs[func].n_params;
  hd_analysis *a;
  writes found = {.param = written, .other = calloc((size_t)n_params + 1, sizeof *found.other)};
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  *out = NULL;
  *n = 0;
  hd_status st = apart && found.other ? hd_analyze(m, func, NULL, &a, d) : hd_nomem(d);
  if (st == HD_OK) {
    st = find_writes(a, n_params, &found, d);
    for (uint32_t i = 0; i < a->n_sites; i++) /* pointers alone, not what a stride comes from */
      if (a->sites[i].param < n_params) written[a->sites[i].param] |= found.other[a->sites[i].param];
    for (uint32_t p = 0; p < n_params; p++) found.anything |= written[p] && !is_word(m, func, p);
    for (uint32_t p = 0; p < n_params; p++) apart[p] = !found.anything && !written[p] && is_word(m, func, p);
    if (st == HD_OK) st = list_loads(a, apart, read, out, n, d);
    hd_analysis_free(a);
  }
  free(found.other);
  free(apart);
  return st;
}

/* ---- By somebody's word alone --------------------------------------------------------------- */

hd_status hd_unwritten_by_word(const hd_ptx_module *m, uint32_t func, const char *params, uint32_t **out,
                               uint32_t *n, hd_diag *d) {
  const uint32_t n_params = m->funcs[func].n_params;
  const char *kernel = m->syms[m->funcs[func].sym].name;
  hd_analysis *a;
  writes found = {.param = calloc((size_t)n_params + 1, sizeof *found.param),
                  .other = calloc((size_t)n_params + 1, sizeof *found.other)};
  bool *apart = calloc((size_t)n_params + 1, sizeof *apart);
  *out = NULL;
  *n = 0;
  hd_status st = found.param && found.other && apart ? HD_OK : hd_nomem(d);
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
    if (st == HD_OK) st = list_loads(a, apart, NULL, out, n, d);
    hd_analysis_free(a);
  }
  free(apart);
  free(found.other);
  free(found.param);
  return st;
}
