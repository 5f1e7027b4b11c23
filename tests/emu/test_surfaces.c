/* Surfaces as kernels read, write and reduce into them. */
#include "session.h"

enum { LANES = 96 };

enum { W = 16, H = 8 };
static void open_surface(session *s, uint64_t *at, uint64_t *handle, uint32_t rows) {
  float data[W * 3 * H];
  for (int k = 0; k < W * 3 * H; k++) data[k] = (float)k;
  *at = buffer(s, data, W * rows * 4);
  const hd_image i = {.texel = HD_TEXEL_F32, .channels = 1, .width = W, .height = rows, .address = *at};
  CHECK_OK(hd_emu_surface(s->e, &i, handle, &s->d), &s->d);
}

static void surfaces_trap_clamp_or_are_zero_outside(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.checks = HD_CHECK_ALL, .threads = 1, .memory = 1 << 24});
  uint64_t a, b, sa, sb;
  int32_t c[LANES][4];
  open_surface(&s, &a, &sa, H);
  open_surface(&s, &b, &sb, H);
  for (int l = 0; l < LANES; l++) c[l][0] = l % 24 - 4, c[l][1] = l / 8 - 2, c[l][2] = c[l][3] = 0;
  uint64_t in = buffer(&s, c, sizeof c), out = buffer(&s, NULL, LANES * 4);
  for (int clamp = 0; clamp < 2; clamp++) {
    RUN_OK(&s, clamp ? "load_clamp" : "load_zero", 1, LANES, 0, ARG(sa), ARG(in), ARG(out));
    for (int l = 0; l < LANES; l++) {
      int x = c[l][0], y = c[l][1];
      const bool inside = x >= 0 && x < W && y >= 0 && y < H;
      x = x < 0 ? 0 : x >= W ? W - 1 : x;
      y = y < 0 ? 0 : y >= H ? H - 1 : y;
      assert_true(HOST(&s, float, out, LANES)[l] == (clamp || inside ? (float)(y * W + x) : 0));
    }
  }
  RUN_OK(&s, "store_zero", 1, LANES, 0, ARG(sb), ARG(in));
  for (int k = 0; k < W * H; k++) {
    float want = (float)k;
    for (int l = 0; l < LANES; l++)
      if (c[l][0] == k % W && c[l][1] == k / W) want = (float)(c[l][0] + 100 * c[l][1]);
    assert_true(HOST(&s, float, b, W *H)[k] == want);
  }
  assert_int_equal(RUN(&s, "copy_trap", 1, LANES, 0, ARG(sa), ARG(sb), ARG(in)), HD_ERR_FAULT);
  CHECK_MESSAGE(&s.d, "out of bounds: (-16, -2, 0) of a surface with rows of 64 bytes, 8 rows");
  close_file(&s);
}

static void surfaces_are_bytes_of_any_width(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.checks = HD_CHECK_INIT, .threads = 1, .memory = 1 << 24});
  enum { ROW = 640, ROWS = 3, LAYERS = 2 };
  uint8_t data[ROW * ROWS * LAYERS];
  for (size_t k = 0; k < sizeof data; k++) data[k] = (uint8_t)hd_random_at(6, k);
  uint64_t a = buffer(&s, data, sizeof data), b = zeros(&s, sizeof data), sa, sb;
  hd_image i = {
      .texel = HD_TEXEL_U8, .channels = 4, .width = ROW / 4, .height = ROWS, .layers = LAYERS, .address = a};
  CHECK_OK(hd_emu_surface(s.e, &i, &sa, &s.d), &s.d);
  i.address = b;
  CHECK_OK(hd_emu_surface(s.e, &i, &sb, &s.d), &s.d);
  const int z = 1;
  RUN_OK(&s, "widths", ROWS, 32, 0, ARG(sa), ARG(sb), ARG(z));
  for (int y = 0; y < ROWS; y++) {
    const uint8_t *from = data + ROW * (ROWS + y),
                  *got = HOST(&s, uint8_t, b, sizeof data) + ROW * (ROWS + y);
    for (int x = 0; x < 128; x++) assert_int_equal(got[x], from[x / 4 * 4 + 3 - x % 4]);
    for (int x = 0; x < 32; x++) assert_int_equal(got[128 + x], (uint8_t)(from[x] + 1));
    for (int x = 0; x < 128; x++) assert_int_equal(got[256 + x], from[x ^ 2]);
    assert_memory_equal(got + 384, from, 128);
    assert_memory_equal(got + 512, from, 128);
  }
  close_file(&s);
}

static void reductions_on_surfaces_are_atomic(void **state) {
  session s;
  ON_EACH_MACHINE(&s, "images") {
    uint64_t a, sa;
    int32_t c[LANES][4], want[W * 3 * H];
    open_surface(&s, &a, &sa, 3 * H);
    for (int k = 0; k < W * 3 * H; k++) want[k] = HOST(&s, int32_t, a, W * 3 * H)[k];
    for (int l = 0; l < LANES; l++) {
      const int x = c[l][0] = l % 5 - 1, y = c[l][1] = l % 3,
                v = c[l][2] = (int32_t)hd_random_at(8, (uint64_t)l);
      c[l][3] = 0;
      if (x < 0) continue;
      int32_t *add = &want[y * W + x], *max = &want[(y + H) * W + x], *min = &want[(y + 2 * H) * W + x];
      *add = (int32_t)((uint32_t)*add + (uint32_t)v);
      if (v > *max) *max = v;
      if ((uint32_t)v < (uint32_t)*min) *min = v;
    }
    uint64_t in = buffer(&s, c, sizeof c);
    RUN_OK(&s, "reduce", 3, LANES / 3, 0, ARG(sa), ARG(in));
    assert_memory_equal(HOST(&s, int32_t, a, W * 3 * H), want, sizeof want);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("surfaces trap, clamp or are zero outside", surfaces_trap_clamp_or_are_zero_outside),
      BEHAVIOUR("surfaces are bytes of any width", surfaces_are_bytes_of_any_width),
      BEHAVIOUR("reductions on surfaces are atomic", reductions_on_surfaces_are_atomic),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
