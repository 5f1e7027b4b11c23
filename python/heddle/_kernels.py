"""Kernels of files, and PTX under plans."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Sequence, Union

from . import _heddle
from ._arguments import Argument, Parameter
from ._plans import Plan, PlanLike
from ._results import Analysis

if TYPE_CHECKING:
    from ._workloads import Workload

Dims = Union[int, Sequence[int]]
"""X, (X,), (X, Y) or (X, Y, Z)."""
File = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Refusal:
    """Why the CTAs of a kernel must keep their order."""

    line: int
    """Of its PTX; 0: no one line is the reason."""
    reason: str


@dataclass(frozen=True)
class Kernel:
    """A kernel of a file, as `heddle ls` lists it."""

    name: str
    """As its source calls it: "axpy<float, 4>"."""
    symbol: str
    """As PTX calls it."""
    title: str = field(repr=False)
    """With its parameters."""
    file: str
    module: int
    """Its number in the file."""
    sm: int
    parameters: tuple[Parameter, ...] = field(repr=False)
    shared: int = field(repr=False)
    """Bytes of static shared memory."""
    limits: str = field(repr=False)
    """Bounds in its text: "block<=256 regs<=32", or ""."""
    refusal: Refusal | None
    """None: its CTAs may run in another order."""

    @property
    def ptx(self) -> str:
        """The text of its module."""
        return _heddle.module_text(self.file, self.module)

    def rewrite(self, plan: PlanLike, *, grid: Dims | None = None, block: Dims | None = None, sms: int = 0,
                assume: str = "") -> Rewritten:  # fmt: skip
        """Its module with this kernel under a plan."""
        return rewrite(self.ptx, plan, kernel=self.symbol, grid=grid, block=block, sms=sms, assume=assume)

    def analyze(self, *, grid: Dims | None = None, block: Dims | None = None) -> Analysis:
        """Its arrays, accesses, strides and loops."""
        return analyze_text(self.ptx, self.symbol, grid, block)

    def launch(self, *args: Argument, grid: Dims, block: Dims, shared: int = 0, atomics: bool = False,
               near: float = 0, unwritten: Sequence[str] = ()) -> Workload:  # fmt: skip
        """A launch of it as a workload: one argument for each parameter, checked against it.

        Numbers become what the parameter is; arrays (NumPy's, anything with the buffer protocol or DLPack) are copied
        now, and each call starts from that copy. Texts are words of the command line: "f32[1024]=uniform(-1, 1)".
        `shared` are bytes of dynamic shared memory. `atomics`, `near`, `unwritten`: as Workload has them.
        """
        from ._workloads import Launch, Workload

        launch = Launch(self, grid, block, args, shared)
        return Workload(self.file, launches=[launch], atomics=atomics, near=near, unwritten=unwritten)


def _kernel(k: dict[str, Any]) -> Kernel:
    parameters = tuple(
        Parameter(i, p["type"], p["bytes"], p.get("c") or "", bool(p.get("points")), p.get("element") or "")
        for i, p in enumerate(k["arguments"], 1)
    )
    refused = k.get("refused")
    refusal = Refusal(int(refused.get("line") or 0), str(refused.get("what") or "")) if refused else None
    return Kernel(k["name"], k["kernel"], k["title"], k["file"], k["module"], k["sm"], parameters, k["shared_bytes"],
                  k["limits"], refusal)  # fmt: skip


def kernels(file: File, name: str | None = None) -> list[Kernel]:
    """The kernels of a file: PTX, CUDA C (which is compiled), an executable, a library, a fatbin.

    With `name`, those that it means, as -k does: a plain name, a symbol, or a shell's pattern.

    >>> [k.name for k in kernels(examples / "own/kernels.ptx", "axpy*")]
    ['axpy<float, 4>', 'axpy<double, 2>']
    """
    os.stat(file)
    found = [_kernel(k) for k in json.loads(_heddle.kernels(os.fspath(file)))["list"]]
    return [k for k in found if name is None or _heddle.matches(k.symbol, name)]


def kernel(file: File, name: str | None = None, *, module: int | None = None) -> Kernel:
    """The kernel that a name means, as -k has it; without a name, the only one. NotFoundError names those there are.

    `module`: the number of the module that has it, where several do.

    >>> k = kernel(examples / "own/kernels.ptx", "dense::product")
    >>> [str(p) for p in k.parameters]
    ['1 (matrix)', '2 (matrix)', '3 (float*)']
    >>> kernel(examples / "own/kernels.ptx", "covolve")
    Traceback (most recent call last):
    ...
    heddle.NotFoundError: ...: no kernel 'covolve'; did you mean convolve?
    """
    os.stat(file)
    symbol, text = _heddle.find_kernel(os.fspath(file), name, -1 if module is None else module)
    return next(_kernel(k) for k in json.loads(text)["list"] if k["kernel"] == symbol)


# ---- Texts --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rewritten:
    """PTX under a plan, and how its kernels are launched from then on."""

    ptx: str = field(repr=False)
    launch: str
    """Lines of PTX comments; empty: each kernel is launched as before."""

    def __str__(self) -> str:
        return self.ptx


def rewrite(
    ptx: Union[str, Kernel],
    plan: PlanLike,
    *,
    kernel: str | None = None,
    grid: Dims | None = None,
    block: Dims | None = None,
    sms: int = 0,
    assume: str = "",
) -> Rewritten:
    """Rewrite the kernels of a module's text for a plan, or the one that is named, as -k names it.

    With `grid` the launches to come have that grid and no other. `sms` is the number of the GPU's SMs, 0:
    132, for plans that bind CTAs to them. RefusedError where the result would not be sound, with the line.
    """
    if isinstance(ptx, Kernel):
        return ptx.rewrite(plan, grid=grid, block=block, sms=sms, assume=assume)
    return Rewritten(*_heddle.rewrite(ptx, str(Plan(plan)), kernel, grid, block, sms, assume))


def analyze_text(ptx: str, kernel: str | None, grid: Dims | None, block: Dims | None) -> Analysis:
    """`heddle analyze` of a text."""
    return Analysis(json.loads(_heddle.analyze(ptx, kernel, grid, block)))
