"""A bar for each hour: what succeeded, what was tried again, what died."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from tickwell.domain.tally import Tally
from tickwell.ui.formatting import local

#: Parts of a hundred, of a height that the style sheet gives: letters keep their size on a phone.
HEAD, FOOT = 11, 12
BASE = 100 - FOOT


def hourly_bars(hours: dict[int, Tally], zone: ZoneInfo) -> Markup:
    """The chart, with a title for each bar."""
    most = max((_all(tally) for tally in hours.values()), default=0)
    step = 100 / max(len(hours), 1)
    parts = [
        _bar((n, hour, tally), most, step, zone) for n, (hour, tally) in enumerate(hours.items())
    ]
    label = escape(f"Executions an hour, at most {most:,}")
    frame = (
        f'<svg class="chart bars" role="img" aria-label="{label}">'
        f'<line class="axis" x1="0" x2="100%" y1="{BASE}%" y2="{BASE}%"/>'
        f'<line class="axis" x1="0" x2="100%" y1="{HEAD}%" y2="{HEAD}%"/>'
        f'<text x="0" y="{HEAD - 3}%">{most:,}</text>'
    )
    return Markup(frame + "".join(parts) + "</svg>")  # noqa: S704 - numbers and escaped text only


def _bar(one: tuple[int, int, Tally], most: int, step: float, zone: ZoneInfo) -> str:
    number, hour, tally = one
    found, y = "", float(BASE)
    for value, tone in (
        (tally.succeeded, "good"),
        (tally.retried, "warn"),
        (tally.dead, "bad"),
    ):
        if value:
            tall = max(value / most * (BASE - HEAD), 1)
            y -= tall
            found += (
                f'<rect class="fill-{tone}" x="{number * step + 0.2:.2f}%" y="{y:.2f}%" '
                f'width="{step - 0.4:.2f}%" height="{tall:.2f}%" rx="1"/>'
            )
    at = local(hour, zone)
    words = f"{at:%H:%M}: {tally.succeeded:,} succeeded"
    words += f", {tally.retried:,} retried, {tally.dead:,} died"
    text = ""
    # Of the last bar it would stand out of the picture.
    if at.hour % 3 == 0 and (number + 1.5) * step < 100:
        text = f'<text x="{number * step:.2f}%" y="98%">{at:%H:%M}</text>'
    whole = f'<rect x="{number * step:.2f}%" width="{step:.2f}%" height="100%" opacity="0"/>'
    return f"<g><title>{words}</title>{whole}{found}</g>{text}"


def _all(tally: Tally) -> int:
    return tally.succeeded + tally.retried + tally.dead
