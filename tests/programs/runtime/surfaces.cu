// Surfaces of one, two and three dimensions and of layers: reads, writes, what happens at the border.
#include "check.h"
#include <vector>

__global__ void fill1(cudaSurfaceObject_t s, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  if (x < w) surf1Dwrite(x * x, s, x * 4);
}
__global__ void fill3(cudaSurfaceObject_t s) {
  int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  surf3Dwrite(make_float2(x + 10.0f * y, z), s, x * 8, y, z);
}
__global__ void blur(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int layer) {
  int x = threadIdx.x, y = threadIdx.y, sum = 0;
  for (int d = -1; d <= 1; d++)
    sum += surf2DLayeredread<int>(in, (x + d) * 4, y, layer, cudaBoundaryModeClamp);
  surf2DLayeredwrite(sum + surf2DLayeredread<int>(in, (x + 100) * 4, y, layer, cudaBoundaryModeZero), out, x * 4, y,
                     layer);
}

static cudaSurfaceObject_t surface(cudaArray_t a) {
  cudaResourceDesc r = {};
  cudaSurfaceObject_t s;
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  OK(cudaCreateSurfaceObject(&s, &r));
  return s;
}

int main() {
  const int w = 100, n = 8;
  cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>(), pairs = cudaCreateChannelDesc<float2>();
  cudaArray_t line, box, in, out;
  OK(cudaMalloc3DArray(&line, &ints, make_cudaExtent(w, 0, 0), cudaArraySurfaceLoadStore));
  OK(cudaMalloc3DArray(&box, &pairs, make_cudaExtent(4, 3, 2), cudaArraySurfaceLoadStore));
  OK(cudaMalloc3DArray(&in, &ints, make_cudaExtent(n, n, 2), cudaArrayLayered | cudaArraySurfaceLoadStore));
  OK(cudaMalloc3DArray(&out, &ints, make_cudaExtent(n, n, 2), cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaExtent extent;
  unsigned flags;
  OK(cudaArrayGetInfo(&ints, &extent, &flags, in));
  CHECK(extent.width == n && extent.depth == 2 && flags == (cudaArrayLayered | cudaArraySurfaceLoadStore));
  cudaSurfaceObject_t s = surface(line), t = surface(box), u = surface(in), v = surface(out);
  fill1<<<4, 32>>>(s, w);
  int got[w];
  OK(cudaMemcpy2DFromArray(got, sizeof got, line, 0, 0, sizeof got, 1, cudaMemcpyDeviceToHost));
  for (int i = 0; i < w; i++) CHECK(got[i] == i * i);
  fill3<<<1, dim3(4, 3, 2)>>>(t);
  float2 cells[24];
  cudaMemcpy3DParms p = {};
  p.srcArray = box;
  p.dstPtr = make_cudaPitchedPtr(cells, 4 * sizeof(float2), 4, 3);
  p.extent = make_cudaExtent(4, 3, 2);
  p.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&p));
  CHECK(cells[23].x == 23 && cells[23].y == 1 && cells[5].x == 11 && cells[5].y == 0);
  std::vector<int> image(n * n * 2), blurred(n * n * 2);
  for (int i = 0; i < n * n * 2; i++) image[i] = i % 13;
  cudaMemcpy3DParms load = {};
  load.srcPtr = make_cudaPitchedPtr(image.data(), n * 4, n, n);
  load.dstArray = in;
  load.extent = make_cudaExtent(n, n, 2);
  load.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&load));
  for (int layer = 0; layer < 2; layer++) blur<<<1, dim3(n, n)>>>(u, v, layer);
  cudaMemcpy3DParms store = {};
  store.srcArray = out;
  store.dstPtr = make_cudaPitchedPtr(blurred.data(), n * 4, n, n);
  store.extent = make_cudaExtent(n, n, 2);
  store.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&store));
  for (int i = 0; i < n * n * 2; i++) {
    const int x = i % n, left = x ? i - 1 : i, right = x < n - 1 ? i + 1 : i;
    CHECK(blurred[i] == image[left] + image[i] + image[right]);
  }
  for (cudaSurfaceObject_t o : {s, t, u, v}) OK(cudaDestroySurfaceObject(o));
  for (cudaArray_t a : {line, box, in, out}) OK(cudaFreeArray(a));
  puts("surfaces: ok");
}
