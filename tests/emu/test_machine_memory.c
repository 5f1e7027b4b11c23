/* Device memory seen from the host. */
#include <sys/mman.h>
#include <unistd.h>

#include "kit.h"

static hd_emu *open_with(unsigned checks, uint64_t memory) {
  hd_emu *e;
  hd_diag d;
  hd_emu_options o = {.checks = checks, .memory = memory};
  CHECK_OK(hd_emu_create(&o, &e, &d), &d);
  return e;
}

/* Allocate and free at random; the addresses returned. */
static void churn(hd_emu *e, uint64_t seed, uint64_t *log, size_t n) {
  uint64_t live[64], sizes[64];
  size_t n_live = 0;
  hd_diag d;
  for (size_t k = 0; k < n; k++) {
    uint64_t x = hd_random_at(seed, k);
    if (n_live == 64 || (n_live && x % 3 == 0)) {
      size_t v = (x >> 8) % n_live;
      log[k] = 0;
      /* Old contents must not show when the memory is used again. */
      if (sizes[v]) memset(hd_emu_ptr(e, live[v], sizes[v]), 0xab, sizes[v]);
      CHECK_OK(hd_emu_free(e, live[v], &d), &d);
      live[v] = live[--n_live];
      sizes[v] = sizes[n_live];
      continue;
    }
    uint64_t bytes = (x >> 8) % 8 == 0 ? (x >> 16) % 2000000 : (x >> 16) % 3000, a;
    CHECK_OK(hd_emu_alloc(e, bytes, &a, &d), &d);
    assert_int_equal(a % 256, 0);
    for (size_t v = 0; v < n_live; v++)
      assert_true(a + bytes + 256 <= live[v] || live[v] + sizes[v] + 256 <= a);
    const char *p = hd_emu_ptr(e, a, bytes);
    assert_non_null(p);
    for (uint64_t b = 0; b<bytes; b += bytes> 4096 ? 509 : 1) assert_int_equal(p[b], 0);
    assert_null(hd_emu_ptr(e, a, bytes + 1));
    assert_null(hd_emu_ptr(e, a - 1, 1));
    live[n_live] = log[k] = a;
    sizes[n_live++] = bytes;
  }
}

static void allocations_keep_apart_and_repeat(void **state) {
  enum { N = 1500 };
  static uint64_t first[N], second[N];
  for (int run = 0; run < 2; run++) {
    hd_emu *e = open_with(HD_CHECK_ALL, 1 << 30);
    churn(e, 11, run ? second : first, N);
    hd_emu_destroy(e);
  }
  assert_memory_equal(first, second, sizeof first);
}

static void freed_places_are_used_again(void **state) {
  hd_emu *e = open_with(0, 1 << 20);
  hd_diag d;
  uint64_t a, b, c;
  CHECK_OK(hd_emu_alloc(e, 300, &a, &d), &d);
  CHECK_OK(hd_emu_alloc(e, 300, &b, &d), &d);
  CHECK_OK(hd_emu_free(e, a, &d), &d);
  CHECK_OK(hd_emu_alloc(e, 200, &c, &d), &d);
  assert_int_equal(a, c);
  assert_int_equal(hd_emu_free(e, b + 1, &d), HD_ERR_USAGE);
  CHECK_OK(hd_emu_free(e, b, &d), &d);
  assert_int_equal(hd_emu_free(e, b, &d), HD_ERR_USAGE);
  hd_emu_destroy(e);
}

static void what_does_not_fit_is_refused(void **state) {
  hd_emu *e = open_with(HD_CHECK_ALL, 1 << 20);
  hd_diag d;
  uint64_t a;
  static const uint64_t sizes[] = {1 << 20, UINT64_C(1) << 40, UINT64_MAX, UINT64_MAX - 255,
                                   UINT64_C(1) << 63};
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    assert_int_equal(hd_emu_alloc(e, sizes[k], &a, &d), HD_ERR_NOMEM);
    assert_int_equal(a, 0);
  }
  CHECK_OK(hd_emu_alloc(e, (1 << 20) - 256, &a, &d), &d);
  assert_int_equal(hd_emu_alloc(e, 0, &a, &d), HD_ERR_NOMEM);
  hd_emu_destroy(e);
  hd_emu_options o = {.memory = UINT64_MAX};
  assert_int_equal(hd_emu_create(&o, &e, &d), HD_ERR_USAGE);
  o = (hd_emu_options){.checks = 64};
  assert_int_equal(hd_emu_create(&o, &e, &d), HD_ERR_USAGE);
  o = (hd_emu_options){.n_sms = UINT32_MAX};
  assert_int_equal(hd_emu_create(&o, &e, &d), HD_ERR_USAGE);
}

static void host_accesses_stay_inside_an_allocation(void **state) {
  hd_emu *e = open_with(HD_CHECK_INIT, 1 << 20);
  hd_diag d;
  uint64_t a;
  char text[16] = "fifteen bytes..", back[16];
  CHECK_OK(hd_emu_alloc(e, 16, &a, &d), &d);
  CHECK_OK(hd_emu_write(e, a, text, 16, &d), &d);
  CHECK_OK(hd_emu_read(e, a, back, 16, &d), &d);
  assert_memory_equal(text, back, 16);
  assert_int_equal(hd_emu_write(e, a + 1, text, 16, &d), HD_ERR_USAGE);
  assert_int_equal(hd_emu_read(e, a + 16, back, 1, &d), HD_ERR_USAGE);
  assert_int_equal(hd_emu_read(e, 0, back, 1, &d), HD_ERR_USAGE);
  assert_int_equal(hd_emu_read(e, a, back, UINT64_MAX, &d), HD_ERR_USAGE);
  hd_emu_mark_unwritten(e, a + 8, UINT64_MAX);
  hd_emu_mark_written(e, 12345, 8);
  hd_emu_destroy(e);
}

static void the_host_shares_the_pages_that_it_is_shown(void **state) {
  hd_emu *e;
  hd_diag d;
  const hd_emu_options o = {.memory = 1 << 24, .threads = 1, .shared = true};
  CHECK_OK(hd_emu_create(&o, &e, &d), &d);
  enum { BYTES = 10000 };
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), a, first, bytes;
  CHECK_OK(hd_emu_alloc_aligned(e, BYTES, page, &a, &d), &d);
  assert_int_equal(a % page, 0);
  hd_emu_range(e, &first, &bytes);
  assert_true(a >= first && a + BYTES <= first + bytes);
  char *host = mmap(NULL, 4 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(host, MAP_FAILED);
  CHECK_OK(hd_emu_show(e, a, BYTES, host, &d), &d);
  host[9999] = 7;
  assert_int_equal(((char *)hd_emu_ptr(e, a, BYTES))[9999], 7);
  CHECK_OK(hd_emu_write(e, a + 5000, "text", 5, &d), &d);
  assert_string_equal(host + 5000, "text");
  assert_int_equal(hd_emu_show(e, a + 1, BYTES - 1, host, &d), HD_ERR_USAGE);
  assert_int_equal(hd_emu_show(e, a, BYTES + 1, host, &d), HD_ERR_USAGE);
  CHECK_OK(hd_emu_free(e, a, &d), &d);
  CHECK_OK(hd_emu_alloc_aligned(e, BYTES, page, &a, &d), &d);
  for (unsigned k = 0; k < BYTES; k++) assert_int_equal(((char *)hd_emu_ptr(e, a, BYTES))[k], 0);
  munmap(host, 4 * page);
  hd_emu_destroy(e);
  e = open_with(0, 1 << 20);
  CHECK_OK(hd_emu_alloc_aligned(e, page, page, &a, &d), &d);
  assert_int_equal(hd_emu_show(e, a, page, (void *)(uintptr_t)page, &d), HD_ERR_USAGE);
  hd_emu_destroy(e);
}

/* The written prefix is right for any order of marks. */
static void marks_agree_with_a_plain_map(void **state) {
  hd_emu *e = open_with(HD_CHECK_INIT, 1 << 20);
  hd_diag d;
  uint64_t a;
  enum { N = 700 };
  char map[N] = {0};
  CHECK_OK(hd_emu_alloc(e, N, &a, &d), &d);
  for (unsigned k = 0; k < 3000; k++) {
    uint64_t x = hd_random_at(5, k), at = x % N, n = (x >> 20) % (N - at) / (1 + (x >> 40) % 8);
    bool written = x >> 60 != 0;
    (written ? hd_emu_mark_written : hd_emu_mark_unwritten)(e, a + at, n);
    memset(map + at, written, n);
    if (x >> 50 & 1) emu_init_settle(e);
    uint64_t prefix = 0;
    while (prefix < N && map[prefix]) prefix++;
    emu_alloc *al = emu_find_alloc(e, a);
    assert_true(al->written <= prefix);
    if (x >> 50 & 1) assert_int_equal(al->written, prefix);
    for (uint64_t b = 0; b + 16 <= N; b += 37)
      for (unsigned bytes = 1; bytes <= 16; bytes *= 2)
        assert_int_equal(emu_init_check(e->init + (a - EMU_GLOBAL_BASE) + b, bytes),
                         memchr(map + b, 0, bytes) == NULL);
  }
  hd_emu_destroy(e);
}

/* Also where memory was freed: what lies outside of allocations is zero. */
static void memory_begins_as_another_emulators(void **state) {
  enum { N = 3 << 20 };
  hd_emu *first, *like[2], *none;
  hd_diag d;
  uint64_t a, b;
  CHECK_OK(hd_emu_create(&(hd_emu_options){.shared = true}, &first, &d), &d);
  CHECK_OK(hd_emu_alloc(first, N, &a, &d), &d);
  memset(hd_emu_ptr(first, a, N), 7, N);
  for (int i = 0; i < 2; i++) {
    CHECK_OK(hd_emu_create(&(hd_emu_options){.like = first}, &like[i], &d), &d);
    CHECK_OK(hd_emu_alloc(like[i], N, &b, &d), &d);
    assert_true(a == b);
  }
  unsigned char *p = hd_emu_ptr(like[0], a, N);
  for (size_t k = 0; k < N; k++) assert_int_equal(p[k], 7);
  memset(p, 9, N / 2);
  assert_int_equal(*(unsigned char *)hd_emu_ptr(like[1], a, N), 7);
  assert_int_equal(*(unsigned char *)hd_emu_ptr(first, a, N), 7);
  CHECK_OK(hd_emu_free(like[0], a, &d), &d);
  CHECK_OK(hd_emu_alloc(like[0], 2 * N, &b, &d), &d);
  p = hd_emu_ptr(like[0], b, 2 * N);
  for (size_t k = 0; k < 2 * N; k++) assert_int_equal(p[k], 0);
  assert_int_equal(hd_emu_create(&(hd_emu_options){.like = like[1]}, &none, &d), HD_ERR_USAGE);
  for (int i = 0; i < 2; i++) hd_emu_destroy(like[i]);
  hd_emu_destroy(first);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("allocations are aligned, zero, apart, and repeat in every emulator",
                allocations_keep_apart_and_repeat),
      BEHAVIOUR("a freed place is used again, and freed only once", freed_places_are_used_again),
      BEHAVIOUR("what does not fit is refused", what_does_not_fit_is_refused),
      BEHAVIOUR("the host's accesses stay inside one allocation", host_accesses_stay_inside_an_allocation),
      BEHAVIOUR("the host shares the pages of device memory that it is shown",
                the_host_shares_the_pages_that_it_is_shown),
      BEHAVIOUR("memory begins as another emulator's, and is its own", memory_begins_as_another_emulators),
      BEHAVIOUR("marks of written memory agree with a plain map", marks_agree_with_a_plain_map),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
