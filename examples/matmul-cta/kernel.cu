// kernels/matmul-naive, edited by hand: the same product in all the ways that heddle/cta.cuh offers.
#include "../../include/heddle/cta.cuh"

// The work of one task, the same in every kernel here. `cta` is the CTA's place in the original grid.
static __device__ inline void multiply(heddle_cell cta, const float *a, const float *b, float *c, int n) {
  int x = cta.x * blockDim.x + threadIdx.x;
  int y = cta.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
  }
}

// Agents over tiles of 4 x 3 CTAs, 2 of them active on each SM. gx and gy: the grid of the original launch.
extern "C" __global__ void matmul_agents(const float *a, const float *b, float *c, int n, unsigned gx, unsigned gy,
                                         unsigned *state, unsigned sms) {
  HEDDLE_AGENTS(state, sms, 2, gx * gy, position) {
    const heddle_cell cta = heddle_order_tile(position, 4, 3, gx, gy, 1);
    int x = cta.x * blockDim.x + threadIdx.x;
    int y = cta.y * blockDim.y + threadIdx.y;
    if (x >= n || y >= n) continue;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
  }
}

// A segment for each of 3 workers on each SM.
extern "C" __global__ void matmul_segments(const float *a, const float *b, float *c, int n, unsigned gx, unsigned gy,
                                           unsigned *state, unsigned sms) {
  HEDDLE_SEGMENTS(state, sms, 3, gx * gy, position) {
    multiply(heddle_order_zigzag(position, gx, 1, gx, gy, 1), a, b, c, n);
  }
}

// The launch of the original, in another order.
extern "C" __global__ void matmul_band(const float *a, const float *b, float *c, int n) {
  multiply(heddle_order_band(heddle_worker(), 3, gridDim.x, gridDim.y, gridDim.z), a, b, c, n);
}

// Clusters by assumed round robin, in column order.
extern "C" __global__ void matmul_redirect(const float *a, const float *b, float *c, int n, unsigned sms) {
  multiply(heddle_order_col(heddle_redirect(sms), gridDim.x, gridDim.y, gridDim.z), a, b, c, n);
}

// Each CTA claims its task from the cluster of its SM.
extern "C" __global__ void matmul_claim(const float *a, const float *b, float *c, int n, unsigned *state,
                                        unsigned sms) {
  const unsigned position = heddle_claim(state, sms, heddle_workers());
  multiply(heddle_order_hilbert(position, gridDim.x, gridDim.y, gridDim.z), a, b, c, n);
}
