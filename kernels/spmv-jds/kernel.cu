// Sparse matrix times vector as in Parboil: one thread per row of a matrix in jagged diagonals, whose rows are
// sorted by their lengths and, in groups of 32, padded to one. Entry k of all rows lies side by side, so that
// loads of the matrix are coalesced. Where each diagonal begins and the lengths of the groups are constants,
// the vector is read through a texture.

enum { MOST = 5000 }; // as Parboil has
extern "C" __constant__ int diagonal_start[MOST];
extern "C" __constant__ int length[MOST];

// As tex1Dfetch<float>, which only nvcc knows.
static __device__ float fetch(unsigned long long texture, int i) {
  float x, y, z, w;
  asm("tex.1d.v4.f32.s32 {%0, %1, %2, %3}, [%4, {%5}];"
      : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
      : "l"(texture), "r"(i));
  return x;
}

extern "C" __global__ void spmv_jds(const float *value, const int *column, const int *row,
                                    unsigned long long x, float *y, int rows) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  float sum = 0.0f;
  int n = length[i / 32];
  for (int k = 0; k < n; k++) {
    int at = diagonal_start[k] + i;
    sum += value[at] * fetch(x, column[at]);
  }
  y[row[i]] = sum;
}
