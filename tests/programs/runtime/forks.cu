// Processes: children that are forked before CUDA is used, each with a device of its own; and what a later child gets.
// check: init,race,streams
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void power(int *v, int base, int n) {
  int p = 1;
  for (int i = 0; i < n; i++) p *= base;
  *v = p;
}

static int run(int base, int n) {
  int *d, h;
  OK(cudaMalloc(&d, sizeof *d));
  power<<<1, 1>>>(d, base, n);
  OK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost));
  OK(cudaFree(d));
  return h;
}

int main() {
  pid_t children[3];
  for (int k = 0; k < 3; k++) {
    children[k] = fork();
    if (!children[k]) _exit(run(k + 1, 4));
  }
  int sum = 0;
  for (pid_t c : children) {
    int status;
    CHECK(waitpid(c, &status, 0) == c && WIFEXITED(status));
    sum += WEXITSTATUS(status);
  }
  printf("children: %d, parent: %d\n", sum, run(5, 3));
  fflush(stdout);
  pid_t late = fork(); /* the parent's context is of no use to it */
  if (!late) {
    int *d;
    cudaError_t e = cudaMalloc(&d, 4);
    _exit(e == cudaErrorInitializationError ? 9 : int(e));
  }
  int status;
  CHECK(waitpid(late, &status, 0) == late && WIFEXITED(status));
  printf("late child: %d\n", WEXITSTATUS(status));
}
