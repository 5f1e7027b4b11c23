// Kernels without communication between threads.
#include <cstdint>

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void collatz(const uint32_t *start, uint32_t *steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint64_t x = start[i];
  uint32_t k = 0;
  while (x != 1) {
    x = x & 1 ? 3 * x + 1 : x / 2;
    k++;
  }
  steps[i] = k;
}

// Dense cases make a branch table.
extern "C" __global__ void classify(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int x = in[i], r;
  switch (x) {
  case 0: r = 17; break;
  case 1: r = x * 31 + 5; break;
  case 2: r = out[i] + 3; break;
  case 3: r = -x; break;
  case 4: r = x << 7; break;
  case 5: r = in[(i + 1) % n]; break;
  case 6: r = x ^ 0x55; break;
  case 7: r = in[(i * 7) % n] - 4; break;
  default: r = -1; break;
  }
  out[i] = r;
}

// A local array indexed at run time.
extern "C" __global__ void local_sort(uint16_t *data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint16_t v[24];
  for (int k = 0; k < 24; k++) v[k] = data[i * 24 + k];
#pragma unroll 1
  for (int k = 1; k < 24; k++) {
    uint16_t x = v[k];
    int j = k - 1;
#pragma unroll 1
    for (; j >= 0 && v[j] > x; j--) v[j + 1] = v[j];
    v[j + 1] = x;
  }
  for (int k = 0; k < 24; k++) data[i * 24 + k] = v[k];
}

struct item {
  uint8_t tag;
  double weight;
  int16_t list[5];
};
extern "C" __global__ void weigh(item a, const item *table, double *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const item *p = i % 3 == 0 ? &a : &table[i];
  double sum = p->weight * p->tag;
  for (int k = 0; k < 5; k++) sum += p->list[(k + i) % 5] * (k + 1);
  out[i] = sum;
}
