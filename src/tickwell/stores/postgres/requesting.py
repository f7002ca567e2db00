"""One request on the caller's connection, as statements that any driver can run.

A driver runs what is yielded, sends back the rows, and hands on what is returned.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.errors import NotFound, StoreRefused, StoreUnavailable
from tickwell.ids import is_id
from tickwell.ports.transactional import Maker
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.flow.recording import new_row, prune_at
from tickwell.stores.sql.rows.codec import NO_GATE, WAITING, clean, from_json
from tickwell.stores.sql.statements import Statements

#: A statement with its parameters; its rows; the id in the end.
Steps = Generator[tuple[str, Sequence[Any]], Sequence[Any], str]


@dataclass(slots=True, kw_only=True)
class Request:
    """A run of a job, asked of the store that has this identity in this database."""

    sql: Statements
    cache: JobCache
    where: str
    database: str
    identity: str
    channel: str

    def steps(self, project: str, job_key: str, make: Maker) -> Steps:
        """Record it; its id, or that of the run which has its key already."""
        now = yield from self._time()
        job_id = job_key if is_id(job_key) else None
        found = yield self.sql["requested_job"], (clean(project), clean(job_key), job_id)
        if not found:
            raise NotFound("job", job_key)
        new = make(self.cache.parse(*found[0]), now)
        row = new_row(new, now, (WAITING, NO_GATE, new.run_at, False))
        note = json.dumps({"job": new.job.id, "prune_at": prune_at(new.job, now)})
        recorded = yield self.sql["add_waiting"], (*row[:16], *row[20:], note, self.channel)
        if recorded:
            return new.id
        known = yield self.sql["requests"], ([new.job.id], [clean(new.key)])
        if not known:
            raise StoreUnavailable(
                f"{self.where} has this key in a transaction that this one cannot see; try again"
            )
        id = str(known[0][2])
        [(payload,)] = yield self.sql["payload"], (id,)
        new.require_same_payload(id, from_json(payload))
        return id

    def _time(self) -> Generator[tuple[str, Sequence[Any]], Sequence[Any], int]:
        """The server's time, once it is certain that this is the store's own database."""
        [(database, has_tables)] = yield self.sql["whereabouts"], ()
        identity, now = None, 0
        if has_tables:
            [(identity, now)] = yield self.sql["identity"], ()
        if (database, identity) != (self.database, self.identity):
            raise StoreRefused(
                f"the connection is to another database {database}, not to {self.where}; a"
                " transaction takes a run along in the same database only"
            )
        return now
