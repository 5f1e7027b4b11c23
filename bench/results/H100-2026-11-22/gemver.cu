/* B = A + u1 v1' + u2 v2'; x += beta B' y; x += z; w = alpha B x */
extern "C" __global__ void gemver_update(int n, float *a, const float *u1, const float *v1, const float *u2,
                                         const float *v2) {
  int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}
extern "C" __global__ void gemver_columns(int n, float beta, const float *a, float *x, const float *y,
                                          const float *z) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = x[i];
    for (int j = 0; j < n; j++) s += beta * a[j * n + i] * y[j];
    x[i] = s + z[i];
  }
}
extern "C" __global__ void gemver_rows(int n, float alpha, const float *a, const float *x, float *w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float s = 0;
    for (int j = 0; j < n; j++) s += alpha * a[i * n + j] * x[j];
    w[i] = s;
  }
}
