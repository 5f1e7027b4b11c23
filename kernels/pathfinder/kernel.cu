// Cheapest paths from the top of a grid to every place in its lowest row, after Rodinia's pathfinder: a CTA
// of 256 threads takes a piece of the row with `steps` columns more on either side, goes down `steps` rows in
// shared memory, each time with a column fewer on each side that is right, and writes the piece. Neighbouring
// CTAs read each other's borders of all those rows.
#define THREADS 256

extern "C" __global__ void pathfinder(const int *wall, int *results, int from, int to, int columns,
                                      int first_row, int steps, int border) {
  __shared__ int before[THREADS], after[THREADS];
  int t = threadIdx.x, width = THREADS - 2 * border;
  int left = width * (int)blockIdx.x - border; // of the CTA's columns, those outside of the grid included
  int lowest = left < 0 ? -left : 0;
  int highest = left + THREADS > columns ? columns - 1 - left : THREADS - 1;
  int column = left + t;
  bool inside = t >= lowest && t <= highest, written = false;
  if (inside) before[t] = results[from + column];
  __syncthreads();
  for (int i = 0; i < steps; i++) {
    written = false;
    if (t >= i + 1 && t <= THREADS - 2 - i && inside) {
      int west = t - 1 < lowest ? lowest : t - 1, east = t + 1 > highest ? highest : t + 1;
      after[t] = min(min(before[west], before[east]), before[t]) + wall[(first_row + i) * columns + column];
      written = true;
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (written) before[t] = after[t];
    __syncthreads();
  }
  // After `steps` rows these columns are right, and perhaps more than the CTA's own piece of `width` columns.
  if (written && t >= border && t < border + width) results[to + column] = after[t];
}
