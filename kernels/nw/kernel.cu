// Needleman-Wunsch alignment after Rodinia: the score matrix is filled in tiles of 16 x 16, one CTA of 16
// threads each, one launch per diagonal of tiles: nw_growing until the longest one, nw_shrinking after it.
// CTA i of a launch takes the i-th tile of its diagonal from the left. A tile reads the last row, column and
// corner of its neighbours, which were written just before, and writes where the lines of its neighbours'
// reads lie.
#define TILE 16

static __device__ int max3(int a, int b, int c) {
  int m = a > b ? a : b;
  return m > c ? m : c;
}

static __device__ void align_tile(const int *similarity, int *score, int stride, int penalty, int tile_x,
                                  int tile_y) {
  __shared__ int cell[TILE + 1][TILE + 1];
  __shared__ int like[TILE][TILE];
  int t = threadIdx.x;
  int corner = stride * TILE * tile_y + TILE * tile_x;
  int inner = corner + stride + 1 + t; // row 0 of the tile, column t
  if (t == 0) cell[0][0] = score[corner];
  for (int y = 0; y < TILE; y++) like[y][t] = similarity[inner + stride * y];
  __syncthreads();
  cell[t + 1][0] = score[corner + stride * (t + 1)];
  __syncthreads();
  cell[0][t + 1] = score[corner + t + 1];
  __syncthreads();
  for (int step = 0; step < 2 * TILE - 1; step++) {
    int x = step < TILE ? t + 1 : t + step - TILE + 2;
    int y = step < TILE ? step - t + 1 : TILE - t;
    int active = step < TILE ? t <= step : t <= 2 * TILE - 2 - step;
    if (active)
      cell[y][x] =
          max3(cell[y - 1][x - 1] + like[y - 1][x - 1], cell[y][x - 1] - penalty, cell[y - 1][x] - penalty);
    __syncthreads();
  }
  for (int y = 0; y < TILE; y++) score[inner + stride * y] = cell[y + 1][t + 1];
}

// Diagonal of `tiles` tiles, the topmost in row 0.
extern "C" __global__ void nw_growing(const int *similarity, int *score, int stride, int penalty, int tiles) {
  align_tile(similarity, score, stride, penalty, blockIdx.x, tiles - 1 - blockIdx.x);
}

// Diagonal of `tiles` tiles, the lowest in the last of `width` rows.
extern "C" __global__ void nw_shrinking(const int *similarity, int *score, int stride, int penalty, int tiles,
                                        int width) {
  align_tile(similarity, score, stride, penalty, blockIdx.x + width - tiles, width - blockIdx.x - 1);
}
