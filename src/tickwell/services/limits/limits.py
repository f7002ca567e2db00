"""Limits of a project: `operations.ports.Limiter`.

Counts are read from the store and remembered for a moment, so that two processes may together let
a few more through than one would.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol

from tickwell.domain.fairness import LIMITS_KIND
from tickwell.domain.job import Job
from tickwell.domain.trigger import Cron
from tickwell.errors import LimitReached
from tickwell.ports.records import Record
from tickwell.ports.store import CatalogStore, RecordStore
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.audit.audit import Audit
from tickwell.services.limits.quota import (
    Quota,
    Tally,
    Usage,
    count,
    quota_from_document,
    quota_to_document,
    usage_of,
)
from tickwell.services.limits.request_limits import Allowance, Buckets, Rate, count_request
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time
from tickwell.services.ttl_cache import TtlCache

KIND = LIMITS_KIND
_FEWER_JOBS = "Delete other jobs, or ask a platform admin to raise it"
_FEWER_FIRES = "Fire less often, delete other jobs, or ask a platform admin to raise it"


class LimitStore(CatalogStore, RecordStore, Protocol):
    """What limits need of a store."""


class Limits:
    """Says no before anything is written."""

    def __init__(self, store: LimitStore, clock: Time, audit: Audit, default: Quota) -> None:
        self._store = store
        self._clock = clock
        self._audit = audit
        self._default = default
        self._quotas: TtlCache[str, Quota] = TtlCache(clock)
        #: By project.
        self._tallies: dict[str, Tally] = {}
        self._runs: dict[int, Buckets] = {}
        self._requests: dict[int, Buckets] = {}
        self._changes: dict[int, Buckets] = {}

    @needs(Permission.READ)
    async def get(self, actor: Actor) -> Quota:
        """The limits of the actor's project."""
        return await self._quota(actor.project)

    @needs(Permission.PLATFORM)
    async def of(self, actor: Actor, project: str) -> Quota:
        """The limits of any project."""
        return await self._quota(project)

    @needs(Permission.PLATFORM)
    async def set(self, actor: Actor, project: str, quota: Quota) -> Quota:
        """Give a project limits of its own."""
        before = await self._read(project)
        document = quota_to_document(quota)
        record = Record(kind=KIND, project=project, key=KIND, document=document)
        await self._store.put_record(record, self._clock.now())
        self._quotas.forget(project)
        await self._audit.record(
            actor,
            "limits.set",
            f"project/{project}",
            quota_to_document(before),
            document,
            project=PLATFORM,
        )
        return quota

    async def count_request(self, project: str, *, changes: bool) -> Sequence[Allowance]:
        """One request of a project, by whichever key, against the limits that it has."""
        quota, now = await self._quota(project), self._clock.now()
        found = []
        if limit := quota.requests_per_minute:
            buckets = self._requests.setdefault(limit, Buckets(Rate(limit, 60_000)))
            found.append(count_request("project", buckets, project, now))
        if changes and (limit := quota.changes_per_minute):
            buckets = self._changes.setdefault(limit, Buckets(Rate(limit, 60_000)))
            found.append(count_request("changes", buckets, project, now))
        return found

    @asynccontextmanager
    async def room_for(
        self, actor: Actor, jobs: Sequence[Job], replaced: Job | None = None
    ) -> AsyncIterator[None]:
        quota, project = await self._quota(actor.project), actor.project
        for job in jobs:
            _check_payload(quota, job.payload)
            _check_fires(quota, job)
        if not (quota.jobs or quota.fires_per_day or quota.fires_per_minute):
            yield
            return
        more = usage_of(jobs) - usage_of([replaced] if replaced else [])
        async with self._tallies.setdefault(project, Tally(self._clock)).adding(
            more,
            count=lambda: count(self._store, project, quota.jobs),
            check=lambda usage: _check_usage(quota, usage, more),
        ):
            yield

    async def check_runs(self, actor: Actor, count: int, payload: Any = None) -> None:
        quota = await self._quota(actor.project)
        _check_payload(quota, payload)
        limit = quota.runs_per_minute
        if not limit:
            return
        buckets = self._runs.setdefault(limit, Buckets(Rate(limit, 60_000)))
        taken = buckets.take(actor.project, self._clock.now(), count)
        if not taken.allowed:
            allowed = f"{_counted(limit, 'run')} may be requested in a minute"
            if count > limit:
                raise LimitReached(f"{allowed}; {count:,} were asked for")
            raise LimitReached(
                f"{allowed}, and there is no room for {count:,} more yet", retry_after=taken.reset
            )

    async def _quota(self, project: str) -> Quota:
        return await self._quotas.get(project, lambda: self._read(project))

    async def _read(self, project: str) -> Quota:
        record = await self._store.get_record(KIND, project, KIND, self._clock.now())
        return quota_from_document(record.document) if record else self._default


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _check_payload(quota: Quota, payload: Any) -> None:
    if not quota.payload or payload is None:
        return
    size = len(json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace"))
    if size > quota.payload:
        raise LimitReached(
            f"the payload has {size:,} bytes; your limit is {quota.payload:,}",
            hint="Store it elsewhere and pass its address",
        )


def _check_fires(quota: Quota, job: Job) -> None:
    if not (quota.fires_per_day or quota.fires_per_minute):
        return
    day, minute = job.trigger.busiest()
    word = "cron" if isinstance(job.trigger, Cron) else "trigger"
    for fires, limit, span in (
        (day, quota.fires_per_day, "a day"),
        (minute, quota.fires_per_minute, "a minute"),
    ):
        if limit and fires > limit:
            raise LimitReached(
                f"this {word} would fire {fires:,} times {span}; your limit is {limit:,}",
                hint=_FEWER_FIRES,
            )


def _check_usage(quota: Quota, usage: Usage, more: Usage) -> None:
    """Of what grows: where a limit was lowered, jobs can still be edited to fire less."""
    if more.jobs > 0 and quota.jobs and usage.jobs > quota.jobs:
        most = _counted(quota.jobs, "job")
        raise LimitReached(f"a project has {most} at most here", hint=_FEWER_JOBS)
    for added, total, limit, span in (
        (more.per_day, usage.per_day, quota.fires_per_day, "a day"),
        (more.per_minute, usage.per_minute, quota.fires_per_minute, "a minute"),
    ):
        if added > 0 and limit and total > limit:
            raise LimitReached(
                f"all jobs together would fire {total:,} times {span}; your limit is {limit:,}",
                hint=_FEWER_FIRES,
            )
