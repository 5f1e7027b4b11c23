#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>

/* Options as the SDK draws them; rate 0.06, volatility 0.1. */
void heddle_generate(const heddle_args *args) {
  float *options = heddle_f32(args, "options");
  int64_t n = heddle_size_of(args, "options");
  for (int64_t i = 0; i < n; i++) {
    double years = 0.25 + 9.75 * heddle_uniform(3, (uint64_t)i);
    options[4 * i] = (float)(5 + 25 * heddle_uniform(1, (uint64_t)i));
    options[4 * i + 1] = (float)(1 + 99 * heddle_uniform(2, (uint64_t)i));
    options[4 * i + 2] = (float)((0.06 - 0.5 * 0.1 * 0.1) * years);
    options[4 * i + 3] = (float)(0.1 * sqrt(years));
  }
}

void heddle_reference(const heddle_args *args) {
  const float *options = heddle_f32(args, "options"), *samples = heddle_f32(args, "samples");
  float *mean = heddle_f32(args, "mean"), *mean_square = heddle_f32(args, "mean_square");
  int64_t n = heddle_size_of(args, "options"), paths = heddle_size_of(args, "paths");
  for (int64_t i = 0; i < n; i++) {
    double sum = 0, square = 0;
    for (int64_t k = 0; k < paths; k++) {
      double price = options[4 * i] * exp(options[4 * i + 2] + (double)options[4 * i + 3] * samples[k]);
      double payoff = price > options[4 * i + 1] ? price - options[4 * i + 1] : 0;
      sum += payoff;
      square += payoff * payoff;
    }
    mean[i] = (float)(sum / (double)paths);
    mean_square[i] = (float)(square / (double)paths);
  }
}
