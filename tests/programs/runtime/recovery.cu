// Faults of several kinds, each with its error, each in a process of its own, as GPUs want it; where a device can be reset
// after one, it works again.
// check: none
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void store(int *p, long long at) { p[at] = 1; }
__global__ void shifted(char *p) { *(int *)(p + 1) = 1; }
__global__ void trapped(int *p) {
  if (*p) asm("trap;");
}
// What kernels are called is no error of theirs.
__global__ void misaligned(int *p, long long at) { p[at] = 1; }
__global__ void assertion_that_is_not_emulated(int *p) {
  if (*p) asm("trap;");
}
__global__ void fine(int *p) { *p = 11; }

static void works() {
  int *p, h = 0;
  if (cudaMalloc(&p, 4) != cudaSuccess) return;
  fine<<<1, 1>>>(p);
  OK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
  CHECK(h == 11);
  OK(cudaFree(p));
}

static void beyond(int *p) { store<<<1, 1>>>(p, 1LL << 44); } // a GPU maps more than was asked for
static void between(int *p) { shifted<<<1, 1>>>((char *)p); }
static void trap(int *p) { trapped<<<1, 1>>>(p); }
static void beyond_by_name(int *p) { misaligned<<<1, 1>>>(p, 1LL << 44); }
static void trap_by_name(int *p) { assertion_that_is_not_emulated<<<1, 1>>>(p); }
static void host(int *p) {
  int reachable = 0;
  OK(cudaDeviceGetAttribute(&reachable, cudaDevAttrPageableMemoryAccess, 0));
  if (reachable)
    beyond(p);
  else
    store<<<1, 1>>>((int *)malloc(64), 0);
}

static void in_a_process(const char *name, void (*fault)(int *), cudaError_t want) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    int *p;
    OK(cudaMalloc(&p, 64));
    OK(cudaMemset(p, 1, 64));
    fault(p);
    const cudaError_t got = cudaDeviceSynchronize();
    printf("%s: %s\n", name, cudaGetErrorName(got));
    CHECK(got == want);
    CHECK(cudaMalloc(&p, 4) == want && cudaPeekAtLastError() == want);
    if (cudaDeviceReset() == cudaSuccess) {
      cudaGetLastError();
      works();
    }
    exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main() {
  in_a_process("beyond its memory", beyond, cudaErrorIllegalAddress);
  in_a_process("between two words", between, cudaErrorMisalignedAddress);
  in_a_process("a trap", trap, cudaErrorLaunchFailure);
  in_a_process("beyond its memory, in \"misaligned\"", beyond_by_name, cudaErrorIllegalAddress);
  in_a_process("a trap, in \"assertion_that_is_not_emulated\"", trap_by_name, cudaErrorLaunchFailure);
  in_a_process("the host's memory", host, cudaErrorIllegalAddress);
  works();
  puts("recovery: ok");
}
