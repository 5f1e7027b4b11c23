// Sparse matrix times vector in compressed sparse rows, one thread per row: the threads of a warp walk
// through 32 rows at a time, so that their reads of columns and values lie a row apart. Which CTAs read the
// same parts of x follows from the matrix.
extern "C" __global__ void spmv_csr(const int *row_start, const int *column, const float *value,
                                    const float *x, float *y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = row_start[row]; i < row_start[row + 1]; i++) sum += value[i] * x[column[i]];
  y[row] = sum;
}
