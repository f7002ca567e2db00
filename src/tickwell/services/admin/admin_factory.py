"""What is administered, made as the settings say."""

from __future__ import annotations

import os

from tickwell.domain.http.url import parse_url
from tickwell.errors import InvalidSetting
from tickwell.executors.http.fetch import Fetcher
from tickwell.executors.http.guard import Guard, Refused
from tickwell.executors.http.resolver import SystemResolver
from tickwell.services.access.oidc import read_provider
from tickwell.services.access.trusted_issuer import read_issuer
from tickwell.services.admin.admin import Administration
from tickwell.services.keyring import Keyring
from tickwell.services.keyring.proof import find_keys, require_keys
from tickwell.services.limits.quota import Quota
from tickwell.services.limits.request_limits import RequestLimits
from tickwell.services.operations.tools import Tools
from tickwell.settings import Settings


def make_request_limits(tools: Tools, settings: Settings) -> RequestLimits:
    """How many requests anybody may make, of all API processes together."""
    limits = RequestLimits(
        tools.clock,
        without_key=settings.requests_without_key,
        with_key=settings.requests_with_key,
    )
    limits.share(tools.store, tools.random)
    return limits


def check_issuers(settings: Settings) -> None:
    """Refuse an issuer that is told by half, or whose address nothing would be fetched from.

    Whether it answers is found when somebody logs in: an issuer that is away holds up no start.
    """
    guard = Guard.of(settings)
    for text in settings.jwt_issuers:
        _check_address(guard, read_issuer(text).jwks, "jwks", "jwt_issuers")
    if settings.oidc:
        _check_address(guard, read_provider(settings.oidc, "").issuer, "issuer", "oidc")


def _check_address(guard: Guard, address: str, name: str, setting: str) -> None:
    try:
        guard.check_url(parse_url(address))
    except Refused as refused:
        raise InvalidSetting(
            f"{name}= {refused.reason}", field=setting, hint=refused.hint
        ) from None


async def open_administration(tools: Tools, settings: Settings) -> Administration:
    """With keys that the store was written with, or that are made now for a new one."""
    now = tools.clock.now()
    keyring = await find_keys(tools.store, settings, now)
    await require_keys(tools.store, keyring, now)
    return make_administration(tools, settings, keyring)


def make_administration(tools: Tools, settings: Settings, keyring: Keyring) -> Administration:
    """All that is administered, over one store."""
    web = Fetcher(Guard.of(settings), SystemResolver())
    secret = os.environ.get("TICKWELL_OIDC_SECRET", "")
    return Administration.over(
        tools.store,
        tools.clock,
        tools.random,
        keyring,
        tools.jobs,
        quota=Quota(
            jobs=settings.max_jobs,
            fires_per_day=settings.max_fires_per_day,
            fires_per_minute=settings.max_fires_per_minute,
            requests_per_minute=settings.max_requests_per_minute,
            runs_per_minute=settings.max_runs_per_minute,
            running=settings.max_running,
            payload=settings.max_payload,
        ),
        trusted=[read_issuer(text) for text in settings.jwt_issuers],
        fetch=web,
        provider=read_provider(settings.oidc, secret) if settings.oidc else None,
        web=web,
        audit_retention=settings.audit_retention,
    )
