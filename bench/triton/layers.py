"""Layers of models in Triton, as their users write them: attention with grouped heads, causal and not; decoding over
pages of keys and values that sequences share; tokens times the matrices of their experts; block-sparse times dense."""
import blocks
import decode
import triton
import triton.language as tl


@triton.jit
def add_block(s, z, top, total, acc):
    """Scores and values of a block of keys into the rows' greatest scores, sums of weights and of weighted values."""
    new_top = tl.maximum(top, tl.max(s, 1))
    p = tl.exp2(s - new_top[:, None])
    shrink = tl.exp2(top - new_top)
    return new_top, total * shrink + tl.sum(p, 1), tl.dot(p.to(z.dtype), z, acc * shrink[:, None])


@triton.jit
def attention(q, k, v, out, scale, L, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
              CAUSAL: tl.constexpr):
    """A program for each block of queries and head; GROUP heads of queries share one of keys and values."""
    block, head = tl.program_id(0), tl.program_id(1)
    dims, rows, keys = tl.arange(0, D), block * BQ + tl.arange(0, BQ), tl.arange(0, BK)
    own, shared = head.to(tl.int64) * L * D, (head // GROUP).to(tl.int64) * L * D
    x = tl.load(q + own + rows[:, None] * D + dims[None, :])
    pk = k + shared + keys[None, :] * D + dims[:, None]
    pv = v + shared + keys[:, None] * D + dims[None, :]
    top = tl.full((BQ,), float("-inf"), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    acc = tl.zeros((BQ, D), tl.float32)
    whole = block * BQ if CAUSAL else L
    for _ in range(0, whole, BK):
        top, total, acc = add_block(tl.dot(x, tl.load(pk)) * scale, tl.load(pv), top, total, acc)
        pk += BK * D
        pv += BK * D
    if CAUSAL:
        for first in range(whole, whole + BQ, BK):
            s = tl.dot(x, tl.load(pk)) * scale
            s = tl.where(rows[:, None] >= (first + keys)[None, :], s, float("-inf"))
            top, total, acc = add_block(s, tl.load(pv), top, total, acc)
            pk += BK * D
            pv += BK * D
    tl.store(out + own + rows[:, None] * D + dims[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def experts(a, b, c, tokens, expert_of, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Each block of BM rows gathers its tokens and is multiplied by its expert's matrix; tiles in row order."""
    tiles = tl.cdiv(N, BN)
    m, n = tl.program_id(0) // tiles, tl.program_id(0) % tiles
    expert = tl.load(expert_of + m).to(tl.int64)
    rows, cols, ks = m * BM + tl.arange(0, BM), n * BN + tl.arange(0, BN), tl.arange(0, BK)
    token = tl.load(tokens + rows)
    pa = a + token[:, None] * K + ks[None, :]
    pb = b + expert * K * N + ks[:, None] * N + cols[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(c + rows[:, None] * N + cols[None, :], acc.to(c.dtype.element_ty))


def buffer(name, type, count, fill):
    how = 'compare = "exact"' if fill is None else f'fill = "{fill}"'
    return f'[[buffer]]\nname = "{name}"\ntype = "{type}"\ncount = "{count}"\n{how}\n'


def number(type, value):
    return f'{{ type = "{type}", value = {value} }}'


QKV = [buffer("q", "bf16", "heads * length * 128", "uniform(-1, 1)"),
       buffer("k", "bf16", "heads / 8 * length * 128", "uniform(-1, 1)"),
       buffer("v", "bf16", "heads / 8 * length * 128", "uniform(-1, 1)"),
       buffer("out", "bf16", "heads * length * 128", None)]
SCALE = number("f32", 0.1275)  # log2(e) / sqrt(128)
ATTENTION = dict(kernel=attention, types="*bf16 *bf16 *bf16 *bf16 fp32 i32", grid='"length / 128", "heads"',
                 args=["q", "k", "v", "out", SCALE, number("s32", '"length"')], buffers=QKV,
                 sizes={"tiny": dict(heads=8, length=256), "small": dict(heads=8, length=512),
                        "gpu": dict(heads=32, length=32768)},
                 options=dict(num_warps=8, num_stages=3))
BLOCKS = {"D": 128, "BQ": 128, "BK": 64, "GROUP": 8}
# Page j of a sequence: one of its group's prefix, else its own. Neighbouring sequences are of different groups.
SHARED = "min(1, max(0, prefix - i % (prefix + own)))"
PAGE = (f"{SHARED} * (i / (prefix + own) % groups * prefix + i % (prefix + own)) + (1 - {SHARED}) * "
        "(groups * prefix + i / (prefix + own) * own + i % (prefix + own) - prefix)")
PAGES = "(groups * prefix + sequences * own) * heads * 64 * 128"
LAYERS = {
    "attention": ATTENTION | dict(constants=BLOCKS | {"CAUSAL": False}),
    "attention-causal": ATTENTION | dict(constants=BLOCKS | {"CAUSAL": True}),
    "decode": dict(kernel=decode.attention_decode, types="*bf16 *bf16 *bf16 *i32 *fp32 *fp32 fp32 i32 i32",
                   constants={"D": 128, "PAGE": 64, "GROUP": 8}, grid='"pieces", "heads", "sequences"',
                   args=["q", "k", "v", "table", "out", "top", number("f32", 0.08838835),
                         number("s32", '"prefix + own"'),
                         number("s32", '"ceil_div(prefix + own, pieces)"')],
                   buffers=[buffer("q", "bf16", "sequences * heads * 8 * 128", "uniform(-1, 1)"),
                            buffer("k", "bf16", PAGES, "uniform(-1, 1)"), buffer("v", "bf16", PAGES, "uniform(-1, 1)"),
                            buffer("table", "s32", "sequences * (prefix + own)", f"each({PAGE})"),
                            buffer("out", "f32", "sequences * heads * 8 * pieces * 128", None),
                            buffer("top", "f32", "sequences * heads * 8 * pieces", None)],
                   sizes={"tiny": dict(sequences=4, groups=2, heads=2, prefix=2, own=1, pieces=2),
                          "small": dict(sequences=12, groups=3, heads=2, prefix=4, own=1, pieces=2),
                          "gpu": dict(sequences=512, groups=32, heads=8, prefix=64, own=4, pieces=4)},
                   options=dict(num_warps=4, num_stages=3), odd=decode.FOLDERS["attention-decode"]["odd"]),
    "experts": dict(kernel=experts, types="*bf16 *bf16 *bf16 *i32 *i32 i32 i32",
                    constants={"BM": 128, "BN": 256, "BK": 64}, grid='"blocks * (n / 256)"',
                    args=["a", "b", "c", "tokens", "expert_of", number("s32", '"n"'), number("s32", '"k"')],
                    buffers=[buffer("a", "bf16", "vocabulary * k", "uniform_int(-8, 8)"),
                             buffer("b", "bf16", "experts * k * n", "uniform_int(-8, 8)"),
                             buffer("c", "bf16", "blocks * 128 * n", None),
                             buffer("tokens", "s32", "blocks * 128", "uniform_int(0, vocabulary - 1)"),
                             buffer("expert_of", "s32", "blocks", "sorted(0, experts - 1)")],
                    sizes={"tiny": dict(blocks=2, n=512, k=128, vocabulary=100, experts=2),
                           "small": dict(blocks=4, n=512, k=192, vocabulary=300, experts=2),
                           "gpu": dict(blocks=256, n=14336, k=4096, vocabulary=16384, experts=8)},
                    options=dict(num_warps=8, num_stages=3)),
    "sparse": dict(kernel=blocks.spmm, types="*i32 *i32 *bf16 *bf16 *bf16 i32", constants={"B": 64, "BN": 256},
                   grid='"rows * (n / 256)"', args=["start", "column", "blocks", "dense", "out", number("s32", '"n"')],
                   buffers=[buffer("start", "s32", "rows + 1", "each(i * degree)"),
                            buffer("column", "s32", "rows * degree", "uniform_int(0, rows - 1)"),
                            buffer("blocks", "bf16", "rows * degree * 64 * 64", "uniform_int(-8, 8)"),
                            buffer("dense", "bf16", "rows * 64 * n", "uniform_int(-8, 8)"),
                            buffer("out", "bf16", "rows * 64 * n", None)],
                   sizes={"tiny": dict(rows=3, degree=2, n=512), "small": dict(rows=6, degree=3, n=512),
                          "gpu": dict(rows=1024, degree=32, n=4096)},
                   options=dict(num_warps=8, num_stages=3)),
}
