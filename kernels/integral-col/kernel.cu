// One thread per pixel, neighbouring threads down a column (the mapping is poor on purpose, as
// in the paper): each sums its column down to itself.
extern "C" __global__ void integral_col(const float *image, float *out, int width, int height) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  int x = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0.0f;
    for (int i = 0; i <= y; i++) sum += image[i * width + x];
    out[y * width + x] = sum;
  }
}
