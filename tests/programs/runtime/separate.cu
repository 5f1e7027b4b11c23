// Separate compilation: code and variables of another file, linked for the device.
// check: init,race,streams
// options: -rdc=true
// with: separate_other.cuh
// no clang: nvcc's separate compilation
#include "check.h"

extern __device__ int scale;
extern __constant__ int offsets[3];
extern __device__ int shift(int v, int k);
static __device__ int own = 1000; // the other file has one of this name, too

__global__ void run(int *out) { out[threadIdx.x] = scale * shift(int(threadIdx.x), int(threadIdx.x) % 3) + own; }
void set_offsets();

int main() {
  int *d, h[16];
  set_offsets();
  OK(cudaMalloc(&d, sizeof h));
  run<<<1, 16>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 16; i++) CHECK(h[i] == 3 * (i + 100 * (i % 3) + 7) + 1000);
  puts("separate: ok");
}
