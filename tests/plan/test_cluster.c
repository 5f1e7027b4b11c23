/* Clusters (CLU 4.2): sizes, starts, membership, and the binding by redirection. */
#include "plan/generate.h"
#include "plan/reference.h"

static void clusters_are_contiguous_balanced_and_complete(void **state) {
  for (uint64_t V = 1; V <= 60; V++)
    for (uint64_t M = 1; M <= 65; M++) {
      uint64_t sum = 0, smallest = UINT64_MAX, largest = 0;
      for (uint64_t i = 0; i < M; i++) {
        uint64_t size = hd_cluster_size(V, M, i);
        assert_int_equal(hd_cluster_start(V, M, i), sum);
        if (i) assert_true(size <= hd_cluster_size(V, M, i - 1)); /* the longer ones come first */
        if (size < smallest) smallest = size;
        if (size > largest) largest = size;
        sum += size;
      }
      assert_int_equal(sum, V);
      assert_true(largest - smallest <= 1);
    }
}

static void every_task_is_found_in_its_cluster(void **state) {
  random_stream r = {.seed = 0xc1u};
  for (int c = 0; c < 20000; c++) {
    uint64_t most = draw(&r, 0, 1) ? 100 : (uint64_t)1 << draw(&r, 1, 63);
    uint64_t V = draw(&r, 1, most), M = draw(&r, 1, draw(&r, 0, 1) ? 200 : UINT32_MAX);
    uint64_t v = draw(&r, 0, V - 1), w, i;
    hd_cluster_of(V, M, v, &w, &i);
    assert_true(i < M);
    assert_true(w < hd_cluster_size(V, M, i));
    assert_true(hd_cluster_start(V, M, i) + w == v);
    if (i <= INT32_MAX && V / M < INT32_MAX) { /* as the paper writes eq. 7 */
      int64_t short_of = (int64_t)(V % M) - (int64_t)i;
      assert_true(i * (V / M + 1) + w + (uint64_t)(short_of < 0 ? short_of : 0) == v);
    }
  }
}

/* CLU 4.2.1 to 4.2.3: matrix multiplication, a grid of 3 x 2 in 2 clusters. */
static void the_worked_example_of_the_paper_comes_out(void **state) {
  uint64_t w, i, at[3];
  hd_cluster_of(6, 2, 3, &w, &i);
  assert_int_equal(w, 0);
  assert_int_equal(i, 1);
  assert_int_equal(hd_cluster_start(6, 2, 1) + 2, 5);
  hd_plan redirect = {.bind = HD_BIND_REDIRECT};
  hd_grid grid = {.known = true, .g = {3, 2, 1}, .n_sms = 2};
  hd_prog p;
  assert_int_equal(hd_plan_forward(&redirect, &grid, &p, NULL), HD_OK);
  /* Worker 4 is (w, i) = (2, 0): task 2. */
  hd_prog_eval(&p, grid.g, 4, NULL, at);
  assert_int_equal(at[0] + 3 * at[1], 2);
  /* All of them: clusters 0 1 2 and 3 4 5, dealt in turn. */
  static const uint32_t want[6] = {0, 3, 1, 4, 2, 5};
  hd_table t;
  assert_int_equal(hd_plan_tabulate(&redirect, &grid, NULL, &t, NULL), HD_OK);
  assert_memory_equal(t.task, want, sizeof want);
  hd_table_free(&t);
}

static void redirection_sends_worker_u_to_cluster_u_mod_M(void **state) {
  random_stream r = {.seed = 0x5e5};
  for (int c = 0; c < 300; c++) {
    hd_grid grid = {.known = c % 2};
    draw_grid(&r, grid.g);
    uint64_t V, w, i;
    assert_true(hd_grid_tasks(grid.g, &V));
    grid.n_sms = (uint32_t)draw(&r, 1, V + 3);
    hd_plan redirect = {.bind = HD_BIND_REDIRECT};
    hd_prog p;
    assert_int_equal(hd_plan_forward(&redirect, &grid, &p, NULL), HD_OK);
    for (uint64_t u = 0; u < V; u++) {
      uint64_t at[3];
      hd_prog_eval(&p, grid.g, u, NULL, at);
      hd_cluster_of(V, grid.n_sms, at[0] + grid.g[0] * (at[1] + grid.g[1] * at[2]), &w, &i);
      assert_int_equal(i, u % grid.n_sms);
      assert_int_equal(w, u / grid.n_sms);
    }
  }
}

static void a_split_gives_each_cluster_its_positions_in_order(void **state) {
  random_stream r = {.seed = 0x5711};
  for (int c = 0; c < 3000; c++) {
    hd_grid grid = {.known = c % 2};
    draw_grid(&r, grid.g);
    uint64_t V, at[3];
    assert_true(hd_grid_tasks(grid.g, &V));
    grid.n_sms = (uint32_t)draw(&r, 1, V + 3);
    hd_plan plan = {.order.kind = (hd_order_kind)draw(&r, HD_ORDER_ROW, HD_ORDER_COL),
                    .bind = (hd_bind_kind)draw(&r, HD_BIND_AGENTS, HD_BIND_CLAIM)};
    plan.split = draw_split(&r, &plan.order);
    draw_shape_of(&r, grid.g, &plan);
    hd_prog place, quota, order;
    assert_int_equal(hd_plan_place(&plan, &grid, &place, NULL), HD_OK);
    assert_int_equal(hd_plan_quota(&plan, &grid, &quota, NULL), HD_OK);
    assert_int_equal(hd_plan_forward(&plan, &grid, &order, NULL), HD_OK);
    hd_table all = {0};
    if (grid.known) assert_int_equal(hd_plan_tabulate(&plan, &grid, NULL, &all, NULL), HD_OK);
    uint32_t seen[3];
    list_shape(&plan.shape, grid.g, seen);
    clusters want = list_clusters(&plan.split, seen, V, grid.n_sms);
    for (uint64_t i = 0; i < grid.n_sms; i++) {
      hd_prog_eval_in(&quota, grid.g, i, 0, NULL, at);
      assert_int_equal(at[0], want.sizes[i]);
      assert_int_equal(at[0], hd_cluster_size(V, grid.n_sms, i));
      for (uint64_t w = 0; w < want.sizes[i]; w++) {
        hd_prog_eval_in(&place, grid.g, i, w, NULL, at);
        assert_int_equal(at[0], want.positions[i][w]);
        if (!grid.known) continue;
        hd_prog_eval(&order, grid.g, at[0], NULL, at);
        assert_int_equal(all.task[hd_cluster_start(V, grid.n_sms, i) + w],
                         at[0] + grid.g[0] * (at[1] + (uint64_t)grid.g[1] * at[2]));
      }
    }
    free_clusters(&want);
    hd_table_free(&all);
  }
}

static void the_largest_grid_is_split_exactly(void **state) {
  static const uint32_t g[3] = {INT32_MAX, 65535, 65535};
  static const char *const plans[] = {"bind=claim", "bind=claim,split=wave:7", "bind=agents,split=rows",
                                      "order=col,bind=agents,split=cols", "bind=claim,split=wave:4294967295"};
  uint64_t V, at[3], last[3];
  assert_true(hd_grid_tasks(g, &V));
  for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
    hd_plan p;
    hd_grid grid = {.known = true, .g = {g[0], g[1], g[2]}, .n_sms = 132};
    hd_prog place, quota;
    assert_int_equal(hd_plan_parse(plans[k], &p, NULL), HD_OK);
    assert_int_equal(hd_plan_place(&p, &grid, &place, NULL), HD_OK);
    assert_int_equal(hd_plan_quota(&p, &grid, &quota, NULL), HD_OK);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 132; i++) {
      hd_prog_eval_in(&quota, g, i, 0, NULL, at);
      sum += at[0];
    }
    assert_true(sum == V);
    hd_prog_eval_in(&place, g, 0, 0, NULL, at);
    assert_int_equal(at[0], 0);
    hd_prog_eval_in(&quota, g, 131, 0, NULL, at);
    hd_prog_eval_in(&place, g, 131, at[0] - 1, NULL, last);
    assert_true(last[0] == V - 1);
  }
}

static void a_plan_that_names_its_sms_has_a_cluster_for_each(void **state) {
  hd_plan p;
  hd_grid grid = {.known = true, .g = {9, 1, 1}, .n_sms = 132};
  assert_int_equal(hd_plan_parse("bind=agents,sms=3+8-11", &p, NULL), HD_OK);
  assert_int_equal(hd_plan_clusters(&p, &grid), 5);
  assert_int_equal(hd_plan_clusters(&hd_plan_original, &grid), 132);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_split_gives_each_cluster_its_positions_in_order),
      cmocka_unit_test(the_largest_grid_is_split_exactly),
      cmocka_unit_test(a_plan_that_names_its_sms_has_a_cluster_for_each),
      cmocka_unit_test(clusters_are_contiguous_balanced_and_complete),
      cmocka_unit_test(every_task_is_found_in_its_cluster),
      cmocka_unit_test(the_worked_example_of_the_paper_comes_out),
      cmocka_unit_test(redirection_sends_worker_u_to_cluster_u_mod_M),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
