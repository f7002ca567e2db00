"""A strip of executions, oldest first: height by duration, colour and sign by how they ended."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from tickwell.domain.execution import Execution, State
from tickwell.ui.formatting import iso, span

WIDTH, HEIGHT, LEAST = 720, 56, 6
_TONES = {
    State.SUCCEEDED: "good",
    State.DEAD: "bad",
    State.RUNNING: "info",
    State.QUEUED: "info",
    State.WAITING: "warn",
}


def history_strip(executions: Sequence[Execution], columns: int) -> Markup:
    """Each links to its execution; those that did not run are low and hollow."""
    longest = max((_took(each) or 0 for each in executions), default=0) or 1
    step = WIDTH / columns
    parts = []
    for number, each in enumerate(reversed(executions)):
        x = (columns - len(executions) + number) * step
        took = _took(each)
        tall = LEAST if took is None else LEAST + took / longest * (HEIGHT - LEAST)
        words = escape(f"{each.state.value}, {iso(each.fire_time)}, {span(took)}")
        dead = f'<path class="stroke-bad" d="M{x + 2:.1f} 2l{step - 5:.1f} 0"/>'
        parts.append(
            f'<a href="/executions/{escape(each.id)}" aria-label="{words}"><title>{words}</title>'
            f'<rect class="fill-{_TONES.get(each.state, "quiet")}" x="{x + 1:.1f}" '
            f'y="{HEIGHT - tall:.1f}" width="{step - 3:.1f}" height="{tall:.1f}" rx="1.5"/>'
            f"{dead if each.state is State.DEAD else ''}</a>"
        )
    label = f"The last {len(executions)} executions"
    frame = f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="group" aria-label="{label}">'
    return Markup(frame + "".join(parts) + "</svg>")  # noqa: S704 - numbers and escaped text only


def _took(execution: Execution) -> int | None:
    if execution.started_at is None or execution.ended_at is None:
        return None
    return execution.ended_at - execution.started_at
