// Marks with 1 the pixels that are greater than all of their eight neighbours, the others with 0.
// The image carries a margin of one pixel. One thread per pixel, 16 x 16 pixels per CTA;
// neighbouring CTAs share the pixels along their common edge, along x and along y.
extern "C" __global__ void imregionmax(const float *image, float *out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int pitch = width + 2;
  const float *p = image + (y + 1) * pitch + x + 1;
  float around = fmaxf(p[-1], p[1]);
  for (int i = -1; i <= 1; i++) around = fmaxf(around, fmaxf(p[i - pitch], p[i + pitch]));
  out[y * width + x] = p[0] > around ? 1.0f : 0.0f;
}
