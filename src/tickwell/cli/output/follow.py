"""Watching one execution until it has ended."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import Session
from tickwell.cli.exits import Code
from tickwell.cli.options.times import say_time
from tickwell.cli.output.views import Document, log_lines, say_error, show_execution
from tickwell.domain.ability import is_call

_ENDED = {"succeeded", "dead", "cancelled", "skipped"}
#: Seconds between two looks when nothing tells that something changed.
_LOOK = 1.0
#: Milliseconds after the end until the last lines are looked for.
_LAST_LINES = 200

Within = Annotated[
    str | None,
    typer.Option(metavar="DURATION", help="Maximum wait, e.g. 10m; also waits for parked ones."),
]


def read_within(text: str | None) -> int | None:
    """Milliseconds to wait; None: to the end."""
    from tickwell.domain.trigger.duration import parse_duration

    return None if text is None else parse_duration(text, field="within")


class _Tail:
    """Prints the lines of an execution as they come."""

    def __init__(self, session: Session, id: str) -> None:
        self.session = session
        self.id = id
        self._at = 1, 0

    async def print_new(self) -> None:
        """Print what came since the last look; as JSON is to come, out of its way."""
        screen = self.session.screen
        page = await self.session.client.get_output(self.id, attempt=self._at[0], line=self._at[1])
        for log in page["items"]:
            attempt, seen = self._at
            for line in log_lines(log, seen if log["attempt"] == attempt else 0):
                (screen.say if self.session.as_json else screen.line)(line)
        self._at = page["attempt"], page["line"]

    async def print_last(self) -> None:
        """The end is on record; its last lines are a moment before or after it."""
        session = self.session
        until = await session.now() + _LAST_LINES
        while (left := until - await session.now()) > 0:
            await session.connection.wait(left / 1000)
        before = None
        while self._at != before:  # one read covers a limited number of attempts
            before = self._at
            await self.print_new()


async def follow(session: Session, id: str, within: int | None) -> None:
    """Tell every change, print lines as they come, show the end.

    The exit code says whether it succeeded, if it ended.
    """
    told: set[str] = set()
    tail = _Tail(session, id)
    until = None if within is None else await session.now() + within
    while True:
        document = await session.client.get_execution(id)
        now = await session.now()
        if document["logs"]:
            await tail.print_new()
        for line in _news(document):
            if line not in told:
                told.add(line)
                session.screen.say(line)
        if document["state"] in _ENDED or _is_over(document, now, until):
            break
        await session.connection.wait(_LOOK if until is None else min(_LOOK, (until - now) / 1000))
    if document["state"] in _ENDED and is_call(document["ability"]):
        await tail.print_last()
    if session.as_json:
        session.screen.json(document)
    else:
        show_execution(session.screen, document, now, logs=False)
    if document["state"] not in _ENDED:
        session.screen.say(f"It has not ended. Watch it: tickwell executions follow {id}")
        raise typer.Exit(Code.NOT_ENDED)
    if document["state"] != "succeeded":
        raise typer.Exit(Code.FAILED)


def _is_over(execution: Document, now: int, until: int | None) -> bool:
    """Nobody may ever run what is parked: who waits for it says how long."""
    return execution["state"] == "parked" if until is None else now >= until


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
        why = execution.get("reason") or "no live worker can run it"
        # A refusal, as "may run it: …", quotes its own remedy.
        refused = why.startswith("no live worker is allowed to run it")
        remedy = "" if refused else "; start one that does"
        lines.append(f"parked: {why}{remedy}")
    elif state not in _ENDED:
        lines.append(state)
    return lines
