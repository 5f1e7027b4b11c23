# A training step of a layer, its products by a kernel in Triton whose programs are numbered row by row. `training.py STEPS`
import hashlib
import sys
import time

import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, M, N, K, a_row, a_col, b_row, b_col, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    tiles = tl.cdiv(N, BN)
    rows = pid // tiles * BM + tl.arange(0, BM)
    cols = pid % tiles * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    pa = a + rows[:, None] * a_row + inner[None, :] * a_col
    pb = b + inner[:, None] * b_row + cols[None, :] * b_col
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc += tl.dot(tl.load(pa), tl.load(pb))
        pa += BK * a_col
        pb += BK * b_row
    tl.store(c + rows[:, None] * N + cols[None, :], acc.to(tl.bfloat16))


def multiply(a, b):
    m, k = a.shape
    n = b.shape[1]
    c = torch.empty(m, n, device=a.device, dtype=a.dtype)
    product[(m // 128 * (n // 256),)](a, b, c, m, n, k, *a.stride(), *b.stride(), 128, 256, 64, num_warps=8, num_stages=3)
    return c


class Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return multiply(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return multiply(g, w.t()) if ctx.needs_input_grad[0] else None, multiply(x.t(), g)


steps = int(sys.argv[1]) if len(sys.argv) > 1 else 10
torch.manual_seed(0)
tokens, inputs, outputs = 8192, 8192, 32768
x = torch.randn(tokens, inputs, device="cuda", dtype=torch.bfloat16)
w = (torch.randn(inputs, outputs, device="cuda", dtype=torch.bfloat16) / 96).requires_grad_()
y = torch.randn(tokens, outputs, device="cuda", dtype=torch.bfloat16)
for k in range(steps + 1):
    if k == 1:
        torch.cuda.synchronize()
        begin = time.time()
    error = Linear.apply(x, w) - y
    error.backward(error)
    with torch.no_grad():
        w -= 1e-5 * w.grad
        w.grad = None
torch.cuda.synchronize()
print(f"{(time.time() - begin) / steps:.9f} s per step", file=sys.stderr)
print("weights", hashlib.sha256(w.detach()[:64].float().cpu().numpy().tobytes()).hexdigest()[:16])
