"""What a look-up of heddle.triton adds to a launch, over a launcher that does nothing: nanoseconds.

  launches.py [ROUNDS]     rounds of 2,000 launches each, in turns (default: 400)
"""

import statistics
import sys
import time

from heddle import _heddle


class Launcher:
    """As many calls of Python as Triton's, and none of the driver's."""

    def __call__(self, x, y, z, stream, function, *args):
        pass


class Launches(_heddle.Launches):
    def find(self, grid, args):
        self.set(grid, None, None, SAME, 0)


SAME = (None, None, None)


def nanoseconds(launch, n=2000):
    began = time.perf_counter()
    for _ in range(n):
        launch(4, 2, 1, 0, 123456, (1, 2), None, None, None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    return 1e9 * (time.perf_counter() - began) / n


def main(rounds):
    inner = Launcher()
    ways = {"Triton's launcher alone": inner}
    for name, function, grid in (("the original, looked up", None, SAME), ("a plan", 654321, SAME),
                                 ("a plan with workers", 654321, (132, 1, 1))):  # fmt: skip
        ways[name] = Launches(inner)
        ways[name].set((4, 2, 1), inner if function else None, function, grid, 0)
    seen = {name: [] for name in ways}
    for _ in range(rounds):
        for name, launch in ways.items():
            seen[name].append(nanoseconds(launch))
    plain = seen["Triton's launcher alone"]
    for name, all_of_them in seen.items():
        more = statistics.median(a - b for a, b in zip(all_of_them, plain))
        print(f"{name:24} {min(all_of_them):6.0f} least, {more:5.0f} more (median of differences)")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
