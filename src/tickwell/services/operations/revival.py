"""A revival: many dead letters brought back at a limited rate, with a record of how far it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any

from tickwell.ports.records import Record

KIND = "revival"
#: Milliseconds that the record is kept after its last word.
_KEPT = 7 * 24 * 3600 * 1000
#: Milliseconds of silence, beside the rest between two of them, after which nobody works on it.
_SILENCE = 60 * 1000
_NAMED = 100


@dataclass(slots=True, kw_only=True)
class Revival:
    """How far it is."""

    id: str
    project: str
    by: str
    #: Executions a second at most.
    rate: float
    matched: int
    revived: int = 0
    #: Those that another payload was not given to.
    left_out: int = 0
    #: Why, by the names of their jobs, of which a hundred are named.
    refused: dict[str, str] = field(default_factory=dict)
    #: running, done, failed or stalled.
    state: str = "running"
    error: str | None = None
    started_at: int
    updated_at: int
    ended_at: int | None = None

    def leave_out(self, count: int, refused: Mapping[str, str]) -> None:
        """Count those that are not repeated, and note why."""
        self.left_out += count
        self.refused = dict(islice({**self.refused, **refused}.items(), _NAMED))

    def record(self) -> Record:
        """As it is kept."""
        return Record(
            kind=KIND,
            project=self.project,
            key=self.id,
            document=asdict(self),
            expires_at=self.updated_at + _KEPT,
        )

    @classmethod
    def of(cls, document: dict[str, Any], now: int) -> Revival:
        """As it was kept; stalled, if the process that worked on it is gone."""
        found = cls(**document)
        if found.state == "running" and now - found.updated_at > _SILENCE + 1000 / found.rate:
            found.state = "stalled"
        return found
