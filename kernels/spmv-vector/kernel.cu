// Sparse matrix times vector in compressed sparse rows, one warp per row, after SHOC's vector kernel: the
// lanes read a row's columns and values side by side and then add up their sums. Which CTAs read the same
// parts of x follows from the matrix.
extern "C" __global__ void spmv_vector(const int *row_start, const int *column, const float *value,
                                       const float *x, float *y, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum += value[i] * x[column[i]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}
