// c = alpha a b^T + beta c with register tiles, as in Parboil: a is m x k and b n x k, all three
// column by column. A CTA of 16 x 8 threads makes a tile of 128 x 16: each thread 16 elements of one
// row of c in registers, the CTA's 16 rows of b through shared memory.
//
// CTAs along y read the same 128 rows of a, those along x the same 16 rows of b.

#define TILE_N 16
#define TILE_K 8
#define TILE_M (TILE_N * TILE_K)

extern "C" __global__ void sgemm(const float *a, int lda, const float *b, int ldb, float *c, int ldc, int k,
                                 float alpha, float beta) {
  __shared__ float tile[TILE_K][TILE_N];
  int row = blockIdx.x * TILE_M + threadIdx.y * TILE_N + threadIdx.x;
  int column = blockIdx.y * TILE_N;
  float sums[TILE_N];
#pragma unroll
  for (int i = 0; i < TILE_N; i++) sums[i] = 0.0f;
  for (int first = 0; first < k; first += TILE_K) {
    tile[threadIdx.y][threadIdx.x] = b[column + threadIdx.x + (first + threadIdx.y) * ldb];
    __syncthreads();
    for (int j = 0; j < TILE_K; j++) {
      float factor = a[row + (first + j) * lda];
#pragma unroll
      for (int i = 0; i < TILE_N; i++) sums[i] += factor * tile[j][i];
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < TILE_N; i++) {
    float *at = c + row + (column + i) * ldc;
    *at = *at * beta + alpha * sums[i];
  }
}
