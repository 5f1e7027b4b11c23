// DNA matching against a suffix tree, after MUMmerGPU: one thread per query finds, for each of its places,
// how long the longest match with the text is that begins there. It walks down the tree letter by letter, and
// goes from one place to the next by suffix links. Queries that occur in the same parts of the text meet in
// the tree's nodes and in the text; all of them read the nodes near the root.
struct node {
  int child[4];   // by letter A C G T; -1: none
  int start, end; // the letters on the edge that leads here: text[start] .. text[end - 1]
  int link;       // the node of the same letters without the first one; for the root itself
  int depth;      // letters from the root to here
};

// The text ends with a letter that no query has, so that no walk leaves it. Letters are 0 to 3.
extern "C" __global__ void mum_match(const node *nodes, const unsigned char *text,
                                     const unsigned char *queries, short *length, int n_queries,
                                     int query_length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n_queries) return;
  const unsigned char *query = queries + (long long)i * query_length;
  short *result = length + (long long)i * query_length;
  int at = 0;    // the last node passed
  int next = -1; // the node at the end of the edge below it that the match ends on
  int matched = 0;
  for (int first = 0; first < query_length; first++) {
    while (first + matched < query_length) {
      int letter = query[first + matched];
      if (next < 0) next = nodes[at].child[letter];
      if (next < 0 || text[nodes[next].start + matched - nodes[at].depth] != letter) break;
      matched++;
      if (matched == nodes[next].depth) {
        at = next;
        next = -1;
      }
    }
    result[first] = matched;

    // Drop the first letter. Letters known to match need no comparison on the way down, only their number.
    if (matched > 0) matched--;
    at = nodes[at].link;
    next = -1;
    // Each node is deeper than the one above. The bound says so: without it the tree might be a ring, on which a
    // thread waits until another changes it.
    for (int left = query_length; left > 0 && nodes[at].depth < matched; left--) {
      next = nodes[at].child[query[first + 1 + nodes[at].depth]];
      if (nodes[next].depth > matched) break;
      at = next;
      next = -1;
    }
  }
}
