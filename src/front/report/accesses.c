/* The table of a kernel's accesses to global memory. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/analysis.h"
#include "report/table.h"

void report_put_base(const hd_analysis *a, const hd_site *s, hd_buf *out) {
  const hd_ptx_module *m = a->module;
  if (s->param != HD_NONE) {
    hd_param_print(a, s->param, out);
    if (s->param_offset) hd_buf_printf(out, "[%u]", s->param_offset);
  } else if (s->var != HD_NONE) {
    hd_buf_puts(out, m->syms[m->vars[s->var].sym].name);
  } else {
    hd_buf_putc(out, '-');
  }
}

void report_variable_name(hd_symbol_kind kind, uint32_t i, char *out, size_t cap) {
  if (kind == HD_V_COUNTER)
    snprintf(out, cap, "k%u", i + 1);
  else
    snprintf(out, cap, "%s.%c", kind == HD_V_TID ? "tid" : kind == HD_V_CTAID ? "ctaid" : "tile", "xyz"[i]);
}

/* ---- Columns -------------------------------------------------------------------------------- */

/* Variables that some address of the kernel has: one column each. */
typedef struct column {
  hd_symbol symbol;
  char name[24];
} column;
enum { MAX_COLUMNS = 10 };

static unsigned find_columns(const hd_analysis *a, column *out) {
  unsigned n = 0;
  for (uint32_t kind = HD_V_TID; kind <= HD_V_TILE; kind++)
    for (uint32_t i = 0; i < (kind == HD_V_COUNTER ? a->cfg.n_loops : 3) && n < MAX_COLUMNS; i++) {
      hd_symbol s = hd_find_symbol(a, (hd_symbol_kind)kind, i, 0);
      if (s == HD_NONE || (kind == HD_V_CTAID && a->tiles.answer == HD_TILES_FOUND)) continue;
      out[n].symbol = s;
      report_variable_name((hd_symbol_kind)kind, i, out[n].name, sizeof out[n].name);
      n++;
    }
  return n;
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* Sites that differ by a number of bytes alone: copies of one access, as unrolling makes them. */
typedef struct row {
  uint32_t first, n; /* into sites below */
} row;

typedef struct rows {
  hd_analysis *a;
  const hd_analysis_page *page;
  column columns[MAX_COLUMNS];
  unsigned n_columns;
  row *at;
  uint32_t n;
  uint32_t *sites; /* by row, in program order */
  bool sources, copies;
} rows;

/* The address without its number; *number gets that. */
static hd_term const *terms_of(const hd_analysis *a, hd_poly p, uint32_t *n, int64_t *number) {
  const hd_polynomial *q = &a->polys[p];
  const hd_term *t = &a->terms[q->first];
  *n = q->n;
  *number = 0;
  if (*n && !t->product) { /* the number comes first */
    *number = t->coefficient;
    (*n)--;
    t++;
  }
  return t;
}

static int64_t offset_of(const hd_analysis *a, uint32_t site) {
  uint32_t n;
  int64_t number;
  terms_of(a, a->sites[site].address, &n, &number);
  return number;
}

static bool are_copies(const hd_analysis *a, const hd_site *x, const hd_site *y) {
  if (x->kind != y->kind || x->bytes != y->bytes || x->param != y->param ||
      x->param_offset != y->param_offset || x->var != y->var || x->level != y->level ||
      x->level > HD_LEVEL_DATA || x->whole_warp != y->whole_warp)
    return false;
  const hd_cfg *g = &a->cfg;
  if (g->blocks[g->insts[x->inst].block].loop != g->blocks[g->insts[y->inst].block].loop) return false;
  uint32_t n, m;
  int64_t number;
  const hd_term *t = terms_of(a, x->address, &n, &number), *u = terms_of(a, y->address, &m, &number);
  if (n != m) return false;
  for (uint32_t i = 0; i < n; i++)
    if (t[i].coefficient != u[i].coefficient || t[i].product != u[i].product) return false;
  hd_ptx_source s = report_source_of(a, x->inst), r = report_source_of(a, y->inst);
  return s.line == r.line && s.file == r.file;
}

static bool find_rows(rows *r) {
  const hd_analysis *a = r->a;
  uint8_t *taken = calloc(a->n_sites + 1u, 1);
  r->at = calloc(a->n_sites + 1u, sizeof *r->at);
  r->sites = calloc(a->n_sites + 1u, sizeof *r->sites);
  uint32_t n = 0;
  for (uint32_t i = 0; taken && r->at && r->sites && i < a->n_sites; i++) {
    if (taken[i]) continue;
    row *at = &r->at[r->n++];
    at->first = n;
    for (uint32_t k = i; k < a->n_sites; k++) {
      if (taken[k] || (k > i && !are_copies(a, &a->sites[i], &a->sites[k]))) continue;
      taken[k] = 1;
      r->sites[n++] = k;
    }
    at->n = n - at->first;
    r->copies |= at->n > 1;
    r->sources |= report_source_of(a, a->sites[i].inst).line != 0;
  }
  bool ok = taken && r->at && r->sites;
  free(taken);
  return ok;
}

/* ---- Cells ---------------------------------------------------------------------------------- */

/* Cut to `most` bytes unless that is 0. */
static void cell_buf(hd_text_table *t, hd_buf *b, size_t most) {
  if (most && b->len > most)
    hd_text_table_cell(t, "%.*s...", (int)most - 3, b->data);
  else
    hd_text_table_cell(t, "%s", b->data ? b->data : "");
  hd_buf_free(b);
}

static void cell_stride(const rows *r, hd_text_table *t, const hd_site *s, hd_symbol variable) {
  hd_buf b = {0};
  hd_poly stride;
  if (s->level >= HD_LEVEL_DATA || !hd_poly_is_known(r->a, s->address))
    hd_buf_puts(&b, "unknown");
  else if (!hd_poly_stride(r->a, s->address, variable, &stride))
    hd_buf_puts(&b, "varies");
  else
    hd_poly_print(r->a, stride, &b);
  cell_buf(t, &b, r->page->cut ? 24 : 0);
}

/* ", and 4, 8, 12 bytes on" of the copies. */
static void put_copies(const rows *r, const row *at, hd_buf *out) {
  const uint32_t *sites = &r->sites[at->first];
  int64_t first = offset_of(r->a, sites[0]), step = at->n > 1 ? offset_of(r->a, sites[1]) - first : 0;
  bool even = at->n > 3;
  for (uint32_t i = 2; i < at->n && even; i++) even = offset_of(r->a, sites[i]) - first == step * (int64_t)i;
  if (even) {
    hd_buf_printf(out, ", and every %" PRId64 " bytes to %+" PRId64, step, step * (int64_t)(at->n - 1));
    return;
  }
  for (uint32_t i = 1; i < at->n; i++)
    hd_buf_printf(out, "%s%+" PRId64, i > 1 ? ", " : ", and ", offset_of(r->a, sites[i]) - first);
}

static void cell_address(const rows *r, hd_text_table *t, const row *at) {
  const hd_site *s = &r->a->sites[r->sites[at->first]];
  hd_buf b = {0};
  if (s->level < HD_LEVEL_NONLINEAR)
    hd_poly_print(r->a, s->address, &b);
  else
    hd_buf_puts(&b, hd_level_name((hd_level)s->level));
  if (at->n > 1) put_copies(r, at, &b);
  cell_buf(t, &b, r->page->cut ? REPORT_SHORT_FORMULA : 0);
}

static void put_row(const rows *r, hd_text_table *t, const row *at) {
  const uint32_t site = r->sites[at->first];
  const hd_site *s = &r->a->sites[site];
  const hd_point *point = r->page->at;
  hd_buf base = {0}, words = {0};
  hd_text_table_cell(t, "%u", s->line);
  if (r->sources) {
    hd_ptx_source from = report_source_of(r->a, s->inst);
    hd_text_table_cell(t, from.line ? "%.*s:%u" : "-", (int)from.file_len, from.file, from.line);
  }
  if (r->copies) hd_text_table_cell(t, "%u", at->n);
  hd_text_table_cell(t, "%s", hd_site_kind_name((hd_site_kind)s->kind));
  hd_text_table_cell(t, s->bytes ? "%u" : "-", s->bytes);
  report_put_base(r->a, s, &base);
  cell_buf(t, &base, 0);
  for (unsigned c = 0; c < r->n_columns; c++) cell_stride(r, t, s, r->columns[c].symbol);
  hd_coalescing co = point ? hd_site_coalescing(r->a, site, point, 0) : (hd_coalescing){0};
  hd_text_table_cell(t, co.known ? "%u" : "-", co.sectors);
  cell_address(r, t, at);
  report_pattern(r->a, site, point, &words);
  cell_buf(t, &words, 0);
}

static void put_heads(const rows *r, hd_text_table *t) {
  hd_text_table_cell(t, "line");
  if (r->sources) hd_text_table_cell(t, "source");
  if (r->copies) hd_text_table_cell(t, "copies");
  static const char *const heads[] = {"access", "bytes", "array"};
  report_put_head(t, heads, sizeof heads / sizeof *heads);
  for (unsigned c = 0; c < r->n_columns; c++) hd_text_table_cell(t, "per %s", r->columns[c].name);
  static const char *const tails[] = {"sectors", "address", "threads of a warp"};
  report_put_head(t, tails, sizeof tails / sizeof *tails);
  hd_text_table_rule(t);
}

void report_put_accesses(hd_analysis *a, const hd_analysis_page *p, hd_buf *out) {
  rows r = {.a = a, .page = p};
  char aligns[MAX_COLUMNS + 16];
  r.n_columns = find_columns(a, r.columns);
  bool ok = find_rows(&r);
  snprintf(aligns, sizeof aligns, "r%s%slrl%.*srll", r.sources ? "l" : "", r.copies ? "r" : "",
           (int)r.n_columns, "llllllllll");
  hd_text_table *t = ok ? hd_text_table_new(aligns) : NULL;
  if (t) put_heads(&r, t);
  for (uint32_t i = 0; t && i < r.n; i++) put_row(&r, t, &r.at[i]);
  report_put_table(t, out);
  free(r.at);
  free(r.sites);
}
