// A chip's temperature, as in Rodinia: `steps` time steps of a 2D stencil at once. A CTA of 16 x 16
// threads loads 16 x 16 cells into shared memory and computes smaller and smaller squares of them;
// of the last, (16 - 2 steps) wide, all cells are right and are written.
//
// The CTAs' loaded squares overlap by 2 steps cells with each neighbour's, in all directions.

#define SIDE 16

extern "C" __global__ void hotspot_steps(int steps, const float *power, const float *before, float *after,
                                         int columns, int rows, float cap, float rx, float ry, float rz,
                                         float dt) {
  __shared__ float old_t[SIDE][SIDE], watts[SIDE][SIDE], new_t[SIDE][SIDE];
  const float ambient = 80.0f;
  float per_cap = dt / cap, per_rx = 1.0f / rx, per_ry = 1.0f / ry, per_rz = 1.0f / rz;
  int tx = threadIdx.x, ty = threadIdx.y, inner = SIDE - 2 * steps;
  int x = inner * (int)blockIdx.x - steps + tx, y = inner * (int)blockIdx.y - steps + ty;
  bool inside = x >= 0 && x < columns && y >= 0 && y < rows;
  if (inside) {
    old_t[ty][tx] = before[y * columns + x];
    watts[ty][tx] = power[y * columns + x];
  }
  __syncthreads();
  // The chip's edge is its own neighbour.
  int west = x > 0 ? max(tx - 1, 0) : tx, east = x < columns - 1 ? min(tx + 1, SIDE - 1) : tx;
  int north = y > 0 ? max(ty - 1, 0) : ty, south = y < rows - 1 ? min(ty + 1, SIDE - 1) : ty;
  for (int i = 1; i <= steps; i++) {
    bool mine = inside && tx >= i && tx < SIDE - i && ty >= i && ty < SIDE - i;
    if (mine) {
      float t = old_t[ty][tx];
      new_t[ty][tx] =
          t + per_cap * (watts[ty][tx] + (old_t[south][tx] + old_t[north][tx] - 2.0f * t) * per_ry +
                         (old_t[ty][east] + old_t[ty][west] - 2.0f * t) * per_rx + (ambient - t) * per_rz);
    }
    __syncthreads();
    if (i == steps) {
      if (mine) after[y * columns + x] = new_t[ty][tx];
    } else {
      if (mine) old_t[ty][tx] = new_t[ty][tx];
      __syncthreads();
    }
  }
}
