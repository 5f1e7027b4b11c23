/* Modules, statements and operands as canonical text. */
#include "heddle/ptx.h"

#include <string.h>

static void put_str(hd_buf *b, const char *s) { hd_buf_put(b, s, strlen(s)); }

static void put_u64(hd_buf *b, uint64_t v) {
  char digits[20], *p = digits + sizeof digits;
  do *--p = (char)('0' + v % 10);
  while (v /= 10);
  hd_buf_put(b, p, (size_t)(digits + sizeof digits - p));
}

static void put_i64(hd_buf *b, int64_t v) {
  if (v < 0) hd_buf_putc(b, '-');
  put_u64(b, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/* The low 4 * n bits in hexadecimal. */
static void put_hex(hd_buf *b, uint64_t v, unsigned n) {
  char digits[16];
  for (unsigned i = 0; i < n; i++) digits[i] = "0123456789ABCDEF"[v >> 4 * (n - 1 - i) & 15];
  hd_buf_put(b, digits, n);
}

static void put_sym(const hd_ptx_module *m, hd_sym sym, hd_buf *b) {
  if (sym)
    hd_buf_put(b, m->syms[sym].name, m->syms[sym].len);
  else
    hd_buf_putc(b, '_');
}

static void put_word(const hd_ptx_module *m, hd_mod mod, hd_buf *b) {
  hd_buf_putc(b, '.');
  put_str(b, hd_ptx_mod_text(m, mod));
}

/* ---- Operands ------------------------------------------------------------------------ */

static void put_opnd(const hd_ptx_module *m, const hd_ptx_opnd *o, hd_buf *b);

static void put_opnds(const hd_ptx_module *m, uint32_t first, uint32_t n, hd_buf *b) {
  for (uint32_t i = 0; i < n; i++) {
    if (i) hd_buf_put(b, ", ", 2);
    put_opnd(m, &m->opnds[first + i], b);
  }
}

static void put_int(const hd_ptx_opnd *o, hd_buf *b) {
  if (o->flags & HD_OF_UNSIGNED) {
    put_u64(b, o->bits);
    hd_buf_putc(b, 'U');
  } else {
    put_i64(b, o->imm);
  }
}

/* "+4"; ptxas knows no "-4" here, but "+-4". */
static void put_offset(const hd_ptx_opnd *o, hd_buf *b) {
  if (!o->imm && !(o->flags & HD_OF_ZERO)) return;
  hd_buf_putc(b, '+');
  put_i64(b, o->imm);
}

/* name.x+4 */
static void put_place(const hd_ptx_module *m, const hd_ptx_opnd *o, hd_buf *b) {
  put_sym(m, o->sym, b);
  if (o->part) put_word(m, o->part, b);
  put_offset(o, b);
}

/* The text between the brackets of an address. */
static void put_address(const hd_ptx_module *m, const hd_ptx_opnd *o, hd_buf *b) {
  if (o->kind != HD_O_ADDR)
    put_opnd(m, o, b);
  else if (o->sym)
    put_place(m, o, b);
  else
    put_int(o, b);
}

static void put_bracket(const hd_ptx_module *m, const hd_ptx_opnd *o, hd_buf *b) {
  hd_buf_putc(b, '[');
  for (uint32_t i = 0; i < o->n_kids; i++) {
    if (i) hd_buf_put(b, ", ", 2);
    put_address(m, &m->opnds[o->sym + i], b);
  }
  hd_buf_putc(b, ']');
}

static void put_opnd(const hd_ptx_module *m, const hd_ptx_opnd *o, hd_buf *b) {
  switch ((hd_ptx_opnd_kind)o->kind) {
  case HD_O_NONE: break;
  case HD_O_REG:
    if (o->flags & HD_OF_NEG) hd_buf_putc(b, m->syms[o->sym].type == HD_M_PRED ? '!' : '-');
    put_sym(m, o->sym, b);
    if (o->part) put_word(m, o->part, b);
    break;
  case HD_O_SREG:
  case HD_O_SYM: put_place(m, o, b); break;
  case HD_O_INT: put_int(o, b); break;
  case HD_O_F32:
    hd_buf_put(b, "0f", 2);
    put_hex(b, o->bits, 8);
    break;
  case HD_O_F64:
    hd_buf_put(b, "0d", 2);
    put_hex(b, o->bits, 16);
    break;
  case HD_O_ADDR:
    hd_buf_putc(b, '[');
    put_address(m, o, b);
    hd_buf_putc(b, ']');
    break;
  case HD_O_VEC:
    hd_buf_putc(b, '{');
    put_opnds(m, o->sym, o->n_kids, b);
    hd_buf_putc(b, '}');
    break;
  case HD_O_LIST:
    hd_buf_putc(b, '(');
    put_opnds(m, o->sym, o->n_kids, b);
    hd_buf_putc(b, ')');
    break;
  case HD_O_BRACKET: put_bracket(m, o, b); break;
  case HD_O_PAIR:
    put_opnd(m, &m->opnds[o->sym], b);
    hd_buf_putc(b, '|');
    put_opnd(m, &m->opnds[o->sym + 1], b);
    break;
  case HD_O_SINK: hd_buf_putc(b, '_'); break;
  case HD_O_INDEX:
    put_opnd(m, &m->opnds[o->sym], b);
    hd_buf_putc(b, '[');
    put_address(m, &m->opnds[o->sym + 1], b);
    hd_buf_putc(b, ']');
    break;
  case HD_O_GENERIC:
    put_str(b, "generic(");
    put_sym(m, o->sym, b);
    hd_buf_putc(b, ')');
    put_offset(o, b);
    break;
  case HD_O_MASKED:
    hd_buf_put(b, "0x", 2);
    put_hex(b, o->bits, 16);
    hd_buf_putc(b, '(');
    put_opnd(m, &m->opnds[o->sym], b);
    hd_buf_putc(b, ')');
    break;
  case HD_O_STRING:
    hd_buf_putc(b, '"');
    put_sym(m, o->sym, b);
    hd_buf_putc(b, '"');
    break;
  case HD_O_RAW: put_sym(m, o->sym, b); break;
  }
}

/* ---- Declarations --------------------------------------------------------------------- */

static void put_linkage(unsigned linkage, hd_buf *b) {
  static const char *const words[] = {".extern ", ".visible ", ".weak ", ".common "};
  for (unsigned i = 0; i < 4; i++)
    if (linkage & 1u << i) put_str(b, words[i]);
}

/* A variable or parameter, without the ';' or ',' behind it. */
static void put_var(const hd_ptx_module *m, const hd_ptx_var *v, hd_buf *b) {
  put_linkage(v->linkage, b);
  put_word(m, v->space, b);
  if (v->bank) hd_buf_printf(b, "[%u]", v->bank - 1);
  if (v->attribute) {
    put_str(b, " .attribute");
    put_sym(m, v->attribute, b);
  }
  if (v->align) hd_buf_printf(b, " .align %u", v->align);
  if (v->vec > 1) hd_buf_printf(b, " .v%u", v->vec);
  hd_buf_putc(b, ' ');
  put_word(m, v->type, b);
  if (v->ptr) {
    put_str(b, " .ptr");
    if (v->ptr_space) {
      hd_buf_putc(b, ' ');
      put_word(m, v->ptr_space, b);
    }
    if (v->ptr_align) hd_buf_printf(b, " .align %u", v->ptr_align);
  }
  hd_buf_putc(b, ' ');
  put_sym(m, v->sym, b);
  if (v->range) hd_buf_printf(b, "<%u>", v->range);
  for (uint32_t i = 0; i < v->n_dims; i++) {
    hd_buf_putc(b, '[');
    if (i > 0 || !v->unsized) put_u64(b, m->dims[v->first_dim + i]);
    hd_buf_putc(b, ']');
  }
  if (v->init) {
    put_str(b, " = ");
    put_opnd(m, &m->opnds[v->init - 1], b);
  }
}

/* "(a, b)" with `separator` before each and `end` after the last. */
static void put_params(const hd_ptx_module *m, uint32_t first, uint32_t n, const char *separator,
                       const char *end, hd_buf *b) {
  hd_buf_putc(b, '(');
  for (uint32_t i = 0; i < n; i++) {
    if (i) hd_buf_putc(b, ',');
    put_str(b, i || *separator != ' ' ? separator : "");
    put_var(m, &m->vars[first + i], b);
  }
  if (n) put_str(b, end);
  hd_buf_putc(b, ')');
}

static void put_dir(const hd_ptx_module *m, const hd_ptx_dir *d, hd_buf *b) {
  put_word(m, d->name, b);
  for (uint32_t i = 0; i < d->n_vals; i++) {
    put_str(b, i ? ", " : " ");
    put_u64(b, d->vals[i]);
  }
  if (d->text) {
    if (d->name != HD_M_ATTRIBUTE) hd_buf_putc(b, ' ');
    put_sym(m, d->text, b);
  }
  if (d->name == HD_M_PRAGMA) hd_buf_putc(b, ';');
}

/* The directives that stand behind the parameters, each after `separator`. */
static void put_dirs(const hd_ptx_module *m, const hd_ptx_func *f, const char *separator, hd_buf *b) {
  for (uint32_t i = 0; i < f->n_dirs; i++) {
    const hd_ptx_dir *d = &m->dirs[f->first_dir + i];
    if (d->name == HD_M_ATTRIBUTE) continue;
    put_str(b, separator);
    put_dir(m, d, b);
  }
}

static void put_prototype(const hd_ptx_module *m, const hd_ptx_func *f, hd_buf *b) {
  if (f->n_rets) {
    put_params(m, f->first_ret, f->n_rets, " ", "", b);
    hd_buf_putc(b, ' ');
  }
  put_sym(m, f->sym, b);
  hd_buf_putc(b, ' ');
  put_params(m, f->first_param, f->n_params, " ", "", b);
  put_dirs(m, f, " ", b);
  hd_buf_putc(b, ';');
}

/* ---- Statements ------------------------------------------------------------------------ */

void hd_ptx_print_stmt(const hd_ptx_module *m, const hd_ptx_stmt *s, hd_buf *b) {
  switch ((hd_ptx_stmt_kind)s->kind) {
  case HD_S_INST:
    if (s->guard) {
      hd_buf_putc(b, '@');
      if (s->guard_neg) hd_buf_putc(b, '!');
      put_sym(m, s->guard, b);
      hd_buf_putc(b, ' ');
    }
    put_str(b, m->forms[s->form].text);
    if (s->n_opnds) {
      hd_buf_putc(b, ' ');
      put_opnds(m, s->first_opnd, s->n_opnds, b);
    }
    hd_buf_putc(b, ';');
    break;
  case HD_S_LABEL:
    put_sym(m, s->sym, b);
    hd_buf_putc(b, ':');
    break;
  case HD_S_VAR:
    put_var(m, &m->vars[s->index], b);
    hd_buf_putc(b, ';');
    break;
  case HD_S_OPEN: hd_buf_putc(b, '{'); break;
  case HD_S_CLOSE: hd_buf_putc(b, '}'); break;
  case HD_S_LOC:
    put_str(b, ".loc ");
    put_sym(m, s->sym, b);
    break;
  case HD_S_PRAGMA:
    put_str(b, ".pragma ");
    put_opnds(m, s->first_opnd, s->n_opnds, b);
    hd_buf_putc(b, ';');
    break;
  case HD_S_TARGETS:
    put_sym(m, s->sym, b);
    put_str(b, ": ");
    put_word(m, s->mod, b);
    hd_buf_putc(b, ' ');
    put_opnds(m, s->first_opnd, s->n_opnds, b);
    hd_buf_putc(b, ';');
    break;
  case HD_S_PROTO:
    put_sym(m, s->sym, b);
    put_str(b, ": .callprototype ");
    put_prototype(m, &m->protos[m->syms[s->sym].decl], b);
    break;
  case HD_S_RAW: put_sym(m, s->sym, b); break;
  }
}

/* ---- Lines -------------------------------------------------------------------------------- */

/* ptxas puts PTX line numbers into line tables and into the names of a function's own shared variables. Where
 * lines are kept, statements from a file go back to their lines: blank lines stand where comments stood, and
 * statements that shared a line share one again. Generated statements take a line each, and the statements
 * behind them move down. */
typedef struct page {
  const hd_ptx_module *m;
  hd_buf *b;
  bool keep_lines;
  size_t counted; /* text before this has been looked through for newlines */
  uint32_t line;  /* of the end of that text, from 1 */
  uint32_t last;  /* source line of what was put last; 0: generated, or must end its line */
} page;

/* Go to where the next thing from source line `want` (0: none) belongs. */
static void advance(page *p, uint32_t want) {
  if (!p->keep_lines) {
    hd_buf_putc(p->b, '\n');
    return;
  }
  const char *end = p->b->data + p->b->len;
  for (const char *q = p->b->data + p->counted; (q = memchr(q, '\n', (size_t)(end - q))) != NULL; q++)
    p->line++;
  p->counted = p->b->len;
  if (want && want == p->line && want == p->last) {
    hd_buf_putc(p->b, ' ');
  } else {
    hd_buf_putc(p->b, '\n');
    for (uint32_t line = p->line + 1; line < want && !p->b->failed; line++) hd_buf_putc(p->b, '\n');
  }
  p->last = want;
}

static bool at_margin(const hd_ptx_stmt *s) {
  return s->kind == HD_S_LABEL || s->kind == HD_S_PROTO || s->kind == HD_S_TARGETS;
}

/* A remark's lines, each as a comment. */
static void put_remark(page *p, const char *remark) {
  for (const char *line = remark, *end; *line; line = *end ? end + 1 : end) {
    end = strchrnul(line, '\n');
    hd_buf_printf(p->b, "\n\t// %.*s", (int)(end - line), line);
  }
  p->last = 0;
}

static void put_body(page *p, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_stmts; i++) {
    const hd_ptx_stmt *s = &f->stmts[i];
    advance(p, s->line);
    if (!at_margin(s) && p->b->len && p->b->data[p->b->len - 1] == '\n') hd_buf_putc(p->b, '\t');
    hd_ptx_print_stmt(p->m, s, p->b);
    /* These end with their line. */
    if (s->kind == HD_S_LOC || s->kind == HD_S_RAW) p->last = 0;
  }
}

static void put_func(page *p, const hd_ptx_func *f) {
  const hd_ptx_module *m = p->m;
  hd_buf *b = p->b;
  put_linkage(f->linkage, b);
  put_str(b, f->entry ? ".entry " : ".func ");
  for (uint32_t i = 0; i < f->n_dirs; i++) {
    const hd_ptx_dir *d = &m->dirs[f->first_dir + i];
    if (d->name != HD_M_ATTRIBUTE) continue;
    put_dir(m, d, b);
    hd_buf_putc(b, ' ');
  }
  if (f->n_rets) {
    put_params(m, f->first_ret, f->n_rets, " ", "", b);
    hd_buf_putc(b, ' ');
  }
  put_sym(m, f->sym, b);
  hd_buf_putc(b, '(');
  for (uint32_t i = 0; i < f->n_params; i++) {
    if (i) hd_buf_putc(b, ',');
    advance(p, m->vars[f->first_param + i].line);
    hd_buf_putc(b, '\t');
    put_var(m, &m->vars[f->first_param + i], b);
  }
  put_str(b, f->n_params ? "\n)" : ")");
  put_dirs(m, f, "\n", b);
  if (!f->has_body) {
    hd_buf_putc(b, ';');
    return;
  }
  put_str(b, "\n{");
  if (f->remark) put_remark(p, f->remark);
  put_body(p, f);
  put_str(b, "\n}");
}

static hd_status print_module(const hd_ptx_module *m, bool keep_lines, hd_buf *b) {
  page p = {.m = m, .b = b, .keep_lines = keep_lines, .counted = b->len, .line = 1};
  hd_buf_printf(b, ".version %u.%u\n.target %s\n.address_size %u", m->version_major, m->version_minor,
                m->target, m->address_size);
  if (!keep_lines) hd_buf_putc(b, '\n');
  for (uint32_t i = 0; i < m->n_items && !b->failed; i++) {
    const hd_ptx_item *item = &m->items[i];
    switch ((hd_ptx_item_kind)item->kind) {
    case HD_I_VAR:
      advance(&p, m->vars[item->index].line);
      put_var(m, &m->vars[item->index], b);
      hd_buf_putc(b, ';');
      break;
    case HD_I_FUNC:
      if (!keep_lines) hd_buf_putc(b, '\n');
      advance(&p, m->funcs[item->index].line);
      put_func(&p, &m->funcs[item->index]);
      p.last = 0;
      break;
    case HD_I_RAW:
      advance(&p, 0);
      put_sym(m, item->index, b);
      break;
    }
  }
  hd_buf_putc(b, '\n');
  return b->failed ? HD_ERR_NOMEM : HD_OK;
}

hd_status hd_ptx_print(const hd_ptx_module *m, hd_buf *b) { return print_module(m, false, b); }
hd_status hd_ptx_print_in_place(const hd_ptx_module *m, hd_buf *b) { return print_module(m, true, b); }
