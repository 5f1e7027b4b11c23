/* The cost of plans: the page, and its figures as JSON. */
#include <string.h>

#include "heddle/results.h"
#include "report/fields.h"
#include "report/json.h"

/* Each lever once. Orders have numbers that cut even small grids, and seldom divide them: the dear case. */
static const char *const every_lever[] = {
    "order=col",
    "order=band:3",
    "order=tile:3x2",
    "order=zigzag:3",
    "order=stride:3x2",
    "order=hilbert",
    "order=reverse",
    "order=affinity",
    "order=tile:3x2,shape=7x5",
    "order=col,shape=5x7:band:2",
    "bind=redirect",
    "bind=claim",
    "bind=agents",
    "bind=agents:2",
    "order=tile:3x2,bind=agents",
    "bind=claim,split=wave:4",
    "bind=agents,take=segments",
    "bind=agents,sms=0-7",
    "threads=col",
    "bypass=l1:1",
    "bypass=l1:1,form=predicate",
    "bypass=l1:1,form=replicate",
    "bypass=l2:1",
    "stream=l1",
    "prefetch=l2:1",
};

const char *const *hd_overhead_plans(size_t *n) {
  *n = sizeof every_lever / sizeof *every_lever;
  return every_lever;
}

typedef struct column {
  hd_overhead_measure measure;
  const char *name;
} column;

static void put_plan(const hd_plan *p, hd_buf *out) {
  hd_buf_puts(out, "| ");
  hd_plan_print(p, out);
  hd_buf_puts(out, " |");
}

/* One table: for each plan, median, 90th percentile and worst of each column, and where the first is worst.
 */
static hd_status put_table(const hd_overhead_table *t, const column *columns, size_t n, hd_buf *out,
                           hd_diag *d) {
  hd_buf_puts(out, "| plan | workloads |");
  for (size_t k = 0; k < n; k++) hd_buf_printf(out, " %s: median | 90%% | worst |", columns[k].name);
  hd_buf_puts(out, " worst in |\n| --- | ---: |");
  for (size_t k = 0; k < n; k++) hd_buf_puts(out, " ---: | ---: | ---: |");
  hd_buf_puts(out, " --- |\n");
  hd_status st = HD_OK;
  for (size_t p = 0; st == HD_OK && p < t->n_plans; p++) {
    hd_overhead_summary s, first = {0};
    put_plan(&t->plans[p], out);
    for (size_t k = 0; st == HD_OK && k < n; k++) {
      st = hd_overhead_summarise(t, p, columns[k].measure, &s, d);
      if (k == 0) {
        first = s;
        hd_buf_printf(out, " %zu |", s.n);
      }
      if (s.n)
        hd_buf_printf(out, " %.4g | %.4g | %.4g |", s.median, s.p90, s.worst);
      else
        hd_buf_puts(out, " | | |");
    }
    hd_buf_printf(out, " %s |\n", first.n && first.worst > 0 ? t->workloads[first.worst_workload] : "");
  }
  return st;
}

/* A plan's target, and the workloads within it. */
typedef struct targeted {
  const hd_plan *plan;
  hd_overhead_target target;
  size_t within, of;
} targeted;

static void put_most(const void *row, hd_buf *out) {
  if (((const targeted *)row)->target == HD_OVERHEAD_ORDER)
    hd_buf_printf(out, "%d instructions per thread, %d registers", HD_OVERHEAD_ORDER_INSTRUCTIONS,
                  HD_OVERHEAD_ORDER_REGISTERS);
  else
    hd_buf_printf(out, "%d registers", HD_AGENT_REGISTERS);
}
static void put_within(const void *row, hd_buf *out) {
  hd_buf_printf(out, "%zu of %zu", ((const targeted *)row)->within, ((const targeted *)row)->of);
}
static double share(const void *row) {
  return (double)((const targeted *)row)->within / (double)((const targeted *)row)->of;
}
static const char *verdict(const void *row) {
  const targeted *t = row;
  return t->within * 100 >= t->of * HD_OVERHEAD_SHARE ? "met" : "**missed**";
}

static const field target_fields[] = {
    {.heading = "plan", POINTED(targeted, plan)},
    {.heading = "at most", .put = put_most},
    {.heading = "workloads within", .align = 'r', .put = put_within},
    {.heading = "share", .kind = FIELD_PERCENT, .decimals = 1, .real = share},
    {.heading = "of 90%", .text = verdict},
    {0},
};

static void put_targets(const hd_overhead_table *t, hd_buf *out) {
  report_put_markdown_head(target_fields, out);
  for (size_t p = 0; p < t->n_plans; p++) {
    targeted one = {.plan = &t->plans[p]};
    one.target = hd_overhead_meets(t, p, &one.within, &one.of);
    if (one.target != HD_OVERHEAD_NO_TARGET && one.of) report_put_markdown_row(target_fields, &one, out);
  }
}

/* Workloads outside a plan's target, by name. */
static void put_misses(const hd_overhead_table *t, size_t plan, hd_buf *out) {
  size_t within, of, listed = 0;
  hd_overhead_target target = hd_overhead_meets(t, plan, &within, &of);
  if (target == HD_OVERHEAD_NO_TARGET || within == of) return;
  hd_buf_puts(out, "- ");
  hd_plan_print(&t->plans[plan], out);
  hd_buf_puts(out, ": ");
  for (size_t i = 0; i < t->n_workloads; i++) {
    const hd_overhead_row *r = &t->rows[i * t->n_plans + plan];
    hd_overhead_table one = {
        .plans = &t->plans[plan], .n_plans = 1, .workloads = &t->workloads[i], .n_workloads = 1, .rows = r};
    hd_overhead_meets(&one, 0, &within, &of);
    if (!of || within) continue;
    hd_buf_printf(out, "%s%s (%+.1f, %+lld)", listed++ ? ", " : "", t->workloads[i],
                  hd_overhead_value(r, HD_OVERHEAD_THREAD), (long long)r->registers_added);
  }
  hd_buf_puts(out, "\n");
}

static void put_head(const hd_overhead_table *t, hd_buf *out) {
  hd_buf_printf(
      out,
      "# The cost of plans\n\n"
      "Made by `%s`; only the part from \"Notes\" on is written by hand.\n\n"
      "Each plan is applied to each workload (size %s, %zu of them); both kernels run on the emulator under "
      "the\nround-robin dispatcher. Instructions added are divided by the original's threads and CTAs; "
      "registers and memory\nare those that `ptxas -v` reports for sm_90; of several kernels the one with "
      "the "
      "largest increase counts.\nA plan's row leaves out the workloads for which the plan is refused. With "
      "few "
      "tasks a worker, agents and claims\nlook dearer than they are, because the search that finds no more "
      "work is counted too.\n",
      t->command, t->size, t->n_workloads);
}

hd_status hd_report_overhead(const hd_overhead_table *t, hd_buf *out, hd_diag *d) {
  static const column instructions[] = {{HD_OVERHEAD_THREAD, "instructions per thread"},
                                        {HD_OVERHEAD_CTA, "warp instructions per CTA"},
                                        {HD_OVERHEAD_PTX, "PTX instructions"}};
  static const column resources[] = {{HD_OVERHEAD_REGISTERS, "registers"},
                                     {HD_OVERHEAD_SHARED, "shared bytes"},
                                     {HD_OVERHEAD_LOCAL, "stack bytes"},
                                     {HD_OVERHEAD_SPILL, "spill bytes"}};
  bool assembled = false;
  for (size_t i = 0; i < t->n_plans * t->n_workloads; i++) assembled |= t->rows[i].assembled;
  put_head(t, out);
  hd_buf_puts(out, "\n## Instructions added\n\n");
  hd_status st = put_table(t, instructions, sizeof instructions / sizeof *instructions, out, d);
  hd_buf_puts(out, "\n## Registers and memory added\n\n");
  if (!assembled) hd_buf_puts(out, "Left out: nothing was assembled (ptxas comes with the CUDA toolkit).\n");
  if (st == HD_OK && assembled) {
    st = put_table(t, resources, sizeof resources / sizeof *resources, out, d);
    hd_buf_puts(out, "\n## Targets\n\n");
    put_targets(t, out);
    hd_buf_puts(out, "\nOutside (instructions per thread, registers):\n\n");
    for (size_t p = 0; p < t->n_plans; p++) put_misses(t, p, out);
  }
  return st == HD_OK && out->failed ? hd_nomem(d) : st;
}

void hd_overhead_keep_notes(const char *path, hd_buf *page) {
  hd_file f;
  const char *notes = NULL;
  if (strcmp(path, "-") != 0 && hd_file_open(path, &f, NULL) == HD_OK) {
    notes = memmem(f.data, f.len, "\n## Notes\n", 10);
    if (notes) hd_buf_put(page, notes, (size_t)(f.data + f.len - notes));
    hd_file_close(&f);
  }
}

/* ---- JSON ------------------------------------------------------------------------------ */

typedef struct cost {
  const char *workload;
  const hd_plan *plan;
  const hd_overhead_row *row;
  double values[HD_OVERHEAD_MEASURES];
} cost;

static bool was_applied(const void *row) { return ((const cost *)row)->row->status == HD_OK; }
static bool was_refused(const void *row) { return !was_applied(row); }
static bool was_assembled(const void *row) { return was_applied(row) && ((const cost *)row)->row->assembled; }

#define VALUE(measure) .place = {FIELD_REAL, .at = offsetof(cost, values) + (measure) * sizeof(double)}
static const field cost_fields[] = {
    {"workload", "workload", MEMBER(cost, workload)},
    {"plan", "plan", POINTED(cost, plan)},
    {"refused", .when = was_refused, THROUGH(cost, row, hd_overhead_row, why)},
    {.section = was_applied},
    {"instructions_per_thread", "+instructions/thread", .decimals = 1, VALUE(HD_OVERHEAD_THREAD)},
    {"warp_instructions_per_cta", "+warp instructions/CTA", .decimals = 1, VALUE(HD_OVERHEAD_CTA)},
    {"ptx_instructions", "+PTX lines", VALUE(HD_OVERHEAD_PTX)},
    {.section = was_assembled},
    {"registers", "+registers", VALUE(HD_OVERHEAD_REGISTERS)},
    {"shared_bytes", "+shared bytes", VALUE(HD_OVERHEAD_SHARED)},
    {"stack_bytes", "+stack bytes", VALUE(HD_OVERHEAD_LOCAL)},
    {"spill_bytes", "+spill bytes", VALUE(HD_OVERHEAD_SPILL)},
    {.section = was_refused},
    {.heading = "refused", .absent = "", THROUGH(cost, row, hd_overhead_row, why)},
    {0},
};

static cost cost_of(const hd_overhead_table *t, size_t i) {
  cost one = {t->workloads[i / t->n_plans], &t->plans[i % t->n_plans], &t->rows[i], {0}};
  for (int m = 0; m < HD_OVERHEAD_MEASURES && was_applied(&one); m++)
    one.values[m] = hd_overhead_value(one.row, (hd_overhead_measure)m);
  return one;
}

void hd_overhead_json(const hd_overhead_table *t, hd_buf *out) {
  json_t *rows = json_array();
  for (size_t i = 0; rows && i < t->n_workloads * t->n_plans; i++) {
    const cost one = cost_of(t, i);
    rows = report_append(rows, report_fields_json(cost_fields, &one));
  }
  report_put_json(rows, out);
}

void hd_overhead_text(const hd_overhead_table *t, hd_buf *out) {
  field_sheet sheet = report_list(cost_fields);
  for (size_t i = 0; i < t->n_workloads * t->n_plans; i++) {
    const cost one = cost_of(t, i);
    report_sheet_row(&sheet, &one);
  }
  report_put_sheet(&sheet, out);
}
