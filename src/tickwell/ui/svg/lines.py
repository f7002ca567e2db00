"""Lines over time: percentiles of durations, and queue depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from zoneinfo import ZoneInfo

from markupsafe import Markup

from tickwell.domain.policy import DAY, HOUR, MINUTE, SECOND
from tickwell.domain.tally import Period
from tickwell.services.insights.metrics import Percentiles
from tickwell.ui.formatting import span
from tickwell.ui.svg.plot import BASE, HEAD, TALL, WIDE, Plot, ceiling

#: Where gridlines of durations stand, and their texts.
_ROUND = {
    1: "1 ms",
    10: "10 ms",
    100: "100 ms",
    SECOND: "1 s",
    10 * SECOND: "10 s",
    MINUTE: "1 min",
    10 * MINUTE: "10 min",
    HOUR: "1 h",
    10 * HOUR: "10 h",
    4 * DAY: "4 d",
    40 * DAY: "40 d",
}
_LINES = list(_ROUND)

Values = Sequence[float | None]


def percentile_lines(
    found: Mapping[int, Percentiles], period: Period, zone: ZoneInfo, what: str
) -> Markup:
    """p50, p95 and p99 on a logarithmic scale: one slow attempt in a hundred hides no other."""
    plot = Plot(starts=list(found), period=period, zone=zone)
    lines = [[getattr(each, name) for each in found.values()] for name in ("p50", "p95", "p99")]
    known = [value for line in lines for value in line if value is not None]
    low = max(each for each in _LINES[:-1] if each <= max(min(known, default=1), 1))
    high = min((each for each in _LINES if each >= max(known, default=1)), default=_LINES[-1])
    high = max(high, _LINES[_LINES.index(low) + 1])
    wide = log10(high / low)

    def part(value: float) -> float:
        return min(max(log10(max(value, 1) / low) / wide, 0), 1)

    marks = "".join(
        _line(number, [None if value is None else part(value) for value in line])
        for number, line in enumerate(lines, 1)
    )
    grid = [(part(each), text) for each, text in _ROUND.items() if low <= each <= high]
    titles = [
        f"{plot.when(start)}: "
        + (
            "no attempts"
            if each.p50 is None
            else f"p50 {span(each.p50)}, p95 {span(each.p95)}, p99 {span(each.p99)}"
        )
        for start, each in found.items()
    ]
    label = f"{what}, p50, p95 and p99, at most {span(max(known, default=0))}"
    return plot.draw(label, marks, grid, titles)


def depth_line(depths: Mapping[int, int | None], period: Period, zone: ZoneInfo) -> Markup:
    """Executions due and not running: the highest of each interval."""
    plot = Plot(starts=list(depths), period=period, zone=zone)
    most = max((value for value in depths.values() if value is not None), default=0)
    top = ceiling(most)
    marks = _area([None if value is None else value / top for value in depths.values()])
    titles = [
        f"{plot.when(start)}: " + ("no sample" if value is None else f"{value:,} due")
        for start, value in depths.items()
    ]
    grid = [(0, "0"), (0.5, f"{top // 2:,}"), (1, f"{top:,}")]
    return plot.draw(f"Queue depth, at most {most:,}", marks, grid, titles)


def _line(number: int, parts: Values) -> str:
    """Through the middle of each interval; one that stands alone is drawn as wide as it is."""
    step, path = WIDE / max(len(parts), 1), ""
    for run in _runs(parts):
        if len(run) == 1:
            at, value = run[0]
            path += f"M{at * step:.1f} {_y(value)}h{step:.1f}"
        else:
            points = " ".join(f"{(at + 0.5) * step:.1f} {_y(value)}" for at, value in run)
            path += f"M{points}"
    return _stretched(f'<path class="line-{number}" d="{path}"/>') if path else ""


def _area(parts: Values) -> str:
    """In steps, filled down to the base."""
    step, edge, area = WIDE / max(len(parts), 1), "", ""
    for run in _runs(parts):
        corners = " ".join(
            f"{x:.1f} {_y(value)}" for at, value in run for x in (at * step, (at + 1) * step)
        )
        first, last = run[0][0] * step, (run[-1][0] + 1) * step
        edge += f"M{corners}"
        area += f"M{first:.1f} {TALL} L{corners} L{last:.1f} {TALL}Z"
    if not edge:
        return ""
    return _stretched(f'<path class="band" d="{area}"/><path class="line-1" d="{edge}"/>')


def _runs(parts: Values) -> list[list[tuple[int, float]]]:
    """Values that follow each other without a gap, with their positions."""
    runs: list[list[tuple[int, float]]] = [[]]
    for at, value in enumerate(parts):
        if value is not None:
            runs[-1].append((at, value))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def _y(part: float) -> str:
    return f"{(1 - part) * TALL:.1f}"


def _stretched(paths: str) -> str:
    return (
        f'<svg x="0" y="{HEAD}%" width="100%" height="{BASE - HEAD}%" overflow="visible" '
        f'viewBox="0 0 {WIDE} {TALL}" preserveAspectRatio="none">{paths}</svg>'
    )
