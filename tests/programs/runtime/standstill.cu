// Kernels that wait for each other and for nobody else: that is a deadlock, also where they write while they wait.
// check: none
#include "check.h"

enum { LOAD, SWAP, STORE };
__global__ void wait_first(volatile int *mine, volatile int *theirs, int how) {
  if (how == LOAD)
    while (*theirs == 0) continue;
  if (how == SWAP)
    while (atomicCAS((int *)theirs, 1, 0) == 0) continue;
  if (how == STORE)
    while (*theirs == 0) mine[2] = 5;
  *mine = 1;
}

int main() {
  for (int how = LOAD; how <= STORE; how++) {
    cudaStream_t streams[2];
    int *words;
    OK(cudaMalloc(&words, 4 * sizeof *words));
    OK(cudaMemset(words, 0, 4 * sizeof *words));
    for (auto &s : streams) OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaDeviceSynchronize());
    for (int k = 0; k < 2; k++) wait_first<<<1, 1, 0, streams[k]>>>(words + k, words + !k, how);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchTimeout);
    CHECK(cudaDeviceReset() == cudaSuccess);
  }
  puts("standstill: ok");
}
