"""How the latest executions of a job went: a strip, and a sparkline for a row of a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from tickwell.domain.execution import Execution, State
from tickwell.services.insights.job_history import LATEST_FEW
from tickwell.ui.formatting import iso, span

STEP, HEIGHT = 7, 18
#: Colour and height by how it ended: what died stands out without its colour as well.
_LOOKS = {State.SUCCEEDED: ("good", 10), State.DEAD: ("bad", 18), State.RUNNING: ("info", 10)}


def sparkline(states: Sequence[State]) -> Markup:
    """Oldest first; nothing for a job that has not run."""
    if not states:
        return Markup("")
    parts = []
    for number, state in enumerate(reversed(states), LATEST_FEW - len(states)):
        tone, tall = _LOOKS.get(state, ("quiet", 5))
        parts.append(
            f'<rect class="fill-{tone}" x="{number * STEP}" y="{HEIGHT - tall}" width="{STEP - 2}" '
            f'height="{tall}" rx="1"/>'
        )
    wide = LATEST_FEW * STEP - 2
    died = sum(state is State.DEAD for state in states)
    words = escape(f"last {states[0].value}; of the latest {len(states)}, {died} died")
    return Markup(  # noqa: S704 - numbers and escaped text only
        f'<svg class="sparks" viewBox="0 0 {wide} {HEIGHT}" role="img" aria-label="{words}">'
        f"<title>{words}</title>{''.join(parts)}</svg>"
    )


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
