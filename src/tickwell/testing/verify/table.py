"""A verdict as people read it."""

from __future__ import annotations

from tickwell.cli.screen import Screen
from tickwell.testing.verify.verdict import Result, Verdict


def show(screen: Screen, verdict: Verdict) -> None:
    """What was promised beside what was seen; then what was wrong."""
    screen.table(
        ("PROMISE", "SUITE", "RESULT", "PROMISED", "SEEN"),
        [
            (each.promise, each.suite, each.result, each.promised, each.seen)
            for each in verdict.findings
        ],
        soft=("PROMISED", "SEEN"),
    )
    for each in verdict.findings:
        for wrong in each.wrong:
            screen.say(f"{each.suite}: {each.promise}: {wrong}")
    broken = sum(each.result is Result.BROKEN for each in verdict.findings)
    ended = f"{broken} broken" if broken else "Nothing is broken"
    screen.say(f"{ended}; {verdict.seconds:.0f} s.")
