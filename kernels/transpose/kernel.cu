#define TILE 16

// Matrix transpose: each CTA brings a TILE x TILE tile through shared memory, so that it reads and
// writes along rows.
//
// A tile's row is 64 bytes: two CTAs side by side share each line of the input, two above each other
// each line of the output.
extern "C" __global__ void transpose(const float *in, float *out, int width, int height) {
  __shared__ float tile[TILE][TILE + 1];
  int tx = threadIdx.x, ty = threadIdx.y;
  int first_x = blockIdx.x * TILE, first_y = blockIdx.y * TILE;
  if (first_x + tx < width && first_y + ty < height) tile[ty][tx] = in[(first_y + ty) * width + first_x + tx];
  __syncthreads();
  if (first_x + ty < width && first_y + tx < height)
    out[(first_x + ty) * height + first_y + tx] = tile[tx][ty];
}
