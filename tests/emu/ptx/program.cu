// Module variables, output, assertions, the heap.
#include <cassert>
#include <cstdint>
#include <cstdio>

__device__ int counters[4] = {1, 2, 3};
__constant__ float weights[2][3] = {{0.5f, 1.5f, -2.0f}, {4.0f}};
__device__ int64_t wide = -5000000000;
__device__ int *where = &counters[2];
__device__ const char *name = "loom";
__constant__ uint8_t bytes[5] = {1, 2, 250, 4, 5};

extern "C" __global__ void variables(double *out) {
  out[0] = counters[0] + counters[1] * 10 + counters[2] * 100 + counters[3] * 1000;
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++) out[1 + 3 * i + j] = weights[i][j];
  out[7] = (double)wide;
  out[8] = *where;
  out[9] = name[0] + name[3] * 1000;
  out[10] = bytes[2] + bytes[4];
  counters[3] = 7;
}

extern "C" __global__ void say(int n, double x) {
  if (threadIdx.x < 2) printf("block %d thread %u: %s %5.2f %lld %c%%\n", blockIdx.x, threadIdx.x, name, x * n, 1ll << 40, 'x');
}

extern "C" __global__ void claim(const int *in) { assert(in[threadIdx.x] != 5); }

extern "C" __global__ void heap(int *out) {
  int n = threadIdx.x % 5 + 1;
  int *p = (int *)malloc(n * sizeof(int));
  for (int i = 0; i < n; i++) p[i] = i * threadIdx.x;
  int sum = 0;
  for (int i = 0; i < n; i++) sum += p[i];
  free(p);
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

extern "C" __global__ void stop(int *out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x == 3) __trap();
}
