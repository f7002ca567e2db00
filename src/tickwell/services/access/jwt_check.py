"""Whose token it is: our own issuer's, or one of those that the settings trust."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.errors import InvalidInput, Unauthenticated
from tickwell.services.access.directory import Directory
from tickwell.services.access.issuer import NAME, Issuer
from tickwell.services.access.jwt import REFUSED, read_unverified, subject_of, verify
from tickwell.services.access.permission import Role
from tickwell.services.access.trusted_issuer import Fetch, RemoteKeys, TrustedIssuer
from tickwell.services.access.user import User, check_user_name
from tickwell.services.time import Time


@dataclass(frozen=True, slots=True)
class _Known:
    trusted: TrustedIssuer
    keys: RemoteKeys


class Tokens:
    """Turns a token into a user. Roles are looked up in the store, not believed from a claim."""

    def __init__(
        self,
        clock: Time,
        directory: Directory,
        issuer: Issuer,
        trusted: Sequence[TrustedIssuer],
        fetch: Fetch,
        *,
        is_deleted: Callable[[str], Awaitable[bool]],
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._issuer = issuer
        #: Of a project: no claim opens one that is gone.
        self._is_deleted = is_deleted
        self._trusted: Mapping[str, _Known] = {
            each.issuer: _Known(each, RemoteKeys(clock, each.jwks, fetch)) for each in trusted
        }

    async def find(self, text: str) -> User:
        """The user that a token names; `Unauthenticated` without saying what is wrong with it."""
        token = read_unverified(text)
        known = self._trusted.get(token.issuer)
        if token.issuer != NAME and known is None:
            raise Unauthenticated(REFUSED)
        key = await (known.keys if known else self._issuer).find(token.kid)
        if key is None:
            raise Unauthenticated(REFUSED)
        audience = known.trusted.audience if known else NAME
        claims = verify(token, key, audience, self._clock.now())
        user = await (self._foreign(known.trusted, claims) if known else self._own(claims))
        if user is None or user.disabled:
            raise Unauthenticated(REFUSED)
        return user

    async def _own(self, claims: Mapping[str, Any]) -> User | None:
        user = await self._directory.find(str(claims.get("sub")))
        return user if user and user.generation == claims.get("gen") else None

    async def _foreign(self, trusted: TrustedIssuer, claims: Mapping[str, Any]) -> User | None:
        subject = subject_of(claims, trusted.subject)
        if subject is None:
            return None
        try:
            name = check_user_name(f"{trusted.name}:{subject}")
        except InvalidInput:
            return None
        user = await self._directory.find(name)
        if user is not None:
            user = await self._directory.note_arrival(user)
        role = _role(claims.get(trusted.role)) if trusted.role else None
        if trusted.project and role is not None and not await self._is_deleted(trusted.project):
            known = user or User(name=name)
            given = {trusted.project: role}
            # Not written anywhere: it counts as long as the token does.
            roles = {**known.roles, **given}
            return User(name=name, disabled=known.disabled, roles=roles, home=known.home)
        return user


def _role(claim: Any) -> Role | None:
    """The role that a claim names: as a text, or alone among other texts in a list."""
    named = claim if isinstance(claim, list) else [claim]
    known = {each.value: each for each in Role}
    found = {known[each] for each in named if isinstance(each, str) and each in known}
    return found.pop() if len(found) == 1 else None
