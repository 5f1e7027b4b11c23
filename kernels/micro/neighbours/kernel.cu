// Adds neighbouring blocks of an image: pixel (x, y) of a CTA's BLOCK x BLOCK block plus the same
// pixel of the blocks to its left and right, where there are any. One CTA per block. Every input
// block is read by up to three CTAs that follow each other along x.
#define BLOCK 16

extern "C" __global__ void neighbours(const int *in, int *out, int width, int height) {
  int x = blockIdx.x * BLOCK + threadIdx.x;
  int y = blockIdx.y * BLOCK + threadIdx.y;
  if (x < width && y < height) {
    int sum = in[y * width + x];
    if (x >= BLOCK) sum += in[y * width + x - BLOCK];
    if (x + BLOCK < width) sum += in[y * width + x + BLOCK];
    out[y * width + x] = sum;
  }
}
