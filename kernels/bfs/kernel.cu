// Breadth-first search level by level, after Rodinia: one thread per node, two kernels a level. bfs_visit
// gives the unvisited neighbours of the frontier their distance, bfs_advance makes them the next frontier.
// Which CTAs read the same neighbours follows from the graph alone.
//
// Several threads may reach one neighbour. Rodinia lets them all store, the same values; that is still a
// race, so here they are reductions, which go to memory as such stores do and do not wait for an answer
// either.
struct node {
  int start, degree; // the node's edges
};

extern "C" __global__ void bfs_visit(const node *nodes, const int *edges, bool *frontier, int *next,
                                     const bool *visited, int *distance, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !frontier[v]) return;
  frontier[v] = false;
  for (int e = nodes[v].start; e < nodes[v].start + nodes[v].degree; e++) {
    int neighbour = edges[e];
    if (!visited[neighbour]) {
      atomicMax(&distance[neighbour], distance[v] + 1); // -1 until then
      atomicOr(&next[neighbour], 1);
    }
  }
}

extern "C" __global__ void bfs_advance(bool *frontier, int *next, bool *visited, int *again, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !next[v]) return;
  frontier[v] = true;
  visited[v] = true;
  atomicOr(again, 1);
  next[v] = 0;
}
