/* A walk over a kernel and the functions it reaches, one at a time, which collects refusals. */
#include <setjmp.h>
#include <stdio.h>

#include "rewrite/rewrite_internal.h"

void rewrite_scan_refuse(rewrite_scan *s, hd_refusal_kind kind, const hd_ptx_stmt *st, const char *why) {
  if (s->n++ >= s->cap) return;
  hd_refusal *r = &s->out[s->n - 1];
  hd_buf text = {0};
  if (st) hd_ptx_print_stmt(s->m, st, &text);
  *r = (hd_refusal){.kind = kind, .line = st ? st->line : 0};
  if (text.len) r->reason = (uint16_t)snprintf(r->what, sizeof r->what, "%.120s: ", text.data);
  snprintf(r->what + r->reason, sizeof r->what - r->reason, "%s", why);
  for (char *p = r->what; *p; p++)
    if (*p == '\n' || *p == '\t') *p = ' ';
  hd_buf_free(&text);
}

bool rewrite_scan_begin(rewrite_scan *s, const hd_ptx_module *m, uint32_t func, hd_refusal *out, size_t cap) {
  jmp_buf out_of_memory;
  *s = (rewrite_scan){.m = m, .out = out, .cap = cap};
  hd_arena_init(&s->arena);
  s->arena.escape = &out_of_memory;
  if (setjmp(out_of_memory)) {
    rewrite_scan_refuse(s, HD_REFUSE_NO_MEMORY, NULL, "out of memory while looking at the kernel");
    return false;
  }
  s->forms = HD_NEW_N(&s->arena, m->n_forms + 1u, uint8_t);
  hd_reach_find(m, func, &s->arena, &s->reach);
  s->arena.escape = NULL; /* nothing more is allocated here */
  return true;
}

void rewrite_scan_end(rewrite_scan *s) { hd_arena_free(&s->arena); }

const hd_ptx_func *rewrite_scan_next(rewrite_scan *s) {
  return s->next < s->reach.n ? &s->m->funcs[s->reach.funcs[s->next++]] : NULL;
}

/* ---- Calls inlined ------------------------------------------------------------------- */

static bool passes_registers(const hd_ptx_module *m, const hd_ptx_func *f) {
  for (uint32_t i = 0; i < f->n_params; i++)
    if (m->vars[f->first_param + i].space == HD_M_REG) return true;
  for (uint32_t i = 0; i < f->n_rets; i++)
    if (m->vars[f->first_ret + i].space == HD_M_REG) return true;
  return false;
}

bool rewrite_can_inline(const rewrite_scan *s) {
  for (uint32_t i = 1; i < s->reach.n; i++)
    if (passes_registers(s->m, &s->m->funcs[s->reach.funcs[i]])) return false;
  return true;
}

bool rewrite_is_whole(const hd_cfg *g) {
  for (uint32_t i = 0; i < g->n_insts; i++) {
    if (!(hd_inst_form(g, i)->flags & HD_OPF_CALLS) || g->insts[i].body) continue;
    uint32_t callee = hd_callee(g->module, hd_inst_stmt(g, i));
    if (callee != HD_NONE && g->module->funcs[callee].has_body) return false;
  }
  return true;
}
