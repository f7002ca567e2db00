"""Changes of jobs: read, decide here, write if nothing moved meanwhile, else again."""

from __future__ import annotations

import json
from typing import Any

from tickwell.domain.change import Change, Changed, Changer, Pending, leave_out
from tickwell.domain.job import Entry, Job
from tickwell.errors import JobExists, NotFound
from tickwell.stores.redis.base import RedisBase
from tickwell.stores.redis.rows import (
    cursor_given,
    cursor_of,
    document,
    dumps,
    entry_of,
    execution_given,
    facts,
    skip_given,
)
from tickwell.stores.redis.skipping import unrecorded
from tickwell.stores.sql.codec import from_json
from tickwell.stores.sql.entries import own
from tickwell.stores.sql.text import clean


async def change_job(store: RedisBase, project: str, id: str, change: Changer, now: int) -> Changed:
    """Apply a change to one job."""
    while True:
        found = await store.client.call("read_job", id, clean(project) or "")
        if found is None:
            raise NotFound("job", id)
        row, gated = json.loads(found[0]), json.loads(found[1])
        entry = entry_of(store.cache, row)
        made = change(own(entry), now)
        if made is None:
            return Changed(entry=own(entry))
        job = made.job or entry.job
        [made.skips] = await unrecorded(store, [(entry.job, made.skips)])
        if not leave_out(made, made.skips):
            return Changed(entry=own(entry))
        limits = _limits(job, made, gated) if made.pending is Pending.RESTAMP else {}
        written = await store.client.call(
            "change_job", now, id, row[1][0], _given(made), dumps(limits)
        )
        if written == b"taken":
            raise JobExists(job.name)
        if written is not None:
            cursor, withdrawn, cancelling = written
            store.cache.put(own(Entry(job, entry.cursor)).job)
            changed = own(Entry(job, cursor_of(json.loads(cursor))))
            return Changed(entry=changed, withdrawn=withdrawn, cancelling=cancelling)


def _given(made: Change) -> str:
    definition = [facts(made.job), document(made.job)] if made.job else False
    return dumps(
        [
            cursor_given(made.cursor),
            definition,
            made.pending.value,
            [execution_given(new) for new in made.executions],
            [skip_given(skip) for skip in made.skips],
            sorted(made.recalled),
        ]
    )


def _limits(job: Job, made: Change, gated: list[Any]) -> dict[str, int]:
    """The new limit of each pending execution that is in the gate of the new definition; else 0."""
    found = [(id, gate, from_json(payload)) for id, gate, payload in gated]
    found += [(new.id, new.gate, new.payload) for new in made.executions if new.gate]
    return {id: new_limit(job, gate, payload) for id, gate, payload in found}


def new_limit(job: Job, gate: str | None, payload: Any) -> int:
    """The limit by which an execution goes on in its gate; 0: the one that it has."""
    limits = job.concurrency
    if limits is None or gate is None:
        return 0
    given = job.payload if payload is None else payload
    return limits.limit if limits.gate(job.project, given) == gate else 0
