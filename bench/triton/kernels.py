"""Triton GEMMs as the tutorials write them: row order, groups of rows or columns, persistent, persistent by TMA."""
import triton
import triton.language as tl


@triton.jit
def place(pid, tiles_m, tiles_n, GROUP: tl.constexpr, COLUMNS: tl.constexpr):
    if GROUP == 1:
        return pid // tiles_n, pid % tiles_n
    if COLUMNS:
        per = GROUP * tiles_m
        first = pid // per * GROUP
        width = min(tiles_n - first, GROUP)
        return pid % per // width, first + pid % width
    per = GROUP * tiles_n
    first = pid // per * GROUP
    height = min(tiles_m - first, GROUP)
    return first + pid % per % height, pid % per // height


@triton.jit
def gemm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
         COLUMNS: tl.constexpr):
    m, n = place(tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN), GROUP, COLUMNS)
    rows = (m * BM + tl.arange(0, BM)) % M
    cols = (n * BN + tl.arange(0, BN)) % N
    ks = tl.arange(0, BK)
    pa = a + rows[:, None] * K + ks[None, :]
    pb = b + ks[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=ks[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        pa += BK
        pb += BK * N
    rows = m * BM + tl.arange(0, BM)
    cols = n * BN + tl.arange(0, BN)
    tl.store(c + rows[:, None] * N + cols[None, :], acc.to(c.dtype.element_ty),
             mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def gemm_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                    COLUMNS: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    ks = tl.arange(0, BK)
    for pid in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        m, n = place(pid, tiles_m, tiles_n, GROUP, COLUMNS)
        rows = (m * BM + tl.arange(0, BM)) % M
        cols = (n * BN + tl.arange(0, BN)) % N
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            at = k * BK + ks
            x = tl.load(a + rows[:, None] * K + at[None, :], mask=at[None, :] < K, other=0.0)
            y = tl.load(b + at[:, None] * N + cols[None, :], mask=at[:, None] < K, other=0.0)
            acc = tl.dot(x, y, acc)
        rows = m * BM + tl.arange(0, BM)
        cols = n * BN + tl.arange(0, BN)
        tl.store(c + rows[:, None] * N + cols[None, :], acc.to(c.dtype.element_ty),
                 mask=(rows[:, None] < M) & (cols[None, :] < N))


@triton.jit
def gemm_tma_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
                        COLUMNS: tl.constexpr):
    tiles_m, tiles_n = tl.cdiv(M, BM), tl.cdiv(N, BN)
    for pid in tl.range(tl.program_id(0), tiles_m * tiles_n, tl.num_programs(0)):
        m, n = place(pid, tiles_m, tiles_n, GROUP, COLUMNS)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            acc = tl.dot(a.load([m * BM, k * BK]), b.load([k * BK, n * BN]), acc)
        c.store([m * BM, n * BN], acc.to(c.dtype))
