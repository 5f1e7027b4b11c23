// One thread per pixel of an image that lies in memory column by column: each sums its column from the top down
// to itself. Neighbouring threads are those of neighbouring columns (the mapping is poor on purpose, as in the
// paper), so that the threads of a warp load from a column each, uncoalesced, and none of them what another does.
extern "C" __global__ void integral_col_major(const float *image, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0.0f;
    for (int i = 0; i <= y; i++) sum += image[x * height + i];
    out[x * height + y] = sum;
  }
}
