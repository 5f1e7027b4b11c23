"""Decoding: a new token of each sequence against pages of keys and values, some of which sequences share."""
import triton
import triton.language as tl


@triton.jit
def attention_decode(q, k, v, table, out, top_out, scale, PAGES, PIECE, D: tl.constexpr, PAGE: tl.constexpr,
                     GROUP: tl.constexpr):
    """A program for each piece of a sequence's pages, head of keys and sequence; GROUP heads of queries share the head.
    What the pieces leave is averages, and logarithms of their weights."""
    piece, head, sequence = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    heads, pieces = tl.num_programs(1), tl.num_programs(0)
    dims, queries, keys = tl.arange(0, D), tl.arange(0, 16), tl.arange(0, PAGE)
    first = (sequence * heads + head) * GROUP
    x = tl.load(q + (first + queries)[:, None] * D + dims[None, :], mask=queries[:, None] < GROUP, other=0)
    top = tl.full((16,), float("-inf"), tl.float32)
    total = tl.zeros((16,), tl.float32)
    acc = tl.zeros((16, D), tl.float32)
    for i in range(piece * PIECE, min(piece * PIECE + PIECE, PAGES)):
        page = tl.load(table + sequence * PAGES + i).to(tl.int64)
        at = (page * heads + head) * PAGE * D
        s = tl.dot(x, tl.load(k + at + keys[None, :] * D + dims[:, None])) * (scale * 1.44269504)
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp2(s - new_top[:, None])
        shrink = tl.exp2(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        z = tl.load(v + at + keys[:, None] * D + dims[None, :])
        acc = tl.dot(p.to(z.dtype), z, acc * shrink[:, None])
        top = new_top
    slot = first * pieces + piece * GROUP + queries
    tl.store(out + slot[:, None] * D + dims[None, :], acc / total[:, None], mask=queries[:, None] < GROUP)
    tl.store(top_out + slot, top + tl.log2(total), mask=queries < GROUP)


FOLDERS = {
    "attention-decode": dict(kernel=attention_decode, args="*fp16 *fp16 *fp16 *i32 *fp32 *fp32 fp32 i32 i32",
                             constants={"D": 64, "PAGE": 32, "GROUP": 4}, odd=("PAGES", "PIECE")),
}
