"""Workloads, on the emulator, on modelled GPUs and on GPUs."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Iterable, Mapping, Sequence, Union

from . import _heddle
from ._arguments import Argument, ArgumentError, Words, check_count
from ._kernels import Dims, File, Kernel, analyze_text, kernels
from ._kernels import kernel as find_kernel
from ._plans import Plan, PlanLike
from ._results import Analysis, Check, Optimized, Sweep, Tuned, columns, tuned

Progress = Callable[[str, int, int], object]
"""Called with a stage, and how many of its parts are done: progress("replaying plans", 3, 45). An exception that it
raises ends the work."""


def data() -> Path:
    """The folder that holds kernels/ and gpus/: HEDDLE_DATA, or the package's own."""
    named = os.environ.get("HEDDLE_DATA")
    return Path(named) if named else Path(__file__).parent / "share" / "heddle"


def gpu_folder() -> str:
    """The folder of GPU files."""
    return str(data() / "gpus")


def gpus() -> list[str]:
    """The names of the modelled GPUs.

    >>> "h100" in gpus()
    True
    """
    return sorted(p.stem for p in (data() / "gpus").glob("*.toml"))


def workloads() -> list[str]:
    """The names of the workloads that come with heddle."""
    return _heddle.list_workloads(str(data() / "kernels"))


# ---- Launches -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Launch:
    """A launch of a file's kernel, which `kernel` is or names as -k does; None: the only kernel."""

    kernel: Union[str, Kernel, None]
    grid: Dims
    block: Dims
    args: Sequence[Argument] = ()
    shared: int = 0
    """Bytes of dynamic shared memory."""


def _dims(value: Dims, what: str) -> str:
    numbers: list[object] = list(value) if isinstance(value, Iterable) else [value]
    if not 1 <= len(numbers) <= 3 or not all(isinstance(n, int) and n >= 1 for n in numbers):
        raise ArgumentError(f"{what}: one to three numbers from 1 on, not {value!r}")
    return ",".join(str(n) for n in numbers)


def _launch_words(file: File, launch: Launch, words: Words, module: int | None) -> list[str]:
    if isinstance(launch.args, (str, bytes)):
        raise ArgumentError("args: a sequence of arguments, not one text")
    found = launch.kernel
    if not isinstance(found, Kernel):
        found = find_kernel(file, found, module=module)
    check_count(launch.args, found.parameters, found.name)
    flat = ["kernel", found.symbol, "grid", _dims(launch.grid, "grid"), "block", _dims(launch.block, "block")]
    flat += ["shared", str(launch.shared)]
    for value, parameter in zip(launch.args, found.parameters):
        flat += ["arg", words.add(value, parameter, found.name)]
    return flat


@dataclass(frozen=True)
class LaunchInfo:
    """A launch of a workload."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]


class Workload:
    """A kernel with its launches and data.

    Workload("matmul-naive", size="small", params={"N": 64}) is one of heddle's own, or a folder with a
    workload.toml. A file with kernels (PTX, CUDA C, an executable) takes a description of the launch:

        Workload("app", kernel="saxpy", grid=64, block=256, args=[x, y, 2.0])

    or of several, `launches=[Launch(...), ...]`. Arguments are NumPy's arrays, anything with the buffer protocol or
    DLPack, numbers, or words of the command line, such as "f32[16384]=uniform(-1, 1)"; an array that is given twice is
    one buffer. They are checked against the kernel's parameters: ArgumentError names the one that does not fit.

    `variables` are the module's, by their names in PTX; `buffers` are memory that other buffers hold addresses of.
    A buffer's array may be an argument as well, and is one buffer then; a variable's contents are its own.
    `atomics`: sums of floats may come in any order; `near`: by so much results may differ. `unwritten` names buffers
    that nothing writes (arg1, arg2, ...). `save`: a folder to keep the workload in. `preferred`: the size where `size` is
    not given, if the workload has it.
    """

    def __init__(
        self,
        name: File,
        *,
        size: str | None = None,
        params: Mapping[str, int] | None = None,
        kernel: str | None = None,
        grid: Dims | None = None,
        block: Dims | None = None,
        args: Sequence[Argument] = (),
        shared: int = 0,
        launches: Sequence[Launch] = (),
        module: int | None = None,
        variables: Mapping[str, Argument] | None = None,
        buffers: Mapping[str, Argument] | None = None,
        cooperative: bool = False,
        atomics: bool = False,
        near: float = 0,
        unwritten: Sequence[str] = (),
        save: File | None = None,
        preferred: str | None = None,
    ):
        self._name = os.fspath(name)
        self._values = [f"{k}={v}" for k, v in (params or {}).items()]
        self._size = size
        all_launches = list(launches)
        own = [one.kernel for one in all_launches if isinstance(one.kernel, Kernel)]
        module = own[0].module if own and module is None else module
        if grid is not None or block is not None or kernel is not None or args:
            if grid is None or block is None:
                find_kernel(name, kernel)
                raise ArgumentError("a launch needs its grid and its block")
            all_launches.append(Launch(kernel, grid, block, args, shared))
        self._words: list[str] = []
        if all_launches:
            words = Words(self._folder(save))
            self._words += [w for o, v in (("module", module), ("near", near or None)) if v is not None for w in (o, str(v))]
            self._words += ["cooperative", ""] if cooperative else []
            self._words += ["atomics", ""] if atomics else []
            self._words += ["unwritten", ",".join(unwritten)] if unwritten else []
            for option, named in (("set", variables), ("buffer", buffers)):
                for key, value in (named or {}).items():
                    self._words += [option, words.name(option, key, value)]
            for launch in all_launches:
                self._words += _launch_words(name, launch, words, module)
        self._handle = _heddle.open_workload(
            self._name, str(data() / "kernels"), size, preferred, self._values, self._words,
            None if save is None else os.fspath(save),
        )
        self.name, self.title, self.size, self.sizes, self.params, found = _heddle.describe_workload(self._handle)
        self.launches = [LaunchInfo(*one) for one in found]

    def _folder(self, save: File | None) -> Path:
        """Where arrays lie as files: as long as the workload lives, or in the folder that it is kept in."""
        if save is not None:
            Path(save).mkdir(parents=True, exist_ok=True)
            return Path(save).resolve()
        scratch = tempfile.mkdtemp(prefix="heddle-")
        weakref.finalize(self, shutil.rmtree, scratch, ignore_errors=True)
        return Path(scratch)

    def __repr__(self) -> str:
        return f"<heddle.Workload {self.name} ({self.size})>"

    def ptx(self, arch: int = 0) -> str:
        """Its kernels' text, compiled for sm_80 unless another architecture is asked for."""
        return _heddle.workload_ptx(self._handle, arch)

    def keep_ptx(self, arch: int = 0) -> None:
        """Keep that text beside the source, for machines without a compiler of CUDA C."""
        _heddle.keep_ptx(self._handle, arch)

    def check(
        self,
        plan: PlanLike = "baseline",
        *,
        reference: bool | None = None,
        assume: str = "",
        sms: int = 0,
        seed: int = 0,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Check:
        """Prove on the emulator, under every dispatcher, that the plan computes the same bytes.

        With `reference` the original is also compared with the workload's reference in C, which takes a C
        compiler; None: where there is one.
        """
        if reference is None:
            reference = any(shutil.which(cc) for cc in ("cc", "gcc", "clang"))
        p = Plan(plan)
        text, why = _heddle.check(self._handle, str(p), not reference, assume, sms, seed, threads, progress)
        details = json.loads(text)
        return Check(details, equal=bool(details["equal"]), why=why, plan=p)

    def analyze(
        self,
        *,
        kernel: str | None = None,
        gpu: str = "h100",
        seconds: float = 10,
        static: bool = False,
        verbose: bool = True,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Analysis:
        """Where its reuse lies, plans worth trying with what they are predicted to do, and its kernels' accesses.

        `static`: of the kernels' text alone; else it is run, and plans are tried for about `seconds`.
        """
        text = _heddle.analyze_workload(
            self._handle, kernel, gpu, gpu_folder(), seconds, static, verbose, threads, progress
        )
        return Analysis(json.loads(text))

    def study(self, gpu: str = "h100", *, depth: str = "", threads: int = 0) -> Study:
        """Trace it once, for replays on a modelled GPU under many plans."""
        return Study(self, gpu, depth, threads)

    def simulate(self, plan: PlanLike = "baseline", *, gpu: str = "h100", seed: int = 0) -> dict[str, object]:
        """Counters and time of one plan on a modelled GPU."""
        return self.study(gpu).simulate(plan, seed=seed)

    def sweep(
        self,
        plans: Iterable[PlanLike] = (),
        *,
        gpu: str = "h100",
        budget: float = 60,
        exact: bool = False,
        seed: int = 0,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Sweep:
        """Times and counters of plans on a modelled GPU; without plans, of those that are tried by default.

        Long launches are sampled, as the budget in seconds allows, unless `exact`.
        """
        return _sweep(self, None, gpu, plans, budget, exact, seed, threads, progress)

    def optimize(
        self,
        *,
        gpu: str = "h100",
        plans: Iterable[PlanLike] = (),
        budget: float = 60,
        wall: float = 0,
        exact: bool = False,
        keep_launch: bool = False,
        assume: str = "",
        seed: int = 0,
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Optimized:
        """The best plan for a modelled GPU, proved on the emulator.

        The budget is work, as two idle cores do it in so many seconds; `wall` are seconds on the clock. Where either
        ends the search before there is an answer, NoAnswerError has what is known as `result`.
        """
        texts = [str(Plan(p)) for p in plans]
        text, ptx, launch, page, answered = _heddle.optimize(
            self._handle, gpu, gpu_folder(), texts, keep_launch, budget, wall, exact, assume, seed, threads, progress
        )
        d = json.loads(text)
        plan, speedup = Plan(d.get("best") or "baseline"), float(d.get("speedup") or 1)
        found = Optimized(d, page, plan, speedup, bool(d.get("proved")), ptx, launch)
        if answered:
            return found
        e = _heddle.NoAnswerError(str(d.get("no_answer") or "no answer"))
        e.message, e.result, e.tried = str(e), found, [str(p) for p in found.tried]
        raise e

    def tune(
        self,
        *,
        device: str = "cuda",
        plans: Iterable[PlanLike] = (),
        budget: float = 0,
        wall: float = 0,
        store: str | None = None,
        again: bool = False,
        proof: bool = True,
        advice: bool = True,
        any_grid: bool = False,
        assume: str = "",
        threads: int = 0,
        progress: Progress | None = None,
    ) -> Tuned:
        """The plan that wins on a device ("cuda:0", "model:h100"), as measured, kept as a verdict.

        A workload that was opened without a size is tuned at that which the command takes: on GPUs "gpu".
        `store` is a file of verdicts, None: heddle's own, "none": nothing is kept or recalled. `again`: though there is
        a verdict. NoAnswerError where the time ended before its budget was spent.
        """
        text, answered = _heddle.tune(
            self._name, str(data() / "kernels"), self._size, self._values, self._words, gpu_folder(), device, store,
            [str(Plan(p)) for p in plans], budget, wall, again, not proof, any_grid, advice, assume, threads, progress
        )  # fmt: skip
        found = tuned(json.loads(text))
        if answered:
            return found
        e = _heddle.NoAnswerError("; ".join(k.why for k in found.kernels if k.why) or "the time was over")
        e.message, e.result = str(e), found
        e.tried = [t["plan"] for k in found.details.get("kernels", []) for t in k.get("trials", [])]
        raise e


def _sweep(w: Workload, study: Study | None, gpu: str, plans: Iterable[PlanLike], budget: float, exact: bool, seed: int,
           threads: int, progress: Progress | None) -> Sweep:  # fmt: skip
    text, page = _heddle.sweep(
        w._handle, study and study._handle, gpu, gpu_folder(), [str(Plan(p)) for p in plans], budget, exact, seed, threads,
        progress,
    )  # fmt: skip
    return Sweep(columns(text), page, w.name)


class Study:
    """A workload's traces; replays of them under plans are cheap."""

    def __init__(self, workload: Workload, gpu: str, depth: str, threads: int):
        self.workload, self.gpu = workload, gpu
        self._handle = _heddle.open_study(workload._handle, gpu, gpu_folder(), depth, threads)

    def simulate(self, plan: PlanLike = "baseline", *, seed: int = 0) -> dict[str, object]:
        """Counters and time of one plan."""
        counters: dict[str, object] = json.loads(_heddle.simulate(self._handle, str(Plan(plan)), seed))
        return counters

    def sweep(
        self, plans: Iterable[PlanLike] = (), *, seed: int = 0, threads: int = 0, progress: Progress | None = None
    ) -> Sweep:
        """Times and counters of plans."""
        return _sweep(self.workload, self, self.gpu, plans, 0, True, seed, threads, progress)


# ---- Commands -----------------------------------------------------------------------------------------------

Target = Union[Workload, File]
"""A workload, or its name, folder or file."""


def workload_of(target: Target, preferred: str | None = None) -> Workload:
    """The workload that is meant."""
    return target if isinstance(target, Workload) else Workload(target, preferred=preferred)


def check(target: Target, plan: PlanLike = "baseline", *, reference: bool | None = None, assume: str = "", sms: int = 0,
          seed: int = 0, threads: int = 0, progress: Progress | None = None) -> Check:  # fmt: skip
    """`heddle check`: Workload.check.

    >>> check("copy-col", "order=reverse").equal
    True
    """
    return workload_of(target).check(
        plan, reference=reference, assume=assume, sms=sms, seed=seed, threads=threads, progress=progress
    )


def sweep(target: Target, plans: Iterable[PlanLike] = (), *, gpu: str = "h100", budget: float = 60, exact: bool = False,
          seed: int = 0, threads: int = 0, progress: Progress | None = None) -> Sweep:  # fmt: skip
    """`heddle sweep`: Workload.sweep, at the size "paper" if there is one."""
    return workload_of(target, "paper").sweep(
        plans, gpu=gpu, budget=budget, exact=exact, seed=seed, threads=threads, progress=progress
    )


def tune(target: Target, *, device: str = "cuda", plans: Iterable[PlanLike] = (), budget: float = 0, wall: float = 0,
         store: str | None = None, again: bool = False, proof: bool = True, advice: bool = True, any_grid: bool = False,
         assume: str = "", threads: int = 0, progress: Progress | None = None) -> Tuned:  # fmt: skip
    """`heddle tune`: Workload.tune."""
    return workload_of(target).tune(
        device=device, plans=plans, budget=budget, wall=wall, store=store, again=again, proof=proof, advice=advice,
        any_grid=any_grid, assume=assume, threads=threads, progress=progress,
    )  # fmt: skip


def _only_module(file: File) -> int:
    modules = sorted({k.module for k in kernels(file)})
    if len(modules) < 2:
        return modules[0] if modules else 0
    e = _heddle.UsageError(
        f"{os.fspath(file)}: it has {len(modules)} modules with kernels: name a kernel, or pass one of heddle.kernels"
    )
    e.message = str(e)
    raise e


def analyze(target: Union[Workload, Kernel, File], *, kernel: str | None = None, grid: Dims | None = None,
            block: Dims | None = None, gpu: str = "h100", seconds: float = 10, static: bool = False,
            threads: int = 0, progress: Progress | None = None) -> Analysis:  # fmt: skip
    """`heddle analyze`: of a kernel, a text of PTX, a file with kernels, or a workload, which is run unless `static`.

    `grid` and `block` are facts about the launches of a file's kernels. Of a file with several modules `kernel` names one.
    """
    if isinstance(target, Kernel):
        return target.analyze(grid=grid, block=block)
    if isinstance(target, str) and "\n" in target:
        return analyze_text(target, kernel, grid, block)
    if not isinstance(target, Workload) and Path(target).is_file() and Path(target).suffix != ".toml":
        if kernel is not None:
            return find_kernel(target, kernel).analyze(grid=grid, block=block)
        return analyze_text(_heddle.module_text(os.fspath(target), _only_module(target)), None, grid, block)
    return workload_of(target).analyze(
        kernel=kernel, gpu=gpu, seconds=seconds, static=static, threads=threads, progress=progress
    )
