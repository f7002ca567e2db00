"""The memory store's own moves, but for concurrency gates: those are shared between jobs.

What passes such a gate stands before it first. Who is let in is decided by the gate's document,
after the job's document has been written, in the order noted here.
"""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.execution import State
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row, Tables, Waits
from tickwell.stores.mongo.rows import MongoRow


@dataclass(slots=True, kw_only=True)
class Event:
    """Something that happened before a concurrency gate."""

    gate: str
    #: Whose write tells of it; empty: the only job of the workspace.
    job: str = ""
    #: A permit that was given back.
    permit: str | None = None
    #: An execution that wants to pass.
    arriving: str | None = None


class GateFlow(Flow):
    """Notes what is to be done at concurrency gates instead of doing it."""

    def __init__(self, tables: Tables) -> None:
        super().__init__(tables)
        self.events: list[Event] = []

    def _give_way(self, row: Row, gate: str) -> None:
        permit = row.permit if row.holds_key and isinstance(row, MongoRow) else None
        row.holds_key = False
        self.events.append(Event(gate=gate, job=row.execution.job_id, permit=permit))

    def let_in(self, gate: str) -> None:
        self.events.append(Event(gate=gate))

    def release_job(self, row: Row) -> None:
        """Give a job's permit back that an ended execution has kept."""
        self._release_job(row)

    def free_job(self, job_id: str) -> None:
        """Take a job's permit from a holder that is gone, if it has one, and pass it on."""
        holder = self.tables.job_gate.pop(job_id, None)
        row = None if holder is None else self.tables.rows.get(holder)
        if row is not None:
            row.holds_job = False
        self._pass_on(job_id)

    def _through_key_gate(self, row: Row) -> None:
        if row.gate is None or row.holds_key:
            self.tables.move(row, State.QUEUED)
            return
        self.tables.move(row, State.BLOCKED, Waits.KEY)
        self.events.append(
            Event(gate=row.gate, job=row.execution.job_id, arriving=row.execution.id)
        )
