"""Products whose programs find their tiles in other ways than one each: several problems in one launch, equal shares of
the work, a counter in memory, clusters of two."""
import triton
import triton.language as tl


@triton.jit
def product(a, b, M, N, K, m, n, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, first, last):
    """Rounds [first, last) of tile (m, n); where it goes in the result, and which of it is there."""
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(first, last):
        k = i * BK + ks
        x = tl.load(a + rows[:, None] * K + k[None, :], mask=(rows[:, None] < M) & (k[None, :] < K), other=0)
        y = tl.load(b + k[:, None] * N + cols[None, :], mask=(k[:, None] < K) & (cols[None, :] < N), other=0)
        acc = tl.dot(x, y, acc)
    return acc, rows[:, None] * N + cols[None, :], (rows[:, None] < M) & (cols[None, :] < N)


@triton.jit
def matmul_grouped(a_of, b_of, c_of, heights, problems, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Problem i, of heights[i] rows, reads a_of[i] and b_of[i] and writes c_of[i]. Programs go through the tiles of all
    problems, one after the other, in steps of the grid's size."""
    tile, begin, tiles_n = tl.program_id(0), 0, tl.cdiv(N, BN)
    for i in range(problems):
        M = tl.load(heights + i)
        a = tl.load(a_of + i).to(tl.pointer_type(tl.float16))
        b = tl.load(b_of + i).to(tl.pointer_type(tl.float16))
        c = tl.load(c_of + i).to(tl.pointer_type(tl.float16))
        tiles = tl.cdiv(M, BM) * tiles_n
        while tile < begin + tiles:
            own = tile - begin
            acc, at, mask = product(a, b, M, N, K, own // tiles_n, own % tiles_n, BM, BN, BK, 0, tl.cdiv(K, BK))
            tl.store(c + at, acc.to(tl.float16), mask=mask)
            tile += tl.num_programs(0)
        begin += tiles


@triton.jit
def matmul_stream_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The rounds of all tiles in a row, cut into equal shares: a program does the end of one tile, whole ones, and the
    beginning of another. Shares of a tile meet in atomics."""
    tiles_n, rounds = tl.cdiv(N, BN), tl.cdiv(K, BK)
    total = tl.cdiv(M, BM) * tiles_n * rounds
    share = tl.cdiv(total, tl.num_programs(0))
    at, end = tl.program_id(0) * share, min((tl.program_id(0) + 1) * share, total)
    while at < end:
        tile = at // rounds
        stop = min((tile + 1) * rounds, end)
        acc, where, mask = product(a, b, M, N, K, tile // tiles_n, tile % tiles_n, BM, BN, BK, at - tile * rounds,
                                   stop - tile * rounds)
        tl.atomic_add(c + where, acc, mask=mask, sem="relaxed")
        at = stop


@triton.jit
def matmul_counter(a, b, c, counter, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Programs draw tile after tile from a counter."""
    tiles_n = tl.cdiv(N, BN)
    tiles = tl.cdiv(M, BM) * tiles_n
    tile = tl.atomic_add(counter, 1, sem="relaxed")
    while tile < tiles:
        acc, at, mask = product(a, b, M, N, K, tile // tiles_n, tile % tiles_n, BM, BN, BK, 0, tl.cdiv(K, BK))
        tl.store(c + at, acc.to(c.dtype.element_ty), mask=mask)
        tile = tl.atomic_add(counter, 1, sem="relaxed")


@triton.jit
def matmul_clusters(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tiles in row order; the two CTAs of a cluster share one."""
    tiles_n = tl.cdiv(N, BN)
    m, n = tl.program_id(0) // tiles_n, tl.program_id(0) % tiles_n
    acc, at, mask = product(a, b, M, N, K, m, n, BM, BN, BK, 0, tl.cdiv(K, BK))
    tl.store(c + at, acc.to(c.dtype.element_ty), mask=mask)


TILE = {"BM": 64, "BN": 64, "BK": 32}
HALVES = "*fp16 *fp16 *fp16 i32 i32 i32"
FOLDERS = {
    "matmul-grouped": dict(kernel=matmul_grouped, args="*i64 *i64 *i64 *i32 i32 i32 i32",
                           constants=TILE, odd=("problems",)),
    "matmul-stream-k": dict(kernel=matmul_stream_k, args="*fp16 *fp16 *fp32 i32 i32 i32", constants=TILE),
    "matmul-counter": dict(kernel=matmul_counter, args="*fp16 *fp16 *fp16 *i32 i32 i32 i32", constants=TILE),
    "matmul-clusters": dict(kernel=matmul_clusters, args=HALVES, constants=TILE | {"BM": 128}, num_ctas=2, least=90),
}
