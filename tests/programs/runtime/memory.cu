// Memory of the runtime: pitched and 3D, copies of boxes, host memory mapped and registered, what a pointer is.
// check: init,race,streams
#include "check.h"
#include <vector>

__global__ void add_one(int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i]++;
}

static void boxes() {
  const size_t w = 40, h = 6, d = 5;
  cudaExtent extent = make_cudaExtent(w, h, d);
  cudaPitchedPtr dev;
  OK(cudaMalloc3D(&dev, extent));
  OK(cudaMemset3D(dev, 0x5A, extent));
  std::vector<unsigned char> in(w * h * d), out(w * h * d, 0);
  for (size_t i = 0; i < in.size(); i++) in[i] = (unsigned char)(i * 7);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(in.data(), w, w, h);
  p.dstPtr = dev;
  p.dstPos = make_cudaPos(2, 1, 1);
  p.extent = make_cudaExtent(w - 2, h - 1, d - 1);
  p.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&p));
  cudaMemcpy3DParms q = {};
  q.srcPtr = dev;
  q.dstPtr = make_cudaPitchedPtr(out.data(), w, w, h);
  q.extent = extent;
  q.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&q));
  for (size_t z = 0; z < d; z++)
    for (size_t y = 0; y < h; y++)
      for (size_t x = 0; x < w; x++) {
        bool inside = x >= 2 && y >= 1 && z >= 1;
        CHECK(out[x + w * (y + h * z)] == (inside ? in[x - 2 + w * (y - 1 + h * (z - 1))] : 0x5A));
      }
  OK(cudaFree(dev.ptr));
}

static void rows() {
  const size_t w = 33 * 4, h = 9;
  char *dev, host[h][200];
  size_t pitch;
  OK(cudaMallocPitch(&dev, &pitch, w, h));
  OK(cudaMemset2D(dev, pitch, 3, w, h));
  memset(host, 0, sizeof host);
  OK(cudaMemcpy2D(host, sizeof host[0], dev, pitch, w, h, cudaMemcpyDeviceToHost));
  for (size_t y = 0; y < h; y++)
    for (size_t x = 0; x < 200; x++) CHECK(host[y][x] == (x < w ? 3 : 0));
  OK(cudaFree(dev));
}

static void pointers() {
  const int n = 3000;
  int *mapped, *device, *plain = new int[n], *managed;
  cudaPointerAttributes a;
  OK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
  for (int i = 0; i < n; i++) mapped[i] = plain[i] = i;
  OK(cudaHostGetDevicePointer(&device, mapped, 0));
  add_one<<<(n + 63) / 64, 64>>>(device, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(mapped[i] == i + 1);
  OK(cudaPointerGetAttributes(&a, mapped + 5));
  CHECK(a.type == cudaMemoryTypeHost && a.hostPointer == mapped + 5);
  OK(cudaPointerGetAttributes(&a, plain));
  CHECK(a.type == cudaMemoryTypeUnregistered);
  OK(cudaHostRegister(plain, n * sizeof(int), cudaHostRegisterMapped));
  OK(cudaHostGetDevicePointer(&device, plain, 0));
  add_one<<<(n + 63) / 64, 64>>>(device, n);
  OK(cudaDeviceSynchronize());
  plain[7] = 70;
  add_one<<<(n + 63) / 64, 64>>>(device, n);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < n; i++) CHECK(plain[i] == (i == 7 ? 71 : i + 2));
  OK(cudaHostUnregister(plain));
  for (int i = 0; i < n; i++) CHECK(plain[i] == (i == 7 ? 71 : i + 2));
  OK(cudaMallocManaged(&managed, n * sizeof(int)));
  OK(cudaPointerGetAttributes(&a, managed));
  CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == managed);
  OK(cudaFree(managed));
  OK(cudaMalloc(&device, 100));
  OK(cudaPointerGetAttributes(&a, device));
  CHECK(a.type == cudaMemoryTypeDevice && a.device == 0);
  OK(cudaFree(device));
  OK(cudaFree(nullptr));
  OK(cudaFreeHost(mapped));
  delete[] plain;
}

// What an allocation takes is gone. Other programs on a GPU come and go between two questions.
static bool is_missed(size_t bytes) {
  size_t left, total, after;
  void *p;
  OK(cudaMemGetInfo(&left, &total));
  OK(cudaMalloc(&p, bytes)); // a GPU gives some of it out of what it has mapped
  OK(cudaMemGetInfo(&after, &total));
  OK(cudaFree(p));
  return left > after && left - after >= bytes / 2;
}

int main() {
  int tries = 0;
  boxes();
  rows();
  pointers();
  while (!is_missed(size_t(1) << 30)) CHECK(++tries < 50);
  void *p;
  OK(cudaMalloc(&p, 1 << 20));
  puts("memory: ok"); // what is not freed is no error
}
