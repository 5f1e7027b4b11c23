/* Tables of workloads by plans, filled on this machine. */
#include "heddle/suite.h"

static void tell(const hd_suite_run *run, size_t done, size_t n) {
  if (run->progress) run->progress(run->ctx, done, n);
}

static hd_status open_workload(const hd_suite_run *run, const char *name, hd_workload **out, hd_diag *d) {
  hd_workload_request q = run->like;
  q.name = name;
  return hd_workload_request_open(&q, out, d);
}

/* ---- Levers ---------------------------------------------------------------------------------- */

typedef struct levers {
  const hd_suite_run *run;
  const hd_levers_table *t;
  hd_lever_cell *cells;
  hd_arena *arena;
  hd_workload *open; /* kept from cell to cell; NULL: none */
  size_t number;     /* its */
} levers;

static hd_status open_of(levers *l, size_t i, hd_workload **out, hd_diag *d) {
  hd_status st = HD_OK;
  if (!l->open || l->number != i) {
    hd_workload_close(l->open);
    l->open = NULL;
    l->number = i;
    st = open_workload(l->run, l->t->workloads[i], &l->open, d);
  }
  *out = l->open;
  return st;
}

/* The answer's byte, then why. */
static hd_status try_cell(void *ctx, size_t i, unsigned thread, hd_buf *answer, hd_diag *d) {
  levers *l = ctx;
  const size_t n = l->t->n_plans;
  hd_workload *w;
  hd_lever_cell cell;
  hd_arena arena;
  hd_status st = open_of(l, i / n, &w, d);
  if (st != HD_OK) return st;
  hd_arena_init(&arena);
  st = hd_lever_try(w, l->t->plans[i % n], l->run->threads, &arena, &cell, d);
  if (st == HD_OK) hd_buf_putc(answer, (char)cell.answer);
  if (st == HD_OK) hd_buf_puts(answer, cell.why);
  hd_arena_free(&arena);
  return st;
}

static hd_status take_cell(void *ctx, size_t i, const void *answer, size_t len, hd_diag *d) {
  levers *l = ctx;
  const char *text = answer;
  if (!len || (unsigned char)text[0] > HD_LEVER_DIFFERENT)
    return hd_fail(d, HD_ERR_INPUT, "an answer that is no lever's");
  const char *why = hd_arena_strndup(l->arena, text + 1, len - 1);
  l->cells[i] = (hd_lever_cell){(hd_lever_answer)text[0], why};
  return why ? HD_OK : hd_nomem(d);
}

/* Threads of all launches: of one workload's cells the emulator has about as much to do. */
static double cost_of(const hd_workload *w) {
  double sum = 0;
  for (uint32_t i = 0; i < w->n_launches; i++) {
    const uint32_t *g = w->launches[i].grid, *b = w->launches[i].block;
    sum += (double)g[0] * g[1] * g[2] * b[0] * b[1] * b[2];
  }
  return sum;
}

static hd_status describe(levers *l, hd_work *work, double *costs, bool identify, hd_diag *d) {
  const hd_levers_table *t = l->t;
  hd_status st = HD_OK;
  for (size_t k = 0; k < t->n_plans; k++) hd_digest_text(&work->identity, t->plans[k]);
  for (size_t i = 0; st == HD_OK && i < t->n_workloads; i++) {
    hd_workload *w;
    st = open_of(l, i, &w, d);
    if (st == HD_OK && identify) st = hd_workload_digest(w, 0, &work->identity, d);
    if (st == HD_OK && identify) hd_digest_text(&work->identity, t->workloads[i]);
    for (size_t k = 0; st == HD_OK && k < t->n_plans; k++) costs[i * t->n_plans + k] = cost_of(w);
  }
  return st;
}

hd_status hd_suite_levers(const hd_suite_run *run, const hd_levers_table *t, hd_lever_cell *cells,
                          hd_arena *arena, const hd_work_how *how, bool *whole, hd_diag *d) {
  const size_t n = t->n_workloads * t->n_plans;
  levers l = {.run = run, .t = t, .cells = cells, .arena = arena};
  double *costs = HD_NEW_N(arena, n + 1, double);
  if (!costs) return hd_nomem(d);
  hd_work work = {.identity = hd_digest_begin(),
                  .n = n,
                  .costs = costs,
                  .item = try_cell,
                  .take = take_cell,
                  .ctx = &l,
                  .progress = run->progress,
                  .progress_ctx = run->ctx};
  hd_status st = describe(&l, &work, costs, how != NULL, d);
  if (st == HD_OK) st = hd_work_run(&work, how, whole, d);
  hd_workload_close(l.open);
  return st;
}

/* ---- Overhead ---------------------------------------------------------------------------------- */

hd_status hd_suite_overhead(const hd_suite_run *run, const hd_overhead_table *t, bool any_grid,
                            hd_overhead_row *rows, hd_diag *d) {
  const hd_overhead_options o = {.run = {.machine.threads = run->threads, .compile.any_grid = any_grid}};
  hd_status st = HD_OK;
  for (size_t i = 0; st == HD_OK && i < t->n_workloads; i++) {
    hd_workload *w;
    tell(run, i, t->n_workloads);
    if ((st = open_workload(run, t->workloads[i], &w, d)) != HD_OK) break;
    st = hd_overhead(w, t->plans, t->n_plans, &o, &rows[i * t->n_plans], d);
    hd_workload_close(w);
  }
  tell(run, t->n_workloads, t->n_workloads);
  return st;
}
