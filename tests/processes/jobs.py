"""Jobs under test, and the fire times that they must have."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from tickwell.domain.execution import Kind, NewExecution
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job
from tickwell.domain.planning import first_cursor, new_execution
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, Once, Trigger
from tickwell.ports.store import Store

#: Rows added at once.
BATCH = 1000
#: Whatever the outage, every fire time runs.
RUN_ALL = Misfire(policy=OnMisfire.ALL, grace="1d", cap=1000)


def job(name: str, handler: str, trigger: Trigger, now: int, **policies: Any) -> Job:
    """A job whose id follows from its name: a repeated creation is the same job."""
    return Job(
        id=uuid_of(name),
        name=name,
        trigger=trigger,
        target=Call(handler),
        created_at=now,
        saved_at=now,
        **policies,
    )


def uuid_of(name: str) -> str:
    """The id of a job: SQL stores take only UUIDs."""
    return str(uuid5(NAMESPACE_OID, name))


def once(instant: int) -> Once:
    return Once(moment(instant))


def every(period: int, first: int, last: int) -> Every:
    """At the multiples of the period from first to last, both inclusive."""
    return Every(timedelta(milliseconds=period), start=moment(first), until=moment(last))


def multiples(period: int, first: int, last: int) -> list[int]:
    """What `every` must fire at, by plain counting."""
    return [instant for instant in range(first, last + 1) if instant % period == 0]


def moment(instant: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=instant)


async def add_jobs(store: Store, jobs: Iterable[Job], now: int) -> None:
    entries = [Entry(job, first_cursor(job, now)) for job in jobs]
    for begin in range(0, len(entries), BATCH):
        await store.add_jobs(entries[begin : begin + BATCH], now)


def request(job: Job, id: str, now: int, overlap: Overlap = Overlap.ALLOW) -> NewExecution:
    """A requested run."""
    return new_execution(job, now, id=id, kind=Kind.REQUEST, overlap=overlap)
