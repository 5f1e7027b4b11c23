// The sum of an array, after the CUDA SDK's sixth reduction: at most 64 CTAs go through the array together,
// each thread adding two numbers a round, then each CTA adds up its threads' sums in shared memory and, for
// the last 64, with shuffles. A second launch adds up the CTAs' sums. Streaming: CTAs share nothing.
#define THREADS 256

extern "C" __global__ void reduce_sum(const int *in, int *out, int n) {
  __shared__ int sums[THREADS];
  int t = threadIdx.x, sum = 0;
  for (long long i = (long long)blockIdx.x * 2 * THREADS + t; i < n; i += 2ll * THREADS * gridDim.x) {
    sum += in[i];
    if (i + THREADS < n) sum += in[i + THREADS];
  }
  sums[t] = sum;
  __syncthreads();
  for (int stride = THREADS / 2; stride > 32; stride /= 2) {
    if (t < stride) sums[t] = sum = sum + sums[t + stride];
    __syncthreads();
  }
  if (t < 32) {
    sum += sums[t + 32];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
    if (t == 0) out[blockIdx.x] = sum;
  }
}
