// Kernels of five kinds, for docs/launches.md. kernels.ptx is what nvcc makes of this file:
//   nvcc -ptx -arch=compute_80 kernels.cu

// A template.
template <class T, int N>
__global__ void axpy(const T *x, T *y, T a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < N; k++) y[i * N + k] += a * x[i * N + k];
}
template __global__ void axpy<float, 4>(const float *, float *, float);
template __global__ void axpy<double, 2>(const double *, double *, double);

// A struct by value, with pointers inside.
struct matrix {
  const float *data;
  int rows, columns;
};
namespace dense {
__global__ void product(matrix a, matrix b, float *c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float sum = 0;
  for (int k = 0; k < a.columns; k++) sum += a.data[y * a.columns + k] * b.data[k * b.columns + x];
  c[y * b.columns + x] = sum;
}
}  // namespace dense

// A filter in constant memory, which the host sets.
__constant__ float filter[9];
__global__ void convolve(const float *in, float *out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  float sum = 0;
  for (int k = 0; k < 9; k++) sum += filter[k] * in[(y + k / 3) * (n + 2) + x + k % 3];
  out[y * n + x] = sum;
}

// A sparse matrix in CSR form.
__global__ void spmv(const int *start, const int *column, const float *value, const float *x, float *y, int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
  y[row] = sum;
}

// A texture.
__global__ void sample(cudaTextureObject_t image, float *out, int n) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  out[y * n + x] = tex2D<float>(image, x + 0.5f, y + 0.5f);
}

int main() {}
