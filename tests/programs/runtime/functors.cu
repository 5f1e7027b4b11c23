// C++ on the device: function pointers from the device, virtual functions, recursion, lambdas of both sides, variadics.
// no clang: the deletion of objects with virtual functions in a kernel
#include "check.h"
#include <type_traits>

typedef float (*operation)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float power(float a, float b) { return b < 1 ? 1 : a * power(a, b - 1); }
__device__ operation add_pointer = add, power_pointer = power;

__global__ void apply(operation f, const float *a, const float *b, float *out) {
  out[threadIdx.x] = f(a[threadIdx.x], b[threadIdx.x]);
}

class animal {
public:
  __device__ explicit animal(int legs) : legs_(legs) {}
  __device__ virtual ~animal() {}
  __device__ virtual int sound() const { return -1; }
  __device__ int legs() const { return legs_; }

private:
  int legs_;
};
class bird : public animal {
public:
  __device__ bird() : animal(2) {}
  __device__ int sound() const override { return 100; }
};
class cat : public animal {
public:
  __device__ cat() : animal(4) {}
  __device__ int sound() const override { return 200 + animal::sound(); }
};
__global__ void make(animal **zoo, int n) {
  for (int i = 0; i < n; i++) zoo[i] = i % 2 ? static_cast<animal *>(new cat) : new bird;
}
__global__ void hear(animal *const *zoo, int n, int *out) {
  int i = threadIdx.x;
  if (i < n) out[i] = zoo[i]->sound() + zoo[i]->legs();
}
__global__ void release(animal **zoo, int n) {
  for (int i = 0; i < n; i++) delete zoo[i];
}

template <typename F, typename... Args> __global__ void each(int n, F f, Args... args) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) f(i, args...);
}
__host__ __device__ constexpr int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__global__ void numbers(int *out) { out[threadIdx.x] = fibonacci(threadIdx.x); }

int main() {
  float *a, *b, *out;
  int *ints;
  animal **zoo;
  OK(cudaMallocManaged(&a, 32 * sizeof *a));
  OK(cudaMallocManaged(&b, 32 * sizeof *b));
  OK(cudaMallocManaged(&out, 32 * sizeof *out));
  OK(cudaMallocManaged(&ints, 32 * sizeof *ints));
  OK(cudaMalloc(&zoo, 8 * sizeof *zoo));
  for (int i = 0; i < 32; i++) {
    a[i] = 2;
    b[i] = float(i % 8);
  }
  operation f;
  OK(cudaMemcpyFromSymbol(&f, add_pointer, sizeof f));
  apply<<<1, 32>>>(f, a, b, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) CHECK(out[i] == 2 + b[i]);
  OK(cudaMemcpyFromSymbol(&f, power_pointer, sizeof f));
  apply<<<1, 32>>>(f, a, b, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) CHECK(out[i] == float(1 << (i % 8)));
  make<<<1, 1>>>(zoo, 8);
  hear<<<1, 8>>>(zoo, 8, ints);
  release<<<1, 1>>>(zoo, 8);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 8; i++) CHECK(ints[i] == (i % 2 ? 203 : 102));
  const int base = 7;
  each<<<2, 16>>>(32, [=] __device__(int i, int x, double y) { ints[i] = base * i + x + int(y); }, 5, 2.5);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) CHECK(ints[i] == 7 * i + 7);
  auto both = [=] __host__ __device__(int i) { return i * i + base; };
  each<<<2, 16>>>(32, [=] __device__(int i) { ints[i] = both(i); });
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) CHECK(ints[i] == both(i));
  numbers<<<1, 20>>>(ints);
  OK(cudaDeviceSynchronize());
  CHECK(ints[19] == 4181);
  for (void *p : {(void *)a, (void *)b, (void *)out, (void *)ints, (void *)zoo}) OK(cudaFree(p));
  puts("functors: ok");
}
