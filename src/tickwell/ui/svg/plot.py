"""The frame of a chart over time: gridlines with units, ticks, and a title for each interval.

Across, everything is in parts of a hundred; the style sheet gives the height, so that letters keep
their size on a phone, and leaves room for the scale on the left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from tickwell.domain.policy import DAY
from tickwell.domain.tally import Period
from tickwell.ui.formatting import local
from tickwell.ui.svg.axis import Axis

#: Parts of a hundred of the height, above and below the plot.
HEAD, FOOT = 11, 12
BASE = 100 - FOOT
#: Plots of lines have coordinates of their own, which are stretched.
WIDE, TALL = 1000, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """Equal intervals from left to right."""

    starts: Sequence[int]
    period: Period
    zone: ZoneInfo

    @property
    def step(self) -> float:
        """How wide an interval is."""
        return 100 / max(len(self.starts), 1)

    def draw(
        self, label: str, marks: str, grid: Sequence[tuple[float, str]], titles: Sequence[str]
    ) -> Markup:
        """The chart; `grid` says how far up, in parts of one, each line stands and its text."""
        lines, texts = "", ""
        for part, text in grid:
            y = f"{height(part):.2f}%"
            lines += f'<line class="axis" x1="0" x2="100%" y1="{y}" y2="{y}"/>'
            texts += f'<text class="scale" x="-8" y="{y}">{escape(text)}</text>'
        hover = "".join(
            f'<rect x="{number * self.step:.2f}%" width="{self.step:.2f}%" height="100%" '
            f'opacity="0"><title>{escape(title)}</title></rect>'
            for number, title in enumerate(titles)
        )
        return Markup(  # noqa: S704 - numbers and escaped text only
            f'<svg class="chart plot" role="img" aria-label="{escape(label)}">'
            f"{lines}{marks}{texts}{self._ticks()}{hover}</svg>"
        )

    def when(self, start: int) -> str:
        """An interval in words."""
        at = local(start, self.zone)
        return f"{at:%H:%M}" if self._is_short() else f"{at:%a %d %b, %H:%M}"

    def _ticks(self) -> str:
        until = self.starts[-1] + self.period.length
        axis = Axis(since=self.starts[0], until=until, left=0, right=100, zone=self.zone)
        found = ""
        for number, (x, text) in enumerate(axis.ticks()):
            if x > 94:
                continue
            every_other = " every-other" if number % 2 else ""
            brief = escape(text[: len("Mon 16")])  # the month is clear
            found += f'<text class="tick{every_other}" x="{x:.2f}%" y="98%">{brief}</text>'
        return found

    def _is_short(self) -> bool:
        return self.starts[-1] - self.starts[0] < DAY


def height(part: float) -> float:
    """Where a part of one of the highest value stands."""
    return BASE - part * (BASE - HEAD)


def ceiling(most: float) -> int:
    """The next of 2, 4, 10, 20, 40, …: round numbers at the gridlines, half of it too."""
    unit = 1
    while True:
        for factor in (2, 4, 10):
            if most <= factor * unit:
                return factor * unit
        unit *= 10
