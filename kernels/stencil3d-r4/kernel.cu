// The eighth-order Laplacian on a 3D grid: a cross of 4 points to each side along x, y and z. One
// thread per point, a CTA covers 32 x 8 points of one plane, straight from global memory; the
// grid's outermost 4 points on every side are left alone. CTAs next to each other along y share
// 8 of 16 rows; CTAs next to each other along z share 8 of 9 planes, but are a whole plane of
// CTAs apart in the order of their ids.
#define RADIUS 4

// The coefficients -205/72, 8/5, -1/5, 8/315, -1/560 times 5040; the first counts once per axis.
__device__ constexpr float WEIGHT[RADIUS + 1] = {3 * -14350, 8064, -1008, 128, -9};

extern "C" __global__ void stencil3d_r4(const float *in, float *out, int nx, int ny, int nz) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  if (x < RADIUS || x >= nx - RADIUS || y < RADIUS || y >= ny - RADIUS || z < RADIUS || z >= nz - RADIUS)
    return;
  int layer = nx * ny;
  const float *p = in + (z * layer + y * nx + x);
  float sum = WEIGHT[0] * p[0];
#pragma unroll
  for (int d = 1; d <= RADIUS; d++)
    sum += WEIGHT[d] * (p[-d] + p[d] + p[-d * nx] + p[d * nx] + p[-d * layer] + p[d * layer]);
  out[z * layer + y * nx + x] = sum;
}
