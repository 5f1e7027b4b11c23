// Heat that spreads over a plate: x is the row, as in the loops of a program in C. `stencil STEPS`
#include "check.h"

enum { N = 8192 };

__global__ void start(float *plate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < N && y < N) plate[x * N + y] = x == 0 || (x - 4000) * (x - 4000) + (y - 3000) * (y - 3000) < 250000 ? 100.0f : 0.0f;
}

__global__ void spread(float *from, float *to, float rate) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= N - 1 || y >= N - 1) return;
  float here = from[x * N + y];
  to[x * N + y] = here + rate * (from[(x - 1) * N + y] + from[(x + 1) * N + y] + from[x * N + y - 1] + from[x * N + y + 1] - 4 * here);
}

int main(int argc, char **argv) {
  const int steps = steps_of(argc, argv, 200);
  const dim3 block(16, 16), grid(N / 16, N / 16);
  float *a = device_array<float>((size_t)N * N), *b = device_array<float>((size_t)N * N);
  start<<<grid, block>>>(a);
  CHECK(cudaMemcpy(b, a, sizeof(float) * N * N, cudaMemcpyDeviceToDevice));
  CHECK(cudaDeviceSynchronize());
  const double from = seconds();
  for (int k = 0; k < steps; k++) {
    spread<<<grid, block>>>(a, b, 0.2f);
    float *t = a;
    a = b;
    b = t;
  }
  tell_steps(from, steps);
  static float row[N];
  CHECK(cudaMemcpy(row, a + (size_t)4000 * N, sizeof row, cudaMemcpyDeviceToHost));
  printf("row %016llx\n", digest(row, sizeof row));
  return 0;
}
