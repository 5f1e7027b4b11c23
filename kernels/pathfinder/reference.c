#include <heddle_reference.h>

static int32_t least(int32_t a, int32_t b) { return a < b ? a : b; }

/* Row by row in place; both halves of `results` are kept as the launches leave them, one every `pyramid`
 * rows. */
void heddle_reference(const heddle_args *args) {
  const int32_t *wall = heddle_s32(args, "wall");
  int32_t *results = heddle_s32(args, "results");
  int64_t columns = heddle_size_of(args, "columns"), rows = heddle_size_of(args, "rows"),
          pyramid = heddle_size_of(args, "pyramid");
  for (int64_t row = 0; row < rows; row++) {
    int32_t *from = results + row / pyramid % 2 * columns, *to = results + (row / pyramid + 1) % 2 * columns;
    if (row % pyramid == 0) memcpy(to, from, (size_t)columns * sizeof *to);
    int32_t left = to[0];
    for (int64_t x = 0; x < columns; x++) {
      int32_t above = to[x], right = to[x + 1 < columns ? x + 1 : x];
      to[x] = least(least(left, right), above) + wall[row * columns + x];
      left = above;
    }
  }
}
