// c = a b in bfloat16 on the tensor cores, summed in f32. A CTA of 8 warps makes a 128 x 128 tile of c, its
// warps 64 x 32 each; slices of a and b, 32 deep, come through shared memory, three slices ahead of each
// other. Beyond the edges the slices are zero. Tiles are in row order: a row of CTAs shares the
// rows of a and walks over all of b.
#define TILE 128
#define DEPTH 32
#define STAGES 3
#define THREADS 256
#define FRAGMENTS 4 // of 16 rows, and of 8 columns, to a warp

typedef unsigned short bf16; // the bits

static __device__ unsigned shared_address(const void *p) {
  unsigned long long address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return (unsigned)address;
}

// Copies 16 bytes, or zeros in their place.
static __device__ void copy_async(unsigned to, const bf16 *from, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(exists ? 16 : 0)
               : "memory");
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

// Slices are stored in chunks of 8 elements, 16 bytes; those of a row change places so that the 8 rows of
// a matrix that ldmatrix reads lie in different banks.
static __device__ int chunk_of_a(int row, int chunk) { return row * (DEPTH / 8) + (chunk ^ (row / 2 % 4)); }
static __device__ int chunk_of_b(int row, int chunk) { return row * (TILE / 8) + (chunk ^ (row % 8)); }

struct Slice {
  uint4 a[TILE * DEPTH / 8], b[DEPTH * TILE / 8];
};

static __device__ void fetch(Slice *slice, const bf16 *a, const bf16 *b, int m, int n, int k, int first) {
  int row0 = blockIdx.y * TILE, column0 = blockIdx.x * TILE;
#pragma unroll
  for (int part = 0; part < TILE * DEPTH / 8 / THREADS; part++) {
    int i = part * THREADS + threadIdx.x;
    int row = i / (DEPTH / 8), chunk = i % (DEPTH / 8), depth = first + 8 * chunk;
    bool exists = row0 + row < m && depth < k;
    copy_async(shared_address(&slice->a[chunk_of_a(row, chunk)]),
               exists ? a + (size_t)(row0 + row) * k + depth : a, exists);
  }
#pragma unroll
  for (int part = 0; part < DEPTH * TILE / 8 / THREADS; part++) {
    int i = part * THREADS + threadIdx.x;
    int row = i / (TILE / 8), chunk = i % (TILE / 8), column = column0 + 8 * chunk;
    bool exists = first + row < k && column < n;
    copy_async(shared_address(&slice->b[chunk_of_b(row, chunk)]),
               exists ? b + (size_t)(first + row) * n + column : b, exists);
  }
}

// m, n and k are multiples of 8, so that no chunk hangs over an edge.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    gemm_bf16(const bf16 *a, const bf16 *b, bf16 *c, int m, int n, int k) {
  __shared__ Slice slices[STAGES];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
  float sum[FRAGMENTS][FRAGMENTS][4] = {};

  for (int stage = 0; stage < STAGES - 1; stage++) {
    fetch(&slices[stage], a, b, m, n, k, stage * DEPTH);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  int reading = 0, writing = STAGES - 1;
  for (int first = 0; first < k; first += DEPTH) {
    asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
    __syncthreads(); // the slice has arrived, and nobody reads the one before it any more
    if (first + (STAGES - 1) * DEPTH < k)
      fetch(&slices[writing], a, b, m, n, k, first + (STAGES - 1) * DEPTH);
    asm volatile("cp.async.commit_group;" ::: "memory");
    const Slice *slice = &slices[reading];
#pragma unroll
    for (int step = 0; step < DEPTH / 16; step++) {
      unsigned part_a[FRAGMENTS][4], part_b[FRAGMENTS / 2][4]; // of b, two to a load
#pragma unroll
      for (int i = 0; i < FRAGMENTS; i++)
        load_matrices(
            part_a[i],
            shared_address(&slice->a[chunk_of_a(warp_row + 16 * i + lane % 16, 2 * step + lane / 16)]));
#pragma unroll
      for (int j = 0; j < FRAGMENTS / 2; j++)
        load_matrices_transposed(
            part_b[j],
            shared_address(
                &slice->b[chunk_of_b(16 * step + lane % 16, warp_column / 8 + 2 * j + lane / 16)]));
#pragma unroll
      for (int i = 0; i < FRAGMENTS; i++)
#pragma unroll
        for (int j = 0; j < FRAGMENTS; j++) multiply_add(sum[i][j], part_a[i], &part_b[j / 2][j % 2 * 2]);
    }
    reading = reading + 1 == STAGES ? 0 : reading + 1;
    writing = writing + 1 == STAGES ? 0 : writing + 1;
  }

  int row0 = blockIdx.y * TILE + warp_row + lane / 4,
      column0 = blockIdx.x * TILE + warp_column + lane % 4 * 2;
#pragma unroll
  for (int i = 0; i < FRAGMENTS; i++)
#pragma unroll
    for (int j = 0; j < FRAGMENTS; j++)
#pragma unroll
      for (int half = 0; half < 2; half++) {
        int row = row0 + 16 * i + 8 * half, column = column0 + 8 * j;
        if (row < m && column < n)
          *(unsigned *)(c + (size_t)row * n + column) = pack(sum[i][j][2 * half], sum[i][j][2 * half + 1]);
      }
}
