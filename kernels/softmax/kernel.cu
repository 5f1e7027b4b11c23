// Softmax, one CTA of 256 threads per row: the row's maximum, the sum of the exponentials, then
// every exponential's share. CTAs share nothing.
#define THREADS 256

struct Sum {
  static __device__ float of(float a, float b) { return a + b; }
};
struct Max {
  static __device__ float of(float a, float b) { return fmaxf(a, b); }
};

// The reduction over all threads of the CTA, known to all of them.
template <class Op> static __device__ float cta_reduce(float value) {
  __shared__ float partial[THREADS / 32];
  for (int lane = 16; lane > 0; lane /= 2) value = Op::of(value, __shfl_xor_sync(0xffffffffu, value, lane));
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float all = partial[0];
  for (int warp = 1; warp < THREADS / 32; warp++) all = Op::of(all, partial[warp]);
  __syncthreads();
  return all;
}

extern "C" __global__ void __launch_bounds__(THREADS) softmax(const float *in, float *out, int width) {
  const float *row = in + (size_t)blockIdx.x * width;
  float *out_row = out + (size_t)blockIdx.x * width;
  float high = -__int_as_float(0x7f800000), sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += THREADS) high = fmaxf(high, row[i]);
  high = cta_reduce<Max>(high);
  for (int i = threadIdx.x; i < width; i += THREADS) sum += expf(row[i] - high);
  float share = 1.0f / cta_reduce<Sum>(sum);
  for (int i = threadIdx.x; i < width; i += THREADS) out_row[i] = expf(row[i] - high) * share;
}
