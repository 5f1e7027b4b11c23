/* heddle/cta_orders.h: the orders that people call from their own source are the ones that plans name. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "heddle/cta_orders.h"
#include "heddle/plan.h"

/* ---- The file ------------------------------------------------------------------------- */

static void the_committed_file_is_what_is_generated(void **state) {
  hd_buf text = {0};
  hd_file f;
  hd_diag d = {0};
  assert_int_equal(hd_plan_header(&text, &d), HD_OK);
  assert_int_equal(hd_file_open(SOURCE_DIR "/include/heddle/cta_orders.h", &f, &d), HD_OK);
  if (text.len != f.len || memcmp(text.data, f.data, f.len) != 0)
    fail_msg("stale: run `heddle header -o include/heddle/cta_orders.h`");
  hd_file_close(&f);
  hd_buf_free(&text);
}

/* ---- Orders --------------------------------------------------------------------------- */

typedef heddle_cell cell_function(unsigned position, unsigned a, unsigned b, unsigned c, const uint32_t g[3]);

static heddle_cell row(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return heddle_order_row(p, g[0], g[1], g[2]);
}
static heddle_cell col(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return heddle_order_col(p, g[0], g[1], g[2]);
}
static heddle_cell band(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return heddle_order_band(p, a, g[0], g[1], g[2]);
}
static heddle_cell tile(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return c ? heddle_order_tile_rows(p, a, b, c, g[0], g[1], g[2])
           : heddle_order_tile(p, a, b, g[0], g[1], g[2]);
}
static heddle_cell zigzag(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return heddle_order_zigzag(p, a, b, g[0], g[1], g[2]);
}
static heddle_cell stride(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return heddle_order_stride(p, a, b, g[0], g[1], g[2]);
}
static heddle_cell hilbert(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return heddle_order_hilbert(p, g[0], g[1], g[2]);
}
static heddle_cell reverse(unsigned p, unsigned a, unsigned b, unsigned c, const uint32_t g[3]) {
  return heddle_order_reverse(p, g[0], g[1], g[2]);
}

static cell_function *const functions[HD_ORDER_COUNT] = {
    [HD_ORDER_ROW] = row,         [HD_ORDER_COL] = col,         [HD_ORDER_BAND] = band,
    [HD_ORDER_TILE] = tile,       [HD_ORDER_ZIGZAG] = zigzag,   [HD_ORDER_STRIDE] = stride,
    [HD_ORDER_HILBERT] = hilbert, [HD_ORDER_REVERSE] = reverse,
};

static uint64_t draws;
static uint64_t draw(uint64_t n) { return hd_random_at(9, draws++) % n; }

/* Small numbers mostly, where edges are; sometimes anything up to `most`. */
static uint32_t draw_extent(uint64_t most) {
  uint64_t limit = draw(4) ? 20 : draw(3) ? 3000 : most;
  return (uint32_t)(1 + draw(limit < most ? limit : most));
}

static void draw_grid(uint32_t g[3]) {
  uint64_t left = UINT32_MAX;
  unsigned first = (unsigned)draw(3);
  for (unsigned k = 0; k < 3; k++) {
    unsigned at = (first + k) % 3;
    g[at] = draw_extent(left);
    left /= g[at];
  }
}

static void compare_at(const hd_prog *p, const hd_order *o, const uint32_t g[3], uint64_t position) {
  uint64_t want[3];
  hd_prog_eval(p, g, position, NULL, want);
  heddle_cell got = functions[o->kind]((unsigned)position, o->a, o->b, o->c, g);
  if (got.x != want[0] || got.y != want[1] || got.z != want[2])
    fail_msg("order %d:%u,%u,%u of %u x %u x %u at %llu: (%u, %u, %u), not (%llu, %llu, %llu)", o->kind, o->a,
             o->b, o->c, g[0], g[1], g[2], (unsigned long long)position, got.x, got.y, got.z,
             (unsigned long long)want[0], (unsigned long long)want[1], (unsigned long long)want[2]);
}

/* Programs for this grid, with the parameters as constants, against the functions, which know neither. */
static void every_order_is_the_plans_on_random_grids_and_parameters(void **state) {
  enum { GRIDS = 6000, POSITIONS = 24 };
  static hd_prog p;
  for (unsigned i = 0; i < GRIDS; i++) {
    hd_order_kind kind = (hd_order_kind)(i % (HD_ORDER_REVERSE + 1));
    hd_grid grid = {.known = true, .n_sms = 1};
    uint64_t V;
    draw_grid(grid.g);
    assert_true(hd_grid_tasks(grid.g, &V) && V <= UINT32_MAX);
    hd_plan plan = {.order = {.kind = kind, .a = draw_extent(UINT32_MAX), .b = draw_extent(UINT32_MAX)}};
    if (kind == HD_ORDER_TILE && draw(2)) plan.order.c = draw_extent(UINT32_MAX);
    hd_diag d = {0};
    if (hd_plan_forward(&plan, &grid, &p, &d) != HD_OK) fail_msg("%s", d.message);
    compare_at(&p, &plan.order, grid.g, 0);
    compare_at(&p, &plan.order, grid.g, V - 1);
    for (unsigned k = 0; k < POSITIONS; k++) compare_at(&p, &plan.order, grid.g, draw(V));
  }
}

static void every_order_visits_each_cell_once(void **state) {
  enum { GRIDS = 400, MOST = 12 * 12 * 12 };
  for (unsigned i = 0; i < GRIDS; i++) {
    uint32_t g[3] = {1 + (uint32_t)draw(12), 1 + (uint32_t)draw(12), 1 + (uint32_t)draw(12)};
    unsigned V = g[0] * g[1] * g[2], a = 1 + (unsigned)draw(15), b = 1 + (unsigned)draw(15),
             c = (unsigned)draw(40);
    for (unsigned kind = 0; kind <= HD_ORDER_REVERSE; kind++) {
      bool seen[MOST] = {false};
      for (unsigned p = 0; p < V; p++) {
        heddle_cell at = functions[kind](p, a, b, c, g);
        assert_true(at.x < g[0] && at.y < g[1] && at.z < g[2]);
        bool *s = &seen[at.x + g[0] * (at.y + g[1] * at.z)];
        assert_false(*s);
        *s = true;
      }
    }
  }
}

/* ---- Clusters ------------------------------------------------------------------------- */

static void clusters_are_those_of_the_paper(void **state) {
  for (unsigned i = 0; i < 20000; i++) {
    uint32_t V = draw_extent(UINT32_MAX), M = draw_extent(UINT32_MAX);
    uint32_t c = (uint32_t)draw(M), u = (uint32_t)draw(V);
    uint64_t size = hd_cluster_size(V, M, c), start = hd_cluster_start(V, M, c);
    assert_int_equal(heddle_cluster_quota(c, M, V), size);
    if (size) {
      uint32_t rank = (uint32_t)draw(size);
      assert_int_equal(heddle_cluster_place(c, rank, M, V), start + rank);
    }
    assert_int_equal(heddle_cluster_deal(u, M, V), hd_cluster_start(V, M, u % M) + u / M);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("the committed file is what is generated", the_committed_file_is_what_is_generated),
      BEHAVIOUR("every order is the plan's on random grids and parameters",
                every_order_is_the_plans_on_random_grids_and_parameters),
      BEHAVIOUR("every order visits each cell once", every_order_visits_each_cell_once),
      BEHAVIOUR("clusters are those of the paper", clusters_are_those_of_the_paper),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
