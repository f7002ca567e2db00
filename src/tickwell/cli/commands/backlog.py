"""`tickwell backlog`: missed fires that are held, as too many to catch up at once."""

from __future__ import annotations

from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import say_time

app = group("backlog", "List and answer missed fires that are held after an outage.")
All = Annotated[bool, typer.Option("--all", help="All projects (platform admins only).")]


@command(app, "list")
async def list_backlog(session: Session, *, everything: All = False) -> None:
    """List jobs that hold missed fires, with the deadline for a decision."""
    client = session.client
    page = await (client.get_platform_backlog() if everything else client.get_backlog())
    screen = session.screen
    if session.as_json:
        screen.json(page)
        return
    rows = [
        (
            *((each["project"],) if everything else ()),
            each["job"],
            str(each["runs"]),
            say_time(each["first"]),
            say_time(each["last"]),
            "when resumed" if each["paused"] else say_time(each["until"]),
        )
        for each in page["items"]
    ]
    headings = ("PROJECT",) * everything + ("JOB", "HELD", "FIRST", "LAST", "DECIDE UNTIL")
    screen.table(headings, rows, soft=("JOB", "PROJECT"))
    if not rows:
        screen.say("No missed fires are held.")
        return
    if page["jobs"] > len(rows):
        screen.say(f"{page['jobs'] - len(rows)} more jobs.")
    screen.say(f"Held: {page['runs']} runs of {page['jobs']} jobs.")
    screen.say(f"Answer: tickwell backlog answer skip|latest|all{' --all' * everything}")


@command(app, "answer")
async def answer(
    session: Session,
    *,
    choice: Annotated[
        str, typer.Argument(metavar="ANSWER", help="skip, latest (one run per job) or all.")
    ],
    job: Annotated[
        str | None, typer.Option(metavar="JOB", help="Only this job, by name or id.")
    ] = None,
    rate: Annotated[
        float, typer.Option(metavar="N", help="Maximum runs per second, with all.")
    ] = 10.0,
    everything: All = False,
) -> None:
    """Decide about missed fires that are held: run none, the latest of each job, or all."""
    from tickwell.errors import InvalidInput

    if everything and job is not None:
        raise InvalidInput("`--all` and `--job` are mutually exclusive", field="job")
    if everything:
        done = await session.client.answer_platform_backlog(choice, rate=rate)
    else:
        done = await session.client.answer_backlog(choice, rate=rate, job=job)
    screen = session.screen
    if session.as_json:
        screen.json(done)
        return
    screen.say(f"Runs: {done['runs']}. Skipped: {done['skipped']}. Jobs: {done['jobs']}.")
    if done["paused"]:
        names = ", ".join(done["paused"][:5]) + ", …" * (len(done["paused"]) > 5)
        screen.say(f"Still held, since the jobs are paused: {names}. Resume them, or skip.")
