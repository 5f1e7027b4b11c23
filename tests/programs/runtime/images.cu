// Built for sm_90 and for sm_90a, the plain one first: a GPU takes the second.
// arch: -gencode arch=compute_90,code=[sm_90,compute_90] -gencode arch=compute_90a,code=[sm_90a,compute_90a] -gencode arch=compute_100f,code=compute_100f
#include "check.h"

__global__ void which(int *out) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  int code = 2;
#elif defined(__CUDA_ARCH_FAMILY_SPECIFIC__)
  int code = 3;
#else
  int code = 1;
#endif
  atomicAdd(out + blockIdx.x, code);
}

int main() {
  int *out, sum = 0;
  OK(cudaMallocManaged(&out, 64 * sizeof *out));
  memset(out, 0, 64 * sizeof *out);
  for (int k = 0; k < 3; k++) which<<<64, 1>>>(out);
  OK(cudaDeviceSynchronize());
  for (int k = 0; k < 64; k++) sum += out[k];
  printf("each adds %d\n", sum / (3 * 64));
  OK(cudaFree(out));
  return 0;
}
