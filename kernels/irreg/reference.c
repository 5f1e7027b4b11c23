#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <stdlib.h>

/* Edges between neighbours of a cubic mesh that is numbered plane by plane, in runs of 256 edges
 * that start at nearby nodes; the runs are in random order. */
void heddle_generate(const heddle_args *args) {
  enum { RUN = 256 };
  int32_t *from = heddle_s32(args, "from"), *to = heddle_s32(args, "to");
  int64_t nodes = heddle_size_of(args, "nodes"), edges = heddle_size_of(args, "edges");
  int64_t side = 1, runs = edges / RUN;
  while (side * side * side < nodes) side++;
  int64_t step[3] = {1, side, side * side};
  int32_t *place = malloc((size_t)(runs + 1) * sizeof *place);
  if (!place) {
    args->fail(args, "out of memory");
    return;
  }
  heddle_permutation(1, runs, place);
  place[runs] = (int32_t)runs; /* the run that is not full stays last */
  for (int64_t e = 0; e < edges; e++) {
    int64_t a = e * nodes / edges, b = a;
    for (uint64_t draw = 0; b == a || b < 0 || b >= nodes; draw++) {
      b = a;
      for (uint64_t axis = 0; axis < 3; axis++)
        b += step[axis] * (heddle_below(heddle_random(2, (uint64_t)e), 3 * draw + axis, 3) - 1);
    }
    int64_t at = place[e / RUN] * (int64_t)RUN + e % RUN;
    from[at] = (int32_t)a;
    to[at] = (int32_t)b;
  }
  free(place);
}

/* Gains first, then losses. */
void heddle_reference(const heddle_args *args) {
  const int32_t *from = heddle_s32(args, "from"), *to = heddle_s32(args, "to");
  float *x = heddle_f32(args, "x"), *y = heddle_f32(args, "y");
  int64_t nodes = heddle_size_of(args, "nodes"), edges = heddle_size_of(args, "edges");
  memset(y, 0, (size_t)nodes * sizeof *y);
  for (int64_t e = 0; e < edges; e++) y[to[e]] += x[from[e]] - x[to[e]];
  for (int64_t e = 0; e < edges; e++) y[from[e]] -= x[from[e]] - x[to[e]];
  for (int64_t i = 0; i < nodes; i++) x[i] += y[i] / 8;
}
