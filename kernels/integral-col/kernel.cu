// One thread per pixel, neighbouring threads down a column (the mapping is poor on purpose, as
// in the paper): each sums its column from itself upwards, so that the threads of a warp load
// from a row each, uncoalesced, and no two of them the same word.
extern "C" __global__ void integral_col(const float *image, float *out, int width, int height) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  int x = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0.0f;
    for (int i = y; i >= 0; i--) sum += image[i * width + x];
    out[y * width + x] = sum;
  }
}
