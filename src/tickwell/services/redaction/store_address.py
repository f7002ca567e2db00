"""Addresses of stores as they may be shown: no passwords, and hosts to platform admins only."""

from __future__ import annotations

import re

from tickwell.services.access.actor import Actor, Permission

#: Placeholder for a password, to be replaced by the reader.
PASSWORD = "PASSWORD"  # noqa: S105 - not one
_SECRET = re.compile(r"(?i)((?:password|secret|token)\w*=)[^&#\s]+")


def without_password(url: str) -> str:
    """The same URL with its user, host and options, and a word in place of the password."""
    scheme, mark, rest = url.partition("://")
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    authority, tail = rest[:end], rest[end:]
    login, at, host = authority.rpartition("@")
    user, colon, _ = login.partition(":")
    shown = f"{user}:{PASSWORD}" if colon else login
    options = _SECRET.sub(rf"\1{PASSWORD}", tail)
    return f"{scheme}{mark}{shown}{at}{host}{options}"


def store_name_for(actor: Actor, name: str) -> str:
    """The store's name, or what kind of store it is: no host, no path."""
    return name if Permission.PLATFORM in actor.permissions else name.partition(":")[0]
