// C = A * B for row-major n x n matrices.

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, int n) {
  int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; k++) sum += a[row * n + k] * b[k * n + col];
  c[row * n + col] = sum;
}

enum { TILE = 16 };

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n) {
  __shared__ float ta[TILE][TILE], tb[TILE][TILE];
  int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
  float sum = 0;
  for (int t = 0; t < n; t += TILE) {
    ta[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0;
    tb[y][x] = col < n && t + y < n ? b[(t + y) * n + col] : 0;
    __syncthreads();
    for (int k = 0; k < TILE; k++) sum += ta[y][k] * tb[k][x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}

// The same with dynamic shared memory behind a static array.
extern __shared__ float dynamic[];
extern "C" __global__ void matmul_dynamic(const float *a, const float *b, float *c, int n, int tile) {
  __shared__ int rounds;
  float *ta = dynamic, *tb = dynamic + tile * tile;
  int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * tile + x, row = blockIdx.y * tile + y;
  if (x == 0 && y == 0) rounds = (n + tile - 1) / tile;
  __syncthreads();
  float sum = 0;
  for (int r = 0; r < rounds; r++) {
    int t = r * tile;
    ta[y * tile + x] = row < n && t + x < n ? a[row * n + t + x] : 0;
    tb[y * tile + x] = col < n && t + y < n ? b[(t + y) * n + col] : 0;
    __syncthreads();
    for (int k = 0; k < tile; k++) sum += ta[y * tile + k] * tb[k * tile + x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}
