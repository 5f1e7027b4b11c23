"""C = A @ B in tiles, programs in groups of rows, as Triton's users write it."""
import triton
import triton.language as tl


@triton.jit
def tile_of(pid, M, N, BM: tl.constexpr, BN: tl.constexpr, GROUP: tl.constexpr):
    """Tile of a program: GROUP tiles down, then one to the right."""
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    per_group = GROUP * tiles_n
    first = pid // per_group * GROUP
    height = min(tiles_m - first, GROUP)
    return first + pid % per_group % height, pid % per_group // height


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
           ACC: tl.constexpr):
    m, n = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + (rows % M)[:, None] * K + ks[None, :]
    pb = b + ks[:, None] * N + (cols % N)[None, :]
    acc = tl.zeros((BM, BN), ACC)
    for k in range(0, tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(pa, mask=ks[None, :] < left, other=0)
        y = tl.load(pb, mask=ks[:, None] < left, other=0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * N
    at = c + rows[:, None] * N + cols[None, :]
    tl.store(at, acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul_transposed(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    """C = A @ B^T: both operands run along K, as in a linear layer; K is a multiple of BK."""
    m, n = tl.program_id(0), tl.program_id(1)
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + (rows % M)[:, None] * K + ks[None, :]
    pb = b + (cols % N)[None, :] * K + ks[:, None]
    acc = tl.zeros((BM, BN), ACC)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK
    at = c + rows[:, None] * N + cols[None, :]
    tl.store(at, acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul_batched(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """One product per program_id(2); all sizes are whole numbers of tiles."""
    m, n, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2).to(tl.int64)
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    pa = a + batch * M * K + rows[:, None] * K + ks[None, :]
    pb = b + batch * K * N + ks[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(c + batch * M * N + rows[:, None] * N + cols[None, :], acc.to(c.dtype.element_ty))


@triton.jit
def matmul_rows(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tiles in row order, of a grid in one dimension; masks see to the edges."""
    tiles_n = tl.cdiv(N, BN)
    m, n = tl.program_id(0) // tiles_n, tl.program_id(0) % tiles_n
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :], mask=(rows[:, None] < M) & ((k + ks)[None, :] < K), other=0)
        y = tl.load(b + (k + ks)[:, None] * N + cols[None, :], mask=((k + ks)[:, None] < K) & (cols[None, :] < N), other=0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + cols[None, :], acc.to(c.dtype.element_ty),
             mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul_split_k(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                   SPLIT: tl.constexpr):
    """SPLIT programs share a tile, each with every SPLIT-th piece of K, and meet in atomics."""
    piece, tile = tl.program_id(0) % SPLIT, tl.program_id(0) // SPLIT
    m, n = tile_of(tile, M, N, BM, BN, GROUP)
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(piece * BK, K, SPLIT * BK):
        k = first + ks
        x = tl.load(a + (rows % M)[:, None] * K + k[None, :], mask=k[None, :] < K, other=0)
        y = tl.load(b + k[:, None] * N + (cols % N)[None, :], mask=k[:, None] < K, other=0)
        acc = tl.dot(x, y, acc)
    tl.atomic_add(c + rows[:, None] * N + cols[None, :], acc, mask=(rows[:, None] < M) & (cols[None, :] < N),
                  sem="relaxed")


@triton.jit
def matmul_experts(a, b, c, tokens, experts, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
                   GROUP: tl.constexpr):
    """A mixture of experts: each block of BM tokens is multiplied by the matrix of its expert, which a table
    names; another table names the tokens."""
    m, n = tile_of(tl.program_id(0), M, N, BM, BN, GROUP)
    expert = tl.load(experts + m).to(tl.int64)
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    token = tl.load(tokens + rows)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + token[:, None] * K + (k + ks)[None, :])
        y = tl.load(b + expert * K * N + (k + ks)[:, None] * N + cols[None, :], mask=cols[None, :] < N, other=0)
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + cols[None, :], acc.to(c.dtype.element_ty), mask=cols[None, :] < N)


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """As many programs as the launch has, each taking every so-many-th tile."""
    ks = tl.arange(0, BK)
    for pid in tl.range(tl.program_id(0), tl.cdiv(M, BM) * tl.cdiv(N, BN), tl.num_programs(0)):
        m, n = tile_of(pid, M, N, BM, BN, GROUP)
        rows, cols = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
        pa = a + rows[:, None] * K + ks[None, :]
        pb = b + ks[:, None] * N + cols[None, :]
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(tl.load(pa + k, mask=rows[:, None] < M, other=0),
                         tl.load(pb + k * N, mask=cols[None, :] < N, other=0), acc)
        at = c + rows[:, None] * N + cols[None, :]
        tl.store(at, acc.to(c.dtype.element_ty), mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def matmul_persistent_tma(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr):
    """The same through tensor maps; GROUP 0: tiles in row order."""
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for pid in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        if GROUP:
            m, n = tile_of(pid, M, N, BM, BN, GROUP)
        else:
            m, n = pid // tiles_n, pid % tiles_n
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([m * BM, k]), b.load([k, n * BN]), acc)
        c.store([m * BM, n * BN], acc.to(c.dtype))


@triton.jit
def matmul_tma(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Tiles come and go through tensor maps, which also see to the edges."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([k, n]), acc)
    c.store([m, n], acc.to(c.dtype))


@triton.jit
def matmul_tma_transposed(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same for C = A @ B^T."""
    m, n = tl.program_id(0) * BM, tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
    c.store([m, n], acc.to(c.dtype))


TILE = {"BM": 64, "BN": 64, "BK": 32}
FOLDERS = {
    "matmul": dict(kernel=matmul, args="*fp16 *fp16 *fp16 i32 i32 i32",
                   constants=TILE | {"GROUP": 4, "ACC": tl.float32}, num_stages=3),
    "matmul-tf32": dict(kernel=matmul, args="*fp32 *fp32 *fp32 i32 i32 i32",
                        constants=TILE | {"GROUP": 4, "ACC": tl.float32}, num_stages=2),
    "matmul-rows": dict(kernel=matmul_rows, args="*fp16 *fp16 *fp16 i32 i32 i32", constants=TILE, num_stages=3),
    "matmul-split-k": dict(kernel=matmul_split_k, args="*fp16 *fp16 *fp32 i32 i32 i32",
                           constants=TILE | {"GROUP": 4, "SPLIT": 3}, num_stages=3),
    "matmul-experts": dict(kernel=matmul_experts, args="*fp16 *fp16 *fp16 *i32 *i32 i32 i32 i32",
                           constants=TILE | {"GROUP": 4}, num_stages=3),
    "matmul-int8": dict(kernel=matmul_transposed, args="*i8 *i8 *i32 i32 i32 i32",
                        constants=TILE | {"BK": 64, "ACC": tl.int32}, num_stages=3),
    "matmul-e5m2": dict(kernel=matmul_transposed, args="*fp8e5 *fp8e5 *fp32 i32 i32 i32",
                        constants=TILE | {"BK": 64, "ACC": tl.float32}, num_stages=3),
    "matmul-e4m3": dict(kernel=matmul_transposed, args="*fp8e4nv *fp8e4nv *fp32 i32 i32 i32",
                        constants=TILE | {"BK": 64, "ACC": tl.float32}, num_stages=3, least=90),
    "matmul-batched": dict(kernel=matmul_batched, args="*bf16 *bf16 *bf16 i32 i32 i32",
                           constants={"BM": 128, "BN": 64, "BK": 64}, num_stages=3),
    "matmul-persistent": dict(kernel=matmul_persistent, args="*fp16 *fp16 *fp16 i32 i32 i32",
                              constants={"BM": 128, "BN": 128, "BK": 64, "GROUP": 2}, num_warps=8, num_stages=3),
    "matmul-persistent-tma": dict(kernel=matmul_persistent_tma, args="tensordesc<fp16[64,64]> tensordesc<fp16[64,64]> "
                                  "tensordesc<fp16[64,64]> i32 i32 i32",
                                  constants={"BM": 64, "BN": 64, "BK": 64, "GROUP": 4}, num_stages=3, least=90),
    "matmul-persistent-rows": dict(kernel=matmul_persistent_tma, args="tensordesc<fp16[64,64]> tensordesc<fp16[64,64]> "
                                   "tensordesc<fp16[64,64]> i32 i32 i32",
                                   constants={"BM": 64, "BN": 64, "BK": 64, "GROUP": 0}, num_stages=3, least=90),
    "matmul-tma": dict(kernel=matmul_tma, args="tensordesc<fp16[128,64]> tensordesc<fp16[64,64]> "
                       "tensordesc<fp16[128,64]> i32", constants={"BM": 128, "BN": 64, "BK": 64},
                       num_stages=3, least=90),
    "matmul-tma-transposed": dict(kernel=matmul_tma_transposed, args="tensordesc<bf16[128,32]> "
                                  "tensordesc<bf16[32,32]> tensordesc<bf16[128,32]> i32",
                                  constants={"BM": 128, "BN": 32, "BK": 32}, num_warps=8, num_stages=3, least=90),
}
