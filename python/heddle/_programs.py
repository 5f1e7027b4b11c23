"""CUDA programs with heddle's libraries in front of them. Each runs in a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Iterable, TypeVar, Union, overload

from . import _heddle
from ._kernels import File
from ._plans import Plan, PlanLike
from ._results import Emulation, Optimized, OptimizedProgram, Profile, Recording, Run
from ._workloads import Progress, Workload, gpu_folder, workload_of

Program = Union["list[str]", "list[Union[str, Path]]", "tuple[Union[str, Path], ...]"]
"""A program and its arguments."""
_PATIENCE = 5
"""Seconds that a process has to end after Ctrl-C."""


def _path(file: File | None) -> str | None:
    return None if file is None else os.fspath(file)


# ---- Processes ----------------------------------------------------------------------------------------------


def _words(argv: Program) -> tuple[str, ...]:
    if isinstance(argv, (str, bytes)):
        raise TypeError('a program is a list of words: ["./app", "--size", "64"]')
    if not argv:
        raise ValueError("which program?")
    return tuple(os.fspath(a) for a in argv)


def _tell(stream: Any, progress: Progress, failures: list[BaseException]) -> None:
    for line in stream:
        stage, done, n = json.loads(line)
        try:
            progress(stage, done, n)
        except BaseException as e:  # ends the work, and goes on to the caller
            failures.append(e)
            return


def _wait(process: subprocess.Popen[bytes], failures: list[BaseException]) -> int:
    """The process sees a terminal's Ctrl-C itself; an exception of this process alone is passed on as one."""
    try:
        while True:
            try:
                return process.wait(0.2)
            except subprocess.TimeoutExpired:
                if failures:
                    raise failures[0] from None
    except BaseException:
        for act, seconds in ((None, 0.5), (signal.SIGINT, _PATIENCE), (signal.SIGKILL, None)):
            if act is not None:
                process.send_signal(act)
            try:
                process.wait(seconds)
                break
            except subprocess.TimeoutExpired:
                continue
        raise


def _start(do: str, job: dict[str, Any], folder: str, progress: Progress | None) -> int:
    path = os.path.join(folder, "job.json")
    job = {"do": do, "parent": os.getpid(), "gpus": gpu_folder(), "progress": progress is not None, **job}
    Path(path).write_text(json.dumps(job), encoding="utf-8")
    child = Path(__file__).parent / "_child.py"
    failures: list[BaseException] = []
    read, write = os.pipe()
    process = subprocess.Popen([sys.executable, "-s", str(child), path, str(write)], pass_fds=[write])
    os.close(write)
    with os.fdopen(read) as stream:
        teller = threading.Thread(target=_tell, args=(stream, progress, failures), daemon=True) if progress else None
        if teller:
            teller.start()
        code = _wait(process, failures)
        if teller:
            teller.join(_PATIENCE)
    if failures:
        raise failures[0]
    return 128 - code if code < 0 else code


def _raise(folder: str) -> None:
    """The exception that ended the other process, if one did."""
    path = Path(folder, "error.json")
    if not path.exists():
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    kind = getattr(_heddle, found.pop("kind"), _heddle.Error)
    e = kind(found.pop("text"))
    for key, value in found.items():
        setattr(e, key, value)
    raise e


def _read(folder: str, name: str) -> str:
    path = Path(folder, name)
    return path.read_text(encoding="utf-8") if path.exists() else ""


_R = TypeVar("_R", bound=Run)


def _become(kind: type[_R], argv: Program, options: dict[str, Any], **more: Any) -> _R:
    words = _words(argv)
    with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
        options = {k: v if isinstance(v, bool) or v is None else str(v) for k, v in options.items()}
        options |= {"report": os.path.join(folder, "report.json"), "page": os.path.join(folder, "report.html")}
        code = _start("become", {"options": options, "argv": words}, folder, None)
        _raise(folder)
        report = _read(folder, "report.json")
        return kind(json.loads(report) if report else {}, _read(folder, "report.html"), words, code, **more)


# ---- Commands -----------------------------------------------------------------------------------------------


def run(
    argv: Program,
    *,
    pin: File | None = None,
    force_plan: PlanLike | None = None,
    tune: bool = False,
    budget: float | None = None,
    total: Union[float, str, None] = None,
    worth: float | None = None,
    gain: float | None = None,
    guard: bool = True,
    emulate: str | None = None,
    library: File | None = None,
) -> Run:
    """`heddle run`: run a CUDA program under the best plans known.

    `pin`: only the verdicts of a file; `force_plan`: this plan for every kernel that admits it, which nothing proves.
    `tune`: find plans for hot launches while the program runs, in `budget` seconds for each and `total` for all of them
    ("5%": of the program's time); launches take `worth` seconds before that, and a plan must gain `gain`. Without
    `guard`, verdicts are applied without measuring them in the program. `emulate`: on the emulator, as this GPU.
    """
    return _become(
        Run,
        argv,
        {
            "pin": _path(pin),
            "plan": None if force_plan is None else str(Plan(force_plan)),
            "tune": tune,
            "budget": budget,
            "total": total,
            "worth": worth,
            "gain": gain,
            "unguarded": not guard,
            "emulate": emulate,
            "library": _path(library),
        },
    )


def emu(
    argv: Program, *, gpu: str = "h100", check: str | None = None, kernel: str | None = None, library: File | None = None
) -> Emulation:
    """`heddle emu`: run a CUDA program on the emulator, as this GPU.

    `check`: what to look for, "all" or a list of init, race, leak and streams, in kernels that `kernel` means.
    """
    words = _words(argv)
    with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
        options = {"emulate": gpu, "emulator_alone": True, "checks": check, "kernel": kernel, "library": _path(library),
                   "report": os.path.join(folder, "report.json"),
                   "findings": os.path.join(folder, "findings.jsonl")}  # fmt: skip
        code = _start("become", {"options": options, "argv": words}, folder, None)
        _raise(folder)
        report, findings = _read(folder, "report.json"), _read(folder, "findings.jsonl").splitlines()
        return Emulation(json.loads(report) if report else {}, "", words, code, tuple(json.loads(f) for f in findings))


def record(
    argv: Program,
    folder: File,
    *,
    kernel: str | None = None,
    launch: int | None = None,
    most: int | None = None,
    emulate: str | None = None,
    library: File | None = None,
) -> Recording:
    """`heddle record`: a CUDA program's launches as workloads, each a folder below `folder`.

    `kernel` is a name or a pattern, as -k takes it; `launch` the number of one launch of each kernel, else there is
    one of each shape; `most`: those that took most time (10). `emulate`: on the emulator, as this GPU.
    """
    options = {"record": os.fspath(folder), "kernel": kernel, "launch": launch, "most": most, "plan": "baseline",
               "emulate": emulate, "library": _path(library), "worth": 0}  # fmt: skip
    return _become(Recording, argv, options, folder=Path(folder))


def _waited(kind: type[_R], do: str, argv: Program, job: dict[str, Any], progress: Progress | None, **more: Any) -> _R:
    words = _words(argv)
    with tempfile.TemporaryDirectory(prefix="heddle-") as folder:
        _start(do, {"argv": words, "result": os.path.join(folder, "result.json"), **job}, folder, progress)
        _raise(folder)
        text = _read(folder, "result.json")
        if not text:
            raise _heddle.SystemError(f"{words[0]}: the process that watched it left no result")
        found, page, code = json.loads(text)
        return kind(json.loads(found) if found else {}, page, words, code, **more)


def profile(
    argv: Program,
    *,
    gpu: str = "h100",
    most: int = 5,
    emulate: str | None = None,
    threads: int = 0,
    library: File | None = None,
    progress: Progress | None = None,
) -> Profile:
    """`heddle profile`: where a CUDA program's time goes, and how much of it plans could win, on a modelled GPU.

    `most` kernels are looked into. `emulate`: on the emulator, as this GPU. A program that loads no kernel has a
    profile without details.
    """
    options = {"emulate": emulate, "library": _path(library)}
    return _waited(Profile, "profile", argv, {"options": options, "gpu": gpu, "most": most, "threads": threads},
                   progress)  # fmt: skip


def _optimize_program(argv: Program, gpu: str, folder: File, kernel: str | None, most: int, budget: float, wall: float,
                      exact: bool, keep_launch: bool, threads: int, progress: Progress | None,
                      library: File | None) -> OptimizedProgram:  # fmt: skip
    options = {"kernel": kernel, "library": _path(library)}
    job = {"options": options, "folder": os.fspath(folder), "gpu": gpu, "most": most, "seconds": budget, "wall": wall,
           "exact": exact, "keep_launch": keep_launch, "threads": threads}  # fmt: skip
    found = _waited(OptimizedProgram, "optimize_program", argv, job, progress, folder=Path(folder))
    if any(k.get("answered") for k in found.kernels):
        return found
    e = _heddle.NoAnswerError(str(found.details.get("answer") or "no kernel has an answer"))
    e.message, e.result = str(e), found
    raise e


@overload
def optimize(target: Union[Workload, File], *, gpu: str = ..., plans: Iterable[PlanLike] = ..., budget: float = ...,
             wall: float = ..., exact: bool = ..., keep_launch: bool = ..., assume: str = ..., seed: int = ...,
             threads: int = ..., progress: Progress | None = ...) -> Optimized: ...  # fmt: skip
@overload
def optimize(target: Program, *, gpu: str = ..., budget: float = ..., wall: float = ..., exact: bool = ...,
             keep_launch: bool = ..., threads: int = ..., progress: Progress | None = ..., folder: File = ...,
             kernel: str | None = ..., most: int = ...,
             library: File | None = ...) -> OptimizedProgram: ...  # fmt: skip
def optimize(
    target: Union[Workload, File, Program],
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
    folder: File = "heddle-out",
    kernel: str | None = None,
    most: int = 5,
    library: File | None = None,
) -> Union[Optimized, OptimizedProgram]:
    """`heddle optimize`: of a workload (Workload.optimize, at the size "paper" if there is one), or of a program.

    A program is a list of words: it is run once, on the emulator where there is no GPU, and its `most` hottest kernels
    (those that `kernel` means) are optimized. Their pages, texts and predictions go into `folder`.
    """
    if isinstance(target, (Workload, str, os.PathLike)):
        return workload_of(target, "paper").optimize(
            gpu=gpu, plans=plans, budget=budget, wall=wall, exact=exact, keep_launch=keep_launch, assume=assume,
            seed=seed, threads=threads, progress=progress,
        )  # fmt: skip
    return _optimize_program(target, gpu, folder, kernel, most, budget, wall, exact, keep_launch, threads, progress,
                             library)  # fmt: skip
