// Launches in clusters: shapes fixed by the kernel and by the launch, shared memory of other CTAs, a graph,
// occupancy.
// arch: -arch=sm_90
// no clang: cooperative groups of clusters
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// Each CTA sends its number to the next one of its cluster.
__global__ void pass_on(int *out) {
  __shared__ int box;
  cg::cluster_group cluster = cg::this_cluster();
  unsigned rank = cluster.block_rank(), size = cluster.num_blocks();
  cluster.sync();
  if (threadIdx.x == 0) *cluster.map_shared_rank(&box, (rank + 1) % size) = int(blockIdx.x);
  cluster.sync();
  if (threadIdx.x == 0) out[blockIdx.x] = box + 1000 * int(size);
}

// The sum over a cluster of what its CTAs counted.
__global__ void __cluster_dims__(2, 2, 1) count(const int *v, int *sums, int n) {
  __shared__ int mine;
  cg::cluster_group cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = 0;
  cluster.sync();
  int first = cluster.map_shared_rank(&mine, 0) != nullptr;
  int i = int((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(cluster.map_shared_rank(&mine, 0), first * v[i]);
  cluster.sync();
  if (cluster.block_rank() == 0 && threadIdx.x == 0)
    sums[blockIdx.y / 2 * (gridDim.x / 2) + blockIdx.x / 2] = mine;
}

static cudaLaunchConfig_t config(dim3 grid, dim3 block, cudaLaunchAttribute *a, unsigned cluster, cudaStream_t s = 0) {
  cudaLaunchConfig_t c = {};
  c.gridDim = grid;
  c.blockDim = block;
  c.stream = s;
  a->id = cudaLaunchAttributeClusterDimension;
  a->val.clusterDim = {cluster, 1, 1};
  c.attrs = a;
  c.numAttrs = cluster != 0;
  return c;
}

static void check_ring(int *out, int n, int size) {
  OK(cudaDeviceSynchronize());
  for (int b = 0; b < n; b++)
    CHECK(out[b] == b / size * size + (b % size + size - 1) % size + 1000 * size);
}

int main() {
  int *out, *v, *sums, has = 0, n;
  cudaLaunchAttribute a;
  OK(cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, 0));
  CHECK(has == 1);
  OK(cudaMallocManaged(&out, 64 * sizeof *out));
  for (unsigned size : {1u, 2u, 4u, 8u}) {
    cudaLaunchConfig_t c = config(32, 64, &a, size);
    OK(cudaLaunchKernelEx(&c, pass_on, out));
    check_ring(out, 32, int(size));
  }

  // Beyond 8 only with the program's consent.
  cudaLaunchConfig_t c = config(32, 64, &a, 16);
  EXPECT(cudaOccupancyMaxPotentialClusterSize(&n, pass_on, &c), cudaErrorInvalidClusterSize);
  c.numAttrs = 0;
  OK(cudaOccupancyMaxPotentialClusterSize(&n, pass_on, &c));
  CHECK(n == 8);
  c.numAttrs = 1;
  OK(cudaFuncSetAttribute(pass_on, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  OK(cudaLaunchKernelEx(&c, pass_on, out));
  check_ring(out, 32, 16);
  OK(cudaOccupancyMaxActiveClusters(&n, pass_on, &c));
  CHECK(n > 0);

  // In a graph.
  cudaStream_t s;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  OK(cudaStreamCreate(&s));
  OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
  c = config(24, 32, &a, 4, s);
  OK(cudaLaunchKernelEx(&c, pass_on, out));
  OK(cudaStreamEndCapture(s, &graph));
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphLaunch(exec, s));
  check_ring(out, 24, 4);

  // A shape that the kernel fixes.
  int size = 8 * 4 * 128, total = 0;
  OK(cudaMallocManaged(&v, size * sizeof *v));
  OK(cudaMallocManaged(&sums, 8 * sizeof *sums));
  for (int i = 0; i < size; i++) v[i] = i % 7;
  count<<<dim3(8, 4), 128>>>(v, sums, size);
  OK(cudaDeviceSynchronize());
  for (int k = 0; k < 8; k++) total += sums[k];
  for (int i = 0; i < size; i++) total -= v[i];
  CHECK(total == 0);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(s));
  OK(cudaFree(out));
  OK(cudaFree(v));
  OK(cudaFree(sums));
  puts("clusters: ok");
}
