"""A command: its own options, those that all share, and the backend that it talks to."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, ParamSpec

import typer

from tickwell.cli.groups import Group
from tickwell.cli.screen import Screen

if TYPE_CHECKING:
    from tickwell.cli.backend import Backend

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
        help="Where data lives.",
        show_default=DEFAULT_STORE,
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        envvar="TICKWELL_SERVER", metavar="URL", help="Ask this server instead of a store."
    ),
]
ApiKey = Annotated[
    str | None,
    typer.Option(
        "--api-key",
        envvar="TICKWELL_KEY",
        metavar="KEY",
        help="What to show the server; the variable keeps it off the list of processes.",
        show_envvar=True,
    ),
]
DEFAULT_PROJECT = "default"
Project = Annotated[
    str | None,
    typer.Option(
        envvar="TICKWELL_PROJECT",
        metavar="NAME",
        help="Whose jobs; a key has one project, and needs none named.",
        show_default=DEFAULT_PROJECT,
    ),
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON, as the API has it.")]


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

    backend: Backend
    screen: Screen
    as_json: bool

    def confirm(self, question: str, *, yes: bool) -> None:
        """Ask before what cannot be taken back; without a terminal --yes is the answer."""
        from tickwell.errors import InvalidInput

        if yes:
            return
        if not self.screen.is_watched:
            raise InvalidInput(f"{question} Nobody is there to answer", hint="Pass --yes")
        typer.confirm(question, abort=True, err=True)


def connect(
    store: str | None, server: str | None, api_key: str | None, project: str | None
) -> Backend:
    """The backend that the shared options name; what neither needs is not loaded."""
    from tickwell.cli.configuration import configure

    found = configure(store, server=server, key=api_key)
    if found.server:
        found.require_own_server()
        from tickwell.cli.remote_backend import RemoteBackend

        return RemoteBackend(found.server, found.key, project)
    from tickwell.cli.store_backend import StoreBackend

    with found.blaming():
        return StoreBackend(found.settings, project or DEFAULT_PROJECT)


def command(
    app: typer.Typer,
    name: str,
    extra: Sequence[inspect.Parameter] = (),
    panel: str | None = None,
) -> Callable[[Body[P]], Body[P]]:
    """Make a coroutine a command; it gets a session, its options, and the extra ones by name."""

    def decorate(body: Body[P]) -> Body[P]:
        def run(*, as_json: bool, **given: Any) -> None:
            import asyncio

            shared = {name: given.pop(name) for name in ("store", "server", "api_key", "project")}
            asyncio.run(_run(body, connect(**shared), as_json=as_json, own=given))

        parameters = inspect.signature(body, eval_str=True).parameters.values()
        own = [each for each in list(parameters)[1:] if each.kind is not each.VAR_KEYWORD]
        ordered = [each.replace(kind=each.KEYWORD_ONLY) for each in (*own, *extra, *SHARED)]
        run.__signature__ = inspect.Signature(ordered)  # type: ignore[attr-defined]
        run.__doc__, run.__name__ = body.__doc__, body.__name__
        app.command(name, rich_help_panel=panel)(run)
        return body

    return decorate


async def _run(body: Body[Any], backend: Backend, *, as_json: bool, own: dict[str, Any]) -> None:
    try:
        await body(Session(backend, Screen(), as_json), **own)
    finally:
        await backend.close()


def group(name: str, help: str) -> typer.Typer:
    """Commands under one word."""
    return typer.Typer(
        name=name, help=help, cls=Group, no_args_is_help=True, pretty_exceptions_enable=False
    )
