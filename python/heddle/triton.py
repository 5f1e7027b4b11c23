"""Triton's kernels under heddle's plans.

    import heddle.triton
    heddle.triton.enable()            # kernels that have a verdict are compiled under its plan
    heddle.triton.enable(tune=True)   # ... and others are tuned at their first launch, on its own tensors

The PTX that Triton makes is rewritten in its compile pipeline, before ptxas. The text goes through the same
checks as everywhere: a kernel that cannot be rewritten soundly stays as it is. Plans hold for any grid, so one
compiled kernel does for all launches. Binaries lie in Triton's own cache, under Triton's key and the plan;
kernels without a plan share their entries with a Triton that never heard of heddle.
"""

from __future__ import annotations

import base64
import ctypes
import hashlib
import logging
import threading
from dataclasses import dataclass
from typing import Any, Mapping

from . import _heddle
from ._kernels import Plan, PlanLike, rewrite

try:
    from triton import knobs
    from triton.runtime.cache import FileCacheManager

    knobs.runtime.add_stages_inspection_hook  # since Triton 3.5
    knobs.cache.manager_class
except (ImportError, AttributeError) as e:
    raise ImportError("heddle.triton needs Triton 3.5 or newer") from e

_log = logging.getLogger("heddle.triton")
_VERSION = "0.1.0"
LAUNCH = "triton"
"""The launch of these verdicts: a kernel's key in Triton's cache says all else."""


def place() -> tuple[str, str]:
    """The current GPU's name and its driver's version, as verdicts have them; without a GPU ("none", "none")."""
    try:
        from triton.runtime import driver

        device = driver.active.get_current_device()
        name = driver.active.get_device_interface().get_device_properties(device).name
        version = ctypes.c_int()
        if ctypes.CDLL("libcuda.so.1").cuDriverGetVersion(ctypes.byref(version)) != 0:
            return "none", "none"
        return name, f"{version.value // 1000}.{version.value % 1000 // 10}"
    except Exception:  # there is no driver, or no PyTorch: kernels are compiled for a GPU that is elsewhere
        return "none", "none"


class _State:
    """What is enabled; the plans of kernels by Triton's key."""

    def __init__(self, store: str | None, plans: Mapping[str, PlanLike], tune: bool, seconds: float):
        self.store, self.tune, self.seconds = store, tune, seconds
        self.forced = {name: str(Plan(plan)) for name, plan in plans.items()}
        self.known: dict[tuple[str, str, str], str | None] = {}
        self.tuned: list[Tuned] = []
        self.lock = threading.RLock()

    def plan(self, key: str) -> str | None:
        """The plan that the store has for a kernel; None: it has none, "baseline": the original is best."""
        where = place()
        with self.lock:
            if (key, *where) not in self.known:
                found = _heddle.get_verdict(self.store, key[:32], LAUNCH, *where)
                self.known[key, *where] = found[0] if found else None
            return self.known[key, *where]

    def keep(self, key: str, name: str, t: Tuned, tried: int) -> None:
        where = place()
        _heddle.put_verdict(
            self.store, key[:32], LAUNCH, *where, name[:150], str(t.plan),
            t.speedup, t.low, t.high, t.before_us, t.after_us, tried,
        )  # fmt: skip
        with self.lock:
            self.known[key, *where] = str(t.plan)
            self.tuned.append(t)

    def suffix(self, key: str) -> str:
        """What Triton's key of a kernel is extended by; "": nothing, the original's."""
        forced = ";".join(f"{k}:{v}" for k, v in sorted(self.forced.items()))
        plan = self.plan(key) or "baseline"
        return f"{_VERSION}|{forced}|{plan}" if forced or plan != "baseline" else ""


_state: _State | None = None
_before: dict[str, Any] = {}


@dataclass(frozen=True)
class Tuned:
    """The outcome of a tuning; times in microseconds."""

    kernel: str
    plan: Plan
    """The baseline where nothing won."""
    speedup: float
    """Median over pairs of launches, with its bounds at 99%."""
    low: float
    high: float
    before_us: float
    after_us: float


def tuned() -> list[Tuned]:
    """What this process tuned."""
    return list(_state.tuned) if _state else []


# ---- In the compile pipeline ------------------------------------------------------------------------------


def apply(ptx: str, plan: PlanLike, name: str) -> str:
    """The text of one kernel under a plan that leaves its launch as it is.

    UnsupportedError for other plans: Triton launches what it compiled with the grid that it was given.
    """
    new = rewrite(ptx, plan, kernel=name)
    if new.launch:
        raise _heddle.UnsupportedError(f"{plan}: the kernel would be launched otherwise")
    return new.ptx


def _hook(*args: Any, **kwargs: Any) -> Any:
    """Triton's hook of stages: as (backend, stages, options, language, capability), or, in later versions and
    without arguments, asked for a key of its own."""
    earlier = _before.get("hook")
    found = earlier(*args, **kwargs) if earlier else None
    if not args and not kwargs:
        return found or ("heddle", hashlib.sha256(b"heddle").hexdigest())  # plans are in the cache's keys
    stages = kwargs.get("stages", args[1] if len(args) > 1 else None)
    state = _state
    if state is None or stages is None or "ptx" not in stages:
        return found
    make = stages["ptx"]

    def ptx(src: Any, metadata: dict[str, Any]) -> str:
        text: str = make(src, metadata)
        name = metadata["name"]
        plan = state.forced.get(name) or state.plan(metadata["hash"]) or "baseline"
        if plan == "baseline":
            return text
        try:
            return apply(text, plan, name)
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
    """A key of Triton's, extended where the kernel has a plan; both in base 32."""
    if _state is None:
        return key
    whole = base64.b32decode(key + "=" * (-len(key) % 8)).hex()
    suffix = _state.suffix(whole)
    if not suffix:
        return key
    return base64.b32encode(hashlib.sha256(f"{whole}|{suffix}".encode()).digest()).decode().rstrip("=")


# ---- On and off -----------------------------------------------------------------------------------------------


def enable(
    *,
    tune: bool = False,
    store: str | None = None,
    plans: Mapping[str, PlanLike] | None = None,
    seconds: float = 5,
) -> None:
    """From now on Triton compiles kernels under their plans.

    Plans come from the verdicts of `store` (None: heddle's own in its cache folder), or, by a kernel's name,
    from `plans`. With `tune`, a kernel that has no verdict is tuned at its first launch, on that launch's
    tensors, in about `seconds`; they then hold what that one launch writes.
    """
    global _state
    disable()
    if knobs.cache.manager_class is not None:
        raise _heddle.UnsupportedError("Triton's cache is not its own cache of files (TRITON_CACHE_MANAGER)")
    _state = _State(store, plans or {}, tune, seconds)
    _before["hook"] = knobs.runtime.add_stages_inspection_hook
    knobs.runtime.add_stages_inspection_hook = _hook
    knobs.cache.manager_class = Cache
    if tune:
        from triton.runtime import driver

        from . import _triton_tune

        _before["launcher"] = driver.active.launcher_cls
        driver.active.launcher_cls = _triton_tune.launcher_class(driver.active.launcher_cls, _state)


def disable() -> None:
    """As Triton was before. Kernels that are loaded stay as they are."""
    global _state
    if _state is None:
        return
    _state = None
    knobs.runtime.add_stages_inspection_hook = _before["hook"]
    knobs.cache.manager_class = None
    if "launcher" in _before:
        from triton.runtime import driver

        driver.active.launcher_cls = _before["launcher"]
    _before.clear()


__all__ = ["Tuned", "apply", "disable", "enable", "place", "tuned"]
