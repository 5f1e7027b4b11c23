// Barriers in shared memory and bulk copies, by way of the CUDA C++ library.
#include <cuda/barrier>
#include <cuda/ptx>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;

// Tiles of 256 floats come through two stages; every thread adds up its column.
extern "C" __global__ void tma_sum(const float *in, float *out, int tiles) {
  __shared__ alignas(128) float buf[2][256];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier full[2];
  if (threadIdx.x == 0) {
    init(&full[0], blockDim.x);
    init(&full[1], blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token tok[2];
  float s = 0;
  auto issue = [&](int t) {
    int k = t & 1;
    if (threadIdx.x == 0) {
      cde::cp_async_bulk_global_to_shared(buf[k], in + t * 256, sizeof(buf[k]), full[k]);
      tok[k] = cuda::device::barrier_arrive_tx(full[k], 1, sizeof(buf[k]));
    } else
      tok[k] = full[k].arrive();
  };
  if (tiles > 0) issue(0);
  for (int t = 0; t < tiles; t++) {
    if (t + 1 < tiles) issue(t + 1);
    full[t & 1].wait(std::move(tok[t & 1]));
    s += buf[t & 1][threadIdx.x];
    __syncthreads();
  }
  buf[0][threadIdx.x] = s;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_shared_to_global(out, buf[0], 1024);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}

// Threads that exchange through shared memory, with a barrier before and behind.
extern "C" __global__ void bar_sum(const int *in, int *out, int n) {
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier b;
  __shared__ int acc[128];
  if (threadIdx.x == 0) init(&b, blockDim.x);
  __syncthreads();
  int s = 0;
  for (int i = 0; i < n; i++) {
    acc[threadIdx.x] = in[i * 128 + threadIdx.x];
    b.arrive_and_wait();
    s += acc[(threadIdx.x + i) % 128];
    b.arrive_and_wait();
  }
  out[threadIdx.x] = s;
  b.arrive_and_drop();
}
