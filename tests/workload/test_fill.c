/* Fills: the same bytes on every machine, however the work is cut; and their values. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scratch.h"
#include "workload/workload.h"

/* A workload with one buffer "a" of `count` elements. */
static hd_workload *one_buffer(const char *type, uint64_t count, const char *fill, uint64_t seed) {
  char text[1024], line[1400];
  snprintf(
      text, sizeof text,
      "source = \"k.cu\"\n[sizes.small]\nn = 1000\n[[buffer]]\nname = \"a\"\ntype = \"%s\"\ncount = %llu\n"
      "fill = '%s'\nseed = %llu\n[[launch]]\nkernel = \"k\"\ngrid = [1]\nblock = [1]\nargs = [\"a\"]\n",
      type, (unsigned long long)count, fill, (unsigned long long)seed);
  hd_workload *w;
  hd_diag d;
  const wl_input in = {.text = text, .len = strlen(text), .path = "f", .folder = scratch};
  if (wl_read(&in, &w, &d) != HD_OK) fail_msg("%s", hd_diag_line(&d, line, sizeof line));
  return w;
}

/* Its bytes; the caller frees. */
static void *filled(const char *type, uint64_t count, const char *fill, uint64_t seed) {
  hd_workload *w = one_buffer(type, count, fill, seed);
  void *p = malloc(w->buffers[0].bytes);
  bool written;
  hd_diag d;
  assert_int_equal(hd_workload_fill(w, 0, p, &written, &d), HD_OK);
  assert_true(written);
  hd_workload_close(w);
  return p;
}

static const char *const TYPES[] = {"u8",  "s8",  "u16", "s16",  "u32", "s32",
                                    "u64", "s64", "f16", "bf16", "f32", "f64"};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };
static const struct {
  const char *fill;
  bool floats_only;
} RANGE_FILLS[] = {{"zero", false},
                   {"value(7)", false},
                   {"iota", false},
                   {"uniform(-1, 3)", true},
                   {"uniform_int(0, 100)", false},
                   {"normal(2, 0.5)", true},
                   {"bytes", false}};
enum { N_FILLS = sizeof RANGE_FILLS / sizeof *RANGE_FILLS };

static void any_cut_of_a_fill_gives_the_bytes_of_the_whole(void **state) {
  enum { COUNT = 1003 };
  for (size_t t = 0; t < N_TYPES; t++)
    for (size_t k = 0; k < N_FILLS; k++) {
      if (RANGE_FILLS[k].floats_only && t < 8) continue;
      hd_workload *w = one_buffer(TYPES[t], COUNT, RANGE_FILLS[k].fill, 5);
      unsigned size = hd_elem_bytes(w->buffers[0].type);
      char *whole = malloc(COUNT * size), *cut = malloc(COUNT * size);
      memset(cut, 0xa5, COUNT * size);
      bool written;
      hd_diag d;
      assert_int_equal(hd_workload_fill(w, 0, whole, &written, &d), HD_OK);
      for (uint64_t at = 0, i = 0; at < COUNT; i++) {
        uint64_t n = 1 + hd_random_at(t * 100 + k, i) % 40;
        if (n > COUNT - at) n = COUNT - at;
        assert_true(wl_fill_range(w, 0, at, n, cut + at * size));
        at += n;
      }
      assert_memory_equal(whole, cut, COUNT * size);
      free(whole);
      free(cut);
      hd_workload_close(w);
    }
}

/* Large enough for several threads. */
static void threads_give_the_bytes_of_one(void **state) {
  enum { COUNT = (5 << 20) + 3 };
  hd_workload *w = one_buffer("u16", COUNT, "uniform_int(0, 65535)", 1);
  uint16_t *many = malloc(2 * COUNT), *one = malloc(2 * COUNT);
  bool written;
  hd_diag d;
  assert_int_equal(hd_workload_fill(w, 0, many, &written, &d), HD_OK);
  assert_true(wl_fill_range(w, 0, 0, COUNT, one));
  assert_memory_equal(many, one, 2 * COUNT);
  free(many);
  free(one);
  hd_workload_close(w);
}

/* Recorded once; workloads whose data changed would make recorded results worthless. */
static void fills_never_change(void **state) {
  static const struct {
    const char *type, *fill;
    uint64_t hash;
  } recorded[] = {
      {"f32", "uniform(-1, 1)", 0x5057e806d8bf8b3f},
      {"f64", "uniform(-1, 1)", 0x5b6afe65fb24acc2},
      {"f16", "uniform(0, 100)", 0x8e7942dbb16a5cdb},
      {"f32", "normal(0, 1)", 0x0d4dd04cc3fbd9ff},
      {"f64", "normal(5, 2)", 0x4f727dca4f5d59ff},
      {"bf16", "normal(0, 1)", 0x205a67dfffd2a269},
      {"s32", "uniform_int(-9, 9)", 0x7fd7362d6f78f08d},
      {"u64", "bytes", 0xe1dfefc19d0b4d32},
      {"u8", "bytes", 0x237eace8213083ab},
      {"f32", "iota", 0x3491d1ed5fbba2cc},
  };
  for (size_t i = 0; i < sizeof recorded / sizeof *recorded; i++) {
    void *p = filled(recorded[i].type, 10000, recorded[i].fill, 42);
    hd_elem e;
    assert_true(wl_elem_parse(recorded[i].type, &e));
    hd_digest h = hd_digest_begin();
    hd_digest_bytes(&h, p, 10000 * hd_elem_bytes(e));
    uint64_t hash = h.low;
    if (hash != recorded[i].hash)
      fail_msg("%s %s: 0x%016llx", recorded[i].type, recorded[i].fill, (unsigned long long)hash);
    free(p);
  }
}

static void another_seed_gives_other_numbers(void **state) {
  uint32_t *a = filled("u32", 1000, "bytes", 1), *b = filled("u32", 1000, "bytes", 2);
  unsigned same = 0;
  for (unsigned i = 0; i < 1000; i++) same += a[i] == b[i];
  assert_true(same < 3);
  free(a);
  free(b);
}

static void zero_value_and_iota_are_what_they_say(void **state) {
  int16_t *z = filled("s16", 100, "zero", 1), *v = filled("s16", 100, "value(-n)", 1);
  uint8_t *i8 = filled("u8", 300, "iota", 1);
  float *f = filled("f32", 300, "iota", 1), *v32 = filled("f32", 10, "value( -2.5e-1 )", 1);
  for (int i = 0; i < 100; i++) assert_true(z[i] == 0 && v[i] == -1000);
  for (int i = 0; i < 300; i++) assert_true(i8[i] == (uint8_t)i && f[i] == (float)i);
  for (int i = 0; i < 10; i++) assert_true(v32[i] == -0.25f);
  free(z);
  free(v);
  free(i8);
  free(f);
  free(v32);
}

static void none_leaves_the_memory_alone(void **state) {
  hd_workload *w = one_buffer("f32", 10, "none", 1);
  float memory[10];
  memset(memory, 0x5a, sizeof memory);
  bool written = true;
  hd_diag d;
  assert_int_equal(hd_workload_fill(w, 0, memory, &written, &d), HD_OK);
  assert_false(written);
  for (size_t i = 0; i < sizeof memory; i++) assert_int_equal(((unsigned char *)memory)[i], 0x5a);
  assert_int_equal(hd_workload_fill(w, 1, memory, &written, &d), HD_ERR_USAGE);
  hd_workload_close(w);
}

static void uniform_stays_in_its_bounds_and_covers_them(void **state) {
  enum { COUNT = 200000 };
  float *p = filled("f32", COUNT, "uniform(-1, 3)", 9);
  double sum = 0, low = 9, high = -9;
  for (unsigned i = 0; i < COUNT; i++) {
    sum += p[i];
    if (p[i] < low) low = p[i];
    if (p[i] > high) high = p[i];
  }
  assert_true(low >= -1 && low < -0.999 && high <= 3 && high > 2.999);
  assert_true(fabs(sum / COUNT - 1) < 0.015); /* the mean's deviation: 4 / sqrt(12 COUNT) = 0.0026 */
  free(p);
  float *same = filled("f32", 1000, "uniform(0.1, 0.1)", 9);
  for (unsigned i = 0; i < 1000; i++) assert_true(same[i] == 0.1f);
  free(same);
}

static void uniform_int_reaches_both_bounds_evenly(void **state) {
  enum { COUNT = 70000 };
  int8_t *p = filled("s8", COUNT, "uniform_int(-3, 3)", 9);
  unsigned seen[7] = {0};
  for (unsigned i = 0; i < COUNT; i++) {
    assert_true(p[i] >= -3 && p[i] <= 3);
    seen[p[i] + 3]++;
  }
  for (unsigned i = 0; i < 7; i++) assert_true(seen[i] > 9400 && seen[i] < 10600); /* 6 deviations */
  free(p);
  int64_t *all = filled("s64", 1000, "uniform_int(-9223372036854775807 - 1, 9223372036854775807)", 1);
  unsigned negative = 0;
  for (unsigned i = 0; i < 1000; i++) negative += all[i] < 0;
  assert_true(negative > 400 && negative < 600);
  free(all);
}

static void normal_has_the_moments_of_a_normal_distribution(void **state) {
  enum { COUNT = 400000 };
  double *p = filled("f64", COUNT, "normal(2, 0.5)", 9), m[5] = {0};
  unsigned within = 0;
  for (unsigned i = 0; i < COUNT; i++) {
    double z = (p[i] - 2) / 0.5;
    for (int k = 1; k <= 4; k++) m[k] += pow(z, k) / COUNT;
    within += fabs(z) < 1;
  }
  assert_true(fabs(m[1]) < 0.01 && fabs(m[2] - 1) < 0.015 && fabs(m[3]) < 0.03 && fabs(m[4] - 3) < 0.1);
  assert_true(fabs((double)within / COUNT - 0.6826895) < 0.005);
  free(p);
}

static void a_file_must_have_the_buffers_size(void **state) {
  scratch_write("data.bin", "0123456789abcdef");
  char *p = filled("u32", 4, "file(\"data.bin\")", 1);
  assert_memory_equal(p, "0123456789abcdef", 16);
  free(p);
  uint32_t memory[5];
  bool written;
  hd_diag d;
  hd_workload *w = one_buffer("u32", 5, "file(\"data.bin\")", 1);
  assert_int_equal(hd_workload_fill(w, 0, memory, &written, &d), HD_ERR_INPUT);
  assert_string_equal(d.file, scratch_path("data.bin"));
  assert_string_equal(d.message, "holds 16 bytes; buffer 'a' needs 20");
  hd_workload_close(w);
  w = one_buffer("u32", 5, "file(\"none.bin\")", 1);
  assert_int_equal(hd_workload_fill(w, 0, memory, &written, &d), HD_ERR_IO);
  hd_workload_close(w);
  w = one_buffer("u32", 5, "file(\"/dev/zero\")", 1); /* which has no end */
  assert_int_equal(hd_workload_fill(w, 0, memory, &written, &d), HD_ERR_INPUT);
  hd_workload_close(w);
}

static int by_value(const void *a, const void *b) { return *(const int *)a < *(const int *)b ? -1 : 1; }

static void a_permutation_holds_every_number_once(void **state) {
  enum { COUNT = 1000 };
  int *a = filled("s32", COUNT, "permutation", 3), *b = filled("s32", COUNT, "permutation", 4);
  unsigned in_place = 0;
  for (int i = 0; i < COUNT; i++) in_place += a[i] == i;
  assert_true(in_place < 20);
  assert_memory_not_equal(a, b, COUNT * sizeof *a);
  qsort(a, COUNT, sizeof *a, by_value);
  for (int i = 0; i < COUNT; i++) assert_int_equal(a[i], i);
  free(a);
  free(b);
}

static void sorted_numbers_are_uniform_ones_in_order(void **state) {
  enum { COUNT = 1000 };
  int *a = filled("s32", COUNT, "sorted(-5, n)", 3), *b = filled("s32", COUNT, "uniform_int(-5, n)", 3);
  float *f = filled("f32", COUNT, "sorted(0, 1)", 3);
  qsort(b, COUNT, sizeof *b, by_value);
  assert_memory_equal(a, b, COUNT * sizeof *a);
  for (int i = 1; i < COUNT; i++) assert_true(f[i - 1] <= f[i]);
  free(a);
  free(b);
  free(f);
}

static void each_element_is_its_expressions_value(void **state) {
  long long *a = filled("s64", 100, "each(min(i * 16, n) - i % 3)", 0);
  float *f = filled("f32", 100, "each(i * i)", 0);
  for (int i = 0; i < 100; i++) {
    assert_int_equal(a[i], (i * 16 < 1000 ? i * 16 : 1000) - i % 3);
    assert_true(f[i] == (float)(i * i));
  }
  free(a);
  free(f);
}

static void elements_without_a_value_are_named(void **state) {
  static const char *const cases[][2] = {
      {"each(7 / max(0, 7 - i))", "element 7 of buffer 'a': '/' divides by zero"},
      {"each(i * 10)", "element 26 of buffer 'a' is 260, which does not fit in u8"},
      {"permutation", "buffer 'a' has more elements than u8 has numbers"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    hd_workload *w = one_buffer("u8", 300, cases[i][0], 0);
    unsigned char out[300];
    bool written;
    hd_diag d = {0};
    assert_int_equal(hd_workload_fill(w, 0, out, &written, &d), HD_ERR_INPUT);
    if (!strstr(d.message, cases[i][1])) fail_msg("'%s', not '%s'", d.message, cases[i][1]);
    hd_workload_close(w);
  }
}

static void addresses_follow_the_buffer_that_they_point_to(void **state) {
  static const uint64_t places[2][1] = {{0x10000}, {0x7000}};
  hd_workload *w = one_buffer("u64", 5, "address(a, 4 - 2 * i)", 0);
  uint64_t out[5];
  bool written = false;
  hd_diag d = {0};
  assert_true(w->buffers[0].points);
  assert_int_equal(hd_workload_fill(w, 0, out, &written, &d), HD_OK);
  assert_true(written);
  for (int i = 0; i < 5; i++) assert_int_equal(out[i], 0);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(hd_workload_point(w, 0, places[k], out, &d), HD_OK);
    for (uint64_t i = 0; i < 3; i++) assert_int_equal(out[i], places[k][0] + 8 * (4 - 2 * i));
    assert_int_equal(out[3], 0); /* numbers below 0 are the null pointer */
    assert_int_equal(out[4], 0);
  }
  hd_workload_close(w);
}

static void addresses_outside_of_their_buffer_are_named(void **state) {
  const uint64_t place = 0;
  uint64_t out[4];
  hd_diag d = {0};
  hd_workload *w = one_buffer("u64", 4, "address(a, i * 2)", 0);
  assert_int_equal(hd_workload_point(w, 0, &place, out, &d), HD_ERR_INPUT);
  assert_non_null(strstr(d.message, "element 3 of buffer 'a' points to element 6 of 'a', which has 4"));
  hd_workload_close(w);
  w = one_buffer("u64", 4, "iota", 0);
  assert_int_equal(hd_workload_point(w, 0, &place, out, &d), HD_ERR_USAGE);
  hd_workload_close(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_cut_of_a_fill_gives_the_bytes_of_the_whole),
      cmocka_unit_test(threads_give_the_bytes_of_one),
      cmocka_unit_test(fills_never_change),
      cmocka_unit_test(another_seed_gives_other_numbers),
      cmocka_unit_test(zero_value_and_iota_are_what_they_say),
      cmocka_unit_test(none_leaves_the_memory_alone),
      cmocka_unit_test(addresses_follow_the_buffer_that_they_point_to),
      cmocka_unit_test(addresses_outside_of_their_buffer_are_named),
      cmocka_unit_test(uniform_stays_in_its_bounds_and_covers_them),
      cmocka_unit_test(uniform_int_reaches_both_bounds_evenly),
      cmocka_unit_test(normal_has_the_moments_of_a_normal_distribution),
      cmocka_unit_test(a_file_must_have_the_buffers_size),
      BEHAVIOUR("a permutation holds every number once", a_permutation_holds_every_number_once),
      BEHAVIOUR("sorted numbers are uniform ones in order", sorted_numbers_are_uniform_ones_in_order),
      BEHAVIOUR("each element is its expression's value", each_element_is_its_expressions_value),
      BEHAVIOUR("elements without a value are named", elements_without_a_value_are_named),
  };
  return cmocka_run_group_tests(tests, scratch_setup, scratch_teardown);
}
