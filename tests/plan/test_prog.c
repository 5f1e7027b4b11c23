/* The builder: folding, reuse, loops, dead values, and the programs' cost. */
#include "plan/checked.h"
#include "plan/generate.h"
#include "plan/order.h"

typedef struct fixture {
  plan_builder b;
  hd_prog p;
  checked_run run;
} fixture;

static const uint32_t NO_GRID[3] = {1, 1, 1};

static void finish(fixture *f, plan_val out) {
  assert_int_equal(plan_finish(&f->b, (const plan_val[3]){out, out, out}, &f->p, NULL), HD_OK);
}

/* Checked, by hd_prog_eval, and by every batch evaluator, from 0 to n - 1. */
static void check_results(fixture *f, uint64_t n, uint64_t (*want)(uint64_t)) {
  hd_table t = {calloc(n, sizeof(uint32_t)), n};
  assert_non_null(t.task);
  for (uint64_t i = 0; i < n; i++) {
    uint64_t out[3], again[3];
    if (!checked_eval(&f->run, &f->p, NO_GRID, i, NULL, out)) fail_msg("%s", f->run.why);
    hd_prog_eval(&f->p, NO_GRID, i, NULL, again);
    assert_int_equal(out[0], want(i));
    assert_int_equal(again[0], want(i));
  }
  for (size_t r = 0; r < plan_runners(); r++) {
    if (!plan_runner_fits(r, &f->p)) continue;
    assert_true(plan_run(r, &f->p, NO_GRID, NULL, &t));
    for (uint64_t i = 0; i < n; i++) assert_int_equal(t.task[i], want(i));
  }
  free(t.task);
}

static unsigned operations(const hd_prog *p) {
  unsigned n = 0;
  for (uint32_t i = 0; i < p->n; i++) n += p->vals[i].op > HD_P_VAR && plan_ops[p->vals[i].op].has_value;
  return n;
}

/* Random operations on random ranges: whatever the builder folds or reuses, the
 * result is that of the plain operation. */
static void folding_never_changes_a_result(void **state) {
  enum { VALUES = 40, INPUTS = 97 };
  static const hd_pop ops[] = {HD_P_ADD, HD_P_SUB, HD_P_MUL, HD_P_DIV, HD_P_REM, HD_P_MIN, HD_P_MAX,
                               HD_P_AND, HD_P_OR,  HD_P_XOR, HD_P_SHL, HD_P_SHR, HD_P_LT,  HD_P_EQ};
  fixture *f = *state;
  random_stream r = {.seed = 0xf01d};
  for (int c = 0; c < 400; c++) {
    static uint64_t plain[VALUES][INPUTS];
    plan_val val[VALUES];
    plan_begin(&f->b);
    val[0] = plan_input(&f->b, HD_P_POS, 0, INPUTS - 1);
    for (uint64_t i = 0; i < INPUTS; i++) plain[0][i] = i;
    for (int n = 1; n < VALUES; n++) {
      if (draw(&r, 0, 3) == 0) {
        uint64_t k = draw(&r, 0, 5) ? draw(&r, 0, 9) : (uint64_t)1 << draw(&r, 0, 20);
        val[n] = plan_const(&f->b, k);
        for (int i = 0; i < INPUTS; i++) plain[n][i] = k;
        continue;
      }
      int x = (int)draw(&r, 0, (uint64_t)n - 1), y = (int)draw(&r, 0, (uint64_t)n - 1),
          z = (int)draw(&r, 0, (uint64_t)n - 1);
      if (draw(&r, 0, 6) == 0) {
        val[n] = plan_select(&f->b, val[x], val[y], val[z]);
        for (int i = 0; i < INPUTS; i++) plain[n][i] = plain[x][i] ? plain[y][i] : plain[z][i];
        continue;
      }
      hd_pop op = ops[draw(&r, 0, sizeof ops / sizeof *ops - 1)];
      bool fits = true; /* the builder's rules: no wrapping, no zero divisor, shifts below 64 */
      for (int i = 0; i < INPUTS; i++) {
        uint64_t a = plain[x][i], b = plain[y][i], *to = &plain[n][i];
        switch (op) {
        case HD_P_ADD: fits &= !__builtin_add_overflow(a, b, to); break;
        case HD_P_SUB: fits &= !__builtin_sub_overflow(a, b, to); break;
        case HD_P_MUL: fits &= !__builtin_mul_overflow(a, b, to); break;
        case HD_P_DIV: *to = b ? a / b : 0; break;
        case HD_P_REM: *to = b ? a % b : 0; break;
        case HD_P_MIN: *to = a < b ? a : b; break;
        case HD_P_MAX: *to = a > b ? a : b; break;
        case HD_P_AND: *to = a & b; break;
        case HD_P_OR: *to = a | b; break;
        case HD_P_XOR: *to = a ^ b; break;
        case HD_P_SHL: *to = b < 64 ? a << b : 0; break;
        case HD_P_SHR: *to = b < 64 ? a >> b : 0; break;
        case HD_P_LT: *to = a < b; break;
        default: *to = a == b; break;
        }
        if (op == HD_P_SHL) fits &= b < 64 && *to >> b == a;
        if (op == HD_P_SHR) fits &= b < 64;
      }
      if (op == HD_P_DIV || op == HD_P_REM) fits &= plan_lo(&f->b, val[y]) > 0;
      if (op == HD_P_SHL || op == HD_P_SHR) fits &= plan_hi(&f->b, val[y]) < 64;
      if (!fits) {
        n--;
        continue;
      }
      val[n] = plan_op(&f->b, op, val[x], val[y]);
    }
    for (int n = 0; n < VALUES; n++) {
      finish(f, val[n]);
      for (int i = 0; i < INPUTS; i++) {
        uint64_t out[3];
        if (!checked_eval(&f->run, &f->p, NO_GRID, (uint64_t)i, NULL, out)) fail_msg("%s", f->run.why);
        assert_int_equal(out[0], plain[n][i]);
      }
    }
  }
}

static void an_equal_value_is_computed_once(void **state) {
  fixture *f = *state;
  plan_begin(&f->b);
  plan_val p = plan_input(&f->b, HD_P_POS, 0, 99), q = plan_input(&f->b, HD_P_NX, 1, 99);
  assert_int_equal(plan_add(&f->b, p, q), plan_add(&f->b, q, p));
  assert_int_equal(plan_div(&f->b, p, q), plan_div(&f->b, p, q));
  assert_int_not_equal(plan_sub(&f->b, p, q), plan_sub(&f->b, q, p));
  assert_int_equal(plan_const(&f->b, 7), plan_const(&f->b, 7));
}

static void what_no_output_needs_is_dropped(void **state) {
  fixture *f = *state;
  plan_begin(&f->b);
  plan_val p = plan_input(&f->b, HD_P_POS, 0, 99), three = plan_const(&f->b, 3);
  plan_val v = plan_var(&f->b, three, 1000);
  plan_loop(&f->b); /* a loop for a variable without readers */
  plan_val next = plan_bound(&f->b, plan_add(&f->b, v, three), 0, 1000);
  plan_assign(&f->b, 1, &v, &next);
  plan_break_if(&f->b, plan_lt(&f->b, plan_const(&f->b, 50), next));
  plan_end_loop(&f->b);
  finish(f, plan_mul(&f->b, p, three));
  assert_int_equal(f->p.n, 3);
  assert_int_equal(f->p.vals[f->p.out[0]].op, HD_P_MUL);
}

/* ---- Loops ---------------------------------------------------------------------- */

static uint64_t triangle(uint64_t n) { return n * (n + 1) / 2; }

static void a_loop_runs_as_often_as_each_lane_needs(void **state) {
  fixture *f = *state;
  plan_begin(&f->b);
  plan_val n = plan_input(&f->b, HD_P_POS, 0, 999), zero = plan_const(&f->b, 0);
  plan_val i = plan_var(&f->b, zero, 1000), sum = plan_var(&f->b, zero, 1000000);
  plan_loop(&f->b);
  plan_break_if(&f->b, plan_eq(&f->b, i, n)); /* zero times for n = 0 */
  plan_val up = plan_bound(&f->b, plan_add(&f->b, i, plan_const(&f->b, 1)), 0, 1000);
  plan_val more = plan_bound(&f->b, plan_add(&f->b, sum, up), 0, 1000000);
  plan_assign(&f->b, 2, (const plan_val[2]){i, sum}, (const plan_val[2]){up, more});
  plan_end_loop(&f->b);
  finish(f, sum);
  check_results(f, 1000, triangle);
}

static uint64_t divisors_sum(uint64_t n) { /* number of pairs (a, b), a, b >= 1, a*b <= n */
  uint64_t s = 0;
  for (uint64_t a = 1; a <= n; a++) s += n / a;
  return s;
}

static void loops_nest(void **state) {
  fixture *f = *state;
  enum { N = 60 };
  plan_begin(&f->b);
  plan_val n = plan_input(&f->b, HD_P_POS, 0, N - 1), one = plan_const(&f->b, 1), zero = plan_const(&f->b, 0);
  plan_val a = plan_var(&f->b, one, N + 1), count = plan_var(&f->b, zero, N * N);
  plan_loop(&f->b);
  plan_break_if(&f->b, plan_lt(&f->b, n, a));
  plan_val left = plan_var(&f->b, n, N); /* declared again in each iteration */
  plan_loop(&f->b);
  plan_break_if(&f->b, plan_lt(&f->b, left, a));
  plan_val less = plan_sub(&f->b, left, a);
  plan_val more = plan_bound(&f->b, plan_add(&f->b, count, one), 0, N * N);
  plan_assign(&f->b, 2, (const plan_val[2]){left, count}, (const plan_val[2]){less, more});
  plan_end_loop(&f->b);
  plan_val next = plan_bound(&f->b, plan_add(&f->b, a, one), 0, N + 1);
  plan_assign(&f->b, 1, &a, &next);
  plan_end_loop(&f->b);
  finish(f, count);
  check_results(f, N, divisors_sum);
}

/* Lanes that have left the outer loop stay out of the inner one. */
static void a_lane_that_left_an_outer_loop_rests(void **state) {
  fixture *f = *state;
  enum { N = 50 };
  plan_begin(&f->b);
  plan_val n = plan_input(&f->b, HD_P_POS, 0, N - 1), one = plan_const(&f->b, 1), zero = plan_const(&f->b, 0);
  plan_val i = plan_var(&f->b, zero, N), count = plan_var(&f->b, zero, N * N);
  plan_loop(&f->b);
  plan_break_if(&f->b, plan_eq(&f->b, i, n));
  plan_val j = plan_var(&f->b, zero, N);
  plan_loop(&f->b); /* i + 1 times */
  plan_val more = plan_bound(&f->b, plan_add(&f->b, count, one), 0, N * N);
  plan_val right = plan_bound(&f->b, plan_add(&f->b, j, one), 0, N);
  plan_val last = plan_eq(&f->b, i, j);
  plan_assign(&f->b, 2, (const plan_val[2]){j, count}, (const plan_val[2]){right, more});
  plan_break_if(&f->b, last);
  plan_end_loop(&f->b);
  plan_val down = plan_bound(&f->b, plan_add(&f->b, i, one), 0, N);
  plan_assign(&f->b, 1, &i, &down);
  plan_end_loop(&f->b);
  finish(f, count);
  check_results(f, N, triangle);
}

static uint64_t twice(uint64_t n) { return 2 * n; }

static void a_second_loop_runs_after_a_first(void **state) {
  fixture *f = *state;
  enum { N = 300 };
  plan_begin(&f->b);
  plan_val n = plan_input(&f->b, HD_P_POS, 0, N - 1), one = plan_const(&f->b, 1), zero = plan_const(&f->b, 0);
  plan_val sum = plan_var(&f->b, zero, 2 * N);
  for (int k = 0; k < 2; k++) {
    plan_val i = plan_var(&f->b, zero, N);
    plan_loop(&f->b);
    plan_break_if(&f->b, plan_eq(&f->b, i, n));
    plan_val up = plan_bound(&f->b, plan_add(&f->b, i, one), 0, N);
    plan_val more = plan_bound(&f->b, plan_add(&f->b, sum, one), 0, 2 * N);
    plan_assign(&f->b, 2, (const plan_val[2]){i, sum}, (const plan_val[2]){up, more});
    plan_end_loop(&f->b);
  }
  finish(f, sum);
  check_results(f, N, twice);
}

static uint64_t parity(uint64_t n) { return n % 2 ? 20 : 10; }

static void two_variables_swap(void **state) {
  fixture *f = *state;
  plan_begin(&f->b);
  plan_val n = plan_input(&f->b, HD_P_POS, 0, 99), one = plan_const(&f->b, 1);
  plan_val a = plan_var(&f->b, plan_const(&f->b, 10), 20), b = plan_var(&f->b, plan_const(&f->b, 20), 20);
  plan_val left = plan_var(&f->b, n, 99);
  plan_loop(&f->b);
  plan_break_if(&f->b, plan_eq(&f->b, left, plan_const(&f->b, 0)));
  plan_val less = plan_bound(&f->b, plan_sub(&f->b, left, one), 0, 98);
  plan_assign(&f->b, 3, (const plan_val[3]){a, b, left}, (const plan_val[3]){b, a, less});
  plan_end_loop(&f->b);
  finish(f, a);
  check_results(f, 100, parity);
}

static void a_bound_says_nothing_of_what_a_variable_becomes(void **state) {
  fixture *f = *state;
  plan_begin(&f->b);
  plan_val v = plan_var(&f->b, plan_const(&f->b, 0), 1000);
  assert_int_equal(plan_bound(&f->b, v, 0, 0), v);
  assert_int_equal(plan_hi(&f->b, v), 1000);
}

static void values_of_a_loop_are_not_reused_behind_it(void **state) {
  fixture *f = *state;
  plan_begin(&f->b);
  plan_val p = plan_input(&f->b, HD_P_POS, 0, 99), five = plan_const(&f->b, 5);
  plan_loop(&f->b);
  plan_val inside = plan_add(&f->b, p, five), nine = plan_const(&f->b, 9);
  plan_break_if(&f->b, plan_const(&f->b, 1));
  plan_end_loop(&f->b);
  assert_int_not_equal(plan_add(&f->b, p, five), inside);
  assert_int_equal(plan_const(&f->b, 9), nine); /* a constant is the same anywhere */
}

static uint64_t fibonacci(uint64_t n) {
  uint64_t a = 0, b = 1;
  while (n--) {
    uint64_t t = a + b;
    a = b;
    b = t;
  }
  return a;
}

static void variables_are_assigned_all_at_once(void **state) {
  fixture *f = *state;
  enum { N = 40 };
  plan_begin(&f->b);
  plan_val n = plan_input(&f->b, HD_P_POS, 0, N), zero = plan_const(&f->b, 0), one = plan_const(&f->b, 1);
  plan_val a = plan_var(&f->b, zero, UINT32_MAX), b = plan_var(&f->b, one, UINT32_MAX);
  plan_val i = plan_var(&f->b, zero, N + 1);
  plan_loop(&f->b);
  plan_break_if(&f->b, plan_eq(&f->b, i, n));
  plan_val sum = plan_bound(&f->b, plan_add(&f->b, a, b), 0, UINT32_MAX);
  plan_val up = plan_bound(&f->b, plan_add(&f->b, i, one), 0, N + 1);
  plan_assign(&f->b, 3, (const plan_val[3]){a, b, i}, (const plan_val[3]){b, sum, up});
  plan_end_loop(&f->b);
  finish(f, a);
  check_results(f, N + 1, fibonacci);
}

static void values_of_a_variable_are_not_reused_once_it_may_have_changed(void **state) {
  fixture *f = *state;
  plan_begin(&f->b);
  plan_val p = plan_input(&f->b, HD_P_POS, 0, 99), five = plan_const(&f->b, 5), one = plan_const(&f->b, 1);
  plan_val v = plan_var(&f->b, p, 1000);
  plan_val before = plan_add(&f->b, v, five);
  assert_int_equal(plan_add(&f->b, v, five), before);
  plan_loop(&f->b);
  assert_int_not_equal(plan_add(&f->b, v, five), before); /* the second iteration differs */
  plan_val inside = plan_add(&f->b, v, five);
  assert_int_equal(plan_add(&f->b, before, one), plan_add(&f->b, before, one));
  plan_val next = plan_bound(&f->b, plan_add(&f->b, v, one), 0, 1000);
  plan_assign(&f->b, 1, &v, &next);
  assert_int_not_equal(plan_add(&f->b, v, five), inside);
  plan_break_if(&f->b, plan_lt(&f->b, plan_const(&f->b, 50), v));
  plan_end_loop(&f->b);
  plan_val after = plan_add(&f->b, v, five);
  assert_int_not_equal(after, inside);
  assert_int_not_equal(after, before);
  finish(f, after);
  uint64_t out[3];
  assert_true(checked_eval(&f->run, &f->p, NO_GRID, 7, NULL, out));
  assert_int_equal(out[0], 56);
  assert_true(checked_eval(&f->run, &f->p, NO_GRID, 70, NULL, out));
  assert_int_equal(out[0], 76);
}

/* ---- Programs of orders ------------------------------------------------------------- */

static void order_program(fixture *f, const char *notation, hd_grid grid) {
  hd_plan p;
  assert_int_equal(hd_plan_parse(notation, &p, NULL), HD_OK);
  assert_int_equal(hd_plan_forward(&p, &grid, &f->p, NULL), HD_OK);
}

static void a_program_prints_one_value_a_line(void **state) {
  fixture *f = *state;
  static const struct {
    const char *plan;
    hd_grid grid;
    const char *text;
  } cases[] = {
      {"order=col",
       {true, {24, 10, 1}, 1},
       "v0 = const 0\n"
       "v1 = const 10\n"
       "v2 = pos  # <= 239\n"
       "v3 = div v2, 10  # <= 23\n"
       "v4 = mul v3, 10  # <= 230\n"
       "v5 = sub v2, v4  # <= 9\n"
       "out v3 v5 0\n"},
      {"order=reverse",
       {true, {7, 1, 1}, 1},
       "v0 = const 0\n"
       "v1 = pos  # <= 6\n"
       "v2 = const 6\n"
       "v3 = sub 6, v1  # <= 6\n"
       "out v3 0 0\n"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_buf b = {0};
    order_program(f, cases[i].plan, cases[i].grid);
    hd_prog_print(&f->p, &b);
    assert_string_equal(b.data, cases[i].text);
    hd_buf_free(&b);
  }
}

static void a_loop_prints_indented(void **state) {
  fixture *f = *state;
  hd_buf b = {0};
  order_program(f, "order=hilbert", (hd_grid){true, {6, 5, 1}, 1});
  hd_prog_print(&f->p, &b);
  const char *loop = strstr(b.data, "\nloop\n  v"), *end = strstr(b.data, "\nendloop\nout v");
  assert_non_null(loop);
  assert_non_null(end);
  assert_non_null(strstr(loop, " := v"));
  assert_non_null(strstr(loop, "\n  break_if v"));
  assert_true(loop < end);
  hd_buf_free(&b);
}

/* Operations of forward programs: an upper bound that only a better program may lower. */
static void known_grids_fold_programs_to_few_operations(void **state) {
  fixture *f = *state;
  static const struct {
    const char *plan;
    hd_grid grid;
    unsigned operations;
  } cases[] = {
      {"order=row", {true, {1000, 1, 1}, 1}, 0},
      {"order=row", {true, {1, 1000, 1}, 1}, 0},
      {"order=row", {true, {1000, 1000, 1}, 1}, 3},
      {"order=row", {true, {1024, 1024, 1}, 1}, 2},
      {"order=row", {true, {50, 60, 70}, 1}, 6},
      {"order=col", {true, {1000, 1, 1}, 1}, 0},
      {"order=col", {true, {1000, 1000, 1}, 1}, 3},
      {"order=band:8", {true, {1000, 1000, 1}, 1}, 7},
      {"order=band:8", {true, {1000, 1001, 1}, 1}, 12},
      {"order=band:2000", {true, {1000, 1001, 1}, 1}, 3},
      {"order=band:1", {true, {1000, 1001, 1}, 1}, 3},
      {"order=tile:8x4", {true, {1000, 1000, 1}, 1}, 11},
      {"order=tile:8x4", {true, {1001, 1001, 1}, 1}, 21},
      {"order=tile:1000x4", {true, {1000, 1000, 1}, 1}, 3},
      {"order=tile:8x1", {true, {1000, 1000, 1}, 1}, 3},
      {"order=tile:4x4", {true, {1, 1000, 1}, 1}, 0},
      {"order=zigzag:1000", {true, {1000, 1000, 1}, 1}, 6},
      {"order=stride:1x7", {true, {1000, 1000, 1}, 1}, 3},
      {"order=stride:2000000x1", {true, {1000, 1000, 1}, 1}, 3},
      {"order=hilbert", {true, {1000, 1, 1}, 1}, 0},
      {"order=reverse", {true, {1000, 1, 1}, 1}, 1},
      {"bind=redirect", {true, {1320, 1, 1}, 132}, 5},
      {"bind=redirect", {true, {1000, 1, 1}, 132}, 7},
      {"bind=redirect", {true, {100, 1, 1}, 132}, 0},
      {"bind=redirect", {true, {100, 1, 1}, 1}, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    order_program(f, cases[i].plan, cases[i].grid);
    if (operations(&f->p) > cases[i].operations) {
      hd_buf b = {0};
      hd_prog_print(&f->p, &b);
      fail_msg("case %zu, %s: %u operations, not %u:\n%s", i, cases[i].plan, operations(&f->p),
               cases[i].operations, b.data);
    }
  }
}

static void programs_of_grids_below_2_32_tasks_stay_in_32_bits(void **state) {
  fixture *f = *state;
  random_stream r = {.seed = 0x32};
  for (int c = 0; c < 2000; c++) {
    hd_grid grid = {.known = true, .n_sms = (uint32_t)draw(&r, 1, 200)};
    grid.g[0] = (uint32_t)draw(&r, 1, 40000);
    grid.g[1] = (uint32_t)draw(&r, 1, 50000);
    grid.g[2] = 1;
    hd_plan p = draw_plan(&r, grid.g);
    assert_int_equal(hd_plan_forward(&p, &grid, &f->p, NULL), HD_OK);
    char text[256];
    for (uint32_t i = 0; i < f->p.n; i++)
      if (f->p.vals[i].max > UINT32_MAX) fail_msg("%s: v%u", describe(&p, &grid, text), i);
  }
}

static void loops_know_their_ends(void **state) {
  fixture *f = *state;
  order_program(f, "order=hilbert,bind=redirect", (hd_grid){.known = false, .n_sms = 132});
  unsigned loops = 0;
  for (uint32_t i = 0; i < f->p.n; i++) {
    const hd_pval *v = &f->p.vals[i];
    if (v->op == HD_P_LOOP) {
      assert_int_equal(f->p.vals[v->a].op, HD_P_ENDLOOP);
      assert_int_equal(f->p.vals[v->a].a, i);
      loops++;
    }
    if (v->op == HD_P_BREAK_IF) assert_int_equal(f->p.vals[v->b].op, HD_P_ENDLOOP);
  }
  assert_int_equal(loops, 1);
}

static int set_up(void **state) {
  *state = calloc(1, sizeof(fixture));
  return *state ? 0 : -1;
}

static int tear_down(void **state) {
  free(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(folding_never_changes_a_result),
      cmocka_unit_test(an_equal_value_is_computed_once),
      cmocka_unit_test(what_no_output_needs_is_dropped),
      cmocka_unit_test(a_loop_runs_as_often_as_each_lane_needs),
      cmocka_unit_test(loops_nest),
      cmocka_unit_test(a_lane_that_left_an_outer_loop_rests),
      cmocka_unit_test(a_second_loop_runs_after_a_first),
      cmocka_unit_test(two_variables_swap),
      cmocka_unit_test(a_bound_says_nothing_of_what_a_variable_becomes),
      cmocka_unit_test(values_of_a_loop_are_not_reused_behind_it),
      cmocka_unit_test(variables_are_assigned_all_at_once),
      cmocka_unit_test(values_of_a_variable_are_not_reused_once_it_may_have_changed),
      cmocka_unit_test(a_program_prints_one_value_a_line),
      cmocka_unit_test(a_loop_prints_indented),
      cmocka_unit_test(known_grids_fold_programs_to_few_operations),
      cmocka_unit_test(programs_of_grids_below_2_32_tasks_stay_in_32_bits),
      cmocka_unit_test(loops_know_their_ends),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
