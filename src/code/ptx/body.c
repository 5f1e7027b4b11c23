/* Statements of a function's body. */
#include "ptx/lexer.h"

/* One more statement, to be filled in place. */
static inline hd_ptx_stmt *new_stmt(ptx_parser *ps, hd_ptx_stmt_kind kind, uint32_t line) {
  if (!hd_vec_reserve(&ps->stmts, ps->stmts.n + 1)) ptx_out_of_memory(ps);
  hd_ptx_stmt *s = &ps->stmts.data[ps->stmts.n++];
  *s = (hd_ptx_stmt){.kind = (uint8_t)kind, .line = line};
  return s;
}

/* The operands of s. */
static const char *stmt_operands(ptx_parser *ps, const char *p, hd_ptx_stmt *s) {
  size_t n;
  const char *at = p;
  p = ptx_operands(ps, p, &s->first_opnd, &n);
  if (n > UINT16_MAX) ptx_fail(ps, at, "more than %d operands", UINT16_MAX);
  s->n_opnds = (uint16_t)n;
  return p;
}

static uint32_t stmt_line(const ptx_parser *ps) { return ps->generated ? 0 : ps->line; }

/* ---- Instructions ------------------------------------------------------------------- */

/* A dotted word that is written with blanks before its dots: "mov .u32". */
static const char *spaced_form(ptx_parser *ps, const char *word, const char *end, uint32_t *form) {
  enum { LONGEST = 256 };
  char joined[LONGEST + PTX_PADDING] = {0};
  size_t n = 0;
  const char *part = word, *p;
  for (;;) {
    size_t len = (size_t)(end - part);
    if (len > LONGEST - n) ptx_fail(ps, word, "the instruction's name is longer than %d characters", LONGEST);
    memcpy(joined + n, part, len);
    n += len;
    p = ptx_blank(ps, end);
    if (*p != '.' || !PTX_IS(p[1], PTX_C_IDENT)) break;
    part = p;
    end = ptx_word_end(p);
  }
  *form = ptx_form(ps, joined, n, word);
  return p;
}

/* opcode operands ; with the opcode's dotted word in [word, end) and p behind it. */
static const char *instruction(ptx_parser *ps, const char *p, const char *word, const char *end,
                               hd_ptx_stmt *s) {
  if (__builtin_expect(*p == '.', 0))
    p = spaced_form(ps, word, end, &s->form);
  else
    s->form = ptx_form(ps, word, (size_t)(end - word), word);
  if (*p != ';') {
    ps->call = ps->m->forms[s->form].op == HD_OP_CALL;
    p = stmt_operands(ps, p, s);
    if (*p != ';') ptx_expected(ps, p, "',' or ';'");
  }
  return ptx_blank(ps, p + 1);
}

/* @%p or @!%p before an instruction. */
static const char *guarded(ptx_parser *ps, const char *p, uint32_t line) {
  hd_ptx_stmt *s = new_stmt(ps, HD_S_INST, line);
  p = ptx_blank(ps, p + 1);
  if (*p == '!') {
    s->guard_neg = 1;
    p = ptx_blank(ps, p + 1);
  }
  p = ptx_blank(ps, ptx_reg_operand(ps, p, &s->guard));
  if (!PTX_IS(*p, PTX_C_IDENT) || PTX_IS(*p, PTX_C_DIGIT)) ptx_expected(ps, p, "an instruction");
  const char *end = ptx_word_end(p);
  return instruction(ps, ptx_blank(ps, end), p, end, s);
}

/* ---- Labels ---------------------------------------------------------------------------- */

static hd_sym define_label(ptx_parser *ps, const char *text, size_t n, hd_ptx_sym_kind kind) {
  return ptx_declare(ps, text, n, (hd_ptx_sym){.kind = (uint8_t)kind, .index = (uint32_t)ps->stmts.n});
}

/* A label, p behind its colon, and the directive that may follow the colon. */
static const char *label(ptx_parser *ps, const char *p, const char *name, size_t n, uint32_t line) {
  hd_mod word = HD_M_NONE;
  const char *end = p;
  if (*p == '.') {
    end = ptx_part_end(p + 1);
    word = ptx_mod(ps, p + 1, (size_t)(end - p - 1), p);
  }
  if (word == HD_M_CALLPROTOTYPE) {
    hd_sym sym = define_label(ps, name, n, HD_SYM_PROTO);
    new_stmt(ps, HD_S_PROTO, line)->sym = sym;
    p = ptx_prototype(ps, ptx_blank(ps, end), line);
    ps->m->syms[sym].decl = ps->m->n_protos - 1;
    return p;
  }
  if (word == HD_M_BRANCHTARGETS || word == HD_M_CALLTARGETS) {
    hd_sym sym = define_label(ps, name, n, HD_SYM_TARGETS);
    hd_ptx_stmt *s = new_stmt(ps, HD_S_TARGETS, line);
    s->sym = sym;
    s->mod = word;
    ps->call = false;
    p = stmt_operands(ps, ptx_blank(ps, end), s);
    return ptx_eat(ps, p, ';');
  }
  hd_sym sym = define_label(ps, name, n, HD_SYM_LABEL);
  new_stmt(ps, HD_S_LABEL, line)->sym = sym;
  return p;
}

void ptx_number_labels(hd_ptx_module *m, const hd_ptx_stmt *stmts, uint32_t n) {
  for (uint32_t i = 0; i < n; i++)
    if (stmts[i].kind == HD_S_LABEL || stmts[i].kind == HD_S_TARGETS || stmts[i].kind == HD_S_PROTO)
      m->syms[stmts[i].sym].index = i;
}

/* ---- Directives -------------------------------------------------------------------------- */

static const char *uint_token(ptx_parser *ps, const char *p, const char **end) {
  uint64_t v;
  *end = ptx_uint(ps, p, UINT32_MAX, &v);
  return ptx_blank(ps, *end);
}

/* ".loc 1 23 5" and ", function_name $L__info_string0 + 4, inlined_at 1 10 2". */
static const char *loc(ptx_parser *ps, const char *p, uint32_t line) {
  const char *start = p, *end;
  for (int i = 0; i < 3; i++) p = uint_token(ps, p, &end);
  if (*p == ',' && strncmp(ptx_peek(ps, p + 1), "function_name", 13) == 0) {
    p = ptx_blank(ps, ptx_blank(ps, p + 1) + 13);
    end = *p == '.' ? ptx_part_end(p + 1) : ptx_ident_end(p);
    if (end == p) ptx_expected(ps, p, "a label");
    p = ptx_blank(ps, end);
    if (*p == '+') p = uint_token(ps, ptx_blank(ps, p + 1), &end);
    if (*p == ',') {
      p = ptx_blank(ps, p + 1);
      if (strncmp(p, "inlined_at", 10) != 0) ptx_expected(ps, p, "'inlined_at'");
      p = ptx_blank(ps, p + 10);
      for (int i = 0; i < 3; i++) p = uint_token(ps, p, &end);
    }
  }
  new_stmt(ps, HD_S_LOC, line)->sym = ptx_text_sym(ps, start, (size_t)(end - start));
  return p;
}

static const char *pragma(ptx_parser *ps, const char *p, uint32_t line) {
  hd_ptx_stmt *s = new_stmt(ps, HD_S_PRAGMA, line);
  const char *at = p;
  p = stmt_operands(ps, p, s);
  for (uint32_t i = 0; i < s->n_opnds; i++)
    if (ps->m->opnds[s->first_opnd + i].kind != HD_O_STRING) ptx_expected(ps, at, "strings");
  return ptx_eat(ps, p, ';');
}

static const char *directive(ptx_parser *ps, const char *p, uint32_t line) {
  const char *start = p + 1, *end = ptx_part_end(start);
  if (end == start) ptx_expected(ps, start, "a directive");
  hd_mod word = ptx_mod(ps, start, (size_t)(end - start), start);
  switch (word) {
  case HD_M_LOC: return loc(ps, ptx_blank(ps, end), line);
  case HD_M_PRAGMA: return pragma(ps, ptx_blank(ps, end), line);
  default: break;
  }
  if (ptx_declares(word)) {
    uint32_t first = ps->m->n_vars;
    p = ptx_var_directive(ps, p, 0);
    for (uint32_t i = first; i < ps->m->n_vars; i++) new_stmt(ps, HD_S_VAR, line)->index = i;
    return p;
  }
  const char *stop;
  end = ptx_unknown_directive(ps, p, &stop);
  new_stmt(ps, HD_S_RAW, line)->sym = ptx_text_sym(ps, p, (size_t)(stop - p));
  return ptx_blank(ps, end);
}

/* ---- The loop ------------------------------------------------------------------------------ */

const char *ptx_statements(ptx_parser *ps, const char *p) {
  uint32_t outermost = ps->depth;
  for (;;) {
    if (ps->stmts.n >= INT32_MAX) ptx_fail(ps, p, "more than 2^31 statements in one function");
    char c = *p;
    uint32_t line = stmt_line(ps);
    if (PTX_IS(c, PTX_C_START) && c != '%') {
      const char *end = ptx_word_end(p), *next = ptx_blank(ps, end);
      if (*next == ':') {
        if (ptx_ident_end(p) != end) ptx_expected(ps, p, "a label");
        p = label(ps, ptx_blank(ps, next + 1), p, (size_t)(end - p), line);
        continue;
      }
      p = instruction(ps, next, p, end, new_stmt(ps, HD_S_INST, line));
      continue;
    }
    switch (c) {
    case '@': p = guarded(ps, p, line); break;
    case '.': p = directive(ps, p, line); break;
    case '{':
      ptx_scope_open(ps, p);
      new_stmt(ps, HD_S_OPEN, line);
      p = ptx_blank(ps, p + 1);
      break;
    case '}':
      if (ps->depth == outermost) return p;
      ptx_scope_close(ps);
      new_stmt(ps, HD_S_CLOSE, line);
      p = ptx_blank(ps, p + 1);
      break;
    case 0:
      if (ps->depth != outermost) ptx_fail(ps, p, "a '{' is not closed");
      return p;
    default: ptx_expected(ps, p, "a statement");
    }
  }
}
