/* MAP's distances, directions and shares against derivations by hand, lines of 128 bytes. */
#include "launches.h"

typedef struct expected_array {
  const char *buffer;
  uint32_t distance[3];
} expected_array;

typedef struct expected {
  const char *workload, *size;
  uint32_t launch;
  expected_array arrays[4];
  hd_map_direction direction;
} expected;

static const expected cases[] = {
    /* n = 512, CTAs of 32 x 8 threads, a grid of 16 x 64. A: the rows 8y to 8y + 7 whole, whatever x is: 15
     * along x; rows are 16 lines, so different y share none. B: the columns 32x to 32x + 31, one line of each
     * row, whatever y is: 63. C: lines of its own. 63 > 15: y. */
    {"matmul-naive", "paper", 0, {{"a", {15, 0, 0}}, {"b", {0, 63, 0}}, {"c", {0, 0, 0}}}, HD_MAP_Y},
    /* n = 4096, 16 x 16 threads, 256 x 256. A: 255 along x. B: the columns 16x to 16x + 15 are half a line,
     * the other half is a neighbour's: 1 along x; 255 along y. C: half lines: 1 along x. 255 = 255: x. */
    {"matmul-blocked", "paper", 0, {{"a", {255, 0, 0}}, {"b", {1, 255, 0}}, {"c", {1, 0, 0}}}, HD_MAP_X},
    /* n = 512, 32 x 32 threads, 16 x 16: as the naive one, and a tie. */
    {"matmul-tiled", "paper", 0, {{"a", {15, 0, 0}}, {"b", {0, 15, 0}}, {"c", {0, 0, 0}}}, HD_MAP_X},
    /* 4096 x 4096, tiles of 16 x 16: half lines, of `in` along x, of `out` along y. 1 = 1: x. */
    {"transpose", "paper", 0, {{"in", {1, 0, 0}}, {"out", {0, 1, 0}}}, HD_MAP_X},
    /* 4096 x 4096, 16 x 16 threads, 256 x 256, a filter of 7 x 7. Rows 16y to 16y + 21 of the image: y and y
     * + 1 share six, y and y + 2 none: 1. A row has 4102 elements, 16408 bytes, which are no whole lines:
     * where one ends (x = 255) the next begins (x = 0) in the same line: 255 along x. The filter is
     * everybody's: 255 both ways. The result: half lines along x. 255 = 255: x. */
    {"conv2d", "paper", 0, {{"image", {255, 1, 0}}, {"filter", {255, 255, 0}}, {"out", {1, 0, 0}}}, HD_MAP_X},
    /* 4096 x 4096, 16 x 16 threads, 256 x 256: blocks x - 1 to x + 1, half a line each, so that an odd x
     * reads the line of the blocks x + 1 and x + 2, and x + 3 reads its left neighbour's, x + 2: 3. */
    {"micro/neighbours", "paper", 0, {{"in", {3, 0, 0}}, {"out", {1, 0, 0}}}, HD_MAP_X},
    /* 128 x 128 x 32, rows of 4 lines; CTA (y - 1, z - 1) reads the rows (y - 1 .. y + 1, z) and (y, z - 1 ..
     * z + 1): those of y and of y + 2 have the row y + 1 in common: 2, and likewise along z. It writes its
     * own row. */
    {"stencil3d", "paper", 0, {{"a", {2, 2, 0}}, {"b", {0, 0, 0}}}, HD_MAP_X},
    /* 160 x 160 x 160, 32 x 4 threads: a CTA's own line of each row, one element of the line to the left and
     * of the one to the right, and the rows above and below. x and x + 2 both read the line between them: 2.
     * y reads the rows 4y - 1 to 4y + 4, y + 2 from 4y + 7: 1. */
    {"lps", "paper", 0, {{"even", {2, 1, 0}}, {"odd", {0, 0, 0}}}, HD_MAP_X},
};

static uint32_t buffer_named(const hd_workload *w, const char *name) {
  for (uint32_t b = 0; b < w->n_buffers; b++)
    if (strcmp(w->buffers[b].name, name) == 0) return b;
  fail_msg("%s has no buffer %s", w->name, name);
  return 0;
}

static void distances_are_those_derived_by_hand(void **state) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const expected *e = &cases[i];
    launches l;
    assert_true(launches_open(&l, e->workload, e->size));
    hd_polyhedral p = launches_measure(&l, e->launch, NULL);
    for (size_t k = 0; k < 4 && e->arrays[k].buffer; k++) {
      const expected_array *x = &e->arrays[k];
      const hd_polyhedral_array *a = array_of_buffer(&p, buffer_named(l.w, x->buffer));
      assert_non_null(a);
      if (a->inexact || memcmp(a->distance, x->distance, sizeof a->distance) != 0)
        fail_msg("%s, %s: %u %u %u%s", e->workload, x->buffer, a->distance[0], a->distance[1], a->distance[2],
                 a->inexact ? " and inexact" : "");
    }
    assert_int_equal(p.direction, e->direction);
    assert_true(p.complete);
    hd_polyhedral_free(&p);
    launches_close(&l);
  }
}

/* matmul-naive as above: 1024 CTAs, each 8 rows of 16 lines of A; all but the last of each row of CTAs (15 of
 * 16) have a neighbour that reads the same. Of B one line of each of 512 rows; 63 of 64 have a neighbour
 * along y. stencil3d: 126 x 30 CTAs, 5 rows of 4 lines; neighbours along x or y have two rows in common. */
static void shares_are_those_derived_by_hand(void **state) {
  launches l;
  assert_true(launches_open(&l, "matmul-naive", "paper"));
  hd_polyhedral p = launches_measure(&l, 0, NULL);
  const hd_polyhedral_array *a = array_of_buffer(&p, buffer_named(l.w, "a")),
                            *b = array_of_buffer(&p, buffer_named(l.w, "b"));
  assert_true(a->counted && b->counted);
  assert_int_equal(a->pairs, 1024 * 8 * 16);
  assert_int_equal(a->shared[0], 1024 * 8 * 16 / 16 * 15);
  assert_int_equal(a->shared[1], 0);
  assert_int_equal(b->pairs, 1024 * 512);
  assert_int_equal(b->shared[0], 0);
  assert_int_equal(b->shared[1], 1024 * 512 / 64 * 63);
  hd_polyhedral_free(&p);
  launches_close(&l);
  assert_true(launches_open(&l, "stencil3d", "paper"));
  p = launches_measure(&l, 0, NULL);
  a = array_of_buffer(&p, buffer_named(l.w, "a"));
  assert_true(a->counted);
  assert_int_equal(a->pairs, 126 * 30 * 5 * 4);
  assert_int_equal(a->shared[0], 125 * 30 * 2 * 4);
  assert_int_equal(a->shared[1], 126 * 29 * 2 * 4);
  hd_polyhedral_free(&p);
  launches_close(&l);
}

/* Where isl gives up, the lines are listed; the distances are the same. */
static void both_methods_agree(void **state) {
  static const char *const names[] = {"matmul-naive", "transpose", "stencil3d", "conv11", "syrk"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    launches l;
    assert_true(launches_open(&l, names[i], "tiny"));
    hd_polyhedral with = launches_measure(&l, 0, NULL),
                  without = launches_measure(&l, 0, &(hd_polyhedral_options){.isl_operations = 1});
    uint32_t by_isl = 0;
    for (uint32_t k = 0; k < with.n_arrays; k++) {
      by_isl += with.arrays[k].by_isl;
      assert_false(without.arrays[k].by_isl);
      assert_int_equal(without.arrays[k].inexact, HD_INEXACT_NO);
      assert_memory_equal(without.arrays[k].distance, with.arrays[k].distance, sizeof with.distance);
    }
    assert_true(by_isl > 0);
    hd_polyhedral_free(&with);
    hd_polyhedral_free(&without);
    launches_close(&l);
  }
}

static void a_spent_budget_is_said(void **state) {
  launches l;
  assert_true(launches_open(&l, "matmul-naive", "tiny"));
  hd_polyhedral p = launches_measure(&l, 0, &(hd_polyhedral_options){.isl_operations = 1, .steps = 1});
  for (uint32_t k = 0; k < p.n_arrays; k++) assert_int_equal(p.arrays[k].inexact, HD_INEXACT_BUDGET);
  assert_false(p.complete);
  assert_int_equal(p.direction, HD_MAP_ROUND_ROBIN);
  hd_polyhedral_free(&p);
  p = launches_measure(&l, 0, &(hd_polyhedral_options){.steps = 1});
  for (uint32_t k = 0; k < p.n_arrays; k++) {
    assert_true(p.arrays[k].by_isl);
    assert_false(p.arrays[k].counted);
  }
  assert_true(p.complete);
  hd_polyhedral_free(&p);
  launches_close(&l);
}

/* n = 512: with lines of 32 bytes the 16-wide halves of matmul-blocked's B no longer share. */
static void the_line_size_counts(void **state) {
  launches l;
  assert_true(launches_open(&l, "matmul-blocked", "paper"));
  hd_polyhedral p = launches_measure(&l, 0, &(hd_polyhedral_options){.line = 32});
  const hd_polyhedral_array *b = array_of_buffer(&p, buffer_named(l.w, "b"));
  assert_int_equal(b->inexact, HD_INEXACT_NO);
  assert_int_equal(b->distance[0], 0);
  assert_int_equal(b->distance[1], 255);
  hd_polyhedral_free(&p);
  launches_close(&l);
}

static void loaded_addresses_have_no_numbers(void **state) {
  launches l;
  assert_true(launches_open(&l, "spmv-csr", "tiny"));
  hd_polyhedral p = launches_measure(&l, 0, NULL);
  const hd_polyhedral_array *x = array_of_buffer(&p, buffer_named(l.w, "x"));
  assert_int_equal(x->inexact, HD_INEXACT_ADDRESS);
  assert_true(x->line > 0);
  assert_false(p.complete);
  hd_polyhedral_free(&p);
  launches_close(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("reuse distances and MAP's direction are those derived by hand",
                distances_are_those_derived_by_hand),
      BEHAVIOUR("shares are those derived by hand", shares_are_those_derived_by_hand),
      BEHAVIOUR("where isl gives up, listing gives the same distances", both_methods_agree),
      BEHAVIOUR("a spent budget leaves no number behind", a_spent_budget_is_said),
      BEHAVIOUR("the line's size counts", the_line_size_counts),
      BEHAVIOUR("arrays whose addresses are loaded have a reason in place of numbers",
                loaded_addresses_have_no_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
