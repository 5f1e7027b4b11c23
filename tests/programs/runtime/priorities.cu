// Streams: their flags, priorities and numbers, callbacks in order, waits in every direction, the default stream's rules.
#include "check.h"
#include <vector>

__global__ void append(int *list, int *n, int v) { list[(*n)++] = v; }

static std::vector<int> called;
static void CUDART_CB note(void *data) { called.push_back(int(size_t(data))); }

int main() {
  int *list, *n, h[16], count, least, greatest, p;
  unsigned flags;
  unsigned long long id, other;
  OK(cudaMalloc(&list, sizeof h));
  OK(cudaMalloc(&n, sizeof *n));
  OK(cudaMemset(n, 0, sizeof *n));
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t high, low, blocking;
  OK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
  OK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
  OK(cudaStreamCreate(&blocking));
  OK(cudaStreamGetPriority(high, &p));
  CHECK(p == greatest);
  OK(cudaStreamGetFlags(low, &flags));
  CHECK(flags == cudaStreamNonBlocking);
  OK(cudaStreamGetId(high, &id));
  OK(cudaStreamGetId(low, &other));
  CHECK(id != other);
  OK(cudaDeviceSynchronize());
  cudaEvent_t a, b;
  OK(cudaEventCreateWithFlags(&a, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
  OK(cudaStreamWaitEvent(low, a, 0)); /* never recorded: no wait */
  append<<<1, 1, 0, low>>>(list, n, 1);
  OK(cudaLaunchHostFunc(low, note, (void *)1));
  OK(cudaEventRecord(a, low));
  OK(cudaStreamWaitEvent(high, a, 0));
  append<<<1, 1, 0, high>>>(list, n, 2);
  OK(cudaLaunchHostFunc(high, note, (void *)2));
  OK(cudaEventRecord(b, high));
  OK(cudaEventRecord(a, low)); /* moved on: those who waited keep what they waited for */
  OK(cudaStreamWaitEvent(blocking, b, 0));
  append<<<1, 1, 0, blocking>>>(list, n, 3);
  OK(cudaLaunchHostFunc(blocking, note, (void *)3));
  append<<<1, 1>>>(list, n, 4); /* behind `blocking` */
  OK(cudaLaunchHostFunc(0, note, (void *)4));
  append<<<1, 1, 0, blocking>>>(list, n, 5); /* behind the default stream */
  OK(cudaStreamSynchronize(blocking));
  OK(cudaEventQuery(b));
  OK(cudaMemcpy(&count, n, sizeof count, cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(h, list, 5 * sizeof *h, cudaMemcpyDeviceToHost));
  CHECK(count == 5);
  for (int i = 0; i < 5; i++) CHECK(h[i] == i + 1);
  CHECK(called == (std::vector<int>{1, 2, 3, 4}));
  append<<<1, 1, 0, cudaStreamPerThread>>>(list, n, 6);
  append<<<1, 1, 0, cudaStreamLegacy>>>(list, n, 7);
  OK(cudaDeviceSynchronize());
  OK(cudaMemcpy(h, list, 7 * sizeof *h, cudaMemcpyDeviceToHost));
  CHECK(h[5] == 6 && h[6] == 7);
  for (cudaStream_t s : {high, low, blocking}) OK(cudaStreamDestroy(s));
  OK(cudaEventDestroy(a));
  OK(cudaEventDestroy(b));
  OK(cudaFree(list));
  OK(cudaFree(n));
  puts("priorities: ok");
}
