"""Results: what each command of the same name finds, as objects that notebooks show as its page."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping, Sequence, Union

from . import _heddle
from ._plans import Plan

_FRAME = '<iframe srcdoc="{}" style="width: 100%; height: 640px; border: 0" title="{}"></iframe>'


@dataclass(frozen=True)
class Result:
    """A result; `details` is its command's JSON."""

    details: dict[str, Any] = field(repr=False)
    _page: str = field(repr=False, default="")

    @property
    def title(self) -> str:
        """The page's heading."""
        return str(self.details.get("workload") or type(self).__name__.lower())

    @property
    def html(self) -> str:
        """The page that the command writes: one file, which fetches nothing."""
        line = f"heddle {type(self).__name__.lower()}"
        return self._page or _heddle.page(self.title, line, json.dumps(self.details))

    def _repr_html_(self) -> str:
        return _FRAME.format(html.escape(self.html), html.escape(self.title))

    def save(self, folder: Union[str, Path]) -> list[Path]:
        """Write the page and the JSON into a folder, which is made if need be. The files."""
        at = Path(folder)
        at.mkdir(parents=True, exist_ok=True)
        name = self.title.replace("/", "-")
        files = [at / f"{name}.html", at / f"{name}.json"]
        files[0].write_text(self.html, encoding="utf-8")
        files[1].write_text(json.dumps(self.details, indent=1) + "\n", encoding="utf-8")
        return files


@dataclass(frozen=True)
class Check(Result):
    """The outcome of a proof on the emulator, true where all results are equal."""

    equal: bool = False
    why: str = ""
    """The first difference, else ""."""
    plan: Plan = field(default_factory=Plan)

    @property
    def proved(self) -> bool:
        """The plan computes the same bytes under every dispatcher."""
        return self.equal

    def __bool__(self) -> bool:
        return self.equal


@dataclass(frozen=True)
class Optimized(Result):
    """The best plan for a modelled GPU."""

    plan: Plan = field(default_factory=Plan)
    """The baseline where nothing helps."""
    speedup: float = 1.0
    """As predicted."""
    proved: bool = False
    """The rewritten kernel computes the same bytes, at this very size, under every dispatcher."""
    ptx: str | None = field(repr=False, default=None)
    """The kernel under the plan, proved at least at a smaller size; None where nothing helps."""
    launch: str = ""
    """How it is launched from then on, as lines of PTX comments; "": as before."""

    @property
    def why(self) -> str:
        """Why the kernel is left as it is; "" where a plan helps."""
        return str(self.details.get("nothing_helps") or "")

    @property
    def answered(self) -> bool:
        """Everything was tried that the budget is for."""
        return bool(self.details.get("answered", True))

    @property
    def tried(self) -> list[Plan]:
        """The plans that were replayed."""
        return [Plan(r["plan"]) for r in self.details["rows"] if not r.get("not_tried") and "time_us" in r]

    def __bool__(self) -> bool:
        return bool(self.plan)

    def save(self, folder: Union[str, Path]) -> list[Path]:
        """The files of `heddle optimize -o FOLDER`: the page, the JSON, and the kernel if there is one."""
        files = super().save(folder)
        if self.ptx is not None:
            files.append(files[0].with_suffix(".ptx"))
            files[-1].write_text(self.ptx, encoding="utf-8")
        return files


@dataclass(frozen=True)
class TunedKernel:
    """The verdict on one kernel."""

    kernel: str
    """Its symbol; "" where one plan is for all of them."""
    plan: Plan
    adopted: bool
    speedup: float
    low: float
    high: float
    """Bounds of the speedup, at the confidence of the details."""
    before_us: float
    after_us: float
    proved: bool
    """On the emulator; `details` say at which size."""
    why: str


@dataclass(frozen=True)
class Tuned(Result):
    """The plans that win on a device, as measured."""

    kernels: tuple[TunedKernel, ...] = ()
    speedup: float = 1.0
    """Of the whole workload."""
    recalled: bool = False
    """It is a verdict of the store: nothing was measured."""

    @property
    def plan(self) -> Plan:
        """Of the first kernel that has one; the baseline where nothing wins."""
        return next((k.plan for k in self.kernels if k.adopted), Plan())

    @property
    def proved(self) -> bool:
        """Every adopted plan was proved on the emulator."""
        return any(k.adopted for k in self.kernels) and all(k.proved for k in self.kernels if k.adopted)

    def __bool__(self) -> bool:
        return any(k.adopted for k in self.kernels)


def _real(value: Any, missing: float = math.nan) -> float:
    return missing if value is None else float(value)


def tuned(details: dict[str, Any]) -> Tuned:
    """Of the JSON of `heddle tune`."""
    kernels = []
    for k in details.get("kernels", []):
        s = k.get("speedup") or {}
        proof = k.get("proof") or {}
        kernels.append(
            TunedKernel(
                k.get("kernel", ""),
                Plan(k.get("plan") or "baseline"),
                bool(k.get("adopted")),
                _real(s.get("median")),
                _real(s.get("low")),
                _real(s.get("high"), math.inf),
                _real(k.get("before_us")),
                _real(k.get("after_us")),
                bool(proof.get("bytes")) and bool(proof.get("dispatchers")),
                str(k.get("why") or ""),
            )
        )
    speedup = _real((details.get("speedup") or {}).get("median"))
    return Tuned(details, kernels=tuple(kernels), speedup=speedup, recalled=bool(details.get("recalled")))


class Sweep(Mapping[str, "list[Any]"]):
    """Columns, one row a plan, the baseline first: pandas.DataFrame(sweep) takes them as they are.

    A plan that failed has NaN for its numbers, and its reason under "why".
    """

    def __init__(self, columns: dict[str, list[Any]], page: str, title: str):
        self._columns, self.html, self.title = columns, page, title

    def __getitem__(self, column: str) -> list[Any]:
        return self._columns[column]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    def __repr__(self) -> str:
        gain = "" if math.isnan(self.speedup) else f" ({self.speedup:.3g}x)"
        return f"<heddle.Sweep of {len(self['plan'])} plans, the best {self.best}{gain}>"

    @property
    def best(self) -> Plan:
        """The plan with the least time; without a clock, with the least traffic."""
        timed = not all(math.isnan(t) for t in self["time_us"])
        costs = [math.inf if math.isnan(c) else c for c in self["time_us" if timed else "traffic"]]
        return Plan(self["plan"][costs.index(min(costs))])

    @property
    def speedup(self) -> float:
        """The best plan's, over the baseline; NaN without a clock."""
        return float(max((s for s in self["speedup"] if not math.isnan(s)), default=math.nan))

    def _repr_html_(self) -> str:
        return _FRAME.format(html.escape(self.html), html.escape(self.title))


def _cell(column: str, text: str) -> Any:
    """Numbers of a plan that failed are not there, and so are no zeros."""
    if column in ("plan", "status", "why"):
        return text
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text or math.nan


def columns(text: str) -> dict[str, list[Any]]:
    """The columns of a sweep's CSV, with the speedups, and the bytes that L2 and DRAM move."""
    rows = list(csv.DictReader(io.StringIO(text)))
    found = {k: [_cell(k, r[k]) for r in rows] for k in (rows[0] if rows else {})}
    times: Sequence[float] = found.get("time_us", [])
    if times:
        found["speedup"] = [times[0] / t if t and not math.isnan(t) else math.nan for t in times]
        moved = zip(found["l2_sectors"], found["dram_read_bytes"], found["dram_write_bytes"])
        found["traffic"] = [32 * sectors + read + written for sectors, read, written in moved]
    return found


@dataclass(frozen=True)
class Analysis(Result):
    """Arrays, accesses, strides and loops; of a workload also where its reuse lies, and plans worth trying."""

    @property
    def title(self) -> str:
        """What was analyzed."""
        return str(self.details.get("input", "analysis"))

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """One for each kernel."""
        return list(self.details.get("kernels", []))

    @property
    def category(self) -> str:
        """Of a workload that was run: "algorithm", "streaming", ..."""
        return str(self.details.get("category", ""))

    def __getitem__(self, key: str) -> Any:
        return self.details[key]


# ---- Of programs --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run(Result):
    """A program that has ended, and what heddle reports of it."""

    argv: tuple[str, ...] = ()
    code: int = 0
    """Its exit code, or 128 and its signal's number."""

    @property
    def title(self) -> str:
        """The program and its arguments."""
        return " ".join([Path(self.argv[0]).name, *self.argv[1:]]) if self.argv else ""

    @property
    def kernels(self) -> list[dict[str, Any]]:
        """What became of each kernel."""
        return list(self.details.get("kernels", []))


@dataclass(frozen=True)
class Emulation(Run):
    """A program that ran on the emulator, and what was found in it."""

    findings: tuple[dict[str, Any], ...] = field(repr=False, default=())
    """As the lines of `heddle emu --findings` have them."""


@dataclass(frozen=True)
class Recording(Run):
    """A program's launches, each a folder with a workload."""

    folder: Path = Path()

    @property
    def paths(self) -> list[Path]:
        """Their folders, each of which heddle.Workload takes."""
        return sorted(p.parent for p in self.folder.glob("*/workload.toml"))


@dataclass(frozen=True)
class Profile(Run):
    """Where a program's time goes, and how much of it plans could win."""


@dataclass(frozen=True)
class OptimizedProgram(Run):
    """A program's hot kernels, each optimized."""

    folder: Path = Path()
    """Its pages, kernels and predictions."""

    @property
    def plans(self) -> dict[str, Plan]:
        """The proved plan of each kernel that has one."""
        return {k["title"]: Plan(k["plan"]) for k in self.kernels if k.get("plan")}

    @property
    def pins(self) -> Path | None:
        """The file that heddle.run(..., pin=...) takes; None: nothing helps."""
        return Path(self.details["pins"]) if self.details.get("pins") else None
