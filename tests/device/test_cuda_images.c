/* Textures and surfaces given to a device: the emulator, and a driver that has no GPU. */
#include <stdio.h>
#include <string.h>

#include "device/open_fake.h"

static hd_diag d;
#define OK(call)                                                                                             \
  do {                                                                                                       \
    if ((call) != HD_OK) fail_msg("%s: %s", #call, d.message);                                               \
  } while (0)

static int fresh(void **state) {
  reset();
  return 0;
}

/* Reads a texture at x + 0.5, row `row`, and writes it to a surface. */
static const char copy_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry copy(.param .u64 t, .param .u64 s, .param .f32 row, .param .f32 level)\n{\n"
    ".reg .f32 %f<8>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [t];\nld.param.u64 %d2, [s];\nld.param.f32 %f1, [row];\nld.param.f32 %f7, [level];\n"
    "mov.u32 %r1, %tid.x;\ncvt.rn.f32.u32 %f2, %r1;\nadd.f32 %f2, %f2, 0f3f000000;\n"
    "mul.f32 %f2, %f2, 0f3e000000;\n" /* of 8 texels */
    "tex.level.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f2, %f1}], %f7;\n"
    "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, 0;\nsust.b.2d.b32.trap [%d2, {%r2, %r3}], {%f3};\nret;\n}\n";

enum { WIDTH = 8, HEIGHT = 4 };

/* The row that the kernel copied from level `level`, at `y` of [0, 1]. */
static void run(const char *name, const hd_texture *t, float y, float level, float out[WIDTH]) {
  hd_device *dev;
  hd_device_module *m;
  float data[2 * WIDTH * HEIGHT];
  uint64_t from, to, texture, surface;
  for (int k = 0; k < 2 * WIDTH * HEIGHT; k++) data[k] = (float)k;
  OK(hd_device_open(name, &options, &dev, &d));
  OK(hd_device_load(dev, copy_ptx, strlen(copy_ptx), "copy", NULL, &m, &d));
  OK(hd_device_alloc(dev, sizeof data, &from, &d));
  OK(hd_device_alloc(dev, sizeof data, &to, &d));
  OK(hd_device_set(dev, to, 0, sizeof data, &d));
  OK(hd_device_write(dev, from, data, sizeof data, &d));
  hd_texture x = *t,
             y_of = {
                 .image = {.texel = HD_TEXEL_F32, .channels = 1, .width = WIDTH, .height = 1, .address = to}};
  x.image.address = from;
  OK(hd_device_image(dev, &x, false, &texture, &d));
  OK(hd_device_image(dev, &y_of, true, &surface, &d));
  for (int k = 0; k < 2; k++) OK(hd_device_image_copy(dev, k ? surface : texture, k, false, &d));
  struct {
    uint64_t t, s;
    float row, level;
  } args = {texture, surface, y, level};
  const hd_device_launch l = {
      .kernel = "copy", .grid = {1, 1, 1}, .block = {WIDTH, 1, 1}, .args = &args, .args_bytes = 24};
  OK(hd_device_run(m, &l, &d));
  OK(hd_device_image_copy(dev, surface, true, true, &d));
  OK(hd_device_read(dev, to, out, WIDTH * sizeof *out, &d));
  /* A second object over the same image shares its array. */
  uint64_t again;
  const int arrays = fake->arrays;
  OK(hd_device_image(dev, &x, false, &again, &d));
  assert_int_equal(fake->arrays, arrays);
  OK(hd_device_image_free(dev, texture, false, &d));
  if (name[0] == 'c') assert_int_equal(hd_device_image_free(dev, texture, false, &d), HD_ERR_INPUT);
  hd_device_unload(m);
  hd_device_close(dev); /* the other objects go with it */
}

static void images_are_read_and_written_alike_on_every_device(void **state) {
  static const struct {
    hd_texture texture;
    float y, level;
    float first, step; /* of what is read */
  } cases[] = {
      {{.image = {.texel = HD_TEXEL_F32, .channels = 1, .width = WIDTH, .height = HEIGHT},
        .normalized = true},
       0.6f,
       0,
       2 * WIDTH,
       1},
      {{.image = {.kind = HD_IMAGE_PITCH,
                  .texel = HD_TEXEL_F32,
                  .channels = 1,
                  .width = WIDTH,
                  .height = 2,
                  .pitch = 64},
        .normalized = true},
       0.6f,
       0,
       16,
       1},
      {{.image = {.texel = HD_TEXEL_F32, .channels = 2, .width = WIDTH, .height = HEIGHT},
        .normalized = true,
        .linear = true},
       0.5f,
       0,
       24,
       2},
      {{.image = {.texel = HD_TEXEL_F32, .channels = 1, .width = WIDTH, .height = HEIGHT, .levels = 2},
        .normalized = true,
        .most_level = 1},
       0.1f,
       1,
       32,
       0.5f},
      {{.image = {.texel = HD_TEXEL_F32, .channels = 1, .width = WIDTH, .height = HEIGHT},
        .wrap = {HD_WRAP_BORDER, HD_WRAP_BORDER},
        .border = {-3},
        .normalized = true},
       1.5f,
       0,
       -3,
       0},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    static const char *const names[] = {"emu", "cuda:0"};
    for (int n = 0; n < 2; n++) {
      float got[WIDTH];
      run(names[n], &cases[k].texture, cases[k].y, cases[k].level, got);
      for (int x = 0; x < WIDTH; x++) {
        float want = cases[k].first + cases[k].step * (float)x;
        if (cases[k].step == 0.5f) want = cases[k].first + (float)(x / 2); /* half as many texels */
        if (got[x] != want)
          fail_msg("case %zu on %s: %g at %d, not %g", k, names[n], (double)got[x], x, (double)want);
      }
    }
  }
  assert_int_equal(fake->objects, 0);
  assert_int_equal(fake->arrays, 0);
  assert_int_equal(fake->allocations, 0);
}

static void a_call_that_fails_leaves_nothing_behind(void **state) {
  static const char *const calls[] = {"cuArray3DCreate_v2", "cuTexObjectCreate", "cuMipmappedArrayCreate",
                                      "cuSurfObjectCreate", "cuMemcpy3DAsync_v2"};
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    hd_device *dev;
    uint64_t at, handle = 0;
    const bool surface = strstr(calls[k], "Surf") != NULL, levels = strstr(calls[k], "Mipmap") != NULL,
               copy = strstr(calls[k], "Memcpy") != NULL;
    reset();
    OK(hd_device_open("cuda:0", &options, &dev, &d));
    OK(hd_device_alloc(dev, 4096, &at, &d));
    fake->fail_in = calls[k];
    fake->fail_at = fake->calls + 1;
    fake->fail_with = 2;
    const hd_texture t = {.image = {.texel = HD_TEXEL_F32,
                                    .channels = 1,
                                    .width = 8,
                                    .height = 8,
                                    .levels = levels ? 2 : 0,
                                    .address = at},
                          .normalized = true};
    hd_status st = hd_device_image(dev, &t, surface, &handle, &d);
    if (copy && st == HD_OK) st = hd_device_image_copy(dev, handle, surface, false, &d);
    assert_int_equal(st, HD_ERR_NOMEM);
    if (!strstr(d.message, calls[k])) fail_msg("%s: %s", calls[k], d.message);
    if (!copy) assert_int_equal(fake->arrays, 0);
    hd_device_close(dev);
    assert_int_equal(fake->arrays, 0);
    assert_int_equal(fake->objects, 0);
  }
}

static void bad_images_are_refused_before_the_driver_sees_them(void **state) {
  hd_device *dev;
  uint64_t handle;
  OK(hd_device_open("cuda:0", &options, &dev, &d));
  const hd_texture t = {.image = {.texel = HD_TEXEL_F32, .channels = 3, .width = 8}};
  assert_int_equal(hd_device_image(dev, &t, false, &handle, &d), HD_ERR_USAGE);
  assert_int_equal(handle, 0);
  hd_device_close(dev);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(images_are_read_and_written_alike_on_every_device, fresh),
      cmocka_unit_test_setup(a_call_that_fails_leaves_nothing_behind, fresh),
      cmocka_unit_test_setup(bad_images_are_refused_before_the_driver_sees_them, fresh),
  };
  return cmocka_run_group_tests(tests, open_fake, NULL);
}
