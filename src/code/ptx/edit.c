/* Edits parsed modules without printing and parsing them: forms, operands, labels, and the statements of a
 * body. */
#include "ptx/lexer.h"

static hd_status edit(hd_ptx_module *m, const char *text, hd_diag *d,
                      void (*fn)(ptx_parser *, const char *, void *), void *ctx) {
  return ptx_run(m, text, strlen(text), "edited module", true, d, fn, ctx);
}

static void add_form(ptx_parser *ps, const char *p, void *ctx) {
  *(uint32_t *)ctx = ptx_form(ps, p, ps->len, p);
}

hd_status hd_ptx_add_form(hd_ptx_module *m, const char *text, uint32_t *form, hd_diag *d) {
  return edit(m, text, d, add_form, form);
}

typedef struct new_operands {
  const hd_ptx_opnd *opnds;
  uint32_t n, first;
} new_operands;

static void add_operands(ptx_parser *ps, const char *p, void *ctx) {
  (void)p;
  new_operands *in = ctx;
  in->first = ps->m->n_opnds;
  /* An array that grows stays valid where it was: the arena keeps it. */
  for (uint32_t i = 0; i < in->n; i++) PTX_PUSH(ps, opnds, in->opnds[i]);
}

hd_status hd_ptx_add_operands(hd_ptx_module *m, const hd_ptx_opnd *opnds, uint32_t n, uint32_t *first,
                              hd_diag *d) {
  new_operands in = {.opnds = opnds, .n = n};
  hd_status st = edit(m, "", d, add_operands, &in);
  *first = in.first;
  return st;
}

typedef struct new_label {
  hd_ptx_sym like;
  hd_sym sym;
} new_label;

static void add_label(ptx_parser *ps, const char *p, void *ctx) {
  new_label *in = ctx;
  in->like.name = hd_arena_strndup(ps->arena, p, ps->len);
  in->like.len = (uint32_t)ps->len;
  in->sym = ptx_new_sym(ps, in->like);
}

hd_status hd_ptx_add_label(hd_ptx_module *m, const char *name, hd_sym like, hd_sym *out, hd_diag *d) {
  new_label in = {.like = like ? m->syms[like] : (hd_ptx_sym){.kind = HD_SYM_LABEL, .index = UINT32_MAX}};
  hd_status st = edit(m, name, d, add_label, &in);
  *out = in.sym;
  return st;
}

typedef struct new_body {
  uint32_t func, n;
  const hd_ptx_stmt *stmts;
} new_body;

static void set_body(ptx_parser *ps, const char *p, void *ctx) {
  const new_body *in = ctx;
  hd_ptx_func *f = &ps->m->funcs[in->func];
  if (in->n > (uint32_t)INT32_MAX) ptx_fail(ps, p, "more than 2^31 statements in one function");
  hd_ptx_stmt *stmts = HD_NEW_N(ps->arena, in->n, hd_ptx_stmt);
  if (in->n) memcpy(stmts, in->stmts, in->n * sizeof *stmts);
  f->stmts = stmts;
  f->n_stmts = in->n;
  ptx_number_labels(ps->m, stmts, in->n);
}

hd_status hd_ptx_set_body(hd_ptx_module *m, uint32_t func, const hd_ptx_stmt *stmts, uint32_t n, hd_diag *d) {
  if (func >= m->n_funcs || !m->funcs[func].has_body)
    return hd_fail(d, HD_ERR_USAGE, "function %u has no body", func);
  return edit(m, "", d, set_body, &(new_body){func, n, stmts});
}
