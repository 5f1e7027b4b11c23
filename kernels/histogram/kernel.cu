// 64-bin histogram of bytes (their upper six bits), in two kernels as in the CUDA SDK.
//
// histogram64: each thread of a CTA counts up to 240 bytes in byte-wide counters of its own, 64 threads by 64
// bins in 4096 bytes of shared memory; then thread b adds up bin b's 64 counters into the CTA's partial
// histogram. histogram64_merge, the one whose 8 warps and 1024 bytes CLU lists: one CTA per bin adds up that
// bin of all partial histograms. Neighbouring bins lie beside each other in memory, 32 bins a cache line:
// CTAs with neighbouring numbers read the same lines.
#define BINS 64
#define THREADS 64
#define MERGE_THREADS 256

// The counter of `thread` within a bin's 64 bytes: the four low bits of the thread's number choose the word
// and the two high ones its byte, so that 16 neighbouring threads count in 16 different banks.
static __device__ unsigned slot(unsigned thread) { return thread >> 4 | (thread & 15u) << 2; }

static __device__ void count_word(unsigned char *counters, unsigned word) {
  counters[(word >> 2 & 63) * THREADS]++;
  counters[(word >> 10 & 63) * THREADS]++;
  counters[(word >> 18 & 63) * THREADS]++;
  counters[(word >> 26 & 63) * THREADS]++;
}

// `data` holds `n` pieces of 16 bytes.
extern "C" __global__ void histogram64(const uint4 *data, unsigned *partial, int n) {
  __shared__ unsigned counters[BINS * THREADS / 4];
  for (int i = threadIdx.x; i < BINS * THREADS / 4; i += THREADS) counters[i] = 0;
  __syncthreads();
  unsigned char *own = (unsigned char *)counters + slot(threadIdx.x);
  for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS) {
    uint4 piece = data[i];
    count_word(own, piece.x);
    count_word(own, piece.y);
    count_word(own, piece.z);
    count_word(own, piece.w);
  }
  __syncthreads();
  // Each thread starts its walk over the 16 words of its bin at another one: different banks.
  unsigned sum = 0;
  for (int i = 0; i < THREADS / 4; i++) {
    unsigned word = counters[threadIdx.x * (THREADS / 4) + (threadIdx.x + i) % (THREADS / 4)];
    sum += (word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24);
  }
  partial[blockIdx.x * BINS + threadIdx.x] = sum;
}

extern "C" __global__ void histogram64_merge(const unsigned *partial, unsigned *histogram, int n) {
  __shared__ unsigned sums[MERGE_THREADS];
  unsigned sum = 0;
  for (int i = threadIdx.x; i < n; i += MERGE_THREADS) sum += partial[i * BINS + blockIdx.x];
  sums[threadIdx.x] = sum;
  for (int stride = MERGE_THREADS / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) histogram[blockIdx.x] = sums[0];
}
