"""The commands as one application, or only as much of it as a command line needs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Annotated

import typer
from typer.models import Default

from tickwell.cli.command import SERVICE
from tickwell.cli.groups import Group

THIS = "This command"


def application(words: Sequence[str] = ()) -> typer.Typer:
    """All commands, or those that these words can mean: the rest takes a second to load."""
    app = typer.Typer(
        name="tickwell",
        cls=Group,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    first = words[0] if words else ""
    if first in {"version", "--version"}:
        app.command(rich_help_panel=THIS)(version)
    elif first in ROOMS:
        if not (first == "jobs" and _reads_jobs(app, words[1:])):
            ROOMS[first](app)
        app.registered_groups = [_narrowed(each, words[1:]) for each in app.registered_groups]
    else:
        for add in dict.fromkeys(ROOMS.values()):
            add(app)
        app.command(rich_help_panel=THIS)(version)
    return app


def _narrowed(group: typer.models.TyperInfo, words: Sequence[str]) -> typer.models.TyperInfo:
    """A group with the one command of these words; with all of them, if that is none."""
    inner = copy.copy(group.typer_instance)
    found = [each for each in inner.registered_commands if each.name in words[:1]] if inner else []
    if inner is None or not found:
        return group
    inner.registered_commands = found
    group = copy.copy(group)
    group.typer_instance = inner
    return group


def _reads_jobs(app: typer.Typer, words: Sequence[str]) -> bool:
    """Whether a command only reads jobs; then those that change them need not be loaded."""
    from tickwell.cli.commands import jobs

    reads = any(each.name in words[:1] for each in jobs.app.registered_commands)
    if reads:
        app.add_typer(jobs.app)
    return reads


def _jobs(app: typer.Typer) -> None:
    app.add_typer(_jobs_group())


@cache
def _jobs_group() -> typer.Typer:
    """Commands of three modules, put together once."""
    from tickwell.cli.commands import jobs, jobs_edit, jobs_transfer

    jobs_edit.register(jobs.app)
    jobs_transfer.register(jobs.app)
    return jobs.app


def _group(module: str, panel: str | None = None) -> Callable[[typer.Typer], None]:
    """What adds the commands of a module that has a group."""

    def add(app: typer.Typer) -> None:
        group = import_module(f"tickwell.cli.commands.{module}").app
        app.add_typer(group, rich_help_panel=panel or Default(None))

    return add


def _backfill(app: typer.Typer) -> None:
    from tickwell.cli.commands import backfill

    backfill.register(app)


def _serve(app: typer.Typer) -> None:
    from tickwell.cli.serving.serve import serve

    app.command(rich_help_panel=SERVICE)(serve)


def _service(app: typer.Typer) -> None:
    from tickwell.cli.commands import service_commands

    service_commands.register(app)


def _top(app: typer.Typer) -> None:
    from tickwell.cli import top

    top.register(app)


def _init(app: typer.Typer) -> None:
    from tickwell.cli.commands.init import init

    app.command(rich_help_panel=THIS)(init)


def _demo(app: typer.Typer) -> None:
    from tickwell.cli.demo.command import demo

    app.command(rich_help_panel=THIS)(demo)


def _completion(app: typer.Typer) -> None:
    from tickwell.cli.commands.completion import completion

    app.command(rich_help_panel=THIS)(completion)


#: What adds the commands that begin with a word, in the order of the help.
ROOMS: dict[str, Callable[[typer.Typer], None]] = {
    "jobs": _jobs,
    "executions": _group("executions"),
    "dead": _group("dead"),
    "backfill": _backfill,
    "import": _group("import_beat"),
    "cron": _group("cron"),
    "serve": _serve,
    "workers": _service,
    "doctor": _service,
    "top": _top,
    "queues": _group("queues", SERVICE),
    "backlog": _group("backlog", SERVICE),
    "calendars": _group("admin.calendars", SERVICE),
    "monitors": _group("monitors"),
    "alerts": _group("alerts", SERVICE),
    "maintenance": _group("maintenance", SERVICE),
    **{
        name: _group(f"admin.{name}", SERVICE)
        for name in (
            "projects",
            "users",
            "members",
            "keys",
            "secrets",
            "callbacks",
            "audit",
        )
    },
    "config": _group("config", SERVICE),
    "store": _group("store", SERVICE),
    "init": _init,
    "demo": _demo,
    "completion": _completion,
}


def version() -> None:
    """Print the version."""
    from importlib.metadata import version as installed

    typer.echo(installed("tickwell"))


def _version(requested: bool) -> None:
    if requested:
        version()
        raise typer.Exit


def root(
    *,
    _: Annotated[
        bool,
        typer.Option("--version", metavar="", help="Print the version.", callback=_version),
    ] = False,
) -> None:
    """A distributed job scheduler with one record per scheduled time."""
