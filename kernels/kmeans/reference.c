#include <heddle_inputs.h>
#include <heddle_reference.h>

/* Points scattered around their clusters' centres; the first points are the first centres, as
 * Rodinia chooses them. */
void heddle_generate(const heddle_args *args) {
  float *input = heddle_f32(args, "input"), *centres = heddle_f32(args, "centres");
  int64_t points = heddle_size_of(args, "points"), features = heddle_size_of(args, "features"),
          clusters = heddle_size_of(args, "clusters");
  for (int64_t p = 0; p < points; p++) {
    int64_t cluster = heddle_below(1, (uint64_t)p, clusters);
    for (int64_t i = 0; i < features; i++)
      input[p * features + i] = (float)(heddle_below(2, (uint64_t)(cluster * features + i), 200) +
                                        heddle_below(3, (uint64_t)(p * features + i), 56));
  }
  memcpy(centres, input, (size_t)(clusters * features) * sizeof *centres);
}

/* The nearest centre by |c|^2 - 2 p c: |p|^2 is the same for all centres. In integers; of equally
 * near centres the first. */
void heddle_reference(const heddle_args *args) {
  const float *input = heddle_f32(args, "input"), *centres = heddle_f32(args, "centres");
  float *inverted = heddle_f32(args, "inverted");
  int32_t *membership = heddle_s32(args, "membership");
  int64_t points = heddle_size_of(args, "points"), features = heddle_size_of(args, "features"),
          clusters = heddle_size_of(args, "clusters");
  for (int64_t i = 0; i < features; i++)
    for (int64_t p = 0; p < points; p++) inverted[i * points + p] = input[p * features + i];
  for (int64_t p = 0; p < points; p++) {
    int64_t least = INT64_MAX;
    for (int64_t c = 0; c < clusters; c++) {
      int64_t score = 0;
      for (int64_t i = 0; i < features; i++) {
        int64_t centre = (int64_t)centres[c * features + i], value = (int64_t)input[p * features + i];
        score += centre * (centre - 2 * value);
      }
      if (score < least) {
        least = score;
        membership[p] = (int32_t)c;
      }
    }
  }
}
