// Sparse matrix times vector as in Parboil: one thread per row of a matrix in jagged diagonals, whose rows are
// sorted by their lengths and, in groups of 32, padded to one. Entry k of all rows lies side by side, so that
// loads of the matrix are coalesced. Where each diagonal begins and the lengths of the groups are constants,
// the vector is read through a texture.

enum { MOST = 5000 }; // as Parboil has
extern "C" { // in braces they are definitions
__constant__ int diagonal_start[MOST];
__constant__ int length[MOST];
}

extern "C" __global__ void spmv_jds(const float *value, const int *column, const int *row,
                                    unsigned long long x, float *y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float sum = 0.0f;
  int n = length[i / 32];
  for (int k = 0; k < n; k++) {
    int at = diagonal_start[k] + i;
    sum += value[at] * tex1Dfetch<float>(x, column[at]);
  }
  y[row[i]] = sum;
}
