// One Jacobi step of Laplace's equation on a 3D grid: each inner point becomes the average of its
// six neighbours, the grid's faces stay. A CTA of 32 x 4 threads owns a column of points and walks
// it along z, the plane at hand in shared memory with a margin of one point, the planes before
// and behind in registers. Neighbouring CTAs share the margins, along x and along y.
#define BLOCK_X 32
#define BLOCK_Y 4

extern "C" __global__ void lps(const float *in, float *out, int nx, int ny, int nz) {
  __shared__ float plane[BLOCK_Y + 2][BLOCK_X + 2];
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y;
  bool exists = x < nx && y < ny;
  bool inner = exists && x > 0 && x < nx - 1 && y > 0 && y < ny - 1;
  int at = y * nx + x, layer = nx * ny;
  float below = 0.0f, here = 0.0f, above = exists ? in[at] : 0.0f;
  for (int z = 0; z < nz; z++, at += layer) {
    below = here;
    here = above;
    above = exists && z + 1 < nz ? in[at + layer] : 0.0f;
    plane[ty][tx] = here;
    if (inner) {
      if (tx == 1) plane[ty][0] = in[at - 1];
      if (tx == BLOCK_X) plane[ty][BLOCK_X + 1] = in[at + 1];
      if (ty == 1) plane[0][tx] = in[at - nx];
      if (ty == BLOCK_Y) plane[BLOCK_Y + 1][tx] = in[at + nx];
    }
    __syncthreads();
    float result = here;
    if (inner && z > 0 && z < nz - 1) {
      float beside = plane[ty][tx - 1] + plane[ty][tx + 1] + plane[ty - 1][tx] + plane[ty + 1][tx];
      result = (beside + below + above) * (1.0f / 6.0f);
    }
    if (exists) out[at] = result;
    __syncthreads();
  }
}
