"""Firing: read what is due, plan it here, and write what did not move meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from tickwell.domain.job import Job
from tickwell.domain.planning import Plan
from tickwell.ports.records import Fired
from tickwell.ports.store import PlanMaker
from tickwell.stores.redis.base import RedisBase
from tickwell.stores.redis.rows import (
    cursor_given,
    cursor_of,
    dumps,
    execution_given,
    present,
    skip_given,
)
from tickwell.stores.redis.skipping import unrecorded

#: Executions that one script records at most, so that nobody waits long for it.
MOST = 2_000


class Firing:
    """One call of `fire_due`."""

    def __init__(self, store: RedisBase, now: int, horizon: int) -> None:
        self.store = store
        self.now = now
        self.horizon = horizon

    async def fire(self, limit: int, plan: PlanMaker, *, in_turn: bool) -> Fired:
        """Plan and write what is due; a job that somebody else moved is left to the next call."""
        left_out = self.store.left_out(self.now, planning=True)
        more, *rows = await self.store.answer(
            "due", self.now + self.horizon, limit, left_out, int(in_turn)
        )
        if not rows:
            return Fired()
        jobs = await self.store.definitions([(id, row[9]) for id, row in rows], self.now)
        planned = list(self._plans(rows, jobs, plan))
        passed = [(jobs[id], made.skips) for id, _, made in planned]
        for (_, _, made), skips in zip(planned, await unrecorded(self.store, passed), strict=True):
            made.skips = skips
        fired = Fired(more=bool(more))
        for part in _parts(planned):
            given = dumps([_given(id, moves, made) for id, moves, made in part])
            answers = await self.store.answer("fire", self.now, self.horizon, given)
            for (_, _, made), recorded in zip(part, answers, strict=True):
                _count(fired, made, recorded)
        return fired

    def _plans(
        self, rows: list[Any], jobs: dict[str, Job], plan: PlanMaker
    ) -> Iterator[tuple[str, int, Plan]]:
        for id, row in rows:
            if id not in jobs:
                continue
            try:
                yield id, row[0], plan(jobs[id], cursor_of(row))
            except Exception as error:  # noqa: BLE001 - the other jobs are fired all the same
                self.store.cache.unreadable.add(id, id, error, self.now, planning=True)


def _parts(planned: list[tuple[str, int, Plan]]) -> Iterator[list[tuple[str, int, Plan]]]:
    """In order, so many at a time that no script takes long."""
    rest = iter(planned)
    while first := list(islice(rest, 1)):
        count, part = len(first[0][2].executions), first
        for one in rest:
            part.append(one)
            count += len(one[2].executions)
            if count >= MOST:
                break
        yield part


def _given(id: str, moves: int, made: Plan) -> list[Any]:
    return present(
        (
            id,
            moves,
            cursor_given(made.cursor),
            [execution_given(new) for new in made.executions],
            [skip_given(skip) for skip in made.skips],
            made.release_at,
        )
    )


def _count(fired: Fired, made: Plan, recorded: int) -> None:
    if recorded < 0:
        return
    fired.jobs += 1
    fired.executions += recorded
    fired.skip(made.skips)
    fired.more = fired.more or made.more
