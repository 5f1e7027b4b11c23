#include <heddle_inputs.h>
#include <heddle_reference.h>

typedef struct point {
  float weight;
  int32_t centre;
  float cost;
} point;

static double distance(const float *coordinates, int64_t n, int64_t dims, int64_t a, int64_t b) {
  double sum = 0;
  for (int64_t d = 0; d < dims; d++) {
    double difference = (double)coordinates[d * n + a] - coordinates[d * n + b];
    sum += difference * difference;
  }
  return sum;
}

/* Points of whole-numbered coordinates 0 .. 15 around as many means as there are centres, one of which each
 * is assigned to at random; the centres are points 0, step, 2 step, ... */
void heddle_generate(const heddle_args *args) {
  float *coordinates = heddle_f32(args, "coordinates");
  point *points = (point *)heddle_u32(args, "points");
  int32_t *centre_number = heddle_s32(args, "centre_number");
  int64_t n = heddle_size_of(args, "points"), dims = heddle_size_of(args, "dims"),
          centres = heddle_size_of(args, "centres"), step = n / centres;
  for (int64_t d = 0; d < dims; d++)
    for (int64_t i = 0; i < n; i++) {
      int64_t cluster = heddle_below(1, (uint64_t)i, centres);
      coordinates[d * n + i] = (float)(heddle_below(2, (uint64_t)(cluster * dims + d), 12) +
                                       heddle_below(3, (uint64_t)(d * n + i), 4));
    }
  for (int64_t k = 0; k < centres; k++) centre_number[k * step] = (int32_t)k;
  for (int64_t i = 0; i < n; i++) {
    int64_t centre = heddle_below(4, (uint64_t)i, centres) * step;
    points[i].weight = 1;
    points[i].centre = (int32_t)centre;
    points[i].cost = (float)distance(coordinates, n, dims, i, centre);
  }
}

void heddle_reference(const heddle_args *args) {
  const float *coordinates = heddle_f32(args, "coordinates");
  const point *points = (const point *)heddle_u32(args, "points");
  const int32_t *centre_number = heddle_s32(args, "centre_number");
  float *lower = heddle_f32(args, "lower");
  uint8_t *moves = heddle_u8(args, "moves");
  int64_t n = heddle_size_of(args, "points"), dims = heddle_size_of(args, "dims"),
          centres = heddle_size_of(args, "centres"), candidates = heddle_size_of(args, "candidates");
  for (int64_t i = 0; i < n; i++) {
    float *row = lower + i * (centres + 1);
    for (int64_t k = 0; k < candidates; k++) {
      double change = points[i].weight * distance(coordinates, n, dims, i, 1 + 7 * k) - points[i].cost;
      if (change < 0) {
        moves[i] = 1;
        row[centres] += (float)change;
      } else {
        row[centre_number[points[i].centre]] -= (float)change;
      }
    }
  }
}
