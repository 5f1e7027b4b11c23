/* Names, scopes and symbols. */
#include "ptx/lexer.h"

hd_sym ptx_new_sym(ptx_parser *ps, hd_ptx_sym s) {
  PTX_PUSH(ps, syms, s);
  return ps->m->n_syms - 1;
}

hd_sym ptx_text_sym(ptx_parser *ps, const char *text, size_t n) {
  return ptx_new_sym(
      ps,
      (hd_ptx_sym){.name = hd_arena_strndup(ps->arena, text, n), .len = (uint32_t)n, .kind = HD_SYM_UNDEF});
}

/* Zero bytes behind every interned name. */
enum { NAME_PADDING = 8 };

/* ---- Names --------------------------------------------------------------------- */

/* Index of a name that has been interned, UINT32_MAX when it has not. */
static uint32_t find_name(const ptx_tables *t, const char *text, size_t n, uint32_t h) {
  PTX_MAP_EACH(&t->name_map, h, i) {
    const ptx_name *name = &t->names[i];
    if (name->len == n && memcmp(name->text, text, n) == 0) return (uint32_t)i;
  }
  return UINT32_MAX;
}

static uint32_t add_name(ptx_parser *ps, const char *text, size_t n, uint32_t h) {
  ptx_tables *t = ps->t;
  if (t->n_names == t->cap_names)
    t->names = ptx_grow(ps, t->names, t->n_names, &t->cap_names, sizeof *t->names, "names");
  char *copy = hd_arena_alloc(ps->arena, n + NAME_PADDING, 1);
  memcpy(copy, text, n);
  memset(copy + n, 0, NAME_PADDING);
  t->names[t->n_names] = (ptx_name){.text = copy, .len = (uint32_t)n};
  ptx_map_add(&t->name_map, ps->arena, h, t->n_names);
  return t->n_names++;
}

uint32_t ptx_intern(ptx_parser *ps, const char *text, size_t n) {
  uint32_t h = ptx_hash(text, n), i = find_name(ps->t, text, n, h);
  return i != UINT32_MAX ? i : add_name(ps, text, n, h);
}

/* ---- Register ranges --------------------------------------------------------------- */

static void clear_reg_cache(ptx_parser *ps) { memset(ps->reg_cache, 0, sizeof ps->reg_cache); }

/* Split "%r17" into a prefix and a number below 2^32; false when text does not end
 * in digits or is nothing else. Leading zeros do not matter: ptxas reads %r07 as %r7. */
static bool split_number(const char *text, size_t n, size_t *prefix, uint32_t *number) {
  size_t k = n;
  while (k > 0 && PTX_IS(text[k - 1], PTX_C_DIGIT)) k--;
  if (k == n || k == 0) return false;
  uint64_t v;
  if (!hd_parse_u64(text + k, n - k, UINT32_MAX, &v)) return false;
  *prefix = k;
  *number = (uint32_t)v;
  return true;
}

/* The decimal digits of v and a NUL at out, where there is room for NAME_PADDING + 8
 * bytes; returns how many digits. */
static uint32_t put_digits(char *out, uint32_t v) {
  if (v < 10000000) { /* up to seven, put together in a register */
    uint64_t w = 0;
    uint32_t n = 0;
    do {
      w = w << 8 | ('0' + v % 10);
      n++;
    } while (v /= 10);
    ptx_store64(out, w);
    return n;
  }
  char digits[10];
  uint32_t n = 0, i = 0;
  do digits[n++] = (char)('0' + v % 10);
  while (v /= 10);
  while (i < n) {
    out[i] = digits[n - 1 - i];
    i++;
  }
  out[n] = 0;
  return n;
}

/* The symbol for one more register. This runs once for every register of a module:
 * names are copied eight bytes at a time, and the symbol is written in place. */
static hd_sym new_range_reg(ptx_parser *ps, const ptx_range *r, uint32_t number) {
  hd_ptx_module *m = ps->m;
  PTX_ROOM(ps, syms);
  const hd_ptx_var *v = &m->vars[r->var];
  const hd_ptx_sym *prefix = &m->syms[v->sym];
  hd_ptx_sym *s = &m->syms[m->n_syms];
  uint32_t n = prefix->len;
  char *name = hd_arena_alloc(ps->arena, (size_t)n + 2 * NAME_PADDING, 1);
  if (n < NAME_PADDING)
    ptx_store64(name, ptx_load64(prefix->name));
  else
    memcpy(name, prefix->name, n);
  s->name = name;
  s->len = n + put_digits(name + n, number);
  s->kind = HD_SYM_REG;
  s->vec = v->vec;
  s->type = v->type;
  s->decl = r->var;
  s->index = ps->n_regs++;
  return m->n_syms++;
}

static uint32_t sparse_hash(uint32_t var, uint32_t number) {
  uint64_t h = ((uint64_t)var << 32 | number) * 0x9E3779B97F4A7C15ull;
  return (uint32_t)(h >> 32) ^ (uint32_t)h;
}

static hd_sym sparse_reg(ptx_parser *ps, ptx_range *r, uint32_t number) {
  ptx_tables *t = ps->t;
  uint32_t h = sparse_hash(r->var, number);
  PTX_MAP_EACH(&t->sparse_map, h, i) {
    if (t->sparse[i].var == r->var && t->sparse[i].number == number) return t->sparse[i].sym;
  }
  hd_sym sym = new_range_reg(ps, r, number);
  if (t->n_sparse == t->cap_sparse)
    t->sparse = ptx_grow(ps, t->sparse, t->n_sparse, &t->cap_sparse, sizeof *t->sparse, "registers");
  t->sparse[t->n_sparse] = (ptx_sparse){r->var, number, sym};
  ptx_map_add(&t->sparse_map, ps->arena, h, t->n_sparse++);
  return sym;
}

hd_sym ptx_range_reg(ptx_parser *ps, ptx_range *r, uint32_t number) {
  if (!r->dense) {
    if (r->count > ps->dense_budget) return sparse_reg(ps, r, number);
    ps->dense_budget -= r->count;
    r->dense = HD_NEW_N(ps->arena, r->count, hd_sym);
  }
  if (!r->dense[number]) r->dense[number] = new_range_reg(ps, r, number);
  return r->dense[number];
}

/* ---- Lookup ------------------------------------------------------------------------- */

static void cache_range(ptx_parser *ps, const char *text, size_t prefix, ptx_range *r) {
  if (prefix > 7 || text[0] != '%' || r->shadowed) return;
  uint64_t key = ptx_load64(text) & ((1ull << 8 * prefix) - 1);
  ps->reg_cache[ptx_reg_hash(key)] = (struct ptx_reg_slot){key, r};
}

/* The register of a range that text[0..n) is, unless a declaration of the whole name
 * (at depth `whole`, -1: none) is nearer. */
static hd_sym find_in_range(ptx_parser *ps, const char *text, size_t n, int64_t whole) {
  ptx_tables *t = ps->t;
  uint32_t number;
  size_t prefix;
  if (!split_number(text, n, &prefix, &number)) return 0;
  uint32_t name = find_name(t, text, prefix, ptx_hash(text, prefix));
  if (name == UINT32_MAX || !t->names[name].range) return 0;
  ptx_range *innermost = &t->ranges[t->names[name].range - 1], *r = innermost;
  while (number >= r->count && r->outer) r = &t->ranges[r->outer - 1];
  if (r->scope < whole) return 0;
  if (number >= r->count) {
    if (whole >= 0) return 0;
    ptx_fail(ps, text, "register '%.*s' is beyond %.*s<%u>", (int)n, text, (int)prefix, text,
             innermost->count);
  }
  if (r == innermost) cache_range(ps, text, prefix, r);
  return ptx_range_reg(ps, r, number);
}

/* A name that begins with '%' and is not declared: predefined, hence visible
 * everywhere, as if it were declared at module level. */
static hd_sym special_register(ptx_parser *ps, ptx_name *nm) {
  nm->sym = ptx_new_sym(
      ps, (hd_ptx_sym){
              .name = nm->text, .len = nm->len, .kind = HD_SYM_SREG, .index = ptx_sreg(nm->text, nm->len)});
  nm->scope = 0;
  return nm->sym;
}

hd_sym ptx_lookup(ptx_parser *ps, const char *text, size_t n, uint32_t *name) {
  ptx_tables *t = ps->t;
  uint32_t h = ptx_hash(text, n), whole = find_name(t, text, n, h);
  if (text[0] == '%' || t->plain_ranges) {
    bool declared = whole != UINT32_MAX && t->names[whole].sym;
    hd_sym reg = find_in_range(ps, text, n, declared ? (int64_t)t->names[whole].scope : -1);
    if (reg) return reg;
  }
  if (whole == UINT32_MAX) whole = add_name(ps, text, n, h);
  *name = whole;
  ptx_name *nm = &t->names[whole];
  if (!nm->sym) return text[0] == '%' ? special_register(ps, nm) : 0;
  switch (ps->m->syms[nm->sym].kind) {
  case HD_SYM_UNDEF: return 0;
  case HD_SYM_LABEL: return nm->scope == ps->depth ? nm->sym : 0; /* this block may define its own */
  default: return nm->sym;
  }
}

/* ---- Declarations ------------------------------------------------------------------- */

static ptx_name *hide(ptx_parser *ps, uint32_t name) {
  ptx_name *nm = &ps->t->names[name];
  PTX_VEC_PUSH(ps, undo, ((ptx_undo){name, nm->scope, nm->range, nm->sym}));
  return nm;
}

static void bind(ptx_parser *ps, uint32_t name, hd_sym sym) {
  ptx_name *nm = hide(ps, name);
  nm->sym = sym;
  nm->scope = ps->depth;
  size_t prefix;
  uint32_t number;
  if (ps->m->syms[sym].kind != HD_SYM_REG || !split_number(nm->text, nm->len, &prefix, &number)) return;
  uint32_t ranged = find_name(ps->t, nm->text, prefix, ptx_hash(nm->text, prefix));
  if (ranged == UINT32_MAX || !ps->t->names[ranged].range) return;
  ps->t->ranges[ps->t->names[ranged].range - 1].shadowed = true;
  clear_reg_cache(ps);
}

static void bind_range(ptx_parser *ps, uint32_t name, uint32_t index) {
  ptx_name *nm = hide(ps, name);
  ptx_range *r = &ps->t->ranges[index];
  r->scope = ps->depth;
  r->outer = nm->range;
  nm->range = index + 1;
  if (nm->text[0] != '%') ps->t->plain_ranges = true;
  clear_reg_cache(ps);
}

/* True when module-level symbol `old` may be declared again as s. */
static bool redeclares(const ptx_parser *ps, const hd_ptx_sym *old, const hd_ptx_sym *s) {
  if (old->kind == HD_SYM_UNDEF) return true;
  return old->kind == HD_SYM_VAR && s->kind == HD_SYM_VAR &&
         ((ps->m->vars[old->decl].linkage | ps->linkage) & HD_LINK_EXTERN);
}

hd_sym ptx_declare(ptx_parser *ps, const char *text, size_t n, hd_ptx_sym s) {
  uint32_t name = ptx_intern(ps, text, n);
  const ptx_name *nm = &ps->t->names[name];
  s.name = nm->text;
  s.len = nm->len;
  if (nm->sym && nm->scope == ps->depth && ps->m->syms[nm->sym].kind != HD_SYM_SREG) {
    hd_ptx_sym *old = &ps->m->syms[nm->sym];
    if (ps->depth > 0 || !redeclares(ps, old, &s))
      ptx_fail(ps, text, "'%s' is declared twice in one %s", nm->text, ps->depth ? "block" : "module");
    if (old->kind == HD_SYM_UNDEF || ps->m->vars[old->decl].linkage & HD_LINK_EXTERN) *old = s;
    return nm->sym;
  }
  hd_sym sym = ptx_new_sym(ps, s);
  bind(ps, name, sym);
  return sym;
}

hd_sym ptx_declare_range(ptx_parser *ps, const char *text, size_t n, hd_ptx_sym s, uint32_t count) {
  ptx_tables *t = ps->t;
  uint32_t name = ptx_intern(ps, text, n);
  const ptx_name *nm = &t->names[name];
  if (nm->range && t->ranges[nm->range - 1].scope == ps->depth)
    ptx_fail(ps, text, "'%s<>' is declared twice in one block", nm->text);
  if (t->n_ranges == t->cap_ranges)
    t->ranges = ptx_grow(ps, t->ranges, t->n_ranges, &t->cap_ranges, sizeof *t->ranges, "register ranges");
  t->ranges[t->n_ranges] = (ptx_range){.var = s.decl, .count = count};
  s.name = nm->text;
  s.len = nm->len;
  s.index = t->n_ranges;
  bind_range(ps, name, t->n_ranges++);
  return ptx_new_sym(ps, s);
}

void ptx_rebind(ptx_parser *ps, hd_sym sym) {
  const hd_ptx_sym *s = &ps->m->syms[sym];
  bind(ps, ptx_intern(ps, s->name, s->len), sym);
}

void ptx_rebind_range(ptx_parser *ps, hd_sym prefix) {
  const hd_ptx_sym *s = &ps->m->syms[prefix];
  bind_range(ps, ptx_intern(ps, s->name, s->len), s->index);
}

/* ---- Scopes ------------------------------------------------------------------------- */

void ptx_unbind(ptx_parser *ps, size_t mark) {
  bool ranges = false;
  while (ps->undo.n > mark) {
    ptx_undo u = ps->undo.data[--ps->undo.n];
    ptx_name *nm = &ps->t->names[u.name];
    ranges |= nm->range != u.range;
    nm->sym = u.sym;
    nm->scope = u.scope;
    nm->range = u.range;
  }
  if (ranges) clear_reg_cache(ps);
}

void ptx_scope_open(ptx_parser *ps, const char *at) {
  if (ps->depth == PTX_MAX_DEPTH) ptx_fail(ps, at, "blocks are nested more than %d deep", PTX_MAX_DEPTH);
  ps->depth++;
  ps->scope[ps->depth].undo = (uint32_t)ps->undo.n;
  ps->scope[ps->depth].pending = (uint32_t)ps->pending.n;
}

/* The symbol of a name that no enclosing block defines: the module's, or a new symbol for something unknown.
 */
static hd_sym module_sym(ptx_parser *ps, uint32_t name) {
  ptx_name *nm = &ps->t->names[name];
  if (!nm->sym) {
    nm->sym = ptx_new_sym(ps, (hd_ptx_sym){.name = nm->text, .len = nm->len, .kind = HD_SYM_UNDEF});
    nm->scope = 0;
  }
  return nm->sym;
}

void ptx_resolve_rest(ptx_parser *ps, size_t from) {
  for (size_t i = from; i < ps->pending.n; i++) {
    ptx_pending u = ps->pending.data[i];
    ps->m->opnds[u.opnd].sym = module_sym(ps, u.name);
  }
  ps->pending.n = from;
}

void ptx_scope_close(ptx_parser *ps) {
  size_t from = ps->scope[ps->depth].pending, kept = from;
  for (size_t i = from; i < ps->pending.n; i++) {
    ptx_pending u = ps->pending.data[i];
    const ptx_name *nm = &ps->t->names[u.name];
    if (nm->sym && nm->scope == ps->depth)
      ps->m->opnds[u.opnd].sym = nm->sym;
    else
      ps->pending.data[kept++] = u;
  }
  ps->pending.n = kept;
  ptx_unbind(ps, ps->scope[ps->depth].undo);
  ps->depth--;
  if (ps->depth == 0) ptx_resolve_rest(ps, from);
}
