"""Kernels that treat each element by itself, wherever it comes from or goes to."""
import triton
import triton.language as tl


@triton.jit
def swiglu(gate, up, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + i, mask=i < n).to(tl.float32)
    u = tl.load(up + i, mask=i < n, eviction_policy="evict_first").to(tl.float32)
    tl.store(out + i, (g * tl.sigmoid(g) * u).to(out.dtype.element_ty), mask=i < n)


@triton.jit
def gather_rows(table, index, out, n, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """out[i] = table[index[i]]: an embedding."""
    i, cols = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    row = tl.load(index + i, mask=i < n, other=0)
    v = tl.load(table + row[:, None] * WIDTH + cols[None, :], mask=i[:, None] < n, eviction_policy="evict_last")
    tl.store(out + i[:, None] * WIDTH + cols[None, :], v, mask=i[:, None] < n)


@triton.jit
def scatter_add(x, index, out, n, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """out[index[i]] += x[i], in any order: an embedding's gradient."""
    i, cols = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    row = tl.load(index + i, mask=i < n, other=0)
    v = tl.load(x + i[:, None] * WIDTH + cols[None, :], mask=i[:, None] < n, other=0)
    tl.atomic_add(out + row[:, None] * WIDTH + cols[None, :], v, mask=i[:, None] < n, sem="relaxed")


@triton.jit
def transpose(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (rows[:, None] < M) & (cols[None, :] < N)
    v = tl.load(x + rows[:, None] * N + cols[None, :], mask=mask)
    tl.store(out + cols[:, None] * M + rows[None, :], tl.trans(v), mask=tl.trans(mask))


@triton.jit
def dropout(x, out, n, seed, BLOCK: tl.constexpr):
    """Half of the elements, picked by a counter-based generator, doubled."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > 0.5
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) * 2, 0), mask=i < n)


@triton.jit
def histogram(x, out, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(out + tl.arange(0, BINS), tl.histogram(tl.load(x + i, mask=i < n), BINS, mask=i < n), sem="relaxed")


@triton.jit
def scaled_copy(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Through tensor maps that each program makes for itself, in scratch memory."""
    a = tl.make_tensor_descriptor(x, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    b = tl.make_tensor_descriptor(out, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    at = [tl.program_id(0) * BM, tl.program_id(1) * BN]
    b.store(at, a.load(at) * 2)


FOLDERS = {
    "swiglu": dict(kernel=swiglu, args="*bf16 *bf16 *bf16 i32", constants={"BLOCK": 1024}),
    "gather": dict(kernel=gather_rows, args="*fp16 *i64 *fp16 i32", constants={"WIDTH": 128, "ROWS": 8}),
    "scatter-add": dict(kernel=scatter_add, args="*fp32 *i32 *fp32 i32", constants={"WIDTH": 64, "ROWS": 8}),
    "transpose": dict(kernel=transpose, args="*fp16 *fp16 i32 i32", constants={"BM": 64, "BN": 64}),
    "dropout": dict(kernel=dropout, args="*fp32 *fp32 i32 i32", constants={"BLOCK": 1024}),
    "histogram": dict(kernel=histogram, args="*i32 *i32 i32", constants={"BLOCK": 1024, "BINS": 64}),
    "scaled-copy": dict(kernel=scaled_copy, args="*fp16 *fp16 i32 i32", constants={"BM": 64, "BN": 64}),
}
