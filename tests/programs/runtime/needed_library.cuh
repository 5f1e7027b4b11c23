// A library with kernels. They and its variable have names that the program may have, too.
__device__ int step = 3;
static __global__ void set(int *p) { *p = 11; }
static __global__ void add(int *p) { atomicAdd(p, step); }

static int early = [] {
  int *p, h = 0;
  if (cudaMalloc(&p, sizeof *p) != cudaSuccess) return -1;
  set<<<1, 1>>>(p);
  if (cudaMemcpy(&h, p, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) return -2;
  cudaFree(p);
  return h;
}();
int needed_early() { return early; }

int needed_add(int *p, int n) {
  add<<<1, n>>>(p);
  return cudaDeviceSynchronize();
}
