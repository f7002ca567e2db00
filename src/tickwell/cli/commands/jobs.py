"""`tickwell jobs`: reading and running."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.job_options import complete_job
from tickwell.cli.options.times import Cursor, Limit, Since, Until, Yes, say_count, say_rest
from tickwell.cli.output.views import Document, show_history, show_job, show_jobs

app = group("jobs", "Add, show and change jobs.")
Name = Annotated[
    str, typer.Argument(metavar="JOB", help="Name or id of the job.", autocompletion=complete_job)
]
Names = Annotated[
    list[str], typer.Argument(metavar="JOB", help="Names or ids.", autocompletion=complete_job)
]


class Shown(StrEnum):
    """States that a list can be asked for."""

    active = "active"
    paused = "paused"
    finished = "finished"


@command(app, "list")
async def list_jobs(
    session: Session,
    *,
    search: Annotated[str | None, typer.Argument(help="Substring of the name.")] = None,
    state: Annotated[
        list[Shown] | None, typer.Option(help="Only this state; may be repeated.")
    ] = None,
    tag: Annotated[str | None, typer.Option(metavar="TAG", help="Only with this tag.")] = None,
    queue: Annotated[str | None, typer.Option(metavar="NAME", help="Only this queue.")] = None,
    limit: Limit = 100,
    cursor: Cursor = None,
) -> None:
    """List jobs by name."""
    page = await session.client.list_jobs(
        search=search, tag=tag, queue=queue, state=state or (), cursor=cursor, limit=limit
    )
    if session.as_json:
        session.screen.json(page)
        return
    show_jobs(session.screen, page["items"], await session.now())
    narrowed = search or tag or queue or state
    add = 'tickwell jobs add NAME --cron "0 9 * * *" --url https://…'
    say_rest(session, page, "No job matches." if narrowed else f"No jobs yet. Add one: {add}")


@command(app, "show")
async def show(session: Session, job: Name) -> None:
    """Show one job, its schedule in words and its next fire times."""
    document = await session.client.get_job(await session.key(job))
    if session.as_json:
        session.screen.json(document)
        return
    fires = await session.client.next_fires(document["id"], count=5)
    to_run = [each for each in fires["items"] if each not in fires["skipped"]]
    show_job(session.screen, document, to_run, await session.now())


@command(app, "pause")
async def pause(
    session: Session,
    *,
    jobs: Names,
    why: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown in `jobs show`.")] = "",
    until: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="When to resume: a time, or a delay such as 2h."),
    ] = None,
) -> None:
    """Stop jobs from firing, and withdraw executions that have not started."""
    from tickwell.cli.options.times import read_time
    from tickwell.services.documents import instant_text

    now = await session.now()
    end = None if until is None else read_time(until, "until", now, ahead=True)
    await _require_all(session, jobs)
    moment = None if end is None else instant_text(end)
    done = [
        await session.client.pause_job(await session.key(job), note=why, until=moment)
        for job in jobs
    ]
    _say_changed(session, done, "Paused")


@command(app, "resume")
async def resume(session: Session, jobs: Names) -> None:
    """Let paused jobs fire again, from now on."""
    await _require_all(session, jobs)
    done = [await session.client.resume_job(await session.key(job)) for job in jobs]
    _say_changed(session, done, "Resumed")


@command(app, "skip")
async def skip(
    session: Session,
    *,
    job: Name,
    at: Annotated[
        str, typer.Option(metavar="TIME", help="Its fire time, as `jobs next` prints it; UTC.")
    ],
    why: Annotated[str, typer.Option(metavar="TEXT", help="Reason, shown with the slot.")] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Let it run after all.")] = False,
) -> None:
    """Skip one occurrence of a job before it comes, or undo that."""
    from tickwell.cli.options.times import read_time
    from tickwell.services.documents import instant_text

    fire_time = instant_text(read_time(at, "at", await session.now(), ahead=True))
    key = await session.key(job)
    if undo:
        done = await session.client.unskip_occurrence(key, fire_time)
    else:
        done = await session.client.skip_occurrence(key, fire_time, note=why)
    if session.as_json:
        session.screen.json(done)
        return
    name = (await session.client.get_job(key))["name"]
    verb = "Skipped" if done["skipped"] else "No longer skipped:"
    session.screen.say(f"{verb} {name} at {done['fire_time']}.")


@command(app, "rm")
async def remove(session: Session, jobs: Names, yes: Yes = False) -> None:
    """Delete jobs; their history stays until retention ends."""
    await _require_all(session, jobs)
    session.confirm(f"Delete {', '.join(jobs)}?", yes=yes)
    done = [await session.client.delete_job(await session.key(job)) for job in jobs]
    _say_changed(session, done, "Deleted")


@command(app, "next")
async def next_fires(
    session: Session,
    *,
    job: Name,
    count: Annotated[
        int, typer.Option(min=1, max=1000, metavar="N", help="Number of fire times.")
    ] = 10,
    tz: Annotated[
        str | None, typer.Option(metavar="ZONE", help="Show the times in this zone too.")
    ] = None,
) -> None:
    """Print the next fire times of a job."""
    from tickwell.cli.output.views import show_fires

    document = await session.client.get_job(await session.key(job))
    fires = await session.client.next_fires(document["id"], count=count)
    if session.as_json:
        session.screen.json(fires)
        return
    zone = tz or document["trigger"].get("tz", "UTC")
    show_fires(session.screen, fires["items"], zone, await session.now(), fires["skipped"])
    if not fires["items"]:
        session.screen.say(_why_none(document))


@command(app, "slots")
async def slots(session: Session, job: Name, since: Since = "1d", until: Until = "now") -> None:
    """Print every fire time of a range and what happened to it."""
    from tickwell.cli.options.times import read_time
    from tickwell.cli.output.views import show_slots
    from tickwell.services.documents import instant_text

    now = await session.now()
    first = read_time(since or "1d", "since", now)
    end = read_time(until or "now", "until", now)
    span = instant_text(first), instant_text(end)
    page = await session.client.job_slots(await session.key(job), *span)
    if session.as_json:
        session.screen.json(page)
    else:
        show_slots(session.screen, page)


@command(app, "history")
async def history(session: Session, job: Name, limit: Limit = 50, cursor: Cursor = None) -> None:
    """List the executions of a job, newest first."""
    page = await session.client.list_executions(job=job, cursor=cursor, limit=limit)
    if session.as_json:
        session.screen.json(page)
        return
    show_history(session.screen, page["items"])
    say_rest(session, page, f"It has not run yet. Run it now: tickwell jobs trigger {job}")


async def _require_all(session: Session, jobs: list[str]) -> None:
    """A slip in the last name must not leave the first ones changed."""
    for job in jobs:
        await session.client.get_job(await session.key(job))


def _say_changed(session: Session, items: Sequence[Document], verb: str) -> None:
    if session.as_json:
        session.screen.json({"items": items})
        return
    for each in items:
        taken = each["withdrawn"] + each["cancelling"]
        rest = f"; {say_count(taken, 'execution')} withdrawn" if taken else ""
        session.screen.say(f"{verb} {each['job']['name']}{rest}.")


def _why_none(job: Document) -> str:
    if job["state"] == "paused":
        return f"None: it is paused. Resume it: tickwell jobs resume {job['name']}"
    if "on_demand" in job["trigger"]:
        return f"None: it runs on demand. Run it: tickwell jobs trigger {job['name']}"
    return "None known: the job has finished, or counts from the end of a running execution."
