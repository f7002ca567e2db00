"""`tickwell serve`: planner, worker and HTTP listener on one store."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import typer

from tickwell.cli.config.allowing import LOCAL
from tickwell.cli.exits import code_of
from tickwell.cli.output.text import advised
from tickwell.declared.internals import internals
from tickwell.errors import InvalidInput, InvalidSetting, TickwellError
from tickwell.log import events as lines
from tickwell.observe.traces import start_sdk
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings

_DEFAULTS = Settings()
#: What a process does unless it is told, by engine: with Celery its workers do the rest.
_ROLES = {"tickwell": "api,planner,worker", "celery": "api,planner"}


def serve(
    *,
    store: Annotated[
        str | None,
        typer.Option(
            envvar="TICKWELL_STORE",
            metavar="URL",
            help="URL of the store.",
            show_default=_DEFAULTS.store,
        ),
    ] = None,
    notify: Annotated[
        str | None,
        typer.Option(
            envvar="TICKWELL_NOTIFY",
            metavar="URL",
            help="Redis that wakes processes at once, e.g. redis://host.",
        ),
    ] = None,
    engine: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Engine that runs executions: tickwell or celery.",
            show_default=_DEFAULTS.engine,
        ),
    ] = None,
    broker: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Celery's broker: redis://… or amqp://…."),
    ] = None,
    app: Annotated[
        str | None,
        typer.Option(
            envvar="TICKWELL_APP",
            metavar="PATH",
            help="Scheduler whose handlers to run, e.g. module:name.",
        ),
    ] = None,
    role: Annotated[
        str | None,
        typer.Option(
            metavar="ROLES",
            help="Roles of this process: any of api, planner, worker.",
            show_default="all; with Celery api,planner",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(
            min=0, metavar="N", help="Worker processes to supervise; 0: work in this process."
        ),
    ] = 0,
    host: Annotated[
        str | None,
        typer.Option(metavar="HOST", help="Address to listen on.", show_default=_DEFAULTS.host),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="PORT",
            help="Port to listen on; 0: any free one.",
            show_default=str(_DEFAULTS.port),
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option(metavar="", help="Serve the API and the dashboard over HTTP.")
    ] = True,
    auth: Annotated[
        bool | None,
        typer.Option(
            "--auth/--no-auth",
            metavar="",
            help="Require authentication; without it, binds to loopback only.",
            show_default="--auth",
        ),
    ] = None,
    allow_local: Annotated[
        bool,
        typer.Option(
            "--allow-local",
            metavar="",
            help="Allow webhooks to this machine: http, loopback, any port.",
        ),
    ] = False,
    log_format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="Log format: console, json or logfmt.",
            show_default="console on a terminal, else json",
        ),
    ] = None,
    log_level: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="Lowest level logged: debug, info, warning or error.",
            show_default=_DEFAULTS.log_level,
        ),
    ] = None,
    log_runs: Annotated[
        bool | None,
        typer.Option(
            "--log-runs/--no-log-runs",
            metavar="",
            help="Log each triggered and succeeded execution at info.",
            show_default="--no-log-runs",
        ),
    ] = None,
    supervised: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Plan and run jobs until stopped. SIGTERM or Ctrl-C drains first."""
    from tickwell.cli.serving.service import Service
    from tickwell.observe.log_output.output import start_log

    # Before the application is loaded, which may configure its own logging.
    log = start_log(*_log_options(log_format, log_level))
    # A print is one write, also with PYTHONUNBUFFERED: else the line of another process, or of
    # the log, may begin before the print has ended its own.
    sys.stdout.reconfigure(line_buffering=True, write_through=False)  # type: ignore[union-attr]
    scheduler = _load(app) if app else _configured(store)
    settings = _completed(scheduler.settings) if app else scheduler.settings
    if log_runs is not None:
        settings = replace(settings, log_runs=log_runs)
    if engine or broker:
        # At once: an engine without a broker is refused.
        chosen = engine or settings.engine, broker or settings.broker
        settings = replace(settings, engine=chosen[0], broker=chosen[1])
    if notify:
        settings = replace(settings, notify=notify)
    if auth is not None:
        settings = replace(settings, auth=auth)
    if allow_local:
        settings = replace(settings, **LOCAL)
    if settings != scheduler.settings or (app and store):
        internals(scheduler).settings = settings
        internals(scheduler).move_to(store or settings.store)
    from tickwell.wiring import have_for_ourselves, loop_factory

    have_for_ourselves()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        # After the application is loaded, which may bring its own SDK; before metrics are made,
        # whose exemplars name traces.
        stop_sdk = start_sdk()
        try:
            service = Service(
                scheduler,
                roles=_roles(role or _ROLES[settings.engine]),
                workers=workers,
                http=http,
                host=scheduler.settings.host if host is None else host,
                port=scheduler.settings.port if port is None else port,
                supervised=supervised,
                app=app,
                local=allow_local,
                log=log,
            )
            runner.run(service.run())
        except TickwellError as error:
            if log.format == "console":
                raise
            # A program reads the log: no line of another format.
            for each in (error, *(error.others if isinstance(error, InvalidInput) else ())):
                lines.SERVICE_FAILED.log(error=advised(each))
            raise typer.Exit(code_of(error)) from error
        finally:
            stop_sdk()


def load_scheduler(app: str | None) -> Scheduler:
    """The scheduler that `tickwell serve --app` would run, by environment and files."""
    if not app:
        return _configured(None)
    scheduler = _load(app)
    inside = internals(scheduler)
    inside.settings = _completed(scheduler.settings)
    inside.move_to(os.environ.get("TICKWELL_STORE") or scheduler.settings.store)
    return scheduler


def _log_options(format: str | None, level: str | None) -> tuple[str, str]:
    """By option, else by environment and files."""
    from tickwell.cli.config.configuration import configure

    settings = configure().settings
    chosen = replace(
        settings,
        log_format=settings.log_format if format is None else format,
        log_level=settings.log_level if level is None else level,
    )
    return chosen.log_format, chosen.log_level


def _roles(raw: str) -> frozenset[str]:
    roles = frozenset(part.strip() for part in raw.split(",") if part.strip())
    unknown = roles - {"api", "planner", "worker"}
    if unknown or not roles:
        raise InvalidSetting(
            f"{', '.join(sorted(unknown)) or 'nothing'} is not a role",
            field="role",
            hint="Use api, planner or worker; separate several with commas",
        )
    return roles


def _configured(store: str | None) -> Scheduler:
    """By environment and files."""
    from tickwell.cli.config.configuration import configure

    found = configure(store)
    with found.blaming():
        return Scheduler(found.settings.store, settings=found.settings)


def _completed(settings: Settings) -> Settings:
    """Settings of an application: what its code leaves out is taken from environment and files.

    Its store is its own, unless an option names another.
    """
    from tickwell.cli.config.configuration import configure

    found = configure()
    return replace(
        settings,
        **{
            field.name: getattr(found.settings, field.name)
            for field in fields(Settings)
            if field.name in found.origins
            and field.name != "store"
            and getattr(settings, field.name) == getattr(_DEFAULTS, field.name)
        },
    )


def _load(path: str) -> Scheduler:
    module_name, _, name = path.partition(":")
    hint = (
        "Set --app of tickwell serve, or TICKWELL_APP, to myproject.jobs:scheduler for example,"
        " and run it from the folder above myproject"
    )
    if not name:
        raise InvalidSetting(f"{path!r} is not module:name", field="app", hint=hint)
    sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise InvalidSetting(f"cannot import: {error}", field="app", hint=hint) from error
    found = getattr(module, name, None)
    if not isinstance(found, Scheduler):
        raise InvalidSetting(
            f"{module_name} has no Scheduler named {name!r}", field="app", hint=hint
        )
    return found
