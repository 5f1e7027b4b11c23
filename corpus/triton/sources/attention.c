#include "numbers.h"

#ifndef CAUSAL
#define CAUSAL 0
#endif
#ifndef GROUP
#define GROUP 1 /* heads of queries that share one of keys and values */
#endif
enum { D = 64 };

/* In double, and without the maximum: exponentials of numbers up to 8 need no care. */
void heddle_reference(const heddle_args *args) {
  double *q = numbers_of(args, "q"), *k = numbers_of(args, "k"), *v = numbers_of(args, "v");
  const heddle_buffer *out = heddle_find(args, "out");
  int64_t heads = heddle_size_of(args, "heads"), length = heddle_size_of(args, "length");
  for (int64_t row = 0; row < heads * length; row++) {
    int64_t head = row / length, first = head / GROUP * length;
    int64_t end = first + (CAUSAL ? row % length + 1 : length);
    double total = 0, sums[D] = {0};
    for (int64_t key = first; key < end; key++) {
      double s = 0;
      for (int64_t d = 0; d < D; d++) s += q[row * D + d] * k[key * D + d];
      double p = exp(s * 0.125);
      total += p;
      for (int64_t d = 0; d < D; d++) sums[d] += p * v[key * D + d];
    }
    for (int64_t d = 0; d < D; d++) put_number(out, row * D + d, sums[d] / total);
  }
  free(q);
  free(k);
  free(v);
}
