// Monte Carlo prices of European call options, after the CUDA SDK: one CTA per option; its 256 threads walk
// through the same array of normally distributed samples, which all CTAs read from its beginning to its end,
// and add up the payoffs and their squares in 4096 bytes of shared memory.
#define THREADS 256

struct option {
  float stock, strike, drift, spread; // drift and volatility over the option's whole life
};

extern "C" __global__ void monte_carlo(const option *options, const float *samples, float *mean,
                                       float *mean_square, int paths) {
  __shared__ double sums[THREADS], squares[THREADS];
  option o = options[blockIdx.x];
  double sum = 0, square = 0;
  for (int i = threadIdx.x; i < paths; i += THREADS) {
    float payoff = fmaxf(o.stock * expf(o.drift + o.spread * samples[i]) - o.strike, 0.0f);
    sum += payoff;
    square += payoff * payoff;
  }
  sums[threadIdx.x] = sum;
  squares[threadIdx.x] = square;
  for (int stride = THREADS / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) {
      sums[threadIdx.x] += sums[threadIdx.x + stride];
      squares[threadIdx.x] += squares[threadIdx.x + stride];
    }
  }
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = sums[0] / paths;
    mean_square[blockIdx.x] = squares[0] / paths;
  }
}
