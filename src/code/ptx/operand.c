/* Operands of instructions, and initialisers of variables. */
#include "ptx/lexer.h"

/* ---- Names ------------------------------------------------------------------------ */

/* The register at p, which begins with '%', by way of the cache: %r17, its prefix known
 * and at most seven bytes long. Returns NULL when it takes a proper look. */
static inline __attribute__((always_inline)) const char *cached_reg(ptx_parser *ps, const char *p,
                                                                    hd_sym *sym) {
  uint64_t w = ptx_load64(p);
  uint64_t digits = ptx_nondigits(w) ^ PTX_EACH_BYTE(0x80);
  unsigned prefix = (unsigned)__builtin_ctzll(digits | 1ull << 63) / 8;
  uint64_t key = w & ((1ull << 8 * prefix) - 1);
  const struct ptx_reg_slot *slot = &ps->reg_cache[ptx_reg_hash(key)];
  if (slot->key != key || !digits) return NULL;
  p += prefix;
  w = ptx_load64(p);
  unsigned n = (unsigned)__builtin_ctzll(ptx_nondigits(w) | 1ull << 63) / 8;
  if (n == 7 || PTX_IS(p[n], PTX_C_IDENT)) return NULL;
  uint32_t number = ptx_digits(w, n);
  ptx_range *r = slot->range;
  if (number >= r->count) return NULL;
  *sym = r->dense && r->dense[number] ? r->dense[number] : ptx_range_reg(ps, r, number);
  return p + n;
}

/* The identifier at p as an operand: kind and sym (or a pending name). */
static const char *name_operand(ptx_parser *ps, const char *p, hd_ptx_opnd *o) {
  hd_sym sym;
  const char *end;
  if (*p == '%' && (end = cached_reg(ps, p, &sym))) {
    *o = (hd_ptx_opnd){.kind = HD_O_REG, .sym = sym};
    return end;
  }
  end = ptx_ident_end(p);
  if (end == p) ptx_expected(ps, p, "an operand");
  if (end - p == 1 && *p == '_') {
    *o = (hd_ptx_opnd){.kind = HD_O_SINK};
    return end;
  }
  uint32_t name;
  sym = ptx_lookup(ps, p, (size_t)(end - p), &name);
  if (!sym) {
    *o = (hd_ptx_opnd){.kind = HD_O_SYM, .flags = PTX_OF_PENDING, .sym = name};
    ps->n_unresolved++;
    return end;
  }
  uint8_t kind = ps->m->syms[sym].kind;
  *o = (hd_ptx_opnd){.kind = kind == HD_SYM_REG    ? HD_O_REG
                             : kind == HD_SYM_SREG ? HD_O_SREG
                                                   : HD_O_SYM,
                     .sym = sym};
  return end;
}

const char *ptx_reg_operand(ptx_parser *ps, const char *p, hd_sym *sym) {
  hd_ptx_opnd o;
  const char *end = name_operand(ps, p, &o);
  if (o.kind != HD_O_REG) ptx_fail(ps, p, "'%.*s' is not a declared register", (int)(end - p), p);
  *sym = o.sym;
  return end;
}

/* ".x" after a name, p at the dot. */
static const char *selector(ptx_parser *ps, const char *p, hd_mod *part) {
  const char *start = p + 1, *end = ptx_part_end(start);
  if (end == start) ptx_expected(ps, start, "a component");
  *part = ptx_mod(ps, start, (size_t)(end - start), start);
  return ptx_blank(ps, end);
}

/* "+ expression" or "- expression" behind the name of an address. */
static const char *offset(ptx_parser *ps, const char *p, hd_ptx_opnd *o) {
  int64_t imm;
  p = ptx_int_expr(ps, *p == '+' ? ptx_blank(ps, p + 1) : p, &imm);
  o->imm = imm;
  if (imm == 0) o->flags |= HD_OF_ZERO;
  return p;
}

/* ---- Operands ----------------------------------------------------------------------- */

uint32_t ptx_flush(ptx_parser *ps, size_t base) {
  hd_ptx_module *m = ps->m;
  uint32_t first = m->n_opnds;
  size_t n = ps->stack.n - base;
  while (ps->t->cap_opnds - m->n_opnds < n)
    m->opnds = ptx_grow(ps, m->opnds, m->n_opnds, &ps->t->cap_opnds, sizeof *m->opnds, "operands");
  for (size_t i = 0; i < n; i++) m->opnds[first + i] = ps->stack.data[base + i]; /* mostly two or three */
  m->n_opnds += (uint32_t)n;
  ps->stack.n = base;
  if (ps->n_unresolved) {
    for (uint32_t i = first; i < m->n_opnds; i++) {
      if (!(m->opnds[i].flags & PTX_OF_PENDING)) continue;
      m->opnds[i].flags &= (uint8_t)~PTX_OF_PENDING;
      PTX_VEC_PUSH(ps, pending, ((ptx_pending){i, m->opnds[i].sym}));
      ps->n_unresolved--;
    }
  }
  return first;
}

static const char *operand(ptx_parser *ps, const char *p, hd_ptx_opnd *o, bool bracket, unsigned depth);

/* Operands between the bracket at p and `close`, as one operand of kind `kind`. The
 * first may have been read already. */
static const char *list_rest(ptx_parser *ps, const char *p, char close, hd_ptx_opnd_kind kind, hd_ptx_opnd *o,
                             size_t base, unsigned depth) {
  while (*p != close) {
    if (ps->stack.n > base) p = ptx_eat(ps, p, ',');
    hd_ptx_opnd kid;
    p = operand(ps, p, &kid, kind == HD_O_BRACKET, depth + 1);
    PTX_VEC_PUSH(ps, stack, kid);
  }
  uint32_t n = (uint32_t)(ps->stack.n - base);
  *o = (hd_ptx_opnd){.kind = (uint8_t)kind, .sym = ptx_flush(ps, base), .n_kids = n};
  return ptx_blank(ps, p + 1);
}

static const char *list(ptx_parser *ps, const char *p, char close, hd_ptx_opnd_kind kind, hd_ptx_opnd *o,
                        unsigned depth) {
  return list_rest(ps, ptx_blank(ps, p + 1), close, kind, o, ps->stack.n, depth);
}

/* [a] [a+4] [4], or a bracket of several. */
static const char *address(ptx_parser *ps, const char *p, hd_ptx_opnd *o, unsigned depth) {
  p = operand(ps, ptx_blank(ps, p + 1), o, true, depth + 1);
  if (*p == ']') {
    switch (o->kind) {
    case HD_O_REG:
    case HD_O_SREG:
    case HD_O_SYM:
    case HD_O_INT: o->kind = HD_O_ADDR; return ptx_blank(ps, p + 1);
    case HD_O_ADDR: return ptx_blank(ps, p + 1);
    default: break;
    }
  }
  size_t base = ps->stack.n;
  PTX_VEC_PUSH(ps, stack, *o);
  return list_rest(ps, p, ']', HD_O_BRACKET, o, base, depth);
}

/* The parts behind a name: a component, an offset, an index. */
static const char *name_suffix(ptx_parser *ps, const char *p, hd_ptx_opnd *o, bool bracket, unsigned depth) {
  if (*p == '.') p = selector(ps, p, &o->part);
  bool symbol = o->kind == HD_O_SYM;
  if ((*p == '+' || *p == '-') && (symbol || bracket)) {
    p = offset(ps, p, o);
    if (!symbol) o->kind = HD_O_ADDR;
  } else if (*p == '[' && symbol) {
    size_t base = ps->stack.n;
    hd_ptx_opnd index;
    PTX_VEC_PUSH(ps, stack, *o);
    p = operand(ps, ptx_blank(ps, p + 1), &index, true, depth + 1);
    PTX_VEC_PUSH(ps, stack, index);
    p = ptx_eat(ps, p, ']');
    *o = (hd_ptx_opnd){.kind = HD_O_INDEX, .sym = ptx_flush(ps, base), .n_kids = 2};
  }
  return p;
}

/* !%p or -%r, p at the sign. */
static const char *negated(ptx_parser *ps, const char *p, hd_ptx_opnd *o) {
  char sign = *p;
  const char *at = ptx_blank(ps, p + 1);
  p = ptx_blank(ps, name_operand(ps, at, o));
  if (o->kind != HD_O_REG || (ps->m->syms[o->sym].type == HD_M_PRED) != (sign == '!'))
    ptx_fail(ps, at, "'%c' takes %s", sign, sign == '!' ? "a predicate" : "a number or a register");
  o->flags = HD_OF_NEG;
  if (*p == '.') p = selector(ps, p, &o->part);
  return p;
}

static inline bool begins_name(const char *p) {
  if (*p == 'W' && strncmp(p, "WARP_SZ", 7) == 0) return PTX_IS(p[7], PTX_C_IDENT);
  return PTX_IS(*p, PTX_C_START);
}

static const char *simple_operand(ptx_parser *ps, const char *p, hd_ptx_opnd *o, bool bracket,
                                  unsigned depth) {
  if (begins_name(p)) {
    p = ptx_blank(ps, name_operand(ps, p, o));
    return name_suffix(ps, p, o, bracket, depth);
  }
  switch (*p) {
  case '[': return address(ps, p, o, depth);
  case '{': return list(ps, p, '}', HD_O_VEC, o, depth);
  case '!':
  case '-':
    if (begins_name(ptx_peek(ps, p + 1))) return negated(ps, p, o);
    break;
  case '(': {
    const char *q = ptx_peek(ps, p + 1);
    if (ps->call || *q == ')' || begins_name(q)) return list(ps, p, ')', HD_O_LIST, o, depth);
    break;
  }
  case '"': {
    const char *text;
    size_t n;
    p = ptx_blank(ps, ptx_string(ps, p, &text, &n));
    *o = (hd_ptx_opnd){.kind = HD_O_STRING, .sym = ptx_text_sym(ps, text, n)};
    return p;
  }
  case '.':
  case '+':
  case '~':
  case 'W': /* WARP_SZ */
  case '0' ... '9': break;
  default: ptx_expected(ps, p, "an operand");
  }
  return ptx_expr(ps, p, o);
}

static const char *operand(ptx_parser *ps, const char *p, hd_ptx_opnd *o, bool bracket, unsigned depth) {
  if (depth > PTX_MAX_DEPTH) ptx_fail(ps, p, "operands are nested more than %d deep", PTX_MAX_DEPTH);
  p = simple_operand(ps, p, o, bracket, depth);
  if (__builtin_expect(*p == '|', 0)) { /* p|q; in an expression | has been consumed */
    size_t base = ps->stack.n;
    hd_ptx_opnd second;
    PTX_VEC_PUSH(ps, stack, *o);
    p = simple_operand(ps, ptx_blank(ps, p + 1), &second, bracket, depth);
    PTX_VEC_PUSH(ps, stack, second);
    *o = (hd_ptx_opnd){.kind = HD_O_PAIR, .sym = ptx_flush(ps, base), .n_kids = 2};
  }
  return p;
}

/* Most operands are a register, a short integer, or [register + short integer], with
 * nothing unusual around: those are written straight into the module. Returns NULL
 * for any other. */
static inline const char *plain_operand(ptx_parser *ps, const char *p, hd_ptx_opnd *o) {
  hd_sym sym = 0;
  uint8_t kind, flags = 0;
  int64_t imm = 0;
  if (*p == '%') {
    kind = HD_O_REG;
    p = cached_reg(ps, p, &sym);
    if (!p) return NULL;
  } else if (*p == '[' && p[1] == '%') {
    kind = HD_O_ADDR;
    p = cached_reg(ps, p + 1, &sym);
    if (!p) return NULL;
    if (*p == '+') {
      p = ptx_short_int(p + 1, &imm);
      flags = imm ? 0 : HD_OF_ZERO;
    }
    if (!p || *p++ != ']') return NULL;
  } else {
    kind = HD_O_INT;
    p = ptx_short_int(p, &imm);
    if (!p) return NULL;
  }
  if (*p != ',' && *p != ';') return NULL;
  o->kind = kind;
  o->flags = flags;
  o->part = HD_M_NONE;
  o->sym = sym;
  o->imm = imm;
  return p;
}

const char *ptx_operands(ptx_parser *ps, const char *p, uint32_t *first, size_t *n) {
  hd_ptx_module *m = ps->m;
  *first = m->n_opnds;
  for (;;) {
    PTX_ROOM(ps, opnds);
    const char *end = plain_operand(ps, p, &m->opnds[m->n_opnds]);
    if (!end) break;
    m->n_opnds++;
    p = end;
    if (*p == ';') {
      *n = m->n_opnds - *first;
      return p;
    }
    p = ptx_blank(ps, p + 1);
  }
  /* Operands that are lists put their elements into the module before themselves:
   * from here on this statement's operands wait on the stack. */
  for (uint32_t i = *first; i < m->n_opnds; i++) PTX_VEC_PUSH(ps, stack, m->opnds[i]);
  m->n_opnds = *first;
  for (;;) {
    hd_ptx_opnd o;
    p = operand(ps, p, &o, false, 0);
    PTX_VEC_PUSH(ps, stack, o);
    if (*p != ',') break;
    p = ptx_blank(ps, p + 1);
  }
  *n = ps->stack.n;
  *first = ptx_flush(ps, 0);
  return p;
}

/* ---- Initialisers --------------------------------------------------------------------- */

static const char *init_value(ptx_parser *ps, const char *p, hd_ptx_opnd *o, unsigned depth);

/* symbol, symbol + offset, generic(symbol), generic(symbol) + offset */
static const char *init_address(ptx_parser *ps, const char *p, hd_ptx_opnd *o) {
  bool generic = strncmp(p, "generic", 7) == 0 && *ptx_peek(ps, ptx_ident_end(p)) == '(';
  if (generic) {
    p = ptx_blank(ps, ptx_ident_end(p));
    p = ptx_blank(ps, p + 1);
  }
  p = ptx_blank(ps, name_operand(ps, p, o));
  if (o->kind != HD_O_SYM) ptx_fail(ps, p, "expected the name of a variable or function");
  if (generic) {
    p = ptx_eat(ps, p, ')');
    o->kind = HD_O_GENERIC;
  }
  return *p == '+' || *p == '-' ? offset(ps, p, o) : p;
}

static const char *init_list(ptx_parser *ps, const char *p, hd_ptx_opnd *o, unsigned depth) {
  if (depth >= PTX_MAX_DEPTH) ptx_fail(ps, p, "the initialiser is nested more than %d deep", PTX_MAX_DEPTH);
  size_t base = ps->stack.n;
  p = ptx_blank(ps, p + 1);
  while (*p != '}') {
    if (ps->stack.n > base) p = ptx_eat(ps, p, ',');
    hd_ptx_opnd kid;
    p = init_value(ps, p, &kid, depth + 1);
    PTX_VEC_PUSH(ps, stack, kid);
  }
  uint32_t n = (uint32_t)(ps->stack.n - base);
  *o = (hd_ptx_opnd){.kind = HD_O_VEC, .sym = ptx_flush(ps, base), .n_kids = n};
  return ptx_blank(ps, p + 1);
}

static const char *init_value(ptx_parser *ps, const char *p, hd_ptx_opnd *o, unsigned depth) {
  if (*p == '{') return init_list(ps, p, o, depth);
  if (*p == '"') return simple_operand(ps, p, o, false, depth);
  if (begins_name(p)) return init_address(ps, p, o);
  const char *at = p;
  p = ptx_expr(ps, p, o);
  if (*p != '(') return p;
  if (o->kind != HD_O_INT) ptx_fail(ps, at, "expected an integer mask");
  int64_t mask = o->imm;
  hd_ptx_opnd kid;
  p = init_address(ps, ptx_blank(ps, p + 1), &kid);
  p = ptx_eat(ps, p, ')');
  size_t base = ps->stack.n;
  PTX_VEC_PUSH(ps, stack, kid);
  *o = (hd_ptx_opnd){.kind = HD_O_MASKED, .sym = ptx_flush(ps, base), .imm = mask};
  return p;
}

const char *ptx_initialiser(ptx_parser *ps, const char *p, uint32_t *init) {
  size_t base = ps->stack.n;
  hd_ptx_opnd o;
  p = init_value(ps, p, &o, 0);
  PTX_VEC_PUSH(ps, stack, o);
  *init = ptx_flush(ps, base) + 1;
  return p;
}
