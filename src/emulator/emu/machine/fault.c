/* emu/machine/fault.c: how a launch ends early, and accesses that a GPU would not notice. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/machine/grid.h"
#include "heddle/container.h"

static const hd_ptx_module *module_of(const hd_emu_grid *g, const emu_code *code) {
  return code->program ? code->program->module : g->program->module;
}

static void describe_place(const emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask,
                           hd_buf *b) {
  const emu_cta *c = m->w.cta;
  const hd_emu_grid *g = c->grid;
  const hd_ptx_func *func = code->func;
  if (i && func && i->stmt < func->n_stmts) {
    hd_buf_puts(b, ": ");
    hd_ptx_print_stmt(module_of(g, code), &func->stmts[i->stmt], b);
  }
  const unsigned lane = m->issuer ? m->issuer - 1 : mask ? (unsigned)__builtin_ctz(mask) : 0;
  uint32_t(*tid)[HD_WARP] = g->tid[m->w.index];
  hd_buf_puts(b, ", in ");
  hd_kernel_title(code->name, false, b);
  if (code != g->code) hd_buf_puts(b, " called from ");
  if (code != g->code) hd_kernel_title(g->code->name, false, b);
  hd_buf_printf(b, ", CTA (%u,%u,%u), thread (%u,%u,%u)", c->id[0], c->id[1], c->id[2], tid[0][lane],
                tid[1][lane], tid[2][lane]);
}

static void describe(emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask, hd_status st,
                     hd_fault kind, const char *fmt, va_list ap, hd_diag *out) {
  const char *name = module_of(m->w.cta->grid, code)->name;
  char what[512];
  vsnprintf(what, sizeof what, fmt, ap);
  hd_buf place = {0}, text = {0};
  describe_place(m, code, i, mask, &place);
  if (i && code->func && i->stmt < code->func->n_stmts)
    hd_ptx_print_stmt(module_of(m->w.cta->grid, code), &code->func->stmts[i->stmt], &text);
  hd_fail(out, st, "%s%s", what, place.data && !place.failed ? place.data : "");
  snprintf(out->file, sizeof out->file, "%s", name ? name : "");
  snprintf(out->source, sizeof out->source, "%s", text.data && !text.failed ? text.data : "");
  out->fault = kind;
  out->line = i ? i->line : 0;
  out->column = i ? 1 : 0;
  hd_buf_free(&place);
  hd_buf_free(&text);
}

static void record(emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask, hd_status st,
                   hd_fault kind, const char *fmt, va_list ap) {
  emu_cta *c = m->w.cta;
  hd_emu_grid *g = c->grid;
  hd_diag d = {0};
  describe(m, code, i, mask, st, kind, fmt, ap, &d);
  pthread_mutex_lock(&g->lock);
  const uint64_t earlier = g->fault_ordinal;
  if (earlier == UINT64_MAX || (g->ordered && c->ordinal < earlier)) {
    g->fault = d;
    atomic_store_explicit(&g->fault_ordinal, c->ordinal, memory_order_relaxed);
  }
  pthread_mutex_unlock(&g->lock);
  m->stop = NULL;
}

void emu_fault_at(emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask, hd_fault kind,
                  const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  record(m, code, i, mask, HD_ERR_FAULT, kind, fmt, ap);
  va_end(ap);
}

void emu_fault(emu_warp *w, const emu_inst *i, uint32_t mask, hd_fault kind, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  record((emu_mwarp *)w, w->current->frame->code, i, mask, HD_ERR_FAULT, kind, fmt, ap);
  va_end(ap);
}

void emu_nomem_at(emu_mwarp *m, const emu_code *code, const emu_inst *i, uint32_t mask, const char *fmt,
                  ...) {
  va_list ap;
  va_start(ap, fmt);
  record(m, code, i, mask, HD_ERR_NOMEM, HD_FAULT_NONE, fmt, ap);
  va_end(ap);
}

void emu_nomem(emu_warp *w, const emu_inst *i, uint32_t mask, const char *what) {
  emu_nomem_at((emu_mwarp *)w, w->current->frame->code, i, mask, "out of memory for %s", what);
}

/* ---- Accesses that a GPU does not notice ----------------------------------- */

/* The slot of an instruction's first stray access: NULL when this CTA's is no earlier. The caller holds the
 * lock. */
static emu_stray *claim(hd_emu_grid *g, const emu_cta *c, const emu_inst *i) {
  for (size_t k = 0; k < g->strays.n; k++) {
    emu_stray *s = &g->strays.data[k];
    if (s->at != i) continue;
    if (s->ordinal <= c->ordinal) return NULL;
    s->ordinal = c->ordinal;
    return s;
  }
  emu_stray s = {i, c->ordinal, malloc(sizeof *s.what)};
  if (s.what && hd_vec_push(&g->strays, s)) return &g->strays.data[g->strays.n - 1];
  free(s.what);
  return NULL; /* no memory: it is not told */
}

void emu_stray_note(emu_warp *w, const emu_inst *i, uint32_t mask, hd_fault kind, const char *fmt, ...) {
  hd_emu_grid *g = w->cta->grid;
  va_list ap;
  va_start(ap, fmt);
  pthread_mutex_lock(&g->lock);
  emu_stray *s = claim(g, w->cta, i);
  if (s) describe((emu_mwarp *)w, w->current->frame->code, i, mask, HD_ERR_FAULT, kind, fmt, ap, s->what);
  pthread_mutex_unlock(&g->lock);
  va_end(ap);
}

static int by_line(const void *a, const void *b) {
  const emu_stray *x = a, *y = b;
  return (x->what->line > y->what->line) - (x->what->line < y->what->line);
}

void emu_strays_tell(hd_emu_grid *g) {
  hd_emu_strays *to = g->told ? g->told : g->unwritten;
  if (g->strays.n) qsort(g->strays.data, g->strays.n, sizeof *g->strays.data, by_line);
  for (size_t k = 0; k < g->strays.n; k++)
    if (!hd_vec_push(to, *g->strays.data[k].what)) break;
}

void emu_strays_free(hd_emu_grid *g) {
  for (size_t k = 0; k < g->strays.n; k++) free(g->strays.data[k].what);
  hd_vec_free(&g->strays);
}
