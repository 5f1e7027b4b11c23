// Tensor maps of f32 that loads convert: subnormal numbers to zeros, others to tf32.
// arch: -arch=sm_90
#include "check.h"
#include <cuda.h>
#include <string.h>

enum { N = 64 };

__global__ void load(const __grid_constant__ CUtensorMap map, unsigned *out) {
  __shared__ alignas(128) unsigned s[N];
  __shared__ alignas(8) unsigned long long bar;
  unsigned to = (unsigned)__cvta_generic_to_shared(s), at = (unsigned)__cvta_generic_to_shared(&bar);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(at) : "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "n"(N * 4) : "memory");
    asm volatile("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {0}], [%2];" ::"r"(to),
                 "l"(&map), "r"(at)
                 : "memory");
  }
  __syncthreads();
  asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra L; }" ::"r"(at) : "memory");
  out[threadIdx.x] = s[threadIdx.x];
}

static unsigned expected(int type, unsigned v) {
  bool ftz = type == CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  bool tf32 = type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 || type == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;
  unsigned exponent = v >> 23 & 255;
  if (ftz && !exponent) v &= 0x80000000u;
  if (tf32) v = (exponent == 255 ? v : v + 0x1000) & ~0x1fffu;
  return v;
}

int main() {
  unsigned *in, *out;
  void *f = 0;
  cudaDriverEntryPointQueryResult found;
  OK(cudaMallocManaged(&in, N * 4));
  OK(cudaMallocManaged(&out, N * 4));
  OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found));
  auto encode = (decltype(&cuTensorMapEncodeTiled))f;
  static const unsigned exponents[] = {0, 1, 127, 254, 255, 256, 300, 511};
  static const unsigned mantissas[] = {0, 1, 0xfff, 0x1000, 0x1fff, 0x2fff, 0x7fe000, 0x7fffff};
  for (int k = 0; k < N; k++) in[k] = exponents[k / 8] << 23 | mantissas[k % 8];
  for (int type = 0; type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ; type++) {
    CUtensorMap map;
    cuuint64_t dims[1] = {N}, strides[1] = {16};
    cuuint32_t box[1] = {16}, steps[1] = {1};
    int r = encode(&map, (CUtensorMapDataType)type, 1, in, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                   CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("type %d: %d\n", type, r);
    if (r || (type != CU_TENSOR_MAP_DATA_TYPE_FLOAT32 && type < CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ)) continue;
    box[0] = N;
    CHECK(encode(&map, (CUtensorMapDataType)type, 1, in, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                 CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) == 0);
    load<<<1, N>>>(map, out);
    OK(cudaDeviceSynchronize());
    for (int k = 0; k < N; k++) CHECK(out[k] == expected(type, in[k]));
  }
  OK(cudaFree(in));
  OK(cudaFree(out));
  return 0;
}
