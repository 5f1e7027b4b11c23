// 3D convolution with a 15-point mask, as in PolyBench-GPU (3DCONV): one launch per plane i, one
// thread per element of the plane, k along the rows. The box's border is not written.
//
// A CTA of 32 x 8 reads its rows in three planes and a rim of one; the rim's lines are its
// neighbours' too, and two of three planes are read again by the next launch.
extern "C" __global__ void conv3d(const float *a, float *b, int ni, int nj, int nk, int i) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  const float c11 = 2, c21 = 5, c31 = -8, c12 = -3, c22 = 6, c32 = -9, c13 = 4, c23 = 7, c33 = 10;
  if (i > 0 && i < ni - 1 && j > 0 && j < nj - 1 && k > 0 && k < nk - 1) {
    int plane = nj * nk, centre = i * plane + j * nk + k;
    const float *at = a + centre;
    b[centre] = c11 * at[-plane - nk - 1] + c13 * at[plane - nk - 1] + c21 * at[-plane - 1] +
                c23 * at[plane - 1] + c31 * at[-plane + nk - 1] + c33 * at[plane + nk - 1] + c12 * at[-nk] +
                c22 * at[0] + c32 * at[nk] + c11 * at[-plane - nk + 1] + c13 * at[plane - nk + 1] +
                c21 * at[-plane + 1] + c23 * at[plane + 1] + c31 * at[-plane + nk + 1] +
                c33 * at[plane + nk + 1];
  }
}
