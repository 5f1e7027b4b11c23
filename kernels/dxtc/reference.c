#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <stdlib.h>

enum { PIXELS = 16 };

/* A colour picture, 0xBBGGRR, and all n0 <= n1 <= n2 of 0 .. 16 in five bits each. */
void heddle_generate(const heddle_args *args) {
  uint32_t *picture = heddle_u32(args, "picture"), *splits = heddle_u32(args, "splits");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++) {
      int red = heddle_pixel(1, x, y), green = heddle_pixel(4, x + 7, y), blue = heddle_pixel(7, x, y + 3);
      picture[y * width + x] = (uint32_t)(red | (red + green) / 2 << 8 | (green + blue) / 2 << 16);
    }
  for (uint32_t a = 0; a <= PIXELS; a++)
    for (uint32_t b = a; b <= PIXELS; b++)
      for (uint32_t c = b; c <= PIXELS; c++) *splits++ = a | b << 5 | c << 10;
}

typedef struct entry {
  int64_t key;
  int pixel;
} entry;

static int by_key(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : x->pixel - y->pixel;
}

/* Pixel numbers along the principal axis. */
static void sort_colours(int64_t c[PIXELS][3], entry *order) {
  int64_t covariance[3][3], axis[3] = {1, 1, 1};
  for (int u = 0; u < 3; u++)
    for (int v = 0; v < 3; v++) {
      covariance[u][v] = 0;
      for (int i = 0; i < PIXELS; i++)
        for (int j = 0; j < PIXELS; j++) covariance[u][v] += c[i][u] * (c[i][v] - c[j][v]);
    }
  for (int round = 0; round < 8; round++) {
    int64_t next[3], most = 0, shrink = 1;
    for (int u = 0; u < 3; u++) {
      next[u] = covariance[u][0] * axis[0] + covariance[u][1] * axis[1] + covariance[u][2] * axis[2];
      if (llabs(next[u]) > most) most = llabs(next[u]);
    }
    while (most / shrink > 4095) shrink *= 2;
    for (int u = 0; u < 3; u++) axis[u] = next[u] / shrink;
  }
  for (int i = 0; i < PIXELS; i++) {
    order[i].key = c[i][0] * axis[0] + c[i][1] * axis[1] + c[i][2] * axis[2];
    order[i].pixel = i;
  }
  qsort(order, PIXELS, sizeof *order, by_key);
}

typedef struct fitted {
  int64_t error;
  int end[2][3], step[PIXELS]; /* end points in 5, 6, 5 bits; step by rank, 0 at the first end point */
} fitted;

/* Nearest whole number, halves upwards for positive quotients, cut to 0 .. limit. */
static int nearest(int64_t numerator, int64_t denominator, int limit) {
  int64_t v = (2 * numerator + denominator) / (2 * denominator);
  return v < 0 ? 0 : v > limit ? limit : (int)v;
}

/* Least squares over the pixels, then the error as the sum over the pixels; given up once it reaches
 * `enough`. */
static void fit(int64_t c[PIXELS][3], const entry *order, int64_t enough, fitted *f) {
  f->error = 0;
  for (int k = 0; k < 3 && f->error < enough; k++) {
    const int bits = k == 1 ? 6 : 5, limit = (1 << bits) - 1;
    int64_t saa = 0, sab = 0, sbb = 0, sac = 0, sbc = 0, sum = 0;
    for (int i = 0; i < PIXELS; i++) {
      int64_t a = 3 - f->step[i], b = f->step[i], v = c[order[i].pixel][k];
      saa += a * a;
      sab += a * b;
      sbb += b * b;
      sac += a * v;
      sbc += b * v;
      sum += v;
    }
    int64_t d = saa * sbb - sab * sab, end[2];
    f->end[0][k] = d ? nearest(3 * limit * (sac * sbb - sbc * sab), 255 * d, limit)
                     : nearest(limit * sum, 255 * PIXELS, limit);
    f->end[1][k] = d ? nearest(3 * limit * (sbc * saa - sac * sab), 255 * d, limit) : f->end[0][k];
    for (int e = 0; e < 2; e++) /* the upper bits are repeated below */
      end[e] = f->end[e][k] * (1 << (8 - bits)) + f->end[e][k] / (1 << (2 * bits - 8));
    for (int i = 0; i < PIXELS; i++) {
      int64_t off = (3 - f->step[i]) * end[0] + f->step[i] * end[1] - 3 * c[order[i].pixel][k];
      f->error += off * off;
    }
  }
}

static void compress(int64_t c[PIXELS][3], uint32_t *out) {
  static const uint32_t CODE[4] = {0, 2, 3, 1};
  entry order[PIXELS];
  fitted best = {.error = INT64_MAX}, f = {0};
  sort_colours(c, order);
  for (int a = 0; a <= PIXELS; a++)
    for (int b = a; b <= PIXELS; b++)
      for (int last = b; last <= PIXELS; last++) {
        for (int i = 0; i < PIXELS; i++) f.step[i] = i < a ? 0 : i < b ? 1 : i < last ? 2 : 3;
        fit(c, order, best.error, &f);
        if (f.error < best.error) best = f;
      }
  uint32_t end[2];
  for (int e = 0; e < 2; e++)
    end[e] = (uint32_t)(best.end[e][0] << 11 | best.end[e][1] << 5 | best.end[e][2]);
  int swap = end[0] < end[1];
  out[0] = end[swap] | end[!swap] << 16;
  out[1] = 0;
  for (int i = 0; i < PIXELS && end[0] != end[1]; i++)
    out[1] |= CODE[swap ? 3 - best.step[i] : best.step[i]] << 2 * order[i].pixel;
}

void heddle_reference(const heddle_args *args) {
  const uint32_t *picture = heddle_u32(args, "picture");
  uint32_t *compressed = heddle_u32(args, "compressed");
  int64_t width = heddle_size_of(args, "width"), height = heddle_size_of(args, "height");
  for (int64_t y = 0; y < height; y += 4)
    for (int64_t x = 0; x < width; x += 4) {
      int64_t c[PIXELS][3];
      for (int i = 0; i < PIXELS; i++)
        for (int k = 0; k < 3; k++) c[i][k] = picture[(y + i / 4) * width + x + i % 4] >> 8 * k & 255;
      compress(c, compressed);
      compressed += 2;
    }
}
