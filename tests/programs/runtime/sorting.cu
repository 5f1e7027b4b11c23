// Algorithms of the libraries that come with the compiler: sorting, scans and reductions by thrust and by cub.
#include "check.h"
#include <algorithm>
#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <vector>

__global__ void sort_block(int *v) {
  typedef cub::BlockRadixSort<int, 64, 4> sorter;
  __shared__ typename sorter::TempStorage temp;
  int mine[4];
  for (int k = 0; k < 4; k++) mine[k] = v[threadIdx.x * 4 + k];
  sorter(temp).Sort(mine);
  for (int k = 0; k < 4; k++) v[threadIdx.x * 4 + k] = mine[k];
}

int main() {
  const int n = 3000;
  std::vector<int> h(n);
  for (int i = 0; i < n; i++) h[i] = int(i * 2654435761u >> 12) % 5000;
  thrust::device_vector<int> v(h), w(n);
  thrust::sort(v.begin(), v.end());
  thrust::inclusive_scan(v.begin(), v.end(), w.begin());
  const int sum = thrust::reduce(v.begin(), v.end()), last = w.back();
  thrust::transform(v.begin(), v.end(), w.begin(), w.begin(), thrust::minus<int>());
  std::sort(h.begin(), h.end());
  for (int i = 0; i < n; i++) CHECK(h[i] == v[i]);
  CHECK(sum == last);
  size_t bytes = 0;
  void *temp;
  int *most, got;
  OK(cudaMalloc(&most, sizeof *most));
  OK(cub::DeviceReduce::Max(nullptr, bytes, v.begin(), most, n));
  OK(cudaMalloc(&temp, bytes + 1));
  OK(cub::DeviceReduce::Max(temp, bytes, v.begin(), most, n));
  OK(cudaMemcpy(&got, most, sizeof got, cudaMemcpyDeviceToHost));
  CHECK(got == h[n - 1]);
  thrust::device_vector<int> x(256);
  for (int i = 0; i < 256; i++) x[i] = i * 37 % 256;
  sort_block<<<1, 64>>>(thrust::raw_pointer_cast(x.data()));
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 256; i++) CHECK(x[i] == i);
  printf("sum %d, greatest %d\n", sum, got);
  OK(cudaFree(most));
  OK(cudaFree(temp));
}
