/* Orders on generated grids, forwards and back, against their definitions. */
#include "plan/checked.h"
#include "plan/generate.h"
#include "plan/inverse.h"
#include "plan/reference.h"

enum { CASES = 300, BIG_CASES = 400, SAMPLES = 24 };

typedef struct fixture {
  random_stream r;
  hd_plan plan;
  hd_grid grid; /* known */
  uint64_t V;
  hd_prog forward, own, inverse; /* own: from the worker's own cell */
  checked_run run;
  char text[256];
} fixture;

static uint32_t draw_sms(random_stream *r, uint64_t V) {
  static const uint32_t real[] = {1, 2, 7, 66, 114, 132, 1000000};
  return draw(r, 0, 1) ? real[draw(r, 0, 6)] : (uint32_t)draw(r, 1, V < 1000 ? V + 2 : 1000);
}

static void build(fixture *f) {
  hd_diag d = {0};
  if (hd_plan_forward(&f->plan, &f->grid, &f->forward, &d) != HD_OK ||
      hd_plan_from_cell(&f->plan, &f->grid, false, &f->own, &d) != HD_OK ||
      inverse_program(&f->plan, &f->grid, &f->inverse, &d) != HD_OK)
    fail_msg("%s: %s", describe(&f->plan, &f->grid, f->text), d.message);
}

static uint64_t task_number(const uint32_t g[3], const uint64_t at[3]) {
  return at[0] + g[0] * (at[1] + g[1] * at[2]);
}

static void evaluate(fixture *f, const hd_prog *p, uint64_t in, uint64_t out[3]) {
  uint64_t again[3];
  if (!checked_eval(&f->run, p, f->grid.g, in, NULL, out))
    fail_msg("%s: input %" PRIu64 ": %s", describe(&f->plan, &f->grid, f->text), in, f->run.why);
  hd_prog_eval(p, f->grid.g, in, NULL, again);
  assert_memory_equal(out, again, sizeof again);
}

/* The task of worker u; checks that it lies in the grid, that the worker's own cell leads to it, too, and
 * that the inverse leads back. */
static uint64_t there_and_back(fixture *f, uint64_t u) {
  uint64_t at[3], same[3], back[3];
  evaluate(f, &f->forward, u, at);
  evaluate(f, &f->own, u, same);
  if (memcmp(at, same, sizeof at) != 0)
    fail_msg("%s: worker %" PRIu64 " has another task by its own cell", describe(&f->plan, &f->grid, f->text),
             u);
  for (int i = 0; i < 3; i++)
    if (at[i] >= f->grid.g[i])
      fail_msg("%s: worker %" PRIu64 " leaves the grid", describe(&f->plan, &f->grid, f->text), u);
  uint64_t task = task_number(f->grid.g, at);
  evaluate(f, &f->inverse, task, back);
  if (back[0] != u || back[1] != u || back[2] != u)
    fail_msg("%s: worker %" PRIu64 " has task %" PRIu64 ", whose worker is %" PRIu64,
             describe(&f->plan, &f->grid, f->text), u, task, back[0]);
  return task;
}

static void draw_small(fixture *f, uint64_t index) {
  f->r = (random_stream){.seed = 0x0dde5 + index};
  draw_grid(&f->r, f->grid.g);
  f->plan = draw_plan(&f->r, f->grid.g);
  assert_true(hd_grid_tasks(f->grid.g, &f->V));
  f->grid.n_sms = draw_sms(&f->r, f->V);
}

static void every_plan_lists_the_tasks_as_its_description_says(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < CASES; c++) {
    draw_small(f, c);
    uint64_t *want = calloc(f->V, sizeof *want);
    bool *seen = calloc(f->V, 1);
    assert_non_null(want);
    assert_non_null(seen);
    list_plan(&f->plan, f->grid.g, f->grid.n_sms, want);
    for (int known = 0; known <= 1; known++) {
      f->grid.known = known;
      build(f);
      memset(seen, 0, f->V);
      for (uint64_t u = 0; u < f->V; u++) {
        uint64_t task = there_and_back(f, u);
        if (task != want[u])
          fail_msg("%s: worker %" PRIu64 " has task %" PRIu64 ", not %" PRIu64,
                   describe(&f->plan, &f->grid, f->text), u, task, want[u]);
        assert_false(seen[task]);
        seen[task] = true;
      }
    }
    free(want);
    free(seen);
  }
}

/* All small numbers: every remainder of groups, columns and rows. */
static void strides_and_zigzags_of_all_small_numbers_are_as_described(void **state) {
  fixture *f = *state;
  uint64_t want[64];
  f->grid = (hd_grid){.known = true, .n_sms = 1};
  for (uint32_t V = 1; V <= 40; V++)
    for (uint32_t nx = 1; nx <= V; nx++)
      for (uint32_t a = 1; a <= 9 && V % nx == 0; a++)
        for (uint32_t b = 1; b <= 4; b++)
          for (int kind = 0; kind < 2; kind++) {
            f->grid.g[0] = nx;
            f->grid.g[1] = V / nx;
            f->grid.g[2] = 1;
            f->plan = (hd_plan){.order = {kind ? HD_ORDER_ZIGZAG : HD_ORDER_STRIDE, a, b, 0}};
            list_plan(&f->plan, f->grid.g, 1, want);
            build(f);
            for (uint64_t u = 0; u < V; u++)
              if (there_and_back(f, u) != want[u])
                fail_msg("%s: worker %" PRIu64, describe(&f->plan, &f->grid, f->text), u);
          }
}

/* All small numbers: ragged tiles on both sides, an incomplete last row, rows longer than the sequence, tiles
 * wider than a row. */
static void tiles_of_all_small_numbers_in_rows_of_any_length_are_as_described(void **state) {
  fixture *f = *state;
  uint64_t want[40];
  for (uint32_t V = 1; V <= 36; V++)
    for (uint32_t nx = 1; nx <= V; nx++)
      for (uint32_t l = 1; l <= V + 1 && V % nx == 0; l++)
        for (uint32_t w = 1; w <= 5; w++)
          for (uint32_t h = 1; h <= 4; h++) {
            bool seen[40] = {false}, planes = (V + l + w + h) % 3 == 0;
            f->grid = (hd_grid){.known = (V + l + w) % 2, .g = {nx, V / nx, 1}, .n_sms = 1};
            if (planes) f->grid.g[1] = 1, f->grid.g[2] = V / nx;
            f->plan = (hd_plan){.order = {HD_ORDER_TILE, w, h, l}};
            list_plan(&f->plan, f->grid.g, 1, want);
            build(f);
            for (uint64_t u = 0; u < V; u++) {
              uint64_t task = there_and_back(f, u);
              if (task != want[u] || seen[task])
                fail_msg("%s: worker %" PRIu64 " has task %" PRIu64 ", not %" PRIu64,
                         describe(&f->plan, &f->grid, f->text), u, task, want[u]);
              seen[task] = true;
            }
          }
}

static void expect_one_order(fixture *f, const hd_plan *p, const hd_plan *q) {
  for (int known = 0; known <= 1; known++) {
    hd_prog one, other;
    f->grid.known = known;
    assert_int_equal(hd_plan_forward(p, &f->grid, &one, NULL), HD_OK);
    assert_int_equal(hd_plan_forward(q, &f->grid, &other, NULL), HD_OK);
    for (uint64_t u = 0; u < f->V; u++) {
      uint64_t at[3], same[3];
      evaluate(f, &one, u, at);
      evaluate(f, &other, u, same);
      if (memcmp(at, same, sizeof at) != 0)
        fail_msg("%s: worker %" PRIu64, describe(p, &f->grid, f->text), u);
    }
  }
}

/* The same order: of a grid of one plane, and of planes that tiles divide, one above the other. */
static void tiles_in_rows_of_the_grids_length_are_tiles_of_the_grid(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < CASES; c++) {
    f->r = (random_stream){.seed = 0x711e + c};
    draw_grid(&f->r, f->grid.g);
    uint32_t h = draw_parameter(&f->r, f->grid.g);
    if (f->grid.g[2] > 1) f->grid.g[1] = h = (uint32_t)draw(&f->r, 1, 9);
    assert_true(hd_grid_tasks(f->grid.g, &f->V));
    hd_plan p = {.order = {HD_ORDER_TILE, draw_parameter(&f->r, f->grid.g), h, f->grid.g[0]}}, q = p;
    q.order.c = 0;
    expect_one_order(f, &p, &q);
  }
}

/* The shape that a plan's `order` may have, and its `threads` not. */
static void tiles_in_rows_are_tiles_of_a_shape_of_such_rows(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < CASES; c++) {
    f->r = (random_stream){.seed = 0x511e + c};
    draw_grid(&f->r, f->grid.g);
    assert_true(hd_grid_tasks(f->grid.g, &f->V));
    hd_plan p = {.order = {HD_ORDER_TILE, draw_parameter(&f->r, f->grid.g), draw_parameter(&f->r, f->grid.g),
                           draw_parameter(&f->r, f->grid.g)}};
    hd_plan q = p;
    q.order.c = 0;
    q.shape = (hd_shape){HD_SHAPE_GIVEN, {p.order.c, UINT32_MAX, 0}, {0}, false};
    expect_one_order(f, &p, &q);
  }
}

static void a_packed_table_leads_to_the_same_cells(void **state) {
  fixture *f = *state;
  unsigned packed = 0;
  for (uint64_t c = 0; c < CASES; c++) {
    draw_small(f, c);
    bool table = c % 2;
    hd_table t = {NULL, f->V}, words;
    f->grid.known = true;
    f->plan.order = (hd_order){.kind = table ? HD_ORDER_AFFINITY : HD_ORDER_HILBERT};
    f->plan.split = (hd_split){0};
    if (table) f->plan.shape = (hd_shape){0};
    uint64_t n = hd_plan_packed(&f->plan, &f->grid);
    if (!n) {
      assert_int_equal(hd_plan_pack(&f->plan, &f->grid, NULL, &words, NULL), HD_ERR_USAGE);
      continue;
    }
    packed++;
    if (table) assert_non_null(t.task = calloc(f->V, sizeof *t.task));
    for (uint64_t i = 0; table && i < f->V; i++) t.task[i] = (uint32_t)(f->V - 1 - i);
    assert_int_equal(hd_plan_pack(&f->plan, &f->grid, &t, &words, NULL), HD_OK);
    assert_int_equal(words.n, n);
    assert_int_equal(hd_plan_forward(&f->plan, &f->grid, &f->forward, NULL), HD_OK);
    assert_int_equal(hd_plan_from_cell(&f->plan, &f->grid, true, &f->own, NULL), HD_OK);
    for (uint64_t u = 0; u < f->V; u++) {
      uint64_t at[3], same[3];
      assert_true(checked_eval(&f->run, &f->forward, f->grid.g, u, &t, at));
      if (!checked_eval(&f->run, &f->own, f->grid.g, u, &words, same) || memcmp(at, same, sizeof at) != 0)
        fail_msg("%s: worker %" PRIu64 " %s", describe(&f->plan, &f->grid, f->text), u, f->run.why);
    }
    hd_table_free(&words);
    hd_table_free(&t);
  }
  assert_true(packed > CASES / 3);
}

/* Every count of tasks under every small shape: none is lost, none is done twice, and what is behind the
 * cells keeps its place. */
static void a_shape_of_any_extents_over_any_volume_is_a_permutation(void **state) {
  fixture *f = *state;
  static const hd_order orders[] = {{HD_ORDER_COL, 0, 0, 0},     {HD_ORDER_BAND, 2, 0, 0},
                                    {HD_ORDER_TILE, 2, 3, 0},    {HD_ORDER_ZIGZAG, 3, 1, 0},
                                    {HD_ORDER_STRIDE, 2, 2, 0},  {HD_ORDER_HILBERT, 0, 0, 0},
                                    {HD_ORDER_REVERSE, 0, 0, 0}, {HD_ORDER_TILE, 3, 2, 5}};
  enum { MOST = 40, N = sizeof orders / sizeof *orders };
  uint64_t want[MOST];
  unsigned c = 0;
  for (uint32_t V = 1; V <= MOST; V++)
    for (uint32_t w = 1; w <= 9; w++)
      for (uint32_t h = 1; h <= 7; h += 2, c++) {
        bool seen[MOST] = {false};
        f->grid = (hd_grid){.known = c % 2, .g = {V, 1, 1}, .n_sms = 1};
        f->plan =
            (hd_plan){.order = orders[c % N], .shape = {HD_SHAPE_GIVEN, {w, h, c % 4}, orders[c / N % N]}};
        list_plan(&f->plan, f->grid.g, 1, want);
        build(f);
        for (uint64_t u = 0; u < V; u++) {
          uint64_t task = there_and_back(f, u);
          if (task != want[u])
            fail_msg("%s: worker %" PRIu64 " has task %" PRIu64 ", not %" PRIu64,
                     describe(&f->plan, &f->grid, f->text), u, task, want[u]);
          assert_false(seen[task]);
          seen[task] = true;
        }
      }
}

static unsigned count_operations(const hd_prog *p) {
  unsigned n = 0;
  for (uint32_t i = 0; i < p->n; i++) n += p->vals[i].op > HD_P_C;
  return n;
}

/* On a line that is W x H cells the order computes the cell and then one product and one sum, and on a longer
 * one as many more operations as the least, the comparison and the choice. A grid of two dimensions costs the
 * worker's number, which a line has for nothing. */
static void a_shape_costs_at_most_four_operations_more_than_a_true_grid(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < CASES; c++) {
    f->r = (random_stream){.seed = 0x5a9e + c};
    uint32_t w = (uint32_t)draw(&f->r, 2, 300), h = (uint32_t)draw(&f->r, 2, 300);
    uint32_t rest = c % 2 ? (uint32_t)draw(&f->r, 1, w - 1) : 0;
    hd_prog plane, line;
    f->grid = (hd_grid){.known = true, .g = {w, h, 1}, .n_sms = 1};
    f->plan = (hd_plan){.order = draw_order(&f->r, f->grid.g)};
    if (f->plan.order.kind == HD_ORDER_ROW) continue;
    assert_int_equal(hd_plan_forward(&f->plan, &f->grid, &plane, NULL), HD_OK);
    assert_int_equal(hd_plan_from_cell(&f->plan, &f->grid, false, &f->own, NULL), HD_OK);
    f->grid = (hd_grid){.known = true, .g = {w * h + rest, 1, 1}, .n_sms = 1};
    f->plan.shape = (hd_shape){HD_SHAPE_GIVEN, {w, h, 0}, {0}, false};
    assert_int_equal(hd_plan_from_cell(&f->plan, &f->grid, false, &line, NULL), HD_OK);
    unsigned own = count_operations(&f->own), from = count_operations(&plane), has = count_operations(&line);
    unsigned most = (own > from ? own : from) + 4 + (rest != 0);
    if (has > most)
      fail_msg("%s: %u operations, on the plane %u", describe(&f->plan, &f->grid, f->text), has, own);
  }
}

/* Grids whose tasks 64 bits cannot count: orders that need no count are right there. */
static void orders_that_count_nothing_are_right_on_grids_of_any_size(void **state) {
  fixture *f = *state;
  static const uint32_t g[3] = {INT32_MAX, 65535, 65535};
  f->plan = (hd_plan){.order.kind = HD_ORDER_REVERSE};
  f->grid = (hd_grid){.known = false, .g = {g[0], g[1], g[2]}, .n_sms = 1};
  assert_true(hd_grid_tasks(g, &f->V));
  assert_int_equal(hd_plan_from_cell(&f->plan, &f->grid, false, &f->own, NULL), HD_OK);
  assert_true(f->own.any_size);
  for (uint64_t i = 0; i < 1000; i++) {
    uint64_t u = hd_random_at(0xa5, i) % f->V, at[3];
    evaluate(f, &f->own, u, at);
    assert_true(task_number(g, at) == f->V - 1 - u);
  }
  for (hd_order_kind kind = HD_ORDER_COL; kind < HD_ORDER_REVERSE; kind++) {
    f->plan.order = (hd_order){kind, 2, 2, 0};
    assert_int_equal(hd_plan_from_cell(&f->plan, &f->grid, false, &f->own, NULL), HD_OK);
    assert_false(f->own.any_size);
  }
}

static void workers_that_claim_have_no_cell(void **state) {
  hd_plan p = {.order.kind = HD_ORDER_COL, .bind = HD_BIND_AGENTS};
  hd_grid grid = {.known = true, .g = {4, 4, 1}, .n_sms = 1};
  hd_prog prog;
  assert_int_equal(hd_plan_from_cell(&p, &grid, false, &prog, NULL), HD_ERR_USAGE);
  p.bind = HD_BIND_CLAIM;
  assert_int_equal(hd_plan_from_cell(&p, &grid, false, &prog, NULL), HD_ERR_USAGE);
}

static void tabulating_gives_what_evaluating_gives(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < CASES; c++) {
    draw_small(f, c);
    uint64_t *want = calloc(f->V, sizeof *want);
    assert_non_null(want);
    list_plan(&f->plan, f->grid.g, f->grid.n_sms, want);
    f->grid.known = true;
    hd_table t;
    assert_int_equal(hd_plan_tabulate(&f->plan, &f->grid, NULL, &t, NULL), HD_OK);
    assert_int_equal(t.n, f->V);
    for (uint64_t u = 0; u < f->V; u++)
      if (t.task[u] != want[u]) fail_msg("%s: worker %" PRIu64, describe(&f->plan, &f->grid, f->text), u);
    hd_table_free(&t);
    free(want);
  }
}

/* CUDA's largest dimensions, alone and together. */
static void draw_large_grid(random_stream *r, uint32_t g[3]) {
  static const uint32_t largest[3] = {INT32_MAX, 65535, 65535};
  for (int i = 0; i < 3; i++) {
    uint64_t shape = draw(r, 0, 5);
    g[i] = shape < 2    ? largest[i]
           : shape == 2 ? (uint32_t)draw(r, 1, largest[i])
           : shape <= 4 ? (1u << draw(r, 1, i == 0 ? 30 : 15)) + (uint32_t)draw(r, 0, 2) - 1
                        : 1;
  }
}

static void orders_of_the_largest_grids_invert_without_overflow(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < BIG_CASES; c++) {
    f->r = (random_stream){.seed = 0xb16 + c};
    draw_large_grid(&f->r, f->grid.g);
    assert_true(hd_grid_tasks(f->grid.g, &f->V));
    f->plan = draw_plan(&f->r, f->grid.g);
    f->grid.n_sms = draw_sms(&f->r, f->V);
    for (int known = f->V <= UINT32_MAX ? 0 : 1; known <= 1; known++) {
      f->grid.known = known;
      build(f);
      for (uint64_t i = 0; i < SAMPLES; i++) {
        uint64_t edge = i / 3 < f->V ? i / 3 : f->V - 1;
        uint64_t u = i % 3 == 0 ? edge : i % 3 == 1 ? f->V - 1 - edge : draw(&f->r, 0, f->V - 1);
        there_and_back(f, u);
      }
    }
  }
}

static void known_and_unknown_grids_agree_on_large_grids(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < BIG_CASES; c++) {
    f->r = (random_stream){.seed = 0xa9 + c};
    do draw_large_grid(&f->r, f->grid.g);
    while (!hd_grid_tasks(f->grid.g, &f->V) || f->V > UINT32_MAX);
    f->plan = draw_plan(&f->r, f->grid.g);
    f->grid.n_sms = draw_sms(&f->r, f->V);
    hd_prog known, unknown;
    f->grid.known = true;
    assert_int_equal(hd_plan_forward(&f->plan, &f->grid, &known, NULL), HD_OK);
    f->grid.known = false;
    assert_int_equal(hd_plan_forward(&f->plan, &f->grid, &unknown, NULL), HD_OK);
    for (int i = 0; i < SAMPLES; i++) {
      uint64_t u = draw(&f->r, 0, f->V - 1), at[3], other[3];
      evaluate(f, &known, u, at);
      evaluate(f, &unknown, u, other);
      if (memcmp(at, other, sizeof at) != 0)
        fail_msg("%s: worker %" PRIu64, describe(&f->plan, &f->grid, f->text), u);
    }
  }
}

static void every_batch_evaluator_gives_what_evaluating_gives(void **state) {
  fixture *f = *state;
  bool used[8] = {false};
  assert_in_range(plan_runners(), 2, 8);
  for (uint64_t c = 0; c < CASES / 4; c++) {
    draw_small(f, c);
    f->grid.known = c % 2;
    build(f);
    hd_table t = {calloc(f->V, sizeof(uint32_t)), f->V};
    assert_non_null(t.task);
    for (size_t r = 0; r < plan_runners(); r++) {
      if (!plan_runner_fits(r, &f->inverse)) continue;
      used[r] = true;
      assert_true(plan_run(r, &f->inverse, f->grid.g, NULL, &t));
      for (uint64_t task = 0; task < f->V; task++) {
        uint64_t worker[3];
        hd_prog_eval(&f->inverse, f->grid.g, task, NULL, worker);
        if (t.task[task] != worker[0])
          fail_msg("%s: runner %zu, task %" PRIu64, describe(&f->plan, &f->grid, f->text), r, task);
      }
    }
    free(t.task);
  }
  /* The last two run anywhere: one for 32-bit programs, one for all. */
  assert_true(used[plan_runners() - 1]);
  assert_true(used[plan_runners() - 2]);
}

static void neighbours_on_a_hilbert_curve_of_a_square_touch(void **state) {
  fixture *f = *state;
  for (unsigned k = 0; k <= 6; k++) {
    f->grid = (hd_grid){.known = true, .g = {1u << k, 1u << k, 1}, .n_sms = 1};
    f->plan = (hd_plan){.order.kind = HD_ORDER_HILBERT};
    assert_true(hd_grid_tasks(f->grid.g, &f->V));
    build(f);
    uint64_t before[3], at[3];
    evaluate(f, &f->forward, 0, before);
    for (uint64_t u = 1; u < f->V; u++) {
      evaluate(f, &f->forward, u, at);
      int64_t dx = (int64_t)(at[0] - before[0]), dy = (int64_t)(at[1] - before[1]);
      assert_int_equal(dx * dx + dy * dy, 1);
      memcpy(before, at, sizeof at);
    }
  }
}

static void a_hilbert_walk_descends_one_level_per_doubling(void **state) {
  fixture *f = *state;
  for (unsigned k = 1; k <= 15; k++)
    for (int known = 0; known <= 1; known++) {
      /* The smallest and the largest plane whose covering square has 2^k cells a side. */
      uint32_t least = (1u << (k - 1)) + 1, most = 1u << k;
      for (int i = 0; i < 2; i++) {
        uint64_t at[3];
        f->grid = (hd_grid){.known = known, .g = {i ? most : 2, i ? 2 : least, 1}, .n_sms = 1};
        f->plan = (hd_plan){.order.kind = HD_ORDER_HILBERT};
        build(f);
        evaluate(f, &f->forward, 0, at);
        assert_int_equal(f->run.iterations, k);
        evaluate(f, &f->inverse, 0, at);
        assert_int_equal(f->run.iterations, k);
      }
    }
}

static void a_table_is_followed_and_composed_with_the_binding(void **state) {
  fixture *f = *state;
  for (uint64_t c = 0; c < 100; c++) {
    f->r = (random_stream){.seed = 0x7ab1e + c};
    draw_grid(&f->r, f->grid.g);
    assert_true(hd_grid_tasks(f->grid.g, &f->V));
    f->grid.known = true;
    f->grid.n_sms = draw_sms(&f->r, f->V);
    hd_table t = {calloc(f->V, sizeof(uint32_t)), f->V}, all;
    assert_non_null(t.task);
    for (uint64_t i = 0; i < f->V; i++) { /* a random permutation */
      uint64_t j = draw(&f->r, 0, i);
      t.task[i] = t.task[j];
      t.task[j] = (uint32_t)i;
    }
    f->plan = (hd_plan){.order = {.kind = HD_ORDER_TABLE}, .table = "t", .bind = (hd_bind_kind)(c % 2)};
    assert_int_equal(hd_plan_forward(&f->plan, &f->grid, &f->forward, NULL), HD_OK);
    assert_int_equal(f->forward.uses_table, f->V > 1);
    assert_int_equal(hd_plan_tabulate(&f->plan, &f->grid, &t, &all, NULL), HD_OK);
    uint64_t *position = calloc(f->V, sizeof *position);
    assert_non_null(position);
    list_redirect(&f->plan.split, f->grid.g, f->V, f->grid.n_sms, position);
    for (uint64_t u = 0; u < f->V; u++) {
      uint64_t at[3], again[3], p = f->plan.bind == HD_BIND_REDIRECT ? position[u] : u;
      assert_true(checked_eval(&f->run, &f->forward, f->grid.g, u, &t, at));
      hd_prog_eval(&f->forward, f->grid.g, u, &t, again);
      assert_memory_equal(at, again, sizeof at);
      assert_int_equal(task_number(f->grid.g, at), t.task[p]);
      assert_int_equal(all.task[u], t.task[p]);
    }
    free(position);
    hd_table_free(&all);
    hd_table_free(&t);
  }
}

static void what_cannot_be_built_is_refused_with_a_reason(void **state) {
  static const uint32_t huge[3] = {UINT32_MAX, UINT32_MAX, 1}, wrap[3] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};
  const struct {
    hd_plan plan;
    hd_grid grid;
    hd_status forward, inverse;
  } cases[] = {
      {{.order = {.kind = HD_ORDER_BAND}}, {true, {4, 4, 1}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_TILE, .a = 3}}, {true, {4, 4, 1}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_STRIDE, .b = 3}}, {false, {0}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_ZIGZAG}}, {false, {0}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_COL}}, {true, {4, 0, 1}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_COL}, .shape = {.kind = HD_SHAPE_AUTO}},
       {true, {4, 4, 1}, 1},
       HD_ERR_USAGE,
       HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_COL}}, {true, {wrap[0], wrap[1], wrap[2]}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_COL}}, {true, {huge[0], huge[1], huge[2]}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.bind = HD_BIND_REDIRECT}, {true, {4, 4, 1}, 0}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = (hd_order_kind)99}}, {true, {4, 4, 1}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.bind = (hd_bind_kind)99}, {true, {4, 4, 1}, 1}, HD_ERR_USAGE, HD_ERR_USAGE},
      {{.order = {.kind = HD_ORDER_TABLE}, .table = "t"},
       {false, {0}, 1},
       HD_ERR_REFUSED,
       HD_ERR_UNSUPPORTED},
      {{.order = {.kind = HD_ORDER_TABLE}, .table = "t"},
       {true, {65536, 65536, 1}, 1},
       HD_ERR_REFUSED,
       HD_ERR_UNSUPPORTED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_prog p;
    hd_diag d = {0};
    assert_int_equal(hd_plan_forward(&cases[i].plan, &cases[i].grid, &p, &d), cases[i].forward);
    assert_int_equal(d.status, cases[i].forward);
    assert_true(strlen(d.message) > 0);
    assert_int_equal(inverse_program(&cases[i].plan, &cases[i].grid, &p, NULL), cases[i].inverse);
  }
}

static void tabulating_needs_a_known_grid_its_table_and_32_bits(void **state) {
  hd_plan col = {.order.kind = HD_ORDER_COL}, table = {.order.kind = HD_ORDER_TABLE};
  hd_grid grid = {.known = false, .g = {4, 4, 1}, .n_sms = 1}, large = {true, {65536, 65536, 1}, 1};
  hd_table t;
  assert_int_equal(hd_plan_tabulate(&col, &grid, NULL, &t, NULL), HD_ERR_USAGE);
  grid.known = true;
  assert_int_equal(hd_plan_tabulate(&table, &grid, NULL, &t, NULL), HD_ERR_USAGE);
  uint32_t three[3] = {0, 1, 2};
  hd_table wrong = {three, 3};
  assert_int_equal(hd_plan_tabulate(&table, &grid, &wrong, &t, NULL), HD_ERR_USAGE);
  assert_int_equal(hd_plan_tabulate(&col, &large, NULL, &t, NULL), HD_ERR_UNSUPPORTED);
  assert_null(t.task);
}

static void a_grid_has_tasks_unless_a_dimension_is_zero_or_they_overflow(void **state) {
  uint64_t V;
  assert_true(hd_grid_tasks((const uint32_t[3]){INT32_MAX, 65535, 65535}, &V));
  assert_true(V == (uint64_t)INT32_MAX * 65535 * 65535);
  assert_false(hd_grid_tasks((const uint32_t[3]){0, 1, 1}, &V));
  assert_false(hd_grid_tasks((const uint32_t[3]){1, 1, 0}, &V));
  assert_false(hd_grid_tasks((const uint32_t[3]){UINT32_MAX, UINT32_MAX, 2}, &V));
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
      cmocka_unit_test(every_plan_lists_the_tasks_as_its_description_says),
      cmocka_unit_test(strides_and_zigzags_of_all_small_numbers_are_as_described),
      cmocka_unit_test(tiles_of_all_small_numbers_in_rows_of_any_length_are_as_described),
      cmocka_unit_test(tiles_in_rows_of_the_grids_length_are_tiles_of_the_grid),
      cmocka_unit_test(tiles_in_rows_are_tiles_of_a_shape_of_such_rows),
      cmocka_unit_test(a_packed_table_leads_to_the_same_cells),
      cmocka_unit_test(orders_that_count_nothing_are_right_on_grids_of_any_size),
      cmocka_unit_test(workers_that_claim_have_no_cell),
      cmocka_unit_test(tabulating_gives_what_evaluating_gives),
      cmocka_unit_test(orders_of_the_largest_grids_invert_without_overflow),
      cmocka_unit_test(a_shape_of_any_extents_over_any_volume_is_a_permutation),
      cmocka_unit_test(a_shape_costs_at_most_four_operations_more_than_a_true_grid),
      cmocka_unit_test(known_and_unknown_grids_agree_on_large_grids),
      cmocka_unit_test(every_batch_evaluator_gives_what_evaluating_gives),
      cmocka_unit_test(neighbours_on_a_hilbert_curve_of_a_square_touch),
      cmocka_unit_test(a_hilbert_walk_descends_one_level_per_doubling),
      cmocka_unit_test(a_table_is_followed_and_composed_with_the_binding),
      cmocka_unit_test(what_cannot_be_built_is_refused_with_a_reason),
      cmocka_unit_test(tabulating_needs_a_known_grid_its_table_and_32_bits),
      cmocka_unit_test(a_grid_has_tasks_unless_a_dimension_is_zero_or_they_overflow),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
