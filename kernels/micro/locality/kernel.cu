// Do CTAs that run on the same SM find each other's data in its L1 cache? CLU's microbenchmark (listing 3):
// CTAs of one warp read one number of the SM that they run on, and its first thread notes the SM and the
// clock cycles that the read took. In locality_temporal all CTAs of a turn read at once: those of later turns
// hit what earlier ones brought. In locality_spatial each waits `delay` cycles longer than the one before:
// those that run beside it hit, too.
//
// The barriers keep the read between the two readings of the clock. The value read is stored, so that the
// compiler keeps the read. Kernels that ask for the SM and the time cannot be reordered.
static __device__ unsigned sm() {
  unsigned id;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
  return id;
}

static __device__ unsigned cycles() {
  unsigned now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
  return now;
}

static __device__ void time_read(const float *input, float *seen, int *sms, int *ticks, float add) {
  unsigned own = sm(), value_at = 32 * own; // no two SMs read the same line
  unsigned begin = cycles();
  __syncthreads();
  float value = 0.0f;
  if (threadIdx.x == 0) value = input[value_at] + add;
  __syncthreads();
  unsigned end = cycles();
  if (threadIdx.x == 0) {
    seen[blockIdx.x] = value;
    sms[blockIdx.x] = own;
    ticks[blockIdx.x] = end - begin;
  }
}

extern "C" __global__ void locality_temporal(const float *input, float *seen, int *sms, int *ticks,
                                             float add) {
  time_read(input, seen, sms, ticks, add);
}

extern "C" __global__ void locality_spatial(const float *input, float *seen, int *sms, int *ticks, float add,
                                            unsigned delay) {
  unsigned begin = cycles();
  while (cycles() - begin < delay * blockIdx.x) {
  }
  time_read(input, seen, sms, ticks, add);
}
