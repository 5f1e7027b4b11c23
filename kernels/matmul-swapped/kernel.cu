// c = a b, one thread per element, with x and y exchanged by mistake: the threads of a warp run down
// a column of c, so that they read 32 rows of a at once, one element of each, and write so too.
// CTAs along the grid's x read the same 8 columns of b, those along y the same 32 rows of a.
extern "C" __global__ void matmul_swapped(const float *a, const float *b, float *c, int n) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  int x = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < n && y < n) {
    float sum = 0.0f;
    for (int k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
  }
}
