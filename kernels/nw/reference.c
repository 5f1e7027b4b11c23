#include <heddle_inputs.h>
#include <heddle_reference.h>

enum { PENALTY = 10, LETTERS = 20 }; /* amino acids */

/* Two letters' similarity, symmetric: 4 to 11 for equal ones, -4 to 3 for others. */
static int32_t alike(int64_t a, int64_t b) {
  int64_t low = a < b ? a : b, high = a < b ? b : a;
  return (int32_t)heddle_below(1, (uint64_t)(low * LETTERS + high), 8) + (a == b ? 4 : -4);
}

void heddle_generate(const heddle_args *args) {
  int32_t *similarity = heddle_s32(args, "similarity"), *score = heddle_s32(args, "score");
  int64_t n = heddle_size_of(args, "n"), stride = n + 1;
  int32_t table[LETTERS][LETTERS];
  for (int64_t a = 0; a < LETTERS; a++)
    for (int64_t b = 0; b < LETTERS; b++) table[a][b] = alike(a, b);
  for (int64_t y = 1; y <= n; y++) {
    int64_t letter = heddle_below(2, (uint64_t)y, LETTERS);
    for (int64_t x = 1; x <= n; x++)
      similarity[y * stride + x] = table[letter][heddle_below(3, (uint64_t)x, LETTERS)];
  }
  for (int64_t i = 0; i <= n; i++) score[i] = score[i * stride] = (int32_t)(-PENALTY * i);
}

/* Row by row. */
void heddle_reference(const heddle_args *args) {
  const int32_t *similarity = heddle_s32(args, "similarity");
  int32_t *score = heddle_s32(args, "score");
  int64_t n = heddle_size_of(args, "n"), stride = n + 1;
  for (int64_t y = 1; y <= n; y++)
    for (int64_t x = 1; x <= n; x++) {
      int64_t i = y * stride + x;
      int32_t best = score[i - stride - 1] + similarity[i], left = score[i - 1] - PENALTY,
              up = score[i - stride] - PENALTY;
      if (left > best) best = left;
      if (up > best) best = up;
      score[i] = best;
    }
}
