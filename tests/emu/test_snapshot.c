/* Device memory compared with what it was. */
#include <unistd.h>

#include "kit.h"

enum { BYTES = 1 << 20, BUFFERS = 3 };

typedef struct scene {
  hd_emu *e;
  uint64_t at[BUFFERS];
  hd_emu_snapshot *s;
  hd_diag d;
} scene;

static void open_scene(scene *c, uint64_t seed) {
  const hd_emu_options o = {.memory = 1 << 24, .threads = 1, .shared = true};
  CHECK_OK(hd_emu_create(&o, &c->e, &c->d), &c->d);
  for (int k = 0; k < BUFFERS; k++) {
    CHECK_OK(hd_emu_alloc(c->e, BYTES, &c->at[k], &c->d), &c->d);
    /* Some pages of it are touched. */
    for (unsigned i = 0; i < 20; i++) {
      const uint64_t x = hd_random_at(seed + (uint64_t)k, i);
      CHECK_OK(hd_emu_write(c->e, c->at[k] + x % (BYTES - 8), &x, 8, &c->d), &c->d);
    }
  }
  CHECK_OK(hd_emu_snapshot_take(c->e, UINT64_MAX, &c->s, &c->d), &c->d);
}

static void close_scene(scene *c) {
  hd_emu_snapshot_free(c->s);
  hd_emu_destroy(c->e);
}

static void put(scene *c, uint64_t address, uint8_t value) {
  CHECK_OK(hd_emu_write(c->e, address, &value, 1, &c->d), &c->d);
}

static uint8_t get(scene *c, uint64_t address) { return *(uint8_t *)hd_emu_ptr(c->e, address, 1); }

static void a_changed_byte_is_found_where_it_is_and_forgotten_when_it_is_back(void **state) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    scene c;
    open_scene(&c, seed);
    assert_true(hd_emu_snapshot_same(c.s));
    const unsigned k = (unsigned)(seed % BUFFERS);
    /* One of the bytes that were written: its page stays a touched one. */
    const uint64_t at = c.at[k] + hd_random_at(seed + k, seed % 20) % (BYTES - 8);
    const uint8_t was = get(&c, at);
    put(&c, at, (uint8_t)(was + 1));
    assert_false(hd_emu_snapshot_same(c.s));
    for (unsigned b = 0; b < BUFFERS; b++)
      assert_int_equal(hd_emu_snapshot_same_at(c.s, c.at[b], BYTES), b != k);
    assert_true(hd_emu_snapshot_same_at(c.s, c.at[k], at - c.at[k]));
    assert_false(hd_emu_snapshot_same_at(c.s, at, 1));
    assert_true(hd_emu_snapshot_same_at(c.s, at + 1, c.at[k] + BYTES - at - 1));
    put(&c, at, was);
    assert_true(hd_emu_snapshot_same(c.s));
    close_scene(&c);
  }
}

static void memory_touched_for_the_first_time_has_changed(void **state) {
  scene c;
  uint64_t fresh;
  open_scene(&c, 1);
  hd_emu_snapshot_free(c.s);
  CHECK_OK(hd_emu_alloc(c.e, BYTES, &fresh, &c.d), &c.d);
  CHECK_OK(hd_emu_snapshot_take(c.e, UINT64_MAX, &c.s, &c.d), &c.d);
  assert_true(hd_emu_snapshot_bytes(c.s) < 4 * BYTES / 2); /* the rest was never touched */
  put(&c, fresh + BYTES / 2, 1);
  assert_false(hd_emu_snapshot_same(c.s));
  assert_false(hd_emu_snapshot_same_at(c.s, fresh, BYTES));
  assert_true(hd_emu_snapshot_same_at(c.s, c.at[0], BYTES));
  close_scene(&c);
}

/* Calls after which a launch may find something else, though no byte of memory differs. */
static void what_comes_and_goes_beside_memory_has_changed(void **state) {
  for (int what = 0; what < 5; what++) {
    scene c;
    uint64_t address, handle;
    const hd_image i = {.kind = HD_IMAGE_LINEAR, .texel = HD_TEXEL_U32, .channels = 1, .width = 16};
    hd_texture t = {.image = i};
    open_scene(&c, 2);
    t.image.address = c.at[0];
    const uint64_t written = c.at[0] + hd_random_at(2, 0) % (BYTES - 8);
    const uint64_t before = hd_emu_changes(c.e);
    switch (what) {
    case 0: CHECK_OK(hd_emu_alloc(c.e, 16, &address, &c.d), &c.d); break;
    case 1: CHECK_OK(hd_emu_free(c.e, c.at[1], &c.d), &c.d); break;
    case 2: CHECK_OK(hd_emu_texture(c.e, &t, &handle, &c.d), &c.d); break;
    case 3:
      CHECK_OK(hd_emu_texture(c.e, &t, &handle, &c.d), &c.d);
      hd_emu_snapshot_free(c.s);
      CHECK_OK(hd_emu_snapshot_take(c.e, UINT64_MAX, &c.s, &c.d), &c.d);
      CHECK_OK(hd_emu_release(c.e, handle, &c.d), &c.d);
      break;
    default: put(&c, written, get(&c, written)); break;
    }
    assert_true(hd_emu_changes(c.e) > before);
    assert_int_equal(hd_emu_snapshot_same(c.s), what == 4);
    close_scene(&c);
  }
}

static void more_than_is_wanted_is_refused(void **state) {
  scene c;
  hd_emu_snapshot *s;
  open_scene(&c, 3);
  const uint64_t bytes = hd_emu_snapshot_bytes(c.s);
  CHECK_OK(hd_emu_snapshot_take(c.e, bytes, &s, &c.d), &c.d);
  hd_emu_snapshot_free(s);
  assert_int_equal(hd_emu_snapshot_take(c.e, bytes - 1, &s, &c.d), HD_ERR_NOMEM);
  assert_null(s);
  close_scene(&c);
  hd_emu *plain;
  CHECK_OK(hd_emu_create(NULL, &plain, &c.d), &c.d);
  assert_int_equal(hd_emu_snapshot_take(plain, UINT64_MAX, &s, &c.d), HD_ERR_USAGE);
  hd_emu_destroy(plain);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_changed_byte_is_found_where_it_is_and_forgotten_when_it_is_back),
      cmocka_unit_test(memory_touched_for_the_first_time_has_changed),
      cmocka_unit_test(what_comes_and_goes_beside_memory_has_changed),
      cmocka_unit_test(more_than_is_wanted_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
