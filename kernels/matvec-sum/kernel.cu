// y = alpha a x + beta b x, the sum of two matrix-vector products: one thread per row. The matrices
// are kept column by column, so that the threads of a warp read side by side.
//
// Each element of a and b is read once; what CTAs share is the vector x.
extern "C" __global__ void matvec_sum(const float *a, const float *b, const float *x, float *y, int rows,
                                      int columns, float alpha, float beta) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float sum_a = 0.0f, sum_b = 0.0f;
  for (int j = 0; j < columns; j++) {
    sum_a += a[j * rows + i] * x[j];
    sum_b += b[j * rows + i] * x[j];
  }
  y[i] = alpha * sum_a + beta * sum_b;
}
