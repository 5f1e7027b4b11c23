#include <heddle_reference.h>

/* One axis after the other: each adds its second derivative. */
void heddle_reference(const heddle_args *args) {
  static const float weight[5] = {-14350, 8064, -1008, 128, -9};
  const float *in = heddle_f32(args, "in");
  float *out = heddle_f32(args, "out");
  int64_t nx = heddle_size_of(args, "nx"), ny = heddle_size_of(args, "ny"), nz = heddle_size_of(args, "nz");
  int64_t stride[3] = {1, nx, nx * ny};
  memset(out, 0, (size_t)(nx * ny * nz) * sizeof *out);
  for (int axis = 0; axis < 3; axis++)
    for (int64_t z = 4; z < nz - 4; z++)
      for (int64_t y = 4; y < ny - 4; y++)
        for (int64_t x = 4; x < nx - 4; x++) {
          int64_t at = (z * ny + y) * nx + x;
          for (int64_t d = -4; d <= 4; d++) out[at] += weight[d < 0 ? -d : d] * in[at + d * stride[axis]];
        }
}
