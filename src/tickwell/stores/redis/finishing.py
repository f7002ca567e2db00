"""Finishing: one script for all reports, told what only the definition in force can say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.stores.redis.base import RedisBase
from tickwell.stores.redis.changing import new_limit
from tickwell.stores.redis.rows import dumps, report_given
from tickwell.stores.sql.codec import from_json


async def finish(store: RedisBase, reports: Sequence[Report], now: int) -> tuple[Finished, bool]:
    """Apply reports; also whether somebody should look at what became of them."""
    stamps: dict[int, list[Any]] = {}
    while True:
        given = [report_given(report, stamps.get(n)) for n, report in enumerate(reports)]
        refused, failures, unstamped, stirred = await store.client.call("finish", now, dumps(given))
        wanted = json.loads(unstamped)
        if not wanted:
            finished = Finished(
                refused=[reports[n] for n in json.loads(refused)], failures=json.loads(failures)
            )
            return finished, bool(stirred)
        stamps |= await _stamps(store, wanted, now)


async def _stamps(store: RedisBase, wanted: list[Any], now: int) -> dict[int, list[Any]]:
    """For retries of jobs that were edited, and what was called off: version, limit, fires then."""
    jobs = await store.definitions([(row[1], row[2]) for row in wanted], now)
    stamps = {}
    for place, job_id, version, payload, gate, fire_time in wanted:
        job = jobs.get(job_id)
        if job is None:  # unreadable here: it goes on in its gate as it is
            stamps[place] = [version, False, False]
            continue
        limit = new_limit(job, gate, from_json(payload)) or False
        fires = job.trigger.after(fire_time - 1) == fire_time
        stamps[place] = [job.version, limit, fires]
    return stamps
