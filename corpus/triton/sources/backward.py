"""Gradients: of attention, by blocks of keys and then of queries, and of layer normalisation."""
import triton
import triton.language as tl


@triton.jit
def attention_backward(q, k, v, grad, top, mean, dq, dk, dv, scale, L, D: tl.constexpr, B: tl.constexpr):
    """top: logarithms to base 2 of the rows' sums of exponentials; mean: the rows' products of gradient and result.
    A program takes block i of keys against all queries, then block i of queries against all keys."""
    block, head = tl.program_id(0), tl.program_id(1)
    at = head.to(tl.int64) * L * D
    dims, side = tl.arange(0, D), tl.arange(0, B)
    own = at + (block * B + side)[:, None] * D + dims[None, :]
    keys, values = tl.load(k + own), tl.load(v + own)
    gk, gv = tl.zeros((B, D), tl.float32), tl.zeros((B, D), tl.float32)
    for first in range(0, L, B):
        rows = first + side
        x = tl.load(q + at + rows[:, None] * D + dims[None, :])
        g = tl.load(grad + at + rows[:, None] * D + dims[None, :])
        p = tl.exp2(tl.dot(x, tl.trans(keys)) * (scale * 1.44269504) - tl.load(top + head * L + rows)[:, None])
        gv = tl.dot(tl.trans(p.to(g.dtype)), g, gv)
        ds = p * (tl.dot(g, tl.trans(values)) - tl.load(mean + head * L + rows)[:, None])
        gk = tl.dot(tl.trans(ds.to(x.dtype)), x, gk)
    tl.store(dk + own, (gk * scale).to(dk.dtype.element_ty))
    tl.store(dv + own, gv.to(dv.dtype.element_ty))
    x, g, gq = tl.load(q + own), tl.load(grad + own), tl.zeros((B, D), tl.float32)
    own_top, own_mean = tl.load(top + head * L + block * B + side), tl.load(mean + head * L + block * B + side)
    for first in range(0, L, B):
        rows = first + side
        keys = tl.load(k + at + rows[:, None] * D + dims[None, :])
        values = tl.load(v + at + rows[:, None] * D + dims[None, :])
        p = tl.exp2(tl.dot(x, tl.trans(keys)) * (scale * 1.44269504) - own_top[:, None])
        ds = p * (tl.dot(g, tl.trans(values)) - own_mean[:, None])
        gq = tl.dot(ds.to(keys.dtype), keys, gq)
    tl.store(dq + own, (gq * scale).to(dq.dtype.element_ty))


@triton.jit
def layer_norm_backward(x, weight, grad, dx, dweight, dbias, M, N, eps, BLOCK: tl.constexpr):
    """Each program goes through rows in steps of the grid's size and leaves its own sums of dweight and dbias."""
    cols = tl.arange(0, BLOCK)
    inside = cols < N
    w = tl.load(weight + cols, mask=inside, other=0)
    sum_w, sum_b = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0), M, tl.num_programs(0)):
        v = tl.load(x + row * N + cols, mask=inside, other=0).to(tl.float32)
        g = tl.load(grad + row * N + cols, mask=inside, other=0).to(tl.float32)
        d = tl.where(inside, v - tl.sum(v, 0) / N, 0)
        inverse = tl.rsqrt(tl.sum(d * d, 0) / N + eps)
        unit, wg = d * inverse, w * g
        back = (wg - (unit * (tl.sum(unit * wg, 0) / N) + tl.sum(wg, 0) / N)) * inverse
        tl.store(dx + row * N + cols, back.to(dx.dtype.element_ty), mask=inside)
        sum_w += g * unit
        sum_b += g
    tl.store(dweight + tl.program_id(0) * N + cols, sum_w, mask=inside)
    tl.store(dbias + tl.program_id(0) * N + cols, sum_b, mask=inside)


FOLDERS = {
    "attention-backward": dict(kernel=attention_backward, args="*fp16 *fp16 *fp16 *fp16 *fp32 *fp32 *fp16 *fp16 *fp16 "
                               "fp32 i32", constants={"D": 32, "B": 32}, num_stages=1),
    "layer-norm-backward": dict(kernel=layer_norm_backward, args="*bf16 *fp32 *bf16 *bf16 *fp32 *fp32 i32 i32 fp32",
                                constants={"BLOCK": 512}, odd=("M",)),
}
