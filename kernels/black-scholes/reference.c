#include <heddle_reference.h>
#include <math.h>

static double normal_cdf(double d) { return 0.5 * erfc(-d * 0.70710678118654752); }

void heddle_reference(const heddle_args *args) {
  const float *stock = heddle_f32(args, "stock"), *strike = heddle_f32(args, "strike"),
              *years = heddle_f32(args, "years");
  float *call = heddle_f32(args, "call"), *put = heddle_f32(args, "put");
  int64_t n = 2 * heddle_size_of(args, "pairs");
  const double rate = 0.02, volatility = 0.3;
  for (int64_t i = 0; i < n; i++) {
    double s = stock[i], x = strike[i], t = years[i], spread = volatility * sqrt(t);
    double d1 = (log(s / x) + (rate + volatility * volatility / 2) * t) / spread;
    double discounted = x * exp(-rate * t), c = s * normal_cdf(d1) - discounted * normal_cdf(d1 - spread);
    call[i] = (float)c;
    put[i] = (float)(c + discounted - s); /* put-call parity */
  }
}
