// printf, malloc and free of the device; the order of what is printed.
// check: init,race,streams
#include "check.h"

__global__ void hello(int k) {
  printf("block %d thread %d: %d %5.2f %s %c%% %lld\n", blockIdx.x, threadIdx.x, k, k / 3.0, "text", 'x',
         1234567890123LL);
}

__global__ void lists(int *sums) {
  struct node {
    node *next;
    int v;
  } *head = nullptr;
  for (int i = 0; i <= threadIdx.x; i++) {
    node *n = (node *)malloc(sizeof *n);
    if (!n) return;
    n->next = head;
    n->v = i;
    head = n;
  }
  int s = 0;
  while (head) {
    node *n = head;
    s += n->v;
    head = n->next;
    free(n);
  }
  sums[threadIdx.x] = s;
}

int main() {
  setvbuf(stdout, nullptr, _IOLBF, 0);
  for (int k = 1; k <= 2; k++) {
    hello<<<1, 2>>>(k);
    OK(cudaDeviceSynchronize());
    printf("host %d\n", k);
  }
  int *d, h[32];
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  OK(cudaMalloc(&d, sizeof h));
  lists<<<1, 32>>>(d);
  OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
  for (int i = 0; i < 32; i++) CHECK(h[i] == i * (i + 1) / 2);
  puts("output: ok");
}
