// Host memory that kernels use: pinned, mapped, registered; where its pages are, and what is wrong with them.
#include "check.h"
#include <sys/mman.h>
#include <vector>

__global__ void add(const int *a, const int *b, int *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 3000;
  int *a, *b, *c, *da, *db, *dc;
  OK(cudaHostAlloc(&a, n * sizeof *a, cudaHostAllocMapped | cudaHostAllocPortable));
  OK(cudaHostAlloc(&b, n * sizeof *b, cudaHostAllocWriteCombined | cudaHostAllocMapped));
  std::vector<int> own(n, -1);
  c = own.data();
  OK(cudaHostRegister(c, n * sizeof *c, cudaHostRegisterMapped));
  for (int i = 0; i < n; i++) {
    a[i] = i;
    b[i] = 2 * i;
  }
  OK(cudaHostGetDevicePointer(&da, a, 0));
  OK(cudaHostGetDevicePointer(&db, b, 0));
  OK(cudaHostGetDevicePointer(&dc, c, 0));
  add<<<(n + 127) / 128, 128>>>(da, db, dc, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(c[i] == 3 * i);
  unsigned flags;
  OK(cudaHostGetFlags(&flags, a));
  CHECK(flags & cudaHostAllocMapped);
  cudaPointerAttributes p;
  OK(cudaPointerGetAttributes(&p, a + 10));
  CHECK(p.type == cudaMemoryTypeHost && p.hostPointer == a + 10);
  OK(cudaPointerGetAttributes(&p, c));
  CHECK(p.type == cudaMemoryTypeHost && p.devicePointer == dc);
  OK(cudaPointerGetAttributes(&p, &flags));
  CHECK(p.type == cudaMemoryTypeUnregistered);
  OK(cudaHostUnregister(c));
  EXPECT(cudaHostUnregister(c), cudaErrorHostMemoryNotRegistered);
  cudaGetLastError();
  CHECK(own[n - 1] == 3 * (n - 1));
  /* Pages of a mapping of the program's own, written by a copy. */
  const size_t bytes = 5 * 4096;
  int *pages = (int *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int *device;
  OK(cudaMalloc(&device, bytes));
  OK(cudaMemset(device, 0x11, bytes));
  OK(cudaHostRegister(pages, bytes, cudaHostRegisterDefault));
  OK(cudaMemcpyAsync(pages, device, bytes, cudaMemcpyDeviceToHost));
  OK(cudaDeviceSynchronize());
  CHECK(pages[0] == 0x11111111 && pages[bytes / 4 - 1] == 0x11111111);
  OK(cudaHostUnregister(pages));
  munmap(pages, bytes);
  OK(cudaFree(device));
  OK(cudaFreeHost(a));
  OK(cudaFreeHost(b));
  puts("zero_copy: ok");
}
