"""Firing on Redis: read due jobs, plan them here, write the plans of jobs that did not change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from tickwell.domain.coverage import uncovered
from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job
from tickwell.domain.planning import Plan
from tickwell.ports.records import Fired
from tickwell.ports.store import PlanMaker
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.rows import (
    cursor_argument,
    cursor_of,
    dumps,
    ended_of,
    execution_argument,
    present,
    skip_argument,
    skip_of,
)


async def touching(client: Client, ranges: Sequence[tuple[str, int, int]]) -> list[list[RangeSkip]]:
    """For each range, a job with a first and a last instant, the skips on record that touch it."""
    if not ranges:
        return []
    found = await client.answer("list_skips", dumps(ranges))
    return [
        [skip_of(job, row) for row in rows] for (job, _, _), rows in zip(ranges, found, strict=True)
    ]


async def unrecorded(
    client: Client, passed: Sequence[tuple[Job, Sequence[RangeSkip]]]
) -> list[list[RangeSkip]]:
    """What of the skipped ranges of each job is not on record yet.

    Writing a range moves the job's cursor, so the answer holds while the cursor is unchanged.
    """
    ranges = [(job.id, skip.first, skip.last) for job, skips in passed for skip in skips]
    known = iter(await touching(client, ranges))
    found = []
    for job, skips in passed:
        found.append([new for skip in skips for new in uncovered(job, skip, next(known))])
    return found


#: Executions that one script records at most: other callers wait while it runs.
MAX_BATCH = 2_000


class RedisFiring:
    """The part of `ports.store.QueueStore` that plans."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def fire_due(
        self, now: int, horizon: int, limit: int, plan: PlanMaker, *, round_robin: bool = False
    ) -> Fired:
        # A job that another process moved in between is left to the next call.
        left_out = self.client.left_out(now, planning=True)
        more, *rows = await self.client.answer(
            "due", now + horizon, limit, left_out, int(round_robin)
        )
        if not rows:
            return Fired()
        jobs = await self.client.definitions([(id, row[9]) for id, row in rows], now)
        planned = list(self._plans(rows, jobs, plan, now))
        skipped = [(jobs[id], made.skips) for id, _, made in planned]
        for (_, _, made), skips in zip(
            planned, await unrecorded(self.client, skipped), strict=True
        ):
            made.skips = skips
        fired = Fired(more=bool(more))
        for batch in _batches(planned):
            plans = dumps([_argument(id, moves, made) for id, moves, made in batch])
            answers, ended = await self.client.answer("fire", now, horizon, plans)
            fired.ended += ended_of(ended)
            for (_, _, made), recorded in zip(batch, answers, strict=True):
                _count(fired, made, recorded)
        if fired.executions:
            self.client.bell.ring()
        return fired

    def _plans(
        self, rows: list[Any], jobs: dict[str, Job], plan: PlanMaker, now: int
    ) -> Iterator[tuple[str, int, Plan]]:
        for id, row in rows:
            if id not in jobs:
                continue
            try:
                yield id, row[0], plan(jobs[id], cursor_of(row))
            except Exception as error:  # noqa: BLE001 - the other jobs are fired all the same
                self.client.cache.unreadable.add(id, id, error, now, planning=True)


def _batches(planned: list[tuple[str, int, Plan]]) -> Iterator[list[tuple[str, int, Plan]]]:
    """The plans in order, in batches that no script takes long to write."""
    rest = iter(planned)
    while batch := list(islice(rest, 1)):
        count = len(batch[0][2].executions)
        for one in rest:
            batch.append(one)
            count += len(one[2].executions)
            if count >= MAX_BATCH:
                break
        yield batch


def _argument(id: str, moves: int, made: Plan) -> list[Any]:
    return present(
        (
            id,
            moves,
            cursor_argument(made.cursor),
            [execution_argument(new) for new in made.executions],
            [skip_argument(skip) for skip in made.skips],
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
