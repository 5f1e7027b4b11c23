/* Lines of CUDA source, from a module's .loc and .file. */
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"

/* The last part of the path that ".file NUMBER "PATH"" gives. */
static void find_file(const hd_ptx_module *m, uint64_t number, report_source *out) {
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
report_source report_source_of(const hd_analysis *a, uint32_t inst) {
  const hd_ptx_module *m = a->module;
  const hd_inst *at = &a->cfg.insts[inst];
  const hd_ptx_func *f = &m->funcs[at->func];
  report_source out = {.file = ""};
  for (uint32_t i = at->stmt; i-- > 0 && !out.line;) {
    if (f->stmts[i].kind != HD_S_LOC) continue;
    char *end;
    uint64_t number = strtoull(m->syms[f->stmts[i].sym].name, &end, 10);
    out.line = (uint32_t)strtoull(end, NULL, 10);
    if (out.line) find_file(m, number, &out);
  }
  return out;
}
