/* The plans that are tried: each different from the others on its grid. */
#include "plan/generate.h"

static hd_plan_space space_of(const uint32_t g[3]) {
  hd_plan_space s = {.grid = {g[0], g[1], g[2]},
                     .block = {32, 8, 1},
                     .n_sms = 16,
                     .resident = 6,
                     .warps = 8,
                     .loads = 5,
                     .readonly = 2,
                     .can_order = true,
                     .can_loop = true,
                     .can_swap_threads = true,
                     .can_turn_threads = true};
  hd_grid_tasks(g, &s.tasks);
  return s;
}

static size_t candidates(const uint32_t g[3], hd_candidate *out) {
  hd_plan_space s = space_of(g);
  size_t n = hd_candidates(&s, out, HD_CANDIDATES);
  assert_in_range(n, 1, HD_CANDIDATES);
  return n;
}

/* The baseline, then the candidates that are an order and nothing else. */
static size_t orders(const uint32_t g[3], hd_plan *out) {
  static hd_candidate list[HD_CANDIDATES];
  size_t all = candidates(g, list), n = 0;
  out[n++] = (hd_plan){0};
  for (size_t i = 0; i < all; i++)
    if (hd_plan_family(&list[i].plan) == hd_plan_family(&(hd_plan){.order = {.kind = HD_ORDER_COL}}))
      out[n++] = list[i].plan;
  return n;
}

static void every_candidate_is_canonical_and_says_why(void **state) {
  random_stream r = {.seed = 0xca};
  static hd_candidate list[HD_CANDIDATES];
  for (int c = 0; c < 60; c++) {
    uint32_t g[3];
    draw_grid(&r, g);
    size_t n = candidates(g, list);
    for (size_t i = 0; i < n; i++) {
      hd_buf b = {0};
      hd_plan again;
      hd_plan_print(&list[i].plan, &b);
      assert_int_equal(hd_plan_parse(b.data, &again, NULL), HD_OK);
      assert_true(hd_plan_equal(&list[i].plan, &again));
      assert_false(hd_plan_is_baseline(&again));
      assert_true(list[i].prior > 0 && list[i].prior <= 1 && list[i].reason[0]);
      assert_true(!i || list[i].prior <= list[i - 1].prior);
      for (size_t k = 0; k < i; k++) assert_false(hd_plan_equal(&list[i].plan, &list[k].plan));
      hd_buf_free(&b);
    }
  }
}

/* The rewriter refuses to bind CTAs of a cluster, so no device time goes to plans that would. */
static void clusters_of_ctas_are_ordered_and_not_bound(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  hd_plan_space s = space_of((const uint32_t[]){64, 64, 1});
  s.clusters = true;
  s.can_loop = s.can_swap_threads = s.can_turn_threads = false;
  size_t n = hd_candidates(&s, list, HD_CANDIDATES), ordered = 0;
  for (size_t i = 0; i < n; i++) {
    assert_int_equal(list[i].plan.bind, HD_BIND_NONE);
    ordered += list[i].plan.order.kind != HD_ORDER_ROW;
  }
  assert_true(ordered > 8);
}

/* Causal attention's last blocks of queries have the most keys to look at. */
static void long_ctas_of_great_numbers_start_first(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  hd_plan_space s = space_of((const uint32_t[]){64, 32, 1});
  for (unsigned grows = 0; grows < 2; grows++) {
    s.grows = grows;
    size_t n = hd_candidates(&s, list, HD_CANDIDATES), found = 0;
    for (size_t i = 0; i < n; i++) {
      const hd_plan *p = &list[i].plan;
      if (p->shape.own.kind != HD_ORDER_REVERSE) continue;
      found++;
      assert_true(p->order.kind == HD_ORDER_COL || p->order.kind == HD_ORDER_BAND);
      assert_int_equal(p->shape.n[0], 64);
    }
    assert_int_equal(found, grows ? 2 : 0);
  }
}

/* An older GPU would refuse each of them. */
static void ctas_take_others_over_where_the_gpu_lets_them(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  hd_plan_space s = space_of((const uint32_t[]){64, 64, 1});
  for (unsigned can = 0; can < 2; can++) {
    s.can_cancel = can;
    size_t n = hd_candidates(&s, list, HD_CANDIDATES), found = 0;
    for (size_t i = 0; i < n; i++) found += list[i].plan.bind == HD_BIND_CANCEL;
    assert_true(can ? found > 1 : !found);
  }
}

/* The kernel's own order of the tiles is the baseline, and its row order is one to try. */
static void orders_go_through_the_tiles_where_there_is_a_shape(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  hd_plan_space s = space_of((const uint32_t[]){20, 30, 1});
  s.shape = (hd_shape){HD_SHAPE_GIVEN, {20, 30, 0}, {.kind = HD_ORDER_BAND, .a = 8}, false};
  size_t n = hd_candidates(&s, list, HD_CANDIDATES);
  bool rows = false, bands = false;
  for (size_t i = 0; i < n; i++) {
    const hd_plan *p = &list[i].plan;
    assert_int_equal(hd_plan_check(p, NULL), HD_OK);
    if (p->order.kind != HD_ORDER_ROW) assert_int_equal(p->shape.kind, HD_SHAPE_GIVEN);
    rows |= p->order.kind == HD_ORDER_ROW && p->shape.kind && p->bind == HD_BIND_NONE;
    bands |= p->order.kind == HD_ORDER_BAND && p->order.a == 4;
    assert_false(p->order.kind == HD_ORDER_BAND && p->order.a == 8 && p->bind == HD_BIND_NONE &&
                 p->threads.kind == HD_ORDER_ROW);
  }
  assert_true(rows && bands);
}

/* Where data decides which tasks share and no table says which, distances come before shapes, but none that a
 * wave of CTAs spans anyway. */
static void distances_are_tried_early_where_sharing_tasks_lie_apart(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  hd_plan_space s = space_of((const uint32_t[]){4, 8, 512});
  s.n_sms = 132, s.resident = 5, s.can_swap_threads = s.can_turn_threads = false;
  for (int apart = 0; apart < 2; apart++) {
    s.apart = apart;
    size_t n = hd_candidates(&s, list, HD_CANDIDATES), early = 0;
    bool seen[32] = {0};
    for (size_t i = 0; i < n; i++) {
      const hd_order *o = &list[i].plan.order;
      assert_int_equal(hd_plan_check(&list[i].plan, NULL), HD_OK);
      if (o->kind != HD_ORDER_STRIDE || o->b != 1 || list[i].plan.bind != HD_BIND_NONE) continue;
      if (o->a >= 128 && (o->a & (o->a - 1)) == 0) seen[__builtin_ctz(o->a)] = true, early += i < 9;
    }
    for (int k = 7; k <= 13; k++) assert_int_equal(seen[k], apart);
    assert_int_equal(early, apart ? 7 : 0);
  }
}

static void no_two_orders_of_a_small_grid_do_the_same(void **state) {
  random_stream r = {.seed = 0xcb};
  hd_plan plans[HD_CANDIDATES];
  for (int c = 0; c < 40; c++) {
    hd_grid grid = {.known = true, .n_sms = 3};
    draw_grid(&r, grid.g);
    size_t n = orders(grid.g, plans);
    hd_table t[HD_CANDIDATES];
    for (size_t i = 0; i < n; i++) {
      assert_int_equal(hd_plan_tabulate(&plans[i], &grid, NULL, &t[i], NULL), HD_OK);
      for (size_t k = 0; k < i; k++)
        if (memcmp(t[i].task, t[k].task, (size_t)t[i].n * sizeof *t[i].task) == 0) {
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
  hd_plan plans[HD_CANDIDATES];
  for (size_t c = 0; c < sizeof grids / sizeof *grids; c++) {
    hd_grid grid = {.known = true, .g = {grids[c][0], grids[c][1], grids[c][2]}, .n_sms = 3};
    uint64_t V;
    assert_true(hd_grid_tasks(grid.g, &V));
    size_t n = orders(grid.g, plans);
    assert_true(n >= 4);
    for (size_t i = 0; i < n; i++)
      for (size_t k = 0; k < i; k++) {
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

static bool offers(const hd_candidate *list, size_t n, const char *notation) {
  hd_plan p;
  assert_int_equal(hd_plan_parse(notation, &p, NULL), HD_OK);
  bool found = false;
  for (size_t i = 0; i < n; i++) found |= hd_plan_equal(&list[i].plan, &p);
  return found;
}

static void a_plane_is_offered_what_won_on_planes(void **state) {
  static const char *const some[] = {"order=col",
                                     "order=band:4",
                                     "order=band:32",
                                     "order=tile:8x4",
                                     "order=hilbert",
                                     "order=reverse",
                                     "order=zigzag:64",
                                     "bind=redirect",
                                     "bind=agents:3",
                                     "bypass=ro:8",
                                     "bypass=ro:0",
                                     "bypass=l2:0",
                                     "bypass=l1:5",
                                     "stream=l1",
                                     "threads=band:32",
                                     "threads=cta:col",
                                     "prefetch=l2:2",
                                     "bind=claim",
                                     "order=col,bind=redirect"};
  static hd_candidate list[HD_CANDIDATES];
  size_t n = candidates((const uint32_t[3]){64, 48, 1}, list);
  for (size_t i = 0; i < sizeof some / sizeof *some; i++)
    if (!offers(list, n, some[i])) fail_msg("%s", some[i]);
}

/* On an H100 all warps of decode-shared-prefix run 1.29 times as fast with it. */
static void the_read_only_path_is_offered_where_nothing_writes(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  hd_plan_space s = space_of((const uint32_t[3]){512, 16, 1});
  s.warps = 4;
  assert_true(offers(list, hd_candidates(&s, list, HD_CANDIDATES), "bypass=ro:4"));
  s.readonly = 0;
  assert_false(offers(list, hd_candidates(&s, list, HD_CANDIDATES), "bypass=ro:4"));
}

static void a_line_is_offered_strides_and_no_shapes(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  size_t n = candidates((const uint32_t[3]){4096, 1, 1}, list);
  assert_true(offers(list, n, "order=stride:64x1"));
  assert_true(offers(list, n, "order=reverse"));
  for (size_t i = 0; i < n; i++) {
    hd_order_kind k = list[i].plan.order.kind;
    assert_true(k == HD_ORDER_ROW || k == HD_ORDER_STRIDE || k == HD_ORDER_ZIGZAG || k == HD_ORDER_REVERSE);
  }
}

static void one_task_has_no_order_to_try_and_no_task_nothing(void **state) {
  static hd_candidate list[HD_CANDIDATES];
  hd_plan plans[HD_CANDIDATES];
  assert_int_equal(orders((const uint32_t[3]){1, 1, 1}, plans), 1);
  hd_plan_space none = space_of((const uint32_t[3]){0, 1, 1});
  hd_plan_space most = space_of((const uint32_t[3]){UINT32_MAX, UINT32_MAX, UINT32_MAX});
  assert_int_equal(hd_candidates(&none, list, HD_CANDIDATES), 0);
  assert_int_equal(hd_candidates(&most, list, HD_CANDIDATES), 0);
}

static void families_are_levers_and_their_direction(void **state) {
  static const struct {
    const char *a, *b;
    bool same;
  } cases[] = {{"order=col", "order=band:8", true},
               {"order=col", "order=affinity", false},
               {"order=col", "order=col,bind=agents", false},
               {"bind=agents", "bind=agents:3,split=wave:4", true},
               {"bind=agents", "bind=claim", false},
               {"bypass=ro:8", "bypass=ro:0", true},
               {"bypass=ro:8", "bypass=l1:0", false},
               {"threads=col", "threads=cta:col", false},
               {"prefetch=l1:1", "prefetch=l2:1", false},
               {"stream=l1", "stream=3", false},
               {"baseline", "order=col", false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_plan a, b;
    assert_int_equal(hd_plan_parse(cases[i].a, &a, NULL), HD_OK);
    assert_int_equal(hd_plan_parse(cases[i].b, &b, NULL), HD_OK);
    assert_int_equal(hd_plan_family(&a) == hd_plan_family(&b), cases[i].same);
  }
}

static void no_more_than_cap_are_stored_and_all_are_counted(void **state) {
  static hd_candidate all[HD_CANDIDATES], some[HD_CANDIDATES];
  hd_plan_space s = space_of((const uint32_t[3]){20, 20, 1});
  size_t n = hd_candidates(&s, all, HD_CANDIDATES);
  assert_int_equal(hd_candidates(&s, NULL, 0), n);
  for (size_t cap = 0; cap < n; cap += 5) {
    memset(some, 0xee, sizeof some);
    assert_int_equal(hd_candidates(&s, some, cap), n);
    for (size_t i = 0; i < cap; i++) assert_true(hd_plan_equal(&some[i].plan, &all[i].plan));
    for (size_t i = 0; i < sizeof some[cap]; i++) assert_int_equal(((unsigned char *)&some[cap])[i], 0xee);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_candidate_is_canonical_and_says_why),
      cmocka_unit_test(clusters_of_ctas_are_ordered_and_not_bound),
      cmocka_unit_test(long_ctas_of_great_numbers_start_first),
      cmocka_unit_test(ctas_take_others_over_where_the_gpu_lets_them),
      cmocka_unit_test(orders_go_through_the_tiles_where_there_is_a_shape),
      cmocka_unit_test(distances_are_tried_early_where_sharing_tasks_lie_apart),
      cmocka_unit_test(no_two_orders_of_a_small_grid_do_the_same),
      cmocka_unit_test(no_two_orders_of_a_large_grid_do_the_same),
      cmocka_unit_test(a_plane_is_offered_what_won_on_planes),
      cmocka_unit_test(the_read_only_path_is_offered_where_nothing_writes),
      cmocka_unit_test(families_are_levers_and_their_direction),
      cmocka_unit_test(a_line_is_offered_strides_and_no_shapes),
      cmocka_unit_test(one_task_has_no_order_to_try_and_no_task_nothing),
      cmocka_unit_test(no_more_than_cap_are_stored_and_all_are_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
