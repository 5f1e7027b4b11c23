#include <heddle_inputs.h>
#include <heddle_reference.h>

/* A picture, and the same one moved by (3, -2) with other noise, like the next frame of a video. */
void heddle_generate(const heddle_args *args) {
  uint16_t *current = heddle_u16(args, "current"), *reference = heddle_u16(args, "reference");
  int64_t width = heddle_size_of(args, "columns") * 16, height = heddle_size_of(args, "rows") * 16;
  for (int64_t y = 0; y < height; y++)
    for (int64_t x = 0; x < width; x++) {
      int64_t i = y * width + x, noise = heddle_below(5, (uint64_t)i, 4);
      reference[i] = (uint16_t)heddle_pixel(1, x + 100, y + 100);
      current[i] = (uint16_t)(heddle_pixel(1, x + 103, y + 98) ^ noise);
    }
}

static int64_t clamp(int64_t v, int64_t limit) { return v < 0 ? 0 : v >= limit ? limit - 1 : v; }

typedef struct frames {
  const uint16_t *current, *reference;
  int64_t width, height;
} frames;

/* Of the w x h pixels at (x0, y0) against those (dx, dy) further. */
static uint16_t sad(const frames *f, int64_t x0, int64_t y0, int w, int h, int64_t dx, int64_t dy) {
  int64_t sum = 0;
  for (int64_t y = y0; y < y0 + h; y++)
    for (int64_t x = x0; x < x0 + w; x++) {
      int64_t a = f->current[y * f->width + x];
      int64_t b = f->reference[clamp(y + dy, f->height) * f->width + clamp(x + dx, f->width)];
      sum += a > b ? a - b : b - a;
    }
  return (uint16_t)sum;
}

/* Each part size straight from the pixels; parts of 8 x 4 and 4 x 8 are numbered quarter by
 * quarter, the others row by row. */
void heddle_reference(const heddle_args *args) {
  static const struct part {
    const char *name;
    int w, h, per_macroblock, x[16], y[16];
  } PARTS[] = {
      {"sad",
       4,
       4,
       16,
       {0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8, 12},
       {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12}},
      {"sad_8x4", 8, 4, 8, {0, 0, 8, 8, 0, 0, 8, 8}, {0, 4, 0, 4, 8, 12, 8, 12}},
      {"sad_4x8", 4, 8, 8, {0, 4, 8, 12, 0, 4, 8, 12}, {0, 0, 0, 0, 8, 8, 8, 8}},
      {"sad_8x8", 8, 8, 4, {0, 8, 0, 8}, {0, 0, 8, 8}},
      {"sad_16x8", 16, 8, 2, {0, 0}, {0, 8}},
      {"sad_8x16", 8, 16, 2, {0, 8}, {0, 0}},
      {"sad_16x16", 16, 16, 1, {0}, {0}},
  };
  int64_t columns = heddle_size_of(args, "columns"), rows = heddle_size_of(args, "rows"),
          range = heddle_size_of(args, "range"), padded = heddle_size_of(args, "padded");
  frames f = {heddle_u16(args, "current"), heddle_u16(args, "reference"), columns * 16, rows * 16};
  for (size_t k = 0; k < sizeof PARTS / sizeof *PARTS; k++) {
    const struct part *s = &PARTS[k];
    uint16_t *out = heddle_u16(args, s->name);
    for (int64_t m = 0; m < columns * rows; m++)
      for (int i = 0; i < s->per_macroblock; i++) {
        uint16_t *o = out + (m * s->per_macroblock + i) * padded;
        int64_t x0 = m % columns * 16 + s->x[i], y0 = m / columns * 16 + s->y[i];
        for (int64_t dy = -range; dy <= range; dy++)
          for (int64_t dx = -range; dx <= range; dx++) *o++ = sad(&f, x0, y0, s->w, s->h, dx, dy);
      }
  }
}
