// y = alpha a x + beta b x, as in PolyBench-GPU: one thread per row of both matrices. Sums are kept
// in memory.
//
// A warp reads 32 rows of a and of b at once, one element of each: a line serves 32 steps of the
// loop, if it stays so long beside those of all other warps of the SM. Few CTAs at a time serve
// it best. All CTAs read the same vector.
extern "C" __global__ void gesummv(const float *a, const float *b, const float *x, float *y, float *product,
                                   int n, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    for (int j = 0; j < n; j++) {
      product[i] += a[i * n + j] * x[j];
      y[i] += b[i * n + j] * x[j];
    }
    y[i] = alpha * product[i] + beta * y[i];
  }
}
