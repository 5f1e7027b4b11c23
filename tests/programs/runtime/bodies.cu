// Bodies that attract each other: tiles of positions in shared memory, many steps, an event's time around them.
#include "check.h"
#include <cmath>
#include <vector>

__global__ void step(const float4 *in, float4 *out, float3 *speed, int n, float dt) {
  extern __shared__ float4 tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = i < n ? in[i] : make_float4(0, 0, 0, 0);
  float3 a = make_float3(0, 0, 0);
  for (int t = 0; t < n; t += blockDim.x) {
    tile[threadIdx.x] = t + threadIdx.x < n ? in[t + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < blockDim.x; k++) {
      float4 o = tile[k];
      float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = o.w * r * r * r;
      a.x += f * dx;
      a.y += f * dy;
      a.z += f * dz;
    }
    __syncthreads();
  }
  if (i >= n) return;
  float3 v = speed[i];
  v.x += a.x * dt;
  v.y += a.y * dt;
  v.z += a.z * dt;
  speed[i] = v;
  out[i] = make_float4(me.x + v.x * dt, me.y + v.y * dt, me.z + v.z * dt, me.w);
}

int main() {
  const int n = 200, steps = 5;
  std::vector<float4> h(n);
  for (int i = 0; i < n; i++) h[i] = make_float4(cosf(i), sinf(i), float(i % 20) / 10, 1.0f / n);
  float4 *a, *b;
  float3 *v;
  OK(cudaMalloc(&a, n * sizeof *a));
  OK(cudaMalloc(&b, n * sizeof *b));
  OK(cudaMalloc(&v, n * sizeof *v));
  OK(cudaMemcpy(a, h.data(), n * sizeof *a, cudaMemcpyHostToDevice));
  OK(cudaMemset(v, 0, n * sizeof *v));
  cudaEvent_t start, stop;
  OK(cudaEventCreate(&start));
  OK(cudaEventCreate(&stop));
  OK(cudaEventRecord(start));
  for (int k = 0; k < steps; k++) {
    step<<<(n + 63) / 64, 64, 64 * sizeof(float4)>>>(a, b, v, n, 0.1f);
    float4 *t = a;
    a = b;
    b = t;
  }
  OK(cudaEventRecord(stop));
  OK(cudaEventSynchronize(stop));
  float ms = -1;
  OK(cudaEventElapsedTime(&ms, start, stop));
  CHECK(ms >= 0);
  std::vector<float3> speed(n);
  OK(cudaMemcpy(speed.data(), v, n * sizeof *v, cudaMemcpyDeviceToHost));
  double x = 0, y = 0, z = 0, most = 0;
  for (auto &s : speed) {
    x += s.x;
    y += s.y;
    z += s.z;
    most = std::fmax(most, std::fabs(s.x));
  }
  CHECK(std::fabs(x) < 1e-4 && std::fabs(y) < 1e-4 && std::fabs(z) < 1e-4 && most > 0.01);
  puts("momentum is kept");
  OK(cudaFree(a));
  OK(cudaFree(b));
  OK(cudaFree(v));
  OK(cudaEventDestroy(start));
  OK(cudaEventDestroy(stop));
}
