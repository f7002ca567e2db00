"""The queue on Redis: promote, claim, settle."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from tickwell.domain.execution import PENDING, Claim, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import Claimable, ClaimRequest, Finished, Promoted, Wakeup
from tickwell.stores.redis.catalog import new_limit
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.rows import dumps, ended_of, report_argument
from tickwell.stores.sql.rows.codec import STATE_CODE, clean, from_json

#: How often a claim is repeated when this process can read none of the jobs that it got.
MAX_TRIES = 5


class RedisQueue:
    """The part of `ports.store.QueueStore` that moves executions to their workers."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def promote(self, now: int, horizon: int, limit: int) -> Promoted:
        answer = await self._promote(now, horizon, limit, checked=False)
        if len(answer) == 1:
            [jobs] = answer
            await self.client.definitions([(id, version) for id, version in jobs], now)
            answer = await self._promote(now, horizon, limit, checked=True)
        (expired, looked_at, queued, blocked, skipped), ended = answer
        if queued:
            self.client.bell.ring()
        return Promoted(
            queued=queued,
            blocked=blocked,
            skipped=skipped + expired,
            expired=expired,
            ended=ended_of(ended),
            more=limit in {expired, looked_at},
        )

    async def _promote(self, now: int, horizon: int, limit: int, *, checked: bool) -> list[Any]:
        answer: list[Any] = await self.client.answer(
            "promote", now, horizon, limit, self.client.left_out(now), int(checked)
        )
        return answer

    async def claim(self, request: ClaimRequest) -> list[Claim]:
        for _ in range(MAX_TRIES):
            rows = await self.client.answer(
                "claim",
                request.worker,
                request.claim_id,
                request.now,
                request.lead,
                request.limit,
                int(request.repeated),
                dumps(request.queues),
                dumps(sorted(request.abilities)),
                dumps(False if request.ids is None else request.ids),
                self.client.left_out(request.now, *request.left_out),
                request.most_bytes,
            )
            claims = await self.client.claims(rows, request.now)
            readable = {claim.id for claim in claims}
            unreadable = [row[0] for row in rows if row[0] not in readable]
            if unreadable and not request.repeated:
                await self.client.call("take_back", request.worker, dumps(unreadable))
            if claims or not rows:
                return claims
        return []

    async def claimable(self, request: ClaimRequest) -> list[Claimable]:
        rows = await self.client.answer(
            "claimable",
            request.now,
            request.lead,
            request.limit,
            dumps(request.queues),
            dumps(sorted(request.abilities)),
        )
        return [Claimable(*row) for row in rows]

    async def settle(
        self, ids: Sequence[str], states: Collection[State], to: State, reason: str, now: int
    ) -> list[str]:
        # Only a parked execution may wait again: any other would lose its rank in the queue.
        allowed = {State.PARKED} if to is State.WAITING else PENDING - {to}
        codes = sorted(STATE_CODE[state] for state in allowed.intersection(states))
        moved: list[str] = await self.client.answer(
            "settle", now, dumps(list(ids)), dumps(codes), STATE_CODE[to], clean(reason) or ""
        )
        if moved:
            self.client.bell.ring()
        return moved

    async def next_wakeup(self, now: int, queues: Collection[str] | None = None) -> Wakeup:
        fire, promote, expire, run = await self.client.answer(
            "next_wakeup",
            now,
            dumps(False if queues is None else list(queues)),
            self.client.left_out(now, planning=True),
            self.client.left_out(now),
        )
        news = self.client.cache.unreadable.news()
        return Wakeup(fire=fire, promote=promote, expire=expire, run=run, unreadable=news)


class RedisReports:
    """The part of `ports.store.QueueStore` that ends attempts."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def finish(self, reports: Sequence[Report], now: int) -> Finished:
        if not reports:
            return Finished()
        stamps: dict[int, list[Any]] = {}
        while True:
            rows = [report_argument(report, stamps.get(n)) for n, report in enumerate(reports)]
            refused, failures, unstamped, wakes = await self.client.call("finish", now, dumps(rows))
            wanted = json.loads(unstamped)
            if not wanted:
                break
            stamps |= await self._stamps(wanted, now)
        if wakes:
            self.client.bell.ring()
        return Finished(
            refused=[reports[n] for n in json.loads(refused)], failures=json.loads(failures)
        )

    async def _stamps(self, wanted: list[Any], now: int) -> dict[int, list[Any]]:
        """What only the current definition can tell a script: version, limit, and a fire time.

        Asked for retries of jobs that were edited, and for withdrawn executions: does the current
        trigger still fire then?
        """
        jobs = await self.client.definitions([(row[1], row[2]) for row in wanted], now)
        stamps = {}
        for index, job_id, version, payload, gate, fire_time in wanted:
            job = jobs.get(job_id)
            if job is None:  # unreadable here: it keeps its gate and its limit
                stamps[index] = [version, False, False]
                continue
            limit = new_limit(job, gate, from_json(payload)) or False
            fires = job.trigger.after(fire_time - 1) == fire_time
            stamps[index] = [job.version, limit, fires]
        return stamps
