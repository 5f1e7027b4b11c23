/* The table of levers by workload: which plans the rewriter accepts, and why it refuses others. */
#include <stdlib.h>
#include <string.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/json.h"

/* One plan for each value of each lever. */
static const char *const every_lever[] = {
    "order=col",
    "order=band:3",
    "order=tile:3x2",
    "order=zigzag:3",
    "order=stride:3x2",
    "order=hilbert",
    "order=reverse",
    "order=heavy-first",
    "order=affinity",
    "order=tile:3x2,shape=7x5",
    "order=col,shape=5x7:band:2",
    "bind=redirect",
    "bind=claim",
    "bind=claim,split=wave:2",
    "bind=agents",
    "bind=agents:1",
    "bind=agents,split=rows",
    "bind=agents,take=segments",
    "bind=agents,sms=0-3",
    "threads=col",
    "threads=cta:col",
    "bypass=l1:1",
    "bypass=l1:1,form=replicate",
    "bypass=ro:1",
    "bypass=l2:1",
    "stream=l1",
    "prefetch=l2:1",
    "bind=agents,prefetch=l1:1",
};

const char *const *hd_levers_plans(size_t *n) {
  *n = sizeof every_lever / sizeof *every_lever;
  return every_lever;
}

/* a, b, ..., z, aa, ab, ... */
static const char *letters(size_t i, char out[8]) {
  char *p = out + 7;
  *p = 0;
  for (i++; i && p > out; i = (i - 1) / 26) *--p = (char)('a' + (i - 1) % 26);
  return memmove(out, p, strlen(p) + 1);
}

/* The number of a reason among those that came up before; a new one is added. */
static size_t number_of(const char **reasons, size_t *n, const char *why) {
  for (size_t i = 0; i < *n; i++)
    if (strcmp(reasons[i], why) == 0) return i;
  reasons[*n] = why;
  return (*n)++;
}

static void put_head(const hd_levers_table *t, hd_buf *out) {
  hd_buf_printf(
      out,
      "# Which plans work on which workloads\n\n"
      "Made by `heddle levers` at size %s. *yes*: the rewritten kernels compute the same bytes as the "
      "originals under\n"
      "every dispatcher of the emulator. A letter: the plan is refused, for the reason below the table.\n\n",
      t->size);
  hd_buf_puts(out, "| workload |");
  for (size_t i = 0; i < t->n_plans; i++) hd_buf_printf(out, " %s |", t->plans[i]);
  hd_buf_puts(out, "\n| --- |");
  for (size_t i = 0; i < t->n_plans; i++) hd_buf_puts(out, " --- |");
  hd_buf_putc(out, '\n');
}

hd_status hd_levers_text(const hd_levers_table *t, hd_buf *out, hd_diag *d) {
  size_t counts[3] = {0}, n_reasons = 0;
  char mark[8];
  const char **reasons = calloc(t->n_workloads * t->n_plans + 1, sizeof *reasons);
  if (!reasons) return hd_nomem(d);
  put_head(t, out);
  for (size_t w = 0; w < t->n_workloads; w++) {
    hd_buf_printf(out, "| %s |", t->workloads[w]);
    for (size_t p = 0; p < t->n_plans; p++) {
      const hd_lever_cell *c = &t->cells[w * t->n_plans + p];
      counts[c->answer]++;
      hd_buf_printf(out, " %s |",
                    c->answer == HD_LEVER_EQUAL ? "yes"
                    : c->answer == HD_LEVER_DIFFERENT
                        ? "**no**"
                        : letters(number_of(reasons, &n_reasons, c->why), mark));
    }
    hd_buf_putc(out, '\n');
  }
  hd_buf_printf(out, "\n%zu equal, %zu refused, %zu different.\n", counts[HD_LEVER_EQUAL],
                counts[HD_LEVER_REFUSED], counts[HD_LEVER_DIFFERENT]);
  if (n_reasons) hd_buf_puts(out, "\nRefused because\n\n");
  for (size_t i = 0; i < n_reasons; i++) hd_buf_printf(out, "- %s: %s\n", letters(i, mark), reasons[i]);
  free(reasons);
  return out->failed ? hd_nomem(d) : HD_OK;
}

static const char *answer(const void *row) {
  static const char *const answers[] = {
      [HD_LEVER_EQUAL] = "equal", [HD_LEVER_REFUSED] = "refused", [HD_LEVER_DIFFERENT] = "different"};
  return answers[((const hd_lever_cell *)row)->answer];
}
static const field cell_fields[] = {{"answer", .text = answer}, {"why", MEMBER(hd_lever_cell, why)}, {0}};

hd_status hd_levers_json(const hd_levers_table *t, hd_buf *out, hd_diag *d) {
  json_t *rows = json_object();
  for (size_t w = 0; rows && w < t->n_workloads; w++) {
    const hd_lever_cell *cells = &t->cells[w * t->n_plans];
    json_t *row = json_object();
    for (size_t p = 0; row && p < t->n_plans; p++)
      row = report_set(row, t->plans[p], report_fields_json(cell_fields, &cells[p]));
    rows = report_set(rows, t->workloads[w], row);
  }
  report_put_json(rows, out);
  return out->failed ? hd_nomem(d) : HD_OK;
}

hd_status hd_lever_try(const hd_workload *w, const char *plan, unsigned threads, hd_arena *arena,
                       hd_lever_cell *cell, hd_diag *d) {
  const hd_check_options o = {.run = {.machine.threads = threads}};
  hd_plan parsed = {0};
  hd_check_result result = {0};
  hd_diag e = {0};
  char line[1400];
  hd_status st = hd_plan_parse(plan, &parsed, d);
  if (st != HD_OK) return st;
  st = hd_check(w, &parsed, &o, &result, &e);
  if (st == HD_OK) {
    *cell = (hd_lever_cell){result.equal ? HD_LEVER_EQUAL : HD_LEVER_DIFFERENT,
                            hd_arena_printf(arena, "%s", result.what)};
  } else if (hd_blames_plan(st)) {
    *cell =
        (hd_lever_cell){HD_LEVER_REFUSED, hd_arena_printf(arena, "%s", hd_diag_line(&e, line, sizeof line))};
  } else {
    if (d) *d = e;
    return st;
  }
  return cell->why ? HD_OK : hd_nomem(d);
}

bool hd_levers_differences(const hd_levers_table *t, hd_buf *out) {
  bool found = false;
  for (size_t i = 0; i < t->n_workloads * t->n_plans; i++) {
    if (t->cells[i].answer != HD_LEVER_DIFFERENT) continue;
    hd_buf_printf(out, "heddle: %s, %s: %s\n", t->workloads[i / t->n_plans], t->plans[i % t->n_plans],
                  t->cells[i].why);
    found = true;
  }
  return found;
}
