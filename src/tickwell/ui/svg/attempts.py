"""The attempts of an execution on one axis, from its fire time to its end."""

from __future__ import annotations

from markupsafe import Markup, escape

from tickwell.domain.execution import Execution, OutcomeKind, State
from tickwell.ui.formatting import span

WIDTH, ROW, LEFT, FOOT = 480, 26, 84, 18
_TONES = {
    OutcomeKind.SUCCEEDED: "good",
    OutcomeKind.FAILED: "bad",
    OutcomeKind.TIMED_OUT: "bad",
    OutcomeKind.LOST: "bad",
}


def attempts_chart(execution: Execution, now: int) -> Markup | None:
    """A row for each attempt; None while there is none."""
    rows = [
        (f"attempt {each.number}", each.started_at, each.ended_at, each.outcome.value, each.outcome)
        for each in execution.attempts
    ]
    bars = [(a, s, e, w, _TONES.get(o, "quiet")) for a, s, e, w, o in rows if s is not None]
    if execution.state is State.RUNNING and execution.started_at is not None:
        name = f"attempt {execution.attempt}"
        bars.append((name, execution.started_at, now, "running", "info"))
    if not bars:
        return None
    begin = min(execution.fire_time, *(start for _, start, _, _, _ in bars))
    end = max(*(end for _, _, end, _, _ in bars), begin + 1)
    scale = (WIDTH - LEFT) / (end - begin)
    height = ROW * len(bars) + FOOT
    parts = []
    for number, (name, start, stop, words, tone) in enumerate(bars):
        x, wide = LEFT + (start - begin) * scale, max((stop - start) * scale, 2)
        y = number * ROW
        title = escape(f"{name}: {words}, {span(start - begin)} after its fire time")
        parts.append(
            f"<g><title>{title}, took {span(stop - start)}</title>"
            f'<text x="0" y="{y + 16}">{escape(name)}</text>'
            f'<rect class="fill-{tone}" x="{min(x, WIDTH - 2):.1f}" y="{y + 5}" '
            f'width="{wide:.1f}" height="{ROW - 10}" rx="2"/></g>'
        )
    foot = (
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{height - FOOT}" y2="{height - FOOT}"/>'
        f'<text x="{LEFT}" y="{height - 4}">fire time</text>'
        f'<text x="{WIDTH}" y="{height - 4}" text-anchor="end">{span(end - begin)}</text>'
    )
    frame = (
        f'<svg class="chart attempts" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="Attempts">'
    )
    return Markup(frame + "".join(parts) + foot + "</svg>")  # noqa: S704 - numbers, escaped text
