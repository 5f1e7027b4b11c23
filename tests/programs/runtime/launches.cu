// Launches in every form: with attributes, by parameters in a list, in a packed buffer, of three dimensions, cooperative.
// options: -lcuda
#include "check.h"
#include <cooperative_groups.h>
#include <cuda.h>

struct big {
  char tag;
  double d[40];
  int last;
};

__global__ void ranks(unsigned *out) {
  unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * blockDim.x * blockDim.y * blockDim.z + thread] = block * 1000 + thread;
}
__global__ void by_value(big b, char c, short s, const double *add, double *out) {
  double sum = b.tag + b.last + c + s + *add;
  for (double d : b.d) sum += d;
  *out = sum;
}
__global__ void together(int *v, int n) {
  auto grid = cooperative_groups::this_grid();
  unsigned i = unsigned(grid.thread_rank());
  v[i] = int(i);
  grid.sync();
  int other = v[n - 1 - i];
  grid.sync();
  v[i] += other;
}
extern "C" __global__ void packed(int *out, char a, long long b, char c) { *out = int(a + b + c); }

int main() {
  unsigned *r;
  const dim3 grid(3, 2, 4), block(5, 3, 2);
  const unsigned threads = 24 * 30;
  OK(cudaMallocManaged(&r, threads * sizeof *r));
  ranks<<<grid, block>>>(r);
  OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < threads; i++) CHECK(r[i] == i / 30 * 1000 + i % 30);

  big b = {};
  b.tag = 1;
  b.last = 2;
  for (int i = 0; i < 40; i++) b.d[i] = i * 0.25;
  double *d;
  OK(cudaMallocManaged(&d, 2 * sizeof *d));
  d[0] = 1e6;
  const double *add = d;
  double *out = d + 1;
  char c = 3;
  short s = -4;
  void *args[] = {&b, &c, &s, &add, &out};
  OK(cudaLaunchKernel((const void *)by_value, 1, 1, args, 0, 0));
  OK(cudaDeviceSynchronize());
  CHECK(*out == 1e6 + 195 + 2);

  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  cudaLaunchConfig_t config = {};
  cudaLaunchAttribute attributes[2];
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributePriority;
  attributes[1].val.priority = 0;
  config.gridDim = 8;
  config.blockDim = 64;
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = 2;
  int n = 512, *v = (int *)r;
  OK(cudaLaunchKernelEx(&config, together, v, n));
  OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < n; i++) CHECK(v[i] == n - 1);
  config.numAttrs = 0;
  void *together_args[] = {&v, &n};
  OK(cudaLaunchKernelExC(&config, (const void *)ranks, together_args));
  OK(cudaStreamSynchronize(stream));

  /* A packed buffer, as the driver takes it. */
  cudaFunction_t f;
  OK(cudaGetFuncBySymbol(&f, (const void *)packed));
  char buffer[32] = {};
  long long wide = 1000;
  memcpy(buffer, &v, 8);
  buffer[8] = 20;
  memcpy(buffer + 16, &wide, 8);
  buffer[24] = 7;
  size_t bytes = 25;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel((CUfunction)f, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, extra) == CUDA_SUCCESS);
  OK(cudaStreamSynchronize(stream));
  CHECK(v[0] == 1027);
  OK(cudaStreamDestroy(stream));
  OK(cudaFree(r));
  OK(cudaFree(d));
  puts("launches: ok");
}
