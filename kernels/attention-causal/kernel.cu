// Causal attention with a running softmax, in bfloat16 on the tensor cores, summed in f32. CTA (x, y) takes
// the 64 queries of tile x of head y, 16 to each of its 4 warps, and walks over the key tiles up to its own,
// the next one on its way while one is worked on. The query tiles of a head share its keys and
// values; tile x has x + 1 tiles of work.
#define DIM 64
#define TILE 64
#define CHUNKS (DIM / 8) // of 16 bytes to a row
#define THREADS 128
#define STEPS (DIM / 16)     // of a product over the dimensions, or over a tile of keys
#define FRAGMENTS (TILE / 8) // of 8 columns

typedef unsigned short bf16; // the bits

static __device__ unsigned shared_address(const void *p) {
  unsigned long long address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return (unsigned)address;
}

static __device__ void load_matrices(unsigned r[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

static __device__ void load_matrices_transposed(unsigned r[4], unsigned address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(address)
               : "memory");
}

static __device__ void multiply_add(float c[4], const unsigned a[4], const unsigned b[2]) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

static __device__ unsigned pack(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

// A tile's chunks change places within their row so that the 8 rows of a matrix that ldmatrix reads lie
// in different banks.
struct Tile {
  uint4 chunk[TILE * CHUNKS];

  __device__ unsigned at(int row, int column) const {
    return shared_address(&chunk[row * CHUNKS + (column ^ (row % 8))]);
  }

  // Starts to fetch rows first .. first + TILE - 1; those past the last one are zero.
  __device__ void fetch(const bf16 *rows, int first, int count) {
#pragma unroll
    for (int part = 0; part < TILE * CHUNKS / THREADS; part++) {
      int i = part * THREADS + threadIdx.x;
      int row = i / CHUNKS, column = i % CHUNKS;
      bool exists = first + row < count;
      const bf16 *from = exists ? rows + (size_t)(first + row) * DIM + 8 * column : rows;
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at(row, column)), "l"(from),
                   "r"(exists ? 16 : 0)
                   : "memory");
    }
  }
};

// Over the four lanes that hold a row's columns.
static __device__ float row_max(float v) {
  v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 1));
  return fmaxf(v, __shfl_xor_sync(0xffffffffu, v, 2));
}

static __device__ float row_sum(float v) {
  v += __shfl_xor_sync(0xffffffffu, v, 1);
  return v + __shfl_xor_sync(0xffffffffu, v, 2);
}

// Buffers are [head][token][DIM].
extern "C" __global__ void __launch_bounds__(THREADS, 3)
    attention_causal(const bf16 *query, const bf16 *key, const bf16 *value, bf16 *out, int tokens) {
  __shared__ Tile queries, keys[2], values[2];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tile = blockIdx.x;
  size_t head = (size_t)blockIdx.y * tokens * DIM;
  queries.fetch(query + head, tile * TILE, tokens);
  keys[0].fetch(key + head, 0, tokens);
  values[0].fetch(value + head, 0, tokens);
  asm volatile("cp.async.commit_group;" ::: "memory");

  // A lane holds columns 2 (lane % 4) + 0, 1 of the rows lane / 4 and lane / 4 + 8 of each fragment.
  const float infinity = __int_as_float(0x7f800000);
  float sum[2] = {0.0f, 0.0f}, high[2] = {-infinity, -infinity}, result[FRAGMENTS][4] = {};
  unsigned part_q[STEPS][4];

  for (int t = 0; t <= tile; t++) {
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads(); // the tile has arrived, and nobody reads the one before it any more
    if (t < tile) {
      keys[(t + 1) % 2].fetch(key + head, (t + 1) * TILE, tokens);
      values[(t + 1) % 2].fetch(value + head, (t + 1) * TILE, tokens);
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (t == 0)
#pragma unroll
      for (int s = 0; s < STEPS; s++)
        load_matrices(part_q[s], queries.at(16 * warp + lane % 16, 2 * s + lane / 16));

    float score[FRAGMENTS][4] = {};
#pragma unroll
    for (int s = 0; s < STEPS; s++)
#pragma unroll
      for (int f = 0; f < FRAGMENTS; f += 2) {
        unsigned part_k[4]; // two fragments
        load_matrices(part_k, keys[t % 2].at(8 * f + lane % 8 + lane / 16 * 8, 2 * s + lane / 8 % 2));
        multiply_add(score[f], part_q[s], part_k);
        multiply_add(score[f + 1], part_q[s], part_k + 2);
      }
    if (t == tile)
#pragma unroll
      for (int f = 0; f < FRAGMENTS; f++)
#pragma unroll
        for (int i = 0; i < 4; i++)
          if (8 * f + lane % 4 * 2 + i % 2 > 16 * warp + lane / 4 + i / 2 * 8) score[f][i] = -infinity;

    // Scores are in units of log 2: the scale is log2(e) / sqrt(DIM).
    const float scale = 1.44269504f * 0.125f;
#pragma unroll
    for (int r = 0; r < 2; r++) {
      float before = high[r];
#pragma unroll
      for (int f = 0; f < FRAGMENTS; f++)
        high[r] = fmaxf(high[r], fmaxf(score[f][2 * r], score[f][2 * r + 1]) * scale);
      high[r] = row_max(high[r]);
      float shrink = exp2f(before - high[r]);
      sum[r] *= shrink;
#pragma unroll
      for (int f = 0; f < FRAGMENTS; f++)
#pragma unroll
        for (int i = 2 * r; i < 2 * r + 2; i++) {
          result[f][i] *= shrink;
          score[f][i] = exp2f(score[f][i] * scale - high[r]);
          sum[r] += score[f][i];
        }
    }

#pragma unroll
    for (int s = 0; s < STEPS; s++) {
      unsigned part_p[4] = {pack(score[2 * s][0], score[2 * s][1]), pack(score[2 * s][2], score[2 * s][3]),
                            pack(score[2 * s + 1][0], score[2 * s + 1][1]),
                            pack(score[2 * s + 1][2], score[2 * s + 1][3])};
#pragma unroll
      for (int f = 0; f < FRAGMENTS; f += 2) {
        unsigned part_v[4]; // two fragments
        load_matrices_transposed(part_v, values[t % 2].at(16 * s + lane % 16, f + lane / 16));
        multiply_add(result[f], part_p, part_v);
        multiply_add(result[f + 1], part_p, part_v + 2);
      }
    }
  }

#pragma unroll
  for (int r = 0; r < 2; r++) {
    float inverse = 1.0f / row_sum(sum[r]);
    int row = tile * TILE + 16 * warp + lane / 4 + 8 * r;
    if (row < tokens)
#pragma unroll
      for (int f = 0; f < FRAGMENTS; f++)
        *(unsigned *)(out + head + (size_t)row * DIM + 8 * f + lane % 4 * 2) =
            pack(result[f][2 * r] * inverse, result[f][2 * r + 1] * inverse);
  }
}
