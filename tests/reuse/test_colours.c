/* Groups of CTAs by the data that they share. */
#include "check.h"

#include "../model/synth.h"
#include "heddle/sharing.h"

enum { WIDE = 6, HIGH = 4, TASKS = WIDE * HIGH, LINES = 16, LINE = 128 };
enum { A = 1 << 20, B = 2 << 20, C = 3 << 20, ARRAY = 1 << 19 };

static const hd_reuse_array arrays[] = {{"C", C, ARRAY}, {"A", A, ARRAY}, {"B", B, ARRAY}};

static void load(const hd_emu_hooks *h, uint64_t task, uint64_t address) {
  synth_put(h, 0, task, 0, 1, HD_ACCESS_LOAD, address, 4);
}

/* A product of matrices: a CTA has a block of rows of A, one of columns of B, and a tile of C to itself. */
static void product(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  const uint64_t x = task % WIDE, y = task / WIDE;
  for (uint64_t k = 0; k < LINES; k++) {
    load(h, task, A + (y * LINES + k) * LINE);
    load(h, task, B + (k * WIDE + x) * LINE);
    load(h, task, C + (task * LINES + k) * LINE);
  }
  load(h, task, A + (y * LINES + 1) * LINE); /* again, which counts once */
}

static void neighbours(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint64_t k = 0; k < LINES + 2; k++) load(h, task, A + (task * LINES + k) * LINE);
}

static void alone(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  load(h, task, A + task * LINE);
}

static hd_colouring *colour(const hd_trace *t, const uint64_t *tasks, uint32_t n) {
  hd_colouring *c;
  char line[1400];
  hd_diag d = {0};
  if (hd_sharing_colour(t, tasks, n, arrays, 3, LINE, &c, &d) != HD_OK)
    fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  return c;
}

static hd_colouring *colour_all(const hd_trace *t, uint32_t tasks) {
  uint64_t *all = calloc(tasks, sizeof *all);
  for (uint32_t i = 0; i < tasks; i++) all[i] = i;
  hd_colouring *c = colour(t, all, tasks);
  free(all);
  return c;
}

static void ctas_that_share_the_same_lines_are_of_one_group(void **state) {
  hd_trace *t = synth_trace(TASKS, 32, product, NULL);
  hd_colouring *c = colour_all(t, TASKS);
  assert_int_equal(c[0].array, 1);
  assert_int_equal(c[0].n, HIGH);
  assert_int_equal(c[1].array, 2);
  assert_int_equal(c[1].n, WIDE);
  for (unsigned i = 0; i < TASKS; i++) {
    assert_int_equal(c[0].of[i], i / WIDE);
    assert_int_equal(c[1].of[i], i % WIDE);
  }
  for (unsigned k = 0; k < 2; k++) {
    assert_int_equal(c[k].uses, TASKS * LINES);
    assert_int_equal(c[k].within, c[k].uses);
  }
  /* One line of A is named twice. */
  assert_int_equal(c[0].requests, TASKS * (LINES + 1));
  assert_int_equal(c[1].requests, TASKS * LINES);
  hd_colourings_free(c, 3);
  hd_trace_destroy(t);
}

static void data_that_no_two_ctas_share_has_no_groups(void **state) {
  hd_trace *t = synth_trace(TASKS, 32, product, NULL);
  hd_colouring *c = colour_all(t, TASKS);
  for (unsigned k = 2; k < 4; k++) {
    assert_true(c[k].array == 0 || c[k].array == 3);
    assert_int_equal(c[k].n, 0);
    assert_int_equal(c[k].uses, 0);
    for (unsigned i = 0; i < TASKS; i++) assert_int_equal(c[k].of[i], HD_NO_COLOUR);
  }
  hd_colourings_free(c, 3);
  hd_trace_destroy(t);
  t = synth_trace(TASKS, 32, alone, NULL);
  c = colour_all(t, TASKS);
  for (unsigned k = 0; k < 4; k++) assert_int_equal(c[k].n, 0);
  hd_colourings_free(c, 3);
  hd_trace_destroy(t);
}

static void of_many_places_neighbours_are_put_together(void **state) {
  enum { MANY = 240 };
  hd_trace *t = synth_trace(MANY, 32, neighbours, NULL);
  hd_colouring *c = colour_all(t, MANY);
  unsigned size[HD_COLOURS] = {0};
  assert_int_equal(c[0].array, 1);
  assert_int_equal(c[0].n, HD_COLOURS);
  for (unsigned i = 0; i < MANY; i++) {
    size[c[0].of[i]]++;
    assert_true(!i || c[0].of[i] >= c[0].of[i - 1]);
  }
  for (unsigned k = 0; k < HD_COLOURS; k++) assert_int_equal(size[k], MANY / HD_COLOURS);
  /* Two lines between each two neighbours; those between two groups have them in both. */
  assert_int_equal(c[0].uses, 4 * (MANY - 1));
  assert_int_equal(c[0].within, 4 * (MANY - HD_COLOURS));
  hd_colourings_free(c, 3);
  hd_trace_destroy(t);
}

static void only_the_tasks_asked_for_count(void **state) {
  static const uint64_t two[] = {1, WIDE + 2};
  hd_trace *t = synth_trace(TASKS, 32, product, NULL);
  hd_colouring *c = colour(t, two, 2);
  for (unsigned k = 0; k < 4; k++) assert_int_equal(c[k].uses, 0);
  hd_colourings_free(c, 3);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("CTAs that share the same lines are of one group",
                ctas_that_share_the_same_lines_are_of_one_group),
      BEHAVIOUR("data that no two CTAs share has no groups", data_that_no_two_ctas_share_has_no_groups),
      BEHAVIOUR("of many places neighbours are put together", of_many_places_neighbours_are_put_together),
      BEHAVIOUR("only the tasks asked for count", only_the_tasks_asked_for_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
