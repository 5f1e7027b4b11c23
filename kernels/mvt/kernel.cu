// Two products with one matrix, x1 += a y1 and x2 += a^T y2, as in PolyBench-GPU: one thread per
// row, then one per column. Sums are kept in memory.
//
// In the first kernel a warp reads 32 rows at once, one element of each: a line serves 32 steps of
// the loop, if it stays so long beside those of all other warps of the SM. Few CTAs at a time
// serve it best. The second reads along the rows. All CTAs read the same vector.

extern "C" __global__ void mvt_rows(const float *a, float *x1, const float *y1, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j < n; j++) x1[i] += a[i * n + j] * y1[j];
}

extern "C" __global__ void mvt_columns(const float *a, float *x2, const float *y2, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    for (int j = 0; j < n; j++) x2[i] += a[j * n + i] * y2[j];
}
