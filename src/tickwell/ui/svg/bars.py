"""A bar for each interval, of how executions ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from zoneinfo import ZoneInfo

from markupsafe import Markup

from tickwell.domain.tally import MINUTES, Period, Tally
from tickwell.ui.svg.plot import BASE, HEAD, Plot, ceiling

#: The field of a tally, its colour, and how it is called.
_Layer = tuple[str, str, str]
_ENDED: Sequence[_Layer] = (
    ("succeeded", "good", "succeeded"),
    ("cancelled", "quiet", "cancelled"),
    ("dead", "bad", "failed"),
)
_FAILED: Sequence[_Layer] = (("dead", "bad", "failed"), ("retried", "warn", "retried"))


def ended_bars(tallies: Mapping[int, Tally], period: Period, zone: ZoneInfo) -> Markup:
    """Executions that ended, each once."""
    return _bars(
        tallies, _ENDED, Plot(starts=list(tallies), period=period, zone=zone), "Executions"
    )


def failed_bars(tallies: Mapping[int, Tally], period: Period, zone: ZoneInfo) -> Markup:
    """Executions that failed, and attempts that were retried."""
    plot = Plot(starts=list(tallies), period=period, zone=zone)
    return _bars(tallies, _FAILED, plot, "Failures and retries")


def _bars(tallies: Mapping[int, Tally], layers: Sequence[_Layer], plot: Plot, what: str) -> Markup:
    most = max((sum(_values(tally, layers)) for tally in tallies.values()), default=0)
    top = ceiling(most)
    marks = "".join(
        _bar(number, _values(tally, layers), layers, plot.step, top)
        for number, tally in enumerate(tallies.values())
    )
    titles = [
        f"{plot.when(start)}: "
        + ", ".join(
            f"{value:,} {name}"
            for value, (_, _, name) in zip(_values(tally, layers), layers, strict=True)
        )
        for start, tally in tallies.items()
    ]
    per = "minute" if plot.period is MINUTES else "hour"
    grid = [(0, "0"), (0.5, f"{top // 2:,}"), (1, f"{top:,}")]
    return plot.draw(f"{what} per {per}, at most {most:,}", marks, grid, titles)


def _bar(
    number: int, values: Sequence[int], layers: Sequence[_Layer], step: float, top: int
) -> str:
    found, y, gap = "", float(BASE), min(step * 0.1, 0.2)
    for value, (_, tone, _) in zip(values, layers, strict=True):
        if value:
            tall = max(value / top * (BASE - HEAD), 1)
            y -= tall
            found += (
                f'<rect class="fill-{tone}" x="{number * step + gap:.2f}%" y="{y:.2f}%" '
                f'width="{step - 2 * gap:.2f}%" height="{tall:.2f}%" rx="1"/>'
            )
    return found


def _values(tally: Tally, layers: Sequence[_Layer]) -> list[int]:
    return [getattr(tally, field) for field, _, _ in layers]
