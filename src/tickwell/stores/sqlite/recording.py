"""Recording executions: in batches where nothing stands in the way, else one by one."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from tickwell.domain.execution import Kind, NewExecution, Reason
from tickwell.stores.sql.codec import KIND_CODE, NO_GATE, OVERLAP_CODE, SKIPPED, WAITING, to_json
from tickwell.stores.sql.placing import Batch, Place, expires_at, may_arm, place
from tickwell.stores.sql.text import clean
from tickwell.stores.sqlite.flow import Flow, kept_for
from tickwell.stores.sqlite.rows import Row

#: The place of the payload, as JSON, among the columns of `insert_live`.
PAYLOAD = 14


@dataclass(slots=True)
class Recording:
    """Rows to be written together."""

    now: int
    horizon: int
    key: int
    live: list[tuple[Any, ...]] = field(default_factory=list)
    skipped: list[tuple[Any, ...]] = field(default_factory=list)
    pending: list[tuple[Any, ...]] = field(default_factory=list)

    def add(self, batch: Batch[int]) -> bool:
        """Take a batch in if all of it can be decided here; gates of others are not looked at."""
        keys = range(self.key + 1, self.key + 1 + len(batch.executions))
        places = place(batch, keys, self.now, self.horizon)
        if places is None:
            return False
        for key, new, found in zip(keys, batch.executions, places, strict=True):
            self._put(key, batch.job, new, found)
        self.key += len(keys)
        return True

    def _put(self, key: int, job: int, new: NewExecution, at: Place) -> None:
        row = execution_row(key, job, new, self.now)
        if at[0] == SKIPPED:
            ends = SKIPPED, Reason.OVERLAP.value, self.now, self.now + kept_for(new.job, SKIPPED)
            self.skipped.append((*row, *ends))
        else:
            self.live.append(row)
            self.pending.append(pending_row(key, job, new, at, row[PAYLOAD]))


class Recorder:
    """Records executions inside a transaction."""

    def __init__(self, flow: Flow, now: int, horizon: int) -> None:
        self.flow = flow
        self.session = flow.session
        self.now = now
        self.horizon = horizon
        #: The highest key in use, once it is known.
        self._key: int | None = None

    def quickly(self, batches: Collection[Batch[int]]) -> None:
        """Write all that can be written together; the other batches are marked as slow."""
        recording = self._gather(batches, set())
        self.session.connection.execute("SAVEPOINT quickly")
        if not self._write(recording):
            # An id is taken. That is rare, so it is looked for only now.
            self.session.connection.execute("ROLLBACK TO quickly")
            recording = self._gather(batches, self._taken(batches))
            self._write(recording)
        self.session.connection.execute("RELEASE quickly")
        self._key = recording.key

    def slowly(self, batch: Batch[int]) -> int:
        """Record a batch one by one; how many were new."""
        return sum(self.one(batch.job, new) for new in batch.executions)

    def one(self, job: int, new: NewExecution, *, counted: bool = True) -> bool:
        """Record an execution unless its id is taken; whether it was new."""
        row = self._insert(job, new) or self._arm(job, new)
        if row is None:
            return False
        if not counted and new.kind is Kind.FIRE:
            self._count_run(job)
        self.flow.admit(row, self.now, self.horizon)
        return True

    def _count_run(self, job: int) -> None:
        definition, _ = self.flow.jobs.current(job)
        if definition.trigger.max_runs is not None:
            self.session.run("count_run", job)

    def _gather(self, batches: Collection[Batch[int]], taken: set[str]) -> Recording:
        recording = Recording(self.now, self.horizon, self.session.value("last_key"))
        for batch in batches:
            known = taken and not taken.isdisjoint(new.id for new in batch.executions)
            batch.holder = batch.held_by
            batch.slow = bool(known) or not recording.add(batch)
        return recording

    def _write(self, recording: Recording) -> bool:
        """Whether no id was taken."""
        if recording.live:
            inserted = self.session.many("insert_live", recording.live)
            if inserted != len(recording.live):
                return False
            self.session.many("insert_pending", recording.pending)
        if recording.skipped:
            inserted = self.session.many("insert_skipped", recording.skipped)
            if inserted != len(recording.skipped):
                return False
            for row in recording.skipped:
                self.flow.ended[row[2], SKIPPED] += 1
        return True

    def _taken(self, batches: Collection[Batch[int]]) -> set[str]:
        ids = [new.id for batch in batches for new in batch.executions]
        return {id for (id,) in self.session.rows("existing", json.dumps(ids))}

    def _insert(self, job: int, new: NewExecution) -> Row | None:
        """Record it under a new key, unless its id is taken."""
        if self._key is None:
            self._key = self.session.value("last_key")
        key: int = self._key + 1
        values = execution_row(key, job, new, self.now)
        if not self.session.run("insert_live", *values).rowcount:
            return None
        self._key = key
        self.flow.made[job] += 1
        return fresh_row(key, job, new, values[PAYLOAD])

    def _arm(self, job: int, new: NewExecution) -> Row | None:
        """Arm a slot again that was withdrawn or is backfilled; the attempt number goes on."""
        key, state, reason, attempt = self.session.row("slot", new.id)
        if not may_arm(new, state, reason):
            return None
        self.session.run("keep_attempt", key)
        values = execution_row(key, job, new, self.now)
        self.session.run("arm_again", *values[4:10], *values[11:], key)
        self.flow.ended[new.job.project, SKIPPED] -= 1
        row = fresh_row(key, job, new, values[PAYLOAD])
        row.attempt = attempt
        return row


def execution_row(key: int, job: int, new: NewExecution, now: int) -> tuple[Any, ...]:
    """The columns of `insert_live`."""
    definition = new.job
    return (
        key,
        new.id,
        definition.project,
        job,
        definition.version,
        KIND_CODE[new.kind],
        new.fire_time,
        new.run_at,
        definition.queue,
        definition.ability,
        now,
        OVERLAP_CODE[new.overlap],
        new.gate,
        new.limit,
        to_json(new.payload),
        clean(new.key),
        new.revived_from,
    )


def pending_row(
    key: int, job: int, new: NewExecution, at: Place, payload: str | None
) -> tuple[Any, ...]:
    """The columns of `insert_pending`."""
    definition = new.job
    state, waits, look_at, holds_job = at
    return (
        key,
        new.id,
        job,
        state,
        definition.queue,
        definition.ability,
        KIND_CODE[new.kind],
        new.fire_time,
        new.run_at,
        new.rank,
        look_at,
        expires_at(new),
        OVERLAP_CODE[new.overlap],
        new.gate,
        new.limit,
        waits,
        holds_job,
        len(payload or ""),
    )


def fresh_row(key: int, job: int, new: NewExecution, payload: str | None) -> Row:
    """A new execution as the gates see it, waiting for its instant."""
    columns = pending_row(key, job, new, (WAITING, NO_GATE, new.run_at, False), payload)
    row = Row(*columns[:15])
    row.own_payload, row.fresh = columns[17], True
    return row
