// Each thread copies one row, element by element.
extern "C" __global__ void copy_row(const float *in, float *out, int width, int height) {
  int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y < height)
    for (int x = 0; x < width; x++) out[y * width + x] = in[y * width + x];
}
