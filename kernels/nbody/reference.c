#include <heddle_inputs.h>
#include <heddle_reference.h>
#include <math.h>

/* Bodies of equal mass, 1 together, in a cube of side 2. */
void heddle_generate(const heddle_args *args) {
  float *position = heddle_f32(args, "position"), *velocity = heddle_f32(args, "velocity");
  int64_t n = heddle_size_of(args, "bodies");
  for (int64_t i = 0; i < 4 * n; i++) {
    position[i] = i % 4 < 3 ? (float)(2 * heddle_uniform(1, (uint64_t)i) - 1) : (float)(1.0 / (double)n);
    velocity[i] = i % 4 < 3 ? (float)(heddle_uniform(2, (uint64_t)i) - 0.5) : (float)n;
  }
}

/* Body by body in double precision, from the last to the first. */
void heddle_reference(const heddle_args *args) {
  const float *position = heddle_f32(args, "position");
  float *moved = heddle_f32(args, "moved"), *velocity = heddle_f32(args, "velocity");
  int64_t n = heddle_size_of(args, "bodies");
  const double softening2 = (float)0.01, dt = 0.015625;
  for (int64_t i = 0; i < n; i++) {
    const float *here = position + 4 * i;
    double pull[3] = {0};
    for (int64_t j = n; j-- > 0;) {
      const float *other = position + 4 * j;
      double d[3], square = softening2;
      for (int c = 0; c < 3; c++) {
        d[c] = (double)other[c] - here[c];
        square += d[c] * d[c];
      }
      double strength = other[3] / (square * sqrt(square));
      for (int c = 0; c < 3; c++) pull[c] += strength * d[c];
    }
    for (int c = 0; c < 3; c++) {
      double speed = velocity[4 * i + c] + dt * pull[c];
      velocity[4 * i + c] = (float)speed;
      moved[4 * i + c] = (float)(here[c] + dt * speed);
    }
    moved[4 * i + 3] = here[3];
  }
}
