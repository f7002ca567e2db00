"""Rows that operations change one by one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Row:
    """A pending execution: the columns of `load_pending`, in their order."""

    id: str
    job: str
    state: int
    queue: str
    ability: str
    kind: int
    fire_time: int
    run_at: int
    rank: int
    look_at: int
    expires_at: int | None
    overlap: int
    gate: str | None
    gate_limit: int
    waits: int = 0
    holds_job: bool = False
    holds_key: bool = False
    attempt: int = 0
    charged: int = 0
    lost: int = 0
    returned: int = 0
    own_payload: bool = False


@dataclass(slots=True)
class Head:
    """What is known of a job while its lock is held."""

    version: int
    state: int
    failures: int
    #: The execution that holds the job's own gate.
    holder: str | None
