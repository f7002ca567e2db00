"""`tickwell import`: jobs from Celery beat, whichever way it keeps its schedule."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.commands.jobs_edit import put_job, say_counts
from tickwell.cli.options.times import say_count, say_time
from tickwell.cli.output.views import Document

if TYPE_CHECKING:
    from tickwell.celery_beat.entry import BeatEntry
    from tickwell.domain.job import Job

#: Fire times that a dry run lists of each entry.
_FIRES = 5
_DISABLED = "disabled in Celery beat"
app = group("import", "Import the schedule of Celery beat.")

DryRun = Annotated[
    bool,
    typer.Option("--dry-run", metavar="", help="List the next fires under both; change nothing."),
]
Wait = Annotated[
    bool,
    typer.Option("--wait", metavar="", help="Follow each task to its result; needs a backend."),
]
Skip = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Leave this entry with Celery beat; may be repeated."),
]


@dataclass(slots=True)
class _Taken:
    """An entry, its job, and when both fire."""

    entry: BeatEntry
    job: Job
    celery: list[int]
    tickwell: list[int]


@app.callback()
def import_from() -> None:
    """Import the schedule of Celery beat."""


@command(app, "celery-beat")
async def celery_beat(
    session: Session,
    *,
    path: Annotated[
        str, typer.Argument(metavar="APP", help="App, as for celery -A: shop.celery:app.")
    ],
    dry_run: DryRun = False,
    wait: Wait = False,
    skip: Skip = None,
) -> None:
    """Import the beat_schedule of a Celery app. Idempotent."""
    _require_celery()
    from tickwell.celery_beat.app import app_entries, load_app, require_entries

    loaded = load_app(path)
    entries = app_entries(loaded)
    require_entries(loaded, entries)
    await _take(session, entries, dry_run=dry_run, wait=wait, skip=skip)


@command(app, "django-celery-beat")
async def django_celery_beat(
    session: Session,
    *,
    url: Annotated[
        str, typer.Argument(metavar="DATABASE_URL", help="sqlite:///…, postgresql://… or mysql://…")
    ],
    dry_run: DryRun = False,
    wait: Wait = False,
    skip: Skip = None,
) -> None:
    """Import the tables of django-celery-beat. Idempotent."""
    _require_celery()
    from tickwell.celery_beat.django_tables import read_django

    await _take(session, await read_django(url), dry_run=dry_run, wait=wait, skip=skip)


@command(app, "redbeat")
async def redbeat(
    session: Session,
    *,
    url: Annotated[str, typer.Argument(metavar="REDIS_URL", help="E.g. redis://localhost:6379/1.")],
    tz: Annotated[
        str, typer.Option(metavar="ZONE", help="The app's timezone, which RedBeat does not store.")
    ] = "UTC",
    prefix: Annotated[
        str, typer.Option(metavar="TEXT", help="The app's redbeat_key_prefix.")
    ] = "redbeat:",
    dry_run: DryRun = False,
    wait: Wait = False,
    skip: Skip = None,
) -> None:
    """Import the entries of RedBeat. Idempotent."""
    _require_celery()
    from tickwell.celery_beat.redbeat_keys import read_redbeat
    from tickwell.domain.cron import check_zone

    entries = await read_redbeat(url, prefix=prefix, tz=check_zone(tz))
    await _take(session, entries, dry_run=dry_run, wait=wait, skip=skip)


def _require_celery() -> None:
    from importlib.util import find_spec

    from tickwell.errors import InvalidSetting

    if find_spec("celery") is None:
        hint = "Install it: pip install 'tickwell[celery]'"
        raise InvalidSetting("celery is not installed", field="import", hint=hint)


async def _take(
    session: Session,
    entries: list[BeatEntry],
    *,
    dry_run: bool,
    wait: bool,
    skip: list[str] | None,
) -> None:
    """Create the jobs of all entries, or of none: everything is checked before the first write."""
    from tickwell.celery_beat.jobs import jobs_of
    from tickwell.celery_beat.schedules import celery_fires

    entries = _without(entries, skip or [])
    jobs = jobs_of(entries, wait=wait)
    now = await session.now()
    taken, over = list[_Taken](), list[str]()
    for entry, job in zip(entries, jobs, strict=True):
        fires = _next(job, now)
        if not fires:
            over.append(entry.name)
            continue
        taken.append(_Taken(entry, job, celery_fires(entry, now, _FIRES), fires))
    if dry_run:
        _show(session, taken)
    else:
        await _write(session, taken)
    if over:
        names = ", ".join(over)
        session.screen.say(f"{say_count(len(over), 'entry')} skipped, never due again: {names}.")


def _without(entries: list[BeatEntry], skip: list[str]) -> list[BeatEntry]:
    from tickwell.errors import InvalidInput

    names = {entry.name for entry in entries}
    for name in skip:
        if name not in names:
            hint = f"Entries: {', '.join(sorted(names)[:10])}"
            raise InvalidInput(f"no entry {name!r}", field="skip", hint=hint)
    return [entry for entry in entries if entry.name not in skip]


def _next(job: Job, now: int) -> list[int]:
    from itertools import islice

    from tickwell.clock import NEVER

    count = min(_FIRES, job.trigger.max_runs or _FIRES)
    return list(islice(job.trigger.between(now, NEVER), count))


async def _write(session: Session, taken: list[_Taken]) -> None:
    from tickwell.domain.document import job_to_document

    _require_rules(session, taken)
    await _require_own(session, taken)
    done: Counter[str] = Counter()
    for each in taken:
        document = {**job_to_document(each.job), **_state(each.entry)}
        done[await put_job(session, document)] += 1
    say_counts(session, done)


def _state(entry: BeatEntry) -> Document:
    return {} if entry.enabled else {"state": "paused", "pause": {"why": _DISABLED}}


def _require_rules(session: Session, taken: list[_Taken]) -> None:
    """Name all tasks that may not be sent before the first job is written; a server says so."""
    from tickwell.cli.connection.store_connection import StoreConnection
    from tickwell.domain.celery import Celery
    from tickwell.domain.target import rule_for, why_forbidden
    from tickwell.errors import InvalidSetting

    connection = session.connection
    if not isinstance(connection, StoreConnection):
        return
    rules, project = connection.settings.celery_tasks, connection.actor.project
    tasks = {each.job.target.task for each in taken if isinstance(each.job.target, Celery)}
    missing = sorted(task for task in tasks if why_forbidden(rules, project, task))
    if missing:
        wanted = ",".join([*rules, *(rule_for(project, task) for task in missing)])
        raise InvalidSetting(
            f"project {project!r} may not send {', '.join(missing)}",
            field="celery_tasks",
            hint=f'Set TICKWELL_CELERY_TASKS="{wanted}", here and for the workers',
        )


async def _require_own(session: Session, taken: list[_Taken]) -> None:
    """A job of the same name that did not come from beat is somebody's, and stays as it is."""
    from tickwell.celery_beat.jobs import TAG
    from tickwell.errors import Conflict, NotFound, StoreRefused

    for each in taken:
        try:
            known = await session.client.get_job(await session.key(each.job.name))
        except NotFound:
            continue
        except StoreRefused:
            return  # a store that is to be made; if it is another refusal, adding says so
        if TAG not in known.get("tags", ()):
            raise Conflict(
                f"job {each.job.name!r} exists and was not imported from Celery beat;"
                " delete or rename it, or leave the entry out: --skip. Nothing was imported"
            )


def _show(session: Session, taken: list[_Taken]) -> None:
    screen = session.screen
    if session.as_json:
        screen.json({"entries": [_document(each) for each in taken]})
        return
    rows = [row for each in taken for row in _rows(each, repeat=not screen.is_terminal)]
    headings = ("JOB", "TRIGGER", "CELERY BEAT", "TICKWELL", "")
    screen.table(headings, rows, soft=("TRIGGER", "JOB"))
    differing = [each.entry.name for each in taken if each.celery != each.tickwell]
    screen.say(f"{say_count(len(taken), 'job')} to import; nothing was changed.")
    if differing:
        screen.say(
            f"{say_count(len(differing), 'job')} will fire at other times: {', '.join(differing)}."
            " Intervals are aligned to the clock instead of beat's start; crontabs differ only"
            " where clocks change."
        )


def _rows(each: _Taken, *, repeat: bool) -> list[tuple[str, ...]]:
    from tickwell.services.documents import instant_text

    words = each.job.trigger.explain() + ("" if each.entry.enabled else " (paused)")
    rows = list[tuple[str, ...]]()
    for index in range(max(len(each.celery), len(each.tickwell))):
        pair = [
            instant_text(fires[index]) if index < len(fires) else ""
            for fires in (each.celery, each.tickwell)
        ]
        first = (each.job.name, words) if repeat or index == 0 else ("", "")
        times = pair if repeat else [say_time(text or None) for text in pair]
        rows.append((*first, *times, "same" if pair[0] == pair[1] else "differs"))
    return rows


def _document(each: _Taken) -> Document:
    from tickwell.domain.document import job_to_document
    from tickwell.services.documents import instant_text

    fires: dict[str, Any] = {
        "celery": [instant_text(fire) for fire in each.celery],
        "tickwell": [instant_text(fire) for fire in each.tickwell],
    }
    return {
        "job": {**job_to_document(each.job), **_state(each.entry)},
        "words": each.job.trigger.explain(),
        **fires,
        "same": each.celery == each.tickwell,
    }
