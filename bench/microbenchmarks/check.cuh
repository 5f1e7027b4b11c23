// The end of a measurement at the first CUDA call that fails, and where a thread runs. Define CHECK_ALLOWS
// before for an error that goes on, which is only printed.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#ifndef CHECK_ALLOWS
#define CHECK_ALLOWS cudaSuccess
#endif
static inline void check(cudaError_t e, const char *call, int line) {
  if (e == cudaSuccess) return;
  printf("FAIL %s line %d: %s\n", call, line, cudaGetErrorString(e));
  fflush(stdout);
  if (e != CHECK_ALLOWS) exit(1);
}
#define CK(x) check((x), #x, __LINE__)

// The SM that this thread runs on.
static __device__ __forceinline__ unsigned sm_of_this() {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  return sm;
}
