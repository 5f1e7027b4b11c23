#include <heddle_inputs.h>
#include <heddle_reference.h>

/* A grid graph `width` wide; with width 0 an R-MAT graph, with width -1 one whose nodes have about as many
 * neighbours each, anywhere. The search starts at node 0. */
void heddle_generate(const heddle_args *args) {
  int32_t *nodes = heddle_s32(args, "nodes"), *edges = heddle_s32(args, "edges");
  int64_t n = heddle_size_of(args, "nodes"), width = heddle_size_of(args, "width");
  int32_t *start = malloc((size_t)(n + 1) * sizeof *start);
  if (!start) args->fail(args, "out of memory");
  if (width < 0)
    heddle_uniform_graph(1, n, heddle_size_of(args, "edges") / n / 2, start, edges);
  else if (width)
    heddle_grid_graph(width, n / width, start, edges);
  else
    heddle_rmat(1, n, heddle_size_of(args, "edges"), start, edges);
  for (int64_t v = 0; v < n; v++) {
    nodes[2 * v] = start[v];
    nodes[2 * v + 1] = start[v + 1] - start[v];
  }
  free(start);
  heddle_u8(args, "frontier")[0] = 1;
  heddle_u8(args, "visited")[0] = 1;
  int32_t *distance = heddle_s32(args, "distance");
  for (int64_t v = 1; v < n; v++) distance[v] = -1;
}

/* With a queue, up to the last level. */
void heddle_reference(const heddle_args *args) {
  const int32_t *nodes = heddle_s32(args, "nodes"), *edges = heddle_s32(args, "edges");
  int32_t *distance = heddle_s32(args, "distance");
  uint8_t *visited = heddle_u8(args, "visited");
  int64_t n = heddle_size_of(args, "nodes"), levels = heddle_size_of(args, "levels"), head = 0, tail = 0;
  int32_t *queue = malloc((size_t)n * sizeof *queue);
  if (!queue) args->fail(args, "out of memory");
  queue[tail++] = 0;
  while (head < tail) {
    int32_t v = queue[head++];
    if (distance[v] == levels) break;
    for (int32_t e = nodes[2 * v]; e < nodes[2 * v] + nodes[2 * v + 1]; e++) {
      int32_t to = edges[e];
      if (distance[to] >= 0) continue;
      distance[to] = distance[v] + 1;
      visited[to] = 1;
      queue[tail++] = to;
    }
  }
  free(queue);
}
