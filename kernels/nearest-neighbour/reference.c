#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>

/* Positions of storms in tenths of a degree: latitude 0 to 640, longitude 0 to 3600. */
void heddle_generate(const heddle_args *args) {
  float *records = heddle_f32(args, "records");
  int64_t n = heddle_size_of(args, "n");
  for (int64_t i = 0; i < n; i++) {
    records[2 * i] = (float)heddle_below(1, (uint64_t)i, 641);
    records[2 * i + 1] = (float)heddle_below(2, (uint64_t)i, 3601);
  }
}

/* The squared distance as an integer. */
void heddle_reference(const heddle_args *args) {
  const float *records = heddle_f32(args, "records");
  float *distance = heddle_f32(args, "distance");
  int64_t n = heddle_size_of(args, "n");
  for (int64_t i = 0; i < n; i++) {
    int64_t dy = 300 - (int64_t)records[2 * i], dx = 900 - (int64_t)records[2 * i + 1];
    distance[i] = sqrtf((float)(dy * dy + dx * dx));
  }
}
