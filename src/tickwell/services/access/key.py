"""API keys: as text (`tw_<id>_<secret>`), and as they are stored, without the secret."""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass, field
from typing import Any

from tickwell.domain.naming import is_name
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Permission, Role, permissions_of
from tickwell.services.keyring import Keyring


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """Belongs to one project, and may do what its role may, or less."""

    id: str
    project: str
    name: str
    role: Role
    #: Fewer than the role's, if not None.
    narrowed: frozenset[Permission] | None
    created_at: int
    created_by: str
    expires_at: int | None
    #: Milliseconds that it was made for; a rotation ends it earlier.
    life: int | None = None
    #: The key that this one takes over from.
    replaces: str | None = None
    #: Which server key the digest is made with.
    pepper: str = field(repr=False)
    digest: str = field(repr=False)

    @property
    def permissions(self) -> frozenset[Permission]:
        """What it may do."""
        held = permissions_of(self.role)
        return held if self.narrowed is None else held & self.narrowed

    def is_over(self, now: int) -> bool:
        """Whether its time has passed."""
        return self.expires_at is not None and self.expires_at <= now


def key_to_document(key: ApiKey) -> dict[str, Any]:
    """As it is stored."""
    return {
        "id": key.id,
        "name": key.name,
        "role": key.role.value,
        "narrowed": None if key.narrowed is None else sorted(key.narrowed),
        "created_at": key.created_at,
        "created_by": key.created_by,
        "expires_at": key.expires_at,
        "life": key.life,
        "replaces": key.replaces,
        "pepper": key.pepper,
        "digest": key.digest,
    }


def key_from_document(project: str, document: dict[str, Any]) -> ApiKey:
    """The key in a stored document."""
    narrowed = document["narrowed"]
    return ApiKey(
        **document
        | {
            "project": project,
            "role": Role(document["role"]),
            "narrowed": None if narrowed is None else frozenset(map(Permission, narrowed)),
        }
    )


def check_new(name: str, role: Role, narrowed: frozenset[Permission] | None) -> None:
    """Refuse what could not be meant."""
    if not is_name(name):
        raise InvalidInput("1 to 255 printable characters are needed", field="name")
    if narrowed is not None and not narrowed:
        raise InvalidInput(
            "a key needs at least one permission",
            field="permissions",
            hint=f"Name at least one, or leave it out for all permissions of {role}",
        )
    beyond = (narrowed or frozenset()) - permissions_of(role)
    if beyond:
        raise InvalidInput(
            f"a key with the role {role} cannot have {', '.join(sorted(beyond))}",
            field="permissions",
            hint=f"It can have {', '.join(sorted(permissions_of(role)))}",
        )


PREFIX = "tw_"
_SHAPE = re.compile(r"tw_([0-9a-z]{16})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class KeyToken:
    """The id, which is no secret, and 256 random bits, which are."""

    id: str
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """As its owner keeps it."""
        return f"{PREFIX}{self.id}_{self.secret}"


def new_token() -> KeyToken:
    """A key that nobody had before."""
    return KeyToken(secrets.token_hex(8), secrets.token_urlsafe(32))


def read_token(text: str) -> KeyToken | None:
    """The parts, or None when it is no key."""
    found = _SHAPE.fullmatch(text)
    return KeyToken(found[1], found[2]) if found else None


def digest(keyring: Keyring, pepper: str, token: KeyToken) -> str | None:
    """What is stored instead of the secret: a fast hash is right for 256 random bits."""
    key = keyring.find(pepper)
    if key is None:
        return None
    message = f"{token.id}:{token.secret}".encode()
    return hmac.digest(key.derive("api key"), message, "sha256").hex()
