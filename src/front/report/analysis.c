/* The results of one kernel's analysis, as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/container.h"
#include "report/analysis.h"

/* ---- One kernel --------------------------------------------------------------------------- */

/* Bases in the order in which they come up, with the kinds of their accesses. */
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
    report_put_base(a, s, out);
    hd_buf_puts(out, reads && writes ? " read and written"
                     : writes        ? " written"
                     : reads         ? " read"
                                     : " prefetched");
  }
  hd_buf_puts(out, n ? "\n" : " none that a parameter names\n");
}

static void put_loops(const hd_analysis *a, bool cut, hd_buf *out) {
  for (uint32_t l = 0; l < a->cfg.n_loops; l++) {
    const hd_loop *loop = &a->cfg.loops[l];
    hd_buf rounds = {0};
    if (a->loop_values[l].rounds != HD_NONE) hd_poly_print(a, a->loop_values[l].rounds, &rounds);
    hd_buf_printf(out, "loop k%u: line %u, %s%u blocks, ", l + 1, loop->line,
                  loop->depth > 1 ? "inside another, " : "", loop->n_blocks);
    if (!rounds.len)
      hd_buf_puts(out, "runs an unknown number of times\n");
    else if (cut && rounds.len > REPORT_SHORT_FORMULA)
      hd_buf_printf(out, "runs %.*s... times\n", REPORT_SHORT_FORMULA - 3, rounds.data);
    else
      hd_buf_printf(out, "runs %s times\n", rounds.data);
    hd_buf_free(&rounds);
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

/* In one line. */
static void put_verdict(const hd_analysis_page *p, hd_buf *out) {
  if (!p->n_refusals)
    hd_buf_puts(out, "order of the CTAs: nothing in the code bars changing it\n");
  else if (p->refusals[0].line)
    hd_buf_printf(out, "order of the CTAs: fixed, line %u: %s\n", p->refusals[0].line, p->refusals[0].what);
  else
    hd_buf_printf(out, "order of the CTAs: fixed: %s\n", p->refusals[0].what);
}

/* The quantities that decide how the CTA's number is divided: "m and n". */
static void put_deciding(const hd_analysis *a, hd_buf *out) {
  const hd_tiles *t = &a->tiles;
  for (uint32_t i = 0; i < t->n_params; i++) {
    hd_buf_puts(out, !i ? "" : i + 1 == t->n_params ? " and " : ", ");
    hd_param_print(a, t->params[i], out);
  }
  if (!t->n_params) hd_buf_puts(out, "constants");
}

static void put_tiles(const hd_analysis *a, hd_buf *out) {
  const hd_tiles *t = &a->tiles;
  if (a->at_launch) hd_buf_puts(out, "at this launch: numbers stand for its arguments\n");
  if (t->answer == HD_TILES_NONE) return;
  hd_buf_puts(out, "tiles: ");
  if (t->loop != HD_NONE)
    hd_buf_printf(out, "loop k%u, line %u, goes through them in steps of the grid's size; ", t->loop + 1,
                  a->cfg.loops[t->loop].line);
  if (t->line) {
    hd_buf_printf(out, "line %u divides the CTA's number, by ", t->line);
    put_deciding(a, out);
    hd_buf_puts(out, "; ");
  }
  if (t->answer == HD_TILES_LAUNCH) hd_buf_puts(out, "the accesses follow the launch's own ids\n");
  if (t->answer == HD_TILES_UNKNOWN) hd_buf_puts(out, "no shape is known that names each tile once\n");
  if (t->answer != HD_TILES_FOUND) return;
  hd_buf_printf(out, "%u x %u x %u tiles, %s", t->n[0], t->n[1], t->n[2],
                t->shape.kind == HD_SHAPE_LAUNCH ? "in an order of the kernel's own" : "shape=");
  hd_shape_print(&t->shape, out);
  hd_buf_putc(out, '\n');
}

void hd_report_analysis(hd_analysis *a, const hd_analysis_page *p, hd_buf *out) {
  hd_coverage c = {0};
  hd_coverage_add(&c, a);
  uint64_t good = c.levels[HD_LEVEL_LAUNCH] + c.levels[HD_LEVEL_AFFINE], conditions = 0;
  hd_kernel_title(a->module->syms[a->module->funcs[a->func].sym].name, false, out);
  hd_buf_printf(out,
                ": %u instructions, %u loop%s, %u access%s to global memory: %" PRIu64 " affine, %" PRIu64
                " quasi-affine, %" PRIu64 " neither\n",
                a->cfg.n_insts, a->cfg.n_loops, a->cfg.n_loops == 1 ? "" : "s", a->n_sites,
                a->n_sites == 1 ? "" : "es", good, c.levels[HD_LEVEL_QUASI],
                c.sites - good - c.levels[HD_LEVEL_QUASI]);
  put_tiles(a, out);
  put_arrays(a, out);
  put_loops(a, p->cut, out);
  put_verdict(p, out);
  if (a->over_budget) hd_buf_puts(out, "over the budget: what is marked so was not worked out\n");
  if (!a->n_sites) return;
  hd_buf_putc(out, '\n');
  report_put_accesses(a, p, out);
  for (uint32_t i = 0; i < a->n_sites; i++) conditions += a->sites[i].n_assumptions;
  if (p->verbose) {
    hd_buf_putc(out, '\n');
    put_conditions(a, out);
  } else if (conditions) {
    hd_buf_puts(out,
                "\nSome addresses hold only where 32-bit numbers did not wrap; -v lists the conditions.\n");
  }
}
