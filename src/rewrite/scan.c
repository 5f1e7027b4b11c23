/* A kernel and what it reaches, one function at a time; what is found to bar a plan. */
#include <stdio.h>
#include <stdlib.h>

#include "rewrite/rewrite_internal.h"

void rewrite_scan_refuse(rewrite_scan *s, hd_refusal_kind kind, const hd_ptx_stmt *st, const char *why) {
  if (s->n++ >= s->cap) return;
  hd_refusal *r = &s->out[s->n - 1];
  hd_buf text = {0};
  if (st) hd_ptx_print_stmt(s->m, st, &text);
  *r = (hd_refusal){.kind = kind, .line = st ? st->line : 0};
  snprintf(r->what, sizeof r->what, "%.120s%s%s", text.data ? text.data : "", text.len ? ": " : "", why);
  for (char *p = r->what; *p; p++)
    if (*p == '\n' || *p == '\t') *p = ' ';
  hd_buf_free(&text);
}

bool rewrite_scan_begin(rewrite_scan *s, const hd_ptx_module *m, uint32_t func, hd_refusal *out, size_t cap) {
  *s = (rewrite_scan){.m = m,
                      .out = out,
                      .cap = cap,
                      .seen = calloc((size_t)m->n_funcs + 1, 1),
                      .forms = calloc((size_t)m->n_forms + 1, 1),
                      .pending = calloc((size_t)m->n_funcs + 1, sizeof *s->pending)};
  if (s->seen && s->forms && s->pending) {
    rewrite_scan_reach(s, func);
    return true;
  }
  rewrite_scan_refuse(s, HD_REFUSE_NO_MEMORY, NULL, "out of memory while looking at the kernel");
  return false;
}

void rewrite_scan_end(rewrite_scan *s) {
  free(s->seen);
  free(s->forms);
  free(s->pending);
}

const hd_ptx_func *rewrite_scan_next(rewrite_scan *s) {
  return s->n_pending ? &s->m->funcs[s->pending[--s->n_pending]] : NULL;
}

void rewrite_scan_reach(rewrite_scan *s, uint32_t func) {
  if (!s->m->funcs[func].has_body || s->seen[func]) return;
  s->seen[func] = 1;
  s->pending[s->n_pending++] = func;
}
