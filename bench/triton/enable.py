"""A GEMM in row order under heddle.triton, by a process each: as Triton compiles it, tuned, and from the store.

  enable.py [N]     bf16, N x N x N (default: 16384)
"""
import os
import subprocess
import sys
import tempfile
import time

BM, BN, BK = 128, 256, 64


def run(stage, n, folder):
    import torch
    import triton

    import heddle.triton
    from kernels import gemm

    torch.manual_seed(1)
    a, b = (torch.randn(n, n, device="cuda", dtype=torch.bfloat16) for _ in "ab")
    c = torch.empty_like(a)

    def launch():
        gemm[(triton.cdiv(n, BM) * triton.cdiv(n, BN),)](a, b, c, n, n, n, BM=BM, BN=BN, BK=BK, GROUP=1, COLUMNS=False,
                                                         num_warps=8, num_stages=3)

    def milliseconds():
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        launch()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)

    start = time.time()
    if stage != "plain":
        heddle.triton.enable(tune=stage == "tuned", store=f"{folder}/verdicts.db")
    launch()
    torch.cuda.synchronize()
    first = time.time() - start
    said = f"{stage}: the first launch took {first:.2f} s, others {sorted(milliseconds() for _ in range(7))[3]:.2f} ms"
    if stage == "plain":
        torch.save(c.cpu(), f"{folder}/plain.pt")
    else:
        said += f"; the same bytes: {torch.equal(c.cpu(), torch.load(f'{folder}/plain.pt'))}"
    print(said)
    for t in heddle.triton.tuned():
        print(f"  {t.plan}: {t.speedup:.2f}x ({t.low:.2f} to {t.high:.2f})")


if len(sys.argv) == 4:
    run(sys.argv[1], int(sys.argv[2]), sys.argv[3])
else:
    with tempfile.TemporaryDirectory() as folder:
        for stage in ("plain", "tuned", "stored"):
            subprocess.run([sys.executable, __file__, stage, sys.argv[1] if len(sys.argv) > 1 else "16384", folder],
                           check=True, env=dict(os.environ, TRITON_CACHE_DIR=f"{folder}/cache"))
