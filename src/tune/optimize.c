/* The fastest plan on a modelled GPU that can be applied and proved, and the kernel under it. */
#include "heddle/optimize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double default_seconds = 60;
/* CTAs alive at once per SM in the proof. */
enum { RESIDENT = 4, LEAST_CANDIDATES = 16 };

typedef struct optimizing {
  const hd_workload *w;
  const hd_gpu *g;
  hd_optimize_options o;
  hd_optimized *out;
  hd_checker *checker;      /* the original's result; NULL: not run yet */
  hd_check_result original; /* how that went */
} optimizing;

/* ---- Plans to choose among ------------------------------------------------------------ */

static hd_status add_row(optimizing *z, const hd_plan *p, hd_diag *d) {
  hd_optimized *out = z->out;
  for (size_t i = 0; i < out->n_rows; i++)
    if (hd_plan_equal(&out->rows[i].plan, p)) return HD_OK;
  hd_sweep_row *rows = realloc(out->rows, (out->n_rows + 1) * sizeof *rows);
  if (!rows) return hd_nomem(d);
  out->rows = rows;
  rows[out->n_rows] = (hd_sweep_row){0};
  hd_status st = hd_plan_copy(p, &rows[out->n_rows].plan, d);
  out->n_rows += st == HD_OK;
  return st;
}

/* What one replay takes says how many are affordable. */
static hd_status affordable(const optimizing *z, size_t *n, hd_diag *d) {
  static const hd_plan baseline;
  hd_counters c;
  double threads = z->o.run.threads ? z->o.run.threads : hd_cpu_count(), start = hd_seconds();
  hd_status st = hd_study_replay(z->out->study, z->g, &baseline, z->o.dispatch, z->o.seed, &c, d);
  double each = hd_seconds() - start, most = (z->o.seconds > 0 ? z->o.seconds : default_seconds) * threads;
  *n = each * HD_CANDIDATES > most ? (size_t)(most / each) : HD_CANDIDATES;
  if (*n < LEAST_CANDIDATES) *n = LEAST_CANDIDATES;
  return st;
}

static hd_status list_rows(optimizing *z, hd_diag *d) {
  static const hd_plan baseline;
  hd_status st = add_row(z, &baseline, d);
  for (size_t i = 0; st == HD_OK && z->o.plans && i < z->o.n_plans; i++)
    st = add_row(z, &z->o.plans[i].plan, d);
  if (st != HD_OK || z->o.plans) return st;
  hd_list_options list = {.run = z->o.run,
                          .dispatch = z->o.dispatch,
                          .seed = z->o.seed,
                          .facts = true,
                          .keep_launch = z->o.keep_launch};
  hd_plan_list plans = {0};
  st = affordable(z, &list.most, d);
  if (st == HD_OK) st = hd_advise_list(z->w, z->out->study, z->g, &list, &plans, d);
  for (size_t i = 0; st == HD_OK && i < plans.n; i++) st = add_row(z, &plans.at[i].plan, d);
  hd_plan_list_free(&plans);
  return st;
}

/* ---- The kernel under a plan ----------------------------------------------------------- */

/* The text of the module under resolved plans, and what its launches take: what a checker runs, printed. */
static hd_status render(const optimizing *z, const hd_resolved *plans, hd_recipe *recipes, hd_buf *text,
                        hd_diag *d) {
  hd_arena arena;
  hd_ptx_module *m;
  hd_arena_init(&arena);
  hd_status st = hd_ptx_parse(plans->code->text, plans->code->len, z->w->name, &arena, &m, d);
  if (st == HD_OK) st = hd_rewrite_workload(m, plans, &z->o.run, recipes, d);
  if (st == HD_OK) st = hd_ptx_print_in_place(m, text);
  if (st == HD_OK && text->failed) st = hd_nomem(d);
  hd_arena_free(&arena);
  return st;
}

/* The order's table, where the text holds none. */
static hd_status take_table(optimizing *z, const hd_resolved *plans, hd_diag *d) {
  const hd_compiled *code = plans->code;
  for (uint32_t i = 0; i < code->n_kernels; i++) {
    const hd_recipe *r = &z->out->recipes[code->kernels[i].first];
    const hd_table *t = &plans->kernels[i].table;
    z->out->other_launch |= r->state_bytes || r->table_bytes || r->agents;
    if (!r->table_bytes || plans->kernels[i].plan.order.kind == HD_ORDER_TABLE) continue;
    if (z->out->table.n) return hd_fail(d, HD_ERR_UNSUPPORTED, "several kernels have tables of their order");
    z->out->table = (hd_table){.task = malloc(t->n * sizeof *t->task), .n = t->n};
    if (!z->out->table.task) return hd_nomem(d);
    memcpy(z->out->table.task, t->task, t->n * sizeof *t->task);
  }
  return HD_OK;
}

static hd_status take_text(optimizing *z, const hd_resolved *plans, hd_diag *d) {
  hd_optimized *out = z->out;
  hd_buf text = {0};
  out->recipes = calloc((size_t)z->w->n_launches + 1, sizeof *out->recipes);
  hd_status st = out->recipes ? render(z, plans, out->recipes, &text, d) : hd_nomem(d);
  if (st == HD_OK) st = take_table(z, plans, d);
  if (st != HD_OK) {
    hd_buf_free(&text);
    return st;
  }
  out->text = text.data;
  out->len = text.len;
  return HD_OK;
}

/* ---- The proof ------------------------------------------------------------------------- */

/* Run the original once, for all plans that are held against it. */
static hd_status open_checker(optimizing *z, hd_diag *d) {
  const hd_check_options check = {.run = z->o.run, .seed = z->o.seed};
  return z->checker ? HD_OK : hd_checker_open(z->w, &check, &z->checker, &z->original, d);
}

/* Hold the plans against the original under dispatchers `from` to `to`. */
static hd_status check(const optimizing *z, const hd_resolved *plans, unsigned from, unsigned to,
                       hd_check_result *r, hd_diag *d) {
  hd_dispatch how[HD_DISPATCH_COUNT];
  for (unsigned k = from; k < to; k++)
    how[k - from] = (hd_dispatch){.kind = (hd_dispatch_kind)k, .seed = z->o.seed + k, .resident = RESIDENT};
  return hd_checker_run(z->checker, plans, &z->o.run, how, to - from, r, d);
}

/* Replays count the original's instructions; one run of the rewritten kernel counts its own. */
static double time_with_instructions(const hd_counters *c, uint64_t before, uint64_t after) {
  if (!before || c->cycles <= 0) return c->time_us;
  double issue = c->cycles_issue * (double)after / (double)before;
  return issue > c->cycles ? c->time_us * issue / c->cycles : c->time_us;
}

static void strike_out(hd_sweep_row *row, hd_status st, const char *why) {
  row->status = st;
  snprintf(row->why, sizeof row->why, "%.255s", why);
}

/* Is it worth a proof, and proved? One run counts the instructions; only a plan that they leave worth while
 * is run under all other dispatchers. A row that is not is struck out; *st is what went wrong otherwise. */
static bool prove(optimizing *z, hd_sweep_row *row, const hd_resolved *plans, hd_status *st, hd_diag *d) {
  hd_check_result first, rest = {0};
  const uint64_t before = z->original.thread_instructions;
  *st = check(z, plans, 0, 1, &first, d);
  if (*st != HD_OK) return false;
  uint64_t after = first.thread_instructions_rewritten;
  if (first.equal && time_with_instructions(&row->counters, before, after) * HD_OPTIMIZE_WORTH >
                         z->out->rows[0].counters.time_us) {
    char why[160];
    snprintf(why, sizeof why, "working out its tasks costs more than it gains: %+.0f%% instructions",
             100.0 * ((double)after / (double)before - 1));
    strike_out(row, HD_ERR_UNSUPPORTED, why);
    return false;
  }
  if (first.equal) *st = check(z, plans, 1, HD_DISPATCH_COUNT, &rest, d);
  if (*st != HD_OK) return false;
  if (!first.equal || !rest.equal) {
    strike_out(row, HD_ERR_REFUSED, first.equal ? rest.what : first.what);
    return false;
  }
  z->out->proof = rest;
  z->out->proof.runs += first.runs;
  z->out->proof.seconds += first.seconds + z->original.seconds;
  z->out->proof.against_reference = z->original.against_reference;
  z->out->proof.race_free = z->original.race_free;
  z->out->proof.thread_instructions = before;
  return true;
}

/* ---- The choice ------------------------------------------------------------------------ */

static bool only_reorders(const hd_plan *p) {
  const hd_plan order = {.order = p->order};
  return hd_plan_equal(p, &order);
}

/* These strike the plan out; any other status ends it all. */
static bool is_the_plans_fault(hd_status st) {
  return st == HD_ERR_REFUSED || st == HD_ERR_USAGE || st == HD_ERR_UNSUPPORTED;
}

static hd_status give_up(optimizing *z, const char *why) {
  z->out->best = 0;
  snprintf(z->out->why, sizeof z->out->why, "the kernel cannot be reordered: %.400s", why);
  return HD_OK;
}

/* Try the row's plan; *done: it is the one, or no other would fare better. */
static hd_status try_row(optimizing *z, size_t at, bool *done, hd_diag *d) {
  hd_sweep_row *row = &z->out->rows[at];
  const hd_plan_set set = {.all = row->plan};
  hd_resolved plans = {0};
  hd_diag e = {0};
  hd_status st = hd_resolve(z->w, &set, &z->o.run, z->out->study, &plans, &e);
  bool resolved = st == HD_OK;
  if (resolved) st = open_checker(z, d);
  *done = true;
  if (st == HD_OK &&
      !z->original.equal) { /* a race, or what the original does wrong: the kernel's, not a plan's */
    strike_out(row, HD_ERR_REFUSED, z->original.what);
    hd_resolved_free(&plans);
    return give_up(z, row->why);
  }
  bool proved = st == HD_OK && prove(z, row, &plans, &st, &e);
  if (proved) {
    z->out->best = at;
    st = take_text(z, &plans, d);
  } else if (is_the_plans_fault(st)) {
    strike_out(row, st, e.message);
    *done = st == HD_ERR_REFUSED && only_reorders(&row->plan);
    st = *done ? give_up(z, row->why) : HD_OK;
  } else {
    *done = st != HD_OK;
    if (st != HD_OK && d && !d->message[0]) *d = e;
  }
  if (resolved) hd_resolved_free(&plans);
  return st;
}

static hd_status choose(optimizing *z, hd_diag *d) {
  hd_sweep_row *rows = z->out->rows;
  hd_status st = HD_OK;
  for (bool done = false; st == HD_OK && !done;) {
    int64_t best = hd_sweep_best(rows, z->out->n_rows);
    if (best < 0) return hd_fail(d, HD_ERR_INPUT, "no plan could be simulated: %s", rows[0].why);
    z->out->best = 0;
    if (best == 0 || rows[best].counters.time_us * HD_OPTIMIZE_WORTH > rows[0].counters.time_us) break;
    st = try_row(z, (size_t)best, &done, d);
  }
  if (st == HD_OK && !z->out->best && !z->out->why[0])
    hd_explain_nothing_helps(&rows[0].counters, z->g, z->out->why, sizeof z->out->why);
  return st;
}

hd_status hd_optimize(const hd_workload *w, const hd_gpu *g, const hd_optimize_options *o, hd_optimized *out,
                      hd_diag *d) {
  optimizing z = {.w = w, .g = g, .out = out};
  if (o) z.o = *o;
  z.o.run.n_sms = g->n_sms;
  *out = (hd_optimized){0};
  hd_status st = hd_study_open(w, &z.o.run, &out->study, d);
  if (st == HD_OK) st = list_rows(&z, d);
  double start = hd_seconds();
  if (st == HD_OK)
    st = hd_sweep(out->study, g, z.o.dispatch, z.o.seed, out->rows, out->n_rows, z.o.run.threads,
                  z.o.progress, z.o.ctx, d);
  out->sweep_seconds = hd_seconds() - start;
  if (st == HD_OK) st = choose(&z, d);
  hd_checker_close(z.checker);
  if (st != HD_OK) hd_optimized_free(out);
  return st;
}

void hd_optimized_free(hd_optimized *z) {
  for (size_t i = 0; i < z->n_rows; i++) hd_plan_free(&z->rows[i].plan);
  free(z->rows);
  free(z->text);
  free(z->recipes);
  hd_table_free(&z->table);
  hd_study_close(z->study);
  *z = (hd_optimized){0};
}
