"""A figure: what was measured, against what, and whether that is enough."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any


@dataclass(slots=True, kw_only=True)
class Figure:
    """One line of the table."""

    name: str
    #: What Tickwell did, in words with units.
    ours: str
    #: What it is measured against: the limit or the peer of the same run, in words with units.
    against: str
    #: Ours by the other's, one for each round; empty where there is nothing to divide.
    ratios: Sequence[float] = ()
    #: What the ratio has to reach, or stay under; None: informative.
    bar: float | None = None
    smaller_is_better: bool = False
    #: What else has to hold, and was found wanting.
    faults: Sequence[str] = ()
    #: Everything behind the figure, for `--json`.
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        return median(self.ratios) if self.ratios else None

    @property
    def spread(self) -> str:
        """The lowest and the highest ratio; nothing for a single round."""
        if len(self.ratios) < 2:
            return ""
        return f"{min(self.ratios):.2f} to {max(self.ratios):.2f}"

    @property
    def is_judged(self) -> bool:
        return self.bar is not None or bool(self.faults)

    @property
    def passed(self) -> bool:
        if self.faults:
            return False
        if self.bar is None:
            return True
        if self.ratio is None:  # the other side showed nothing to compare with
            return False
        return self.ratio <= self.bar if self.smaller_is_better else self.ratio >= self.bar

    @property
    def verdict(self) -> str:
        if not self.is_judged:
            return "-"
        return "pass" if self.passed else "MISSED"

    def as_json(self) -> dict[str, Any]:
        computed = {"ratio": self.ratio, "passed": self.passed, "judged": self.is_judged}
        return {**asdict(self), **computed}
