"""Requests for the same run: which of them find it on record, and what they make of it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from tickwell.domain.execution import NewExecution
from tickwell.domain.unique import Same, Unique
from tickwell.stores.sql.flow.flow import Flow
from tickwell.stores.sql.flow.initial_state import expires_at
from tickwell.stores.sql.rows.codec import ALLOW, OVERLAP_CODE, clean, to_json
from tickwell.stores.sql.rows.pending import Row

_Name = tuple[str, str]


class SameRuns:
    """Of one call of `add_executions`, inside a transaction that holds the jobs."""

    def __init__(self, flow: Flow, now: int, horizon: int) -> None:
        self.flow = flow
        self.session = flow.session
        self.now = now
        self.horizon = horizon
        #: Those that are to be recorded, as the last request for each wants them.
        self.fresh: dict[str, NewExecution] = {}
        self._found: dict[_Name, list[Same]] = {}
        self._replaced: dict[str, NewExecution] = {}

    async def answers(self, new: Sequence[NewExecution]) -> list[str]:
        """The id that answers each request; those without one on record are `fresh`."""
        answers = [await self._answer(one) for one in new]
        if self._replaced:
            await self._lock_gates(new)
            for number, one in enumerate(new):
                if answers[number] in self._replaced:
                    answers[number] = await self._replace(answers[number], one)
        return answers

    async def close(self) -> None:
        """Note what is on record by now, for later requests to find."""
        for one in self.fresh.values():
            if one.unique is not None:
                name = one.unique.name
                await self.session.run("add_unique", one.id, one.job.id, name, self.now)

    async def _answer(self, new: NewExecution) -> str:
        if new.unique is None:
            self.fresh[new.id] = new
            return new.id
        found = await self._runs(new.job.id, new.unique)
        same = new.unique.answer(found, self.now)
        if same is None:
            self.fresh[new.id] = new
            found.append(Same(self.now, new.id, is_pending=True, is_running=False, is_untried=True))
            return new.id
        if same.id == new.id or await self.session.row("slot", new.id) is not None:
            return new.id  # repeated after a lost reply
        if new.unique.debounced and same.id in self.fresh:
            earlier = self.fresh[same.id]
            self.fresh[same.id] = earlier.replaced_by(new, self.now)
        elif new.unique.debounced:
            self._replaced[same.id] = new
        return same.id

    async def _runs(self, job: str, unique: Unique) -> list[Same]:
        """The runs with a name that are live, and the newest of those that have ended."""
        name = job, unique.name
        if name not in self._found:
            rows = [Same(*row) for row in await self.session.rows("same_live", *name)]
            self._found[name] = [one for one in rows if one.is_pending or one.is_running]
            ended = [one.id for one in rows if not one.is_pending and not one.is_running]
            if ended:
                await self.session.run("note_ended", ended)
        found = self._found[name]
        if unique.within and unique.answer(found, self.now) is None:
            newest = await self.session.row("same_newest", *name, self.now - unique.within)
            if newest is not None:
                at, id = newest
                found.append(Same(at, id, is_pending=False, is_running=False, is_untried=False))
        return found

    async def _lock_gates(self, new: Sequence[NewExecution]) -> None:
        """Lock the gates that the replaced ones leave and enter, before their rows."""
        gates = {one.gate for one in new}
        for id, one in self._replaced.items():
            found = await self.session.row("load_gate", id)
            gates.add(found[0] if found else None)
            if (found and found[1] != ALLOW) or OVERLAP_CODE[one.overlap] != ALLOW:
                # Its permit goes to another execution of the job.
                await self.flow.locks.jobs_with_gates([one.job.id], gates)
        await self.flow.locks.gates(gates)

    async def _replace(self, id: str, new: NewExecution) -> str:
        row = await self.flow.gates.load(id)
        if row is not None:
            [same] = [one for one in self._found[new.job.id, _name(new)] if one.id == id]
            await self._put(row, new.put_off(same.requested_at))
            return id
        # A worker has claimed it since it was read: it is not touched, and another is made.
        found = self._found[new.job.id, _name(new)]
        found[:] = [one for one in found if one.id != id]
        answer = await self._answer(new)
        return await self._replace(answer, new) if answer in self._replaced else answer

    async def _put(self, row: Row, new: NewExecution) -> None:
        """Let a pending execution be what a request asks for.

        It gets another row in the queue: a claim that began before would find this one, and an
        earlier payload.
        """
        before, wanted = copy(row), (new.run_at, clean(new.gate), new.limit)
        overlap = OVERLAP_CODE[new.overlap]
        await self.session.run("drop_pending", row.id)
        given = to_json(new.payload), *wanted, overlap, row.id
        await self.session.run("replace_execution", *given)
        await self.session.run("queue_armed", row.id, new.rank, expires_at(new))
        again = await self.flow.gates.load(row.id)
        if again is None:
            return
        if (*wanted, overlap) == (before.run_at, before.gate, before.gate_limit, before.overlap):
            # It is due whatever comes: it keeps its permits, and its turn.
            again.rank, again.look_at = before.rank, before.look_at
            again.holds_job, again.holds_key = before.holds_job, before.holds_key
            await self.flow.gates.move(again, before.state, before.waits)
            return
        await self.session.run("set_reason", None, row.id)
        await self.flow.gates.leave_key(before, self.now)
        if before.holds_job:
            await self.flow.gates.release_job(row.job, self.now)
        await self.flow.admit(again, self.now, self.horizon)


def _name(new: NewExecution) -> str:
    return "" if new.unique is None else new.unique.name
