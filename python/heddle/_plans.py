"""Plans."""

from __future__ import annotations

from typing import Union

from . import _heddle


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
