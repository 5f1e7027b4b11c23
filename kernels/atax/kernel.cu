// y = a^T (a x), as in PolyBench-GPU: one thread per row, then one per column of a (rows x columns).
// Sums are kept in memory.
//
// In the first kernel a warp reads 32 rows at once, one element of each: a line serves 32 steps of
// the loop, if it stays so long beside those of all other warps of the SM. Few CTAs at a time
// serve it best. The second reads along the rows. All CTAs read the same vector.

extern "C" __global__ void atax_rows(const float *a, const float *x, float *product, int rows, int columns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows)
    for (int j = 0; j < columns; j++) product[i] += a[i * columns + j] * x[j];
}

extern "C" __global__ void atax_columns(const float *a, float *y, const float *product, int rows,
                                        int columns) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < columns)
    for (int i = 0; i < rows; i++) y[j] += a[i * columns + j] * product[i];
}
