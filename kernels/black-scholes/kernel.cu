// Black-Scholes prices of European options, after the CUDA SDK: each thread two neighbouring options, read
// and written as float2. Streaming: no CTA reads what another one reads.
static __device__ float normal_cdf(float d) {
  float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  float tail =
      0.39894228f * expf(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - tail : tail;
}

static __device__ void price(float *call, float *put, float stock, float strike, float years, float rate,
                             float volatility) {
  float spread = volatility * sqrtf(years);
  float d1 = (logf(stock / strike) + (rate + 0.5f * volatility * volatility) * years) / spread;
  float p1 = normal_cdf(d1), p2 = normal_cdf(d1 - spread), discounted = strike * expf(-rate * years);
  *call = stock * p1 - discounted * p2;
  *put = discounted * (1.0f - p2) - stock * (1.0f - p1);
}

// n pairs of options.
extern "C" __global__ void black_scholes(float2 *call, float2 *put, const float2 *stock, const float2 *strike,
                                         const float2 *years, float rate, float volatility, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float2 s = stock[i], x = strike[i], t = years[i], c, p;
  price(&c.x, &p.x, s.x, x.x, t.x, rate, volatility);
  price(&c.y, &p.y, s.y, x.y, t.y, rate, volatility);
  call[i] = c;
  put[i] = p;
}
