// Managed memory: lists that the host builds and the device walks, hints, prefetching, streams that memory belongs to.
#include "check.h"
#include <new>

struct managed {
  static void *operator new(size_t n) {
    void *p;
    if (cudaMallocManaged(&p, n) != cudaSuccess) throw std::bad_alloc();
    return p;
  }
  static void operator delete(void *p) { cudaFree(p); }
};
struct node : managed {
  int value;
  node *next;
};
struct text : managed {
  char at[32];
};

__global__ void walk(node *n, int *sum) {
  for (*sum = 0; n; n = n->next) *sum += n->value++;
}
__global__ void shout(text *t) {
  char &c = t->at[threadIdx.x];
  if (c >= 'a' && c <= 'z') c -= 32;
}

int main() {
  node *head = nullptr;
  for (int i = 1; i <= 20; i++) {
    node *n = new node;
    n->value = i;
    n->next = head;
    head = n;
  }
  int *sum;
  OK(cudaMallocManaged(&sum, sizeof *sum));
  walk<<<1, 1>>>(head, sum);
  OK(cudaDeviceSynchronize());
  CHECK(*sum == 210 && head->value == 21);
  walk<<<1, 1>>>(head, sum);
  OK(cudaDeviceSynchronize());
  CHECK(*sum == 230);
  while (head) {
    node *n = head->next;
    delete head;
    head = n;
  }
  text *t = new text;
  strcpy(t->at, "managed memory");
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamAttachMemAsync(s, t, 0, cudaMemAttachSingle));
  OK(cudaStreamSynchronize(s));
  cudaMemLocation device = {}, host = {};
  device.type = cudaMemLocationTypeDevice;
  host.type = cudaMemLocationTypeHost;
#if CUDART_VERSION >= 13000
  OK(cudaMemAdvise(t, sizeof *t, cudaMemAdviseSetPreferredLocation, device));
  OK(cudaMemPrefetchAsync(t, sizeof *t, device, 0, s));
#endif
  shout<<<1, 32, 0, s>>>(t);
#if CUDART_VERSION >= 13000
  OK(cudaMemPrefetchAsync(t, sizeof *t, host, 0, s));
#endif
  OK(cudaStreamSynchronize(s));
  puts(t->at);
  cudaPointerAttributes a;
  OK(cudaPointerGetAttributes(&a, t));
  CHECK(a.type == cudaMemoryTypeManaged && a.devicePointer == t && a.hostPointer == t);
  delete t;
  OK(cudaFree(sum));
  OK(cudaStreamDestroy(s));
}
