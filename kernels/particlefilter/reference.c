#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>
#include <stdlib.h>

enum { RADIUS = 5 };

/* A disk that starts in the middle and moves by (1, -2) a frame, brighter than the background, both noisy. */
void heddle_generate(const heddle_args *args) {
  int64_t edge = heddle_size_of(args, "edge"), frames = heddle_size_of(args, "frames");
  uint8_t *video = heddle_u8(args, "video");
  for (int64_t x = 0; x < edge; x++)
    for (int64_t y = 0; y < edge; y++)
      for (int64_t f = 0; f < frames; f++) {
        int64_t i = (x * edge + y) * frames + f, dx = x - edge / 2 - f, dy = y - edge / 2 + 2 * f;
        video[i] = (uint8_t)((dx * dx + dy * dy < RADIUS * RADIUS ? 228 : 100) +
                             (int)(25 * heddle_bell(1, (uint64_t)i)));
      }
  int32_t *disk = heddle_s32(args, "disk");
  int64_t points = 0;
  for (int dx = -RADIUS; dx <= RADIUS; dx++)
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
      if (dx * dx + dy * dy < RADIUS * RADIUS) {
        disk[2 * points] = dx;
        disk[2 * points++ + 1] = dy;
      }
  float *x = heddle_f32(args, "found_x"), *y = heddle_f32(args, "found_y");
  int64_t n = heddle_size_of(args, "particles");
  for (int64_t i = 0; i < n; i++) x[i] = y[i] = (float)(edge / 2);
}

typedef struct video {
  const uint8_t *pixels;
  const int32_t *disk;
  int64_t points, edge, frames;
} video;

/* Twice the mean difference in brightness from the middle between object and background, as a power of 2. */
static int exponent(const video *v, int64_t x, int64_t y, int64_t frame) {
  int64_t bright = 0;
  for (int64_t p = 0; p < v->points; p++) {
    int64_t at = llabs(((x + v->disk[2 * p]) * v->edge + y + v->disk[2 * p + 1]) * v->frames + frame);
    bright += v->pixels[at < v->edge * v->edge * v->frames ? at : 0];
  }
  /* (v - 100)^2 - (v - 228)^2 = 256 v - 41984 */
  int64_t k = (328 - (256 * bright - 41984 * v->points) / (50 * v->points)) / 32;
  return k < 0 ? 0 : k > 8 ? 8 : (int)k;
}

static float noise(uint32_t *state) {
  double sum = 0;
  for (int k = 0; k < 4; k++) {
    *state = *state * 1103515245u + 12345u;
    sum += *state >> 16 & 255;
  }
  return (float)((sum - 510) / 256);
}

static int64_t first_at_least(const float *cumulative, int64_t n, float v) {
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t mid = low + (high - low) / 2;
    if (cumulative[mid] >= v)
      high = mid;
    else
      low = mid + 1;
  }
  return low < n ? low : n - 1;
}

void heddle_reference(const heddle_args *args) {
  int64_t n = heddle_size_of(args, "particles"), frames = heddle_size_of(args, "frames");
  video v = {heddle_u8(args, "video"), heddle_s32(args, "disk"), 69, heddle_size_of(args, "edge"), frames};
  float *x = heddle_f32(args, "x"), *y = heddle_f32(args, "y"), *weight = heddle_f32(args, "weight"),
        *found_x = heddle_f32(args, "found_x"), *found_y = heddle_f32(args, "found_y");
  uint32_t *seed = heddle_u32(args, "seed");
  float *cumulative = malloc((size_t)n * sizeof *cumulative);
  if (!cumulative) args->fail(args, "out of memory");
  for (int64_t frame = 1; frame < frames; frame++) {
    double total = 0;
    for (int64_t i = 0; i < n; i++) {
      x[i] = found_x[i] + 1 + 5 * noise(&seed[i]);
      y[i] = found_y[i] - 2 + 2 * noise(&seed[i]);
      int k = exponent(&v, (int64_t)floor(x[i] + 0.5), (int64_t)floor(y[i] + 0.5), frame);
      weight[i] = (float)ldexp(1, -k);
      total += weight[i];
    }
    float sum = 0;
    for (int64_t i = 0; i < n; i++) cumulative[i] = sum += weight[i] /= (float)total;
    for (int64_t i = 0; i < n; i++) {
      int64_t k = first_at_least(cumulative, n, ((float)i + 0.5f) / (float)n);
      found_x[i] = x[k];
      found_y[i] = y[k];
    }
  }
  free(cumulative);
}
