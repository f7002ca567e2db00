"""`tickwell jobs export` and `import`: definitions as one file, to keep or to take elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command
from tickwell.cli.commands.jobs_edit import portable, put_job, read_definition, require, say_counts
from tickwell.cli.config.allowing import AllowLocal, naming_the_option
from tickwell.cli.options.times import say_count
from tickwell.cli.output.views import Document

_PAGE = 1000


def register(app: typer.Typer) -> None:
    """Put the commands beside those for one job."""
    command(app, "export")(export)
    command(app, "import")(import_jobs)


async def export(session: Session) -> None:
    """Print all jobs as one JSON document for `import`, except those that code declares."""
    from tickwell.domain.sender import is_sender_name

    jobs = [each async for each in _all(session)]
    own = [
        each
        for each in jobs
        if not each.get("app") and not is_sender_name(each["name"], each["id"])
    ]
    session.screen.json({"jobs": [portable(each) | _paused(each) for each in own]})
    left = len(jobs) - len(own)
    rest = f"; {left} belong to code, callbacks or channels and are skipped" if left else ""
    session.screen.say(f"{say_count(len(own), 'job')}{rest}.")


async def import_jobs(
    session: Session,
    *,
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Output of `export`, .json or .toml; - reads stdin."),
    ],
    allow_local: AllowLocal = False,
) -> None:
    """Add the jobs of a file, and update those that exist. Idempotent."""
    from tickwell.cli.options.definition import read_jobs
    from tickwell.domain.document.initial_state import initial_state
    from tickwell.errors import InvalidInput

    if allow_local:
        session.connection.allow_local()
    documents = read_jobs(file)
    done: Counter[str] = Counter()
    for write in (False, True):  # a mistake in the last one is found before the first is written
        for number, document in enumerate(documents):
            try:
                with naming_the_option():
                    if write:
                        done[await put_job(session, document)] += 1
                    else:
                        require(document)
                        initial_state(document)
                        read_definition(portable(document))
            except InvalidInput as error:
                field = f"{document.get('name') or number}: {error.field}"
                raise type(error)(error.reason, field=field, hint=error.hint) from None
    say_counts(session, done)


def _paused(job: Document) -> dict[str, Any]:
    if not job["pause"]:
        return {}
    fields = {name: job["pause"][name] for name in ("why", "until")}
    pause = {name: value for name, value in fields.items() if value is not None}
    return {"state": "paused", "pause": pause}


async def _all(session: Session) -> AsyncIterator[Document]:
    async for each in session.client.iter_jobs(state=["active", "paused"], limit=_PAGE):
        yield each
