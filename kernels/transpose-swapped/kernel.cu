// Matrix transpose through tiles of 64 x 64 in shared memory, eight elements a thread, with x and y exchanged by
// mistake: a thread's row is its x and its column its y, as the indices of a C array stand, and so for CTAs.
// The threads of a warp then run down 32 rows, one element of each, where they should run along one, both when
// they read and when they write.
#define TILE 64
#define COLUMNS 8 // that a CTA's threads take at a time

extern "C" __global__ void transpose_swapped(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int row = threadIdx.x, column = threadIdx.y;
  int first_row = blockIdx.x * TILE, first_column = blockIdx.y * TILE;
#pragma unroll
  for (int i = column; i < TILE; i += COLUMNS)
    if (first_row + row < height && first_column + i < width)
      tile[row][i] = in[(first_row + row) * width + first_column + i];
  __syncthreads();
#pragma unroll
  for (int i = column; i < TILE; i += COLUMNS)
    if (first_column + row < width && first_row + i < height)
      out[(first_column + row) * height + first_row + i] = tile[i][row];
}
