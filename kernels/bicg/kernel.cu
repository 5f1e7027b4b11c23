// The two products of a step of BiCG, s = r^T a and q = a p, as in PolyBench-GPU: one thread per
// column, then one per row of a (rows x columns). Sums are kept in memory.
//
// The first kernel reads along the rows. In the second a warp reads 32 rows at once, one element of
// each: a line serves 32 steps of the loop, if it stays so long beside those of all other warps of
// the SM. Few CTAs at a time serve it best. All CTAs read the same vector.

extern "C" __global__ void bicg_columns(const float *a, const float *r, float *s, int rows, int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < columns) {
    s[j] = 0.0f;
    for (int i = 0; i < rows; i++) s[j] += a[i * columns + j] * r[i];
  }
}

extern "C" __global__ void bicg_rows(const float *a, const float *p, float *q, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) {
    q[i] = 0.0f;
    for (int j = 0; j < columns; j++) q[i] += a[i * columns + j] * p[j];
  }
}
