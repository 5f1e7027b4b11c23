// Constant memory that changes between launches: filters of an image, copied on streams, by name and by address.
#include "check.h"
#include <vector>

struct filter {
  int radius;
  float weight[9];
};
__constant__ filter current;
__constant__ float scale = 2;
__device__ float border[2] = {1, -1};

__global__ void convolve(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = -current.radius; k <= current.radius; k++) {
    float v = i + k < 0 ? border[0] : i + k >= n ? border[1] : in[i + k];
    sum += current.weight[k + current.radius] * v;
  }
  out[i] = scale * sum;
}

int main() {
  const int n = 1000;
  std::vector<float> h(n), got(n);
  for (int i = 0; i < n; i++) h[i] = float(i % 11);
  float *in, *out, *address;
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  OK(cudaMalloc(&in, n * 4));
  OK(cudaMalloc(&out, n * 4));
  OK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
  OK(cudaGetSymbolAddress((void **)&address, scale));
  float sum = 0;
  for (int radius = 0; radius <= 4; radius++) {
    filter f = {};
    f.radius = radius;
    for (int k = 0; k <= 2 * radius; k++) f.weight[k] = float(k + 1);
    const float by = float(radius) / 2;
    OK(cudaMemcpyToSymbolAsync(current, &f, sizeof f, 0, cudaMemcpyHostToDevice, s));
    OK(cudaMemcpyAsync(address, &by, sizeof by, cudaMemcpyHostToDevice, s));
    convolve<<<8, 128, 0, s>>>(in, out, n);
    OK(cudaMemcpyAsync(got.data(), out, n * 4, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    for (int i = 0; i < n; i++) {
      float want = 0;
      for (int k = -radius; k <= radius; k++)
        want += f.weight[k + radius] * (i + k < 0 ? 1 : i + k >= n ? -1 : h[i + k]);
      CHECK(got[i] == by * want);
      sum += got[i];
    }
  }
  filter back;
  OK(cudaMemcpyFromSymbol(&back.radius, current, sizeof back.radius));
  CHECK(back.radius == 4);
  const float edges[] = {100, 200};
  OK(cudaMemcpyToSymbol(border, &edges[1], 4, 4));
  OK(cudaMemcpyFromSymbol(&back.weight, border, 8, 0));
  CHECK(back.weight[0] == 1 && back.weight[1] == 200);
  printf("sum %.1f\n", sum);
  OK(cudaFree(in));
  OK(cudaFree(out));
  OK(cudaStreamDestroy(s));
}
