"""Locks of jobs and of gates, taken in one order by everybody: jobs by id, then gates by name.

Under the lock of a job nobody else adds, withdraws, holds or passes on an execution of it; only a
claim may take what is queued. Under the lock of a gate nobody else counts its places.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from tickwell.domain.rate import is_rate
from tickwell.stores.sql.rows.pending import Head
from tickwell.stores.sql.session import Session


class Locks:
    """What one transaction holds."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.heads: dict[str, Head] = {}
        #: Places taken in each gate, as this transaction leaves them.
        self.held: dict[str, int] = {}
        #: Of a rate's gate: when permits that were used can be had again.
        self.free: dict[str, list[int]] = {}
        self._found: dict[str, int] = {}
        self._found_free: dict[str, list[int]] = {}

    async def jobs(self, ids: Iterable[str]) -> None:
        """Lock jobs; those that are gone are left out."""
        missing = sorted(set(ids) - self.heads.keys())
        if not missing:
            return
        for id, version, state, failures, holder in await self.session.rows("lock_jobs", missing):
            self.heads[id] = Head(version, state, failures, holder)

    async def jobs_with_gates(self, ids: Collection[str], gates: Iterable[str | None] = ()) -> None:
        """Lock jobs, then all gates that their pending executions pass, and these."""
        await self.jobs(ids)
        passed = await self.session.rows("gates_of_jobs", sorted(set(ids)))
        await self.gates([*(gate for (gate,) in passed), *gates])

    async def gates(self, names: Iterable[str | None]) -> None:
        """Lock gates; one that was never passed is made."""
        missing = sorted({name for name in names if name is not None} - self.held.keys())
        while missing:
            found = dict(await self.session.rows("lock_gates", missing))
            self.held |= found
            self._found |= found
            await self._read_rates([name for name in found if is_rate(name)])
            missing = [name for name in missing if name not in found]
            if missing:
                await self.session.run("make_gates", missing)

    async def head(self, job: str) -> Head:
        """The job, locked by now."""
        if job not in self.heads:
            await self.jobs([job])
        return self.heads[job]

    async def close(self) -> None:
        """Write the places that were taken or given back."""
        changed = [(name, held) for name, held in self.held.items() if held != self._found[name]]
        await self.session.many("set_held", changed)
        self._found |= self.held
        free = [
            (name, json.dumps(free), free[-1] if free else 0)
            for name, free in sorted(self.free.items())
            if free != self._found_free[name]
        ]
        await self.session.many("set_rates", free)
        self._found_free |= self.free

    async def _read_rates(self, names: list[str]) -> None:
        """Read the permits of rates that were used; after their locks, so that none is missed."""
        if names:
            found = {
                name: json.loads(free) for name, free in await self.session.rows("rates", names)
            }
            for name in names:
                self.free[name] = self._found_free[name] = found.get(name, [])
