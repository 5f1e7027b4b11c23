// Threads that work together.
#include <cstdint>

extern "C" __global__ void warp_sum(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) out[i / 32] = v;
}

extern "C" __global__ void block_sum(const float *in, float *out, int n) {
  __shared__ float part[32];
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = threadIdx.x < (blockDim.x + 31) / 32 ? part[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x == 0) out[blockIdx.x] = v;
  }
}

extern "C" __global__ void histogram(const uint8_t *in, unsigned *bins, int n) {
  __shared__ unsigned mine[256];
  for (int b = threadIdx.x; b < 256; b += blockDim.x) mine[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[in[i]], 1);
  __syncthreads();
  for (int b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&bins[b], mine[b]);
}

// Every thread takes the same lock; threads of one warp wait for each other.
extern "C" __global__ void locked(int *lock, int *count) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *(volatile int *)count = *(volatile int *)count + 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

// The last block to finish adds up what all blocks left.
__device__ unsigned finished;
extern "C" __global__ void last_block(const int *in, int *part, int *total) {
  __shared__ bool last;
  atomicAdd(&part[blockIdx.x], in[blockIdx.x * blockDim.x + threadIdx.x]);
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(&finished, 1) == gridDim.x - 1;
  __syncthreads();
  if (last && threadIdx.x == 0) {
    int sum = 0;
    for (unsigned b = 0; b < gridDim.x; b++) sum += ((volatile int *)part)[b];
    *total = sum;
    finished = 0;
  }
}

// Blocks hand a token on: block b waits for block b - 1.
extern "C" __global__ void chain(volatile int *token, int *order) {
  if (threadIdx.x == 0) {
    while (*token != (int)blockIdx.x) {}
    order[blockIdx.x] = *token * 2;
    __threadfence();
    *token = blockIdx.x + 1;
  }
}

extern "C" __global__ void votes(const int *in, unsigned *out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = in[i];
  unsigned m = __ballot_sync(0xffffffff, v & 1);
  if (v & 1) out[i] = __popc(m & ((1u << (threadIdx.x % 32)) - 1)); // this thread's rank among the odd ones
  else out[i] = __match_any_sync(~m, v);
  unsigned n = __syncthreads_count(v > 50);
  if (__syncthreads_or(v == 99)) n += 1000;
  if (__syncthreads_and(v >= 0)) n += 2000;
  out[i] += n << 16;
}

// A block of producers and consumers over named barriers.
extern "C" __global__ void pipeline(const int *in, int *out, int n) {
  __shared__ int box[32];
  int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < n; i += 32) {
      asm volatile("bar.sync 1, 64;" ::: "memory"); // the box is empty
      box[lane] = in[i + lane] * 3;
      asm volatile("bar.arrive 2, 64;" ::: "memory"); // the box is full
    }
  } else {
    for (int i = 0; i < n; i += 32) {
      asm volatile("bar.arrive 1, 64;" ::: "memory");
      asm volatile("bar.sync 2, 64;" ::: "memory");
      out[i + lane] = box[31 - lane] + 1;
    }
  }
}
