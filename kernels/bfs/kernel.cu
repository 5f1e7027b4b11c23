// Breadth-first search level by level, after Rodinia: one thread per node, two kernels a level. bfs_visit
// gives the unvisited neighbours of the frontier their distance, bfs_advance makes them the next frontier.
// Which CTAs read the same neighbours follows from the graph alone. Several threads may reach one neighbour
// and store there: all the same values.
struct node {
  int start, degree; // the node's edges
};

extern "C" __global__ void bfs_visit(const node *nodes, const int *edges, bool *frontier, bool *next,
                                     const bool *visited, int *distance, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !frontier[v]) return;
  frontier[v] = false;
  for (int e = nodes[v].start; e < nodes[v].start + nodes[v].degree; e++) {
    int neighbour = edges[e];
    if (!visited[neighbour]) {
      distance[neighbour] = distance[v] + 1;
      next[neighbour] = true;
    }
  }
}

extern "C" __global__ void bfs_advance(bool *frontier, bool *next, bool *visited, bool *again, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || !next[v]) return;
  frontier[v] = true;
  visited[v] = true;
  *again = true;
  next[v] = false;
}
