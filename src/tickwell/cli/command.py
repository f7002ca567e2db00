"""A command: its own options, those that all share, and the store or server it talks to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from tickwell.cli.groups import Group
from tickwell.cli.output.screen import Screen

if TYPE_CHECKING:
    from tickwell.cli.connection.connection import Connection
    from tickwell.client.base import BaseClient

P = ParamSpec("P")
Body = Callable[Concatenate["Session", P], Coroutine[Any, Any, None]]

#: Where help puts what is about the whole.
SERVICE = "Service"
DEFAULT_STORE = "sqlite:///tickwell.db"
Store = Annotated[
    str | None,
    typer.Option(
        envvar="TICKWELL_STORE",
        metavar="URL",
        help="URL of the store.",
        show_default=DEFAULT_STORE,
    ),
]
Server = Annotated[
    str | None,
    typer.Option(envvar="TICKWELL_SERVER", metavar="URL", help="Server to use instead of a store."),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar="TICKWELL_KEY",
        metavar="KEY",
        help="API key; prefer the variable, which `ps` does not show.",
        show_envvar=True,
    ),
]
DEFAULT_PROJECT = "default"
Project = Annotated[
    str | None,
    typer.Option(
        envvar="TICKWELL_PROJECT",
        metavar="NAME",
        help="Project; an API key has exactly one.",
        show_default=DEFAULT_PROJECT,
    ),
]
Json = Annotated[
    bool, typer.Option("--json", metavar="", help="Print JSON, in the form of the API.")
]


def _shared(name: str, annotation: object, default: object) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
    )


#: What every command takes besides its own.
SHARED = (
    _shared("store", Store, None),
    _shared("server", Server, None),
    _shared("api_key", ApiKey, None),
    _shared("project", Project, None),
    _shared("as_json", Json, default=False),
)


@dataclass(slots=True)
class Session:
    """What the body of a command works with."""

    connection: Connection
    screen: Screen
    as_json: bool

    @property
    def client(self) -> BaseClient:
        """Every operation as a method."""
        return self.connection.client

    async def now(self) -> int:
        """The time of the store or the server."""
        return await self.connection.now()

    async def key(self, job: str) -> str:
        """What names a job in a call."""
        return await self.connection.key(job)

    async def moment(self, text: str | None, field: str) -> str | None:
        """A time that a person wrote, as documents have it; durations are in the past."""
        from tickwell.cli.options.times import read_time
        from tickwell.services.documents import instant_text

        return None if text is None else instant_text(read_time(text, field, await self.now()))

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before what cannot be taken back; without a terminal --yes is the answer."""
        from tickwell.errors import InvalidInput

        if yes:
            return
        if not self.screen.is_watched:
            raise InvalidInput(f"{question} Standard input is not a terminal", hint="Pass --yes")
        typer.confirm(question, abort=True, err=True)


def connect(
    store: str | None, server: str | None, api_key: str | None, project: str | None
) -> Connection:
    """The store or server that the shared options name; only what it needs is imported."""
    from tickwell.cli.config.configuration import configure

    found = configure(store, server=server, key=api_key)
    if found.server:
        found.require_own_server()
        from tickwell.cli.connection.server_connection import ServerConnection

        return ServerConnection(found.server, found.key, project)
    from tickwell.cli.connection.store_connection import StoreConnection

    with found.blaming():
        return StoreConnection(found.settings, project or DEFAULT_PROJECT)


def command(
    app: typer.Typer,
    name: str,
    extra: Sequence[inspect.Parameter] = (),
    panel: str | None = None,
) -> Callable[[Body[P]], Body[P]]:
    """Make a coroutine a command; it gets a session, its options, and the extra ones by name."""

    def decorate(body: Body[P]) -> Body[P]:
        def run(*, as_json: bool, **arguments: Any) -> None:
            import asyncio

            shared = {
                name: arguments.pop(name) for name in ("store", "server", "api_key", "project")
            }
            asyncio.run(_run(body, connect(**shared), as_json=as_json, own=arguments))

        parameters = inspect.signature(body, eval_str=True).parameters.values()
        own = [each for each in list(parameters)[1:] if each.kind is not each.VAR_KEYWORD]
        ordered = [each.replace(kind=each.KEYWORD_ONLY) for each in (*own, *extra, *SHARED)]
        run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        run.__doc__, run.__name__ = body.__doc__, body.__name__
        app.command(name, rich_help_panel=panel)(run)
        return body

    return decorate


async def _run(
    body: Body[Any], connection: Connection, *, as_json: bool, own: dict[str, Any]
) -> None:
    try:
        await body(Session(connection, Screen(), as_json), **own)
    finally:
        await connection.close()


def group(name: str, help: str) -> typer.Typer:
    """Commands under one word."""
    return typer.Typer(
        name=name, help=help, cls=Group, no_args_is_help=True, pretty_exceptions_enable=False
    )
