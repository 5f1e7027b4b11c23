// k-means: points with many features, one after the other in memory, one thread per point. `kmeans STEPS`
#include "check.h"

enum { POINTS = 1 << 20, FEATURES = 64, CENTRES = 16, CHUNKS = 1024 };

__global__ void generate(float *points, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned h = i * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  points[i] = (h & 0xffff) / 65536.0f + (i / FEATURES) % CENTRES * 0.1f;
}

__global__ void nearest(float *points, float *centres, int *member, int n) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= n) return;
  float least = 3.4e38f;
  int best = 0;
  for (int c = 0; c < CENTRES; c++) {
    float distance = 0;
    for (int f = 0; f < FEATURES; f++) {
      float d = points[p * FEATURES + f] - centres[c * FEATURES + f];
      distance += d * d;
    }
    if (distance < least) {
      least = distance;
      best = c;
    }
  }
  member[p] = best;
}

// A thread per feature; a CTA per centre and part of the points.
__global__ void sum_members(float *points, int *member, float *sums, int *counts, int n) {
  int centre = blockIdx.x, chunk = blockIdx.y, f = threadIdx.x, size = (n + CHUNKS - 1) / CHUNKS, count = 0;
  float sum = 0;
  for (int p = chunk * size; p < n && p < (chunk + 1) * size; p++)
    if (member[p] == centre) {
      sum += points[p * FEATURES + f];
      count++;
    }
  sums[(chunk * CENTRES + centre) * FEATURES + f] = sum;
  if (f == 0) counts[chunk * CENTRES + centre] = count;
}

__global__ void move_centres(float *sums, int *counts, float *centres) {
  int centre = blockIdx.x, f = threadIdx.x, count = 0;
  float sum = 0;
  for (int chunk = 0; chunk < CHUNKS; chunk++) {
    sum += sums[(chunk * CENTRES + centre) * FEATURES + f];
    count += counts[chunk * CENTRES + centre];
  }
  if (count) centres[centre * FEATURES + f] = sum / count;
}

int main(int argc, char **argv) {
  const int steps = steps_of(argc, argv, 100);
  float *points = device_array<float>((size_t)POINTS * FEATURES), *centres = device_array<float>(CENTRES * FEATURES);
  float *sums = device_array<float>(CHUNKS * CENTRES * FEATURES);
  int *member = device_array<int>(POINTS), *counts = device_array<int>(CHUNKS * CENTRES);
  generate<<<POINTS * FEATURES / 256, 256>>>(points, POINTS * FEATURES);
  CHECK(cudaMemcpy(centres, points, CENTRES * FEATURES * sizeof(float), cudaMemcpyDeviceToDevice));
  CHECK(cudaDeviceSynchronize());
  const double from = seconds();
  for (int k = 0; k < steps; k++) {
    nearest<<<POINTS / 256, 256>>>(points, centres, member, POINTS);
    sum_members<<<dim3(CENTRES, CHUNKS), FEATURES>>>(points, member, sums, counts, POINTS);
    move_centres<<<CENTRES, FEATURES>>>(sums, counts, centres);
  }
  tell_steps(from, steps);
  static float found[CENTRES * FEATURES];
  CHECK(cudaMemcpy(found, centres, sizeof found, cudaMemcpyDeviceToHost));
  printf("centres %016llx\n", digest(found, sizeof found));
  return 0;
}
