"""`tickwell secrets`: values that webhooks name and nobody reads back."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes

app = group("secrets", "Set, list and delete the secrets of a project.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name, as in {{secret.NAME}}.")]
Hosts = Annotated[
    list[str] | None,
    typer.Option(help="Only host it may go to, e.g. *.example.com; repeatable."),
]
Allowed = Annotated[
    list[str] | None,
    typer.Argument(metavar="[HOST]...", help="E.g. api.example.com or *.example.com."),
]


@command(app, "list")
async def list_secrets(session: Session) -> None:
    """List secrets by name, without their values."""
    page = await session.client.list_secrets()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (each["name"], str(each["version"]), each["saved_at"], ", ".join(each["hosts"]) or "any")
        for each in page["items"]
    ]
    session.screen.table(("NAME", "VERSION", "SAVED", "HOSTS"), rows, soft=("NAME", "HOSTS"))
    if not rows:
        session.screen.say("No secrets. Set one: tickwell secrets set NAME")


@command(app, "set")
async def set_secret(session: Session, *, name: Name, host: Hosts = None) -> None:
    """Set a secret; its value is asked for, or read from standard input."""
    value = _asked(name) if sys.stdin.isatty() else _without_end(sys.stdin.read())
    made = await session.client.set_secret(name, value, hosts=host)
    if session.as_json:
        session.screen.json(made)
    else:
        session.screen.say(f"Set {name}, version {made['version']}. Use it: {{{{secret.{name}}}}}")


@command(app, "hosts")
async def limit(session: Session, *, name: Name, hosts: Allowed = None) -> None:
    """Limit the hosts that a secret may be sent to; without hosts, any."""
    made = await session.client.set_secret(name, hosts=hosts or [])
    if session.as_json:
        session.screen.json(made)
    else:
        session.screen.say(f"{name} may be sent to {', '.join(made['hosts']) or 'any host'}.")


@command(app, "rm")
async def delete(session: Session, *, name: Name, yes: Yes = False) -> None:
    """Delete a secret; attempts that name it fail from now on."""
    session.confirm(f"Delete {name}? Attempts that name it will fail.", yes=yes)
    await session.client.delete_secret(name)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Deleted {name}.")


@command(app, "rewrap")
async def rewrap(session: Session) -> None:
    """Encrypt the secrets of all projects with the newest server key (platform admins only)."""
    done = await session.client.rewrap_secrets()
    if session.as_json:
        session.screen.json(done)
    else:
        session.screen.say(f"{done['rewrapped']} were re-encrypted with the newest server key.")


def _asked(name: str) -> str:
    """Not an option: others would see it in the list of processes."""
    return str(typer.prompt(f"Value of {name}", hide_input=True, err=True))


def _without_end(text: str) -> str:
    """A file of several lines is taken whole; the end of its last line is nobody's secret."""
    return text.removesuffix("\n").removesuffix("\r")
