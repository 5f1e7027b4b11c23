// 7 x 7 convolution of an image that carries a margin of RADIUS pixels on every side: one thread
// per pixel, 16 x 16 pixels per CTA, straight from global memory. Neighbouring CTAs share the
// pixels within RADIUS of their common edge, along x and along y; all share the filter.
#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)

extern "C" __global__ void conv2d(const float *image, const float *filter, float *out, int width,
                                  int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int pitch = width + 2 * RADIUS;
  if (x < width && y < height) {
    float sum = 0.0f;
    for (int j = 0; j < WIDTH; j++)
      for (int i = 0; i < WIDTH; i++) sum += image[(y + j) * pitch + x + i] * filter[j * WIDTH + i];
    out[y * width + x] = sum;
  }
}
