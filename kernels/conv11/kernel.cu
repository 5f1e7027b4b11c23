#define RADIUS 5

// One thread per pixel: the weighted sum of the 11 x 11 pixels around it. The image ends at its
// borders: what lies beyond counts as zero.
extern "C" __global__ void conv11(const float *image, const float *filter, float *out, int width,
                                  int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0.0f;
    for (int dy = max(-RADIUS, -y); dy <= min(RADIUS, height - 1 - y); dy++)
      for (int dx = max(-RADIUS, -x); dx <= min(RADIUS, width - 1 - x); dx++)
        sum += image[(y + dy) * width + x + dx] * filter[(dy + RADIUS) * (2 * RADIUS + 1) + dx + RADIUS];
    out[y * width + x] = sum;
  }
}
