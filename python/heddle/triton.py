"""Triton's kernels under heddle's plans.

    import heddle.triton
    heddle.triton.enable()                                # launches that have a verdict run under its plan
    heddle.triton.enable(tune=True)                       # ... and others are tuned, on their own tensors
    heddle.triton.enable(plans={"matmul": "order=col"})   # or by a kernel's name, for all its launches

The PTX that Triton makes is rewritten before ptxas sees it: in Triton's compile pipeline, by its hook of stages, for
plans by name; for a launch's grid alone, with its numbers as constants, for verdicts. The text goes through the same
checks as everywhere: a kernel that cannot be rewritten soundly stays as it is. Binaries lie in Triton's own cache, under
Triton's key and the plan; kernels without a plan share their entries with a Triton that never heard of heddle.
"""

from __future__ import annotations

import atexit
import base64
import ctypes
import hashlib
import logging
import os
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence

from . import __version__, _heddle
from ._kernels import rewrite
from ._plans import Plan, PlanLike

if TYPE_CHECKING:
    from ._triton_guard import Guarded

try:
    from triton import knobs
    from triton.runtime.cache import FileCacheManager

    knobs.runtime.add_stages_inspection_hook  # since Triton 3.5
    knobs.cache.manager_class
except (ImportError, AttributeError) as e:
    raise ImportError("heddle.triton needs Triton 3.5 or newer") from e

_log = logging.getLogger("heddle.triton")


def place() -> tuple[str, str]:
    """The current GPU's name and its driver's version, as verdicts have them; without a GPU ("none", "none")."""
    try:
        from triton.runtime import driver

        device = driver.active.get_current_device()
        name = driver.active.get_device_interface().get_device_properties(device).name
        version = ctypes.c_int()
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)) != 0:
            return "none", "none"
        return _heddle.verdict_place(name, version.value)
    except Exception:  # there is no driver, or no PyTorch: kernels are compiled for a GPU that is elsewhere
        return "none", "none"


class Verdict(NamedTuple):
    """What is known of a kernel's launches of one grid."""

    plan: str
    speedup: float
    before_us: float
    after_us: float
    when: int
    found: bool = False
    """In this process."""


class _State:
    """What is enabled; the plans of launches, a kernel going by its key in Triton's cache."""

    def __init__(self, store: str | None, plans: Mapping[str, PlanLike], tune: bool, seconds: float, guard: bool = True):
        self.store, self.tune, self.seconds, self.guard = store, tune, seconds, guard
        self.forced = {name: str(Plan(plan)) for name, plan in plans.items()}
        self.tuned: list[Tuned] = []
        self.launchers: list[Any] = []
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        self.program = program()
        self.benching = threading.local()
        self.place = place()
        self.known: set[str] = set()
        try:
            for kernel, launch, plan, speedup, before, after, when in _heddle.list_verdicts(store, *self.place):
                self.verdicts[kernel, launch] = Verdict(plan, speedup, before, after, when)
        except _heddle.Error as e:
            _log.warning("no verdicts: %s", e)
        self.known.update(kernel for (kernel, _), v in self.verdicts.items() if v.plan != "baseline")

    def is_wanted(self, key: str, name: str) -> bool:
        """Whether a kernel's launches are to be looked up at all: not if the original is best in all that are known."""
        return name not in self.forced and (self.tune or key[:32] in self.known)

    def verdict(self, key: str, grid: Sequence[int]) -> Verdict | None:
        """None: there is none. The plan is "baseline" where the original is best."""
        return self.verdicts.get((key[:32], launch_text(grid)))

    def note(self, key: str, grid: Sequence[int], name: str, v: Verdict) -> Any:
        """What this program has learnt of it."""
        return _heddle.Note(self.program, key[:32], launch_text(grid), *self.place, v.plan, name[:150],
                            v.speedup, v.before_us, v.after_us, v.when)  # fmt: skip

    def tune_one(self, kernel: Any, launch: Any, function: Any, grid: Sequence[int], stream: int,
                 values: Sequence[Any]) -> None:  # fmt: skip
        from . import _triton_tune

        t, made, tried = _triton_tune.tune(kernel, launch, function, grid, stream, values, self.seconds)
        if tried is not None:
            self.keep(kernel.metadata.hash, grid, t, tried)
        _log.info("%s, grid %s: %s, %.3fx (%.3f to %.3f)", kernel.name, grid, t.plan, t.speedup, t.low, t.high)
        if made:
            kernel.keep(str(t.plan), grid, made)

    def keep(self, key: str, grid: Sequence[int], t: Tuned, tried: int) -> None:
        _heddle.put_verdict(
            self.store, key[:32], launch_text(grid), *self.place, t.kernel[:150], str(t.plan),
            t.speedup, t.low, t.high, t.before_us, t.after_us, tried, t.pairs,
        )  # fmt: skip
        self.tuned.append(t)
        self.verdicts[key[:32], launch_text(grid)] = Verdict(
            str(t.plan), t.speedup, t.before_us, t.after_us, int(time.time()), True
        )

    # ---- Launches ----

    def events(self) -> Any:
        from ._triton_guard import Events

        return Events()

    def is_benched(self) -> bool:
        """An autotuner of Triton's or of PyTorch's is choosing among kernels."""
        return getattr(self.benching, "n", 0) > 0

    def applied(self) -> list[tuple[Any, int]]:
        """Verdicts that were met, with their launches."""
        return [(a, t.counts().get(grid, 0)) for t in self.launchers for grid, a in list(t.applied.items())]

    def write(self, *applied: Any) -> None:
        """What was learnt, for later processes; nothing hinges on it."""
        notes = [a.note for a in applied]
        try:
            if notes:
                notes[0].put(self.program, notes[1:])
        except OSError as e:
            _log.warning("what was learnt of verdicts is lost: %s", e)

    def end(self) -> None:
        """The process ends, or launches are no longer looked at."""
        all_of_them = self.applied()
        for a, launches in all_of_them:
            a.note.count(launches, a.ready)
        self.write(*(a for a, _ in all_of_them))


def program() -> str:
    """What notes go by: the interpreter and the script, since each script has launches of its own."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None) or (sys.argv[0] if sys.argv else "")
    return " ".join((os.path.realpath(sys.executable), os.path.realpath(file) if file and file != "-c" else "-c"))


def launch_text(grid: Sequence[int]) -> str:
    """A launch in a verdict; all but the grid follows from Triton's key."""
    return _heddle.verdict_grid(*(tuple(grid) + (1, 1, 1))[:3])


def extended(key: str, plan: str, grid: Sequence[int] = ()) -> str:
    """A key of Triton's and a plan, both as Triton's keys: 64 hexadecimal digits."""
    return hashlib.sha256(f"{key}|heddle {__version__}|{plan}|{launch_text(grid) if grid else ''}".encode()).hexdigest()


_state: _State | None = None
_before: dict[str, Any] = {}
_hook_key = "heddle", hashlib.sha256(b"heddle").hexdigest()


@dataclass(frozen=True)
class Tuned:
    """The outcome of a tuning; times in microseconds."""

    kernel: str
    plan: Plan
    """The baseline where nothing won."""
    speedup: float
    """Median over pairs of launches, with bounds each of which holds at 99%."""
    low: float
    high: float
    before_us: float
    after_us: float
    pairs: int = 0
    """Pairs that decided."""


def tuned() -> list[Tuned]:
    """What this process tuned."""
    return list(_state.tuned) if _state else []


def guarded() -> list[Guarded]:
    """The verdicts that this process met, and what its launches have shown of them."""
    return [a.guarded(launches) for a, launches in _state.applied()] if _state else []


# ---- In the compile pipeline ------------------------------------------------------------------------------


def apply(ptx: str, plan: PlanLike, name: str, grid: Sequence[int] = ()) -> str:
    """The text of one kernel under a plan that leaves its launch as it is; grid: for launches of that grid alone.

    UnsupportedError for other plans: Triton launches what it compiled with the grid that it was given.
    """
    new = rewrite(ptx, plan, kernel=name, grid=tuple(grid) or None)
    if new.launch:
        raise _heddle.UnsupportedError(f"{plan}: the kernel would be launched otherwise")
    return new.ptx


def _hook(*args: Any, **kwargs: Any) -> Any:
    """Triton's hook of stages: as (backend, stages, options, language, capability), or, in later versions and
    without arguments, asked for a key of its own."""
    earlier = _before.get("hook")
    found = earlier(*args, **kwargs) if earlier else None
    if not args and not kwargs:
        return found or _hook_key  # plans are in the cache's keys; it is asked at every launch
    stages = kwargs.get("stages", args[1] if len(args) > 1 else None)
    state = _state
    if state is None or not state.forced or stages is None or "ptx" not in stages:
        return found
    make = stages["ptx"]

    def ptx(src: Any, metadata: dict[str, Any]) -> str:
        text: str = make(src, metadata)
        name = metadata["name"]
        plan = state.forced.get(name)
        if plan is None:
            return text
        try:
            text = apply(text, plan, name)
            _log.info("%s: %s", name, plan)
        except _heddle.Error as e:
            _log.warning("%s stays as it is: %s", name, e)
        return text

    stages["ptx"] = ptx
    return found


class Cache(FileCacheManager):  # type: ignore[misc]
    """Triton's cache of files; kernels under a plan have entries of their own."""

    def __init__(self, key: str, *args: Any, **kwargs: Any):
        super().__init__(_key(key), *args, **kwargs)


def _key(key: str) -> str:
    """A key of Triton's, in base 32, extended by the plans that are given by name."""
    if _state is None or not _state.forced:
        return key
    whole = base64.b32decode(key + "=" * (-len(key) % 8)).hex()
    plans = ";".join(f"{k}:{v}" for k, v in sorted(_state.forced.items()))
    return base64.b32encode(bytes.fromhex(extended(whole, plans))).decode().rstrip("=")


# ---- On and off -----------------------------------------------------------------------------------------------


def enable(
    *,
    tune: bool = False,
    store: str | None = None,
    plans: Mapping[str, PlanLike] | None = None,
    seconds: float = 5,
    guard: bool = True,
) -> None:
    """From now on Triton's kernels run under their plans.

    Plans come from the verdicts of `store` (None: heddle's own in its cache folder), by launch, or from `plans`, by the
    kernel's name. With `tune`, a launch that has no verdict is tuned when it is met first, on its tensors, in about
    `seconds`; they then hold what one launch writes. Kernels that are loaded already stay as they are.

    A verdict is on probation in each process: its plan takes turns with the original in the first launches, and is
    taken back if it is slower here; guarded() says how it went. Without `guard` it holds from the first launch on.
    Plans by name are not measured.
    """
    global _state
    disable()
    _state = state = _State(store, plans or {}, tune, seconds, guard)
    if state.forced:
        if knobs.cache.manager_class is not None:
            _state = None
            raise _heddle.UnsupportedError("Triton's cache is not its own cache of files (TRITON_CACHE_MANAGER)")
        _before["hook"] = knobs.runtime.add_stages_inspection_hook
        knobs.runtime.add_stages_inspection_hook = _hook
        knobs.cache.manager_class = Cache
    driver = _driver()
    if driver is not None:
        from . import _triton_guard

        _before["launcher"] = driver.launcher_cls
        driver.launcher_cls = _triton_guard.launcher(driver.launcher_cls, state)
        _before["patches"] = _triton_guard.patch(state)


def _driver() -> Any:
    try:
        from triton.runtime import driver

        driver.active.get_current_device()
        return driver.active
    except Exception:  # there is no GPU
        return None


def _end() -> None:
    if _state is not None:
        _state.end()


atexit.register(_end)


def disable() -> None:
    """As Triton was before. Kernels that are loaded stay as they are."""
    global _state
    _end()
    _state = None
    if "hook" in _before:
        knobs.runtime.add_stages_inspection_hook = _before["hook"]
        knobs.cache.manager_class = None
    if "launcher" in _before:
        _driver().launcher_cls = _before["launcher"]
        _before["patches"].undo()
    _before.clear()


__all__ = ["Tuned", "apply", "disable", "enable", "guarded", "place", "tuned"]
