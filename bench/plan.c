/* The cost of orders: operations of their programs, nanoseconds per evaluated position and nanoseconds per
 * tabulated task. Times are medians of several runs on one thread. */
#include "heddle/plan.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS = 7, EVALUATIONS = 1 << 17 };

typedef struct cost {
  unsigned divisions, others, loop_body; /* loop_body: of `others`, those in a loop */
} cost;

/* Instructions that lower to code: constants, inputs and variables are free. */
static cost count(const hd_prog *p) {
  cost c = {0};
  bool in_loop = false;
  for (uint32_t i = 0; i < p->n; i++) {
    hd_pop op = p->vals[i].op;
    if (op == HD_P_LOOP || op == HD_P_ENDLOOP) in_loop = op == HD_P_LOOP;
    if (op <= HD_P_VAR || op == HD_P_ASSIGN || op == HD_P_LOOP || op == HD_P_ENDLOOP) continue;
    bool division = op == HD_P_DIV || op == HD_P_REM;
    c.divisions += division;
    c.others += !division;
    c.loop_body += in_loop;
  }
  return c;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *t) {
  qsort(t, RUNS, sizeof *t, compare);
  return t[RUNS / 2];
}

static double ns_per_evaluation(const hd_prog *p, const uint32_t g[3], uint64_t V) {
  double t[RUNS];
  volatile uint64_t sink = 0;
  for (int r = 0; r < RUNS; r++) {
    double start = hd_seconds();
    uint64_t sum = 0, out[3];
    for (uint64_t i = 0; i < EVALUATIONS; i++) {
      hd_prog_eval(p, g, i * 0x9E3779B9u % V, NULL, out);
      sum += out[0] + out[1] + out[2];
    }
    sink += sum;
    t[r] = (hd_seconds() - start) * 1e9 / EVALUATIONS;
  }
  (void)sink;
  return median(t);
}

static double ns_per_task(const hd_plan *plan, const hd_grid *g, uint64_t V) {
  double t[RUNS];
  for (int r = 0; r < RUNS; r++) {
    hd_table table;
    double start = hd_seconds();
    if (hd_plan_tabulate(plan, g, NULL, &table, NULL) != HD_OK) return -1;
    t[r] = (hd_seconds() - start) * 1e9 / (double)V;
    hd_table_free(&table);
  }
  return median(t);
}

static void print_cost(cost c) {
  char text[32];
  if (c.loop_body)
    snprintf(text, sizeof text, "%u+%u (%u)", c.divisions, c.others, c.loop_body);
  else
    snprintf(text, sizeof text, "%u+%u", c.divisions, c.others);
  printf(" %-10s", text);
}

static void measure(const char *notation, const hd_grid *g) {
  hd_plan plan;
  hd_diag d;
  hd_grid unknown = {.known = false, .n_sms = g->n_sms};
  hd_prog forward, any;
  uint64_t V;
  if (!hd_grid_tasks(g->g, &V) || hd_plan_parse(notation, &plan, &d) != HD_OK) return;
  if (hd_plan_forward(&plan, g, &forward, &d) == HD_OK &&
      hd_plan_forward(&plan, &unknown, &any, &d) == HD_OK) {
    printf("%-26s", notation);
    print_cost(count(&forward));
    print_cost(count(&any));
    printf(" %8.1f %8.1f %8.2f\n", ns_per_evaluation(&forward, g->g, V), ns_per_evaluation(&any, g->g, V),
           ns_per_task(&plan, g, V));
  }
}

static void print_program(const char *notation, const hd_grid *g) {
  hd_plan plan;
  hd_prog prog;
  hd_buf b = {0};
  if (hd_plan_parse(notation, &plan, NULL) == HD_OK && hd_plan_forward(&plan, g, &prog, NULL) == HD_OK) {
    hd_prog_print(&prog, &b);
    printf("%s on %u x %u x %u\n%s\n", notation, g->g[0], g->g[1], g->g[2], b.data);
  }
  hd_buf_free(&b);
}

/* With a plan as argument: its program on each grid instead of the table. */
int main(int argc, char **argv) {
  static const char *const plans[] = {
      "order=row",
      "order=col",
      "order=band:8",
      "order=tile:8x4",
      "order=tile:32x32",
      "order=zigzag:128",
      "order=zigzag:16x4",
      "order=stride:16x1",
      "order=stride:16x4",
      "order=hilbert",
      "order=reverse",
      "bind=redirect",
      "order=col,bind=redirect",
      "order=tile:8x4,bind=redirect",
  };
  static const hd_grid grids[] = {
      {true, {1024, 1024, 1}, 128}, {true, {128, 1023, 1}, 132},  {true, {1021, 1019, 1}, 132},
      {true, {96, 96, 96}, 132},    {true, {1000003, 1, 1}, 132},
  };
  for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
    if (argc > 1) {
      print_program(argv[1], &grids[g]);
      continue;
    }
    printf("grid %u x %u x %u, %u SMs; operations as divisions+others (of these in the loop)\n",
           grids[g].g[0], grids[g].g[1], grids[g].g[2], grids[g].n_sms);
    printf("%-26s %-10s %-10s %8s %8s %8s\n", "plan", "forward", "any grid", "ns/eval", "any grid",
           "ns/task");
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) measure(plans[i], &grids[g]);
    printf("\n");
  }
  return 0;
}
