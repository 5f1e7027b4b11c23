// Every CTA streams one block of memory, which as many others stream as the grid has rows: CTA
// (x, y) is reader y of block x. The block's index runs fastest, so that the readers of one block
// are far apart in the order of their ids, as in shared-prefix attention and all-pairs codes.
extern "C" __global__ void block_reuse(const unsigned *data, unsigned *out, int words) {
  const unsigned *block = data + (size_t)blockIdx.x * words;
  unsigned sum = 0;
#pragma unroll 4
  for (int i = threadIdx.x; i < words; i += blockDim.x) sum += block[i];
  unsigned task = blockIdx.y * gridDim.x + blockIdx.x;
  out[(size_t)task * blockDim.x + threadIdx.x] = sum + task;
}
