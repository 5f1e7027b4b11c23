/* Variables: .reg .global .const .shared .local .param, alone and as parameters. */
#include "heddle/ptx_facts.h"
#include "ptx/lexer.h"

unsigned ptx_linkage_bit(hd_mod word) {
  switch (word) {
  case HD_M_EXTERN: return HD_LINK_EXTERN;
  case HD_M_VISIBLE: return HD_LINK_VISIBLE;
  case HD_M_WEAK: return HD_LINK_WEAK;
  case HD_M_COMMON: return HD_LINK_COMMON;
  default: return 0;
  }
}

static bool is_space(hd_mod word) {
  /* Of the places that instructions name, .param::func and .param::entry declare nothing. */
  return hd_ptx_mod_kind(word) == HD_MK_SPACE && word != HD_M_PARAM_ENTRY && word != HD_M_PARAM_FUNC;
}

bool ptx_declares(hd_mod word) {
  return is_space(word) || ptx_linkage_bit(word) || word == HD_M_ATTRIBUTE || word == HD_M_ALIGN;
}

static const char *alignment(ptx_parser *ps, const char *p, uint32_t *align) {
  int64_t v;
  const char *end = ptx_int_expr(ps, p, &v);
  if (v <= 0 || v > 1 << 30 || (v & (v - 1))) ptx_fail(ps, p, "an alignment is a power of two");
  *align = (uint32_t)v;
  return end;
}

/* .const[2] */
static const char *bank(ptx_parser *ps, const char *p, uint32_t *out) {
  uint64_t v;
  p = ptx_blank(ps, p + 1);
  p = ptx_blank(ps, ptx_uint(ps, p, 1u << 20, &v));
  *out = (uint32_t)v + 1;
  return ptx_eat(ps, p, ']');
}

const char *ptx_attribute(ptx_parser *ps, const char *p, hd_sym *out) {
  if (*p != '(') ptx_expected(ps, p, "'('");
  const char *end = ptx_balanced(ps, p);
  *out = ptx_text_sym(ps, p, (size_t)(end - p));
  return ptx_blank(ps, end);
}

/* All dotted words before the name: state space, alignment, type, .ptr and so on,
 * in any order. Words behind .ptr describe the memory that is pointed to. */
static const char *specifiers(ptx_parser *ps, const char *p, hd_ptx_var *v) {
  while (*p == '.') {
    const char *start = p + 1, *end = ptx_part_end(start);
    if (end == start) ptx_expected(ps, start, "a word");
    hd_mod word = ptx_mod(ps, start, (size_t)(end - start), start);
    p = ptx_blank(ps, end);
    if (ptx_linkage_bit(word)) {
      v->linkage |= (uint8_t)ptx_linkage_bit(word);
    } else if (is_space(word)) {
      *(v->ptr ? &v->ptr_space : &v->space) = word;
      if (*p == '[') p = bank(ps, p, &v->bank);
    } else {
      switch (word) {
      case HD_M_ALIGN: p = alignment(ps, p, v->ptr ? &v->ptr_align : &v->align); break;
      case HD_M_ATTRIBUTE: p = ptx_attribute(ps, p, &v->attribute); break;
      case HD_M_PTR: v->ptr = true; break;
      case HD_M_V2: v->vec = 2; break;
      case HD_M_V4: v->vec = 4; break;
      case HD_M_V8: v->vec = 8; break;
      default:
        if (v->type) ptx_fail(ps, start, "'.%.*s' is a second type", (int)(end - start), start);
        v->type = word;
      }
    }
  }
  if (!v->space) ptx_expected(ps, p, "a state space");
  if (!v->type) ptx_expected(ps, p, "a type");
  return p;
}

static const char *dimensions(ptx_parser *ps, const char *p, hd_ptx_var *v) {
  v->first_dim = ps->m->n_dims;
  while (*p == '[') {
    const char *at = p;
    int64_t n = 0;
    p = ptx_blank(ps, p + 1);
    if (*p == ']') {
      if (v->n_dims) ptx_fail(ps, at, "only an array's first dimension may be open");
      v->unsized = true;
    } else {
      p = ptx_int_expr(ps, p, &n);
      if (n < 0) ptx_fail(ps, at, "an array's dimension is negative");
    }
    p = ptx_eat(ps, p, ']');
    if (v->n_dims == UINT8_MAX) ptx_fail(ps, at, "an array has more than %d dimensions", UINT8_MAX);
    PTX_PUSH(ps, dims, (uint64_t)n);
    v->n_dims++;
  }
  return p;
}

/* <100> behind a register's name. */
static const char *range_count(ptx_parser *ps, const char *p, const hd_ptx_var *v, uint32_t *count) {
  uint64_t n;
  if (v->space != HD_M_REG) ptx_fail(ps, p, "only registers come in ranges");
  p = ptx_blank(ps, p + 1);
  p = ptx_blank(ps, ptx_uint(ps, p, UINT32_MAX, &n));
  *count = (uint32_t)n;
  return ptx_eat(ps, p, '>');
}

/* A name and what belongs to it alone: %r<100>, a[4] = {1, 2}. Adds the variable. */
static const char *declarator(ptx_parser *ps, const char *p, const hd_ptx_var *spec, bool parameter) {
  hd_ptx_var v = *spec;
  const char *name = p, *end = ptx_ident_end(p);
  size_t n = (size_t)(end - name);
  if (end == name) ptx_expected(ps, p, "a name");
  v.line = ps->generated ? 0 : ps->line;
  p = ptx_blank(ps, end);
  bool range = *p == '<';
  if (range) {
    p = range_count(ps, p, &v, &v.range);
    if (v.range == 0) return p; /* declares nothing, and ptxas lets it pass */
  }
  p = dimensions(ps, p, &v);
  hd_ptx_sym s = {.kind = HD_SYM_VAR, .vec = v.vec, .type = v.type, .decl = ps->m->n_vars};
  if (v.space == HD_M_REG) s.kind = HD_SYM_REG;
  ps->linkage = v.linkage;
  if (range) {
    v.sym = ptx_declare_range(ps, name, n, s, v.range);
  } else if (!parameter || n != 1 || *name != '_') {
    if (s.kind == HD_SYM_REG) s.index = ps->n_regs++;
    v.sym = ptx_declare(ps, name, n, s);
  }
  PTX_PUSH(ps, vars, v);
  if (*p == '=') {
    uint32_t self = ps->m->n_vars - 1, init;
    p = ptx_blank(ps, p + 1);
    if (*p == '{' && (v.type == HD_M_SAMPLERREF || v.type == HD_M_TEXREF || v.type == HD_M_SURFREF)) {
      const char *close = ptx_balanced(ps, p); /* { filter_mode = linear, ... } */
      hd_ptx_opnd o = {.kind = HD_O_RAW, .sym = ptx_text_sym(ps, p, (size_t)(close - p))};
      PTX_PUSH(ps, opnds, o);
      init = ps->m->n_opnds;
      p = ptx_blank(ps, close);
    } else {
      p = ptx_initialiser(ps, p, &init);
    }
    ps->m->vars[self].init = init;
  }
  return p;
}

const char *ptx_var_directive(ptx_parser *ps, const char *p, unsigned linkage) {
  hd_ptx_var spec = {.vec = 1, .linkage = (uint8_t)linkage};
  p = specifiers(ps, p, &spec);
  for (;;) {
    p = declarator(ps, p, &spec, false);
    if (*p != ',') break;
    p = ptx_blank(ps, p + 1);
  }
  return ptx_eat(ps, p, ';');
}

const char *ptx_params(ptx_parser *ps, const char *p, uint32_t *first, uint32_t *n) {
  *first = ps->m->n_vars;
  p = ptx_eat(ps, p, '(');
  while (*p != ')') {
    if (ps->m->n_vars > *first) p = ptx_eat(ps, p, ',');
    hd_ptx_var spec = {.vec = 1};
    p = specifiers(ps, p, &spec);
    p = declarator(ps, p, &spec, true);
  }
  *n = ps->m->n_vars - *first;
  return ptx_blank(ps, p + 1);
}
