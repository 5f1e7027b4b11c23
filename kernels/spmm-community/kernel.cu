// out = a dense for a sparse square matrix a in compressed sparse rows: a warp takes one row, its lanes four
// features each, a CTA of 8 warps a row block of 8 rows. Rows belong to communities and mostly name columns
// of their own, so the CTAs of a community gather the same rows of `dense`; but CTA b works on row
// block block_of[b], which strews the communities over the grid.
#define ROWS 8

// width is a multiple of 4.
extern "C" __global__ void __launch_bounds__(32 * ROWS)
    spmm_community(const int *block_of, const int *row_start, const int *column, const float *value,
                   const float *dense, float *out, int rows, int width) {
  int row = block_of[blockIdx.x] * ROWS + threadIdx.y;
  if (row >= rows) return;
  int begin = row_start[row], end = row_start[row + 1];
  for (int f = 4 * threadIdx.x; f < width; f += 4 * 32) {
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
#pragma unroll 4
    for (int e = begin; e < end; e++) {
      float factor = value[e];
      float4 features = *(const float4 *)&dense[(size_t)column[e] * width + f];
      sum.x += factor * features.x;
      sum.y += factor * features.y;
      sum.z += factor * features.z;
      sum.w += factor * features.w;
    }
    *(float4 *)&out[(size_t)row * width + f] = sum;
  }
}
