#define TILE 16

// Matrix transpose through tiles in shared memory, with x and y exchanged by mistake: the threads
// and CTAs of the grid's x direction run down the columns, so that both reads and writes go to
// sixteen rows at once. Exchanging them back gives the workload `transpose`.
extern "C" __global__ void transpose_swapped(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int tx = threadIdx.y, ty = threadIdx.x;
  int first_x = blockIdx.y * TILE, first_y = blockIdx.x * TILE;
  if (first_x + tx < width && first_y + ty < height) tile[ty][tx] = in[(first_y + ty) * width + first_x + tx];
  __syncthreads();
  if (first_x + ty < width && first_y + tx < height)
    out[(first_x + ty) * height + first_y + tx] = tile[tx][ty];
}
