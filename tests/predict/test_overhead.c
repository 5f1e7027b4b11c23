/* The overhead of plans: the numbers add up, and the targets are judged as stated. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/overhead.h"
#include "session.h"

#define SMS 4

/* ---- One workload ------------------------------------------------------------------ */

static void instructions_are_those_that_check_counts(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("matmul-naive", "tiny");
  const hd_plan plans[] = {parse_plan("baseline"), parse_plan("order=col"), parse_plan("bind=agents")};
  enum { N = sizeof plans / sizeof *plans };
  const hd_overhead_options o = {.run = {.compile.arch = 80, .machine.n_sms = SMS}, .no_assembler = true};
  hd_overhead_row rows[N];
  hd_diag d = {0};
  if (hd_overhead(w, plans, N, &o, rows, &d) != HD_OK) fail_msg("%s", d.message);
  const hd_dispatch_kind one = HD_DISPATCH_ROUND_ROBIN;
  const hd_check_options c = {.run = o.run, .dispatchers = &one, .n_dispatchers = 1, .no_reference = true};
  for (size_t i = 0; i < N; i++) {
    hd_check_result r;
    if (hd_check(w, &plans[i], &c, &r, &d) != HD_OK) fail_msg("%s", d.message);
    assert_int_equal(rows[i].status, HD_OK);
    assert_int_equal(rows[i].thread_before, r.thread_instructions);
    assert_int_equal(rows[i].thread_after, r.thread_instructions_rewritten);
    assert_int_equal(rows[i].threads, rows[i].ctas * 256);
    assert_false(rows[i].assembled);
  }
  assert_int_equal(rows[0].ptx_before, rows[0].ptx_after);
  assert_true(rows[1].ptx_after > rows[1].ptx_before);
  /* The order is straight-line code at entry: each thread runs as many more instructions as the text has. */
  assert_true(hd_overhead_value(&rows[1], HD_OVERHEAD_THREAD) ==
              (double)(rows[1].thread_after - rows[1].thread_before) / (double)rows[1].threads);
  assert_true(hd_overhead_value(&rows[1], HD_OVERHEAD_THREAD) <=
              hd_overhead_value(&rows[1], HD_OVERHEAD_PTX));
  hd_workload_close(w);
}

static void registers_are_left_out_where_there_is_no_ptxas(void **state) {
  skip_without_compiler();
  hd_workload *w = open_workload("transpose", "tiny");
  const hd_plan plan = parse_plan("order=col");
  const hd_overhead_options o = {.run = {.machine.n_sms = SMS}};
  hd_overhead_row row;
  hd_diag d = {0};
  if (hd_overhead(w, &plan, 1, &o, &row, &d) != HD_OK) fail_msg("%s", d.message);
  if (system("command -v ptxas >/dev/null") == 0) {
    assert_true(row.assembled);
    assert_int_equal(row.spill_added, 0);
  } else {
    assert_false(row.assembled);
    assert_non_null(strstr(row.not_assembled, "ptxas"));
  }
  hd_workload_close(w);
}

/* ---- Many workloads ----------------------------------------------------------------- */

enum { WORKLOADS = 20 };

/* Workload i costs i instructions per thread and `registers[i]` registers. */
static void fill(hd_overhead_row *rows, const int64_t *registers) {
  for (size_t i = 0; i < WORKLOADS; i++)
    rows[i] = (hd_overhead_row){.ctas = 1,
                                .threads = 10,
                                .thread_before = 100,
                                .thread_after = 100 + 10 * i,
                                .assembled = true,
                                .registers_added = registers ? registers[i] : 0};
}

static void medians_percentiles_and_targets_are_as_stated(void **state) {
  hd_overhead_row rows[WORKLOADS];
  const char *names[WORKLOADS];
  int64_t registers[WORKLOADS] = {0};
  const hd_plan order = parse_plan("order=col"), agents = parse_plan("bind=agents"),
                throttled = parse_plan("bind=agents:2");
  hd_overhead_table t = {.plans = &order,
                         .n_plans = 1,
                         .workloads = names,
                         .n_workloads = WORKLOADS,
                         .rows = rows,
                         .size = "tiny",
                         .command = "test"};
  hd_overhead_summary s;
  size_t within, of;
  for (size_t i = 0; i < WORKLOADS; i++) names[i] = "w";
  registers[3] = 1;
  fill(rows, registers);
  assert_int_equal(hd_overhead_summarise(&t, 0, HD_OVERHEAD_THREAD, &s, NULL), HD_OK);
  assert_int_equal(s.n, WORKLOADS);
  assert_true(s.median == 9.5 && s.p90 == 17 && s.worst == 19 && s.worst_workload == 19);
  /* Costs 0 to 12 are within, but for workload 3, whose registers are not. */
  assert_int_equal(hd_overhead_meets(&t, 0, &within, &of), HD_OVERHEAD_ORDER);
  assert_int_equal(within, 12);
  assert_int_equal(of, WORKLOADS);
  /* Agents are held to registers alone. */
  registers[4] = 4;
  registers[5] = 3;
  fill(rows, registers);
  t.plans = &agents;
  assert_int_equal(hd_overhead_meets(&t, 0, &within, &of), HD_OVERHEAD_AGENTS);
  assert_int_equal(within, WORKLOADS - 1);
  t.plans = &throttled;
  assert_int_equal(hd_overhead_meets(&t, 0, &within, &of), HD_OVERHEAD_NO_TARGET);
  /* Kernels that are refused, or not assembled, count neither for a target nor against it. */
  t.plans = &agents;
  rows[4].status = HD_ERR_REFUSED;
  rows[6].assembled = false;
  hd_overhead_meets(&t, 0, &within, &of);
  assert_int_equal(of, WORKLOADS - 2);
  assert_int_equal(within, WORKLOADS - 2);
  assert_int_equal(hd_overhead_summarise(&t, 0, HD_OVERHEAD_REGISTERS, &s, NULL), HD_OK);
  assert_int_equal(s.n, WORKLOADS - 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("instructions are those that check counts", instructions_are_those_that_check_counts),
      BEHAVIOUR("registers are left out where there is no ptxas",
                registers_are_left_out_where_there_is_no_ptxas),
      BEHAVIOUR("medians, percentiles and targets are as stated",
                medians_percentiles_and_targets_are_as_stated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
