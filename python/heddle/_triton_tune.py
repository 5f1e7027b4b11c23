"""Launches of Triton's kernels under their verdicts, and tuned on their own tensors."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

from . import _heddle
from ._plans import Plan

if TYPE_CHECKING:
    from .triton import Tuned, _State

_log = logging.getLogger("heddle.triton")
GAIN = 1.01
"""What a plan must gain for sure to be taken."""


# ---- Plans to try ---------------------------------------------------------------------------------------------


def widths(tasks: int, numbers: Iterable[int], blocks: Iterable[int]) -> list[int]:
    """How many tiles a row may have, of a kernel that divides the CTA's number itself: an extent among its
    arguments divided by the side of a tile among its constants, where whole rows make up the launch."""
    found = {-(-n // b) for n in numbers for b in blocks if b >= 8 and n > b}
    return sorted((w for w in found if 1 < w < tasks and tasks % w == 0), reverse=True)[:4]


class Ahead:
    """What a function makes of items, in threads, before they are asked for."""

    def __init__(self, make: Callable[[str], Any], threads: int = 8):
        self.make, self.pool = make, ThreadPoolExecutor(threads)
        self.waiting: dict[str, Future[Any]] = {}

    def announce(self, items: Sequence[str]) -> None:
        for item in items:
            if item not in self.waiting:
                self.waiting[item] = self.pool.submit(self.make, item)

    def take(self, item: str) -> Any:
        found = self.waiting.pop(item, None)
        return found.result() if found else self.make(item)

    def close(self) -> None:
        self.pool.shutdown(cancel_futures=True)


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
        """Seconds of one launch, of so many in a row."""
        begin, end = (self.device.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(launches):
            self.launch(function)
        end.record()
        end.synchronize()
        return float(begin.elapsed_time(end)) / 1000 / launches


class Contest:
    """What heddle's contest of plans asks for (_heddle.contest): variants made, and run."""

    def __init__(self, bench: Any, original: Any, make: Callable[[str], Any], ahead: Callable[[Sequence[str]], None]):
        self.bench, self.original, self.make, self.ahead = bench, original, make, ahead
        self.expected = bench.result(original)
        bench.time(original, 1)
        self.launches = max(1, min(20, round(300e-6 / max(bench.time(original, 2), 1e-6))))

    def run(self, variant: Any, check: bool) -> tuple[float, bool]:
        """A variant begins with its function; None: the original."""
        function = variant[0] if variant else self.original
        same = not check or self.bench.same(self.expected, self.bench.result(function))
        return self.bench.time(function, 1 if check else self.launches), same


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
         seconds: float) -> tuple[Tuned, Any, tuple[str, bytes] | None, int | None]:  # fmt: skip
    """(outcome, the function to launch from now on, its text and binary, plans tried; None: it was not decided)."""
    from triton.runtime import driver

    from .triton import Tuned

    nothing = Tuned(kernel.name, Plan(), 1, 1, 1, 0, 0), original, None, 0
    numbers = [v for v in values if type(v) is int]
    text, (x, y, z) = kernel.text(), grid
    if text is None:
        return nothing
    rows = widths(x, numbers + kernel.constants, kernel.constants) if y * z == 1 else []
    made = Ahead(lambda plan: kernel.compile(plan, grid))

    def make(plan: str) -> Any:
        new = made.take(plan)
        return (kernel.load(new[1])[1], new) if new else None

    bench = _Bench(launch, _storages(values), driver.active.get_device_interface())
    try:
        contest, block = Contest(bench, original, make, made.announce), 32 * kernel.metadata.num_warps
        found = _heddle.contest(contest, text, kernel.name, grid, block, rows, seconds, GAIN, 0)
        won, plan, variant, speedup, low, high, before, after, pairs, tried = found
        if not won:
            return nothing[:3] + (None if won is None else tried,)
        outcome = Tuned(kernel.name, Plan(plan), speedup, low, high, 1e6 * before, 1e6 * after, pairs)
        return outcome, variant[0], variant[1], tried
    except (_heddle.RefusedError, _heddle.BudgetError) as e:
        _log.info("%s stays as it is: %s", kernel.name, e)
        return nothing[:3] + (0 if isinstance(e, _heddle.RefusedError) else None,)
    finally:
        made.close()
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
            if tried is not None:
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
