"""`tickwell workers` and `tickwell doctor`: how the whole is."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import SERVICE, Session, command
from tickwell.cli.exits import Code
from tickwell.cli.options.times import say_distance
from tickwell.cli.output.views import say_roles


def register(app: typer.Typer) -> None:
    """Put the commands under the root."""
    command(app, "workers", panel=SERVICE)(workers)
    command(app, "doctor", panel=SERVICE)(doctor)


async def workers(session: Session) -> None:
    """List every process: roles, version, capacity, queues, last beat."""
    page = {"items": (await session.client.list_workers())["items"]}
    screen, now = session.screen, await session.now()
    if session.as_json:
        screen.json(page)
        return
    rows = [
        (
            each["id"],
            say_roles(each),
            each["state"],
            each["host"] or "",
            str(each["pid"] or ""),
            each["version"] or "",
            f"{each['busy']}/{each['capacity']}" if each["capacity"] else "",
            say_distance(each["seen_at"], now) if screen.is_terminal else each["seen_at"],
            ", ".join(each["queues"]),
            ", ".join(each["abilities"]),
        )
        for each in page["items"]
    ]
    screen.table(
        ("ID", "ROLES", "STATE", "HOST", "PID", "VERSION", "BUSY", "SEEN", "QUEUES", "CAN RUN"),
        rows,
        soft=("CAN RUN", "QUEUES", "HOST"),
    )
    if not rows:
        screen.say("No processes. Start one: tickwell serve")


async def doctor(
    session: Session,
    *,
    fix: Annotated[
        bool, typer.Option("--fix", metavar="", help="Repair what can be repaired.")
    ] = False,
) -> None:
    """Check what keeps jobs from running; exit code 1 if anything is red."""
    page = {"items": await session.connection.doctor(fix=fix)}
    if session.as_json:
        session.screen.json(page)
    else:
        _show(session, page["items"])
    if any(each["level"] == "red" for each in page["items"]):
        raise typer.Exit(Code.FAILED)


def _show(session: Session, findings: list[dict[str, str]]) -> None:
    rows = [
        (each["level"], each["check"], _sentence(each["text"], each["remedy"])) for each in findings
    ]
    session.screen.table(("LEVEL", "CHECK", "FINDING"), rows, soft=())
    bad = sum(each["level"] != "green" for each in findings)
    need = f"{bad} of {len(findings)} checks {'needs' if bad == 1 else 'need'} attention."
    session.screen.say(need if bad else "Everything is healthy.")


def _sentence(text: str, remedy: str) -> str:
    return f"{text}. {remedy}" if remedy else text
