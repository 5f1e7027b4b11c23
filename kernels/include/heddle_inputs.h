/* heddle_inputs.h: inputs shaped like real ones, for the heddle_generate of a reference.c.
 *
 *   #include <heddle_reference.h>
 *   #include <heddle_inputs.h>
 *   void heddle_generate(const heddle_args *args) {
 *     heddle_rmat(7, heddle_size_of(args, "nodes"), heddle_size_of(args, "edges"),
 *                 heddle_s32(args, "row_start"), heddle_s32(args, "column"));
 *   }
 *
 * Everything follows from a seed by integer arithmetic and exactly rounded + - * /, so that
 * inputs are the same on every machine. Indices are 32 bits: up to 2^31 - 1 nodes and edges.
 */
#ifndef HEDDLE_INPUTS_H
#define HEDDLE_INPUTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- Numbers ---------------------------------------------------------------------- */

/* Random number i of a stream: 64 bits, any i in any order (the finaliser of splitmix64). */
static inline uint64_t heddle_random(uint64_t seed, uint64_t i) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15u + i * 0xd1342543de82ef95u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* 0 .. n-1, n at most 2^32. */
static inline int64_t heddle_below(uint64_t seed, uint64_t i, int64_t n) {
  return (int64_t)(((heddle_random(seed, i) >> 32) * (uint64_t)n) >> 32);
}

/* A multiple of 2^-53 in [0, 1). */
static inline double heddle_uniform(uint64_t seed, uint64_t i) {
  return (double)(heddle_random(seed, i) >> 11) * 0x1p-53;
}

/* Bell-shaped in (-1, 1), mean 0: four uniform numbers summed. */
static inline double heddle_bell(uint64_t seed, uint64_t i) {
  double sum = 0;
  for (uint64_t k = 0; k < 4; k++) sum += heddle_uniform(seed, 4 * i + k);
  return (sum - 2) / 2;
}

/* A rank in 0 .. n-1, n at least 1, with probability about 1 / (rank + 1): Zipf's law with exponent 1, as a
 * uniform choice of the octave and then of the number in it. */
static inline int64_t heddle_zipf(uint64_t seed, uint64_t i, int64_t n) {
  int octaves = 0;
  while ((INT64_C(1) << octaves) <= n) octaves++; /* ranks + 1 from 1 to n */
  for (uint64_t draw = 0;; draw++) {
    uint64_t stream = heddle_random(seed, i) + draw;
    int64_t low = INT64_C(1) << heddle_below(stream, 0, octaves), r = low + heddle_below(stream, 1, low);
    if (r <= n) return r - 1;
  }
}

/* A random permutation of 0 .. n-1. */
static inline void heddle_permutation(uint64_t seed, int64_t n, int32_t *out) {
  for (int64_t i = 0; i < n; i++) {
    int64_t j = heddle_below(seed, (uint64_t)i, i + 1);
    out[i] = out[j];
    out[j] = (int32_t)i;
  }
}

/* ---- Graphs and sparse matrices, in compressed sparse rows ---------------------------- */

static inline int heddle_compare_s32(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Edge i of an R-MAT graph: the matrix is halved in both directions again and again, and one quadrant taken
 * with the probabilities 0.57, 0.19, 0.19, 0.05 of Graph500, in units of 2^-16: four halvings to a random
 * number. */
static inline void heddle_rmat_edge(uint64_t seed, uint64_t i, int64_t nodes, int32_t *from, int32_t *to) {
  int64_t row = 0, rows = nodes, column = 0, columns = nodes;
  uint64_t stream = heddle_random(seed, i), bits = stream;
  for (uint64_t level = 0; rows > 1 || columns > 1; level++, bits >>= 16) {
    if (level && level % 4 == 0) bits = heddle_random(stream, level);
    uint64_t u = bits & 0xffff;
    int64_t r = rows / 2, c = columns / 2; /* of an odd range, the lower half is the larger one */
    /* Masks, not branches, which nobody could predict. */
    int64_t low = -(int64_t)(u >= 49807), right = -(int64_t)(((u >= 37356) & (u < 49807)) | (u >= 62259));
    row += (rows - r) & low;
    column += (columns - c) & right;
    rows = (r & low) | ((rows - r) & ~low);
    columns = (c & right) | ((columns - c) & ~right);
    rows += rows == 0;
    columns += columns == 0;
    row -= row >= nodes;
    column -= column >= nodes;
  }
  *from = (int32_t)row;
  *to = (int32_t)column;
}

/* The same where the number of nodes is 2 to the power of `levels`: each halving is a bit of either number. */
static inline void heddle_rmat_bits(uint64_t seed, uint64_t i, int levels, int32_t *from, int32_t *to) {
  uint64_t stream = heddle_random(seed, i), bits = stream, row = 0, column = 0;
  for (int level = 0; level < levels; level++, bits >>= 16) {
    if (level && level % 4 == 0) bits = heddle_random(stream, (uint64_t)level);
    uint64_t u = bits & 0xffff, low = (49806 - u) >> 63;
    row = 2 * row + low;
    column = 2 * column + (((37355 - u) >> 63) ^ low ^ ((62258 - u) >> 63));
  }
  *from = (int32_t)row;
  *to = (int32_t)column;
}

/* Several threads share the work. Each one's edges are drawn, counted by buckets of rows, and put there; then the
 * buckets are sorted, each by itself, which keeps to the caches. */
enum { HEDDLE_THREADS = 16, HEDDLE_BUCKETS = 1024, HEDDLE_DIGIT = 11 };
typedef struct heddle_rmat_job heddle_rmat_job;
typedef struct heddle_rmat_thread {
  heddle_rmat_job *job;
  int64_t begin, end;            /* its edges */
  int64_t place[HEDDLE_BUCKETS]; /* how many, then where the next one goes */
} heddle_rmat_thread;
struct heddle_rmat_job {
  uint64_t seed;
  int64_t nodes, edges;
  int threads, levels, shift;       /* levels: 0 unless the nodes are a power of two; rows of a bucket */
  uint64_t *drawn, *key;            /* edges: row << 32 | column; in buckets */
  int64_t start[HEDDLE_BUCKETS + 1]; /* of buckets */
  int next;                         /* bucket */
  int32_t *row_start, *column;
  heddle_rmat_thread thread[HEDDLE_THREADS];
};

static inline void *heddle_rmat_draw(void *thread) {
  heddle_rmat_thread *t = (heddle_rmat_thread *)thread;
  const heddle_rmat_job *j = t->job;
  for (int64_t e = t->begin; e < t->end; e++) {
    int32_t from, to;
    if (j->levels)
      heddle_rmat_bits(j->seed, (uint64_t)e, j->levels, &from, &to);
    else
      heddle_rmat_edge(j->seed, (uint64_t)e, j->nodes, &from, &to);
    j->drawn[e] = (uint64_t)from << 32 | (uint64_t)to;
    t->place[from >> j->shift]++;
  }
  return NULL;
}

static inline void *heddle_rmat_place(void *thread) {
  heddle_rmat_thread *t = (heddle_rmat_thread *)thread;
  const heddle_rmat_job *j = t->job;
  for (int64_t e = t->begin; e < t->end; e++) j->key[t->place[j->drawn[e] >> 32 >> j->shift]++] = j->drawn[e];
  return NULL;
}

/* Sort in[] by its bits `low` to `high` - 1, digit by digit; the result is in what is returned, in[] or out[]. */
static inline uint64_t *heddle_rmat_sort(uint64_t *in, uint64_t *out, int64_t n, int low, int high) {
  const uint64_t mask = (1 << HEDDLE_DIGIT) - 1;
  for (; n > 1 && low < high; low += HEDDLE_DIGIT) {
    int64_t place[(1 << HEDDLE_DIGIT) + 1] = {0};
    for (int64_t i = 0; i < n; i++) place[(in[i] >> low & mask) + 1]++;
    for (uint64_t d = 0; d < mask; d++) place[d + 1] += place[d];
    for (int64_t i = 0; i < n; i++) out[place[in[i] >> low & mask]++] = in[i];
    uint64_t *sorted = out;
    out = in;
    in = sorted;
  }
  return in;
}

/* Buckets one after the other: by columns, then by rows. */
static inline void *heddle_rmat_finish(void *thread) {
  heddle_rmat_job *j = ((heddle_rmat_thread *)thread)->job;
  int columns = 0;
  while ((INT64_C(1) << columns) < j->nodes) columns++;
  for (int b; (b = __atomic_fetch_add(&j->next, 1, __ATOMIC_RELAXED)) < HEDDLE_BUCKETS;) {
    const int64_t first = j->start[b], n = j->start[b + 1] - first;
    uint64_t *one = j->key + first, *other = j->drawn + first; /* each bucket has its part of both */
    uint64_t *by_column = heddle_rmat_sort(one, other, n, 0, columns);
    const uint64_t *sorted = heddle_rmat_sort(by_column, by_column == one ? other : one, n, 32, 32 + j->shift);
    int64_t row = (int64_t)b << j->shift, last = ((int64_t)b + 1) << j->shift, i = 0;
    for (; row < last && row < j->nodes; row++) {
      j->row_start[row] = (int32_t)(first + i);
      for (; i < n && (int64_t)(sorted[i] >> 32) == row; i++) j->column[first + i] = (int32_t)sorted[i];
    }
  }
  return NULL;
}

static inline void heddle_rmat_run(heddle_rmat_job *j, void *(*step)(void *)) {
  pthread_t thread[HEDDLE_THREADS];
  bool begun[HEDDLE_THREADS] = {false};
  for (int i = 1; i < j->threads; i++) begun[i] = pthread_create(&thread[i], NULL, step, &j->thread[i]) == 0;
  for (int i = 0; i < j->threads; i++) {
    if (begun[i])
      pthread_join(thread[i], NULL);
    else
      step(&j->thread[i]);
  }
}

/* nodes + 1 row starts and `edges` columns of an R-MAT graph: few rows with many neighbours, many with few or
 * none. Columns ascend in each row; an edge may be there twice. */
static inline void heddle_rmat(uint64_t seed, int64_t nodes, int64_t edges, int32_t *row_start,
                               int32_t *column) {
  enum { HEDDLE_WORTH_THREADS = 1 << 18 };
  heddle_rmat_job *j = (heddle_rmat_job *)calloc(1, sizeof *j);
  uint64_t *keys = (uint64_t *)malloc((size_t)edges * 2 * sizeof *keys + 1);
  if (!j || !keys) abort();
  j->seed = seed;
  j->nodes = nodes;
  j->edges = edges;
  j->drawn = keys;
  j->key = keys + edges;
  j->row_start = row_start;
  j->column = column;
  while (nodes > 1 && (INT64_C(1) << j->levels) < nodes) j->levels++;
  if ((INT64_C(1) << j->levels) != nodes) j->levels = 0;
  while ((nodes - 1) >> j->shift >= HEDDLE_BUCKETS) j->shift++;
  j->threads = edges < HEDDLE_WORTH_THREADS ? 1 : HEDDLE_THREADS;
  for (int i = 0; i < j->threads; i++) {
    j->thread[i].job = j;
    j->thread[i].begin = edges / j->threads * i;
    j->thread[i].end = i + 1 < j->threads ? edges / j->threads * (i + 1) : edges;
  }
  heddle_rmat_run(j, heddle_rmat_draw);
  int64_t place = 0;
  for (int b = 0; b < HEDDLE_BUCKETS; b++) {
    j->start[b] = place;
    for (int i = 0; i < j->threads; i++) {
      const int64_t n = j->thread[i].place[b];
      j->thread[i].place[b] = place;
      place += n;
    }
  }
  j->start[HEDDLE_BUCKETS] = place;
  heddle_rmat_run(j, heddle_rmat_place);
  heddle_rmat_run(j, heddle_rmat_finish);
  row_start[nodes] = (int32_t)edges;
  free(keys);
  free(j);
}

/* A banded matrix: `degree` ascending columns in each of n rows, at most `half_width` from the diagonal where
 * the edges of the matrix allow; n * degree columns in all. A column may be there twice. */
static inline void heddle_banded(uint64_t seed, int64_t n, int64_t degree, int64_t half_width,
                                 int32_t *row_start, int32_t *column) {
  for (int64_t v = 0; v < n; v++) {
    int64_t low = v - half_width < 0 ? 0 : v - half_width,
            high = v + half_width >= n ? n - 1 : v + half_width;
    row_start[v] = (int32_t)(v * degree);
    for (int64_t k = 0; k < degree; k++)
      column[v * degree + k] =
          (int32_t)(low + heddle_below(seed, (uint64_t)(v * degree + k), high - low + 1));
    qsort(column + v * degree, (size_t)degree, sizeof *column, heddle_compare_s32);
  }
  row_start[n] = (int32_t)(n * degree);
}

/* The graph of a width x height grid, four neighbours each: 2 * (width * (height - 1) + height * (width - 1))
 * edges, nodes numbered row by row. */
static inline void heddle_grid_graph(int64_t width, int64_t height, int32_t *row_start, int32_t *column) {
  int32_t edges = 0;
  for (int64_t v = 0; v < width * height; v++) {
    int64_t x = v % width, y = v / width;
    row_start[v] = edges;
    if (y > 0) column[edges++] = (int32_t)(v - width);
    if (x > 0) column[edges++] = (int32_t)(v - 1);
    if (x + 1 < width) column[edges++] = (int32_t)(v + 1);
    if (y + 1 < height) column[edges++] = (int32_t)(v + width);
  }
  row_start[width * height] = edges;
}

/* Every node draws `half` neighbours anywhere, and each edge is there in both directions: 2 * half * nodes
 * edges, about as many at every node. Rodinia's graphs are made like this. */
static inline void heddle_uniform_graph(uint64_t seed, int64_t nodes, int64_t half, int32_t *row_start,
                                        int32_t *column) {
  for (int64_t v = 0; v <= nodes; v++) row_start[v] = 0;
  for (int64_t e = 0; e < nodes * half; e++) {
    row_start[e / half + 1]++;
    row_start[heddle_below(seed, (uint64_t)e, nodes) + 1]++;
  }
  for (int64_t v = 0; v < nodes; v++) row_start[v + 1] += row_start[v];
  for (int64_t v = nodes; v > 0; v--) row_start[v] = row_start[v - 1]; /* where the next edge of v - 1 goes */
  for (int64_t e = 0; e < nodes * half; e++) {
    int64_t from = e / half, to = heddle_below(seed, (uint64_t)e, nodes);
    column[row_start[from + 1]++] = (int32_t)to;
    column[row_start[to + 1]++] = (int32_t)from;
  }
}

/* ---- Points, pictures, texts -------------------------------------------------------------- */

/* n points of `dims` coordinates each, point by point, around `clusters` centres in [0, 1)^dims, at most
 * `spread` from theirs in each coordinate. */
static inline void heddle_clustered(uint64_t seed, int64_t n, int64_t dims, int64_t clusters, double spread,
                                    float *points) {
  for (int64_t i = 0; i < n; i++) {
    int64_t c = heddle_below(seed, (uint64_t)i, clusters);
    for (int64_t k = 0; k < dims; k++)
      points[i * dims + k] = (float)(heddle_uniform(seed + 1, (uint64_t)(c * dims + k)) +
                                     spread * heddle_bell(seed + 2, (uint64_t)(i * dims + k)));
  }
}

/* Pixel (x, y) of a grey picture, 0 .. 255: smooth patches of 16 x 16, edges every 40 pixels or so, and a
 * little noise. */
static inline int heddle_pixel(uint64_t seed, int64_t x, int64_t y) {
  int64_t cx = x / 16, cy = y / 16, fx = x % 16, fy = y % 16, corner[4];
  for (int k = 0; k < 4; k++)
    corner[k] = heddle_below(seed, (uint64_t)(((cy + k / 2) << 32) + cx + k % 2), 160);
  int64_t smooth =
      ((corner[0] * (16 - fx) + corner[1] * fx) * (16 - fy) + (corner[2] * (16 - fx) + corner[3] * fx) * fy) /
      256;
  int64_t edge = heddle_below(seed + 1, (uint64_t)((((y + x / 3) / 41) << 32) + (x + y / 5) / 37), 2) * 80;
  return (int)(smooth + edge + heddle_below(seed + 2, (uint64_t)((y << 32) + x), 16));
}

/* n letters of "ACGT": random stretches, and between them copies of earlier letters with one in 32 changed,
 * as genomes repeat themselves. */
static inline void heddle_dna(uint64_t seed, int64_t n, uint8_t *out) {
  uint64_t draw = 0;
  for (int64_t i = 0; i < n;) {
    int64_t len = 20 + heddle_below(seed, draw++, 180), copy = i > 1000 && heddle_below(seed, draw++, 4) == 0;
    int64_t from = copy ? heddle_below(seed, draw++, i - 200) : 0;
    for (int64_t k = 0; k < len && i < n; k++, i++) {
      uint64_t r = heddle_random(seed, draw++);
      out[i] = copy && r % 32 ? out[from + k] : (uint8_t) "ACGT"[r >> 62];
    }
  }
}

#endif
