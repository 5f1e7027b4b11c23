// Exclusive prefix sums of an array in three launches: scan_tiles does tiles of 1024 numbers, one CTA of 256
// threads each, scan_totals the tiles' totals in one CTA, scan_add adds what is before a tile to it. A tile's
// CTAs in the first and the last launch touch the same memory; within a launch nothing is shared.
#define THREADS 256
#define TILE (4 * THREADS)

// The sum of the values of all threads before this one; *total: of all threads of the CTA.
static __device__ unsigned scan_cta(unsigned value, unsigned *total) {
  __shared__ unsigned warp_sum[THREADS / 32];
  unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = value;
  for (unsigned offset = 1; offset < 32; offset *= 2) {
    unsigned before = __shfl_up_sync(0xffffffffu, sum, offset);
    if (lane >= offset) sum += before;
  }
  if (lane == 31) warp_sum[warp] = sum;
  __syncthreads();
  unsigned start = 0, all = 0;
  for (unsigned w = 0; w < THREADS / 32; w++) {
    if (w == warp) start = all;
    all += warp_sum[w];
  }
  __syncthreads(); // warp_sum may be written again
  *total = all;
  return start + sum - value;
}

// in and out have room for whole tiles.
extern "C" __global__ void scan_tiles(const uint4 *in, uint4 *out, unsigned *totals) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  uint4 v = in[i];
  unsigned total, start = scan_cta(v.x + v.y + v.z + v.w, &total);
  out[i] = make_uint4(start, start + v.x, start + v.x + v.y, start + v.x + v.y + v.z);
  if (threadIdx.x == 0) totals[blockIdx.x] = total;
}

extern "C" __global__ void scan_totals(unsigned *totals, int n) {
  unsigned before = 0;
  for (int first = 0; first < n; first += THREADS) {
    int i = first + threadIdx.x;
    unsigned total, start = scan_cta(i < n ? totals[i] : 0, &total);
    if (i < n) totals[i] = before + start;
    before += total;
  }
}

extern "C" __global__ void scan_add(uint4 *out, const unsigned *totals) {
  int i = blockIdx.x * THREADS + threadIdx.x;
  unsigned before = totals[blockIdx.x];
  uint4 v = out[i];
  out[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
}
