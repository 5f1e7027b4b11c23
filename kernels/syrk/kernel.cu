// Symmetric rank-k update, c = alpha a a^T + beta c, as in PolyBench-GPU: one thread per element of
// c, which it updates in memory term by term. c is n x n, a is n x m.
//
// A warp reads 32 rows of a at once, one element of each: a line serves 32 steps of the loop, if
// it stays so long, and all CTAs along y, which read the same rows.
extern "C" __global__ void syrk(float alpha, float beta, const float *a, float *c, int n, int m) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) {
    c[i * n + j] *= beta;
    for (int k = 0; k < m; k++) c[i * n + j] += alpha * a[i * m + k] * a[j * m + k];
  }
}
