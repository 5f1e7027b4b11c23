#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>
#include <stdlib.h>

enum { WING = -1, FAR_FIELD = -2, RUN = 192 };

/* ---- The mesh -------------------------------------------------------------------------------- */

/* A box of nx x ny x nz cubes of side 1/16, each cut into six tetrahedra, one per permutation of the axes:
 * from the cube's first corner along axis p[0], then p[1], then p[2]. So cut, cubes fit each other. */
static const int PERMUTATIONS[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

static int permutation_index(int a, int b) {
  int i = 0;
  while (PERMUTATIONS[i][0] != a || PERMUTATIONS[i][1] != b) i++;
  return i;
}

/* The tetrahedron beyond the face opposite corner `face`; false: there is none. */
static int beyond(const int64_t extent[3], int64_t cube[3], int *kind, int face) {
  const int *p = PERMUTATIONS[*kind];
  if (face == 0) { /* a step on along the first axis, which is then walked last */
    cube[p[0]]++;
    *kind = permutation_index(p[1], p[2]);
  } else if (face == 3) {
    cube[p[2]]--;
    *kind = permutation_index(p[2], p[0]);
  } else { /* two axes change places within the cube */
    *kind = face == 1 ? permutation_index(p[1], p[0]) : permutation_index(p[0], p[2]);
  }
  for (int a = 0; a < 3; a++)
    if (cube[a] < 0 || cube[a] >= extent[a]) return 0;
  return 1;
}

/* A mesh point, moved by up to an eighth of a cube's side. */
static void point_of(const int64_t at[3], double out[3]) {
  uint64_t id = (uint64_t)((at[2] * 4096 + at[1]) * 4096 + at[0]);
  for (uint64_t a = 0; a < 3; a++)
    out[a] = ((double)at[a] + 0.25 * heddle_uniform(1, 3 * id + a) - 0.125) / 16;
}

/* The area vector of face `face` that points inwards; the rest of the corners in their order. */
static void inward_normal(double corner[4][3], int face, double out[3]) {
  double edge[2][3], inside = 0;
  const double *base = corner[(face + 1) % 4];
  for (int a = 0; a < 3; a++) {
    edge[0][a] = corner[(face + 2) % 4][a] - base[a];
    edge[1][a] = corner[(face + 3) % 4][a] - base[a];
  }
  for (int a = 0; a < 3; a++) {
    int b = (a + 1) % 3, c = (a + 2) % 3;
    out[a] = (edge[0][b] * edge[1][c] - edge[0][c] * edge[1][b]) / 2;
    inside += out[a] * (corner[face][a] - base[a]);
  }
  if (inside < 0)
    for (int a = 0; a < 3; a++) out[a] = -out[a];
}

static double volume_of(double corner[4][3]) {
  double n[3], sum = 0;
  inward_normal(corner, 0, n);
  for (int a = 0; a < 3; a++) sum += n[a] * (corner[0][a] - corner[1][a]);
  return sum / 3;
}

/* Elements are numbered cube by cube in runs of 192, one to a CTA, and the runs at random. The floor of the
 * box is a solid wall, its other sides are the far field. The flow is the far field's, disturbed by up to a
 * twentieth. */
void heddle_generate(const heddle_args *args) {
  float *volume = heddle_f32(args, "volume"), *normal = heddle_f32(args, "normal");
  float *variables = heddle_f32(args, "variables");
  int32_t *neighbour = heddle_s32(args, "neighbour");
  int64_t extent[3] = {heddle_size_of(args, "nx"), heddle_size_of(args, "ny"), heddle_size_of(args, "nz")};
  int64_t n = 6 * extent[0] * extent[1] * extent[2], runs = n / RUN;
  static const double flow[5] = {1.4, 1.68, 0, 0, 3.508};
  int32_t *place = malloc((size_t)(runs + 1) * sizeof *place);
  if (!place) {
    args->fail(args, "out of memory");
    return;
  }
  heddle_permutation(2, runs, place);
  place[runs] = (int32_t)runs;
  for (int64_t t = 0; t < n; t++) {
    int64_t c = t / 6, i = place[t / RUN] * (int64_t)RUN + t % RUN;
    int64_t cube[3] = {c % extent[0], c / extent[0] % extent[1], c / extent[0] / extent[1]};
    int64_t at[3] = {cube[0], cube[1], cube[2]};
    double corner[4][3];
    for (int k = 0; k < 4; k++) {
      point_of(at, corner[k]);
      if (k < 3) at[PERMUTATIONS[t % 6][k]]++;
    }
    volume[i] = (float)volume_of(corner);
    for (int face = 0; face < 4; face++) {
      int64_t next[3] = {cube[0], cube[1], cube[2]};
      int kind = (int)(t % 6);
      double vector[3];
      inward_normal(corner, face, vector);
      for (int a = 0; a < 3; a++) normal[i + (3 * face + a) * n] = (float)vector[a];
      if (beyond(extent, next, &kind, face)) {
        int64_t u = 6 * ((next[2] * extent[1] + next[1]) * extent[0] + next[0]) + kind;
        neighbour[i + face * n] = (int32_t)(place[u / RUN] * (int64_t)RUN + u % RUN);
      } else {
        neighbour[i + face * n] = next[2] < 0 ? WING : FAR_FIELD;
      }
    }
    for (int v = 0; v < 5; v++)
      variables[i + v * n] = (float)(flow[v] + 0.1 * heddle_uniform(3, (uint64_t)(5 * t + v)) - 0.05);
  }
  free(place);
}

/* ---- The flow -------------------------------------------------------------------------------- */

/* All in double, an element's five variables together. */
typedef struct {
  double v[5];
} element;

static double pressure_of(const element *e) {
  const double *v = e->v;
  return 0.4 * (v[4] - (v[1] * v[1] + v[2] * v[2] + v[3] * v[3]) / (2 * v[0]));
}

/* Greatest speed at which anything moves. */
static double wave_speed(const element *e) {
  const double *v = e->v;
  return sqrt(v[1] * v[1] + v[2] * v[2] + v[3] * v[3]) / v[0] + sqrt(1.4 * pressure_of(e) / v[0]);
}

/* The Euler flux's component `axis` of variable k. */
static double euler(const element *e, int k, int axis) {
  double p = pressure_of(e), carried = k == 4 ? e->v[4] + p : e->v[k];
  return carried * e->v[1 + axis] / e->v[0] + (k == 1 + axis ? p : 0);
}

typedef struct {
  const int32_t *neighbour;
  const float *normal;
  int64_t n;
} mesh;

static element flux_into(const mesh *m, const element *all, int64_t i) {
  static const element far = {{1.4, 1.68, 0, 0, 3.508}};
  element sum = {{0}};
  for (int64_t face = 0; face < 4; face++) {
    int32_t j = m->neighbour[i + face * m->n];
    const element *own = &all[i], *other = j >= 0 ? &all[j] : &far;
    double area = 0;
    for (int a = 0; a < 3; a++) {
      double s = m->normal[i + (3 * face + a) * m->n];
      area += s * s;
      if (j == WING) sum.v[1 + a] += s * pressure_of(own);
      for (int k = 0; j != WING && k < 5; k++) sum.v[k] += s * (euler(own, k, a) + euler(other, k, a)) / 2;
    }
    double damping = 0.1 * sqrt(area) * (wave_speed(own) + wave_speed(other));
    for (int k = 0; j >= 0 && k < 5; k++) sum.v[k] += damping * (other->v[k] - own->v[k]);
  }
  return sum;
}

static void store(const element *from, int64_t n, float *to) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < 5; k++) to[i + k * n] = (float)from[i].v[k];
}

void heddle_reference(const heddle_args *args) {
  const float *volume = heddle_f32(args, "volume");
  float *variables = heddle_f32(args, "variables");
  int64_t n = (int64_t)heddle_count_of(args, "volume");
  mesh m = {heddle_s32(args, "neighbour"), heddle_f32(args, "normal"), n};
  element *now = malloc((size_t)n * sizeof *now), *old = malloc((size_t)n * sizeof *old);
  element *flux = malloc((size_t)n * sizeof *flux);
  if (now && old && flux) {
    for (int64_t i = 0; i < 5 * n; i++) now[i % n].v[i / n] = variables[i];
    memcpy(old, now, (size_t)n * sizeof *old);
    for (int stage = 1; stage <= 3; stage++) {
      for (int64_t i = 0; i < n; i++) flux[i] = flux_into(&m, now, i);
      for (int64_t i = 0; i < n; i++) {
        double step = 0.5 / sqrt(volume[i]) / wave_speed(&old[i]) / (4 - stage);
        for (int k = 0; k < 5; k++) now[i].v[k] = old[i].v[k] + step * flux[i].v[k];
      }
    }
    store(now, n, variables);
  }
  free(now);
  free(old);
  free(flux);
  if (!now || !old || !flux) args->fail(args, "out of memory");
}
