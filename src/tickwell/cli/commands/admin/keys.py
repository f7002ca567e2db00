"""`tickwell keys`: what programs show to a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from tickwell.cli.command import Session, command, group
from tickwell.cli.options.times import Yes

app = group("keys", "Create, list, rotate and revoke the API keys of a project.")


@command(app, "list")
async def list_keys(session: Session) -> None:
    """List keys, without their secrets."""
    page = await session.client.list_keys()
    if session.as_json:
        session.screen.json(page)
        return
    rows = [
        (
            each["id"],
            each["name"],
            _rights(each),
            each["last_used_at"] or "never",
            each["expires_at"] or "never",
        )
        for each in page["items"]
    ]
    session.screen.table(("ID", "NAME", "ROLE", "LAST USED", "ENDS"), rows, soft=("NAME",))
    if not rows:
        session.screen.say("No keys. Create one: tickwell keys add NAME --role operator")


@command(app, "add")
async def add(
    session: Session,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name, for people, e.g. ci.")],
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="viewer, operator, editor or admin.")
    ] = "viewer",
    may: Annotated[
        list[str] | None,
        typer.Option(
            metavar="RIGHT",
            help="Only read, operate, edit or administer; may be repeated.",
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="TIME", help="Expiry: a time, or 30d.")
    ] = None,
) -> None:
    """Create a key; it is shown only once."""
    from tickwell.cli.options.times import read_time
    from tickwell.services.documents import instant_text

    end = None
    if expires is not None:
        end = read_time(expires, "expires", await session.now(), ahead=True)
    made = await session.client.create_key(
        name, role, permissions=may or None, expires_at=None if end is None else instant_text(end)
    )
    _show(session, made, f"Created {made['id']}, {_rights(made)}.")


@command(app, "rotate")
async def rotate(
    session: Session,
    *,
    id: Annotated[str, typer.Argument(metavar="ID", help="Id, as in `keys list`.")],
    overlap: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="How long the old key keeps working; default 1d."),
    ] = None,
) -> None:
    """Replace a key; the new one is shown only once."""
    made = await session.client.rotate_key(id, overlap=overlap)
    _show(session, made, f"Created {made['id']}, which replaces {id}.")


@command(app, "revoke")
async def revoke(
    session: Session,
    *,
    id: Annotated[str, typer.Argument(metavar="ID", help="Id, as in `keys list`.")],
    yes: Yes = False,
) -> None:
    """Revoke a key; every server refuses it within seconds."""
    session.confirm(f"Revoke {id}? Requests with it will be refused.", yes=yes)
    await session.client.revoke_key(id)
    if session.as_json:
        session.screen.json({"done": True})
    else:
        session.screen.say(f"Revoked {id}.")


def _rights(key: Mapping[str, Any]) -> str:
    """Its role, and what it may do where that is less."""
    from tickwell.services.access.actor import Permission, Role, permissions_of

    held = [each for each in Permission if each in key["permissions"]]
    whole = len(held) == len(permissions_of(Role(key["role"])))
    return str(key["role"]) if whole else f"{key['role']}: {', '.join(held)}"


def _show(session: Session, made: Mapping[str, Any], told: str) -> None:
    if session.as_json:
        session.screen.json(made)
        return
    session.screen.say(f"{told} The key is shown only once:")
    session.screen.data(made["key"])
