"""`tickwell queues`: the lanes that workers take executions from."""

from __future__ import annotations

from shlex import quote
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group

app = group("queues", "List, pause and resume queues.")
Name = Annotated[str, typer.Argument(metavar="QUEUE", help="Name of the queue.")]


@command(app, "list")
async def list_queues(session: Session) -> None:
    """List queues with their waiting and running executions and their workers."""
    page = await session.client.list_queues()
    screen = session.screen
    if session.as_json:
        screen.json(page)
        return
    rows = [
        (
            each["name"],
            "paused" if each["pause"] else "active",
            str(each["workers"]),
            ", ".join(f"{count} {state}" for state, count in each["depth"].items()),
            each["pause"]["why"] if each["pause"] else "",
        )
        for each in page["items"]
    ]
    headings = ("NAME", "STATE", "WORKERS", "EXECUTIONS", "NOTE")
    screen.table(headings, rows, soft=("NAME", "EXECUTIONS", "NOTE"))
    if not rows:
        screen.say("No queue has workers or executions. Start a worker: tickwell serve")


@command(app, "pause")
async def pause(
    session: Session,
    *,
    queue: Name,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown in `queues list`.")] = "",
) -> None:
    """Pause a queue for all projects: workers claim nothing more; running attempts end."""
    page = await session.client.pause_queue(queue, note=why)
    if session.as_json:
        session.screen.json(page)
    else:
        session.screen.say(f"Paused {queue}. Resume it: tickwell queues resume {quote(queue)}")


@command(app, "resume")
async def resume(session: Session, *, queue: Name) -> None:
    """Let workers claim from a paused queue again."""
    page = await session.client.resume_queue(queue)
    if session.as_json:
        session.screen.json(page)
    else:
        session.screen.say(f"Resumed {queue}.")
