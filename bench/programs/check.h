// Shared by the programs of this folder: errors end the program, and the time of a part of it goes to
// standard error.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                          \
  do {                                                                                                       \
    cudaError_t error_ = (call);                                                                             \
    if (error_ != cudaSuccess) {                                                                             \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(error_));             \
      exit(1);                                                                                               \
    }                                                                                                        \
  } while (0)

static inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename T> static T *device_array(size_t n) {
  T *p;
  CHECK(cudaMalloc(&p, n * sizeof(T)));
  return p;
}

// A sum that depends on every byte and its place.
static inline unsigned long long digest(const void *data, size_t bytes) {
  const unsigned char *p = (const unsigned char *)data;
  unsigned long long h = 1469598103934665603ull;
  for (size_t k = 0; k < bytes; k++) h = (h ^ p[k]) * 1099511628211ull;
  return h;
}

// The number of steps: the first argument.
static inline int steps_of(int argc, char **argv, int usual) { return argc > 1 ? atoi(argv[1]) : usual; }

static inline void tell_steps(double from, int steps) {
  CHECK(cudaDeviceSynchronize());
  fprintf(stderr, "%.9f s per step\n", (seconds() - from) / steps);
}
