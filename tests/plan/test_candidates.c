/* The plans that are tried: each different from the others on its grid. */
#include "plan/generate.h"

enum { MOST = 512 };

static size_t candidates(const uint32_t g[3], hd_plan *out) {
  size_t n = hd_plan_candidates(g, out, MOST);
  assert_in_range(n, 1, MOST);
  return n;
}

static void the_baseline_comes_first_and_every_candidate_is_canonical(void **state) {
  random_stream r = {.seed = 0xca};
  hd_plan plans[MOST];
  for (int c = 0; c < 60; c++) {
    uint32_t g[3];
    draw_grid(&r, g);
    size_t n = candidates(g, plans);
    assert_true(hd_plan_is_baseline(&plans[0]));
    for (size_t i = 0; i < n; i++) {
      hd_buf b = {0};
      hd_plan again;
      hd_plan_print(&plans[i], &b);
      assert_int_equal(hd_plan_parse(b.data, &again, NULL), HD_OK);
      assert_true(hd_plan_equal(&plans[i], &again));
      hd_buf_free(&b);
    }
  }
}

static void no_two_orders_of_a_small_grid_do_the_same(void **state) {
  random_stream r = {.seed = 0xcb};
  hd_plan plans[MOST];
  for (int c = 0; c < 40; c++) {
    hd_grid grid = {.known = true, .n_sms = 3};
    draw_grid(&r, grid.g);
    size_t n = candidates(grid.g, plans);
    hd_table t[MOST];
    for (size_t i = 0; i < n; i++) {
      assert_int_equal(hd_plan_tabulate(&plans[i], &grid, NULL, &t[i], NULL), HD_OK);
      for (size_t k = 0; k < i; k++)
        if (plans[k].bind == plans[i].bind &&
            memcmp(t[i].task, t[k].task, (size_t)t[i].n * sizeof *t[i].task) == 0) {
          char one[256], other[256];
          fail_msg("%s and %s", describe(&plans[i], &grid, one), describe(&plans[k], &grid, other));
        }
    }
    for (size_t i = 0; i < n; i++) hd_table_free(&t[i]);
  }
}

static void no_two_orders_of_a_large_grid_do_the_same(void **state) {
  static const uint32_t grids[][3] = {{1024, 1024, 1}, {4096, 17, 1},   {17, 4096, 1},
                                      {1 << 20, 1, 1}, {1, 65535, 1},   {1, 1, 65535},
                                      {256, 256, 256}, {65536, 2, 1},   {3, 40000, 1},
                                      {1, 400, 400},   {400, 1, 400},   {INT32_MAX, 65535, 65535},
                                      {2, 65535, 1},   {1000, 1000, 2}, {INT32_MAX, 1, 1}};
  hd_plan plans[MOST];
  for (size_t c = 0; c < sizeof grids / sizeof *grids; c++) {
    hd_grid grid = {.known = true, .g = {grids[c][0], grids[c][1], grids[c][2]}, .n_sms = 3};
    uint64_t V;
    assert_true(hd_grid_tasks(grid.g, &V));
    size_t n = candidates(grid.g, plans);
    assert_true(n >= 8);
    for (size_t i = 0; i < n; i++)
      for (size_t k = 0; k < i; k++) {
        if (plans[k].bind != plans[i].bind) continue;
        hd_prog a, b;
        bool differ = false;
        assert_int_equal(hd_plan_forward(&plans[i], &grid, &a, NULL), HD_OK);
        assert_int_equal(hd_plan_forward(&plans[k], &grid, &b, NULL), HD_OK);
        for (uint64_t s = 0; s < 4096 && !differ; s++) {
          uint64_t u = s < 2048 ? s : hd_random_at(7, s) % V, x[3], y[3];
          hd_prog_eval(&a, grid.g, u, NULL, x);
          hd_prog_eval(&b, grid.g, u, NULL, y);
          differ = memcmp(x, y, sizeof x) != 0;
        }
        char one[256], other[256];
        if (!differ)
          fail_msg("%s and %s", describe(&plans[i], &grid, one), describe(&plans[k], &grid, other));
      }
  }
}

static bool offers(const hd_plan *plans, size_t n, const char *notation) {
  hd_plan p;
  assert_int_equal(hd_plan_parse(notation, &p, NULL), HD_OK);
  bool found = false;
  for (size_t i = 0; i < n; i++) found |= hd_plan_equal(&plans[i], &p);
  return found;
}

static void a_plane_is_offered_what_won_on_planes(void **state) {
  static const char *const some[] = {"order=col",       "order=band:4",  "order=band:32",
                                     "order=tile:8x4",  "order=hilbert", "order=reverse",
                                     "order=zigzag:64", "bind=redirect", "order=band:4,bind=redirect"};
  hd_plan plans[MOST];
  size_t n = candidates((const uint32_t[3]){64, 48, 1}, plans);
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    if (!offers(plans, n, some[i])) fail_msg("%s", some[i]);
}

static void a_line_is_offered_strides_and_no_shapes(void **state) {
  hd_plan plans[MOST];
  size_t n = candidates((const uint32_t[3]){4096, 1, 1}, plans);
  assert_true(offers(plans, n, "order=stride:64x1"));
  assert_true(offers(plans, n, "order=reverse"));
  for (size_t i = 0; i < n; i++) {
    hd_order_kind k = plans[i].order.kind;
    assert_true(k == HD_ORDER_ROW || k == HD_ORDER_STRIDE || k == HD_ORDER_ZIGZAG || k == HD_ORDER_REVERSE);
  }
}

static void one_task_has_one_candidate_and_no_task_none(void **state) {
  hd_plan plans[MOST];
  assert_int_equal(candidates((const uint32_t[3]){1, 1, 1}, plans), 1);
  assert_int_equal(hd_plan_candidates((const uint32_t[3]){0, 1, 1}, plans, MOST), 0);
  assert_int_equal(hd_plan_candidates((const uint32_t[3]){UINT32_MAX, UINT32_MAX, UINT32_MAX}, plans, MOST),
                   0);
}

static void no_more_than_cap_are_stored_and_all_are_counted(void **state) {
  static const uint32_t g[3] = {20, 20, 1};
  hd_plan all[MOST], some[MOST];
  size_t n = candidates(g, all);
  assert_int_equal(hd_plan_candidates(g, NULL, 0), n);
  for (size_t cap = 0; cap < n; cap += 5) {
    memset(some, 0xee, sizeof some);
    assert_int_equal(hd_plan_candidates(g, some, cap), n);
    for (size_t i = 0; i < cap; i++) assert_true(hd_plan_equal(&some[i], &all[i]));
    for (size_t i = 0; i < sizeof some[cap]; i++) assert_int_equal(((unsigned char *)&some[cap])[i], 0xee);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_baseline_comes_first_and_every_candidate_is_canonical),
      cmocka_unit_test(no_two_orders_of_a_small_grid_do_the_same),
      cmocka_unit_test(no_two_orders_of_a_large_grid_do_the_same),
      cmocka_unit_test(a_plane_is_offered_what_won_on_planes),
      cmocka_unit_test(a_line_is_offered_strides_and_no_shapes),
      cmocka_unit_test(one_task_has_one_candidate_and_no_task_none),
      cmocka_unit_test(no_more_than_cap_are_stored_and_all_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
