"""Kernels for test_triton.py: Triton reads their source."""

import triton
import triton.language as tl


@triton.jit
def rows(x, y, w, B: tl.constexpr):
    i = tl.program_id(1) * w + tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) * 2)


@triton.jit
def tiles(x, y, w, B: tl.constexpr):
    n = tl.cdiv(w, B)
    pid = tl.program_id(0)
    i = (pid // n) * w + (pid % n) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i) * 2)


@triton.jit
def waits(x, y, w, B: tl.constexpr):
    while tl.atomic_add(x, 0) == 0:
        pass
    tl.store(y + tl.program_id(0) * B + tl.arange(0, B), w)
