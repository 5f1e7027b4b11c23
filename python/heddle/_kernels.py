"""Plans, and PTX under them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Sequence, Union

from . import _heddle

Dims = Union[int, Sequence[int], None]


class Plan:
    """Which CTA runs where and when: levers in heddle's notation, checked and in canonical form.

    >>> Plan("baseline") == Plan("")
    True
    >>> Plan("order=nowhere")
    Traceback (most recent call last):
    ...
    heddle.InputError: plan, column 7: order=nowhere: no such order; ...
    """

    __slots__ = ("_text",)

    def __init__(self, text: Union[str, Plan] = "baseline"):
        self._text = str(text) if isinstance(text, Plan) else _heddle.canonical(text or "baseline")

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Plan({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        """False: the baseline, which changes nothing."""
        return self._text != "baseline"


PlanLike = Union[str, Plan]


@dataclass(frozen=True)
class Rewritten:
    """PTX under a plan, and how its kernels are launched from then on."""

    ptx: str
    launch: str
    """Lines of PTX comments; empty: each kernel is launched as before."""

    def __str__(self) -> str:
        return self.ptx


def rewrite(
    ptx: str,
    plan: PlanLike,
    *,
    kernel: str | None = None,
    grid: Dims = None,
    block: Dims = None,
    sms: int = 0,
    assume: str = "",
) -> Rewritten:
    """Rewrite a module's kernels, or the one named, for a plan.

    With `grid` the launches to come have that grid and no other. `sms` is the number of the GPU's SMs, 0:
    132, for plans that bind CTAs to them. RefusedError where the result would not be sound, naming the instruction.
    """
    return Rewritten(*_heddle.rewrite(ptx, str(Plan(plan)), kernel, grid, block, sms, assume))


def analyze(ptx: str, *, kernel: str | None = None, grid: Dims = None, block: Dims = None) -> dict[str, Any]:
    """The arrays, accesses, strides and loops of a module's kernels, or of the one named."""
    found: dict[str, Any] = json.loads(_heddle.analyze(ptx, kernel, grid, block))
    return found
