/* What others measured of GPUs, as small kernels that a model runs: scripts/published has their launches. A rate is that of the
 * difference of two launches, so that neither starts nor cold caches are in it, unless a row says otherwise. */

/* Pointers: no instruction stands between a load and the next one. Each warp goes round its part of the ring in
 * one lane. */
extern "C" __global__ void chase(const unsigned long long *ring, int apart, int steps, unsigned long long *out) {
  if (threadIdx.x % 32) return;
  const unsigned long long *p = ring + threadIdx.x / 32 * apart;
#pragma unroll 16
  for (int i = 0; i < steps; i++) p = (const unsigned long long *)*p;
  out[threadIdx.x / 32] = (unsigned long long)p;
}

/* Indices: each load's address is made of the one before. */
extern "C" __global__ void chase_index(const int *ring, int apart, int steps, int *out) {
  if (threadIdx.x % 32) return;
  int at = threadIdx.x / 32 * apart;
#pragma unroll 16
  for (int i = 0; i < steps; i++) at = ring[at];
  out[threadIdx.x / 32] = at;
}

/* The same through memory of zeros, which costs nothing to fill: a sum more on the way from load to load. */
extern "C" __global__ void walk(const int *zeros, int apart, int lines, int rounds, int *out) {
  if (threadIdx.x % 32) return;
  const int first = threadIdx.x / 32 * apart;
  int at = 0;
  for (int r = 0; r < rounds; r++) {
    at = first + (at & 1);
#pragma unroll 16
    for (int i = 0; i < lines; i++) at = zeros[at] + (at + 32);
  }
  out[threadIdx.x / 32] = at;
}

/* Every CTA reads a chunk of so many words again and again, one of n. */
extern "C" __global__ void chunk(const float4 *data, int words, int chunks, int turns, float *out) {
  const float4 *own = data + (size_t)(blockIdx.x % chunks) * words;
  float a = 0, b = 0, c = 0, d = 0;
  for (int t = 0; t < turns; t++) {
#pragma unroll 4
    for (int i = threadIdx.x; i < words; i += blockDim.x) {
      const float4 v = own[i];
      a += v.x, b += v.y, c += v.z, d += v.w;
    }
  }
  if (a + b + c + d == 1) *out = a;
}

/* Streams, an element a thread. */
extern "C" __global__ void init(double *a, double c) { a[(size_t)blockIdx.x * blockDim.x + threadIdx.x] = c; }
extern "C" __global__ void read(double *a, double c) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (a[i] == c) a[i] = 0;
}
extern "C" __global__ void scale(double *a, const double *b, double c) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i] * c;
}
extern "C" __global__ void triad(double *a, const double *b, const double *c, double d) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i] + d * c[i];
}
extern "C" __global__ void copy(float *a, const float *b) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i];
}
extern "C" __global__ void copy4(float4 *a, const float4 *b) {
  const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
  a[i] = b[i];
}

/* Arithmetic in eight chains a thread. */
template <typename T> __device__ void chains(T x, int turns, T *out) {
  T a[8];
#pragma unroll
  for (int k = 0; k < 8; k++) a[k] = x + k;
#pragma unroll 1
  for (int i = 0; i < turns; i++)
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
      for (int k = 0; k < 8; k++) a[k] = a[k] * x + x;
  T sum = 0;
#pragma unroll
  for (int k = 0; k < 8; k++) sum += a[k];
  if (sum == 1) *out = sum;
}
extern "C" __global__ void fma32(float x, int turns, float *out) { chains(x, turns, out); }
extern "C" __global__ void fma64(double x, int turns, double *out) { chains(x, turns, out); }

/* mma.sync of f16, summed in f32, in four chains a warp. */
extern "C" __global__ void mma16(int turns, float *out) {
  float d[4][4] = {};
  const unsigned a = threadIdx.x, b = threadIdx.x + 1;
#pragma unroll 1
  for (int i = 0; i < turns; i++)
#pragma unroll
    for (int k = 0; k < 4; k++)
      asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                   : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3])
                   : "r"(a), "r"(b));
  float sum = 0;
  for (int k = 0; k < 4; k++) sum += d[k][0] + d[k][1] + d[k][2] + d[k][3];
  if (sum == 1) *out = sum;
}
