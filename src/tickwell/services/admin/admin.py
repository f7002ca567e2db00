"""All that is administered: access, projects, secrets, limits, the audit log."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

from tickwell.domain.http.url import parse_url
from tickwell.errors import InvalidSetting
from tickwell.executors.http.client.fetch import Fetcher
from tickwell.executors.http.network.guard import Guard, Refused
from tickwell.executors.http.network.resolver import SystemResolver
from tickwell.ids import Random
from tickwell.ports.store import Store
from tickwell.services.access.actor import Actor, Permission, Role
from tickwell.services.access.directory import Directory
from tickwell.services.access.issuer import Fetch, Issuer, Tokens, TrustedIssuer, read_issuer
from tickwell.services.access.keys import KeyCheck, Keys
from tickwell.services.access.logins import Links, Logins
from tickwell.services.access.members import Members
from tickwell.services.access.oidc import Oidc, Provider, Web, read_provider
from tickwell.services.access.passwords import Passwords
from tickwell.services.access.sessions import Sessions
from tickwell.services.access.user import User, with_role
from tickwell.services.access.users import Users
from tickwell.services.alerts.channels import Channels
from tickwell.services.audit.audit import Audit
from tickwell.services.callbacks.callbacks import Callbacks
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.keyring import Keyring
from tickwell.services.keyring.rewrap import Rewrapping
from tickwell.services.keyring.source import find_keys, require_keys
from tickwell.services.limits.limits import Limits
from tickwell.services.limits.quota import Quota
from tickwell.services.limits.request_limits import RequestLimits
from tickwell.services.operations.context import OperationContext
from tickwell.services.projects.platform import DEFAULT
from tickwell.services.projects.projects import Projects, Retentions
from tickwell.services.secrets.secrets import Secrets
from tickwell.services.senders.senders import Senders
from tickwell.services.time import Time
from tickwell.settings import Settings


async def nowhere(url: str) -> bytes:
    """Fetches nothing: for a process that trusts no other issuer."""
    raise OSError(f"{url} is not fetched here")


@dataclass(frozen=True, slots=True, kw_only=True)
class AdminServices:
    """One attribute for each noun."""

    keyring: Keyring
    audit: Audit
    keys: Keys
    key_check: KeyCheck
    directory: Directory
    users: Users
    members: Members
    sessions: Sessions
    links: Links
    logins: Logins
    issuer: Issuer
    tokens: Tokens
    projects: Projects
    secrets: Secrets
    callbacks: Callbacks
    channels: Channels
    rewrapping: Rewrapping
    limits: Limits
    retentions: Retentions
    #: None: people log in here only.
    oidc: Oidc | None = None

    @classmethod
    def over(
        cls,
        store: Store,
        clock: Time,
        random: Random,
        keyring: Keyring,
        jobs: Jobs,
        *,
        passwords: Passwords | None = None,
        quota: Quota | None = None,
        trusted: Sequence[TrustedIssuer] = (),
        provider: Provider | None = None,
        web: Web | None = None,
        fetch: Fetch = nowhere,
        audit_retention: float = 0,
    ) -> Self:
        """All of them over one store."""
        passwords = passwords or Passwords()
        audit = Audit(store, clock, random, keyring, keep=audit_retention)
        directory = Directory(store, clock)
        sessions, links = Sessions(store, clock, directory), Links(store, clock)
        keys, vault = Keys(store, clock, keyring, audit), Secrets(store, clock, keyring, audit)
        issuer, senders = Issuer(store, clock, random, keyring), Senders(jobs, vault)
        projects = Projects(store, clock, directory, jobs=jobs, audit=audit)
        logins = Logins(clock, directory, passwords, sessions=sessions, links=links, audit=audit)
        oidc = None
        if provider is not None and web is not None:
            oidc = Oidc(store, clock, provider, web=web, directory=directory, logins=logins)
        return cls(
            oidc=oidc,
            keyring=keyring,
            audit=audit,
            keys=keys,
            key_check=KeyCheck(store, clock, keyring),
            directory=directory,
            users=Users(clock, directory, passwords, links=links, audit=audit),
            members=Members(clock, directory, audit),
            sessions=sessions,
            links=links,
            logins=logins,
            issuer=issuer,
            tokens=Tokens(clock, directory, issuer, trusted, fetch, is_deleted=projects.is_deleted),
            projects=projects,
            secrets=vault,
            rewrapping=Rewrapping(
                store, clock, keyring, keys=keys, secrets=vault, issuer=issuer, audit=audit
            ),
            callbacks=Callbacks(store, random, senders=senders, audit=audit),
            channels=Channels(store, random, senders=senders, audit=audit),
            limits=Limits(store, clock, audit, quota or Quota()),
            retentions=Retentions(store, clock, audit),
        )


#: The user of the embedded case; logs in by links.
LOCAL = "local"
#: Milliseconds that the first link is good for.
LINK_LIFE = 3_600_000
#: Seconds that the first key is good for, unless a setting says otherwise.
KEY_LIFE = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """What the first start shows, once."""

    #: Goes into /login?link=…
    link_token: str = field(repr=False)
    key: str = field(repr=False)


async def bootstrap(
    admin: AdminServices, clock: Time, *, key_life: float = KEY_LIFE
) -> Bootstrap | None:
    """Make the first user, and a key that lasts this many seconds; None: done before."""
    user = await ensure_first_user(admin, clock)
    if user is None:
        return None
    actor = Actor(name=LOCAL, project=DEFAULT, permissions=frozenset(Permission))
    end = clock.now() + int(key_life * 1000) if key_life else None
    key = await admin.keys.create(actor, "made at the first start", Role.ADMIN, expires_at=end)
    return Bootstrap(await admin.links.make(user, LINK_LIFE), key.token)


async def ensure_first_user(admin: AdminServices, clock: Time) -> User | None:
    """Make the default project and its admin; None when somebody has done so before."""
    if await admin.projects.ensure(DEFAULT, by=LOCAL) is None:
        return None
    now = clock.now()
    new = User(name=LOCAL, platform=True, generation=now, created_at=now)
    user = with_role(new, DEFAULT, Role.ADMIN)
    await admin.directory.add(user)
    return user


def make_request_limits(operation_context: OperationContext, settings: Settings) -> RequestLimits:
    """How many requests anybody may make, of all API processes together."""
    limits = RequestLimits(
        operation_context.clock,
        without_key=settings.requests_without_key,
        with_key=settings.requests_with_key,
    )
    limits.share(operation_context.store, operation_context.random)
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


async def open_admin(operation_context: OperationContext, settings: Settings) -> AdminServices:
    """With keys that the store was written with, or that are made now for a new one."""
    now = operation_context.clock.now()
    keyring = await find_keys(operation_context.store, settings, now)
    await require_keys(operation_context.store, keyring, now)
    return make_admin(operation_context, settings, keyring)


def make_admin(
    operation_context: OperationContext, settings: Settings, keyring: Keyring
) -> AdminServices:
    """All that is administered, over one store."""
    web = Fetcher(Guard.of(settings), SystemResolver())
    secret = os.environ.get("TICKWELL_OIDC_SECRET", "")
    return AdminServices.over(
        operation_context.store,
        operation_context.clock,
        operation_context.random,
        keyring,
        operation_context.jobs,
        quota=Quota(
            jobs=settings.max_jobs,
            fires_per_day=settings.max_fires_per_day,
            fires_per_minute=settings.max_fires_per_minute,
            requests_per_minute=settings.max_requests_per_minute,
            changes_per_minute=settings.max_changes_per_minute,
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
