/* Variables of the program's module in a rewritten kernel, which lies in a module of its own. There is one
 * storage, the program's: each use of a variable becomes a register with its address. The address is known
 * when the kernel is loaded in a context, so the text has a word in its place until then. Constants are read
 * from their address in global memory, where the driver keeps them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "run/run.h"

/* ---- Which they are ---------------------------------------------------------------------------- */

static bool is_managed(const hd_ptx_module *m, const hd_ptx_var *v) {
  return v->attribute && strcmp(m->syms[v->attribute].name, "(.managed)") == 0;
}

static const char *obstacle(const hd_ptx_module *m, const hd_ptx_var *v) {
  if (m->address_size != 64) return "whose address has 32 bits";
  if (v->space != HD_M_GLOBAL && v->space != HD_M_CONST) return "of an unknown kind";
  if (v->attribute && !is_managed(m, v)) return "which has an attribute that is not known";
  if (v->linkage & HD_LINK_EXTERN || v->unsized) return "which another module defines";
  if (v->bank) return "of a numbered bank";
  return hd_ptx_type_of(v->type).number == HD_NUM_OPAQUE ? "which is a reference to a texture or a surface"
                                                         : NULL;
}

static bool is_item(const hd_ptx_module *m, uint32_t var) {
  for (uint32_t k = 0; k < m->n_items; k++)
    if (m->items[k].kind == HD_I_VAR && m->items[k].index == var) return true;
  return false;
}

hd_status run_variables_list(const hd_ptx_module *m, const bool *used, run_variables *out, hd_diag *d) {
  for (uint32_t k = 0; k < m->n_vars; k++) {
    const hd_ptx_var *v = &m->vars[k];
    if (!used[k]) continue;
    const char *name = m->syms[v->sym].name,
               *why = is_item(m, k) ? obstacle(m, v) : "which a function declares";
    if (why) return hd_fail(d, HD_ERR_UNSUPPORTED, "it uses the module's variable %s, %s", name, why);
    run_variable one = {.var = k,
                        .bytes = hd_ptx_var_size(m, v),
                        .constant = v->space == HD_M_CONST,
                        .managed = is_managed(m, v)};
    if (!(one.name = strdup(name))) return hd_nomem(d);
    if (!hd_vec_push(&out->all, one)) {
      free(one.name);
      return hd_nomem(d);
    }
    out->constants |= one.constant;
  }
  return HD_OK;
}

/* Once. Without memory some are missing, as those are that the driver does not name. A text that is not
 * understood may do anything. */
static void list_globals(run_module *m) {
  hd_arena arena;
  hd_ptx_module *p;
  m->listed = true;
  hd_arena_init(&arena);
  const hd_status st = run_parse(m->own.data, m->own.len, &arena, &p, NULL);
  m->allocates |= st != HD_OK;
  if (st == HD_OK) {
    bool *used = HD_NEW_N(&arena, p->n_vars + 1, bool);
    for (uint32_t k = 0; used && k < p->n_vars; k++)
      used[k] = p->vars[k].space == HD_M_GLOBAL && is_item(p, k) && !obstacle(p, &p->vars[k]);
    if (used) run_variables_list(p, used, &m->globals, NULL);
    for (uint32_t k = 0; k < p->n_funcs; k++)
      m->allocates |=
          !p->funcs[k].has_body && p->funcs[k].sym && strcmp(p->syms[p->funcs[k].sym].name, "malloc") == 0;
  }
  hd_arena_free(&arena);
}

void run_globals_find(run_module *m) {
  if (!m->listed) list_globals(m);
  for (size_t k = 0; k < m->globals.all.n; k++) run_variable_find(&m->globals.all.data[k], m);
}

void run_variables_free(run_variables *v) {
  for (size_t k = 0; k < v->all.n; k++) free(v->all.data[k].name);
  hd_vec_free(&v->all);
  free(v->word);
  *v = (run_variables){0};
}

/* ---- Uses -------------------------------------------------------------------------------------- */

enum { MOST_USES = 8 };

typedef struct uses {
  const hd_ptx_module *m;
  const run_variables *variables;
  const hd_ptx_stmt *stmt;
  unsigned n;
  struct {
    uint32_t operand; /* which of the statement's */
    size_t variable;  /* in the list */
  } at[MOST_USES];
  bool strange; /* one is not understood */
} uses;

static bool note_use(void *ctx, const hd_ptx_leaf *l) {
  uses *u = ctx;
  if (!l->sym || u->m->syms[l->sym].kind != HD_SYM_VAR) return true;
  size_t k = 0;
  while (k < u->variables->all.n && u->variables->all.data[k].var != u->m->syms[l->sym].decl) k++;
  if (k == u->variables->all.n) return true;
  const uint32_t operand = l->index - u->stmt->first_opnd;
  u->strange |= l->index < u->stmt->first_opnd || operand >= u->stmt->n_opnds || u->n == MOST_USES ||
                (l->opnd->kind != HD_O_SYM && l->opnd->kind != HD_O_ADDR);
  if (u->strange) return false;
  u->at[u->n].operand = operand;
  u->at[u->n++].variable = k;
  return true;
}

/* The statement with registers in place of variables. The registers get their values before it. */
static hd_status replace_uses(hd_ptx_module *m, uint32_t func, uint32_t *at, const uses *u, hd_diag *d) {
  const char *word = u->variables->word;
  hd_buf text = {0};
  uint32_t first, registers[MOST_USES];
  hd_status st = hd_ptx_add_operands(m, &m->opnds[u->stmt->first_opnd], u->stmt->n_opnds, &first, d);
  for (unsigned k = 0; st == HD_OK && k < u->n; k++) {
    const hd_ptx_opnd *o = &m->opnds[first + u->at[k].operand];
    hd_buf_printf(&text, "mov.b64 %%%s_r%u, %s%zu;\n", word, k, word, u->at[k].variable);
    if (o->imm)
      hd_buf_printf(&text, "add.s64 %%%s_r%u, %%%s_r%u, %lld;\n", word, k, word, k, (long long)o->imm);
  }
  const uint32_t before = m->funcs[func].n_stmts;
  if (st == HD_OK && text.failed) st = hd_nomem(d);
  if (st == HD_OK) st = hd_ptx_insert(m, func, *at, text.data, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  uint32_t s = *at;
  for (unsigned k = 0; k < u->n; k++) { /* the operand that the first instruction of each writes */
    registers[k] = m->opnds[m->funcs[func].stmts[s].first_opnd].sym;
    s += m->opnds[first + u->at[k].operand].imm ? 2 : 1;
  }
  *at += m->funcs[func].n_stmts - before;
  for (unsigned k = 0; k < u->n; k++) {
    hd_ptx_opnd *o = &m->opnds[first + u->at[k].operand];
    *o = (hd_ptx_opnd){.kind = o->kind == HD_O_ADDR ? HD_O_ADDR : HD_O_REG, .sym = registers[k]};
  }
  m->funcs[func].stmts[*at].first_opnd = first;
  return HD_OK;
}

/* Loads of constants read global memory, and addresses of the one kind are of the other. So the rewriter's
 * own constants, such as the table of an order, become global variables: no load tells them apart. */
static void move_constants(hd_ptx_module *m) {
  for (uint32_t k = 0; k < m->n_vars; k++)
    if (m->vars[k].space == HD_M_CONST) m->vars[k].space = HD_M_GLOBAL;
}

static hd_status make_global(hd_ptx_module *m, hd_ptx_stmt *s, hd_diag *d) {
  static const char from[] = ".const", to[] = ".global";
  const hd_ptx_form *f = &m->forms[s->form];
  if (!hd_ptx_form_has(f, HD_M_CONST)) return HD_OK;
  const char *word = strstr(f->text, from);
  if ((f->op != HD_OP_LD && f->op != HD_OP_CVTA) || !word)
    return hd_fail(d, HD_ERR_UNSUPPORTED, "it uses the module's constants in %s", f->text);
  const char *text =
      hd_arena_printf(m->arena, "%.*s%s%s", (int)(word - f->text), f->text, to, word + strlen(from));
  uint32_t form;
  if (!text) return hd_nomem(d);
  const hd_status st = hd_ptx_add_form(m, text, &form, d);
  if (st == HD_OK) s->form = form;
  return st;
}

static hd_status replace_in(hd_ptx_module *m, uint32_t func, const run_variables *v, hd_diag *d) {
  bool any = false;
  hd_status st = HD_OK;
  for (uint32_t at = 0; st == HD_OK && at < m->funcs[func].n_stmts; at++) {
    const hd_ptx_stmt s = m->funcs[func].stmts[at];
    if (s.kind != HD_S_INST) continue;
    uses u = {.m = m, .variables = v, .stmt = &s};
    hd_ptx_visit(m, &s, note_use, &u);
    if (u.strange)
      return hd_fail(d, HD_ERR_UNSUPPORTED, "it uses the module's variables in %s", m->forms[s.form].text);
    if (u.n && !any) { /* once a function uses one */
      hd_buf text = {0};
      hd_buf_printf(&text, ".reg .b64 %%%s_r<%d>;\n", v->word, MOST_USES);
      st = text.failed ? hd_nomem(d) : hd_ptx_insert(m, func, 0, text.data, d);
      hd_buf_free(&text);
      at++;
      any = true;
    }
    if (st == HD_OK && u.n) st = replace_uses(m, func, &at, &u, d);
    if (st == HD_OK && v->constants) st = make_global(m, &m->funcs[func].stmts[at], d);
  }
  return st;
}

hd_status run_variables_replace(hd_ptx_module *m, const bool *in, run_variables *v, hd_diag *d) {
  hd_status st = HD_OK;
  if (!v->all.n) return HD_OK;
  if (asprintf(&v->word, "%s_at", hd_ptx_fresh_prefix(m)) < 0) v->word = NULL;
  if (!v->word) return hd_nomem(d);
  if (v->constants) move_constants(m);
  for (uint32_t k = 0; st == HD_OK && k < m->n_funcs; k++)
    if (in[k]) st = replace_in(m, k, v, d);
  return st;
}

/* ---- Addresses --------------------------------------------------------------------------------- */

char *run_variables_fill(const run_variables *v, const char *text) {
  hd_buf out = {0};
  for (const char *hit; (hit = strstr(text, v->word));) {
    char *end;
    const unsigned long k = strtoul(hit + strlen(v->word), &end, 10);
    hd_buf_put(&out, text, (size_t)(hit - text));
    hd_buf_printf(&out, "0x%llx", (unsigned long long)v->all.data[k].at);
    text = end;
  }
  hd_buf_puts(&out, text);
  if (out.failed) hd_buf_free(&out);
  return out.data;
}
