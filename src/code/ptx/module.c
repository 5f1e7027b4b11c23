/* Whole modules: the header, the items at module level, and the parser's set-up. */
#include "ptx/lexer.h"

#include <stdlib.h>

/* ---- Arrays ------------------------------------------------------------------------ */

/* First capacities: enough for nearly all real modules (11 characters an operand, 32 a symbol), so that no
 * array has to grow. */
static void reserve(ptx_parser *ps, size_t len) {
  hd_ptx_module *m = ps->m;
  ptx_tables *t = ps->t;
  t->cap_opnds = (uint32_t)(len / 11) + 64;
  m->opnds = hd_arena_alloc(ps->arena, t->cap_opnds * sizeof *m->opnds, 16);
  t->cap_syms = (uint32_t)(len / 32) + 64;
  m->syms = hd_arena_alloc(ps->arena, t->cap_syms * sizeof *m->syms, 16);
  m->syms[0] = (hd_ptx_sym){.name = ""};
  m->n_syms = 1;
  ptx_map_init(&t->name_map, ps->arena, 256);
  ptx_map_init(&t->form_map, ps->arena, 512);
  ptx_map_init(&t->sparse_map, ps->arena, 16);
}

/* ---- Header --------------------------------------------------------------------------- */

static const char *directive_word(ptx_parser *ps, const char *p, const char *word) {
  size_t n = strlen(word);
  if (strncmp(p, word, n) != 0 || PTX_IS(p[n], PTX_C_IDENT)) ptx_expected(ps, p, word);
  return ptx_blank(ps, p + n);
}

static const char *version_number(ptx_parser *ps, const char *p, unsigned *out) {
  const char *start = p;
  uint64_t v;
  while (PTX_IS(*p, PTX_C_DIGIT)) p++;
  if (!hd_parse_u64(start, (size_t)(p - start), 1000, &v)) ptx_expected(ps, start, "a version number");
  *out = (unsigned)v;
  return p;
}

/* The next target of a list, p at its first character: behind it and its comma. */
static const char *next_target(ptx_parser *ps, const char *p, const char **end, bool *more) {
  *end = ptx_ident_end(p);
  if (*end == p) ptx_expected(ps, p, "a target");
  p = ptx_blank(ps, *end);
  *more = *p == ',';
  return *more ? ptx_blank(ps, p + 1) : p;
}

static unsigned sm_number(const char *p, const char *end) {
  const char *digits = p + 3, *stop = digits;
  if (strncmp(p, "sm_", 3) != 0) return 0;
  while (stop < end && PTX_IS(*stop, PTX_C_DIGIT)) stop++;
  uint64_t sm;
  return hd_parse_u64(digits, (size_t)(stop - digits), 1000000, &sm) ? (unsigned)sm : 0;
}

/* sm_90a, texmode_independent: kept as one text with single blanks. */
static const char *target(ptx_parser *ps, const char *p) {
  const char *end, *q = p;
  bool more = true;
  uint32_t line = ps->line;
  while (more) q = next_target(ps, q, &end, &more);
  /* A comma may gain a blank, nothing else grows. */
  char *list = hd_arena_alloc(ps->arena, 2 * (size_t)(end - p) + 1, 1), *out = list;
  ps->m->target = list;
  ps->m->target_line = line;
  ps->line = line;
  for (more = true; more;) {
    const char *start = p;
    p = next_target(ps, p, &end, &more);
    if (!ps->m->sm) ps->m->sm = sm_number(start, end);
    if (out > list) {
      *out++ = ',';
      *out++ = ' ';
    }
    memcpy(out, start, (size_t)(end - start));
    out += end - start;
  }
  *out = 0;
  return p;
}

static const char *header(ptx_parser *ps, const char *p) {
  p = directive_word(ps, ptx_blank(ps, p), ".version");
  p = version_number(ps, p, &ps->m->version_major);
  if (*p != '.') ptx_expected(ps, p, "'.'");
  p = ptx_blank(ps, version_number(ps, p + 1, &ps->m->version_minor));
  p = target(ps, directive_word(ps, p, ".target"));
  ps->m->address_size = 64; /* ptxas's default */
  if (strncmp(p, ".address_size", 13) == 0) {
    const char *at = p = directive_word(ps, p, ".address_size");
    uint64_t v;
    p = ptx_blank(ps, ptx_uint(ps, p, 64, &v));
    if (v != 32 && v != 64) ptx_fail(ps, at, "an address has 32 or 64 bits");
    ps->m->address_size = (unsigned)v;
  }
  return p;
}

/* ---- Items -------------------------------------------------------------------------------- */

static void raw_item(ptx_parser *ps, const char *start, const char *end) {
  hd_sym text = ptx_text_sym(ps, start, (size_t)(end - start));
  PTX_PUSH(ps, items, (hd_ptx_item){.kind = HD_I_RAW, .index = text});
}

/* .file 1 "path" and .file 1 "path", timestamp, size; p behind the word. Returns the
 * end of its text. */
static const char *file_directive(ptx_parser *ps, const char *p) {
  uint64_t v;
  const char *text, *end;
  size_t n;
  p = ptx_blank(ps, ptx_uint(ps, p, UINT64_MAX, &v));
  end = ptx_string(ps, p, &text, &n);
  for (int i = 0; i < 2; i++) {
    const uint32_t line = ps->line;
    p = ptx_blank(ps, end);
    if (*p != ',') {
      ps->line = line; /* these blanks are passed once more, behind the text */
      break;
    }
    end = ptx_uint(ps, ptx_blank(ps, p + 1), UINT64_MAX, &v);
  }
  return end;
}

/* Behind the ';' that ends the directive at p. */
static const char *to_semicolon(ptx_parser *ps, const char *p) {
  const char *start = p, *text;
  size_t n;
  while (*p != ';') {
    if (*p == 0) ptx_fail(ps, start, "a ';' is missing");
    p = *p == '"' ? ptx_string(ps, p, &text, &n) : p + 1;
    p = ptx_blank(ps, p);
  }
  return p + 1;
}

/* A directive that is kept as written. */
static const char *raw_directive(ptx_parser *ps, const char *p, const char *behind_word, hd_mod word) {
  const char *start = p, *end;
  switch (word) {
  case HD_M_FILE: end = file_directive(ps, ptx_blank(ps, behind_word)); break;
  case HD_M_ALIAS:
  case HD_M_PRAGMA: end = to_semicolon(ps, ptx_blank(ps, behind_word)); break;
  case HD_M_SECTION:
    p = ptx_blank(ps, behind_word);
    while (PTX_IS(*p, PTX_C_WORD | PTX_C_START)) p++;
    p = ptx_blank(ps, p);
    if (*p != '{') ptx_expected(ps, p, "'{'");
    end = ptx_balanced(ps, p);
    break;
  default: ptx_unknown_directive(ps, behind_word, &end);
  }
  if (end < behind_word) end = behind_word;
  raw_item(ps, start, end);
  return ptx_blank(ps, end);
}

static const char *item(ptx_parser *ps, const char *p) {
  uint32_t line = ps->generated ? 0 : ps->line;
  unsigned linkage = 0;
  for (;;) {
    const char *start = p + 1, *end = ptx_part_end(start);
    if (*p != '.' || end == start) ptx_expected(ps, p, linkage ? "a declaration" : "a directive");
    hd_mod word = ptx_mod(ps, start, (size_t)(end - start), start);
    if (ptx_linkage_bit(word)) {
      linkage |= ptx_linkage_bit(word);
      p = ptx_blank(ps, end);
      continue;
    }
    if (word == HD_M_ENTRY || word == HD_M_FUNC) {
      p = ptx_function(ps, ptx_blank(ps, end), word == HD_M_ENTRY, linkage, line);
      PTX_PUSH(ps, items, (hd_ptx_item){.kind = HD_I_FUNC, .index = ps->m->n_funcs - 1});
      return p;
    }
    if (ptx_declares(word)) {
      uint32_t first = ps->m->n_vars;
      p = ptx_var_directive(ps, p, linkage);
      for (uint32_t i = first; i < ps->m->n_vars; i++)
        PTX_PUSH(ps, items, (hd_ptx_item){.kind = HD_I_VAR, .index = i});
      return p;
    }
    if (linkage) ptx_expected(ps, p, "a declaration");
    return raw_directive(ps, p, end, word);
  }
}

void ptx_items(ptx_parser *ps, const char *p) {
  p = ptx_blank(ps, p);
  while (*p) {
    if (strncmp(p, "@@", 2) == 0) { /* @@DWARF lines of old compilers */
      const char *end;
      ptx_unknown_directive(ps, p, &end);
      raw_item(ps, p, end);
      p = ptx_blank(ps, end);
    } else {
      p = item(ps, p);
    }
  }
  ptx_resolve_rest(ps, 0);
}

/* ---- Set-up ---------------------------------------------------------------------------------- */

static hd_status run_guarded(ptx_parser *ps, void (*fn)(ptx_parser *, const char *, void *), void *ctx) {
  jmp_buf *outer = ps->arena->escape;
  if (setjmp(ps->escape) == 0) {
    ps->arena->escape = &ps->escape;
    fn(ps, ps->text, ctx);
  } else if (ps->status == HD_OK) { /* the arena's escape */
    ps->status = hd_fail(ps->diag, HD_ERR_NOMEM, "%s: out of memory", ps->diag_name);
  }
  /* Names must not keep declarations of an insertion that failed. */
  if (ps->status != HD_OK) ptx_unbind(ps, 0);
  ps->arena->escape = outer;
  return ps->status;
}

hd_status ptx_run(hd_ptx_module *m, const char *text, size_t len, const char *name, bool generated,
                  hd_diag *d, void (*fn)(ptx_parser *, const char *, void *), void *ctx) {
  size_t n = strnlen(text, len);
  for (size_t i = n; i < len; i++)
    if (text[i]) return hd_fail_at(d, HD_ERR_INPUT, name, text, len, n, "a NUL byte inside the text");
  if (n >= UINT32_MAX) return hd_fail(d, HD_ERR_INPUT, "%s: the text has 4 GB or more", name);
  ptx_parser *ps = calloc(1, sizeof *ps);
  char *copy = malloc(n + PTX_PADDING);
  hd_status st;
  if (!ps || !copy) {
    st = hd_fail(d, HD_ERR_NOMEM, "%s: out of memory", name);
  } else {
    memcpy(copy, text, n);
    memset(copy + n, 0, PTX_PADDING);
    ps->text = copy;
    ps->len = n;
    ps->line = 1;
    ps->m = m;
    ps->t = m->priv;
    ps->arena = m->arena;
    ps->diag_name = name;
    ps->diag = d;
    ps->generated = generated;
    /* A register that is used takes at least four characters. */
    ps->dense_budget = n / 4 + 4096;
    st = run_guarded(ps, fn, ctx);
    hd_vec_free(&ps->stack);
    hd_vec_free(&ps->stmts);
    hd_vec_free(&ps->undo);
    hd_vec_free(&ps->pending);
  }
  free(copy);
  free(ps);
  return st;
}

/* ---- Aliases ------------------------------------------------------------------------------------ */

/* The function called so; 0: there is none. */
static hd_sym function_named(const hd_ptx_module *m, const char *text, size_t n) {
  for (uint32_t k = 0; k < m->n_funcs; k++) {
    const hd_ptx_sym *s = &m->syms[m->funcs[k].sym];
    if (s->len == n && memcmp(s->name, text, n) == 0) return m->funcs[k].sym;
  }
  return 0;
}

/* .alias other, function; wherever `other` is called or its address taken, it is `function`. */
static void resolve_alias(ptx_parser *ps, const char *text) {
  hd_ptx_module *m = ps->m;
  const char *other = ptx_blank(ps, text + strlen(".alias")), *end = ptx_ident_end(other);
  const char *comma = ptx_blank(ps, end);
  if (*comma != ',') return;
  const char *name = ptx_blank(ps, comma + 1);
  const hd_sym from = function_named(m, other, (size_t)(end - other)),
               to = function_named(m, name, (size_t)(ptx_ident_end(name) - name));
  if (!from || !to || from == to || m->funcs[m->syms[from].decl].has_body ||
      !m->funcs[m->syms[to].decl].has_body || m->funcs[m->syms[to].decl].entry)
    return; /* not valid: the name stays one that is not defined */
  m->syms[from].decl = m->syms[to].decl;
  for (uint32_t k = 0; k < m->n_opnds; k++) {
    hd_ptx_opnd *o = &m->opnds[k];
    const bool names = o->kind == HD_O_SYM || o->kind == HD_O_ADDR || o->kind == HD_O_GENERIC;
    if (names && o->sym == from) o->sym = to;
  }
}

/* An alias of an alias is resolved in the order written, as ptxas takes them. */
static void resolve_aliases(ptx_parser *ps) {
  for (uint32_t k = 0; k < ps->m->n_items; k++) {
    const hd_ptx_item *i = &ps->m->items[k];
    if (i->kind == HD_I_RAW && strncmp(ps->m->syms[i->index].name, ".alias", 6) == 0)
      resolve_alias(ps, ps->m->syms[i->index].name);
  }
}

static void parse_module(ptx_parser *ps, const char *p, void *ctx) {
  (void)ctx;
  reserve(ps, ps->len);
  ptx_words_init(ps);
  ptx_items(ps, header(ps, p));
  resolve_aliases(ps);
}

hd_status hd_ptx_parse(const char *text, size_t len, const char *name, hd_arena *arena, hd_ptx_module **out,
                       hd_diag *d) {
  *out = NULL;
  hd_ptx_module *m = HD_NEW(arena, hd_ptx_module);
  ptx_tables *t = HD_NEW(arena, ptx_tables);
  char *copy = hd_arena_strndup(arena, name, strlen(name));
  if (!m || !t || !copy) return hd_fail(d, HD_ERR_NOMEM, "%s: out of memory", name);
  m->arena = arena;
  m->name = copy;
  m->priv = t;
  hd_status st = ptx_run(m, text, len, name, false, d, parse_module, NULL);
  if (st == HD_OK) *out = m;
  return st;
}
