// CTA (x, y) reads panel x of one array and panel y of another, as the tiles of a matrix product do, with hardly any
// arithmetic between the loads.
extern "C" __global__ void pairs(const uint4 *a, const uint4 *b, unsigned *out, int words) {
  const uint4 *p = a + (size_t)blockIdx.y * words, *q = b + (size_t)blockIdx.x * words;
  unsigned sum = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) {
    uint4 u = p[i], v = q[i];
    sum += u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
  }
  out[(size_t)(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = sum;
}
