/* Finds the PTX in the images that programs load, and links several texts into one module. */
#include <stdlib.h>
#include <string.h>

#include "cuda/core/core.h"
#include "heddle/container.h"

/* ---- Images ---------------------------------------------------------------------------------- */

void core_image_free(core_image *i) {
  for (size_t k = 0; k < i->texts.n; k++) free(i->texts.data[k]);
  hd_vec_free(&i->texts);
}

static hd_status keep(core_image *i, const char *text, size_t n, hd_diag *d) {
  char *copy = malloc(n + 1);
  if (!copy || !hd_vec_push(&i->texts, copy)) {
    free(copy);
    return hd_nomem(d);
  }
  memcpy(copy, text, n);
  copy[n] = 0;
  return HD_OK;
}

typedef struct candidate {
  char *text; /* NULL: none */
  size_t len;
  unsigned sm;
} candidate;

static hd_status take(candidate *c, const hd_ptx_text *t, hd_diag *d) {
  char *copy = realloc(c->text, t->len + 1);
  if (!copy) return hd_nomem(d);
  memcpy(copy, t->data, t->len);
  *c = (candidate){copy, t->len, t->sm};
  return HD_OK;
}

static hd_status no_text(const candidate *newer, unsigned arch, hd_diag *d) {
  if (newer->text)
    return hd_fail(
        d, HD_ERR_UNSUPPORTED,
        "the program's PTX is for sm_%u, which is newer than the GPU, sm_%u: compile it with -arch=sm_%u",
        newer->sm, arch, arch);
  return hd_fail(d, HD_ERR_UNSUPPORTED,
                 "the program has no PTX for sm_%u, only machine code: compile it with -arch=sm_%u, or with "
                 "-gencode arch=compute_%u,code=compute_%u",
                 arch, arch, arch, arch);
}

/* Keeps one of a fatbin's texts, which are one per architecture: the newest that `arch` runs, else the oldest
 * newer one. */
static hd_status best_text(core_image *i, hd_container *c, unsigned arch, hd_diag *d) {
  hd_ptx_text t;
  bool more;
  candidate best = {0}, newer = {0};
  hd_status st;
  while ((st = hd_container_next(c, &t, &more, d)) == HD_OK && more) {
    candidate *of = t.sm > arch ? &newer : &best;
    if (!of->text || (of == &newer ? t.sm < of->sm : t.sm > of->sm)) st = take(of, &t, d);
    if (st != HD_OK) break;
  }
  const bool replaces = !best.text && newer.text && hd_container_runs_on(c, arch);
  const candidate *pick = replaces ? &newer : &best;
  if (st == HD_OK) st = pick->text ? keep(i, pick->text, pick->len, d) : no_text(&newer, arch, d);
  i->newer |= st == HD_OK && replaces;
  free(best.text);
  free(newer.text);
  return st;
}

static hd_status add_fatbin(core_image *i, const void *data, size_t n, unsigned arch, hd_diag *d) {
  hd_container *c;
  hd_status st = hd_container_open_memory(data, n, "the program's image", &c, d);
  if (st != HD_OK) return st;
  st = best_text(i, c, arch, d);
  hd_container_close(c);
  return st;
}

static hd_status add_region(core_image *i, const void *data, unsigned arch, hd_diag *d) {
  hd_fatbin_span f;
  hd_status st = hd_fatbin_find(data, &f, d);
  return st == HD_OK ? add_fatbin(i, data, f.bytes, arch, d) : st;
}

/* Of the images that a device link joined, those without PTX are left out: calls of their functions are
 * refused. CUDA's own device runtime is such a one. */
static hd_status add_regions(core_image *i, const void *const *images, unsigned arch, hd_diag *d) {
  const size_t before = i->texts.n;
  hd_status st = HD_OK;
  for (; *images && (st == HD_OK || st == HD_ERR_UNSUPPORTED); images++) st = add_region(i, *images, arch, d);
  return st == HD_ERR_UNSUPPORTED && i->texts.n > before ? HD_OK : st;
}

hd_status core_image_add(core_image *i, const void *image, unsigned arch, hd_diag *d) {
  const void *data;
  switch (hd_module_image_of(image, &data)) {
  case HD_MODULE_FATBIN: return add_region(i, data, arch, d);
  case HD_MODULE_LINKED: return add_regions(i, data, arch, d);
  case HD_MODULE_ELF:
    return hd_fail(d, HD_ERR_UNSUPPORTED,
                   "the program loads machine code (a cubin); heddle runs PTX: have it keep the PTX");
  case HD_MODULE_TEXT: break;
  }
  return keep(i, image, strlen(image), d);
}

hd_status core_image_add_bytes(core_image *i, const void *image, size_t n, unsigned arch, hd_diag *d) {
  const void *data;
  const hd_module_image kind = n >= 4 ? hd_module_image_of(image, &data) : HD_MODULE_TEXT;
  if (kind == HD_MODULE_TEXT) return keep(i, image, n, d);
  return kind == HD_MODULE_FATBIN && data == image ? add_fatbin(i, image, n, arch, d)
                                                   : core_image_add(i, image, arch, d);
}

hd_status core_image_add_archive(core_image *i, const void *data, size_t n, unsigned arch, hd_diag *d) {
  unsigned best = 0;
  bool more = true;
  hd_ptx_text t;
  hd_status st = HD_OK;
  for (int pass = 0; st == HD_OK && pass < 2; pass++) {
    hd_container *c;
    st = hd_container_open_memory(data, n, "the program's library", &c, d);
    if (st != HD_OK) break;
    while ((st = hd_container_next(c, &t, &more, d)) == HD_OK && more) {
      if (!pass && t.sm <= arch && t.sm > best) best = t.sm;
      if (pass && best && t.sm == best) st = keep(i, t.data, t.len, d);
      if (st != HD_OK) break;
    }
    hd_container_close(c);
  }
  return st;
}

/* ---- Linking --------------------------------------------------------------------------------- */

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

static bool defined_in(const hd_ptx_module *m, const char *name) {
  for (uint32_t k = 0; k < m->n_items; k++) {
    const item i = item_of(m, &m->items[k]);
    if (i.name && i.defined && i.linkage & SHARED_NAMES && strcmp(i.name, name) == 0) return true;
  }
  return false;
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
    st = hd_ptx_print(&part, &text);
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

hd_status core_image_link(const core_image *i, hd_buf *out, hd_diag *d) {
  linker l = {.n = i->texts.n};
  hd_arena_init(&l.arena);
  l.modules = HD_NEW_N(&l.arena, l.n + 1, hd_ptx_module *);
  hd_status st = l.modules ? HD_OK : hd_nomem(d);
  for (size_t k = 0; st == HD_OK && k < l.n; k++) {
    st = hd_ptx_parse(i->texts.data[k], strlen(i->texts.data[k]), "the program's image", &l.arena,
                      &l.modules[k], d);
    if (st == HD_OK) st = separate(&l, k, d);
  }
  if (st == HD_OK) st = print_items(&l, true, out, d);
  if (st == HD_OK) st = print_items(&l, false, out, d);
  hd_arena_free(&l.arena);
  return st;
}
