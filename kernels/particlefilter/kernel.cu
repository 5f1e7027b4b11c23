// A particle filter that follows a bright disk through a video, after Rodinia's floating-point version: one
// thread per particle, a few kernels a frame. particle_find is where the time goes: every thread of every CTA
// walks along the same cumulative weights from their beginning, and then fetches the position of the particle
// it stopped at.
//
// Numbers are chosen to be exact (noise in 256ths, weights powers of two), and what remains to round is
// rounded operation by operation: the particles found are the same in every order of the CTAs and on every
// machine.
#define MAX_THREADS 512

// About normally distributed between -2 and 2, in 256ths: four numbers of a linear congruence.
static __device__ float noise(unsigned *state) {
  int sum = 0;
  for (int k = 0; k < 4; k++) {
    *state = *state * 1103515245u + 12345u;
    sum += *state >> 16 & 255;
  }
  return (sum - 510) * 0.00390625f;
}

// Move the particles, weigh them by the disk of pixels around them, and add up the CTA's weights.
extern "C" __global__ void particle_likelihood(float *x, float *y, const float *found_x, const float *found_y,
                                               const int *disk, const unsigned char *video, float *weight,
                                               unsigned *seed, float *partial, int particles, int points,
                                               int edge, int frames, int frame) {
  __shared__ float sums[MAX_THREADS];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float w = 0.0f;
  if (i < particles) {
    unsigned state = seed[i];
    x[i] = found_x[i] + 1.0f + 5.0f * noise(&state);
    y[i] = found_y[i] - 2.0f + 2.0f * noise(&state);
    seed[i] = state;
    int sum = 0;
    for (int p = 0; p < points; p++) {
      int px = (int)floorf(x[i] + 0.5f) + disk[2 * p], py = (int)floorf(y[i] + 0.5f) + disk[2 * p + 1];
      int at = abs((px * edge + py) * frames + frame);
      int v = video[at < edge * edge * frames ? at : 0];
      sum += (v - 100) * (v - 100) - (v - 228) * (v - 228);
    }
    // Background is 100, the disk 228: the mean over 50 reaches from -327 to 327. The likelihood is 2^-k.
    int k = min(max((328 - sum / (50 * points)) / 32, 0), 8);
    w = __int_as_float((127 - k) << 23);
    weight[i] = w;
  }
  sums[threadIdx.x] = w;
  for (int stride = blockDim.x / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}

extern "C" __global__ void particle_sum(const float *partial, float *total, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; i++) sum += partial[i];
  *total = sum;
}

// Weights that add up to 1, and the particle's place in the resampling.
extern "C" __global__ void particle_normalize(float *weight, float *place, const float *total,
                                              int particles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  weight[i] = __fdiv_rn(weight[i], *total);
  place[i] = __fdiv_rn(i + 0.5f, particles);
}

extern "C" __global__ void particle_cumulate(const float *weight, float *cumulative, int particles) {
  float sum = 0.0f;
  for (int i = 0; i < particles; i++) cumulative[i] = sum = __fadd_rn(sum, weight[i]);
}

extern "C" __global__ void particle_find(const float *x, const float *y, const float *cumulative,
                                         const float *place, float *found_x, float *found_y, int particles) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= particles) return;
  int index = particles - 1;
  for (int k = 0; k < particles; k++)
    if (cumulative[k] >= place[i]) {
      index = k;
      break;
    }
  found_x[i] = x[index];
  found_y[i] = y[index];
}
