// Colours from a Bayer sensor (rows R G R G ... and G B G B ...): a colour that a pixel's sensor
// does not see is the average of its nearest neighbours that do. The raw image carries a margin
// of one pixel. One thread per pixel, 16 x 16 pixels per CTA; neighbouring CTAs share the pixels
// along their common edge, along x and along y.
extern "C" __global__ void demosaic(const float *raw, float *red, float *green, float *blue, int width,
                                    int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int pitch = width + 2;
  const float *p = raw + (y + 1) * pitch + x + 1;
  float here = p[0];
  float horizontal = (p[-1] + p[1]) * 0.5f;
  float vertical = (p[-pitch] + p[pitch]) * 0.5f;
  float cross = (p[-1] + p[1] + p[-pitch] + p[pitch]) * 0.25f;
  float diagonal = (p[-pitch - 1] + p[-pitch + 1] + p[pitch - 1] + p[pitch + 1]) * 0.25f;
  bool odd_x = x & 1, odd_y = y & 1;
  int at = y * width + x;
  green[at] = odd_x == odd_y ? cross : here;
  red[at] = odd_y ? (odd_x ? diagonal : vertical) : (odd_x ? horizontal : here);
  blue[at] = odd_y ? (odd_x ? here : horizontal) : (odd_x ? vertical : diagonal);
}
