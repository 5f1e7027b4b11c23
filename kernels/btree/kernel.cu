// Look-ups of many keys in a B+ tree of order 256, after Rodinia's findK: one CTA per key, one thread per key
// of a node. Level by level the thread whose interval holds the key names the child; current and next node
// are kept in global memory, as there. All CTAs read the root and the upper nodes, and those with near keys
// the same leaves.
#define ORDER 256

struct node {
  int location;
  int indices[ORDER + 1]; // children, or in a leaf records
  int keys[ORDER + 1];    // ascending; keys[i] is the least key below child i
  int is_leaf;
  int n_keys;
};

extern "C" __global__ void btree_find(const node *nodes, const int *records, const int *keys, int *current,
                                      int *next, int *answers, int height, int n_nodes) {
  int query = blockIdx.x, t = threadIdx.x;
  for (int level = 0; level < height; level++) {
    if (nodes[current[query]].keys[t] <= keys[query] && nodes[current[query]].keys[t + 1] > keys[query])
      if (nodes[current[query]].indices[t] < n_nodes) next[query] = nodes[current[query]].indices[t];
    __syncthreads();
    if (t == 0) current[query] = next[query];
    __syncthreads();
  }
  if (nodes[current[query]].keys[t] == keys[query])
    answers[query] = records[nodes[current[query]].indices[t]];
}
