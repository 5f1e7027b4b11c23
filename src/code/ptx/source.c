/* Lines of the source that a module was compiled from, by its .loc and .file. */
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx.h"

/* The last part of the path that ".file NUMBER "PATH"" gives. */
static void find_file(const hd_ptx_module *m, uint64_t number, hd_ptx_source *out) {
  static const char word[] = ".file";
  for (uint32_t i = 0; i < m->n_items; i++) {
    if (m->items[i].kind != HD_I_RAW) continue;
    const char *text = m->syms[m->items[i].index].name;
    if (strncmp(text, word, sizeof word - 1) != 0) continue;
    const char *begin = strchr(text, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;
    if (!end || strtoull(text + sizeof word - 1, NULL, 10) != number) continue;
    for (const char *p = ++begin; p < end; p++)
      if (*p == '/') begin = p + 1;
    out->file = begin;
    out->file_len = (size_t)(end - begin);
    return;
  }
}

/* The nearest .loc in front; line 0 there is of no line. */
hd_ptx_source hd_ptx_source_of(const hd_ptx_module *m, uint32_t func, uint32_t stmt) {
  const hd_ptx_func *f = &m->funcs[func];
  hd_ptx_source out = {.file = ""};
  for (uint32_t i = stmt; i-- > 0 && !out.line;) {
    if (f->stmts[i].kind != HD_S_LOC) continue;
    char *end;
    uint64_t number = strtoull(m->syms[f->stmts[i].sym].name, &end, 10);
    out.line = (uint32_t)strtoull(end, NULL, 10);
    if (out.line) find_file(m, number, &out);
  }
  return out;
}

hd_ptx_source hd_ptx_source_at(const hd_ptx_module *m, uint32_t line) {
  for (uint32_t k = 0; k < m->n_funcs; k++) {
    const hd_ptx_func *f = &m->funcs[k];
    for (uint32_t i = 0; i < f->n_stmts; i++)
      if (f->stmts[i].kind == HD_S_INST && f->stmts[i].line == line) return hd_ptx_source_of(m, k, i);
  }
  return (hd_ptx_source){.file = ""};
}
