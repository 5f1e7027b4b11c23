/* The rewrite itself: at entry the CTA works out which task is its own, and every later
 * read of %ctaid reads that instead.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/ptx_facts.h"
#include "rewrite/rewrite_internal.h"

static bool any(const bool want[3]) { return want[0] || want[1] || want[2]; }

/* ---- Building the text at entry --------------------------------------------------- */

/* %~u or %~w: x + gx * (y + gy * z) of the worker, from %ctaid. */
void rewrite_put_worker(const rewrite_job *j, hd_buf *text) {
  const uint32_t *g = j->opt->grid.g;
  bool known = j->opt->grid.known;
  bool one_d = known && g[1] == 1 && g[2] == 1, flat = known && g[2] == 1;
  rewrite_put(j, text, "\t.reg .b32 %%~cx, %%~cy, %%~cz, %%~u;\n");
  if (one_d && !j->wide) {
    rewrite_put(j, text, "\tmov.u32 %%~u, %%ctaid.x;\n");
    return;
  }
  rewrite_put(j, text, "\tmov.u32 %%~cx, %%ctaid.x;\n");
  rewrite_put(j, text, "\tmov.u32 %%~cy, %%ctaid.y;\n");
  if (!flat) rewrite_put(j, text, "\tmov.u32 %%~cz, %%ctaid.z;\n");
  char nx[64] = "%~nx", ny[64] = "%~ny";
  if (known) {
    snprintf(nx, sizeof nx, "%u", g[0]);
    snprintf(ny, sizeof ny, "%u", g[1]);
  }
  if (!j->wide) {
    if (!flat) rewrite_put(j, text, "\tmad.lo.u32 %%~cy, %%~cz, %s, %%~cy;\n", ny);
    rewrite_put(j, text, "\tmad.lo.u32 %%~u, %%~cy, %s, %%~cx;\n", nx);
    return;
  }
  rewrite_put(j, text, "\t.reg .b64 %%~w, %%~wx;\n\tcvt.u64.u32 %%~w, %%~cy;\n");
  if (!flat) rewrite_put(j, text, "\tmad.wide.u32 %%~w, %%~cz, %s, %%~w;\n", ny);
  rewrite_put(j, text, "\tcvt.u64.u32 %%~wx, %%~cx;\n\tmad.lo.u64 %%~w, %%~w, %s, %%~wx;\n", nx);
}

/* For any grid: its dimensions, and a way around for grids with too many tasks, which keep their own order. A
 * grid has at most 65535 CTAs along y and along z, so that their product fits in 32 bits.
 * Agents are launched in another grid, and get the tasks' in parameters. */
void rewrite_put_dimensions(const rewrite_job *j, hd_buf *text) {
  rewrite_put(j, text,
              "\t.reg .b32 %%~nx, %%~ny, %%~nz, %%~v;\n\t.reg .b64 %%~v64;\n\t.reg .pred %%~large;\n");
  for (unsigned k = 0; k < 3; k++)
    if (j->recipe->grid)
      rewrite_put(j, text, "\tld.param.u32 %%~n%c, [~n%c];\n", "xyz"[k], "xyz"[k]);
    else
      rewrite_put(j, text, "\tmov.u32 %%~n%c, %%n%s.%c;\n", "xyz"[k], rewrite_place(j), "xyz"[k]);
  rewrite_put(j, text,
              "\tmul.lo.u32 %%~v, %%~ny, %%~nz;\n\tmul.wide.u32 %%~v64, %%~v, %%~nx;\n"
              "\tcvt.u32.u64 %%~v, %%~v64;\n"
              "\tsetp.gt.u64 %%~large, %%~v64, %" PRIu64 ";\n",
              j->claims ? HD_MOST_CLAIMED : (uint64_t)UINT32_MAX);
}

/* The registers that agents read in place of %nctaid. */
static void name_dimensions(rewrite_job *j) {
  for (unsigned k = 0; k < 3; k++)
    if (j->opt->grid.known)
      snprintf(j->nctaid.names[k], sizeof j->nctaid.names[k], "%u", j->opt->grid.g[k]);
    else
      snprintf(j->nctaid.names[k], sizeof j->nctaid.names[k], "%%%s_n%c", j->prefix, "xyz"[k]);
}

static void put_own_coordinate(const rewrite_job *j, unsigned k, hd_buf *text) {
  char from[64];
  if (j->plan->bind == HD_BIND_CANCEL)
    rewrite_cancel_cell(j, k, from);
  else
    snprintf(from, sizeof from, "%%%s.%c", rewrite_place(j), "xyz"[k]);
  rewrite_put(j, text, "\t.reg .b32 %%~%c;\n\tmov.u32 %%~%c, %s;\n", "xyz"[k], "xyz"[k], from);
}

static hd_status put_entry(rewrite_job *j, const hd_prog *prog, hd_buf *text, hd_diag *d) {
  bool known = j->opt->grid.known, around = rewrite_order_counts(j, prog);
  rewrite_put_attendance(j, text);
  hd_status st = j->plan->bind == HD_BIND_CANCEL ? rewrite_put_cancel(j, text, d) : HD_OK;
  if (around) {
    for (unsigned k = 0; k < 3; k++)
      if (rewrite_ordered(j)->want[k]) put_own_coordinate(j, k, text);
    rewrite_put_line_check(j, text);
    rewrite_put_dimensions(j, text);
    rewrite_put(j, text, "\t@%%~large bra $~entered;\n");
  }
  if (j->claims && st == HD_OK)
    st = rewrite_put_binding(j, text, d);
  else if (!j->claims && !j->own_cell)
    rewrite_put_worker(j, text);
  if (st == HD_OK) st = rewrite_put_order(j, prog, text, d);
  if (st == HD_OK && j->claims) rewrite_put_binding_tail(j, text);
  if (around) rewrite_put(j, text, "$~entered:\n");
  if (j->clusters) rewrite_put_ctas(j, text);
  rewrite_put_halves(j, &j->ctaid, 'h', text);
  if (!known) rewrite_put_halves(j, &j->nctaid, 'm', text);
  return st == HD_OK && text->failed ? hd_nomem(d) : st;
}

/* ---- Preparation ----------------------------------------------------------------------------- */

static hd_status refuse(const rewrite_job *j, hd_diag *d) {
  hd_refusal why;
  size_t n = hd_rewrite_refusals_assuming(j->m, j->func, j->opt->assume, &why, 1);
  return rewrite_first_refusal(&why, n, d);
}

/* On the known grid the order is the one that CTAs have anyway: columns of a single row, tiles as wide as it.
 */
static bool changes_nothing(const rewrite_job *j, const hd_prog *prog) {
  hd_prog own;
  if (!j->opt->grid.known || j->plan->bind != HD_BIND_NONE || !j->own_cell) return false;
  return hd_plan_from_cell(&hd_plan_original, &j->opt->grid, false, &own, NULL) == HD_OK &&
         own.n == prog->n && memcmp(own.out, prog->out, sizeof own.out) == 0 &&
         memcmp(own.vals, prog->vals, own.n * sizeof *own.vals) == 0;
}

/* %ctaid is the cluster's place and the rank in it. */
static hd_status find_clusterid(rewrite_job *j, const hd_ptx_func *f, hd_diag *d) {
  hd_status st = rewrite_find_reads(j->m, f, HD_SR_CLUSTERID, &j->clusterid, d);
  for (unsigned k = 0; k < 3; k++) j->clusterid.want[k] |= j->ctaid.want[k];
  return st;
}

static hd_status prepare(rewrite_job *j, hd_prog *prog, hd_diag *d) {
  const hd_ptx_func *f = &j->m->funcs[j->func];
  hd_refusal why;
  hd_status st = refuse(j, d);
  if (st == HD_OK) st = rewrite_find_reads(j->m, f, HD_SR_CTAID, &j->ctaid, d);
  /* CTAs that never read %ctaid do the same work in any order. */
  if (st == HD_OK && j->clusters) st = find_clusterid(j, f, d);
  if (st != HD_OK || !any(rewrite_ordered(j)->want)) return st;
  j->claims = hd_bind_claims(j->plan->bind);
  j->loops = hd_bind_loops(j->plan->bind);
  if (j->plan->bind == HD_BIND_CANCEL) st = rewrite_decide_cancel(j, d);
  if (st == HD_OK && j->loops) {
    size_t n = rewrite_scan_agents(j->m, j->func, j->block, &j->attend, &why, 1);
    st = rewrite_first_refusal(&why, n, d);
  }
  if (st == HD_OK && j->plan->bind == HD_BIND_AGENTS)
    st = rewrite_find_reads(j->m, f, HD_SR_NCTAID, &j->nctaid, d);
  if (st == HD_OK) st = rewrite_order_program(j, prog, d);
  if (st != HD_OK) return st;
  if (changes_nothing(j, prog)) {
    j->ctaid = j->clusterid = (rewrite_reads){0};
    return HD_OK;
  }
  if (j->opt->grid.known && !hd_grid_tasks(j->opt->grid.g, &j->V))
    return hd_fail(d, HD_ERR_USAGE, "a grid of %ux%ux%u has no tasks or too many", j->opt->grid.g[0],
                   j->opt->grid.g[1], j->opt->grid.g[2]);
  j->wide = j->V > UINT32_MAX;
  j->prefix = hd_ptx_fresh_prefix(j->m);
  if (!j->prefix) return hd_nomem(d);
  if (j->claims) st = rewrite_decide_claims(j, d);
  return st == HD_OK && prog->uses_table ? rewrite_order_table(j, d) : st;
}

/* ---- Entry point -------------------------------------------------------------------------- */

/* Other levers put the body's first `header` statements there; *begin: the number of statements put before
 * it.
 */
static hd_status apply(rewrite_job *j, const hd_prog *prog, uint32_t header, uint32_t *begin, hd_diag *d) {
  hd_buf text = {0};
  if (!j->asked && (j->recipe->state_bytes || j->recipe->table_bytes))
    return hd_fail(d, HD_ERR_USAGE, "this plan changes the launch, but the caller passed no recipe");
  uint32_t declared = 0;
  hd_status st = rewrite_add_params(j, d);
  if (st == HD_OK) st = rewrite_set_registers(j, d);
  name_dimensions(j);
  if (st == HD_OK && j->loops) st = rewrite_start_fresh(j, header, d);
  if (st == HD_OK) st = rewrite_declare_lender(j, &declared, d);
  if (st == HD_OK) st = put_entry(j, prog, &text, d);
  uint32_t before = j->m->funcs[j->func].n_stmts;
  if (st == HD_OK) st = hd_ptx_insert(j->m, j->func, declared, text.data, d);
  hd_buf_free(&text);
  if (st != HD_OK) return st;
  *begin = declared + j->m->funcs[j->func].n_stmts - before;
  rewrite_replace_reads(j, HD_SR_CTAID, &j->ctaid, 'h', *begin);
  if (j->clusters) rewrite_replace_reads(j, HD_SR_CLUSTERID, &j->clusterid, 'k', *begin);
  if (j->own_cell && !j->loops) return rewrite_drop_copies(j, *begin, header, d);
  if (!j->loops) return HD_OK;
  if (j->plan->bind == HD_BIND_AGENTS) rewrite_replace_reads(j, HD_SR_NCTAID, &j->nctaid, 'm', *begin);
  st = rewrite_attend(j, *begin, d);
  return st == HD_OK ? rewrite_close_loop(j, *begin, d) : st;
}

/* The `n` statements that the levers for loads put at entry, behind the first `begin`, are for the whole
 * worker and not for each of its tasks. */
static hd_status hoist(const rewrite_job *j, uint32_t begin, uint32_t n, hd_diag *d) {
  const hd_ptx_func *f = &j->m->funcs[j->func];
  if (!begin || !n) return HD_OK;
  hd_ptx_stmt *stmts = malloc(f->n_stmts * sizeof *stmts);
  if (!stmts) return hd_nomem(d);
  memcpy(stmts, f->stmts + begin, n * sizeof *stmts);
  memcpy(stmts + n, f->stmts, begin * sizeof *stmts);
  memcpy(stmts + n + begin, f->stmts + n + begin, (f->n_stmts - n - begin) * sizeof *stmts);
  hd_status st = hd_ptx_set_body(j->m, j->func, stmts, f->n_stmts, d);
  free(stmts);
  return st;
}

static bool changes_tasks(const hd_plan *p) {
  return p->order.kind != HD_ORDER_ROW || p->shape.kind != HD_SHAPE_LAUNCH || p->bind != HD_BIND_NONE;
}
static bool changes_threads(const hd_plan *p) { return p->threads.kind != HD_ORDER_ROW; }
static bool changes_loads(const hd_plan *p) {
  return p->bypass.kind != HD_BYPASS_NONE || p->stream.kind != HD_STREAM_NONE;
}

/* Threads come first: their reads of %ctaid are then replaced as the order says. Loads are changed where they
 * stand in the kernel's own text, before any are added. */
static hd_status apply_levers(rewrite_job *j, hd_diag *d) {
  const hd_plan *p = j->plan;
  hd_prog prog = {.n = 0};
  hd_status st = HD_OK;
  uint32_t header = 0, begin = 0;
  rewrite_find_block(j->m, j->func, j->opt->block, j->block);
  if (changes_tasks(p) || changes_threads(p))
    st = refuse(j, d);
  else if (!j->m->funcs[j->func].has_body)
    st = hd_fail(d, HD_ERR_REFUSED, "the kernel is declared here but defined elsewhere");
  else
    st = rewrite_check_known(j, d);
  if (st == HD_OK) st = rewrite_split_vectors(j->m, j->func, d);
  if (st == HD_OK && changes_threads(p)) st = rewrite_threads_order(j, d);
  if (st == HD_OK && p->shape.loop)
    st = rewrite_tile_loop(j, &j->no_carry, d);
  else if (st == HD_OK && changes_tasks(p))
    st = prepare(j, &prog, d);
  j->ordered = any(rewrite_ordered(j)->want);
  if (st == HD_OK && changes_loads(p)) st = rewrite_loads(j, &header, d);
  if (st == HD_OK && j->ordered) st = apply(j, &prog, header, &begin, d);
  if (st == HD_OK) st = hoist(j, begin, header, d);
  j->body = begin + header;
#define HD_LEVER_STEP(name, type, values, least, step)                                                       \
  if (st == HD_OK && p->name.kind) st = step(j, d);
#include "heddle/levers.def"
  return st;
}

/* The Hilbert curve takes a loop of some twenty instructions a level; a table of it, one load. Tasks that are
 * claimed have positions; others find their cells in a packed table (order.c). Not where the curve is a line,
 * nor with prefetching, which asks the order about other tasks too. */
static bool wants_table(const hd_plan *p, const hd_rewrite_options *opt) {
  const hd_grid *g = &opt->grid;
  uint64_t V;
  bool claims = hd_bind_claims(p->bind);
  return claims && p->order.kind == HD_ORDER_HILBERT && p->prefetch.kind == HD_PREFETCH_NONE && g->known &&
         ((g->g[0] > 1 && g->g[1] > 1) || p->shape.kind != HD_SHAPE_LAUNCH) && hd_grid_tasks(g->g, &V) &&
         V <= REWRITE_MOST_EMBEDDED;
}

static hd_status apply_as_table(rewrite_job *j, hd_diag *d) {
  const hd_plan order = {.order = j->plan->order, .shape = j->plan->shape};
  hd_table table;
  hd_status st = hd_plan_tabulate(&order, &j->opt->grid, NULL, &table, d);
  if (st != HD_OK) return st;
  j->order = (hd_order){.kind = HD_ORDER_TABLE};
  j->order_table = &table;
  st = apply_levers(j, d);
  hd_table_free(&table);
  j->order_table = NULL;
  return st;
}

/* The text rests on the caller's word: the kernel's remark begins with that. */
static hd_status say_assumption(rewrite_job *j, const char *word, hd_diag *d) {
  hd_ptx_func *f = &j->m->funcs[j->func];
  const char *rest = f->remark ? f->remark : "";
  f->remark =
      hd_arena_printf(j->m->arena, "heddle: rests on the word that %s%s%s", word, *rest ? "\n" : "", rest);
  return f->remark ? HD_OK : hd_nomem(d);
}

hd_status hd_rewrite(hd_ptx_module *m, uint32_t func, const hd_plan *p, const hd_rewrite_options *opt,
                     hd_recipe *recipe, hd_diag *d) {
  hd_recipe r = {0};
  rewrite_job j = {.m = m,
                   .func = func,
                   .plan = p,
                   .order = p->order,
                   .order_table = opt->table,
                   .opt = opt,
                   .recipe = &r,
                   .asked = recipe};
  if (recipe) *recipe = r;
  hd_rewrite_options of_clusters = *opt;
  j.clusters = hd_rewrite_clusters(m, func, j.cluster);
  for (unsigned k = 0; k < 3; k++)
    if (opt->grid.g[k] % j.cluster[k] == 0) of_clusters.grid.g[k] /= j.cluster[k];
  hd_status st = hd_plan_check(p, d);
  if (st != HD_OK || hd_plan_is_baseline(p)) return st;
  bool assumes = opt->assume && hd_rewrite_refusals_assuming(m, func, 0, NULL, 0) !=
                                    hd_rewrite_refusals_assuming(m, func, opt->assume, NULL, 0);
  if (st == HD_OK && j.clusters) st = rewrite_check_clusters(&j, d);
  if (st == HD_OK) st = rewrite_check_dependents(&j, d);
  if (j.clusters) j.opt = opt = &of_clusters;
  if (st == HD_OK) st = wants_table(p, opt) ? apply_as_table(&j, d) : apply_levers(&j, d);
  if (st == HD_OK && assumes) st = say_assumption(&j, "no loop waits for another CTA", d);
  if (st == HD_OK && j.no_carry)
    st = say_assumption(&j, "no tile of a loop reads or overwrites what an earlier one left in memory", d);
  if (st == HD_OK && recipe) *recipe = r;
  return st;
}
