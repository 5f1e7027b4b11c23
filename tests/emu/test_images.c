/* Images, textures and surfaces as the host describes them. */
#include "kit.h"

#define A HD_IMAGE_ARRAY
#define L HD_IMAGE_LINEAR
#define P HD_IMAGE_PITCH
#define U8 HD_TEXEL_U8
#define F32 HD_TEXEL_F32

static void images_that_no_gpu_has_are_refused(void **state) {
  static const struct {
    hd_image image;
    const char *why;
  } cases[] = {
      {{.kind = A, .texel = (hd_texel)7, .channels = 1, .width = 1}, "format 7"},
      {{.kind = A, .texel = U8, .channels = 3, .width = 1}, "3 channels"},
      {{.kind = A, .texel = U8, .channels = 1}, "0 x 0 texels"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 131073}, "131073 x 0"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .height = 65537}, "4 x 65537"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .depth = 2}, "with a height"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .height = 4, .depth = 2, .layers = 2},
       "without layers"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .layers = 2049}, "2049 layers"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .height = 2, .layers = 6, .cube = true}, "square"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .height = 4, .layers = 7, .cube = true},
       "7 layers"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .height = 4, .levels = 4}, "the image has 3"},
      {{.kind = A, .texel = U8, .channels = 1, .width = 4, .pitch = 32}, "no pitch"},
      {{.kind = L, .texel = U8, .channels = 1, .width = 4, .height = 4}, "nothing else"},
      {{.kind = L, .texel = U8, .channels = 1, .width = (1u << 28) + 1}, "268435457 texels"},
      {{.kind = P, .texel = U8, .channels = 1, .width = 4}, "width and a height"},
      {{.kind = P, .texel = U8, .channels = 1, .width = 4, .height = 4, .pitch = 33}, "pitch of 33 bytes"},
      {{.kind = P, .texel = F32, .channels = 4, .width = 4, .height = 4, .pitch = 32}, "64 bytes of a row"},
      {{.kind = (hd_image_kind)3, .texel = U8, .channels = 1, .width = 4}, "kind 3"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_diag d = {0};
    assert_int_equal(hd_image_check(&cases[k].image, &d), HD_ERR_USAGE);
    CHECK_MESSAGE(&d, cases[k].why);
  }
}

static void textures_that_no_gpu_has_are_refused(void **state) {
  const hd_image bytes = {.kind = A, .texel = U8, .channels = 1, .width = 4, .height = 4},
                 words = {.kind = A, .texel = HD_TEXEL_S32, .channels = 1, .width = 4},
                 row = {.kind = L, .texel = F32, .channels = 1, .width = 4},
                 mip = {.kind = A, .texel = F32, .channels = 1, .width = 4, .levels = 2};
  const struct {
    hd_texture texture;
    const char *why; /* NULL: it is fine */
  } cases[] = {
      {{.image = bytes}, NULL},
      {{.image = bytes, .linear = true}, NULL},
      {{.image = bytes, .linear = true, .read_integer = true}, "interpolated"},
      {{.image = words, .linear = true}, "interpolated"},
      {{.image = row, .linear = true}, "linear image"},
      {{.image = bytes, .wrap = {(hd_wrap)4}}, "number 4"},
      {{.image = mip}, "normalised"},
      {{.image = mip, .normalized = true, .most_level = 1}, NULL},
      {{.image = mip, .normalized = true, .least_level = 1}, "levels 1 to 0"},
      {{.image = {.kind = A, .texel = U8, .channels = 3, .width = 4}}, "3 channels"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    hd_diag d = {0};
    assert_int_equal(hd_texture_check(&cases[k].texture, &d), cases[k].why ? HD_ERR_USAGE : HD_OK);
    if (cases[k].why) CHECK_MESSAGE(&d, cases[k].why);
  }
}

/* Levels follow each other, rows and layers within them; summed up here one level after the other. */
static void levels_lie_one_behind_the_other(void **state) {
  static const hd_image images[] = {
      {.kind = A, .texel = U8, .channels = 4, .width = 13, .height = 7, .levels = 4},
      {.kind = A, .texel = F32, .channels = 1, .width = 5, .height = 9, .depth = 3, .levels = 3},
      {.kind = A,
       .texel = HD_TEXEL_F16,
       .channels = 2,
       .width = 8,
       .height = 8,
       .layers = 12,
       .cube = true,
       .levels = 4},
      {.kind = A, .texel = U8, .channels = 1, .width = 100, .layers = 3},
  };
  for (size_t k = 0; k < sizeof images / sizeof *images; k++) {
    const hd_image *i = &images[k];
    hd_diag d = {0};
    CHECK_OK(hd_image_check(i, &d), &d);
    uint64_t at = 0, w = i->width, h = i->height ? i->height : 1, z = i->depth ? i->depth : 1;
    for (uint32_t level = 0; level < (i->levels ? i->levels : 1); level++) {
      const hd_image_level l = hd_image_level_of(i, level);
      assert_int_equal(l.offset, at);
      assert_int_equal(l.width, w);
      assert_int_equal(l.height, h);
      assert_int_equal(l.depth, i->layers ? i->layers : z);
      assert_int_equal(l.row, w * hd_texel_bytes(i->texel) * i->channels);
      assert_int_equal(l.slice, l.row * h);
      at += l.slice * l.depth;
      w = w > 1 ? w / 2 : 1;
      h = h > 1 ? h / 2 : 1;
      z = z > 1 ? z / 2 : 1;
    }
    assert_int_equal(hd_image_bytes(i), at);
  }
  const hd_image pitched = {.kind = P, .texel = U8, .channels = 1, .width = 10, .height = 3, .pitch = 64};
  assert_int_equal(hd_image_bytes(&pitched), 2 * 64 + 10);
}

static void objects_lie_inside_one_allocation_and_their_handles_are_checked(void **state) {
  hd_emu *e;
  hd_diag d = {0};
  uint64_t a, t, s, u;
  CHECK_OK(hd_emu_create(&(hd_emu_options){.memory = 1 << 20, .threads = 1}, &e, &d), &d);
  CHECK_OK(hd_emu_alloc(e, 64, &a, &d), &d);
  hd_texture x = {.image = {.kind = A, .texel = F32, .channels = 1, .width = 4, .height = 4, .address = a}};
  CHECK_OK(hd_emu_texture(e, &x, &t, &d), &d);
  CHECK_OK(hd_emu_surface(e, &x.image, &s, &d), &d);
  assert_true(t && s && t != s);
  x.image.address = a + 2;
  x.image.height = 3;
  assert_int_equal(hd_emu_texture(e, &x, &u, &d), HD_ERR_USAGE);
  CHECK_MESSAGE(&d, "no multiple of its texels' 4");
  x.image.address = a + 4;
  x.image.height = 4;
  assert_int_equal(hd_emu_texture(e, &x, &u, &d), HD_ERR_USAGE);
  CHECK_MESSAGE(&d, "64 bytes at 0x");
  assert_int_equal(u, 0);
  CHECK_OK(hd_surface_check(&x.image, &d), &d);
  x.image = (hd_image){.kind = L, .texel = F32, .channels = 1, .width = 4, .address = a};
  assert_int_equal(hd_emu_surface(e, &x.image, &u, &d), HD_ERR_USAGE);
  CHECK_MESSAGE(&d, "over an array");
  static const uint64_t no_handles[] = {0, 1, UINT64_MAX, 0x0074000000000000, 0x0074000000000003};
  for (size_t k = 0; k < sizeof no_handles / sizeof *no_handles; k++)
    assert_int_equal(hd_emu_release(e, no_handles[k], &d), HD_ERR_USAGE);
  CHECK_OK(hd_emu_release(e, t, &d), &d);
  assert_int_equal(hd_emu_release(e, t, &d), HD_ERR_USAGE);
  CHECK_OK(hd_emu_texture(e, &x, &u, &d), &d);
  assert_int_equal(u, t); /* a handle that is free is given again */
  hd_emu_destroy(e);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("images that no GPU has are refused", images_that_no_gpu_has_are_refused),
      BEHAVIOUR("textures that no GPU has are refused", textures_that_no_gpu_has_are_refused),
      BEHAVIOUR("levels of a mipmap lie one behind the other", levels_lie_one_behind_the_other),
      BEHAVIOUR("objects lie inside one allocation and their handles are checked",
                objects_lie_inside_one_allocation_and_their_handles_are_checked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
