// Kernels that wait while they run: for the host, for kernels and copies of other streams.
// check: init,race
#include "check.h"
#include <atomic>
#include <chrono>
#include <thread>

__global__ void wait_for(volatile int *flag, int value, int *out) {
  while (*flag != value) continue;
  *out = value;
}
__global__ void wait_politely(const int *flag, long long *ticks) {
  long long start = clock64();
  while (atomicAdd((int *)flag, 0) == 0) __nanosleep(100);
  *ticks = clock64() - start;
}
__global__ void answer(volatile int *ask, volatile int *reply, int rounds) {
  for (int k = 1; k <= rounds; k++) {
    while (*ask < k) continue;
    *reply = 10 * k;
    __threadfence_system();
  }
}
// Writes and waits in turns with another such kernel: by stores, or by atomics alone.
__global__ void take_turns(volatile int *mine, volatile int *theirs, int rounds, bool atomics) {
  for (int k = 1; k <= rounds; k++) {
    if (atomics)
      atomicExch((int *)mine, k);
    else
      *mine = k;
    __threadfence();
    while (atomics ? atomicAdd((int *)theirs, 0) < k : *theirs < k) continue;
  }
}
__global__ void set(volatile int *flag, int value) { *flag = value; }

static int *shared() {
  int *p;
  OK(cudaMallocManaged(&p, 64 * sizeof *p));
  memset(p, 0, 64 * sizeof *p);
  return p;
}

// The host writes after the launch, and work behind the kernel follows by itself.
static void host_writes_later() {
  int *flag = shared(), *out = shared(), copy = 0;
  wait_for<<<1, 1>>>(flag, 7, out);
  set<<<1, 1>>>(out + 1, 8);
  OK(cudaGetLastError());
  *(volatile int *)flag = 7;
  OK(cudaMemcpy(&copy, out + 1, sizeof copy, cudaMemcpyDefault));
  CHECK(out[0] == 7 && copy == 8);
}

// The host polls memory, and makes no call.
static void host_and_kernel_in_turns() {
  volatile int *words;
  OK(cudaHostAlloc((void **)&words, 2 * sizeof *words, cudaHostAllocMapped));
  words[0] = words[1] = 0;
  answer<<<1, 1>>>(&words[0], &words[1], 5);
  for (int k = 1; k <= 5; k++) {
    words[0] = k;
    while (words[1] != 10 * k) std::this_thread::yield();
  }
  OK(cudaDeviceSynchronize());
  OK(cudaFreeHost((void *)words));
}

// The writer is in another stream: a kernel, a copy, a fill.
static void other_streams_write() {
  cudaStream_t waiter, writer;
  int *flag, *out, one = 1;
  OK(cudaStreamCreateWithFlags(&waiter, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&writer, cudaStreamNonBlocking));
  OK(cudaMalloc(&flag, sizeof *flag));
  OK(cudaMalloc(&out, sizeof *out));
  for (int how = 0; how < 3; how++) {
    int got = 0, value = how == 2 ? 0x01010101 : 1;
    OK(cudaMemset(flag, 0, sizeof *flag));
    OK(cudaDeviceSynchronize());
    wait_for<<<1, 32, 0, waiter>>>(flag, value, out);
    CHECK(cudaStreamQuery(waiter) == cudaErrorNotReady);
    if (how == 0) set<<<1, 1, 0, writer>>>(flag, 1);
    if (how == 1) OK(cudaMemcpyAsync(flag, &one, sizeof one, cudaMemcpyHostToDevice, writer));
    if (how == 2) OK(cudaMemsetAsync(flag, 1, sizeof *flag, writer));
    OK(cudaStreamSynchronize(waiter));
    OK(cudaMemcpy(&got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == value);
  }
}

// Two kernels that wait for each other, and nobody else: each of them looks again whenever the other one has written.
static void kernels_in_turns() {
  cudaStream_t stream[2];
  int *words, got[2];
  OK(cudaMalloc(&words, 2 * sizeof *words));
  for (auto &s : stream) OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  for (int atomics = 0; atomics < 2; atomics++) {
    OK(cudaMemset(words, 0, 2 * sizeof *words));
    OK(cudaDeviceSynchronize());
    take_turns<<<1, 1, 0, stream[0]>>>(words, words + 1, 20, atomics);
    take_turns<<<1, 1, 0, stream[1]>>>(words + 1, words, 20, atomics);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got[0] == 20 && got[1] == 20);
  }
}

// Another thread of the host writes while this one is inside a call.
static void another_thread_writes() {
  int *flag = shared();
  long long *ticks;
  OK(cudaMallocManaged(&ticks, sizeof *ticks));
  std::thread writer([=] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    *(volatile int *)flag = 1;
  });
  wait_politely<<<1, 1>>>(flag, ticks);
  OK(cudaDeviceSynchronize());
  writer.join();
  CHECK(*ticks > 0);
}

int main() {
  host_writes_later();
  host_and_kernel_in_turns();
  other_streams_write();
  kernels_in_turns();
  another_thread_writes();
  puts("waiting: ok");
}
