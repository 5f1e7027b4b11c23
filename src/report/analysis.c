/* What an analysis found, for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/report.h"
#include "report/table.h"

enum { SHORT_FORMULA = 72 };

/* ---- Coverage ------------------------------------------------------------------------- */

void hd_coverage_add(hd_coverage *c, const hd_analysis *a) {
  c->kernels++;
  c->over_budget += a->over_budget;
  for (uint32_t i = 0; i < a->n_sites; i++) {
    c->sites++;
    c->levels[a->sites[i].level]++;
    c->whys[a->sites[i].why]++;
  }
}

static double percent(uint64_t part, uint64_t whole) {
  return whole ? 100.0 * (double)part / (double)whole : 0;
}

void hd_report_coverage(const hd_coverage *c, hd_buf *out) {
  hd_buf_printf(out,
                "%" PRIu64 " modules, %" PRIu64 " kernels (%" PRIu64 " failed, %" PRIu64
                " over the budget), %" PRIu64 " accesses to global memory\n\n",
                c->modules, c->kernels, c->failed, c->over_budget, c->sites);
  hd_text_table *t = hd_text_table_new("lrrl");
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {"address", "accesses", "share", "because of"};
  report_put_head(t, head, sizeof head / sizeof *head);
  hd_text_table_rule(t);
  for (int l = 0; l < HD_LEVEL_COUNT; l++) {
    if (!c->levels[l]) continue;
    hd_text_table_cell(t, "%s", hd_level_name((hd_level)l));
    hd_text_table_cell(t, "%" PRIu64, c->levels[l]);
    hd_text_table_cell(t, "%.1f%%", percent(c->levels[l], c->sites));
    hd_text_table_cell(t, "%s", "");
  }
  for (int w = HD_WHY_NONE + 1; w < HD_WHY_COUNT; w++) {
    if (!c->whys[w]) continue;
    hd_text_table_cell(t, "  %s", hd_why_name((hd_why)w));
    hd_text_table_cell(t, "%" PRIu64, c->whys[w]);
    hd_text_table_cell(t, "%.1f%%", percent(c->whys[w], c->sites));
    hd_text_table_cell(t, "%s", hd_why_text((hd_why)w));
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

/* ---- One kernel --------------------------------------------------------------------------- */

static void put_base(const hd_analysis *a, const hd_site *s, hd_buf *out) {
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

/* Cut to `most` bytes unless that is 0. */
static void cell_poly(hd_text_table *t, const hd_analysis *a, hd_poly p, size_t most) {
  hd_buf b = {0};
  hd_poly_print(a, p, &b);
  if (most && b.len > most)
    hd_text_table_cell(t, "%.*s...", (int)most - 3, b.data);
  else
    hd_text_table_cell(t, "%s", b.data ? b.data : "");
  hd_buf_free(&b);
}

/* Variables that some address of the kernel has: one column each. */
typedef struct column {
  hd_symbol symbol;
  char name[24];
} column;
enum { MAX_COLUMNS = 10 };

static unsigned find_columns(const hd_analysis *a, column *out) {
  static const char part[] = "xyz";
  unsigned n = 0;
  for (uint32_t kind = HD_V_TID; kind <= HD_V_COUNTER; kind++)
    for (uint32_t i = 0; i < (kind == HD_V_COUNTER ? a->cfg.n_loops : 3) && n < MAX_COLUMNS; i++) {
      hd_symbol s = hd_find_symbol(a, (hd_symbol_kind)kind, i, 0);
      if (s == HD_NONE) continue;
      out[n].symbol = s;
      if (kind == HD_V_COUNTER)
        snprintf(out[n].name, sizeof out[n].name, "k%u", i + 1);
      else
        snprintf(out[n].name, sizeof out[n].name, "%s.%c", kind == HD_V_TID ? "tid" : "ctaid", part[i]);
      n++;
    }
  return n;
}

static void put_accesses(hd_analysis *a, const hd_analysis_page *p, hd_buf *out) {
  column columns[MAX_COLUMNS];
  unsigned n = find_columns(a, columns);
  char aligns[MAX_COLUMNS + 8] = "rlrl";
  memset(aligns + 4, 'l', n);
  memcpy(aligns + 4 + n, "rl", sizeof "rl");
  hd_text_table *t = hd_text_table_new(aligns);
  if (!t) {
    out->failed = true;
    return;
  }
  static const char *const head[] = {"line", "access", "bytes", "array"};
  report_put_head(t, head, sizeof head / sizeof *head);
  for (unsigned c = 0; c < n; c++) hd_text_table_cell(t, "per %s", columns[c].name);
  hd_text_table_cell(t, "sectors");
  hd_text_table_cell(t, "address");
  hd_text_table_rule(t);
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    hd_buf base = {0};
    put_base(a, s, &base);
    hd_text_table_cell(t, "%u", s->line);
    hd_text_table_cell(t, "%s", hd_site_kind_name((hd_site_kind)s->kind));
    hd_text_table_cell(t, s->bytes ? "%u" : "-", s->bytes);
    hd_text_table_cell(t, "%s", base.data ? base.data : "");
    hd_buf_free(&base);
    for (unsigned c = 0; c < n; c++) {
      hd_poly stride;
      if (s->level >= HD_LEVEL_DATA)
        hd_text_table_cell(t, "?");
      else if (!hd_poly_stride(a, s->address, columns[c].symbol, &stride))
        hd_text_table_cell(t, "varies");
      else
        cell_poly(t, a, stride, p->verbose ? 0 : 24);
    }
    hd_coalescing co = p->at ? hd_site_coalescing(a, i, p->at, 0) : (hd_coalescing){0};
    if (co.known)
      hd_text_table_cell(t, "%u", co.sectors);
    else
      hd_text_table_cell(t, "-");
    if (s->level < HD_LEVEL_NONLINEAR)
      cell_poly(t, a, s->address, p->verbose ? 0 : SHORT_FORMULA);
    else if (s->why_line)
      hd_text_table_cell(t, "%s: %s, line %u", hd_level_name((hd_level)s->level), hd_why_text((hd_why)s->why),
                         s->why_line);
    else
      hd_text_table_cell(t, "%s: %s", hd_level_name((hd_level)s->level), hd_why_text((hd_why)s->why));
  }
  hd_text_table_print(t, out);
  hd_text_table_free(t);
}

/* Bases in the order in which they come up, with what is done to them. */
static void put_arrays(const hd_analysis *a, hd_buf *out) {
  hd_buf_puts(out, "arrays:");
  unsigned n = 0;
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    bool first = true, reads = false, writes = false;
    for (uint32_t k = 0; k < a->n_sites; k++) {
      const hd_site *o = &a->sites[k];
      if (o->param != s->param || o->var != s->var || o->param_offset != s->param_offset) continue;
      first &= k >= i;
      reads |= hd_site_reads((hd_site_kind)o->kind);
      writes |= hd_site_writes((hd_site_kind)o->kind);
    }
    if (!first || (s->param == HD_NONE && s->var == HD_NONE)) continue;
    hd_buf_puts(out, n++ ? ", " : " ");
    put_base(a, s, out);
    hd_buf_puts(out, reads && writes ? " read and written"
                     : writes        ? " written"
                     : reads         ? " read"
                                     : " prefetched");
  }
  hd_buf_puts(out, n ? "\n" : " none that a parameter names\n");
}

static void put_loops(const hd_analysis *a, bool verbose, hd_buf *out) {
  for (uint32_t l = 0; l < a->cfg.n_loops; l++) {
    const hd_loop *loop = &a->cfg.loops[l];
    hd_buf trips = {0};
    if (a->loop_values[l].trips != HD_NONE) hd_poly_print(a, a->loop_values[l].trips, &trips);
    hd_buf_printf(out, "loop k%u: line %u, %s%u blocks, goes round ", l + 1, loop->line,
                  loop->depth > 1 ? "inside another, " : "", loop->n_blocks);
    if (!trips.len)
      hd_buf_puts(out, "an unknown number of times\n");
    else if (!verbose && trips.len > SHORT_FORMULA)
      hd_buf_printf(out, "%.*s... times\n", SHORT_FORMULA - 3, trips.data);
    else
      hd_buf_printf(out, "%s times\n", trips.data);
    hd_buf_free(&trips);
  }
}

static void put_conditions(const hd_analysis *a, hd_buf *out) {
  for (uint32_t i = 0; i < a->n_sites; i++) {
    const hd_site *s = &a->sites[i];
    if (!s->n_guards && !s->n_assumptions) continue;
    hd_buf_printf(out, "line %u:\n", s->line);
    for (uint32_t k = 0; k < s->n_guards; k++) {
      hd_buf_puts(out, k ? "       and " : "  runs if ");
      hd_guard_print(a, a->guards[s->first_guard + k].poly, out);
      hd_buf_putc(out, '\n');
    }
    if (!s->guards_complete) hd_buf_puts(out, "  and maybe other conditions\n");
    for (uint32_t k = 0; k < s->n_assumptions; k++) {
      hd_buf_puts(out, "  assuming ");
      hd_assumption_print(a, &a->assumptions[a->assumption_lists[s->first_assumption + k]], out);
      hd_buf_putc(out, '\n');
    }
  }
}

void hd_report_analysis(hd_analysis *a, const hd_analysis_page *p, hd_buf *out) {
  hd_coverage c = {0};
  hd_coverage_add(&c, a);
  uint64_t good = c.levels[HD_LEVEL_LAUNCH] + c.levels[HD_LEVEL_AFFINE], conditions = 0;
  hd_buf_printf(out,
                "%s: %u instructions, %u loops, %u accesses to global memory: %" PRIu64 " affine, %" PRIu64
                " quasi-affine, %" PRIu64 " neither\n",
                a->module->syms[a->module->funcs[a->func].sym].name, a->cfg.n_insts, a->cfg.n_loops,
                a->n_sites, good, c.levels[HD_LEVEL_QUASI], c.sites - good - c.levels[HD_LEVEL_QUASI]);
  put_arrays(a, out);
  put_loops(a, p->verbose, out);
  if (p->verdict) hd_buf_printf(out, "%s\n", p->verdict);
  if (a->over_budget) hd_buf_puts(out, "over the budget: what is marked so was not worked out\n");
  if (!a->n_sites) return;
  hd_buf_putc(out, '\n');
  put_accesses(a, p, out);
  for (uint32_t i = 0; i < a->n_sites; i++) conditions += a->sites[i].n_assumptions;
  if (p->verbose) {
    hd_buf_putc(out, '\n');
    put_conditions(a, out);
  } else if (conditions) {
    hd_buf_puts(out,
                "\nSome addresses hold only where 32-bit numbers did not wrap; -v lists the conditions.\n");
  }
}
