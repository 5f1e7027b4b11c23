import hashlib, cupy
k = cupy.RawKernel(r'''extern "C" __global__ void spread(const float *x, float *y, int w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
  if (i < w) y[i * w + j] = 2 * x[j * w + i] + 1; }''', "spread")
w = 1024
x = cupy.arange(w * w, dtype=cupy.float32).reshape(w, w) / 1000
y = cupy.empty_like(x)
for _ in range(20):
    k((w // 128, w), (128,), (x, y, cupy.int32(w)))
    x = (y * 0.5).astype(cupy.float32)
print("cupy", hashlib.sha256(cupy.asnumpy(x).tobytes()).hexdigest()[:16])
