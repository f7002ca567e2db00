"""All that is administered: access, projects, secrets, limits, the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from tickwell.ids import Random
from tickwell.ports.store import Store
from tickwell.services.access.directory import Directory
from tickwell.services.access.issuer import Issuer
from tickwell.services.access.jwt_check import Tokens
from tickwell.services.access.key_check import KeyCheck
from tickwell.services.access.keys import Keys
from tickwell.services.access.login_links import Links
from tickwell.services.access.logins import Logins
from tickwell.services.access.members import Members
from tickwell.services.access.oidc import Oidc, Provider, Web
from tickwell.services.access.passwords import Passwords
from tickwell.services.access.sessions import Sessions
from tickwell.services.access.trusted_issuer import Fetch, TrustedIssuer
from tickwell.services.access.users import Users
from tickwell.services.audit.audit import Audit
from tickwell.services.callbacks.callbacks import Callbacks
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.keyring import Keyring
from tickwell.services.keyring.rewrap import Rewrapping
from tickwell.services.limits.limits import Limits
from tickwell.services.limits.quota import Quota
from tickwell.services.projects.projects import Projects
from tickwell.services.projects.retention import Retentions
from tickwell.services.secrets.secrets import Secrets
from tickwell.services.time import Time


async def nowhere(url: str) -> bytes:
    """Fetches nothing: for a process that trusts no other issuer."""
    raise OSError(f"{url} is not fetched here")


@dataclass(frozen=True, slots=True, kw_only=True)
class Administration:
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
        issuer = Issuer(store, clock, random, keyring)
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
            callbacks=Callbacks(store, random, jobs=jobs, vault=vault, audit=audit),
            limits=Limits(store, clock, audit, quota or Quota()),
            retentions=Retentions(store, clock, audit),
        )
