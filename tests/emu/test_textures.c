/* Textures as kernels read them, against the formulas of the CUDA C++ Programming
 * Guide. */
#include "session.h"

#include <math.h>

/* ---- Expected results, computed texel by texel -------------------------------------------------- */

static unsigned channel_bytes(const hd_image *i) { return hd_texel_bytes(i->texel); }

/* Channel c of the texel at the given place of level 0 or 1, decoded by its format. */
static double texel(const void *bytes, const hd_texture *t, uint32_t level, int64_t x, int64_t y, int64_t z,
                    int c) {
  const hd_image *i = &t->image;
  if (c >= (int)i->channels) return 0;
  uint64_t w = i->width, h = i->height ? i->height : 1,
           d = i->layers  ? i->layers
               : i->depth ? i->depth
                          : 1,
           base = 0;
  const uint64_t size = (uint64_t)channel_bytes(i) * i->channels;
  for (uint32_t k = 0; k < level; k++) {
    base += w * h * d * size;
    w = w / 2 ? w / 2 : 1;
    h = h / 2 ? h / 2 : 1;
    if (!i->layers) d = d / 2 ? d / 2 : 1;
  }
  const uint64_t row = i->kind == HD_IMAGE_PITCH ? i->pitch : w * size;
  const char *at = (const char *)bytes + base + ((uint64_t)z * h + (uint64_t)y) * row + (uint64_t)x * size +
                   (uint64_t)c * channel_bytes(i);
  const bool whole = t->read_integer;
  switch (i->texel) {
  case HD_TEXEL_U8: return *(const uint8_t *)at / (whole ? 1.0 : 255.0);
  case HD_TEXEL_S8: return whole ? *(const int8_t *)at : fmax(*(const int8_t *)at / 127.0, -1);
  case HD_TEXEL_U16: return *(const uint16_t *)at / (whole ? 1.0 : 65535.0);
  case HD_TEXEL_S16: return whole ? *(const int16_t *)at : fmax(*(const int16_t *)at / 32767.0, -1);
  case HD_TEXEL_U32: return *(const uint32_t *)at;
  case HD_TEXEL_S32: return *(const int32_t *)at;
  case HD_TEXEL_F32: return (double)*(const float *)at;
  case HD_TEXEL_F16: {
    const uint16_t b = *(const uint16_t *)at;
    const double m = (b & 1023) / 1024.0, e = b >> 10 & 31;
    return (b >> 15 ? -1 : 1) * (e > 0 ? ldexp(1 + m, (int)e - 15) : ldexp(m, -14));
  }
  }
  return NAN;
}

/* The guide's address modes, on coordinates: x of [0, n) texels to one inside, or NAN for the border. */
static double address(double x, double n, hd_wrap how, bool normalized) {
  if (!normalized && (how == HD_WRAP_REPEAT || how == HD_WRAP_MIRROR)) how = HD_WRAP_CLAMP;
  if (how == HD_WRAP_BORDER) return x >= 0 && x < n ? x : NAN;
  if (how == HD_WRAP_REPEAT) return x - n * floor(x / n);
  if (how == HD_WRAP_MIRROR) {
    const double turn = floor(x / n), part = x - n * turn;
    return fmod(turn, 2) == 0 ? part : n - 1 - part; /* of whole numbers */
  }
  return x < 0 ? 0 : x > n - 1 ? n - 1 : x;
}

static double one(const void *bytes, const hd_texture *t, uint32_t level, const double at[3],
                  const uint64_t n[3], unsigned dims, int64_t layer, int c) {
  double to[3] = {0};
  for (unsigned k = 0; k < dims; k++) {
    to[k] = address(at[k], (double)n[k], t->wrap[k], t->normalized);
    if (isnan(to[k])) return (double)t->border[c];
  }
  return texel(bytes, t, level, (int64_t)to[0], (int64_t)to[1], (int64_t)to[2] + layer, c);
}

/* tex() of the guide: nearest, or the weighted sum with weights of 8 bits behind the point. */
static double sample(const void *bytes, const hd_texture *t, uint32_t level, const double at[3],
                     unsigned dims, int64_t layer, int c) {
  const hd_image *i = &t->image;
  const uint64_t n[3] = {i->width >> level ? i->width >> level : 1,
                         i->height >> level ? i->height >> level : 1,
                         i->depth >> level ? i->depth >> level : 1};
  double p[3] = {0}, first[3] = {0}, a[3] = {0};
  for (unsigned k = 0; k < dims; k++) {
    p[k] = t->normalized ? at[k] * (double)n[k] : at[k];
    const double b = p[k] - 0.5;
    first[k] = t->linear ? floor(b) : floor(p[k]);
    a[k] = t->linear ? rint((b - floor(b)) * 256) / 256 : 0; /* coordinates of the tests lie between ties */
  }
  double sum = 0;
  for (unsigned corner = 0; corner < 1u << dims; corner++) {
    double weight = 1, q[3] = {0};
    for (unsigned k = 0; k < dims; k++) {
      weight *= corner >> k & 1 ? a[k] : 1 - a[k];
      q[k] = first[k] + (corner >> k & 1);
    }
    if (weight > 0) sum += weight * one(bytes, t, level, q, n, dims, layer, c);
  }
  return sum;
}

/* ---- Cases ------------------------------------------------------------------------------------------ */

enum { LANES = 96 };
static const hd_texel formats[] = {HD_TEXEL_U8,  HD_TEXEL_S8,  HD_TEXEL_U16, HD_TEXEL_S16,
                                   HD_TEXEL_F16, HD_TEXEL_F32, HD_TEXEL_U32, HD_TEXEL_S32};

static bool is_word(hd_texel f) { return f == HD_TEXEL_U32 || f == HD_TEXEL_S32; }

static void fill(void *to, const hd_image *i, uint64_t bytes, uint64_t seed) {
  for (uint64_t k = 0; k < bytes; k++) ((uint8_t *)to)[k] = (uint8_t)hd_random_at(seed, k);
  for (uint64_t k = 0; i->texel == HD_TEXEL_F32 && k < bytes / 4; k++) ((float *)to)[k] = noise(seed, k);
  for (uint64_t k = 0; i->texel == HD_TEXEL_F16 && k < bytes / 2; k++)
    ((uint16_t *)to)[k] &= 0xbbff; /* below 2 */
}

/* Coordinates on a grid of 1/1024 texels, no tie of 1/256, from beyond both edges. */
static void coordinates(float (*c)[4], const hd_texture *t, uint64_t seed) {
  const uint64_t n[3] = {t->image.width, t->image.height ? t->image.height : 1,
                         t->image.depth ? t->image.depth : 1};
  for (int l = 0; l < LANES; l++) {
    for (unsigned k = 0; k < 3; k++) {
      const uint64_t random = hd_random_at(seed, (uint64_t)l * 4 + k);
      const double x = ((double)(random % (3 * n[k] * 1024)) + 0.5) / 1024 - (double)n[k]; /* an odd 2048th */
      c[l][k] = (float)(t->normalized ? x / (double)n[k] : x);
    }
    c[l][3] = (float)((int)(hd_random_at(seed + 1, (uint64_t)l) % 8) - 2); /* a layer, or none such */
  }
}

static hd_texture case_of(uint64_t seed, unsigned dims, bool layered) {
  const uint64_t r = hd_random_at(77, seed);
  hd_texture t = {.image = {.texel = formats[r % 8], .channels = 1u << (r >> 4) % 3}};
  /* Powers of two: normalised coordinates are then exact. */
  t.image.width = 1u << (1 + (r >> 8) % 5);
  if (dims > 1) t.image.height = 1u << (r >> 12) % 5;
  if (dims > 2) t.image.depth = 1u << (r >> 16) % 4;
  if (layered) t.image.layers = 1 + (r >> 16) % 4;
  for (int k = 0; k < 3; k++) t.wrap[k] = (hd_wrap)((r >> (20 + 2 * k)) % 4);
  t.normalized = r >> 30 & 1;
  t.linear = r >> 31 & 1 && !is_word(t.image.texel);
  for (int k = 0; k < 4; k++) t.border[k] = is_word(t.image.texel) ? 7 : 0.25f * (float)k;
  return t;
}

static void compare(const char *kernel, uint64_t seed, const hd_texture *t, const void *bytes,
                    const float (*c)[4], const float (*got)[4], unsigned dims, bool layered) {
  for (int l = 0; l < LANES; l++) {
    const double at[3] = {(double)c[l][0], (double)c[l][1], (double)c[l][2]};
    const int layers = (int)t->image.layers, asked = (int)c[l][3];
    const int64_t layer = layered ? asked < 0 ? 0 : asked >= layers ? layers - 1 : asked : 0;
    for (int k = 0; k < 4; k++) {
      const double want = sample(bytes, t, 0, at, dims, layer, k);
      double have = (double)got[l][k];
      if (is_word(t->image.texel)) {
        int32_t word;
        memcpy(&word, &got[l][k], 4);
        have = t->image.texel == HD_TEXEL_S32 ? word : (double)(uint32_t)word;
      }
      if (have != (is_word(t->image.texel) ? want : (double)(float)want))
        fail_msg("%s, case %d, lane %d, channel %d at (%.9g %.9g %.9g %d): %.9g, not %.9g", kernel, (int)seed,
                 l, k, at[0], at[1], at[2], asked, have, want);
    }
  }
}

static void images_are_read_as_the_guide_says(void **state) {
  static const struct {
    const char *kernel;
    unsigned dims;
    bool layered;
  } kinds[] = {{"read_1d", 1, false},
               {"read_2d", 2, false},
               {"read_3d", 3, false},
               {"read_a1d", 1, true},
               {"read_a2d", 2, true}};
  session s;
  open_file(&s, "images", &(hd_emu_options){.checks = HD_CHECK_ALL, .threads = 1, .memory = 1 << 24});
  for (unsigned k = 0; k < sizeof kinds / sizeof *kinds; k++)
    for (uint64_t seed = 0; seed < 120; seed++) {
      hd_texture t = case_of(seed, kinds[k].dims, kinds[k].layered);
      const uint64_t n = hd_image_bytes(&t.image);
      char *bytes = malloc(n);
      float c[LANES][4];
      fill(bytes, &t.image, n, seed);
      coordinates(c, &t, seed);
      uint64_t image = buffer(&s, bytes, n), in = buffer(&s, c, sizeof c), out = buffer(&s, NULL, sizeof c),
               handle;
      t.image.address = image;
      CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
      RUN_OK(&s, kinds[k].kernel, LANES / 48, 48, 0, ARG(handle), ARG(in), ARG(out));
      compare(kinds[k].kernel, seed, &t, bytes, c, hd_emu_ptr(s.e, out, sizeof c), kinds[k].dims,
              kinds[k].layered);
      CHECK_OK(hd_emu_release(s.e, handle, &s.d), &s.d);
      const uint64_t all[] = {image, in, out};
      for (int f = 0; f < 3; f++) CHECK_OK(hd_emu_free(s.e, all[f], &s.d), &s.d);
      free(bytes);
    }
  close_file(&s);
}

static void integers_are_read_as_they_are(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.threads = 1, .memory = 1 << 24});
  for (unsigned f = 0; f < 4; f++) {
    hd_texture t = {.image = {.kind = HD_IMAGE_PITCH,
                              .texel = formats[f],
                              .channels = 4,
                              .width = 13,
                              .height = 7,
                              .pitch = 160},
                    .read_integer = true,
                    .wrap = {HD_WRAP_CLAMP, HD_WRAP_CLAMP}};
    char bytes[160 * 7];
    float c[LANES][4];
    fill(bytes, &t.image, sizeof bytes, f);
    coordinates(c, &t, f);
    uint64_t image = buffer(&s, bytes, sizeof bytes), in = buffer(&s, c, sizeof c),
             out = buffer(&s, NULL, sizeof c), handle;
    t.image.address = image;
    CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
    RUN_OK(&s, "read_2d_int", 1, LANES, 0, ARG(handle), ARG(in), ARG(out));
    for (int l = 0; l < LANES; l++)
      for (int k = 0; k < 4; k++)
        assert_int_equal(
            HOST(&s, int32_t, out, LANES * 4)[4 * l + k],
            (int32_t)sample(bytes, &t, 0, (const double[]){(double)c[l][0], (double)c[l][1], 0}, 2, 0, k));
  }
  close_file(&s);
}

static void linear_memory_is_read_by_numbers(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.threads = 1, .memory = 1 << 24});
  enum { N = 50 };
  int32_t data[N], at[LANES];
  for (int k = 0; k < N; k++) data[k] = k * k - 300;
  for (int l = 0; l < LANES; l++) at[l] = l - 20;
  uint64_t image = buffer(&s, data, sizeof data), in = buffer(&s, at, sizeof at),
           out = buffer(&s, NULL, LANES * 16), handle;
  hd_texture t = {
      .image = {.kind = HD_IMAGE_LINEAR, .texel = HD_TEXEL_S32, .channels = 1, .width = N, .address = image}};
  CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
  RUN_OK(&s, "fetch_1d_int", 1, LANES, 0, ARG(handle), ARG(in), ARG(out));
  for (int l = 0; l < LANES; l++)
    assert_int_equal(HOST(&s, int32_t, out, LANES * 4)[4 * l], at[l] >= 0 && at[l] < N ? data[at[l]] : 0);
  assert_int_equal(RUN(&s, "read_1d", 1, 32, 0, ARG(handle), ARG(out), ARG(out)), HD_ERR_FAULT);
  CHECK_MESSAGE(&s.d, "linear memory of 50 texels");
  close_file(&s);
}

/* The guide's table: the coordinate that is greatest, and what s and t are of each face. */
static void cubes_are_read_by_directions(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.threads = 1, .memory = 1 << 24});
  enum { SIDE = 8, CUBES = 3 };
  for (int layered = 0; layered < 2; layered++)
    for (int linear = 0; linear < 2; linear++) {
      hd_texture t = {.image = {.texel = HD_TEXEL_F32,
                                .channels = 1,
                                .width = SIDE,
                                .height = SIDE,
                                .layers = layered ? 6 * CUBES : 6,
                                .cube = true},
                      .normalized = true,
                      .linear = linear,
                      .wrap = {HD_WRAP_CLAMP, HD_WRAP_CLAMP, HD_WRAP_CLAMP}};
      const uint64_t n = hd_image_bytes(&t.image);
      float *bytes = malloc(n), c[LANES][4];
      fill(bytes, &t.image, n, 5);
      for (int l = 0; l < LANES; l++) {
        /* Two lesser coordinates as parts of the greatest, which is a power of two. */
        const unsigned major = (unsigned)l % 3;
        const float m = l / 3 % 2 ? -2 : 2;
        for (unsigned k = 0; k < 3; k++)
          c[l][k] =
              k == major ? m : 2 * ((float)(hd_random_at(3, (uint64_t)(4 * l) + k) % 8192) + 0.5f) / 4096 - 2;
        c[l][3] = (float)(l % CUBES);
      }
      uint64_t image = buffer(&s, bytes, n), in = buffer(&s, c, sizeof c), out = buffer(&s, NULL, sizeof c),
               handle;
      t.image.address = image;
      CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
      RUN_OK(&s, layered ? "read_acube" : "read_cube", 1, LANES, 0, ARG(handle), ARG(in), ARG(out));
      for (int l = 0; l < LANES; l++) {
        const double x = (double)c[l][0], y = (double)c[l][1], z = (double)c[l][2];
        int face;
        double st[3] = {0};
        if (l % 3 == 0)
          face = x > 0 ? 0 : 1, st[0] = x > 0 ? -z : z, st[1] = -y;
        else if (l % 3 == 1)
          face = y > 0 ? 2 : 3, st[0] = x, st[1] = y > 0 ? z : -z;
        else
          face = z > 0 ? 4 : 5, st[0] = z > 0 ? x : -x, st[1] = -y;
        for (int k = 0; k < 2; k++) st[k] = (st[k] / 2 + 1) / 2;
        const double want = sample(bytes, &t, 0, st, 2, face + (layered ? 6 * (l % CUBES) : 0), 0);
        const float got = HOST(&s, float, out, LANES * 4)[4 * l];
        if (got != (float)want) fail_msg("lane %d: %.9g, not %.9g", l, (double)got, want);
      }
      free(bytes);
    }
  close_file(&s);
}

static void levels_are_chosen_and_mixed(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.threads = 1, .memory = 1 << 24});
  for (int mixed = 0; mixed < 2; mixed++) {
    hd_texture t = {.image = {.texel = HD_TEXEL_F32, .channels = 2, .width = 64, .height = 32, .levels = 4},
                    .normalized = true,
                    .linear = true,
                    .linear_mip = mixed,
                    .bias = 0.25f,
                    .least_level = 0.5f,
                    .most_level = 2.75f};
    const uint64_t n = hd_image_bytes(&t.image);
    char *bytes = malloc(n);
    float c[LANES][4];
    fill(bytes, &t.image, n, 9);
    coordinates(c, &t, 9);
    for (int l = 0; l < LANES; l++) c[l][3] = (float)(2 * l - 31) / 32; /* exact weights, no ties */
    uint64_t image = buffer(&s, bytes, n), in = buffer(&s, c, sizeof c), out = buffer(&s, NULL, sizeof c),
             handle;
    t.image.address = image;
    CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
    /* A step of 1/64 of 64 texels, or 1/128 of 32, is one texel or less: the level is that of x alone. */
    for (int slopes = 0; slopes < 2; slopes++) {
      RUN_OK(&s, slopes ? "grad_2d" : "level_2d", 1, LANES, 0, ARG(handle), ARG(in), ARG(out));
      for (int l = 0; l < LANES; l++)
        for (int k = 0; k < 2; k++) {
          double level = fmin(fmax((double)c[l][3] + 0.25, 0.5), 2.75);
          const double at[3] = {(double)c[l][0], (double)c[l][1], 0};
          const uint32_t low = (uint32_t)floor(level), near = (uint32_t)floor(level + 0.5);
          const double part = level - low;
          double want =
              mixed ? (1 - part) * sample(bytes, &t, low, at, 2, 0, k) : sample(bytes, &t, near, at, 2, 0, k);
          if (mixed && part > 0) want += part * sample(bytes, &t, low + 1, at, 2, 0, k);
          const float got = HOST(&s, float, out, LANES * 4)[4 * l + k];
          if (fabs((double)got - want) > 1e-7)
            fail_msg("level %g, lane %d: %.9g, not %.9g", level, l, (double)got, want);
        }
    }
    free(bytes);
  }
  close_file(&s);
}

static void gathers_take_one_channel_of_four_texels(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.threads = 1, .memory = 1 << 24});
  hd_texture t = {.image = {.texel = HD_TEXEL_U8, .channels = 4, .width = 8, .height = 8},
                  .wrap = {HD_WRAP_CLAMP, HD_WRAP_CLAMP}};
  uint8_t bytes[256];
  float c[LANES][4];
  fill(bytes, &t.image, sizeof bytes, 4);
  coordinates(c, &t, 4);
  uint64_t image = buffer(&s, bytes, sizeof bytes), in = buffer(&s, c, sizeof c),
           out = buffer(&s, NULL, sizeof c), handle;
  t.image.address = image;
  CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
  for (int channel = 0; channel < 4; channel += 3) {
    RUN_OK(&s, channel ? "gather_a" : "gather_r", 1, LANES, 0, ARG(handle), ARG(in), ARG(out));
    static const int dx[4] = {0, 1, 1, 0}, dy[4] = {1, 1, 0, 0};
    for (int l = 0; l < LANES; l++)
      for (int k = 0; k < 4; k++) {
        /* The corner is found in steps of 1/256. */
        const int x = (int)floor(rint(((double)c[l][0] - 0.5) * 256) / 256) + dx[k],
                  y = (int)floor(rint(((double)c[l][1] - 0.5) * 256) / 256) + dy[k];
        const int cx = x < 0 ? 0 : x > 7 ? 7 : x, cy = y < 0 ? 0 : y > 7 ? 7 : y;
        assert_true(HOST(&s, float, out, LANES * 4)[4 * l + k] ==
                    bytes[(cy * 8 + cx) * 4 + channel] / 255.0f);
      }
  }
  close_file(&s);
}

static void lanes_of_a_warp_may_read_different_textures(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.checks = HD_CHECK_ALL, .threads = 1, .memory = 1 << 24});
  float bytes[64], c[LANES][4];
  uint64_t table[2];
  for (int k = 0; k < 64; k++) bytes[k] = (float)k;
  for (int l = 0; l < LANES; l++) c[l][0] = (float)(l % 4) + 0.5f, c[l][1] = 2.5f, c[l][2] = c[l][3] = 0;
  uint64_t image = buffer(&s, bytes, sizeof bytes), in = buffer(&s, c, sizeof c),
           out = buffer(&s, NULL, sizeof c);
  const hd_texture t[2] = {
      {.image = {.texel = HD_TEXEL_F32, .channels = 1, .width = 4, .height = 4, .address = image}},
      {.image = {.texel = HD_TEXEL_F32, .channels = 2, .width = 4, .height = 4, .address = image + 64}}};
  for (int k = 0; k < 2; k++) CHECK_OK(hd_emu_texture(s.e, &t[k], &table[k], &s.d), &s.d);
  uint64_t handles = buffer(&s, table, sizeof table);
  RUN_OK(&s, "table_2d", 1, LANES, 0, ARG(handles), ARG(in), ARG(out));
  for (int l = 0; l < LANES; l++)
    assert_true(HOST(&s, float, out, LANES * 4)[4 * l] ==
                (float)(l / 16 % 2 ? 16 + 2 * (8 + l % 4) : 8 + l % 4));
  close_file(&s);
}

static void queries_answer(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.threads = 1, .memory = 1 << 24});
  uint64_t image = zeros(&s, 1 << 16), out = buffer(&s, NULL, 28), handle;
  hd_texture t = {.image = {.texel = HD_TEXEL_S16,
                            .channels = 2,
                            .width = 40,
                            .height = 12,
                            .depth = 3,
                            .levels = 2,
                            .address = image},
                  .normalized = true};
  CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
  RUN_OK(&s, "query", 1, 1, 0, ARG(handle), ARG(out));
  static const int32_t want[7] = {40, 12, 3, 2, 1, 0x10b2, 0x10d1};
  assert_memory_equal(HOST(&s, int32_t, out, 7), want, sizeof want);
  close_file(&s);
}

/* ---- Traffic and faults ---------------------------------------------------------------------- */

typedef struct traffic {
  uint64_t n, lanes, low, high;
  bool readonly;
} traffic;

static void note(void *ctx, unsigned worker, const hd_access *a) {
  traffic *t = ctx;
  if (a->kind != HD_ACCESS_LOAD || !(a->cache & HD_CACHE_READONLY)) return;
  t->n++;
  t->readonly = a->cache & HD_CACHE_L1 && a->bytes == 4;
  for (int l = 0; l < 32; l++) {
    if (!(a->mask >> l & 1)) continue;
    t->lanes++;
    if (!t->low || a->addr[l] < t->low) t->low = a->addr[l];
    if (a->addr[l] > t->high) t->high = a->addr[l];
  }
}

static void texels_that_are_read_are_seen_in_traces(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.threads = 1, .memory = 1 << 24});
  float c[32][4] = {{0}};
  for (int l = 0; l < 32; l++) c[l][0] = (float)l + 0.75f, c[l][1] = 1.75f;
  uint64_t image = zeros(&s, 64 * 4 * 4), in = buffer(&s, c, sizeof c), out = buffer(&s, NULL, sizeof c),
           handle;
  for (int linear = 0; linear < 2; linear++) {
    traffic seen = {0};
    hd_texture t = {
        .image = {.texel = HD_TEXEL_F32, .channels = 1, .width = 64, .height = 4, .address = image},
        .linear = linear};
    CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
    s.hooks = (hd_emu_hooks){.ctx = &seen, .spaces = 1u << HD_SPACE_GLOBAL, .access = note};
    RUN_OK(&s, "read_2d", 1, 32, 0, ARG(handle), ARG(in), ARG(out));
    assert_true(seen.readonly);
    assert_int_equal(seen.n, linear ? 4 : 1);
    assert_int_equal(seen.lanes, linear ? 128 : 32);
    assert_int_equal(seen.low, image + 64 * 4);
    assert_int_equal(seen.high, image + (linear ? 2 * 64 + 32 : 64 + 31) * 4);
  }
  close_file(&s);
}

static void handles_of_nothing_are_findings(void **state) {
  session s;
  open_file(&s, "images", &(hd_emu_options){.checks = HD_CHECK_ALL, .threads = 1, .memory = 1 << 24});
  uint64_t image = buffer(&s, NULL, 4096), io = zeros(&s, 4096), handle, surface;
  hd_texture t = {.image = {.texel = HD_TEXEL_F32, .channels = 1, .width = 8, .height = 8, .address = image}};
  CHECK_OK(hd_emu_texture(s.e, &t, &handle, &s.d), &s.d);
  CHECK_OK(hd_emu_surface(s.e, &t.image, &surface, &s.d), &s.d);
  const struct {
    const char *kernel;
    uint64_t handle;
    const char *why;
  } cases[] = {
      {"read_2d", 0, "0x0 is the handle of no texture"},
      {"read_2d", UINT64_MAX, "0xffffffffffffffff is the handle of no texture"},
      {"read_2d", surface, "is the handle of no texture but of a surface"},
      {"read_2d", handle + 100, "is the handle of no texture"},
      {"read_3d", handle, "an array of 8 x 8 texels, which this instruction cannot access"},
      {"read_a2d", handle, "an array of 8 x 8 texels"},
      {"read_cube", handle, "an array of 8 x 8 texels"},
      {"read_2d", handle, "never written"},
      {"load_zero", handle, "is the handle of no surface but of a texture"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    assert_int_equal(RUN(&s, cases[k].kernel, 1, 8, 0, ARG(cases[k].handle), ARG(io), ARG(io)), HD_ERR_FAULT);
    CHECK_MESSAGE(&s.d, cases[k].why);
  }
  /* Memory that was freed under a texture. */
  CHECK_OK(hd_emu_free(s.e, image, &s.d), &s.d);
  assert_int_equal(RUN(&s, "read_2d", 1, 8, 0, ARG(handle), ARG(io), ARG(io)), HD_ERR_FAULT);
  CHECK_MESSAGE(&s.d, "in freed memory");
  close_file(&s);
}

/* ---- Refusals and references ----------------------------------------------------------------- */

static void other_forms_are_refused(void **state) {
  static const struct {
    const char *text, *why;
  } cases[] = {
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, %d2, {%f1, %f2}];", "samplers apart"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2}], {%r1, %r2};", "offsets and comparisons"},
      {"tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%d1, {%r1, %r2, %r3, %r4}];", ".2dms"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1}];", "1 coordinates where 2"},
      {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [missing, {%f1, %f2}];",
       "neither a register nor a reference"},
      {"tex.2d.v2.f16x2.f32 {%r1, %r2}, [%d1, {%f1, %f2}];", "no such form"},
      {"sust.p.2d.v4.b32.trap [%d1, {%r1, %r2}], {%r1, %r2, %r3, %r4};", "convert to the surface's format"},
      {"txq.filter_mode.b32 %r1, [%d1];", ".filter_mode"},
      {"tld4.r.3d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%d1, {%f1, %f2, %f3, %f4}];", "no such form"},
  };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char text[1024];
    hd_arena arena;
    hd_ptx_module *m;
    hd_emu *e;
    hd_emu_program *p;
    hd_diag d = {0};
    hd_arena_init(&arena);
    const int n = snprintf(text, sizeof text,
                           ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\n"
                           ".reg .f32 %%f<5>; .reg .b32 %%r<5>; .reg .b64 %%d<5>;\n%s\nret;\n}\n",
                           cases[k].text);
    CHECK_OK(hd_ptx_parse(text, (size_t)n, "t.ptx", &arena, &m, &d), &d);
    CHECK_OK(hd_emu_create(&(hd_emu_options){.memory = 1 << 20, .threads = 1}, &e, &d), &d);
    CHECK_OK(hd_emu_load(e, m, &p, &d), &d);
    assert_int_equal(hd_emu_supported(p, "k", &d), HD_ERR_UNSUPPORTED);
    CHECK_MESSAGE(&d, cases[k].why);
    hd_emu_unload(p);
    hd_emu_destroy(e);
    hd_arena_free(&arena);
  }
}

static void references_are_read_through_what_they_are_bound_to(void **state) {
  static const char text[] =
      ".version 7.0\n.target sm_80\n.address_size 64\n.global .texref t;\n.global .surfref s;\n"
      ".visible .entry k(.param .u64 o)\n{\n.reg .f32 %f<5>; .reg .b32 %r<5>; .reg .b64 %d<5>;\n"
      "ld.param.u64 %d1, [o];\nmov.f32 %f1, 0f40200000;\ntex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, "
      "{%f1}];\n"
      "mov.b32 %r1, 4;\nsust.b.1d.b32.trap [s, {%r1}], {%f1};\nst.global.f32 [%d1], %f1;\nret;\n}\n";
  hd_arena arena;
  hd_ptx_module *m;
  hd_emu *e;
  hd_emu_program *p;
  hd_diag d = {0};
  uint64_t a, o, texture, surface;
  static const float data[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  hd_arena_init(&arena);
  CHECK_OK(hd_ptx_parse(text, sizeof text - 1, "t.ptx", &arena, &m, &d), &d);
  CHECK_OK(hd_emu_create(&(hd_emu_options){.memory = 1 << 20, .threads = 1}, &e, &d), &d);
  CHECK_OK(hd_emu_alloc(e, sizeof data, &a, &d), &d);
  CHECK_OK(hd_emu_alloc(e, 4, &o, &d), &d);
  CHECK_OK(hd_emu_write(e, a, data, sizeof data, &d), &d);
  CHECK_OK(hd_emu_load(e, m, &p, &d), &d);
  const hd_emu_launch_params l = {
      .kernel = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}, .args = &o, .args_bytes = 8};
  assert_int_equal(hd_emu_launch(p, &l, NULL, NULL, NULL, &d), HD_ERR_FAULT);
  CHECK_MESSAGE(&d, "t stands for no texture");
  const hd_texture t = {.image = {.texel = HD_TEXEL_F32, .channels = 1, .width = 8, .address = a}};
  CHECK_OK(hd_emu_texture(e, &t, &texture, &d), &d);
  CHECK_OK(hd_emu_surface(e, &t.image, &surface, &d), &d);
  CHECK_OK(hd_emu_bind(p, "t", texture, &d), &d);
  CHECK_OK(hd_emu_bind(p, "s", surface, &d), &d);
  CHECK_OK(hd_emu_launch(p, &l, NULL, NULL, NULL, &d), &d);
  assert_true(*(float *)hd_emu_ptr(e, o, 4) == 3 && ((float *)hd_emu_ptr(e, a, 32))[1] == 3);
  hd_emu_unload(p);
  hd_emu_destroy(e);
  hd_arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      BEHAVIOUR("images are read as the guide says", images_are_read_as_the_guide_says),
      BEHAVIOUR("integers are read as they are", integers_are_read_as_they_are),
      BEHAVIOUR("linear memory is read by numbers", linear_memory_is_read_by_numbers),
      BEHAVIOUR("cubes are read by directions", cubes_are_read_by_directions),
      BEHAVIOUR("levels are chosen and mixed", levels_are_chosen_and_mixed),
      BEHAVIOUR("gathers take one channel of four texels", gathers_take_one_channel_of_four_texels),
      BEHAVIOUR("lanes of a warp may read different textures", lanes_of_a_warp_may_read_different_textures),
      BEHAVIOUR("queries answer", queries_answer),
      BEHAVIOUR("texels that are read are seen in traces", texels_that_are_read_are_seen_in_traces),
      BEHAVIOUR("handles of nothing are findings", handles_of_nothing_are_findings),
      BEHAVIOUR("other forms are refused", other_forms_are_refused),
      BEHAVIOUR("references are read through what they are bound to",
                references_are_read_through_what_they_are_bound_to),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
