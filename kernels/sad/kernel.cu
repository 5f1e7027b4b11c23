// Sums of absolute differences for motion estimation, after Parboil. sad_4x4: one CTA per block of 4 x 4
// pixels, 61 threads (2 warps) of 18 search positions each; the block's pixels are kept in registers, the
// reference frame is read from a window of (2 range + 4)^2 pixels, which overlaps with the windows of the
// CTAs around. sad_8 and sad_16: one CTA per macroblock of 16 x 16 pixels adds these sums up to those of its
// larger parts.
#define PER_THREAD 18

static __device__ int clamp(int v, int limit) { return min(max(v, 0), limit - 1); }

// Result [macroblock][block of 4 x 4][position]; blocks and positions row by row.
extern "C" __global__ void sad_4x4(unsigned short *sad, const unsigned short *current,
                                   const unsigned short *reference, int width, int height, int range,
                                   int positions, int padded) {
  int x0 = 4 * blockIdx.x, y0 = 4 * blockIdx.y;
  int macroblock = (blockIdx.y / 4) * (width / 16) + blockIdx.x / 4;
  int block = (blockIdx.y % 4) * 4 + blockIdx.x % 4;
  unsigned short pixel[16];
  for (int i = 0; i < 16; i++) pixel[i] = current[(y0 + i / 4) * width + x0 + i % 4];
  int first = threadIdx.x * PER_THREAD, end = min(first + PER_THREAD, positions);
  for (int p = first; p < end; p++) {
    int dx = p % (2 * range + 1) - range, dy = p / (2 * range + 1) - range, sum = 0;
    for (int y = 0; y < 4; y++) {
      int row = clamp(y0 + y + dy, height) * width;
      for (int x = 0; x < 4; x++) sum += abs(pixel[4 * y + x] - reference[row + clamp(x0 + x + dx, width)]);
    }
    sad[(macroblock * 16 + block) * padded + p] = sum;
  }
}

// Sums of blocks side by side (8 x 4), one above the other (4 x 8), and four together (8 x 8): 8 + 8 + 4
// parts.
extern "C" __global__ void sad_8(unsigned short *sad_8x4, unsigned short *sad_4x8, unsigned short *sad_8x8,
                                 const unsigned short *sad, int positions, int padded) {
  int macroblock = blockIdx.y * gridDim.x + blockIdx.x;
  for (int quarter = threadIdx.y; quarter < 4; quarter += blockDim.y) {
    int block = (quarter / 2) * 8 + (quarter % 2) * 2;
    const unsigned short *top = sad + (macroblock * 16 + block) * padded, *bottom = top + 4 * padded;
    int part = macroblock * 8 + quarter * 2;
    for (int p = threadIdx.x; p < positions; p += blockDim.x) {
      unsigned short a = top[p], b = top[padded + p], c = bottom[p], d = bottom[padded + p];
      sad_8x4[part * padded + p] = a + b;
      sad_8x4[(part + 1) * padded + p] = c + d;
      sad_4x8[part * padded + p] = a + c;
      sad_4x8[(part + 1) * padded + p] = b + d;
      sad_8x8[(macroblock * 4 + quarter) * padded + p] = a + b + c + d;
    }
  }
}

extern "C" __global__ void sad_16(unsigned short *sad_16x8, unsigned short *sad_8x16,
                                  unsigned short *sad_16x16, const unsigned short *sad_8x8, int positions,
                                  int padded) {
  int macroblock = blockIdx.y * gridDim.x + blockIdx.x;
  const unsigned short *quarter = sad_8x8 + macroblock * 4 * padded;
  for (int p = threadIdx.x; p < positions; p += blockDim.x) {
    unsigned short a = quarter[p], b = quarter[padded + p], c = quarter[2 * padded + p],
                   d = quarter[3 * padded + p];
    sad_16x8[2 * macroblock * padded + p] = a + b;
    sad_16x8[(2 * macroblock + 1) * padded + p] = c + d;
    sad_8x16[2 * macroblock * padded + p] = a + c;
    sad_8x16[(2 * macroblock + 1) * padded + p] = b + d;
    sad_16x16[macroblock * padded + p] = a + b + c + d;
  }
}
