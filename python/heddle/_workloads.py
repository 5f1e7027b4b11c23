"""Workloads, on the emulator and on modelled GPUs."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Iterable, Mapping, Union

from . import _heddle
from ._kernels import Plan, PlanLike


def _data() -> Path:
    """The folder that holds kernels/ and gpus/: HEDDLE_DATA, or the package's own."""
    named = os.environ.get("HEDDLE_DATA")
    return Path(named) if named else Path(__file__).parent / "share" / "heddle"


def gpus() -> list[str]:
    """The names of the modelled GPUs.

    >>> "h100" in gpus()
    True
    """
    return sorted(p.stem for p in (_data() / "gpus").glob("*.toml"))


def workloads() -> list[str]:
    """The names of the workloads that come with heddle."""
    return _heddle.list_workloads(str(_data() / "kernels"))


def _words(launch: Mapping[str, Any]) -> list[str]:
    """kernel="k", grid=(4, 4), arg=["f32[N]", 3] as the options of a command line."""
    flat: list[str] = []
    for option, value in launch.items():
        several = option == "arg" or option == "var"
        if isinstance(value, (tuple, list)) and not several:
            value = ",".join(str(v) for v in value)
        for one in value if several and not isinstance(value, str) else [value]:
            flat += [option.replace("_", "-"), str(one)]
    return flat


@dataclass(frozen=True)
class Check:
    """The outcome of a proof on the emulator, true where all results are equal."""

    equal: bool
    details: dict[str, Any]

    def __bool__(self) -> bool:
        return self.equal


@dataclass(frozen=True)
class Optimized:
    """The best plan for a modelled GPU."""

    plan: Plan
    """The baseline where nothing helps."""
    ptx: str | None
    """The kernel under it, proved; None where nothing helps."""
    details: dict[str, Any]


class Workload:
    """A kernel with its launches and data.

    Workload("matmul-naive", size="small", params={"N": 64}) is one of heddle's own, or a folder with a
    workload.toml. A file with kernels (PTX, CUDA C, an executable) takes a description of the launch, in the
    words of heddle's command line:

        Workload("app", kernel="saxpy", grid=64, block=256,
                 arg=["f32[16384]=uniform(-1, 1)", "f32[16384]=zero", "f32:2"])
    """

    def __init__(
        self,
        name: Union[str, os.PathLike[str]],
        *,
        size: str | None = None,
        params: Mapping[str, int] | None = None,
        **launch: Any,
    ):
        values = [f"{k}={v}" for k, v in (params or {}).items()]
        self._handle = _heddle.open_workload(os.fspath(name), str(_data() / "kernels"), size, values, _words(launch))
        (self.name, self.title, self.size, self.sizes, self.params, self.launches) = _heddle.describe_workload(
            self._handle
        )

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
    ) -> Check:
        """Prove on the emulator, under every dispatcher, that the plan computes the same bytes.

        With `reference` the original is also compared with the workload's reference in C, which takes a C
        compiler; None: where there is one.
        """
        if reference is None:
            reference = any(shutil.which(cc) for cc in ("cc", "gcc", "clang"))
        text = _heddle.check(self._handle, str(Plan(plan)), not reference, assume, sms, seed, threads)
        details = json.loads(text)
        return Check(bool(details["equal"]), details)

    def study(self, gpu: str = "h100", *, depth: str = "", threads: int = 0) -> Study:
        """Trace it once, for replays on a modelled GPU under many plans."""
        return Study(self, gpu, depth, threads)

    def simulate(self, plan: PlanLike = "baseline", *, gpu: str = "h100", seed: int = 0) -> dict[str, Any]:
        """Counters and time of one plan on a modelled GPU."""
        return self.study(gpu).simulate(plan, seed=seed)

    def sweep(
        self, plans: Iterable[PlanLike] = (), *, gpu: str = "h100", seed: int = 0, threads: int = 0
    ) -> dict[str, list[Any]]:
        """Columns, one row a plan, the baseline first; without plans, those that are tried by default."""
        return self.study(gpu, threads=threads).sweep(plans, seed=seed, threads=threads)

    def optimize(
        self, *, gpu: str = "h100", seconds: float = 0, keep_launch: bool = False, threads: int = 0
    ) -> Optimized:
        """The best plan for a modelled GPU, proved on the emulator."""
        text, ptx = _heddle.optimize(self._handle, gpu, str(_data() / "gpus"), keep_launch, seconds, threads)
        details = json.loads(text)
        return Optimized(Plan(details.get("best") or "baseline"), ptx, details)


class Study:
    """A workload's traces; replays of them under plans are cheap."""

    def __init__(self, workload: Workload, gpu: str, depth: str, threads: int):
        self.workload, self.gpu = workload, gpu
        self._handle = _heddle.open_study(workload._handle, gpu, str(_data() / "gpus"), depth, threads)

    def simulate(self, plan: PlanLike = "baseline", *, seed: int = 0) -> dict[str, Any]:
        """Counters and time of one plan."""
        counters: dict[str, Any] = json.loads(_heddle.simulate(self._handle, str(Plan(plan)), seed))
        return counters

    def sweep(self, plans: Iterable[PlanLike] = (), *, seed: int = 0, threads: int = 0) -> dict[str, list[Any]]:
        """Columns, one row a plan, the baseline first."""
        text = _heddle.sweep(self._handle, [str(Plan(p)) for p in plans], seed, threads)
        rows = list(csv.DictReader(io.StringIO(text)))
        return {k: [_cell(k, r[k]) for r in rows] for k in (rows[0] if rows else {})}


def _cell(column: str, text: str) -> Any:
    """Numbers of a plan that failed are not there, and so are no zeros."""
    if column in ("plan", "status", "why"):
        return text
    return _number(text) if text else math.nan


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
