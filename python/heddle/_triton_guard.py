"""Launches of Triton's kernels under their verdicts: looked up once a grid, and on probation in each process.

A plan takes turns with the original in the launches as they come, by the rules of heddle/probation.h, and goes as soon
as it is slower. What a launch meets is in C: the look-up (launches.c), and the turns and their events (probation.c).
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import functools
import importlib.util
import logging
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, NamedTuple, Sequence

from . import _heddle
from ._plans import Plan

if TYPE_CHECKING:
    from .triton import _State

_log = logging.getLogger("heddle.triton")

Grid = tuple[int, int, int]
_, KEPT, BROKEN, _ = range(4)
"""hd_probation."""
NO_TRUST, FOUND, TRUSTED = range(3)
"""hd_probation_trust."""
SAME: tuple[int | None, int | None, int | None] = (None, None, None)


# ---- Events -----------------------------------------------------------------------------------------------------


class Variant(NamedTuple):
    """What is launched in a kernel's place."""

    function: Any
    """The driver's; None: the kernel's own."""
    dims: tuple[int | None, int | None, int | None] = SAME
    """The grid, where it is another one than the launch's."""
    stream: int | None = None
    """The only one in which it may be launched, and under no capture, since its launches share a state."""


Way = tuple[Callable[..., Any], Any, tuple[int | None, int | None, int | None]]
"""How a variant is launched: what is called; the function, and the grid, that take the place of a launch's."""


class Events:
    """What the driver says of captures, in the context that is current; and where its events are to be had."""

    def __init__(self) -> None:
        self.driver = ctypes.CDLL("libcuda.so.1")

    @contextlib.contextmanager
    def relaxed(self) -> Iterator[None]:
        """Calls that another thread's capture would refuse are let through."""
        mode = ctypes.c_int(2)
        self.driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))
        try:
            yield
        finally:
            self.driver.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))

    def is_captured(self, stream: int) -> bool:
        """True, too, where the driver cannot say."""
        status = ctypes.c_int(0)
        failed = self.driver.cuStreamIsCapturing(ctypes.c_void_p(stream), ctypes.byref(status))
        return bool(failed or status.value)

    def addresses(self) -> list[int]:
        """Of the driver's functions that launches in turns call, in the order in which C takes them."""
        return [ctypes.cast(getattr(self.driver, name), ctypes.c_void_p).value or 0 for name in _CALLED]


_CALLED = (
    "cuStreamIsCapturing", "cuThreadExchangeStreamCaptureMode", "cuEventCreate", "cuEventRecord", "cuEventElapsedTime",
    "cuEventDestroy_v2",
)  # fmt: skip


# ---- A plan on probation ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Guarded:
    """A verdict in this process; times in seconds."""

    kernel: str
    grid: Grid
    plan: Plan
    promised: float
    """The verdict's speedup."""
    measured: float
    """The speedup in the program's own launches, with its interval at 99%; 0: it was not measured."""
    low: float
    high: float
    pairs: int
    launches: int
    """Of this kernel and grid, and how many of these ran under the plan."""
    steered: int
    ready: float
    """To get the plan's kernel ready."""
    saved: float
    lost: float
    """In launches in turns."""
    state: str
    """"open", "kept", "slower", "unsure", or why the plan is not used."""


class Applied:
    """A verdict for a grid of a kernel, and what became of it."""

    def __init__(self, kernel: str, grid: Grid, plan: str, promised: float, saves: float, note: Any):
        self.kernel, self.grid, self.plan, self.promised, self.note = kernel, grid, plan, promised, note
        self.saves = saves
        """Seconds a launch, as the verdict or the launches here have it."""
        self.ready = self.lost = 0.0
        self.measured: tuple[Any, ...] = ()
        self.state = "open"
        self.probations: list[Probation] = []

    @property
    def plain(self) -> int:
        """Launches that were the original's."""
        return sum(p.plain() for p in self.probations)

    def learn(self, end: int, probation: Probation) -> None:
        """What launches in turns have shown."""
        pairs, median, low, high, mean, original, plan, lost = measured = probation.measured()
        self.lost += max(lost, 0)
        self.state = ("open", "kept", "slower", "unsure")[end]
        if pairs:
            self.measured = measured
            self.note.learn(end, measured)
        if pairs >= 3:
            self.saves = max(original - plan, 0)

    def guarded(self, launches: int) -> Guarded:
        pairs, median, low, high = self.measured[:4] if self.measured else (0, 0, 0, 0)
        steered = max(launches - self.plain, 0) if self.state in ("open", "kept", "few launches") else 0
        return Guarded(
            self.kernel, self.grid, Plan(self.plan), self.promised, median, low, high, pairs, launches, steered,
            self.ready, steered * self.saves, self.lost, self.state,
        )  # fmt: skip


class Probation(_heddle.Probation):
    """Stands in the place of a launch until it is known whether the plan is as fast."""

    def __init__(self, launches: Launches, applied: Applied, way: Way, trust: int, stream: int | None = None):
        seed = hash(applied.grid) & 0xFFFFFFFF
        super().__init__(launches.original, *way, trust, seed, launches.events().addresses(), stream)
        self.launches, self.applied = launches, applied
        applied.probations.append(self)

    def ended(self, end: int, error: Exception | None) -> None:
        """Called in the launch that shows it."""
        if error is not None:
            _log.warning("%s: %s was taken back: %s", self.applied.kernel, self.applied.plan, error)
        self.applied.learn(end, self)
        self.launches.settle(self.applied, end)


# ---- Kernels ----------------------------------------------------------------------------------------------------


class Launches(_heddle.Launches):
    """What is launched in a kernel's place, by the grid; subclasses know how."""

    def __init__(self, original: Callable[..., Any], name: str, key: str, state: _State):
        super().__init__(original)
        self.original, self.name, self.key, self.state = original, name, key, state
        self.lock = threading.Lock()
        self.applied: dict[Grid, Applied] = {}
        self.variants: dict[Grid, Variant] = {}
        self.loaded: list[Any] = []
        state.launchers.append(self)

    def events(self) -> Any:
        return self.state.events()

    # A subclass's:
    def kernel(self) -> Any:
        """A _triton_tune.Kernel."""
        raise NotImplementedError

    def way(self, v: Variant) -> Way:
        raise NotImplementedError

    def tune(self, grid: Grid, args: Sequence[Any]) -> None:
        """A launch, with what it is launched with."""
        raise NotImplementedError

    def install(self, grid: Grid, v: Variant, launches: int) -> None:
        """From now on, for so many launches; 0: for all."""
        self.set(grid, *self.way(v), launches, v.stream)

    def leave(self, grid: Grid) -> None:
        """The original, from now on."""
        self.set(grid, None, None, SAME, 0)

    def find(self, grid: Grid, args: Sequence[Any]) -> None:
        """Called at a launch of a grid that is not known, or is to be looked at again."""
        if self.state.is_benched():
            return
        events = self.events()
        if events.is_captured(args[3]) or not self.lock.acquire(blocking=False):
            return
        try:
            with events.relaxed():
                if grid in self.variants:
                    self.begin(grid, TRUSTED)
                else:
                    self.look_up(grid, args)
        except Exception as e:  # no memory for a second copy of the tensors, say: the original runs
            _log.warning("%s stays as it is: %s", self.name, e)
            self.leave(grid)
        finally:
            self.lock.release()

    def look_up(self, grid: Grid, args: Sequence[Any]) -> None:
        self.leave(grid)
        if self.name in self.state.forced:
            return
        verdict = self.state.verdict(self.key, grid)
        if verdict is None and self.state.tune:
            self.tune(grid, args)
            verdict = self.state.verdict(self.key, grid)
        if verdict is None or verdict.plan == "baseline":
            return
        note = self.state.note(self.key, grid, self.name, verdict)
        applied = Applied(self.name, grid, verdict.plan, verdict.speedup,
                          max(verdict.before_us - verdict.after_us, 0) * 1e-6, note)  # fmt: skip
        self.applied[grid] = applied
        known, word, trust, pays, seldom, median, promised, launches, saves, ready = note.state()
        applied.ready = ready
        if self.state.guard and known and word == "broken":
            applied.state = f"slower in this program: {median:.3g}x, not {promised:.3g}x"
        elif self.state.guard and not pays:
            applied.state = f"does not pay here: saves {1e3 * launches * saves:.3g} ms, costs {1e3 * ready:.3g}"
        elif not self.load(grid, applied, args[3]):
            applied.state = "the kernel cannot be rewritten so"
        elif not self.state.guard or seldom:
            applied.state = "few launches" if seldom else "kept"
            self.install(grid, self.variants[grid], 0)
        else:
            self.begin(grid, trust if known else FOUND if verdict.found else NO_TRUST)

    def load(self, grid: Grid, applied: Applied, stream: int) -> bool:
        kernel = self.kernel()
        began = time.perf_counter()
        made, kept = kernel.recall(applied.plan, grid)
        if made is None:
            return False
        self.loaded.append(kernel.load(made.cubin))
        if kept:  # what is compiled now is kept for the next process
            applied.ready = time.perf_counter() - began
        self.variants[grid] = v = kernel.variant(made, self.loaded[-1][1], grid, stream)
        if v.stream is not None:
            self.watch(self.events().addresses()[0])
        return True

    def begin(self, grid: Grid, trust: int) -> None:
        v = self.variants[grid]
        self.set(grid, Probation(self, self.applied[grid], self.way(v), trust, v.stream), None, SAME, 0)

    def settle(self, applied: Applied, end: int) -> None:
        """A probation is over."""
        if end == KEPT:
            launches = self.counts()[applied.grid]
            self.install(applied.grid, self.variants[applied.grid], _heddle.probation_again(launches) - launches)
            return
        self.leave(applied.grid)
        measured = f"{applied.measured[1]:.3g}x" if applied.measured else "not measured"
        _log.info("%s, grid %s: %s was taken back: %s, not %.3gx",
                  self.name, applied.grid, applied.plan, measured, applied.promised)  # fmt: skip
        if end == BROKEN:
            self.state.write(applied)


def launcher(base: type, state: _State) -> Callable[[Any, Any], Any]:
    """What makes Triton's launchers: its own, where nothing is known of the kernel and nothing is tuned."""
    from . import _triton_tune

    class Launcher(Launches):
        def __init__(self, inner: Any, src: Any, metadata: Any):
            super().__init__(inner, metadata.name, metadata.hash, state)
            self.src, self.metadata = src, metadata

        def __getattr__(self, name: str) -> Any:
            return getattr(self.original, name)

        def kernel(self) -> Any:
            return _triton_tune.Kernel.of(self.src, self.metadata)

        def way(self, v: Variant) -> Way:
            return self.original, v.function, v.dims

        def tune(self, grid: Grid, args: Sequence[Any]) -> None:
            stream, function, packed, values = args[3], args[4], args[5], args[9:]

            def launch(v: Variant) -> None:
                x, y, z = v.dims if v.dims != SAME else grid
                self.original(x, y, z, stream, v.function or function, packed, None, None, None, *values)

            state.tune_one(self.kernel(), launch, function, grid, stream, values)

    def make(src: Any, metadata: Any) -> Any:
        inner = base(src, metadata)
        return Launcher(inner, src, metadata) if state.is_wanted(metadata.hash, metadata.name) else inner

    return make


def static_launcher(state: _State) -> Callable[[Any], Any]:
    """What stands before `run` of one of Inductor's kernels that are launched without Triton's launcher; None: itself."""
    from . import _triton_tune

    class Static(Launches):
        def __init__(self, of: Any):
            super().__init__(of.run, of.name, of.hash, state)
            self.of = of

        def kernel(self) -> Any:
            return _triton_tune.Kernel.kept(self.key, self.name)

        def way(self, v: Variant) -> Way:
            return self.runs(v), None, v.dims

        def runs(self, v: Variant) -> Callable[..., Any]:
            if v.function is None:
                return self.original
            other = copy.copy(self.of)
            other.__dict__.pop("run", None)
            other.module = None  # which is the kernel's to unload
            other.function = v.function
            return other.run  # type: ignore[no-any-return]

        def tune(self, grid: Grid, args: Sequence[Any]) -> None:
            stream, values = args[3], args[4:]

            def launch(v: Variant) -> None:
                x, y, z = v.dims if v.dims != SAME else grid
                self.runs(v)(x, y, z, stream, *values)

            state.tune_one(self.kernel(), launch, self.of.function, grid, stream, values)

    def make(of: Any) -> Any:
        many = getattr(of, "device_agnostic", False)  # it has a function for each
        return Static(of) if state.is_wanted(of.hash, of.name) and not many else None

    return make


# ---- In the way of others ---------------------------------------------------------------------------------------


class Patches:
    """Attributes that are replaced until undo()."""

    def __init__(self) -> None:
        self.before: list[tuple[Any, str, Any]] = []
        self.waiting: Any = None

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        original = getattr(owner, name, None)
        if original is not None:
            self.before.append((owner, name, original))
            setattr(owner, name, make(original))

    def undo(self) -> None:
        for owner, name, original in reversed(self.before):
            setattr(owner, name, original)
        self.before.clear()
        if self.waiting in sys.meta_path:
            sys.meta_path.remove(self.waiting)


class _Imported:
    """Calls a function with a module once that has been imported."""

    def __init__(self, name: str, then: Callable[[Any], None]):
        self.name, self.then = name, then

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: Any) -> None:
            execute(module)
            self.then(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def _benched(state: _State) -> Callable[[Any], Any]:
    """A method in which kernels are compared: none of their launches is looked up, or tuned."""

    def make(original: Any) -> Any:
        @functools.wraps(original)
        def method(*args: Any, **named: Any) -> Any:
            state.benching.n = getattr(state.benching, "n", 0) + 1
            try:
                return original(*args, **named)
            finally:
                state.benching.n -= 1

        return method

    return make


def _inductor(state: _State, patches: Patches, module: Any) -> None:
    make = static_launcher(state)

    def make_launcher(original: Any) -> Any:
        @functools.wraps(original)
        def method(self: Any) -> Any:
            of = self.kernel
            before = make(of)
            if before is None:
                return original(self)
            of.run = before  # which the launcher takes
            try:
                return original(self)
            finally:
                del of.run

        return method

    for name in ("StaticTritonCompileResult",):
        if hasattr(module, name):
            patches.replace(getattr(module, name), "make_launcher", make_launcher)
    if hasattr(module, "CachingAutotuner"):
        patches.replace(module.CachingAutotuner, "bench", _benched(state))


def patch(state: _State) -> Patches:
    """Autotuners are left alone, and Inductor's own way of launching kernels is met."""
    from triton.runtime import autotuner

    patches = Patches()
    patches.replace(autotuner.Autotuner, "_bench", _benched(state))
    name = "torch._inductor.runtime.triton_heuristics"
    if name in sys.modules:
        _inductor(state, patches, sys.modules[name])
    else:
        patches.waiting = _Imported(name, lambda module: _inductor(state, patches, module))
        sys.meta_path.insert(0, patches.waiting)
    return patches
