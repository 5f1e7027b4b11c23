// Host threads that hand work to each other: a producer that copies in, workers with streams, events between them.
#include "check.h"
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

__global__ void work(int *v, int n, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = v[i];
  for (int k = 0; k < rounds; k++) x = x * 1664525u + 1013904223u;
  v[i] = int(x >> 8);
}

struct job {
  int *device;
  cudaEvent_t loaded;
  int rounds;
};
static std::mutex lock;
static std::condition_variable more;
static std::deque<job> jobs;
static bool closed;
static long long total;

static void worker() {
  const int n = 500;
  cudaStream_t s;
  OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  std::vector<int> h(n);
  for (;;) {
    std::unique_lock<std::mutex> hold(lock);
    more.wait(hold, [] { return closed || !jobs.empty(); });
    if (jobs.empty()) break;
    job j = jobs.front();
    jobs.pop_front();
    hold.unlock();
    OK(cudaStreamWaitEvent(s, j.loaded, 0));
    work<<<4, 128, 0, s>>>(j.device, n, j.rounds);
    OK(cudaMemcpyAsync(h.data(), j.device, n * sizeof(int), cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaFree(j.device));
    OK(cudaEventDestroy(j.loaded));
    hold.lock();
    for (int v : h) total += v;
  }
  OK(cudaStreamDestroy(s));
}

int main() {
  const int n = 500;
  std::vector<std::thread> workers;
  for (int k = 0; k < 3; k++) workers.emplace_back(worker);
  cudaStream_t s;
  OK(cudaStreamCreate(&s));
  int *pinned;
  OK(cudaMallocHost(&pinned, 12 * n * sizeof *pinned));
  for (int k = 0; k < 12; k++) {
    job j = {nullptr, nullptr, k + 1};
    for (int i = 0; i < n; i++) pinned[k * n + i] = k * 1000 + i;
    OK(cudaMalloc(&j.device, n * sizeof(int)));
    OK(cudaEventCreateWithFlags(&j.loaded, cudaEventDisableTiming));
    OK(cudaMemcpyAsync(j.device, pinned + k * n, n * sizeof(int), cudaMemcpyHostToDevice, s));
    OK(cudaEventRecord(j.loaded, s));
    std::lock_guard<std::mutex> hold(lock);
    jobs.push_back(j);
    more.notify_one();
  }
  {
    std::lock_guard<std::mutex> hold(lock);
    closed = true;
    more.notify_all();
  }
  for (auto &w : workers) w.join();
  long long want = 0;
  for (int k = 0; k < 12; k++)
    for (int i = 0; i < n; i++) {
      unsigned x = k * 1000 + i;
      for (int r = 0; r <= k; r++) x = x * 1664525u + 1013904223u;
      want += int(x >> 8);
    }
  CHECK(total == want);
  printf("total %lld\n", total);
  OK(cudaFreeHost(pinned));
  OK(cudaStreamDestroy(s));
}
