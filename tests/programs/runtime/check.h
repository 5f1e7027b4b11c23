// Checks that end the program.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define EXPECT(call, want)                                                                                   \
  do {                                                                                                       \
    cudaError_t got_ = (call);                                                                               \
    if (got_ != (want)) {                                                                                    \
      printf("%s:%d: %s gives %s, not %s\n", __FILE__, __LINE__, #call, cudaGetErrorName(got_),              \
             cudaGetErrorName(want));                                                                        \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)
#define OK(call) EXPECT(call, cudaSuccess)
#define CHECK(condition)                                                                                     \
  do {                                                                                                       \
    if (!(condition)) {                                                                                      \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                         \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)
