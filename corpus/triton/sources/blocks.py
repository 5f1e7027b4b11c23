"""Products of matrices in blocks: sparse ones in compressed rows of blocks, 8-bit ones with a scale for each block."""
import triton
import triton.language as tl


@triton.jit
def spmm(start, column, blocks, dense, out, N, B: tl.constexpr, BN: tl.constexpr):
    """Rows of B x B blocks in compressed form times a dense matrix; tiles of the result in row order."""
    tiles = tl.cdiv(N, BN)
    row, n = tl.program_id(0) // tiles, tl.program_id(0) % tiles
    side, cols = tl.arange(0, B), n * BN + tl.arange(0, BN)
    acc = tl.zeros((B, BN), tl.float32)
    for e in range(tl.load(start + row), tl.load(start + row + 1)):
        below = tl.load(column + e) * B + side
        x = tl.load(blocks + e * B * B + side[:, None] * B + side[None, :])
        acc = tl.dot(x, tl.load(dense + below[:, None] * N + cols[None, :], mask=cols[None, :] < N, other=0), acc)
    tl.store(out + (row * B + side)[:, None] * N + cols[None, :], acc.to(out.dtype.element_ty), mask=cols[None, :] < N)


@triton.jit
def matmul_scaled(a, b, scale_a, scale_b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """C = A @ B^T of 8-bit floats; every 32 elements along K share a power of two. Tiles in row order."""
    tiles_n = tl.cdiv(N, BN)
    m, n = tl.program_id(0) // tiles_n, tl.program_id(0) % tiles_n
    rows, cols = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN)
    ks, groups = tl.arange(0, BK), tl.arange(0, BK // 32)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :])
        y = tl.load(b + cols[None, :] * K + (k + ks)[:, None])
        sx = tl.load(scale_a + rows[:, None] * (K // 32) + (k // 32 + groups)[None, :])
        sy = tl.load(scale_b + cols[:, None] * (K // 32) + (k // 32 + groups)[None, :])
        acc = tl.dot_scaled(x, sx, "e5m2", y, sy, "e5m2", acc)
    tl.store(c + rows[:, None] * N + cols[None, :], acc)


@triton.jit
def permuted_sum(x, bias, out, n, XBLOCK: tl.constexpr):
    """out[b, h, t, d] = x[b, t, h, d] + bias[h, d] by one number that constants divide, as graph compilers fuse it."""
    at = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)
    d, t, h, b = at % 64, at // 64 % 96, at // (64 * 96) % 6, at // (64 * 96 * 6)
    v = tl.load(x + d + 64 * h + 64 * 6 * t + 64 * 6 * 96 * b, mask=at < n)
    tl.store(out + at, v + tl.load(bias + d + 64 * h, mask=at < n), mask=at < n)


FOLDERS = {
    "spmm": dict(kernel=spmm, args="*i32 *i32 *fp16 *fp16 *fp16 i32", constants={"B": 32, "BN": 64}),
    "matmul-scaled": dict(kernel=matmul_scaled, args="*fp8e5 *fp8e5 *u8 *u8 *fp32 i32 i32 i32",
                          constants={"BM": 64, "BN": 64, "BK": 64}),
    "permuted-sum": dict(kernel=permuted_sum, args="*fp32 *fp32 *fp32 i32", constants={"XBLOCK": 1024}),
}
