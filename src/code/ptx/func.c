/* Functions, prototypes, and the directives between their header and body. */
#include "ptx/lexer.h"

/* The value of an unknown directive: text up to the next directive, the body or the end of the
 * declaration. */
static const char *raw_value(ptx_parser *ps, const char *p, hd_sym *text) {
  const char *start = p, *last = p;
  while (*p != '.' && *p != ';' && *p != '{' && *p != '}' && *p) {
    if (*p == '"') {
      const char *s;
      size_t n;
      p = ptx_string(ps, p, &s, &n);
    } else if (*p == '(' || *p == '[') {
      p = ptx_balanced(ps, p);
    } else {
      p++;
    }
    last = p;
    p = ptx_blank(ps, p);
  }
  if (last > start) *text = ptx_text_sym(ps, start, (size_t)(last - start));
  return p;
}

/* The strings of a .pragma, up to its ';'. */
static const char *pragma_value(ptx_parser *ps, const char *p, hd_sym *text) {
  const char *start = p, *last, *s;
  size_t n;
  for (;;) {
    last = ptx_string(ps, p, &s, &n);
    p = ptx_blank(ps, last);
    if (*p != ',') break;
    p = ptx_blank(ps, p + 1);
  }
  if (*p != ';') ptx_expected(ps, p, "';'");
  *text = ptx_text_sym(ps, start, (size_t)(last - start));
  return p;
}

/* At most four integers: .maxntid 128, 1, 1 */
static const char *int_values(ptx_parser *ps, const char *p, hd_ptx_dir *d) {
  for (;;) {
    int64_t v;
    const char *at = p;
    p = ptx_int_expr(ps, p, &v);
    if (v < 0 || v > UINT32_MAX) ptx_fail(ps, at, "the value does not fit 32 bits");
    if (d->n_vals == sizeof d->vals / sizeof d->vals[0]) ptx_fail(ps, at, "too many values");
    d->vals[d->n_vals++] = (uint32_t)v;
    if (*p != ',') return p;
    p = ptx_blank(ps, p + 1);
  }
}

/* After the ';' of a .pragma: does another item begin, so that the ';' has ended the
 * declaration as well? */
static bool item_begins(ptx_parser *ps, const char *p) {
  if (*p != '.') return *p == 0;
  const char *end = ptx_part_end(p + 1);
  hd_mod word = ptx_mod(ps, p + 1, (size_t)(end - p - 1), p);
  switch (word) {
  case HD_M_ENTRY:
  case HD_M_FUNC:
  case HD_M_FILE:
  case HD_M_SECTION:
  case HD_M_ALIAS: return true;
  default: return ptx_declares(word);
  }
}

/* Returns with *ended set when a pragma's ';' was the declaration's. */
static const char *directives(ptx_parser *ps, const char *p, hd_ptx_func *f, bool *ended) {
  *ended = false;
  while (*p == '.') {
    const char *start = p + 1, *end = ptx_part_end(start);
    if (end == start) ptx_expected(ps, start, "a directive");
    hd_ptx_dir d = {.name = ptx_mod(ps, start, (size_t)(end - start), start)};
    p = ptx_blank(ps, end);
    if (d.name == HD_M_ATTRIBUTE)
      p = ptx_attribute(ps, p, &d.text);
    else if (d.name == HD_M_PRAGMA)
      p = pragma_value(ps, p, &d.text);
    else if (PTX_IS(*p, PTX_C_DIGIT))
      p = int_values(ps, p, &d);
    else
      p = raw_value(ps, p, &d.text);
    PTX_PUSH(ps, dirs, d);
    f->n_dirs++;
    if (d.name == HD_M_PRAGMA) {
      p = ptx_blank(ps, p + 1);
      if (item_begins(ps, p)) {
        *ended = true;
        return p;
      }
    }
  }
  return p;
}

/* The function's symbol, known at module level from here on. */
static hd_sym declare_function(ptx_parser *ps, const char *text, size_t n) {
  uint32_t name;
  hd_sym sym = ptx_lookup(ps, text, n, &name);
  if (sym && ps->m->syms[sym].kind == HD_SYM_FUNC) return sym;
  return ptx_declare(ps, text, n, (hd_ptx_sym){.kind = HD_SYM_FUNC, .decl = ps->m->n_funcs});
}

static const char *body(ptx_parser *ps, const char *p, hd_ptx_func *f) {
  const char *open = p;
  ps->stmts.n = 0;
  p = ptx_statements(ps, ptx_blank(ps, p + 1));
  if (*p != '}') ptx_fail(ps, open, "'{' is not closed");
  f->has_body = true;
  f->n_stmts = (uint32_t)ps->stmts.n;
  f->stmts = HD_NEW_N(ps->arena, ps->stmts.n, hd_ptx_stmt);
  if (f->n_stmts) memcpy(f->stmts, ps->stmts.data, ps->stmts.n * sizeof *f->stmts);
  return ptx_blank(ps, p + 1);
}

const char *ptx_function(ptx_parser *ps, const char *p, bool entry, unsigned linkage, uint32_t line) {
  hd_ptx_func f = {.entry = entry, .linkage = (uint8_t)linkage, .line = line, .first_dir = ps->m->n_dirs};
  bool ended = false;
  ps->n_regs = 0;
  if (*p == '.') { /* .attribute(...) comes before the name */
    p = directives(ps, p, &f, &ended);
  }
  /* The name is the module's, return values and parameters are the function's: the
   * name is declared first, though it stands behind the return values. */
  const char *rets = NULL;
  uint32_t rets_line = ps->line;
  if (*p == '(') {
    rets = p;
    p = ptx_blank(ps, ptx_balanced(ps, p));
  }
  const char *name = p, *end = ptx_ident_end(p);
  if (end == name) ptx_expected(ps, p, "a function's name");
  f.sym = declare_function(ps, name, (size_t)(end - name));
  ptx_scope_open(ps, p);
  if (rets) {
    uint32_t name_line = ps->line;
    ps->line = rets_line;
    ptx_params(ps, rets, &f.first_ret, &f.n_rets);
    ps->line = name_line;
  }
  p = ptx_blank(ps, end);
  if (*p == '(')
    p = ptx_params(ps, p, &f.first_param, &f.n_params);
  else
    f.first_param = ps->m->n_vars;
  if (!rets) f.first_ret = f.first_param;
  p = directives(ps, p, &f, &ended);
  if (*p == '{')
    p = body(ps, p, &f);
  else if (!ended)
    p = ptx_eat(ps, p, ';');
  ptx_scope_close(ps);
  f.n_regs = ps->n_regs;
  hd_ptx_sym *s = &ps->m->syms[f.sym];
  if (f.has_body) {
    if (s->decl < ps->m->n_funcs && ps->m->funcs[s->decl].has_body)
      ptx_fail(ps, name, "'%s' is defined twice", s->name);
    s->decl = ps->m->n_funcs;
  }
  PTX_PUSH(ps, funcs, f);
  return p;
}

const char *ptx_prototype(ptx_parser *ps, const char *p, uint32_t line) {
  hd_ptx_func f = {.line = line, .first_dir = ps->m->n_dirs};
  bool ended;
  ptx_scope_open(ps, p);
  f.first_ret = f.first_param = ps->m->n_vars;
  if (*p == '(') p = ptx_params(ps, p, &f.first_ret, &f.n_rets);
  const char *name = p, *end = ptx_ident_end(p);
  if (end == name) ptx_expected(ps, p, "'_'");
  if (end - name != 1 || *name != '_') f.sym = ptx_text_sym(ps, name, (size_t)(end - name));
  p = ptx_blank(ps, end);
  if (*p == '(') p = ptx_params(ps, p, &f.first_param, &f.n_params);
  p = directives(ps, p, &f, &ended);
  ptx_scope_close(ps);
  PTX_PUSH(ps, protos, f);
  return ended ? p : ptx_eat(ps, p, ';');
}
