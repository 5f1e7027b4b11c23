"""Triton's kernels under plans, and tuned on their own tensors."""

from __future__ import annotations

import ctypes
import json
import logging
import os
import re
import threading
from collections import namedtuple
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Callable, Iterable, NamedTuple, Sequence

from . import _heddle
from ._plans import Plan
from ._triton_guard import SAME, Variant

if TYPE_CHECKING:
    from .triton import Tuned

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


# ---- Kernels -------------------------------------------------------------------------------------------------


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


class Made(NamedTuple):
    """A kernel under a plan."""

    text: str
    cubin: bytes
    agents: bool
    """It is launched in another grid, and on SMs that the plan names, where `some`."""
    some: bool
    alone: bool
    """Its launches share a state, and come one after the other."""


def sms() -> int:
    """Of the current GPU; 0: there is none."""
    try:
        from triton.runtime import driver

        device = driver.active.get_current_device()
        return int(driver.active.get_device_interface().get_device_properties(device).multi_processor_count)
    except Exception:
        return 0


class Kernel:
    """A kernel as Triton compiled it, and its variants."""

    def __init__(self, metadata: Any, file: str, constants: Sequence[int], group: dict[str, str]):
        from triton.compiler import make_backend

        self.metadata, self.name, self.file, self.group = metadata, metadata.name, file, group
        self.constants = list(constants)
        """Numbers among its constants."""
        self.backend = make_backend(metadata.target)
        self.options = self.backend.parse_options(dict(metadata._asdict()))

    @classmethod
    def of(cls, src: Any, metadata: Any) -> Kernel:
        """As Triton's launcher knows it."""
        file = src.name[:150]
        constants = [v for v in getattr(src, "constants", {}).values() if type(v) is int]
        return cls(metadata, file, constants, _group(metadata.hash, file))

    @classmethod
    def kept(cls, key: str, name: str) -> Kernel:
        """As it lies in Triton's cache. FileNotFoundError: it does not."""
        from triton.backends.compiler import GPUTarget

        file = name[:150]
        group = _group(key, file)
        if f"{file}.json" not in group:
            raise FileNotFoundError(f"{name} is not in Triton's cache")
        with open(group[f"{file}.json"]) as f:
            known = json.load(f)
        target = known["target"]
        known["target"] = GPUTarget(target["backend"], target["arch"], target["warp_size"])
        return cls(namedtuple("Metadata", sorted(known))(**known), file, [], group)

    def text(self) -> str | None:
        path = self.group.get(f"{self.file}.ptx")
        if not path:
            return None
        with open(path) as f:
            return f.read()

    def is_free(self) -> bool:
        """Whether its launches may get another grid: nothing but the grid and the arguments makes them what they are."""
        words = ("launch_pdl", "launch_cooperative_grid", "global_scratch_size", "profile_scratch_size")
        return not any(getattr(self.metadata, w, None) for w in words) and getattr(self.metadata, "num_ctas", 1) == 1

    def compile(self, plan: str, grid: Sequence[int]) -> Made | None:
        """None: the kernel cannot be rewritten so."""
        metadata = self.metadata
        try:
            new, agents, some, alone = _heddle.rewrite_launch(self.text() or "", plan, self.name, tuple(grid), None, sms(), metadata.shared)
            if (agents or alone) and not self.is_free():
                return None
            new = for_assembler(new, metadata.target.arch)
            with _quietly():
                cubin = self.backend.make_cubin(new, dict(metadata._asdict()), self.options, metadata.target.arch)
            return Made(new, cubin, agents, some, alone)
        except _heddle.Error as e:
            _log.info("%s: %s", self.name, e)
        except RuntimeError as e:  # Triton's, of its assembler
            _log.info("%s: %s: %s", self.name, plan, str(e).strip().splitlines()[0])
        return None

    def load(self, cubin: bytes) -> Any:
        """The driver's handles of a binary, of which the second is the function."""
        from triton.runtime import driver

        device = driver.active.get_current_device()
        return driver.active.utils.load_binary(self.name, cubin, self.metadata.shared, device)

    def resident(self, function: Any) -> int:
        """CTAs that fit on an SM; 0: it is not known."""
        n = ctypes.c_int(0)
        failed = ctypes.CDLL("libcuda.so.1").cuOccupancyMaxActiveBlocksPerMultiprocessor(
            ctypes.byref(n), ctypes.c_void_p(function), 32 * self.metadata.num_warps, ctypes.c_size_t(self.metadata.shared)
        )
        return 0 if failed else n.value

    def variant(self, made: Made, function: Any, grid: Sequence[int], stream: int) -> Variant:
        """How what is loaded is launched."""
        dims = SAME
        if made.agents:
            dims = _heddle.worker_grid(tuple(grid), made.some, sms(), max(self.resident(function), 1))
        return Variant(function, dims, stream if made.alone else None)

    def keep(self, plan: str, grid: Sequence[int], made: Made) -> None:
        """In Triton's cache, for processes to come."""
        m = self._cache(plan, grid)
        launch = json.dumps([made.agents, made.some, made.alone])
        files = {"ptx": made.text, "cubin": made.cubin, "launch": launch}
        group = {f"{self.file}.{ext}": m.put(data, f"{self.file}.{ext}") for ext, data in files.items()}
        m.put_group(f"{self.file}.json", group)

    def recall(self, plan: str, grid: Sequence[int]) -> tuple[Made | None, bool]:
        """As it was kept (True), else made again; None: it cannot be."""
        group = self._cache(plan, grid).get_group(f"{self.file}.json") or {}
        paths = [group.get(f"{self.file}.{ext}") for ext in ("cubin", "launch")]
        if all(paths):
            with open(str(paths[0]), "rb") as f, open(str(paths[1])) as launch:
                return Made("", f.read(), *json.load(launch)), True
        made = self.compile(plan, grid)
        if made:
            self.keep(plan, grid, made)
        return made, False

    def _cache(self, plan: str, grid: Sequence[int]) -> Any:
        from triton.runtime.cache import get_cache_manager

        from .triton import extended

        return get_cache_manager(extended(self.metadata.hash, plan, grid))


def _group(key: str, file: str) -> dict[str, str]:
    """A kernel's files: in Triton's cache as it is set now, or where it was before PyTorch set its own."""
    from triton.runtime.cache import get_cache_manager

    m = get_cache_manager(key)
    found = m.get_group(f"{file}.json")
    usual = os.path.join(os.path.expanduser("~"), ".triton", "cache")
    if not found and hasattr(m, "cache_dir"):
        m.cache_dir = os.path.join(usual, os.path.basename(m.cache_dir))
        found = m.get_group(f"{file}.json")
    return found or {}


# ---- Triton's assembler -------------------------------------------------------------------------------------------


_VERSION = re.compile(r"^(\s*\.version\s+)(\d+)\.(\d+)", re.M)


def newest_version(arch: int) -> int | None:
    """The newest PTX version that Triton's assembler takes, ten times; None: it does not say."""
    try:
        from triton.backends.nvidia.compiler import get_ptxas, ptx_get_version

        return int(ptx_get_version(get_ptxas(arch).version))
    except Exception:
        return None


def for_assembler(text: str, arch: int) -> str:
    """A text whose version is not newer than Triton's assembler takes: a kernel may have been compiled beside another
    one, and what it lacks it refuses."""
    newest, found = newest_version(arch), _VERSION.search(text)
    if newest is None or not found or int(found[2]) * 10 + int(found[3]) <= newest:
        return text
    return text[: found.start()] + f"{found[1]}{newest // 10}.{newest % 10}" + text[found.end() :]


_quiet = threading.local()


class _quietly:
    """Triton prints a kernel that its assembler refuses; of heddle's texts none is the program's to see."""

    def __enter__(self) -> None:
        from triton.backends.nvidia import compiler

        if "print" not in vars(compiler):
            compiler.print = lambda *a, **k: None if getattr(_quiet, "on", False) else print(*a, **k)
        _quiet.on = True

    def __exit__(self, *raised: Any) -> None:
        _quiet.on = False


def tune(kernel: Kernel, launch: Callable[[Variant], None], original: Any, grid: Sequence[int], stream: int,
         values: Sequence[Any], seconds: float) -> tuple[Tuned, Made | None, int | None]:  # fmt: skip
    """(outcome, what won, plans tried; None: it was not decided)."""
    from triton.runtime import driver

    from .triton import Tuned

    unchanged = Tuned(kernel.name, Plan(), 1, 1, 1, 0, 0)
    numbers = [v for v in values if type(v) is int]
    text, (x, y, z) = kernel.text(), grid
    if text is None:
        return unchanged, None, 0
    rows = widths(x, numbers + kernel.constants, kernel.constants) if y * z == 1 else []
    made = Ahead(lambda plan: kernel.compile(plan, grid))

    def make(plan: str) -> Any:
        new = made.take(plan)
        return (kernel.variant(new, kernel.load(new.cubin)[1], grid, stream), new) if new else None

    bench = _Bench(launch, _storages(values), driver.active.get_device_interface())
    try:
        contest, block = Contest(bench, Variant(None), make, made.announce), 32 * kernel.metadata.num_warps
        gpu = (sms(), kernel.resident(original)) if kernel.is_free() else (0, 0)
        found = _heddle.contest(contest, text, kernel.name, grid, block, rows, seconds, GAIN, 0, *gpu)
        won, plan, variant, speedup, low, high, before, after, pairs, tried = found
        if not won:
            return unchanged, None, None if won is None else tried
        outcome = Tuned(kernel.name, Plan(plan), speedup, low, high, 1e6 * before, 1e6 * after, pairs)
        return outcome, variant[1], tried
    except (_heddle.RefusedError, _heddle.BudgetError) as e:
        _log.info("%s stays as it is: %s", kernel.name, e)
        return unchanged, None, 0 if isinstance(e, _heddle.RefusedError) else None
    finally:
        made.close()
        bench.restore()
