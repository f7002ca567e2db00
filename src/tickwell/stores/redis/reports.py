"""The end of attempts on Redis: one script applies all reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.stores.redis.catalog import new_limit
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.rows import dumps, report_argument
from tickwell.stores.sql.codec import from_json


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
