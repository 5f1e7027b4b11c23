// Discrete cosine transform of 8 x 8 blocks and back, as in the CUDA samples' first, simple
// version: a CTA of 8 x 8 threads per block, D = C X C^T through shared memory.
//
// Every CTA reads the same matrix C; a row of a block is 32 bytes, so that four neighbours along x
// share each line of 128 bytes. As in the sample both ways read their image through a texture.

// C[u][x] = s(u) cos((2x + 1) u pi / 16), s(0) = sqrt(1/8), else 1/2.
__constant__ float C[8][8] = {
    {0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f, 0.353553391f,
     0.353553391f},
    {0.490392640f, 0.415734806f, 0.277785117f, 0.0975451610f, -0.0975451610f, -0.277785117f, -0.415734806f,
     -0.490392640f},
    {0.461939766f, 0.191341716f, -0.191341716f, -0.461939766f, -0.461939766f, -0.191341716f, 0.191341716f,
     0.461939766f},
    {0.415734806f, -0.0975451610f, -0.490392640f, -0.277785117f, 0.277785117f, 0.490392640f, 0.0975451610f,
     -0.415734806f},
    {0.353553391f, -0.353553391f, -0.353553391f, 0.353553391f, 0.353553391f, -0.353553391f, -0.353553391f,
     0.353553391f},
    {0.277785117f, -0.490392640f, 0.0975451610f, 0.415734806f, -0.415734806f, -0.0975451610f, 0.490392640f,
     -0.277785117f},
    {0.191341716f, -0.461939766f, 0.461939766f, -0.191341716f, -0.191341716f, 0.461939766f, -0.461939766f,
     0.191341716f},
    {0.0975451610f, -0.277785117f, 0.415734806f, -0.490392640f, 0.490392640f, -0.415734806f, 0.277785117f,
     -0.0975451610f},
};

extern "C" __global__ void forward_dct(unsigned long long image, float *out, int width) {
  __shared__ float block[8][8], half[8][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  int at = (blockIdx.y * 8 + ty) * width + blockIdx.x * 8 + tx;
  block[ty][tx] = tex2D<float>(image, blockIdx.x * 8 + tx + 0.5f, blockIdx.y * 8 + ty + 0.5f);
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < 8; i++) sum += C[ty][i] * block[i][tx];
  half[ty][tx] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int i = 0; i < 8; i++) sum += half[ty][i] * C[tx][i];
  out[at] = sum;
}

extern "C" __global__ void inverse_dct(unsigned long long coefficients, float *out, int width) {
  __shared__ float block[8][8], half[8][8];
  int tx = threadIdx.x, ty = threadIdx.y;
  int at = (blockIdx.y * 8 + ty) * width + blockIdx.x * 8 + tx;
  block[ty][tx] = tex2D<float>(coefficients, blockIdx.x * 8 + tx + 0.5f, blockIdx.y * 8 + ty + 0.5f);
  __syncthreads();
  float sum = 0.0f;
  for (int i = 0; i < 8; i++) sum += C[i][ty] * block[i][tx];
  half[ty][tx] = sum;
  __syncthreads();
  sum = 0.0f;
  for (int i = 0; i < 8; i++) sum += half[ty][i] * C[i][tx];
  out[at] = sum;
}
