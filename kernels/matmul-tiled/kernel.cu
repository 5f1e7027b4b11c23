#define TILE 32

// c = a b: each CTA makes one TILE x TILE tile of c from a row of tiles of a and a column of
// tiles of b, which it brings through shared memory. Beyond the edges the tiles are zero.
extern "C" __global__ void __launch_bounds__(TILE *TILE)
    matmul_tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float tile_a[TILE][TILE], tile_b[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y;
  int x = blockIdx.x * TILE + tx, y = blockIdx.y * TILE + ty;
  float sum = 0.0f;
  for (int first = 0; first < n; first += TILE) {
    tile_a[ty][tx] = y < n && first + tx < n ? a[y * n + first + tx] : 0.0f;
    tile_b[ty][tx] = x < n && first + ty < n ? b[(first + ty) * n + x] : 0.0f;
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += tile_a[ty][k] * tile_b[k][tx];
    __syncthreads();
  }
  if (x < n && y < n) c[y * n + x] = sum;
}
