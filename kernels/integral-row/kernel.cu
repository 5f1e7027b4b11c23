// One thread per pixel, neighbouring threads along a row: each sums its row up to itself.
extern "C" __global__ void integral_row(const float *image, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0.0f;
    for (int i = 0; i <= x; i++) sum += image[y * width + i];
    out[y * width + x] = sum;
  }
}
