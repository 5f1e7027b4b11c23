/* Links several modules into one text. */
#include <string.h>

#include "heddle/ptx.h"

typedef struct linker {
  hd_arena arena;
  hd_ptx_module **modules;
  size_t n;
} linker;

typedef struct item {
  const char *name;
  unsigned linkage;
  bool defined; /* not a declaration alone */
} item;

static item item_of(const hd_ptx_module *m, const hd_ptx_item *i) {
  if (i->kind == HD_I_FUNC) {
    const hd_ptx_func *f = &m->funcs[i->index];
    return (item){m->syms[f->sym].name, f->linkage, f->has_body};
  }
  if (i->kind != HD_I_VAR) return (item){0};
  const hd_ptx_var *v = &m->vars[i->index];
  return (item){m->syms[v->sym].name, v->linkage, !(v->linkage & HD_LINK_EXTERN)};
}

enum { SHARED_NAMES = HD_LINK_EXTERN | HD_LINK_VISIBLE | HD_LINK_WEAK | HD_LINK_COMMON };

/* How the module defines it; 0: it does not. */
static unsigned defined_in(const hd_ptx_module *m, const char *name) {
  for (uint32_t k = 0; k < m->n_items; k++) {
    const item i = item_of(m, &m->items[k]);
    if (i.name && i.defined && i.linkage & SHARED_NAMES && strcmp(i.name, name) == 0) return i.linkage;
  }
  return 0;
}

/* Whether the item may be left out: an earlier module defines it, or it is a declaration of a variable that
 * any other defines. */
static bool redundant(const linker *l, size_t at, const hd_ptx_item *x) {
  const item i = item_of(l->modules[at], x);
  if (!i.name || !(i.linkage & SHARED_NAMES)) return false;
  for (size_t k = 0; k < l->n; k++) {
    if (k == at || (k > at && (i.defined || x->kind == HD_I_FUNC))) continue;
    if (i.defined && !(i.linkage & (HD_LINK_WEAK | HD_LINK_COMMON)))
      continue; /* twice: an error, seen later */
    if (defined_in(l->modules[k], i.name)) return true;
  }
  return false;
}

/* Names that a module keeps to itself may occur in others, too. */
static hd_status separate(linker *l, size_t at, hd_diag *d) {
  hd_ptx_module *m = l->modules[at];
  for (uint32_t k = 0; k < m->n_items; k++) {
    const item i = item_of(m, &m->items[k]);
    if (!i.name || i.linkage & SHARED_NAMES) continue;
    if (m->items[k].kind == HD_I_FUNC && m->funcs[m->items[k].index].entry) continue;
    const hd_sym s =
        m->items[k].kind == HD_I_FUNC ? m->funcs[m->items[k].index].sym : m->vars[m->items[k].index].sym;
    char *name = hd_arena_printf(&l->arena, "%s__%zu", m->syms[s].name, at);
    if (!name) return hd_nomem(d);
    m->syms[s].name = name;
    m->syms[s].len = (uint32_t)strlen(name);
  }
  return HD_OK;
}

/* Functions that are another module's are declared as that defines them: in one text they are not .extern. */
static void declare(linker *l, size_t at) {
  hd_ptx_module *m = l->modules[at];
  for (uint32_t f = 0; f < m->n_funcs; f++)
    for (size_t k = 0; k < l->n && m->funcs[f].sym && m->funcs[f].linkage & HD_LINK_EXTERN; k++) {
      const unsigned linkage = defined_in(l->modules[k], m->syms[m->funcs[f].sym].name);
      if (linkage) m->funcs[f].linkage = (uint8_t)linkage;
    }
}

/* Variables of all modules come first, so that those of one are known in the others. */
static hd_status print_items(linker *l, bool variables, hd_buf *out, hd_diag *d) {
  hd_status st = HD_OK;
  for (size_t k = 0; st == HD_OK && k < l->n; k++) {
    hd_ptx_module part = *l->modules[k];
    part.items = HD_NEW_N(&l->arena, part.n_items + 1, hd_ptx_item);
    if (!part.items) return hd_nomem(d);
    part.n_items = 0;
    for (uint32_t i = 0; i < l->modules[k]->n_items; i++) {
      const hd_ptx_item *x = &l->modules[k]->items[i];
      if ((x->kind == HD_I_VAR) == variables && x->kind != HD_I_RAW && !redundant(l, k, x))
        part.items[part.n_items++] = *x;
    }
    hd_buf text = {0};
    if (hd_ptx_print(&part, &text) != HD_OK || text.failed) st = hd_nomem(d);
    /* The heads of all but the first are left out: three directives, up to the first item. */
    const char *from = text.data;
    if (st == HD_OK && (k || !variables) && from) {
      const char *end = strstr(from, ".address_size");
      from = end ? end + strcspn(end, "\n") : from;
    }
    if (st == HD_OK && from) hd_buf_puts(out, from);
    hd_buf_free(&text);
  }
  return st == HD_OK && out->failed ? hd_nomem(d) : st;
}

hd_status hd_ptx_link(const char *const *texts, size_t n, hd_buf *out, hd_diag *d) {
  linker l = {.n = n};
  hd_arena_init(&l.arena);
  l.modules = HD_NEW_N(&l.arena, l.n + 1, hd_ptx_module *);
  hd_status st = l.modules ? HD_OK : hd_nomem(d);
  for (size_t k = 0; st == HD_OK && k < l.n; k++) {
    st = hd_ptx_parse(texts[k], strlen(texts[k]), "the program's image", &l.arena, &l.modules[k], d);
    if (st == HD_OK) st = separate(&l, k, d);
  }
  for (size_t k = 0; st == HD_OK && k < l.n; k++) declare(&l, k);
  if (st == HD_OK) st = print_items(&l, true, out, d);
  if (st == HD_OK) st = print_items(&l, false, out, d);
  hd_arena_free(&l.arena);
  return st;
}
