// One sweep of a solver on an unstructured mesh: every edge moves something from the node that has more
// to the one that has less, then every node takes what it got. One thread per edge, 256 edges per CTA;
// gathers and atomic additions go where the edge list points. CTAs whose edges touch the same nodes
// share them, but the list is not in the nodes' order.
extern "C" __global__ void irreg_edges(const int *from, const int *to, const float *x, float *y, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) {
    int a = from[e], b = to[e];
    float flow = x[a] - x[b];
    atomicAdd(&y[a], -flow);
    atomicAdd(&y[b], flow);
  }
}

extern "C" __global__ void irreg_nodes(float *x, const float *y, int nodes) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < nodes) x[i] += 0.125f * y[i];
}
