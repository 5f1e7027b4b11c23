// out = a dense for a sparse square matrix a in compressed sparse rows: a warp takes one row, its lanes the
// features, a CTA of 8 warps a row block of 8 rows. Rows belong to communities and mostly name columns
// of their own, so the CTAs of a community gather the same rows of `dense`; but CTA b works on row
// block block_of[b], which strews the communities over the grid.
#define ROWS 8

extern "C" __global__ void __launch_bounds__(32 * ROWS)
    spmm_community(const int *block_of, const int *row_start, const int *column, const float *value,
                   const float *dense, float *out, int rows, int width) {
  int row = block_of[blockIdx.x] * ROWS + threadIdx.y;
  if (row >= rows) return;
  int begin = row_start[row], end = row_start[row + 1];
  for (int f = threadIdx.x; f < width; f += 32) {
    float sum = 0.0f;
#pragma unroll 4
    for (int e = begin; e < end; e++) sum += value[e] * dense[(size_t)column[e] * width + f];
    out[(size_t)row * width + f] = sum;
  }
}
