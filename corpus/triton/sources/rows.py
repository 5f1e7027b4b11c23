"""Kernels that go through whole rows or columns."""
import triton
import triton.language as tl


@triton.jit
def softmax(x, out, N, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * N + cols, e / tl.sum(e, 0), mask=cols < N)


@triton.jit
def layer_norm(x, weight, bias, out, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    sum = tl.zeros((BLOCK,), tl.float32)
    for at in range(0, N, BLOCK):
        cols = at + tl.arange(0, BLOCK)
        sum += tl.load(x + row * N + cols, mask=cols < N, other=0).to(tl.float32)
    mean = tl.sum(sum, 0) / N
    square = tl.zeros((BLOCK,), tl.float32)
    for at in range(0, N, BLOCK):
        cols = at + tl.arange(0, BLOCK)
        d = tl.load(x + row * N + cols, mask=cols < N, other=0).to(tl.float32) - mean
        square += tl.where(cols < N, d * d, 0)
    scale = tl.rsqrt(tl.sum(square, 0) / N + eps)
    for at in range(0, N, BLOCK):
        cols = at + tl.arange(0, BLOCK)
        v = tl.load(x + row * N + cols, mask=cols < N, other=0).to(tl.float32)
        w, b = tl.load(weight + cols, mask=cols < N), tl.load(bias + cols, mask=cols < N)
        tl.store(out + row * N + cols, ((v - mean) * scale * w + b).to(out.dtype.element_ty), mask=cols < N)


@triton.jit
def cross_entropy(logits, labels, loss, N, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    top, total = float("-inf"), 0.0
    for at in range(0, N, BLOCK):
        v = tl.load(logits + row * N + at + cols, mask=at + cols < N, other=float("-inf")).to(tl.float32)
        new_top = tl.maximum(top, tl.max(v, 0))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(v - new_top), 0)
        top = new_top
    label = tl.load(labels + row)
    tl.store(loss + row, tl.log(total) + top - tl.load(logits + row * N + label).to(tl.float32))


@triton.jit
def row_extremes(x, top, where, N, BLOCK: tl.constexpr):
    """The greatest element of each row, and where it first stands."""
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * N + cols, mask=cols < N, other=-2147483648)
    best, at = tl.max(v, 0, return_indices=True)
    tl.store(top + row, best)
    tl.store(where + row, at)


@triton.jit
def row_sum(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    rows, cols = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN)
    sum = tl.zeros((BM, BN), tl.float32)
    for at in range(0, N, BN):
        mask = (rows[:, None] < M) & (at + cols[None, :] < N)
        sum += tl.load(x + rows[:, None] * N + at + cols[None, :], mask=mask, other=0).to(tl.float32)
    tl.store(out + rows, tl.sum(sum, 1), mask=rows < M)


@triton.jit
def column_sum(x, out, M, N, BM: tl.constexpr, BN: tl.constexpr):
    """Each program sums one slab of rows; slabs meet in atomics."""
    rows, cols = tl.program_id(1) * BM + tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    v = tl.load(x + rows[:, None] * N + cols[None, :], mask=(rows[:, None] < M) & (cols[None, :] < N), other=0)
    tl.atomic_add(out + cols, tl.sum(v.to(tl.int32), 0), mask=cols < N, sem="relaxed")


@triton.jit
def cumulative_sum(x, out, N, BLOCK: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, BLOCK)
    carry = 0.0
    for at in range(0, N, BLOCK):
        v = tl.load(x + row * N + at + cols, mask=at + cols < N, other=0)
        tl.store(out + row * N + at + cols, tl.cumsum(v, 0) + carry, mask=at + cols < N)
        carry += tl.sum(v, 0)


@triton.jit
def sort(x, out, N: tl.constexpr):
    row, cols = tl.program_id(0), tl.arange(0, N)
    tl.store(out + row * N + cols, tl.sort(tl.load(x + row * N + cols)))


FOLDERS = {
    "softmax": dict(kernel=softmax, args="*fp32 *fp32 i32", constants={"BLOCK": 1024}),
    "layer-norm": dict(kernel=layer_norm, args="*bf16 *fp32 *fp32 *bf16 i32 fp32", constants={"BLOCK": 512}),
    "cross-entropy": dict(kernel=cross_entropy, args="*fp16 *i64 *fp32 i32", constants={"BLOCK": 512}),
    "row-extremes": dict(kernel=row_extremes, args="*i32 *i32 *i32 i32", constants={"BLOCK": 512}),
    "row-sum": dict(kernel=row_sum, args="*fp16 *fp32 i32 i32", constants={"BM": 16, "BN": 128}),
    "column-sum": dict(kernel=column_sum, args="*i8 *i32 i32 i32", constants={"BM": 64, "BN": 64}),
    "cumulative-sum": dict(kernel=cumulative_sum, args="*fp32 *fp32 i32", constants={"BLOCK": 512}),
    "sort": dict(kernel=sort, args="*fp32 *fp32", constants={"N": 256}),
}
