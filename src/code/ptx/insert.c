/* Generated statements and items, put into a module that has been parsed. */
#include "ptx/lexer.h"

/* Give the parser the names that are visible in the outermost scope of a body. */
static void bind_scope(ptx_parser *ps, const hd_ptx_func *f) {
  hd_ptx_module *m = ps->m;
  for (uint32_t i = 0; i < f->n_rets + f->n_params; i++) {
    const hd_ptx_var *v = &m->vars[i < f->n_rets ? f->first_ret + i : f->first_param + (i - f->n_rets)];
    if (v->sym) ptx_rebind(ps, v->sym);
  }
  uint32_t depth = 0;
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *s = &f->stmts[i];
    switch ((hd_ptx_stmt_kind)s->kind) {
    case HD_S_OPEN: depth++; break;
    case HD_S_CLOSE: depth--; break;
    case HD_S_VAR:
      if (depth == 0) {
        const hd_ptx_var *v = &m->vars[s->index];
        if (v->range)
          ptx_rebind_range(ps, v->sym);
        else
          ptx_rebind(ps, v->sym);
      }
      break;
    case HD_S_LABEL:
    case HD_S_TARGETS:
    case HD_S_PROTO:
      if (depth == 0) ptx_rebind(ps, s->sym);
      break;
    default: break;
    }
  }
}

typedef struct stmt_insertion {
  uint32_t func, at;
} stmt_insertion;

static void insert_stmts(ptx_parser *ps, const char *p, void *ctx) {
  const stmt_insertion *in = ctx;
  hd_ptx_module *m = ps->m;
  hd_ptx_func *f = &m->funcs[in->func];
  ps->n_regs = f->n_regs;
  ptx_scope_open(ps, p);
  bind_scope(ps, f);
  p = ptx_statements(ps, ptx_blank(ps, p));
  if (*p) ptx_expected(ps, p, "a statement");
  ptx_scope_close(ps);
  size_t added = ps->stmts.n;
  if (added > (size_t)INT32_MAX - f->n_stmts) ptx_fail(ps, p, "more than 2^31 statements in one function");
  hd_ptx_stmt *stmts = HD_NEW_N(ps->arena, f->n_stmts + added, hd_ptx_stmt);
  if (in->at) memcpy(stmts, f->stmts, in->at * sizeof *stmts);
  if (added) memcpy(stmts + in->at, ps->stmts.data, added * sizeof *stmts);
  if (f->n_stmts > in->at)
    memcpy(stmts + in->at + added, f->stmts + in->at, (f->n_stmts - in->at) * sizeof *stmts);
  f->stmts = stmts;
  f->n_stmts += (uint32_t)added;
  f->n_regs = ps->n_regs;
  ptx_number_labels(m, f->stmts, f->n_stmts);
}

/* Parse generated text; a failure leaves the module as it was, apart from array
 * entries that nothing refers to. */
static hd_status insert(hd_ptx_module *m, const char *text, hd_diag *d,
                        void (*fn)(ptx_parser *, const char *, void *), void *ctx) {
  return ptx_run(m, text, strlen(text), "inserted text", true, d, fn, ctx);
}

hd_status hd_ptx_insert(hd_ptx_module *m, uint32_t func, uint32_t at, const char *text, hd_diag *d) {
  if (func >= m->n_funcs || !m->funcs[func].has_body || at > m->funcs[func].n_stmts)
    return hd_fail(d, HD_ERR_USAGE, "function %u has no statement %u", func, at);
  return insert(m, text, d, insert_stmts, &(stmt_insertion){func, at});
}

/* A function's parameters are consecutive variables: the old ones move to where there is room behind them. */
static void add_params(ptx_parser *ps, const char *p, void *ctx) {
  hd_ptx_module *m = ps->m;
  hd_ptx_func *f = &m->funcs[*(const uint32_t *)ctx];
  uint32_t base = m->n_vars, first, added;
  for (uint32_t i = 0; i < f->n_params; i++) PTX_PUSH(ps, vars, m->vars[f->first_param + i]);
  ptx_scope_open(ps, p);
  bind_scope(ps, f);
  p = ptx_params(ps, p, &first, &added);
  if (*p) ptx_expected(ps, p, "parameters");
  ptx_scope_close(ps);
  for (uint32_t i = 0; i < f->n_params; i++)
    if (m->vars[base + i].sym) m->syms[m->vars[base + i].sym].decl = base + i;
  f->first_param = base;
  f->n_params += added;
}

hd_status hd_ptx_add_params(hd_ptx_module *m, uint32_t func, const char *text, hd_diag *d) {
  if (func >= m->n_funcs) return hd_fail(d, HD_ERR_USAGE, "there is no function %u", func);
  return insert(m, text, d, add_params, &func);
}

typedef struct new_directives {
  uint32_t func, n;
  const hd_ptx_dir *dirs;
} new_directives;

static void set_directives(ptx_parser *ps, const char *p, void *ctx) {
  (void)p;
  const new_directives *in = ctx;
  hd_ptx_func *f = &ps->m->funcs[in->func];
  uint32_t first = ps->m->n_dirs;
  /* An array that grows stays valid where it was: the arena keeps it. */
  for (uint32_t i = 0; i < in->n; i++) PTX_PUSH(ps, dirs, in->dirs[i]);
  f->first_dir = first;
  f->n_dirs = in->n;
}

hd_status hd_ptx_set_directives(hd_ptx_module *m, uint32_t func, const hd_ptx_dir *dirs, uint32_t n,
                                hd_diag *d) {
  if (func >= m->n_funcs) return hd_fail(d, HD_ERR_USAGE, "there is no function %u", func);
  return insert(m, "", d, set_directives, &(new_directives){func, n, dirs});
}

static void insert_items(ptx_parser *ps, const char *p, void *ctx) {
  hd_ptx_module *m = ps->m;
  uint32_t at = *(const uint32_t *)ctx, old = m->n_items;
  ptx_items(ps, p);
  uint32_t added = m->n_items - old;
  if (!added) return;
  hd_ptx_item *tail = HD_NEW_N(ps->arena, added, hd_ptx_item);
  memcpy(tail, m->items + old, added * sizeof *tail);
  memmove(m->items + at + added, m->items + at, (old - at) * sizeof *tail);
  memcpy(m->items + at, tail, added * sizeof *tail);
}

hd_status hd_ptx_insert_items(hd_ptx_module *m, uint32_t at, const char *text, hd_diag *d) {
  if (at > m->n_items) return hd_fail(d, HD_ERR_USAGE, "the module has no item %u", at);
  uint32_t old = m->n_items;
  hd_status st = insert(m, text, d, insert_items, &at);
  if (st != HD_OK) m->n_items = old;
  return st;
}

const char *hd_ptx_fresh_prefix(hd_ptx_module *m) {
  static const char base[] = "heddle";
  const size_t n = sizeof base - 1;
  ptx_tables *t = m->priv;
  /* One more than the largest number that follows "heddle" at the beginning of a name: no name can then
   * begin with the prefix with that number. Names stay, so that a later call looks at later names only. */
  if (!t->prefix_syms) t->prefix_syms = 1;
  for (; t->prefix_syms < m->n_syms; t->prefix_syms++) {
    const char *p = m->syms[t->prefix_syms].name;
    if (*p == '%' || *p == '$') p++;
    if (*p != *base || strncmp(p, base, n) != 0) continue;
    uint64_t v = 0;
    p += n;
    for (int k = 0; k < 18 && PTX_IS(*p, PTX_C_DIGIT); k++) v = v * 10 + (uint64_t)(*p++ - '0');
    if (v >= t->prefix_next) t->prefix_next = v + 1;
  }
  return t->prefix_next ? hd_arena_printf(m->arena, "%s%llu", base, (unsigned long long)t->prefix_next)
                        : hd_arena_strndup(m->arena, base, n);
}
