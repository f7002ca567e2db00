"""`tickwell workers` and `tickwell doctor`: how the whole is."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import SERVICE, Session, command
from tickwell.cli.exits import Code
from tickwell.cli.times import say_distance


def register(app: typer.Typer) -> None:
    """Put the commands under the root."""
    command(app, "workers", panel=SERVICE)(workers)
    command(app, "doctor", panel=SERVICE)(doctor)


async def workers(session: Session) -> None:
    """List workers and when each was seen last."""
    page = await session.backend.workers()
    screen, now = session.screen, await session.backend.now()
    if session.as_json:
        screen.json(page)
        return
    rows = [
        (
            each["id"],
            each["state"],
            f"{each['host']}:{each['pid']}" if each["host"] else "",
            say_distance(each["seen_at"], now) if screen.is_terminal else each["seen_at"],
            str(each["slots"]),
            ", ".join(each["queues"]),
            ", ".join(each["abilities"]),
        )
        for each in page["items"]
    ]
    screen.table(
        ("ID", "STATE", "PROCESS", "SEEN", "SLOTS", "QUEUES", "CAN RUN"),
        rows,
        soft=("CAN RUN", "QUEUES", "PROCESS"),
    )
    if not rows:
        screen.say("No workers. Start one: tickwell serve")


async def doctor(
    session: Session,
    *,
    fix: Annotated[
        bool, typer.Option("--fix", metavar="", help="Repair what can be repaired.")
    ] = False,
) -> None:
    """Look for what keeps jobs from running; exit code 1 if something is broken."""
    page = await session.backend.checkup(fix=fix)
    if session.as_json:
        session.screen.json(page)
    else:
        _show(session, page["items"])
    if any(each["level"] == "broken" for each in page["items"]):
        raise typer.Exit(Code.FAILED)


def _show(session: Session, findings: list[dict[str, str]]) -> None:
    rows = [
        (each["level"], each["check"], _sentence(each["text"], each["remedy"])) for each in findings
    ]
    session.screen.table(("LEVEL", "CHECK", "FINDING"), rows, soft=())
    bad = sum(each["level"] != "ok" for each in findings)
    session.screen.say("Nothing is wrong." if not bad else f"{bad} of {len(findings)} need a look.")


def _sentence(text: str, remedy: str) -> str:
    return f"{text}. {remedy}" if remedy else text
