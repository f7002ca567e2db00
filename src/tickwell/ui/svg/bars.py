"""A bar for each hour: what succeeded, what was tried again, what died."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from tickwell.domain.tally import Tally
from tickwell.ui.formatting import local

WIDTH, HEIGHT, HEAD, FOOT = 960, 150, 16, 18


def hourly_bars(hours: dict[int, Tally], zone: ZoneInfo) -> Markup:
    """The chart, with a title for each bar."""
    most = max((_all(tally) for tally in hours.values()), default=0)
    step = WIDTH / max(len(hours), 1)
    parts = [
        _bar((n, hour, tally), most, step, zone) for n, (hour, tally) in enumerate(hours.items())
    ]
    label = escape(f"Executions an hour, at most {most:,}")
    frame = (
        f'<svg class="chart bars" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{label}">'
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{HEIGHT - FOOT}" y2="{HEIGHT - FOOT}"/>'
        f'<line class="axis" x1="0" x2="{WIDTH}" y1="{HEAD}" y2="{HEAD}"/>'
        f'<text x="0" y="{HEAD - 4}">{most:,}</text>'
    )
    return Markup(frame + "".join(parts) + "</svg>")  # noqa: S704 - numbers and escaped text only


def _bar(one: tuple[int, int, Tally], most: int, step: float, zone: ZoneInfo) -> str:
    number, hour, tally = one
    found, y = "", float(HEIGHT - FOOT)
    for value, tone in (
        (tally.succeeded, "good"),
        (tally.retried, "warn"),
        (tally.dead, "bad"),
    ):
        if value:
            tall = max(value / most * (HEIGHT - FOOT - HEAD), 1.5)
            y -= tall
            found += (
                f'<rect class="fill-{tone}" x="{number * step + 1:.1f}" y="{y:.1f}" '
                f'width="{step - 2:.1f}" height="{tall:.1f}" rx="1"/>'
            )
    at = local(hour, zone)
    words = f"{at:%H:%M}: {tally.succeeded:,} succeeded"
    words += f", {tally.retried:,} retried, {tally.dead:,} died"
    text = ""
    # Of the last bar it would stand out of the picture.
    if at.hour % 3 == 0 and (number + 1.5) * step < WIDTH:
        text = f'<text class="foot" x="{number * step + 1:.1f}" y="{HEIGHT - 4}">{at:%H:%M}</text>'
    whole = (
        f'<rect x="{number * step:.1f}" y="0" width="{step:.1f}" height="{HEIGHT}" opacity="0"/>'
    )
    return f"<g><title>{words}</title>{whole}{found}</g>{text}"


def _all(tally: Tally) -> int:
    return tally.succeeded + tally.retried + tally.dead
