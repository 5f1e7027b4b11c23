// Layer normalisation, one CTA of 256 threads per row: the row's mean, then its variance, then
// every element scaled and shifted. CTAs share nothing but the scales and shifts.
#define THREADS 256

// The sum over all threads of the CTA, known to all of them.
static __device__ float cta_sum(float value) {
  __shared__ float partial[THREADS / 32];
  for (int lane = 16; lane > 0; lane /= 2) value += __shfl_xor_sync(0xffffffffu, value, lane);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < THREADS / 32; warp++) sum += partial[warp];
  __syncthreads();
  return sum;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    layernorm(const float *in, const float *scale, const float *shift, float *out, int width) {
  const float *row = in + (size_t)blockIdx.x * width;
  float *out_row = out + (size_t)blockIdx.x * width;
  float sum = 0.0f, squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += THREADS) sum += row[i];
  float mean = cta_sum(sum) / width;
  for (int i = threadIdx.x; i < width; i += THREADS) squares += (row[i] - mean) * (row[i] - mean);
  float inverse = 1.0f / sqrtf(cta_sum(squares) / width + 1e-5f);
  for (int i = threadIdx.x; i < width; i += THREADS)
    out_row[i] = (row[i] - mean) * inverse * scale[i] + shift[i];
}
