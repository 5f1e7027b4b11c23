#include <heddle_reference.h>

/* Column 0 of the weights belongs to no hidden neuron. The tree leaves in row r the sum over as many rows
 * from r on as the largest power of two that divides r, in row 0 that over all 16. */
void heddle_reference(const heddle_args *args) {
  const float *input = heddle_f32(args, "input"), *delta = heddle_f32(args, "delta");
  float *products = heddle_f32(args, "products"), *partial = heddle_f32(args, "partial_sums"),
        *weights = heddle_f32(args, "weights"), *change = heddle_f32(args, "old_change");
  int64_t inputs = heddle_size_of(args, "inputs"), hidden = 16, stride = hidden + 1;
  for (int64_t first = 1; first <= inputs; first += 16)
    for (int64_t x = 1; x <= hidden; x++)
      for (int64_t r = 0; r < 16; r++) { /* row r is complete before it is overwritten: sums look ahead */
        float sum = 0;
        for (int64_t k = r; k < r + (r ? r & -r : 16); k++)
          sum += input[first + k] * products[(first + k) * stride + x];
        products[(first + r) * stride + x] = sum;
        if (r == 0) partial[(first - 1) / 16 * hidden + x - 1] = sum;
      }
  for (int64_t y = 0; y <= inputs; y++)
    for (int64_t x = 1; x <= hidden; x++) {
      int64_t at = y * stride + x;
      double in = y ? input[y] : 1;
      double c = 0.3 * delta[x] * in + 0.3 * change[at];
      weights[at] = (float)(weights[at] + c);
      change[at] = (float)c;
    }
}
