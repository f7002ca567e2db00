"""Watching one execution until it has ended."""

from __future__ import annotations

import typer

from tickwell.cli.command import Session
from tickwell.cli.exits import Code
from tickwell.cli.times import say_time
from tickwell.cli.views import Document, say_error, show_execution

_ENDED = {"succeeded", "dead", "cancelled", "skipped"}
#: Seconds between two looks when nothing tells that something changed.
_LOOK = 1.0


async def follow(session: Session, id: str) -> None:
    """Tell every change, show the end; exit code 1 unless it succeeded."""
    told: set[str] = set()
    while True:
        document = await session.backend.executions_get(id)
        now = await session.backend.now()
        for line in _news(document):
            if line not in told:
                told.add(line)
                session.screen.say(line)
        if document["state"] in _ENDED:
            break
        await session.backend.wait(_LOOK)
    if session.as_json:
        session.screen.json(document)
    else:
        show_execution(session.screen, document, now)
    if document["state"] != "succeeded":
        raise typer.Exit(Code.FAILED)


def _news(execution: Document) -> list[str]:
    """What there is to tell, oldest first; the same line is the same news."""
    lines = []
    for attempt in execution["attempts"]:
        error = f": {say_error(attempt['error'])}" if attempt["error"] else ""
        ended = say_time(attempt["ended_at"])
        lines.append(f"{ended}  attempt {attempt['number']} {attempt['outcome']}{error}")
    state = execution["state"]
    if state == "running":
        lines.append(f"attempt {execution['attempt']} runs")
    elif state == "waiting":
        lines.append(f"waiting, due {say_time(execution['run_at'])}")
    elif state == "parked":
        lines.append("parked: no live worker knows its handler; start one that does")
    elif state not in _ENDED:
        lines.append(state)
    return lines
