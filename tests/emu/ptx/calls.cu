// Functions that are called: recursion, addresses, arguments of all shapes.
#include <cstdint>

__noinline__ __device__ uint32_t fib(uint32_t n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

extern "C" __global__ void fibonacci(uint32_t *out) { out[threadIdx.x] = fib(threadIdx.x % 13); }

__noinline__ __device__ int add(int a, int b) { return a + b; }
__noinline__ __device__ int sub(int a, int b) { return a - b; }
__noinline__ __device__ int mul(int a, int b) { return a * b; }
typedef int (*binary)(int, int);
__device__ binary const table[3] = {add, sub, mul};

extern "C" __global__ void indirect(const int *which, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[which[i]](i, 7);
}

struct big {
  double d[3];
  uint8_t b[7];
};
__noinline__ __device__ big mix(big x, int k, float f) {
  for (int j = 0; j < 3; j++) x.d[j] = x.d[j] * f + k;
  for (int j = 0; j < 7; j++) x.b[j] = (uint8_t)(x.b[(j + 1) % 7] + k);
  return x;
}

extern "C" __global__ void structures(big *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i % 2 ? mix(data[i], i, 0.5f) : mix(mix(data[i], 3, 2.0f), i, 1.0f);
}

// A callee that writes to its caller's local memory.
__noinline__ __device__ void walk(int *place, int depth) {
  int here[4] = {depth, depth + 1, depth + 2, depth + 3};
  if (depth == 0) return;
  walk(here, depth - 1);
  *place += here[0] + here[depth & 3];
}

extern "C" __global__ void through_pointers(int *out) {
  int mine = 0;
  walk(&mine, threadIdx.x % 7);
  out[threadIdx.x] = mine;
}

__noinline__ __device__ int forever(volatile int *p, int n) { return *p == 0 ? forever(p, n + 1) + n : n; }
extern "C" __global__ void overflow(int *p) { p[1] = forever(p, 0); }
