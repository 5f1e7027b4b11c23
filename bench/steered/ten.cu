// Ten kernels of different kinds, each launched a few times. `ten TURNS`
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define OK(call) do { cudaError_t r_ = (call); if (r_) { printf("%s: %s\n", #call, cudaGetErrorName(r_)); exit(1); } } while (0)
enum { N = 1 << 16, W = 256, ROWS = 4096 };

__global__ void saxpy(float *y, const float *x, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }
__global__ void transpose(float *out, const float *in, int w) { int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y; if (x < w && y < w) out[x * w + y] = in[y * w + x]; }
__global__ void stencil(float *out, const float *in, int w) { int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y; if (x && y && x < w - 1 && y < w - 1) out[y * w + x] = 0.2f * (in[y * w + x] + in[y * w + x - 1] + in[y * w + x + 1] + in[(y - 1) * w + x] + in[(y + 1) * w + x]); }
__global__ void matmul(float *c, const float *a, const float *b, int w) { int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y; float s = 0; for (int k = 0; k < w; k++) s += a[y * w + k] * b[k * w + x]; c[y * w + x] = s; }
__global__ void columns(float *out, const float *in, int w) { int x = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; for (int y = 0; y < w; y++) s += in[y * w + x]; out[x] = s; }
__global__ void rows(float *out, const float *in, int w) { int y = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; for (int x = 0; x < w; x++) s += in[y * w + x]; out[y] = s; }
__global__ void spmv(float *out, const int *row, const int *col, const float *v, const float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0; if (i < n) { for (int k = row[i]; k < row[i + 1]; k++) s += v[k] * x[col[k]]; out[i] = s; } }
__global__ void gather(float *out, const float *in, const int *where, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = in[where[i] & (n - 1)]; }
__global__ void histogram(int *bins, const float *in, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&bins[(int)(in[i] * 16) & 63], 1); }
__global__ void blocksum(float *out, const float *in) { __shared__ float s[256]; s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x]; for (int k = 128; k; k /= 2) { __syncthreads(); if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; } if (!threadIdx.x) out[blockIdx.x] = s[0]; }

int main(int argc, char **argv) {
  const int turns = argc > 1 ? atoi(argv[1]) : 6;
  float *a, *b, *c, *v; int *row, *col, *bins;
  OK(cudaMalloc(&a, N * 4)); OK(cudaMalloc(&b, N * 4)); OK(cudaMalloc(&c, N * 4)); OK(cudaMalloc(&v, ROWS * 8 * 4));
  OK(cudaMalloc(&row, (ROWS + 1) * 4)); OK(cudaMalloc(&col, ROWS * 8 * 4)); OK(cudaMalloc(&bins, 64 * 4));
  static float h[N]; static int hr[ROWS + 1], hc[ROWS * 8]; static float hv[ROWS * 8];
  for (int i = 0; i < N; i++) h[i] = (i * 37 % 101) / 101.f;
  for (int i = 0; i <= ROWS; i++) hr[i] = i * 8;
  for (int i = 0; i < ROWS * 8; i++) { hc[i] = (i / 8 + i % 8 * 509) % ROWS; hv[i] = 1.f / (1 + i % 8); }
  OK(cudaMemcpy(a, h, N * 4, cudaMemcpyHostToDevice)); OK(cudaMemcpy(b, h, N * 4, cudaMemcpyHostToDevice)); OK(cudaMemset(c, 0, N * 4));
  OK(cudaMemcpy(v, hv, sizeof hv, cudaMemcpyHostToDevice)); OK(cudaMemcpy(row, hr, sizeof hr, cudaMemcpyHostToDevice)); OK(cudaMemcpy(col, hc, sizeof hc, cudaMemcpyHostToDevice)); OK(cudaMemset(bins, 0, 256));
  dim3 g(W / 16, W / 16), t(16, 16);
  for (int k = 0; k < turns; k++) {
    saxpy<<<N / 256, 256>>>(b, a, 0.5f, N); transpose<<<g, t>>>(c, b, W); stencil<<<g, t>>>(b, c, W); matmul<<<g, t>>>(c, a, b, W);
    columns<<<W / 32, 32>>>(b, c, W); rows<<<W / 32, 32>>>(b + W, c, W); spmv<<<ROWS / 128, 128>>>(b, row, col, v, a, ROWS);
    gather<<<N / 256, 256>>>(c, a, col, ROWS * 8 < N ? ROWS * 8 : N); histogram<<<N / 256, 256>>>(bins, a, N); blocksum<<<N / 256, 256>>>(b + 4096, a);
    OK(cudaGetLastError());
  }
  static int hb[64]; double sum = 0;
  OK(cudaMemcpy(h, b, N * 4, cudaMemcpyDeviceToHost)); OK(cudaMemcpy(hb, bins, 256, cudaMemcpyDeviceToHost));
  for (int i = 0; i < N; i++) sum += h[i];
  printf("ten: %.6g %d\n", sum, hb[3]);
}
