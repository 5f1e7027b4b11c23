/* Lanes to runs to sectors, against counting bytes one by one. */
#include "model/synth.h"

#include "model/coalesce.h"

typedef struct expected {
  uint32_t n;
  uint64_t line[64];
  uint8_t bytes[64][128]; /* named or not */
} expected;

static void brute_force(const uint64_t *addr, uint32_t mask, unsigned bytes, expected *e) {
  memset(e, 0, sizeof *e);
  for (unsigned lane = 0; lane < 32; lane++) {
    if (!(mask >> lane & 1)) continue;
    for (unsigned b = 0; b < bytes; b++) {
      uint64_t line = (addr[lane] + b) / 128;
      uint32_t i = 0;
      while (i < e->n && e->line[i] != line) i++;
      if (i == e->n) e->line[e->n++] = line;
      e->bytes[i][(addr[lane] + b) % 128] = 1;
    }
  }
}

static void check(const uint64_t *addr, uint32_t mask, unsigned bytes) {
  expected e;
  brute_force(addr, mask, bytes, &e);
  model_runs runs;
  model_lines load, store;
  model_runs_of(addr, mask, bytes, &runs);
  model_lines_of(&runs, &load);
  model_lines_of_store(&runs, &store);
  assert_int_equal(load.n, e.n);
  assert_int_equal(store.n, e.n);
  for (uint32_t i = 0; i < e.n; i++) {
    unsigned touched = 0, full = 0;
    for (unsigned s = 0; s < 4; s++) {
      unsigned n = 0;
      for (unsigned b = 0; b < 32; b++) n += e.bytes[i][s * 32 + b];
      touched |= (n > 0) << s;
      full |= (n == 32) << s;
    }
    assert_int_equal(load.line[i], e.line[i]); /* in first-touch order */
    assert_int_equal(load.touched[i], touched);
    assert_int_equal(store.line[i], e.line[i]);
    assert_int_equal(store.touched[i], touched);
    assert_int_equal(store.full[i], full);
  }
}

/* Consecutive, strided, two-dimensional, permuted within a segment, scattered, and mixtures. */
static void make(rng *r, uint64_t *addr, unsigned bytes) {
  uint64_t base = below(r, 1 << 20) * bytes, pattern = below(r, 7);
  uint64_t step = below(r, 3) ? bytes * below(r, 40) : below(r, 5000);
  uint64_t width = 1ull << below(r, 6), pitch = bytes * below(r, 2000);
  for (unsigned i = 0; i < 32; i++) switch (pattern) {
    case 0: addr[i] = base + i * bytes; break;
    case 1: addr[i] = base; break;
    case 2: addr[i] = base + i * step; break;
    case 3: addr[i] = base + i % width * bytes + i / width * pitch; break;
    case 4: addr[i] = base + (i ^ (step & 31)) * bytes; break;
    case 5: addr[i] = base + (31 - i) * bytes; break;
    default: addr[i] = below(r, 1 << 24) / bytes * bytes; break;
    }
}

static void sectors_are_those_of_counting_bytes(void **state) {
  rng r = {1, 0};
  static const unsigned sizes[] = {1, 2, 4, 8, 12, 16};
  for (int k = 0; k < 40000; k++) {
    uint64_t addr[32];
    unsigned bytes = sizes[below(&r, 6)];
    make(&r, addr, bytes);
    uint32_t mask = below(&r, 2) ? UINT32_MAX : (uint32_t)next(&r);
    if (!mask) mask = 1;
    check(addr, mask, bytes);
  }
}

static void a_warp_of_consecutive_floats_is_one_run(void **state) {
  uint64_t addr[32];
  for (unsigned i = 0; i < 32; i++) addr[i] = 4096 + i * 4;
  model_runs runs;
  model_runs_of(addr, UINT32_MAX, 4, &runs);
  assert_int_equal(runs.n, 1);
  assert_int_equal(runs.bytes[0], 128);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sectors_are_those_of_counting_bytes),
      cmocka_unit_test(a_warp_of_consecutive_floats_is_one_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
