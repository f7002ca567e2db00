"""Pings: the URLs of healthchecks.io, read, limited, and taken as check-ins.

An unknown token is answered 404, as healthchecks.io does. It is found by its hash or not at all,
so neither the answer nor the time that it takes says how much of a token is right.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from math import ceil

from tickwell.domain.job import Entry
from tickwell.domain.policy import HOUR
from tickwell.errors import InvalidJob, JobExists
from tickwell.ports.store import Store
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.limits.request_limits import Buckets, Rate, network_of
from tickwell.services.monitors.check_in import CheckIn, cut, read_action
from tickwell.services.monitors.check_ins import CheckIns
from tickwell.services.monitors.definition import PERIOD, period_trigger
from tickwell.services.monitors.tokens import PING_KEY, Owner, Tokens, is_uuid
from tickwell.services.operations.monitors import MonitorOperations
from tickwell.services.projects.projects import is_known
from tickwell.services.time import Time

#: Pings of one URL a minute, in this process.
PER_TOKEN = Rate(60, 60_000)
#: Pings of one address with tokens that are not valid, in 15 minutes.
UNKNOWN = Rate(600, 15 * 60_000)
#: Monitors that the ping key of one project adds in an hour.
ADDED = Rate(100, HOUR)
_SLUG = re.compile(r"[a-z0-9_-]{1,255}")
_LONGEST_RUN = 100


@dataclass(frozen=True, slots=True)
class Reply:
    """How a ping is answered."""

    status: int
    text: str
    #: Seconds until it is worth trying again.
    retry_after: int | None = None


OK, CREATED = Reply(200, "OK"), Reply(201, "Created")
_NOT_FOUND = Reply(404, "not found")
_INVALID = Reply(400, "invalid url format")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping:
    """A request, as far as it matters here."""

    #: The path after `/ping/`.
    path: str
    body: bytes
    #: Who sent it.
    address: str
    #: Names the run: `rid` of the query.
    run: str = ""
    #: Whether a monitor is to be added under an unknown name: `create=1` of the query.
    creates: bool = False


class Pings:
    """Takes them."""

    def __init__(
        self, store: Store, clock: Time, check_ins: CheckIns, monitors: MonitorOperations
    ) -> None:
        self._store = store
        self._clock = clock
        self._check_ins = check_ins
        self._monitors = monitors
        self._tokens = Tokens(store)
        self._known = Buckets(PER_TOKEN)
        self._unknown = Buckets(UNKNOWN)
        self._added = Buckets(ADDED)

    async def take(self, ping: Ping) -> Reply:
        """Record a ping, or say why not."""
        token, *rest = ping.path.split("/")
        slug = "" if is_uuid(token) or not rest else rest.pop(0)
        action = read_action(rest[0] if rest else "")
        if len(rest) > 1 or action is None or len(ping.run) > _LONGEST_RUN:
            return _INVALID
        address, now = network_of(ping.address), self._clock.now()
        # Behind one address may be many hosts: a valid token is not held up by what others guess.
        if self._unknown.level(address, now) < 1 and not self._tokens.was_valid(token):
            return _limited(self._unknown, address, now)
        owner = await self._tokens.find(token, now)
        if owner is None or (owner.key == PING_KEY) != bool(slug):
            self._unknown.take(address, now)
            return _NOT_FOUND
        if not self._known.take((owner, slug), now).allowed:
            return _limited(self._known, (owner, slug), now)
        signal, code = action
        check_in = CheckIn(signal=signal, exit_code=code, log=cut(ping.body), run=ping.run)
        return await self._record(owner, slug, ping, check_in, now)

    async def _record(
        self, owner: Owner, slug: str, ping: Ping, check_in: CheckIn, now: int
    ) -> Reply:
        found, reply = await self._find(owner, slug), OK
        if found is None and ping.creates and _SLUG.fullmatch(slug):
            if not self._added.take(owner.project, now).allowed:
                return _limited(self._added, owner.project, now)
            found, is_new = await self._create(owner.project, slug, ping.address, now)
            reply = CREATED if is_new else OK
        if found is None:
            return _NOT_FOUND
        await self._check_ins.take(found, check_in)
        return reply

    async def _find(self, owner: Owner, slug: str) -> Entry | None:
        if slug:
            return await self._named(owner.project, slug)
        return await self._check_ins.find(owner.project, owner.key)

    async def _create(
        self, project: str, name: str, address: str, now: int
    ) -> tuple[Entry | None, bool]:
        if not await is_known(self._store, project, now):
            return None, False
        actor = Actor(
            name=PING_KEY,
            project=project,
            permissions=frozenset({Permission.EDIT}),
            address=address,
        )
        try:
            made = await self._monitors.create(actor, name, period_trigger(PERIOD))
        except (JobExists, InvalidJob):  # another ping was faster, or it is no name for a job
            return await self._named(project, name), False
        return made.monitor.entry, True

    async def _named(self, project: str, name: str) -> Entry | None:
        found = await self._store.get_jobs(project, [name])
        return await self._check_ins.find(project, found[0].job.id) if found else None


def _limited(buckets: Buckets, key: Hashable, now: int) -> Reply:
    missing = 1 - buckets.level(key, now)
    seconds = ceil(missing * buckets.rate.window / buckets.rate.limit / 1000)
    return Reply(429, "rate limited", max(seconds, 1))
