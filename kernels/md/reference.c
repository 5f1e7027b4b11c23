#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>
#include <stdlib.h>

enum { RUN = 256, REACH = 4, SIDE = 2 * REACH + 1, OFFSETS = SIDE * SIDE * SIDE };

static int64_t square_of(int32_t offset) {
  int64_t x = offset % SIDE - REACH, y = offset / SIDE % SIDE - REACH, z = offset / SIDE / SIDE - REACH;
  return x * x + y * y + z * z;
}

static int by_distance(const void *a, const void *b) {
  int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
  int64_t sp = square_of(p), sq = square_of(q);
  return sp != sq ? (sp > sq) - (sp < sq) : (p > q) - (p < q);
}

/* Lattice coordinates up to REACH before and behind x, those over the edge from the other side. */
static void around(int64_t x, int64_t n, int32_t out[SIDE]) {
  for (int64_t k = 0; k < SIDE; k++) out[k] = (int32_t)((((x + k - REACH) % n) + n) % n);
}

/* Atoms sit near the points of a cubic lattice, 0.1 at most from theirs in each coordinate. They are numbered
 * along the lattice in runs of 256, one to a CTA, and the runs at random. An atom's neighbours are the
 * nearest lattice points, nearest first; those over the lattice's edge are taken from the other side, which
 * is beyond the cutoff. */
void heddle_generate(const heddle_args *args) {
  float *position = heddle_f32(args, "position");
  int32_t *neighbour = heddle_s32(args, "neighbour");
  int64_t nx = heddle_size_of(args, "nx"), ny = heddle_size_of(args, "ny"), nz = heddle_size_of(args, "nz");
  int64_t n = nx * ny * nz, runs = n / RUN, neighbours = heddle_size_of(args, "neighbours");
  int32_t offsets[OFFSETS], *place = malloc((size_t)(runs + 1) * sizeof *place);
  if (!place) {
    args->fail(args, "out of memory");
    return;
  }
  heddle_permutation(1, runs, place);
  place[runs] = (int32_t)runs;
  for (int32_t o = 0; o < OFFSETS; o++) offsets[o] = o;
  qsort(offsets, OFFSETS, sizeof *offsets, by_distance); /* the first is the atom itself */
  /* A run at a time, whose row of each neighbour lies in a piece. */
  for (int64_t first = 0; first < n; first += RUN) {
    int64_t atoms = n - first < RUN ? n - first : RUN, to = place[first / RUN] * (int64_t)RUN;
    int32_t x[RUN][SIDE], y[RUN][SIDE], z[RUN][SIDE];
    for (int64_t i = 0; i < atoms; i++) {
      int64_t s = first + i, at[3] = {s % nx, s / nx % ny, s / nx / ny};
      for (int64_t k = 0; k < 3; k++)
        position[4 * (to + i) + k] =
            (float)((double)at[k] + 0.2 * heddle_uniform(2, (uint64_t)(3 * s + k)) - 0.1);
      around(at[0], nx, x[i]);
      around(at[1], ny, y[i]);
      around(at[2], nz, z[i]);
    }
    for (int64_t k = 0; k < neighbours; k++) {
      int32_t o = offsets[k + 1], dx = o % SIDE, dy = o / SIDE % SIDE, dz = o / SIDE / SIDE;
      for (int64_t i = 0; i < atoms; i++) {
        int64_t t = ((int64_t)z[i][dz] * ny + y[i][dy]) * nx + x[i][dx];
        neighbour[k * n + to + i] = (int32_t)(place[t / RUN] * (int64_t)RUN + t % RUN);
      }
    }
  }
  free(place);
}

/* In double; an atom's forces from the farthest to the nearest. */
void heddle_reference(const heddle_args *args) {
  const float *position = heddle_f32(args, "position");
  const int32_t *neighbour = heddle_s32(args, "neighbour");
  float *force = heddle_f32(args, "force");
  int64_t n = (int64_t)heddle_count_of(args, "force") / 4, neighbours = heddle_size_of(args, "neighbours");
  for (int64_t i = 0; i < n; i++) {
    double sum[3] = {0};
    for (int64_t k = neighbours - 1; k >= 0; k--) {
      const float *p = position + 4 * i, *q = position + 4 * (int64_t)neighbour[k * n + i];
      double d[3] = {(double)p[0] - q[0], (double)p[1] - q[1], (double)p[2] - q[2]};
      double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (square >= 16) continue;
      double factor = 1.5 * pow(square, -7) - 2 * pow(square, -4);
      for (int axis = 0; axis < 3; axis++) sum[axis] += d[axis] * factor;
    }
    for (int axis = 0; axis < 3; axis++) force[4 * i + axis] = (float)sum[axis];
    force[4 * i + 3] = 0;
  }
}
