/* Sharing between CTAs, against an exhaustive search of sets; and the patterns of launches made up to show
 * them. */
#include "check.h"

#include "../model/synth.h"
#include "heddle/sharing.h"

enum { GX = 4, GY = 3, GZ = 2, TASKS = GX * GY * GZ, LINES = 40, WORDS = 32 };
static const uint32_t grid[3] = {GX, GY, GZ};

/* ---- Sharing --------------------------------------------------------------------------- */

/* use[task][line]: bit k of `read`, `written`: word k. */
typedef struct usage {
  uint32_t read, written;
} usage;

typedef struct notebook {
  usage use[TASKS][LINES];
  rng random;
} notebook;

/* Lines 0 .. 4 are everybody's, now and then; others belong to few. */
static void random_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  notebook *n = ctx;
  for (uint32_t i = 0; i < 6; i++) {
    uint64_t line = i == 0 ? below(&n->random, 5) : (task * 3 + below(&n->random, 12)) % LINES;
    uint64_t first = below(&n->random, WORDS), step = below(&n->random, 2);
    hd_access_kind kind = (hd_access_kind)below(&n->random, 3);
    uint64_t addr[32];
    uint32_t words = 0;
    for (unsigned k = 0; k < 32; k++) {
      addr[k] = line * 128 + (first + k * step) % WORDS * 4;
      words |= 1u << (first + k * step) % WORDS;
    }
    hd_access a = synth_access(task, warp, i, kind, 4, addr);
    h->access(h->ctx, worker, &a);
    if (kind != HD_ACCESS_STORE) n->use[task][line].read |= words;
    if (kind != HD_ACCESS_LOAD) n->use[task][line].written |= words;
  }
}

static bool uses(const notebook *n, int64_t x, int64_t y, int64_t z, unsigned line) {
  if (x < 0 || x >= GX || y < 0 || y >= GY || z < 0 || z >= GZ) return false;
  const usage *u = &n->use[x + GX * (y + GY * z)][line];
  return u->read || u->written;
}

static void count_pair(const notebook *n, unsigned task, unsigned line, hd_sharing_row *r) {
  const usage *own = &n->use[task][line];
  uint32_t words = own->read | own->written, others = 0;
  unsigned sharers = 0;
  bool fed = false;
  for (unsigned t = 0; t < TASKS; t++) {
    const usage *u = &n->use[t][line];
    sharers += u->read || u->written;
    if (t == task) continue;
    others |= u->read | u->written;
    fed |= u->written != 0;
  }
  unsigned used = (unsigned)__builtin_popcount(words), shared = (unsigned)__builtin_popcount(words & others);
  r->pairs++;
  r->loads += own->read != 0;
  r->stores += own->written != 0;
  r->fed += own->read && fed;
  r->skewed += (own->read & ~own->written) != 0;
  if (sharers < 2) return;
  r->shared++;
  if (2 * sharers >= TASKS) {
    r->common++;
    r->common_words += used;
    r->shared_common_words += shared;
    return;
  }
  r->words += used;
  r->shared_words += shared;
  int64_t x = task % GX, y = task / GX % GY, z = task / (GX * GY);
  bool next[3] = {uses(n, x + 1, y, z, line), uses(n, x, y + 1, z, line), uses(n, x, y, z + 1, line)};
  bool last = uses(n, x - 1, y, z, line) || uses(n, x, y - 1, z, line) || uses(n, x, y, z - 1, line);
  for (unsigned k = 0; k < 3; k++) r->along[k] += next[k];
  r->apart += !next[0] && !next[1] && !next[2] && !last;
}

static void what_ctas_share_is_found_by_a_search_through_all_of_them(void **state) {
  for (uint64_t seed = 0; seed < 8; seed++) {
    notebook *n = calloc(1, sizeof *n);
    assert_non_null(n);
    n->random.seed = seed;
    hd_trace *t = synth_trace(TASKS, 64, random_warp, n);
    hd_sharing_row want = {0};
    for (unsigned line = 0; line < LINES; line++) {
      bool any = false;
      for (unsigned task = 0; task < TASKS; task++)
        if (n->use[task][line].read || n->use[task][line].written) {
          count_pair(n, task, line, &want);
          any = true;
        }
      want.lines += any;
    }
    hd_sharing s;
    assert_int_equal(hd_sharing_measure(t, grid, NULL, 0, NULL, &s, NULL), HD_OK);
    assert_true(want.common > 0 && want.apart > 0 && want.along[1] > 0);
    assert_memory_equal(&s.all, &want, sizeof want);
    assert_true(s.sampled == 1);
    hd_sharing_free(&s);
    hd_trace_destroy(t);
    free(n);
  }
}

/* Every CTA shares one line with the next along x, and has 15 of its own. */
static void chain_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  for (uint64_t i = 0; i < 17; i++)
    synth_put(h, worker, task, warp, (uint32_t)i, HD_ACCESS_LOAD, 128 * (16 * task + i), 4);
}

static void a_sample_of_the_lines_has_the_same_parts(void **state) {
  enum { MANY = 2000 };
  const uint32_t line_of_ctas[3] = {MANY, 1, 1};
  hd_trace *t = synth_trace(MANY, 32, chain_warp, NULL);
  hd_sharing s;
  hd_sharing_options o = {.budget = MANY * 17 / 3};
  assert_int_equal(hd_sharing_measure(t, line_of_ctas, NULL, 0, &o, &s, NULL), HD_OK);
  assert_true(s.sampled == 0.25);
  assert_true(s.all.pairs <= o.budget && s.all.pairs > o.budget / 2);
  double part = (double)s.all.along[0] / (double)s.all.pairs;
  assert_true(part > 0.04 && part < 0.08);
  assert_int_equal(s.all.shared, 2 * s.all.along[0]);
  hd_sharing_free(&s);
  hd_trace_destroy(t);
}

static void pairs_belong_to_the_array_that_their_line_begins_in(void **state) {
  hd_trace *t = synth_trace(3, 32, chain_warp, NULL);
  const hd_reuse_array arrays[] = {{"a", 0, 128 * 16}, {"b", 128 * 16, 128 * 16}};
  const uint32_t three[3] = {3, 1, 1};
  hd_sharing s;
  assert_int_equal(hd_sharing_measure(t, three, arrays, 2, NULL, &s, NULL), HD_OK);
  assert_int_equal(s.arrays[0].pairs, 16);
  assert_int_equal(s.arrays[1].pairs, 1 + 16);
  assert_int_equal(s.arrays[2].pairs, 1 + 17);
  hd_sharing_free(&s);
  hd_trace_destroy(t);
}

static void a_grid_of_another_size_is_refused(void **state) {
  hd_trace *t = synth_trace(3, 32, chain_warp, NULL);
  hd_sharing s;
  hd_pattern p;
  hd_diag d = {0};
  assert_int_equal(hd_sharing_measure(t, grid, NULL, 0, NULL, &s, &d), HD_ERR_USAGE);
  assert_int_equal(hd_pattern_measure(t, grid, NULL, 0, 0, &p, &d), HD_ERR_USAGE);
  assert_string_equal(d.message, "the grid is not that of the trace");
  hd_trace_destroy(t);
}

static void partners_are_counted_line_by_line(void **state) {
  notebook *n = calloc(1, sizeof *n);
  assert_non_null(n);
  hd_trace *t = synth_trace(TASKS, 64, random_warp, n);
  const uint64_t tasks[] = {7, 0, 23};
  float share[3 * TASKS];
  assert_int_equal(hd_sharing_with(t, tasks, 3, 0, share, NULL), HD_OK);
  for (unsigned k = 0; k < 3; k++)
    for (unsigned task = 0; task < TASKS; task++) {
      unsigned both = 0, own = 0;
      for (unsigned line = 0; line < LINES; line++) {
        const usage *a = &n->use[tasks[k]][line], *b = &n->use[task][line];
        own += a->read || a->written;
        both += (a->read || a->written) && (b->read || b->written);
      }
      assert_true(share[k * TASKS + task] == (float)both / (float)own);
    }
  hd_diag d = {0};
  const uint64_t beyond = TASKS;
  assert_int_equal(hd_sharing_with(t, &beyond, 1, 0, share, &d), HD_ERR_USAGE);
  hd_trace_destroy(t);
  free(n);
}

/* ---- Patterns ------------------------------------------------------------------------------ */

/* A stencil's loads: three rows by turns, those at the grid's left and right edge cut off. */
static void stencil_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  uint64_t x = task % GX, y = task / GX;
  for (uint32_t k = 0; k < 8; k++)
    for (uint32_t row = 0; row < 3; row++) {
      uint64_t addr[32], base = ((y + row) * 4096 + x * 512 + k * 64 + 16) * 4;
      for (unsigned i = 0; i < 32; i++) addr[i] = base + (x == 0 && i < 4 ? 4 : i) * 4;
      hd_access a = synth_access(task, warp, row, HD_ACCESS_LOAD, 4, addr);
      h->access(h->ctx, worker, &a);
    }
}

static void scattered_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  rng *random = ctx;
  for (uint32_t k = 0; k < 24; k++)
    synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, below(random, 1 << 20) * 128, 4);
}

static double regular_part(hd_trace *t, const uint32_t g[3]) {
  hd_pattern p;
  assert_int_equal(hd_pattern_measure(t, g, NULL, 0, 0, &p, NULL), HD_OK);
  assert_true(p.all.compared > 0);
  double part = (double)p.all.followed / (double)p.all.compared;
  hd_pattern_free(&p);
  return part;
}

static void accesses_that_move_with_the_cta_are_regular(void **state) {
  const uint32_t plane[3] = {GX, GY * GZ, 1};
  hd_trace *t = synth_trace(TASKS, 64, stencil_warp, NULL);
  assert_true(regular_part(t, plane) == 1);
  hd_trace_destroy(t);
}

static void accesses_to_random_places_are_not(void **state) {
  const uint32_t line_of_ctas[3] = {TASKS, 1, 1};
  rng random = {1, 0};
  hd_trace *t = synth_trace(TASKS, 64, scattered_warp, &random);
  assert_true(regular_part(t, line_of_ctas) < 0.05);
  hd_trace_destroy(t);
}

/* One aligned row, one row that is 4 bytes off, one column. */
static void three_warp(const hd_emu_hooks *h, unsigned worker, uint64_t task, uint32_t warp, void *ctx) {
  synth_put(h, worker, task, warp, 0, HD_ACCESS_LOAD, 0, 4);
  synth_put(h, worker, task, warp, 1, HD_ACCESS_LOAD, 4, 4);
  synth_put(h, worker, task, warp, 2, HD_ACCESS_STORE, 4096, 256);
}

static void sectors_and_lines_are_counted_beside_those_needed(void **state) {
  const uint32_t one[3] = {1, 1, 1};
  hd_trace *t = synth_trace(1, 32, three_warp, NULL);
  hd_pattern p;
  assert_int_equal(hd_pattern_measure(t, one, NULL, 0, 0, &p, NULL), HD_OK);
  assert_int_equal(p.all.accesses, 3);
  assert_int_equal(p.all.bytes, 3 * 128);
  assert_int_equal(p.all.sectors, 4 + 5 + 32);
  assert_int_equal(p.all.least_sectors, 3 * 4);
  assert_int_equal(p.all.lines, 1 + 2 + 32);
  assert_int_equal(p.all.least_lines, 3);
  assert_int_equal(p.all.compared, 0);
  hd_pattern_free(&p);
  hd_trace_destroy(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("what CTAs share is found by a search through all of them",
                what_ctas_share_is_found_by_a_search_through_all_of_them),
      BEHAVIOUR("a sample of the lines has the same parts", a_sample_of_the_lines_has_the_same_parts),
      BEHAVIOUR("pairs belong to the array that their line begins in",
                pairs_belong_to_the_array_that_their_line_begins_in),
      BEHAVIOUR("a grid of another size is refused", a_grid_of_another_size_is_refused),
      BEHAVIOUR("partners are counted line by line", partners_are_counted_line_by_line),
      BEHAVIOUR("accesses that move with the CTA are regular", accesses_that_move_with_the_cta_are_regular),
      BEHAVIOUR("accesses to random places are not", accesses_to_random_places_are_not),
      BEHAVIOUR("sectors and lines are counted beside those needed",
                sectors_and_lines_are_counted_beside_those_needed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
