#include <heddle_reference.h>

/* The mask as a table over the offsets of i and j: outer planes have their weights at k - 1 and k + 1, the
 * middle plane at k. */
void heddle_reference(const heddle_args *args) {
  static const int weight[3][3] = {{2, 5, -8}, {-3, 6, -9}, {4, 7, 10}};
  const float *a = heddle_f32(args, "a");
  float *b = heddle_f32(args, "b");
  int64_t ni = heddle_size_of(args, "ni"), nj = heddle_size_of(args, "nj"), nk = heddle_size_of(args, "nk");
  memset(b, 0, (size_t)(ni * nj * nk) * sizeof *b);
  for (int64_t i = 1; i < ni - 1; i++)
    for (int64_t j = 1; j < nj - 1; j++)
      for (int64_t k = 1; k < nk - 1; k++) {
        int64_t sum = 0;
        for (int64_t di = -1; di <= 1; di++)
          for (int64_t dj = -1; dj <= 1; dj++) {
            const float *row = a + ((i + di) * nj + j + dj) * nk + k;
            sum += weight[di + 1][dj + 1] * (int64_t)(di ? row[-1] + row[1] : row[0]);
          }
        b[(i * nj + j) * nk + k] = (float)sum;
      }
}
