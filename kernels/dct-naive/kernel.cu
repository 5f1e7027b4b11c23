// Discrete cosine transform of 8 x 8 blocks by a nested loop: one thread per coefficient, numbered
// along the rows of the whole image, each of which reads its block's 64 pixels.
//
// A CTA is 256 x 1 and covers an eighth of each of 32 blocks: eight CTAs along y read the same
// pixels. All read the same table of cosines.
extern "C" __global__ void dct_naive(const float *image, const float *basis, float *out, int width,
                                     int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int u = x % 8, v = y % 8;
  const float *block = image + (y - v) * width + x - u;
  float sum = 0.0f;
  for (int j = 0; j < 8; j++)
    for (int i = 0; i < 8; i++) sum += block[j * width + i] * basis[u * 8 + i] * basis[v * 8 + j];
  out[y * width + x] = sum;
}
