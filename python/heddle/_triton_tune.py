"""Launches of Triton's kernels under their verdicts, and tuned on their own tensors."""

from __future__ import annotations

import logging
import math
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence

from . import _heddle
from ._kernels import Plan

if TYPE_CHECKING:
    from .triton import Tuned, _State

_log = logging.getLogger("heddle.triton")
ROUNDS = 41
"""Pairs of launches that confirm a winner."""


# ---- Plans to try ---------------------------------------------------------------------------------------------

_ORDERS = ("order=band:2", "order=band:4", "order=band:8", "order=band:16", "order=band:32",
           "order=tile:4x4", "order=tile:8x8", "order=col", "order=hilbert", "order=reverse")  # fmt: skip


def widths(tasks: int, numbers: Iterable[int], blocks: Iterable[int]) -> list[int]:
    """How many tiles a row may have, of a kernel that divides the CTA's number itself: an extent among its
    arguments divided by the side of a tile among its constants, where whole rows make up the launch."""
    found = {-(-n // b) for n in numbers for b in blocks if b >= 8 and n > b}
    return sorted((w for w in found if 1 < w < tasks and tasks % w == 0), reverse=True)[:4]


def candidates(grid: Sequence[int], numbers: Iterable[int] = (), blocks: Iterable[int] = ()) -> list[str]:
    """Plans that leave the launch as it is, for a grid; numbers, blocks: as for widths."""
    x, y, z = (tuple(grid) + (1, 1, 1))[:3]
    if x * y * z < 2:
        return []
    if min(x, y) > 1:
        return list(_ORDERS)
    if y * z > 1:
        return ["order=col", "order=reverse"]
    tiles = [f"shape={w}x{x // w}," for w in widths(x, numbers, blocks)]
    return [shape + order for shape in tiles for order in _ORDERS if order != "order=reverse"] + ["order=reverse"]


# ---- Statistics --------------------------------------------------------------------------------------------------


def bounds(ratios: Sequence[float]) -> tuple[float, float, float]:
    """The median and its bounds at 99%, from the order of the values alone."""
    n, s, k, tail = len(ratios), sorted(ratios), 0, 0.5 ** len(ratios)
    while k < n // 2 and tail + math.comb(n, k + 1) * 0.5**n <= 0.005:
        k += 1
        tail += math.comb(n, k) * 0.5**n
    return s[n // 2], s[k], s[n - 1 - k]


# ---- One kernel on a GPU ----------------------------------------------------------------------------------------


class _Bench:
    """Launches of a kernel's variants on one call's tensors."""

    def __init__(self, launch: Callable[[Any], None], storages: Sequence[Any], device: Any):
        self.launch, self.storages, self.device = launch, storages, device
        self.saved = [s.clone() for s in storages]

    def restore(self) -> None:
        for s, saved in zip(self.storages, self.saved):
            s.copy_(saved)

    def result(self, function: Any) -> list[Any]:
        self.restore()
        self.launch(function)
        self.device.synchronize()
        return [s.clone() for s in self.storages]

    def same(self, a: Sequence[Any], b: Sequence[Any]) -> bool:
        import torch

        def view(s: Any) -> Any:
            return torch.empty(0, dtype=torch.uint8, device=s.device).set_(s)

        return all(torch.equal(view(x), view(y)) for x, y in zip(a, b))

    def time(self, function: Any, launches: int) -> float:
        """Microseconds of one launch, of so many in a row."""
        begin, end = (self.device.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            self.launch(function)
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) * 1000 / launches


def choose(time: Callable[[Any, int], float], original: Any, variants: Mapping[str, Any], seconds: float) -> list[str]:
    """Plans by speed, the fastest first: all get a few interleaved rounds, the better half more, again."""
    time(original, 1)
    launches = max(1, min(100, int(500 / max(time(original, 2), 1))))
    left, seen = list(variants), {plan: [] for plan in variants}  # type: ignore[var-annotated]
    spent = 0.0
    while left:
        for _ in range(3):
            for plan in left:
                us = time(variants[plan], launches)
                seen[plan].append(us)
                spent += us * launches / 1e6
        left.sort(key=lambda plan: sorted(seen[plan])[len(seen[plan]) // 2])
        if len(left) <= 2 or spent > seconds / 2:
            break
        left = left[: (len(left) + 1) // 2]
    return left[:3]


def confirm(time: Callable[[Any, int], float], original: Any, variant: Any) -> tuple[list[float], float, float]:
    """Ratios of paired launches that take turns at being first, and both medians."""
    launches = max(1, min(20, int(300 / max(time(original, 2), 1))))
    ratios, before, after = [], [], []
    for i in range(ROUNDS):
        if i % 2:
            before.append(time(original, launches))
            after.append(time(variant, launches))
        else:
            after.append(time(variant, launches))
            before.append(time(original, launches))
        ratios.append(before[-1] / after[-1])
    return ratios, sorted(before)[ROUNDS // 2], sorted(after)[ROUNDS // 2]


# ---- The launcher -------------------------------------------------------------------------------------------------


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for v in values:
        if isinstance(v, (tuple, list)):
            yield from _flat(v)
        else:
            yield getattr(v, "base", v) if type(v).__name__ == "TensorDescriptor" else v


def _storages(values: Iterable[Any]) -> list[Any]:
    found = {}
    for v in _flat(values):
        if hasattr(v, "untyped_storage"):
            s = v.untyped_storage()
            found[s.data_ptr()] = s
    return list(found.values())


class _Kernel:
    """A kernel as Triton compiled it, and its variants."""

    def __init__(self, src: Any, metadata: Any):
        from triton.compiler import make_backend
        from triton.runtime.cache import get_cache_manager

        self.metadata, self.name = metadata, metadata.name
        self.file = src.name[:150]
        self.constants = [v for v in getattr(src, "constants", {}).values() if type(v) is int]
        self.group: dict[str, str] = get_cache_manager(metadata.hash).get_group(f"{self.file}.json") or {}
        self.backend = make_backend(metadata.target)
        self.options = self.backend.parse_options(dict(metadata._asdict()))

    def text(self) -> str | None:
        path = self.group.get(f"{self.file}.ptx")
        if not path:
            return None
        with open(path) as f:
            return f.read()

    def compile(self, plan: str, grid: Sequence[int]) -> tuple[str, bytes] | None:
        """The text under a plan, and its binary; None: the kernel cannot be rewritten so."""
        from .triton import apply

        metadata = self.metadata
        try:
            new = apply(self.text() or "", plan, self.name, grid)
            return new, self.backend.make_cubin(new, dict(metadata._asdict()), self.options, metadata.target.arch)
        except _heddle.Error as e:
            _log.info("%s: %s", self.name, e)
            return None

    def load(self, cubin: bytes) -> Any:
        """The driver's handles of a binary, of which the second is the function."""
        from triton.runtime import driver

        device = driver.active.get_current_device()
        return driver.active.utils.load_binary(self.name, cubin, self.metadata.shared, device)

    def keep(self, plan: str, grid: Sequence[int], made: tuple[str, bytes]) -> None:
        """In Triton's cache, for processes to come."""
        m = self._cache(plan, grid)
        group = {f"{self.file}.{ext}": m.put(data, f"{self.file}.{ext}") for ext, data in zip(("ptx", "cubin"), made)}
        m.put_group(f"{self.file}.json", group)

    def recall(self, plan: str, grid: Sequence[int]) -> bytes | None:
        """The binary as it was kept, else made again."""
        path = (self._cache(plan, grid).get_group(f"{self.file}.json") or {}).get(f"{self.file}.cubin")
        if path:
            with open(path, "rb") as f:
                return f.read()
        made = self.compile(plan, grid)
        if made:
            self.keep(plan, grid, made)
        return made[1] if made else None

    def _cache(self, plan: str, grid: Sequence[int]) -> Any:
        from triton.runtime.cache import get_cache_manager

        from .triton import extended

        return get_cache_manager(extended(self.metadata.hash, plan, grid))


def tune(kernel: _Kernel, launch: Callable[[Any], None], original: Any, grid: Sequence[int], values: Sequence[Any],
         seconds: float) -> tuple[Tuned, Any, tuple[str, bytes] | None, int]:  # fmt: skip
    """(outcome, the function to launch from now on, its text and binary, plans tried)."""
    from triton.runtime import driver

    from .triton import Tuned

    nothing = Tuned(kernel.name, Plan(), 1, 1, 1, 0, 0), original, None, 0
    numbers = [v for v in values if type(v) is int]
    plans = candidates(grid, numbers + kernel.constants, kernel.constants)
    if not plans or kernel.text() is None:
        return nothing
    with ThreadPoolExecutor(8) as pool:
        made = {p: m for p, m in zip(plans, pool.map(lambda p: kernel.compile(p, grid), plans)) if m}
    loaded = {p: kernel.load(m[1]) for p, m in made.items()}
    variants = {p: l[1] for p, l in loaded.items()}
    bench = _Bench(launch, _storages(values), driver.active.get_device_interface())
    try:
        expected = bench.result(original)
        if not bench.same(expected, bench.result(original)):
            _log.info("%s: two runs of the original differ; it stays as it is", kernel.name)
            return nothing
        for plan in choose(bench.time, original, variants, seconds):
            if not bench.same(expected, bench.result(variants[plan])):
                _log.warning("%s, %s: the result differs; the plan is not taken", kernel.name, plan)
                continue
            ratios, before, after = confirm(bench.time, original, variants[plan])
            speedup, low, high = bounds(ratios)
            if low > 1:
                won = Tuned(kernel.name, Plan(plan), speedup, low, high, before, after)
                return won, variants[plan], made[plan], len(plans)
            break
        return nothing[:3] + (len(plans),)
    finally:
        bench.restore()


def launcher_class(base: type, state: _State) -> type:
    """Triton's launcher of kernels, which looks up each grid once."""

    class Launcher:
        def __init__(self, src: Any, metadata: Any):
            self.inner = base(src, metadata)
            self.src, self.metadata = src, metadata
            self.lock = threading.Lock()
            self.functions: dict[tuple[int, int, int], Any] = {}
            """By grid; None: the original."""
            self.loaded: list[Any] = []

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        def __call__(self, x: int, y: int, z: int, stream: Any, function: Any, *rest: Any) -> Any:
            grid = (x, y, z)
            if grid not in self.functions and not _is_captured():
                with self.lock:
                    if grid not in self.functions:
                        self.functions[grid] = self._find(grid, stream, function, rest)
            return self.inner(x, y, z, stream, self.functions.get(grid) or function, *rest)

        def _find(self, grid: Sequence[int], stream: Any, function: Any, rest: Sequence[Any]) -> Any:
            name = self.metadata.name
            if name in state.forced:
                return None
            try:
                plan = state.plan(self.metadata.hash, grid)
                if plan is None and state.tune:
                    return self._tune(grid, stream, function, rest)
                if plan is None or plan == "baseline":
                    return None
                kernel = _Kernel(self.src, self.metadata)
                cubin = kernel.recall(plan, grid)
                return self._load(kernel, cubin) if cubin else None
            except Exception as e:  # no memory for a second copy of the tensors, say: the original runs
                _log.warning("%s stays as it is: %s", name, e)
                return None

        def _load(self, kernel: _Kernel, cubin: bytes) -> Any:
            self.loaded.append(kernel.load(cubin))
            return self.loaded[-1][1]

        def _tune(self, grid: Sequence[int], stream: Any, function: Any, rest: Sequence[Any]) -> Any:
            packed, values = rest[0], rest[4:]

            def launch(f: Any) -> None:
                self.inner(*grid, stream, f, packed, None, None, None, *values)

            kernel = _Kernel(self.src, self.metadata)
            t, chosen, made, tried = tune(kernel, launch, function, grid, values, state.seconds)
            state.keep(self.metadata.hash, grid, t, tried)
            _log.info("%s, grid %s: %s, %.3fx (%.3f to %.3f)", kernel.name, grid, t.plan, t.speedup, t.low, t.high)
            if not made:
                return None
            kernel.keep(str(t.plan), grid, made)
            return chosen

    return Launcher


def _is_captured() -> bool:
    """Whether launches are being recorded, so that none may be measured."""
    try:
        import torch

        return bool(torch.cuda.is_current_stream_capturing())
    except ImportError:
        return False
