// Shapes of clusters that a launch cannot have.
// arch: -arch=sm_90
// check: none
// no clang: the shape of a kernel's clusters: it is not in the PTX
#include "check.h"

__global__ void plain(int *out) { *out = 1; }
__global__ void __cluster_dims__(2, 1, 1) pairs(int *out) { *out = 2; }

static cudaError_t launch(void (*kernel)(int *), dim3 grid, dim3 cluster, int *out) {
  cudaLaunchAttribute a;
  cudaLaunchConfig_t c = {};
  a.id = cudaLaunchAttributeClusterDimension;
  a.val.clusterDim = {cluster.x, cluster.y, cluster.z};
  c.gridDim = grid;
  c.blockDim = 32;
  c.attrs = &a;
  c.numAttrs = 1;
  cudaLaunchKernelEx(&c, kernel, out);
  return cudaGetLastError();
}

int main() {
  int *out, value;
  OK(cudaMalloc(&out, sizeof *out));
  EXPECT(launch(plain, 32, 16, out), cudaErrorInvalidClusterSize);
  EXPECT(launch(plain, 34, 17, out), cudaErrorInvalidClusterSize);
  EXPECT(launch(plain, dim3(8, 8), dim3(4, 4), out), cudaErrorInvalidClusterSize);
  EXPECT(launch(plain, 30, 4, out), cudaErrorInvalidClusterSize);
  EXPECT(launch(plain, dim3(4, 3), dim3(2, 2), out), cudaErrorInvalidClusterSize);
  EXPECT(launch(plain, 4, dim3(2, 0, 1), out), cudaErrorInvalidClusterSize);
  EXPECT(launch(pairs, 4, 4, out), cudaErrorInvalidClusterSize);
  EXPECT(cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 4), cudaErrorInvalidValue);
  pairs<<<3, 32>>>(out);
  EXPECT(cudaGetLastError(), cudaErrorInvalidClusterSize);
  OK(cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  OK(launch(plain, 32, 16, out));
  EXPECT(launch(plain, 34, 17, out), cudaErrorInvalidClusterSize);
  OK(launch(pairs, 4, 2, out));
  OK(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
  CHECK(value == 2);
  puts("cluster_shapes: ok");
}
