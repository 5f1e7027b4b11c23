/* Variables of a workload's modules: which of them need values from the workload, and their addresses.
 *
 * PTX has variables without an initial value begin as zeros. A variable that no launched kernel writes gets
 * its value from the host program: kernels run on zeros instead would tell about another program. */
#include <inttypes.h>
#include <string.h>

#include "heddle/analysis.h"
#include "heddle/container.h"
#include "heddle/ptx_facts.h"
#include "launch/launch.h"

typedef struct search {
  const hd_ptx_module *m;
  const hd_workload *w;
  uint32_t *use; /* per variable: 1 + the kernel that names it, 0: none does; NONE: not asked for */
  bool *seen;    /* per variable: its initial value was looked at */
  uint32_t kernel;
} search;
enum { SEARCH_NOT = UINT32_MAX };

static bool is_set(const hd_workload *w, const char *name) {
  for (uint32_t i = 0; i < w->n_buffers; i++)
    if (w->buffers[i].variable && strcmp(w->buffers[i].name, name) == 0) return true;
  return false;
}

/* Variables in memory that only the host can have given a value. False: there are none. */
static bool find_open(search *s) {
  bool any = false;
  for (uint32_t k = 0; k < s->m->n_vars; k++) s->use[k] = SEARCH_NOT;
  for (uint32_t k = 0; k < s->m->n_items; k++) {
    const uint32_t var = s->m->items[k].index;
    if (s->m->items[k].kind != HD_I_VAR) continue;
    const hd_ptx_var *v = &s->m->vars[var];
    if ((v->space != HD_M_GLOBAL && v->space != HD_M_CONST) || !v->sym || v->init ||
        v->linkage & HD_LINK_EXTERN || !hd_ptx_type_size(v->type) || !hd_ptx_var_size(s->m, v) ||
        is_set(s->w, s->m->syms[v->sym].name))
      continue;
    s->use[var] = 0;
    any = true;
  }
  return any;
}

static bool note(void *ctx, const hd_ptx_leaf *leaf) {
  search *s = ctx;
  const hd_ptx_sym *y = &s->m->syms[leaf->sym];
  if (!leaf->sym || y->kind != HD_SYM_VAR || y->decl >= s->m->n_vars || s->seen[y->decl]) return true;
  const uint32_t init = s->m->vars[y->decl].init;
  s->seen[y->decl] = true;
  if (s->use[y->decl] == 0) s->use[y->decl] = 1 + s->kernel;
  /* A table of pointers leads to what it points to. */
  return !init || hd_ptx_visit_operand(s->m, init - 1, HD_ROLE_READ, note, s);
}

/* Marks the variables that the kernel names, itself or through the functions it reaches. */
static void find_uses(search *s, uint32_t func, hd_arena *arena) {
  hd_reach reach;
  hd_reach_find(s->m, func, arena, &reach);
  for (uint32_t k = 0; k < reach.n; k++) {
    const hd_ptx_func *f = &s->m->funcs[reach.funcs[k]];
    for (uint32_t i = 0; i < f->n_stmts; i++)
      if (f->stmts[i].kind == HD_S_INST) hd_ptx_visit(s->m, &f->stmts[i], note, s);
  }
}

/* Kernels that write a variable give it its value themselves: a counter that begins at zero. */
static hd_status drop_written(search *s, uint32_t func, hd_diag *d) {
  hd_analysis *a;
  hd_status st = hd_analyze(s->m, func, NULL, &a, d);
  if (st != HD_OK) return st;
  for (uint32_t k = 0; k < a->n_sites; k++) {
    const uint32_t var = a->sites[k].var;
    if (var != HD_NONE && hd_site_writes((hd_site_kind)a->sites[k].kind) &&
        s->m->vars[var].space == HD_M_GLOBAL)
      s->use[var] = SEARCH_NOT;
  }
  hd_analysis_free(a);
  return HD_OK;
}

static bool any_used(const search *s) {
  for (uint32_t k = 0; k < s->m->n_vars; k++)
    if (s->use[k] && s->use[k] != SEARCH_NOT) return true;
  return false;
}

static hd_status refuse(const search *s, const hd_compiled *code, hd_diag *d) {
  for (uint32_t k = 0; k < s->m->n_vars; k++) {
    if (!s->use[k] || s->use[k] == SEARCH_NOT) continue;
    const char *name = s->m->syms[s->m->vars[k].sym].name;
    const uint64_t bytes = hd_ptx_var_size(s->m, &s->m->vars[k]);
    return hd_fail(
        d, HD_ERR_INPUT,
        "%s: kernel '%s' reads the variable %s of %" PRIu64
        " bytes, which nothing has set: give it a value with [[variable]] in workload.toml or --set "
        "'%s=TYPE[COUNT]=FILL'; u8[%" PRIu64 "]=zero are zeros",
        s->w->name, hd_kernel_called(code->kernels[s->use[k] - 1].name, (hd_called){""}), name, bytes, name,
        bytes);
  }
  return HD_OK;
}

static hd_status check_in(search *s, const hd_compiled *code, hd_arena *arena, hd_diag *d) {
  hd_status st = HD_OK;
  if (!find_open(s)) return HD_OK;
  for (s->kernel = 0; s->kernel < code->n_kernels; s->kernel++)
    find_uses(s, code->kernels[s->kernel].func, arena);
  for (uint32_t k = 0; st == HD_OK && k < code->n_kernels && any_used(s); k++)
    st = drop_written(s, code->kernels[k].func, d);
  return st == HD_OK ? refuse(s, code, d) : st;
}

static __attribute__((noinline)) hd_status check_with(const hd_compiled *code, hd_arena *arena, hd_diag *d) {
  jmp_buf escape;
  if (setjmp(escape)) return hd_nomem(d);
  arena->escape = &escape;
  search s = {.m = code->module, .w = code->workload};
  s.use = HD_NEW_N(arena, (size_t)s.m->n_vars + 1, uint32_t);
  s.seen = HD_NEW_N(arena, (size_t)s.m->n_vars + 1, bool);
  return check_in(&s, code, arena, d);
}

hd_status launch_check_variables(const hd_compiled *code, hd_diag *d) {
  hd_arena arena;
  hd_arena_init(&arena);
  hd_status st = check_with(code, &arena, d);
  hd_arena_free(&arena);
  return st;
}

hd_status launch_check_variable(const hd_workload *w, uint32_t buffer, uint64_t bytes, hd_diag *d) {
  const hd_wl_buffer *b = &w->buffers[buffer];
  if (b->bytes <= bytes) return HD_OK;
  return hd_fail(d, HD_ERR_INPUT, "%s: variable %s has %" PRIu64 " bytes, the workload gives %" PRIu64,
                 w->name, b->name, bytes, b->bytes);
}
