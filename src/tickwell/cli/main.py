"""The command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from tickwell.cli import (
    audit,
    backfill,
    callbacks,
    config,
    cron,
    dead,
    executions,
    import_beat,
    jobs,
    jobs_edit,
    jobs_transfer,
    keys,
    members,
    projects,
    queues,
    secrets,
    service_commands,
    store,
    top,
    users,
)
from tickwell.cli.advice import advised
from tickwell.cli.command import SERVICE
from tickwell.cli.completion import completion
from tickwell.cli.demo.command import demo
from tickwell.cli.exits import code_of
from tickwell.cli.groups import Group
from tickwell.cli.init import init
from tickwell.cli.program_name import PROGRAM_NAME
from tickwell.cli.serve import serve
from tickwell.cli.text import safe
from tickwell.errors import InvalidInput, TickwellError

THIS = "This command"
app = typer.Typer(
    name="tickwell",
    cls=Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
jobs_edit.register(jobs.app)
jobs_transfer.register(jobs.app)
for _group in (jobs.app, executions.app, dead.app):
    app.add_typer(_group)
backfill.register(app)
app.add_typer(import_beat.app)
app.add_typer(cron.app)
app.command(rich_help_panel=SERVICE)(serve)
service_commands.register(app)
top.register(app)
app.add_typer(queues.app, rich_help_panel=SERVICE)
app.add_typer(projects.app, rich_help_panel=SERVICE)
app.add_typer(users.app, rich_help_panel=SERVICE)
app.add_typer(members.app, rich_help_panel=SERVICE)
app.add_typer(keys.app, rich_help_panel=SERVICE)
app.add_typer(secrets.app, rich_help_panel=SERVICE)
app.add_typer(callbacks.app, rich_help_panel=SERVICE)
app.add_typer(audit.app, rich_help_panel=SERVICE)
app.add_typer(config.app, rich_help_panel=SERVICE)
app.add_typer(store.app, rich_help_panel=SERVICE)
app.command(rich_help_panel=THIS)(init)
app.command(rich_help_panel=THIS)(demo)
app.command(rich_help_panel=THIS)(completion)


@app.command(rich_help_panel=THIS)
def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    typer.echo(installed("tickwell"))


def _version(given: bool) -> None:
    if given:
        version()
        raise typer.Exit


@app.callback()
def root(
    *,
    _: Annotated[
        bool,
        typer.Option("--version", metavar="", help="Print the version.", callback=_version),
    ] = False,
) -> None:
    """A job scheduler that answers every fire time exactly once."""


def _open_standard_streams() -> None:
    """Put something in place of closed ones: the next file to be opened would get their number.

    Whatever else writes to that number then would write into a database.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123


def main(arguments: Sequence[str] | None = None, program: str = "tickwell") -> None:
    """Run a command, by default that of the process. `tickwell.cli.exits` says how it ends."""
    PROGRAM_NAME.set(program)
    _open_standard_streams()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a letter gets a question mark, not a traceback.
        stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        app(None if arguments is None else [*arguments], prog_name=program)
    except TickwellError as error:
        sys.stdout.flush()
        typer.echo(f"tickwell: {safe(advised(error))}", err=True)
        for other in error.others if isinstance(error, InvalidInput) else ():
            typer.echo(f"tickwell: {safe(advised(other))}", err=True)
        sys.exit(code_of(error))
