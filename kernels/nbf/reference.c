#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>
#include <stdlib.h>

enum { RUN = 256 };

/* Molecules sit near the points of a cubic lattice, 0.1 at most from theirs in each coordinate. They are
 * numbered along the lattice in runs of 256, one to a CTA, and the runs at random. A molecule's partners are
 * about nine of the 13 lattice neighbours that come after it. */
void heddle_generate(const heddle_args *args) {
  float *position = heddle_f32(args, "position");
  int32_t *first = heddle_s32(args, "first"), *partner = heddle_s32(args, "partner");
  int64_t nx = heddle_size_of(args, "nx"), ny = heddle_size_of(args, "ny"), nz = heddle_size_of(args, "nz");
  int64_t n = nx * ny * nz, runs = n / RUN;
  int32_t *place = malloc((size_t)(runs + 1) * sizeof *place), *site_of = malloc((size_t)n * sizeof *site_of);
  if (!place || !site_of) {
    free(place);
    free(site_of);
    args->fail(args, "out of memory");
    return;
  }
  heddle_permutation(1, runs, place);
  place[runs] = (int32_t)runs;
  for (int64_t s = 0; s < n; s++) site_of[place[s / RUN] * (int64_t)RUN + s % RUN] = (int32_t)s;
  int32_t pairs = 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t s = site_of[i], x = s % nx, y = s / nx % ny, z = s / nx / ny;
    double point[3] = {(double)x, (double)y, (double)z};
    for (int64_t k = 0; k < 3; k++)
      position[4 * i + k] = (float)(point[k] + 0.2 * heddle_uniform(2, (uint64_t)(3 * s + k)) - 0.1);
    position[4 * i + 3] = heddle_random(3, (uint64_t)s) % 2 ? 1 : -1;
    first[i] = pairs;
    for (int64_t shift = 14; shift < 27; shift++) { /* the 13 that follow (0, 0, 0) among -1 .. 1 cubed */
      int64_t px = x + shift % 3 - 1, py = y + shift / 3 % 3 - 1, pz = z + shift / 9 - 1;
      if (px < 0 || px >= nx || py < 0 || py >= ny || pz >= nz) continue;
      if (heddle_below(4, (uint64_t)(27 * s + shift), 13) >= 9) continue;
      int64_t t = (pz * ny + py) * nx + px;
      partner[pairs++] = (int32_t)(place[t / RUN] * (int64_t)RUN + t % RUN);
    }
  }
  first[n] = pairs;
  free(place);
  free(site_of);
}

/* In double, one coordinate at a time. */
void heddle_reference(const heddle_args *args) {
  const float *position = heddle_f32(args, "position");
  const int32_t *first = heddle_s32(args, "first"), *partner = heddle_s32(args, "partner");
  float *force = heddle_f32(args, "force");
  int64_t n = (int64_t)heddle_count_of(args, "force") / 3;
  double *sum = malloc((size_t)n * sizeof *sum);
  for (int64_t axis = 0; sum && axis < 3; axis++) {
    for (int64_t i = 0; i < n; i++) sum[i] = 0;
    for (int64_t i = 0; i < n; i++)
      for (int64_t k = first[i]; k < first[i + 1]; k++) {
        const float *p = position + 4 * i, *q = position + 4 * (int64_t)partner[k];
        double d[3] = {(double)p[0] - q[0], (double)p[1] - q[1], (double)p[2] - q[2]};
        double f = p[3] * q[3] * d[axis] / pow(d[0] * d[0] + d[1] * d[1] + d[2] * d[2], 1.5);
        sum[i] += f;
        sum[partner[k]] -= f;
      }
    for (int64_t i = 0; i < n; i++) force[3 * i + axis] = (float)sum[i];
  }
  free(sum);
  if (!sum) args->fail(args, "out of memory");
}
