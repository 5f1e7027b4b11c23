// Variables of the device: constant, plain, managed, arrays of structures, function pointers, virtual functions.
// check: init,race,streams
// no clang: managed variables
#include "check.h"

struct point {
  int x;
  float y;
};
__constant__ point table[4];
__device__ int counter = 5;
__device__ point points[8];
__managed__ int shared_value = 17;
__managed__ int shared_array[4] = {1, 2, 3, 4};

__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
typedef int binary(int, int);
__device__ binary *const functions[] = {plus, minus};

struct shape {
  __device__ virtual int area() const = 0;
  __device__ virtual ~shape() {}
};
struct square : shape {
  int a;
  __device__ square(int a_) : a(a_) {}
  __device__ int area() const override { return a * a; }
};
struct strip : shape {
  int a, b;
  __device__ strip(int a_, int b_) : a(a_), b(b_) {}
  __device__ int area() const override { return a * b; }
};

__global__ void use(int *out) {
  int i = threadIdx.x;
  atomicAdd(&counter, table[i].x);
  points[i].x = table[i].x + i;
  points[i].y = table[i].y;
  atomicAdd(&shared_value, shared_array[i]);
  out[i] = functions[i % 2](10, i);
}

__global__ void areas(int *out) {
  shape *s[2] = {new square(5), new strip(3, 7)};
  for (int i = 0; i < 2; i++) {
    out[i] = s[i]->area();
    delete s[i];
  }
}

int main() {
  point t[4];
  for (int i = 0; i < 4; i++) t[i] = {i * 10, i + 0.5f};
  CHECK(shared_value == 17 && shared_array[3] == 4);
  CHECK(cudaGetLastError() == cudaSuccess); // there was no call yet that could fail
  shared_array[0] = 100;
  OK(cudaMemcpyToSymbol(table, t, sizeof t));
  int *d, h[4], c;
  OK(cudaMalloc(&d, sizeof h));
  use<<<1, 4>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 4; i++) CHECK(h[i] == (i % 2 ? 10 - i : 10 + i));
  OK(cudaMemcpyFromSymbol(&c, counter, sizeof c));
  CHECK(c == 65);
  CHECK(shared_value == 17 + 100 + 2 + 3 + 4);
  point p;
  OK(cudaMemcpyFromSymbol(&p, points, sizeof p, 3 * sizeof p));
  CHECK(p.x == 33 && p.y == 3.5f);
  void *address;
  size_t bytes;
  OK(cudaGetSymbolAddress(&address, points));
  OK(cudaGetSymbolSize(&bytes, points));
  CHECK(bytes == sizeof(point) * 8);
  OK(cudaMemcpy(&p, (char *)address + sizeof p, sizeof p, cudaMemcpyDeviceToHost));
  CHECK(p.x == 11);
  EXPECT(cudaMemcpyToSymbol(table, t, sizeof t, 1), cudaErrorInvalidValue);
  EXPECT(cudaGetSymbolSize(&bytes, h), cudaErrorInvalidSymbol);
  areas<<<1, 1>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  CHECK(h[0] == 25 && h[1] == 21);
  puts("symbols: ok");
}
