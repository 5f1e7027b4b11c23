"""Attention with an online softmax: one program per block of queries and head."""
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, scale, L, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, CAUSAL: tl.constexpr):
    block, head = tl.program_id(0), tl.program_id(1)
    at = head.to(tl.int64) * L * D
    dims, rows = tl.arange(0, D), block * BQ + tl.arange(0, BQ)
    x = tl.load(q + at + rows[:, None] * D + dims[None, :])
    top = tl.full((BQ,), float("-inf"), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    acc = tl.zeros((BQ, D), tl.float32)
    end = (block + 1) * BQ if CAUSAL else L
    for first in range(0, end, BK):
        keys = first + tl.arange(0, BK)
        y = tl.load(k + at + keys[None, :] * D + dims[:, None])
        s = tl.dot(x, y) * (scale * 1.44269504)
        if CAUSAL:
            s = tl.where(rows[:, None] >= keys[None, :], s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(v + at + keys[:, None] * D + dims[None, :])
        acc = tl.dot(p.to(z.dtype), z, acc * shrink[:, None])
        top = new_top
    acc = acc / total[:, None]
    tl.store(out + at + rows[:, None] * D + dims[None, :], acc.to(out.dtype.element_ty))


@triton.jit
def attention_grouped(q, k, v, out, scale, L, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr,
                      GROUP: tl.constexpr):
    """Causal attention of a grid in one dimension: the longest blocks of a head first; GROUP heads of queries share
    one of keys and values."""
    blocks = L // BQ
    head, block = tl.program_id(0) // blocks, blocks - 1 - tl.program_id(0) % blocks
    at, shared = head.to(tl.int64) * L * D, (head // GROUP).to(tl.int64) * L * D
    dims, rows = tl.arange(0, D), block * BQ + tl.arange(0, BQ)
    x = tl.load(q + at + rows[:, None] * D + dims[None, :])
    top = tl.full((BQ,), float("-inf"), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    acc = tl.zeros((BQ, D), tl.float32)
    for first in range(0, (block + 1) * BQ, BK):
        keys = first + tl.arange(0, BK)
        y = tl.load(k + shared + keys[None, :] * D + dims[:, None])
        s = tl.dot(x, y) * (scale * 1.44269504)
        s = tl.where(rows[:, None] >= keys[None, :], s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(v + shared + keys[:, None] * D + dims[None, :])
        acc = tl.dot(p.to(z.dtype), z, acc * shrink[:, None])
        top = new_top
    tl.store(out + at + rows[:, None] * D + dims[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


ARGS = "*fp16 *fp16 *fp16 *fp16 fp32 i32"
FOLDERS = {
    "attention": dict(kernel=attention, args=ARGS, constants={"D": 64, "BQ": 64, "BK": 64, "CAUSAL": False},
                      num_stages=2),
    "attention-grouped": dict(kernel=attention_grouped, args=ARGS,
                              constants={"D": 64, "BQ": 64, "BK": 64, "GROUP": 4}, num_stages=2),
    "attention-causal": dict(kernel=attention, args=ARGS.replace("fp16", "bf16"),
                             constants={"D": 64, "BQ": 128, "BK": 64, "CAUSAL": True}, num_warps=8, num_stages=3),
}
