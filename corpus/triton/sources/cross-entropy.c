#include "numbers.h"

void heddle_reference(const heddle_args *args) {
  double *logits = numbers_of(args, "logits");
  const int64_t *labels = heddle_s64(args, "labels");
  float *loss = heddle_f32(args, "loss");
  int64_t rows = heddle_size_of(args, "rows"), width = heddle_size_of(args, "width");
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    for (int64_t i = 0; i < width; i++) sum += exp(logits[r * width + i]);
    loss[r] = (float)(log(sum) - logits[r * width + labels[r]]);
  }
  free(logits);
}
