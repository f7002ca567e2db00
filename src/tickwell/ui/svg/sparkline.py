"""A sparkline: how the latest executions of a job went, small enough for a row of a table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from tickwell.domain.execution import State
from tickwell.services.insights.job_history import LATEST_FEW

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
