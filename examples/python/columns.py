"""The kernel of examples/columns on arrays of our own: which plan makes it faster, and is the result the same?

python examples/python/columns.py [N [FOLDER]]    N x N numbers (256); pages and the kernel go into FOLDER
"""

import sys
from pathlib import Path

import heddle
import numpy as np


def tell(stage: str, done: int, n: int) -> None:
    print(f"\r{stage} {done}/{n}   ", end="", file=sys.stderr)


def main(n: int, folder: Path | None) -> heddle.Optimized:
    scale = heddle.kernel(Path(__file__).parents[1] / "columns/columns.ptx", "scale")
    x = np.random.default_rng(1).random((n, n), dtype=np.float32)
    launched = scale.launch(x, np.zeros_like(x), 2.0, n, grid=(n // 32, n // 8), block=(32, 8))
    try:
        best = launched.optimize(gpu="h100", progress=tell)
    except heddle.NoAnswerError as e:
        sys.exit(f"no answer after {len(e.tried)} plans: {e}")
    print(f"\r{scale.name}: {best.plan}, {best.speedup:.2f}x, {'proved' if best.proved else best.why}")
    for file in best.save(folder) if folder else []:
        print(file)
    return best


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 256, Path(sys.argv[2]) if len(sys.argv) > 2 else None)
