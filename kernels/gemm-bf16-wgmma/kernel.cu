// c = a b in bfloat16 on a Hopper's tensor cores, summed in f32. A CTA makes a 128 x 256 tile of c: two
// groups of four warps multiply, 64 x 256 each, by wgmma; one more warp copies slices of a and b, 64 deep,
// into shared memory by TMA, up to four ahead. Tiles are in row order: a row of CTAs shares the rows of a and
// walks over all of b, which no L2 cache holds at the size `gpu`.
//
// kernel.ptx is what scripts/kernel-ptx makes of this file, with nvcc: clang 14 knows no GPU as new as this.
// bench/gemm-grouping defines GROUPED. gemm-bf16-cluster defines PEERS: so many CTAs, one below the other, are a
// cluster; each copies its part of the slice of b into the shared memory of all.
#ifndef PEERS
#define PEERS 1
#endif
#define TILE_ROWS 128
#define TILE_COLUMNS 256
#define DEPTH 64 // 128 bytes, the widest swizzle
#define STAGES 4
#define GROUPS 2
#define GROUP_THREADS 128
#define MULTIPLIERS (GROUPS * GROUP_THREADS)
#define SUMS (64 * TILE_COLUMNS / GROUP_THREADS) // of a thread

typedef unsigned short bf16; // the bits

struct alignas(64) TensorMap {
  unsigned long long words[16];
};

// As TMA lays them down: rows of 128 bytes, in boxes of 64 columns, each row's eight chunks of 16 bytes
// exchanged by the row's number modulo 8, for which boxes must begin at multiples of 1024 bytes.
struct Stage {
  bf16 a[TILE_ROWS][DEPTH];
  bf16 b[TILE_COLUMNS / 64][DEPTH][64];
};

struct Shared {
  Stage stages[STAGES];
  unsigned long long full[STAGES], empty[STAGES]; // mbarriers
};

// The tile of c when all is multiplied, where the stages were.
typedef bf16 Result[GROUPS][TILE_COLUMNS / 64][64][64];

static __device__ unsigned shared_address(const void *p) {
  unsigned long long address;
  asm("cvta.to.shared.u64 %0, %1;" : "=l"(address) : "l"(p));
  return (unsigned)address;
}

static __device__ void initialize(const unsigned long long *barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
               : "memory");
}

static __device__ void wait(const unsigned long long *barrier, unsigned parity) {
  asm volatile("{\n\t.reg .pred done;\nagain:\n\t"
               "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t@!done bra again;\n}" ::"r"(
                   shared_address(barrier)),
               "r"(parity)
               : "memory");
}

static __device__ void copy_box(void *to, const TensorMap *from, int column, int row,
                                const unsigned long long *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
               "%3}], [%4];" ::"r"(shared_address(to)),
               "l"(from), "r"(column), "r"(row), "r"(shared_address(barrier))
               : "memory");
}

// To the CTAs of the cluster whose bits are set, at the same place in each, which each one's barrier hears of.
static __device__ __attribute__((unused)) void spread_box(void *to, const TensorMap *from, int column, int row,
                                  const unsigned long long *barrier, unsigned short peers) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
               "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
               "l"(from), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(peers)
               : "memory");
}

static __device__ __attribute__((unused)) unsigned rank() {
  unsigned r;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

static __device__ void meet_peers() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

static __device__ void store_box(const TensorMap *to, int column, int row, const void *from) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(to),
               "r"(column), "r"(row), "r"(shared_address(from))
               : "memory");
}

// The descriptor of an operand: where it begins, the distance between its boxes and that between groups of
// eight rows, all in units of 16 bytes; swizzled by 128 bytes.
static __device__ unsigned long long operand(const void *first, unsigned boxes) {
  return (unsigned long long)1 << 62 | (unsigned long long)(1024 / 16) << 32 |
         (unsigned long long)(boxes / 16) << 16 | (shared_address(first) & 0x3ffff) >> 4;
}

#define EIGHT(i)                                                                                             \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]),                \
      "+f"(d[i + 6]), "+f"(d[i + 7])

// sum += a b for 16 of DEPTH; b lies with its columns along the rows.
static __device__ void multiply_add(float (&d)[SUMS], unsigned long long a, unsigned long long b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
      "}, %128, %129, 1, 1, 1, 0, 1;"
      : EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56), EIGHT(64),
        EIGHT(72), EIGHT(80), EIGHT(88), EIGHT(96), EIGHT(104), EIGHT(112), EIGHT(120)
      : "l"(a), "l"(b));
}

static __device__ unsigned pack(float low, float high) {
  unsigned r;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(high), "f"(low));
  return r;
}

static __device__ void store_matrices(const void *to, unsigned r0, unsigned r1, unsigned r2, unsigned r3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(to)),
               "r"(r0), "r"(r1), "r"(r2), "r"(r3)
               : "memory");
}

static __device__ void copy_slices(Shared *shared, const TensorMap *a, const TensorMap *b, int row,
                                   int column, int steps) {
  for (int step = 0; step < steps; step++) {
    int s = step % STAGES;
    Stage *stage = &shared->stages[s];
    wait(&shared->empty[s], step / STAGES % 2 ^ 1); // the first time it has never been full
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&shared->full[s])),
        "n"(sizeof(Stage))
        : "memory");
    copy_box(stage->a, a, step * DEPTH, row, &shared->full[s]);
#if PEERS > 1
    const int boxes = TILE_COLUMNS / 64 / PEERS, first = boxes * rank();
#pragma unroll
    for (int box = 0; box < boxes; box++)
      spread_box(stage->b[first + box], b, column + 64 * (first + box), step * DEPTH, &shared->full[s],
                 (1 << PEERS) - 1);
#else
#pragma unroll
    for (int box = 0; box < TILE_COLUMNS / 64; box++)
      copy_box(stage->b[box], b, column + 64 * box, step * DEPTH, &shared->full[s]);
#endif
  }
}

static __device__ void release(Shared *shared, int stage) {
#if PEERS > 1
  if (threadIdx.x % GROUP_THREADS == 0)
#pragma unroll
    for (unsigned peer = 0; peer < PEERS; peer++)
      asm volatile("{\n\t.reg .b32 there;\n\tmapa.shared::cluster.u32 there, %0, %1;\n\t"
                   "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there];\n\t}" ::"r"(
                       shared_address(&shared->empty[stage])),
                   "r"(peer)
                   : "memory");
#else
  if (threadIdx.x % GROUP_THREADS == 0)
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&shared->empty[stage]))
                 : "memory");
#endif
}

static __device__ void multiply(Shared *shared, int group, int steps, float (&sum)[SUMS]) {
  for (int step = 0; step < steps; step++) {
    int s = step % STAGES;
    const Stage *stage = &shared->stages[s];
    wait(&shared->full[s], step / STAGES % 2);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16)
      multiply_add(sum, operand(&stage->a[64 * group][k], 0), operand(&stage->b[0][k], sizeof stage->b[0]));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (step) release(shared, (step - 1) % STAGES); // whose products are done
  }
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

static __device__ void store(Shared *shared, const TensorMap *c, int group, int row, int column,
                             const float (&sum)[SUMS]) {
  Result *result = (Result *)shared->stages;
  int lane = threadIdx.x % 32, line = threadIdx.x % GROUP_THREADS / 32 * 16 + lane % 16;
  asm volatile("bar.sync 1, %0;" ::"n"(MULTIPLIERS) : "memory"); // nobody reads the stages any more
#pragma unroll
  for (int j = 0; j < TILE_COLUMNS / 8; j += 2) // two blocks of 16 x 8 of the warp's 16 rows at once
    store_matrices(&(*result)[group][j / 8][line][(j % 8 + lane / 16 ^ line % 8) * 8],
                   pack(sum[4 * j], sum[4 * j + 1]), pack(sum[4 * j + 2], sum[4 * j + 3]),
                   pack(sum[4 * j + 4], sum[4 * j + 5]), pack(sum[4 * j + 6], sum[4 * j + 7]));
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  asm volatile("bar.sync 1, %0;" ::"n"(MULTIPLIERS) : "memory");
  if (threadIdx.x % GROUP_THREADS == 0) {
#pragma unroll
    for (int box = 0; box < TILE_COLUMNS / 64; box++)
      store_box(c, column + 64 * box, row + 64 * group, (*result)[group][box]);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
}

// The tile in the given row and column of tiles.
static __device__ void make_tile(const TensorMap *a, const TensorMap *b, const TensorMap *c, int k, int row,
                                 int column) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared *shared = (Shared *)memory;
  int group = threadIdx.x / GROUP_THREADS, steps = (k + DEPTH - 1) / DEPTH;
  row *= TILE_ROWS;
  column *= TILE_COLUMNS;
  if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; s++) {
      initialize(&shared->full[s], 1);
      initialize(&shared->empty[s], GROUPS * PEERS);
    }
    if (PEERS > 1) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (PEERS > 1) meet_peers();
  if (threadIdx.x >= MULTIPLIERS) {
    if (threadIdx.x == MULTIPLIERS) copy_slices(shared, a, b, row, column, steps);
  } else {
    float sum[SUMS] = {};
#if PEERS > 1
    // Otherwise nvcc sets these zeros a second time, on a way of its own past the products to the last wait for them,
    // and ptxas then serializes all products (C7515).
#pragma unroll
    for (int i = 0; i < SUMS; i++) asm volatile("" : "+f"(sum[i]));
#endif
    multiply(shared, group, steps, sum);
    store(shared, c, group, row, column, sum);
  }
  if (PEERS > 1) meet_peers(); // nobody reaches into this CTA any more
}

// Rows of all three are multiples of 16 bytes; what lies beyond the edges is read as zeros and not written.
#if PEERS > 1
extern "C" __global__ void __cluster_dims__(1, PEERS, 1) __launch_bounds__(MULTIPLIERS + 32, 1)
    gemm_bf16_cluster(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                      const __grid_constant__ TensorMap c, int k) {
  make_tile(&a, &b, &c, k, blockIdx.y, blockIdx.x);
}
#elif !defined(GROUPED)
extern "C" __global__ void __launch_bounds__(MULTIPLIERS + 32, 1)
    gemm_bf16_wgmma(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                    const __grid_constant__ TensorMap c, int k) {
  make_tile(&a, &b, &c, k, blockIdx.y, blockIdx.x);
}
#else
// As who tunes it by hand would write it: `rows` rows of tiles at a time and in them column by column, or,
// where that is 0, `columns` columns at a time and in them row by row.
extern "C" __global__ void __launch_bounds__(MULTIPLIERS + 32, 1)
    gemm_bf16_wgmma_grouped(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
                            const __grid_constant__ TensorMap c, int k, unsigned rows, unsigned columns) {
  unsigned id = blockIdx.y * gridDim.x + blockIdx.x;
  if (rows) {
    unsigned first = id / (rows * gridDim.x) * rows, place = id % (rows * gridDim.x);
    unsigned height = min(rows, gridDim.y - first);
    make_tile(&a, &b, &c, k, first + place % height, place / height);
  } else {
    unsigned first = id / (columns * gridDim.y) * columns, place = id % (columns * gridDim.y);
    unsigned width = min(columns, gridDim.x - first);
    make_tile(&a, &b, &c, k, place / width, first + place % width);
  }
}
#endif
