/* Textures on a GPU against the emulator's, bit for bit.
 *
 *     build/release/bench/bench_textures cuda:0 [CASES]
 *
 * Random images of every format, filter, way to wrap and kind are read at random coordinates by the kernels
 * of tests/emu/ptx/images.cu, on both. A line for each kernel, filter and format: values that were read,
 * those whose bits differ, the largest difference in units of the last place, and where the first one is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle/device.h"

enum { LANES = 256, MAX_TALLIES = 256 };

typedef struct kind {
  const char *kernel;
  unsigned dims;
  bool layered, cube, levels, gather, whole;
} kind;

static const kind kinds[] = {
    {"read_1d", 1},
    {"read_2d", 2},
    {"read_3d", 3},
    {"read_a1d", 1, .layered = true},
    {"read_a2d", 2, .layered = true},
    {"read_cube", 2, .cube = true},
    {"read_acube", 2, .layered = true, .cube = true},
    {"level_2d", 2, .levels = true},
    {"grad_2d", 2, .levels = true},
    {"gather_r", 2, .gather = true},
    {"gather_a", 2, .gather = true},
    {"read_2d_int", 2, .whole = true},
};

static const struct {
  hd_texel texel;
  const char *name;
} formats[] = {{HD_TEXEL_U8, "u8"},   {HD_TEXEL_S8, "s8"},   {HD_TEXEL_U16, "u16"}, {HD_TEXEL_S16, "s16"},
               {HD_TEXEL_F16, "f16"}, {HD_TEXEL_F32, "f32"}, {HD_TEXEL_U32, "u32"}, {HD_TEXEL_S32, "s32"}};

typedef struct tally {
  char name[64];
  uint64_t values, differ, missing; /* missing: differ in channels that the image has not */
  double worst;                     /* ulp */
  char first[192];
} tally;

static tally tallies[MAX_TALLIES];
static size_t n_tallies;

static tally *tally_of(const char *name) {
  for (size_t i = 0; i < n_tallies; i++)
    if (strcmp(tallies[i].name, name) == 0) return &tallies[i];
  if (n_tallies == MAX_TALLIES) return &tallies[MAX_TALLIES - 1];
  snprintf(tallies[n_tallies].name, sizeof tallies[0].name, "%s", name);
  return &tallies[n_tallies++];
}

/* ---- A case ------------------------------------------------------------------------------ */

static hd_texture texture_of(const kind *k, uint64_t seed, unsigned *format) {
  const uint64_t r = hd_random_at(1, seed), q = hd_random_at(2, seed);
  *format = (unsigned)(r % 8);
  if (k->whole) *format = (unsigned)(r % 4);
  hd_texture t = {.image = {.texel = formats[*format].texel, .channels = 1u << (r >> 4) % 3}};
  hd_image *i = &t.image;
  i->width = 1 + (r >> 8) % 40;
  if (k->dims > 1) i->height = 1 + (r >> 16) % 24;
  if (k->dims > 2) i->depth = 1 + (r >> 24) % 9;
  if (k->layered) i->layers = 1 + (r >> 32) % 5;
  if (k->cube) {
    i->height = (uint32_t)i->width;
    i->layers = k->layered ? 12 + 6 * (uint32_t)((r >> 32) % 2) : 6;
    i->cube = true;
  }
  if (k->levels) {
    i->width = 8u << (r >> 8) % 4;
    i->height = 8u << (r >> 16) % 3;
    i->levels = 3;
    t.linear_mip = q & 1;
    t.most_level = 2;
    t.bias = (float)(q >> 1 & 7) / 8;
  }
  for (int w = 0; w < 3; w++) t.wrap[w] = (hd_wrap)((q >> (8 + 2 * w)) % 4);
  t.normalized = k->cube || k->levels || (q >> 20 & 1);
  const bool words = t.image.texel == HD_TEXEL_U32 || t.image.texel == HD_TEXEL_S32;
  t.linear = q >> 21 & 1 && !words && !k->whole;
  if (t.linear_mip && words) t.linear_mip = false;
  t.read_integer = k->whole;
  for (int c = 0; c < 4; c++) t.border[c] = words || k->whole ? 0 : (float)c / 4;
  return t;
}

static void fill(const hd_texture *t, uint64_t seed, void *bytes, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) ((uint8_t *)bytes)[i] = (uint8_t)hd_random_at(seed + 3, i);
  for (uint64_t i = 0; t->image.texel == HD_TEXEL_F32 && i < n / 4; i++)
    ((float *)bytes)[i] = (float)(int64_t)(hd_random_at(seed + 3, i) >> 40) / 8388608.0f - 1.0f;
  for (uint64_t i = 0; t->image.texel == HD_TEXEL_F16 && i < n / 2; i++) ((uint16_t *)bytes)[i] &= 0xbbff;
}

static void coordinates(const kind *k, const hd_texture *t, uint64_t seed, float (*c)[4]) {
  const double size[3] = {(double)t->image.width, t->image.height, t->image.depth};
  for (unsigned l = 0; l < LANES; l++) {
    for (unsigned a = 0; a < 3; a++) {
      const double u = (double)(hd_random_at(seed + 4, l * 4 + a) >> 11) / 9007199254740992.0;
      if (k->cube)
        c[l][a] = (float)(2 * u - 1);
      else
        c[l][a] = (float)((3 * u - 1) * (t->normalized ? 1 : size[a]));
    }
    c[l][3] = k->levels ? (float)(hd_random_at(seed + 5, l) % 64) / 16 - 1
                        : (float)(hd_random_at(seed + 5, l) % 6) - 1;
  }
}

/* Runs the kernel on the device; out gets the texels that it reads, four words a lane. */
static hd_status run(hd_device *dev, hd_device_module *m, const kind *k, hd_texture t, const void *bytes,
                     uint64_t n, const float (*c)[4], uint32_t (*out)[4], hd_diag *d) {
  uint64_t image = 0, in = 0, result = 0, handle = 0;
  hd_status st = hd_device_alloc(dev, n, &image, d);
  if (st == HD_OK) st = hd_device_alloc(dev, LANES * 16, &in, d);
  if (st == HD_OK) st = hd_device_alloc(dev, LANES * 16, &result, d);
  if (st == HD_OK) st = hd_device_write(dev, image, bytes, n, d);
  if (st == HD_OK) st = hd_device_write(dev, in, c, LANES * 16, d);
  t.image.address = image;
  if (st == HD_OK) st = hd_device_image(dev, &t, false, &handle, d);
  if (st == HD_OK) st = hd_device_image_copy(dev, handle, false, false, d);
  const uint64_t args[3] = {handle, in, result};
  const hd_device_launch l = {.kernel = k->kernel,
                              .grid = {LANES / 64, 1, 1},
                              .block = {64, 1, 1},
                              .args = args,
                              .args_bytes = sizeof args};
  if (st == HD_OK) st = hd_device_run(m, &l, d);
  if (st == HD_OK) st = hd_device_read(dev, result, out, LANES * 16, d);
  hd_device_image_free(dev, handle, false, NULL);
  hd_device_free(dev, image, NULL);
  hd_device_free(dev, in, NULL);
  hd_device_free(dev, result, NULL);
  return st;
}

/* ---- Differences ------------------------------------------------------------------------------ */

static double ulps(uint32_t a, uint32_t b) {
  const int64_t x = a >> 31 ? -(int64_t)(a & 0x7fffffff) : (int64_t)a,
                y = b >> 31 ? -(int64_t)(b & 0x7fffffff) : (int64_t)b;
  return fabs((double)(x - y));
}

static void compare(const kind *k, const hd_texture *t, unsigned format, const float (*c)[4],
                    uint32_t (*emu)[4], uint32_t (*gpu)[4]) {
  static const char *const wraps[] = {"wrap", "clamp", "mirror", "border"};
  char name[64];
  snprintf(name, sizeof name, "%-11s %-6s %s", k->kernel,
           k->gather   ? "gather"
           : t->linear ? "linear"
                       : "point",
           formats[format].name);
  tally *y = tally_of(name);
  for (unsigned l = 0; l < LANES; l++)
    for (unsigned n = 0; n < 4; n++) {
      y->values++;
      if (emu[l][n] == gpu[l][n]) continue;
      if (n >= t->image.channels && !k->gather)
        y->missing++;
      else
        y->differ++;
      const double u = ulps(emu[l][n], gpu[l][n]);
      if (u > y->worst) y->worst = u;
      if (y->first[0]) continue;
      snprintf(y->first, sizeof y->first,
               "%lux%ux%u layers %u channels %u %s%s/%s/%s (%.9g %.9g %.9g %g)[%u]: emulator %08x, GPU %08x",
               (unsigned long)t->image.width, t->image.height, t->image.depth, t->image.layers,
               t->image.channels, t->normalized ? "normalized " : "", wraps[t->wrap[0]], wraps[t->wrap[1]],
               wraps[t->wrap[2]], (double)c[l][0], (double)c[l][1], (double)c[l][2], (double)c[l][3], n,
               emu[l][n], gpu[l][n]);
    }
}

static hd_status one_case(hd_device *const dev[2], hd_device_module *const m[2], const kind *k, uint64_t seed,
                          hd_diag *d) {
  static uint32_t out[2][LANES][4];
  float c[LANES][4];
  unsigned format;
  const hd_texture t = texture_of(k, seed, &format);
  hd_status st = hd_texture_check(&t, d);
  if (st != HD_OK) return st;
  const uint64_t n = hd_image_bytes(&t.image);
  void *bytes = malloc(n);
  if (!bytes) return hd_nomem(d);
  fill(&t, seed, bytes, n);
  coordinates(k, &t, seed, c);
  for (int i = 0; st == HD_OK && i < 2; i++) st = run(dev[i], m[i], k, t, bytes, n, c, out[i], d);
  free(bytes);
  if (st == HD_OK) compare(k, &t, format, c, out[0], out[1]);
  return st;
}

int main(int argc, char **argv) {
  const char *const names[2] = {"emu", argc > 1 ? argv[1] : "cuda:0"};
  const uint64_t cases = argc > 2 ? strtoull(argv[2], NULL, 10) : 400;
  hd_device *dev[2] = {NULL};
  hd_device_module *m[2] = {NULL};
  hd_diag d = {0};
  hd_file f = {0};
  hd_status st = hd_file_open(SOURCE_DIR "/tests/emu/ptx/images.ptx", &f, &d);
  for (int i = 0; st == HD_OK && i < 2; i++) {
    st = hd_device_open(names[i], &(hd_device_options){.emu.threads = 1}, &dev[i], &d);
    if (st == HD_OK) st = hd_device_load(dev[i], f.data, f.len, "images", NULL, &m[i], &d);
  }
  for (size_t k = 0; st == HD_OK && k < sizeof kinds / sizeof *kinds; k++)
    for (uint64_t seed = 0; st == HD_OK && seed < cases; seed++)
      st = one_case(dev, m, &kinds[k], 1000 * seed + k, &d);
  printf("%-24s %9s %9s %9s %12s\n", "kernel filter format", "values", "differ", "missing", "most ulp");
  for (size_t i = 0; i < n_tallies; i++) {
    const tally *y = &tallies[i];
    printf("%-24s %9lu %9lu %9lu %12.0f\n", y->name, (unsigned long)y->values, (unsigned long)y->differ,
           (unsigned long)y->missing, y->worst);
    if (y->first[0]) printf("    %s\n", y->first);
  }
  if (st != HD_OK) fprintf(stderr, "bench_textures: %s\n", d.message);
  for (int i = 0; i < 2; i++) {
    hd_device_unload(m[i]);
    hd_device_close(dev[i]);
  }
  hd_file_close(&f);
  return st == HD_OK ? 0 : 1;
}
