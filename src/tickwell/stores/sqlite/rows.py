"""Rows that operations change one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(slots=True)
class Row:
    """A pending execution: the columns of the queue table, in their order."""

    key: int
    id: str
    job: int
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
    holds_job: int = 0
    holds_key: int = 0
    attempt: int = 0
    charged: int = 0
    lost: int = 0
    returned: int = 0
    own_payload: int = 0
    #: Not in the table yet: its first move puts it there.
    fresh: bool = False

    def columns(self) -> tuple[Any, ...]:
        """The parameters of `insert_again`; `astuple` would copy deeply, which is slow."""
        return (
            self.key,
            self.id,
            self.job,
            self.state,
            self.queue,
            self.ability,
            self.kind,
            self.fire_time,
            self.run_at,
            self.rank,
            self.look_at,
            self.expires_at,
            self.overlap,
            self.gate,
            self.gate_limit,
            self.waits,
            self.holds_job,
            self.holds_key,
            self.attempt,
            self.charged,
            self.lost,
            self.returned,
            self.own_payload,
        )
