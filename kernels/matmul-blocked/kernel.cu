// c = a b by blocks: each CTA makes one BLOCK x BLOCK block of c, one element per thread, from a
// row of blocks of a and a column of blocks of b, which it brings through shared memory. Beyond
// the edges the blocks are zero. CTAs along x share blocks of a, CTAs along y blocks of b.
#define BLOCK 16

extern "C" __global__ void __launch_bounds__(BLOCK *BLOCK)
    matmul_blocked(const float *a, const float *b, float *c, int n) {
  __shared__ float block_a[BLOCK][BLOCK], block_b[BLOCK][BLOCK];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * BLOCK + tx, y = blockIdx.y * BLOCK + ty;
  float sum = 0.0f;
  for (int first = 0; first < n; first += BLOCK) {
    block_a[ty][tx] = y < n && first + tx < n ? a[y * n + first + tx] : 0.0f;
    block_b[ty][tx] = x < n && first + ty < n ? b[(first + ty) * n + x] : 0.0f;
    __syncthreads();
    for (int k = 0; k < BLOCK; k++) sum += block_a[ty][k] * block_b[k][tx];
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}
