// Small types: half, bfloat16, packed bytes, tensor cores through wmma.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

__global__ void halves(const float *in, float *out, int n) {
  int i = threadIdx.x;
  if (2 * i + 1 >= n) return;
  __half2 h = __floats2half2_rn(in[2 * i], in[2 * i + 1]);
  h = __hfma2(h, __float2half2_rn(2), __float2half2_rn(0.5f));
  out[2 * i] = __low2float(h);
  out[2 * i + 1] = __high2float(h);
}
__global__ void brains(const float *in, float *out) {
  __nv_bfloat16 b = __float2bfloat16(in[threadIdx.x]);
  out[threadIdx.x] = __bfloat162float(__hadd(b, __float2bfloat16(1)));
}
__global__ void dots(const int *a, const int *b, int *out) {
  out[threadIdx.x] = __dp4a(a[threadIdx.x], b[threadIdx.x], 1000);
}
__global__ void multiply(const __half *a, const __half *b, float *c) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.0f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  wmma::mma_sync(fc, fa, fb, fc);
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

int main() {
  float *in, *out;
  int *a, *b, *c;
  __half *ha, *hb;
  OK(cudaMallocManaged(&in, 256 * 4));
  OK(cudaMallocManaged(&out, 256 * 4));
  OK(cudaMallocManaged(&a, 32 * 4));
  OK(cudaMallocManaged(&b, 32 * 4));
  OK(cudaMallocManaged(&c, 32 * 4));
  OK(cudaMallocManaged(&ha, 256 * 2));
  OK(cudaMallocManaged(&hb, 256 * 2));
  for (int i = 0; i < 64; i++) in[i] = float(i) / 4;
  halves<<<1, 32>>>(in, out, 64);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) CHECK(out[i] == 2 * in[i] + 0.5f);
  brains<<<1, 64>>>(in, out);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; i++) CHECK(out[i] == in[i] + 1);
  for (int i = 0; i < 32; i++) {
    a[i] = 0x01FF0203 + i;
    b[i] = 0x04050607;
  }
  dots<<<1, 32>>>(a, b, c);
  OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; i++) {
    int want = 1000;
    for (int k = 0; k < 4; k++) want += (signed char)(a[i] >> 8 * k) * (signed char)(b[i] >> 8 * k);
    CHECK(c[i] == want);
  }
  for (int i = 0; i < 256; i++) {
    ha[i] = __float2half(float(i % 5 - 2));
    hb[i] = __float2half(float(i % 3));
  }
  multiply<<<1, 32>>>(ha, hb, out);
  OK(cudaDeviceSynchronize());
  float trace = 0;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      float want = 1;
      for (int k = 0; k < 16; k++) want += float((i * 16 + k) % 5 - 2) * float((j * 16 + k) % 3);
      CHECK(out[i * 16 + j] == want);
      if (i == j) trace += want;
    }
  printf("trace %g\n", trace);
  for (void *p : {(void *)in, (void *)out, (void *)a, (void *)b, (void *)c, (void *)ha, (void *)hb}) OK(cudaFree(p));
}
