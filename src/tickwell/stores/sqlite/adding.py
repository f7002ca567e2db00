"""Requested runs and backfills."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tickwell.domain.execution import Kind, NewExecution
from tickwell.errors import NotFound
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.placing import Batch
from tickwell.stores.sql.text import clean
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.recording import Recorder
from tickwell.stores.sqlite.session import Session


def add(
    session: Session, cache: JobCache, new: Sequence[NewExecution], now: int, horizon: int
) -> list[str]:
    """Record executions that were asked for; the ids, those that exist already included."""
    asked = json.dumps(list({one.job.id for one in new}))
    jobs = {id: (key, holder) for id, key, holder in session.rows("jobs_by_id", asked)}
    for one in new:
        if one.job.id not in jobs:
            raise NotFound("job", one.job.name)
    flow = Flow(session, cache)
    recorder = Recorder(flow, now, horizon)
    answers, fresh = _known(session, new, {id: key for id, (key, _) in jobs.items()})
    batches = {id: Batch(*jobs[id], []) for id in jobs}
    for one in fresh:
        batches[one.job.id].executions.append(one)
    if _is_plain(fresh):
        recorder.quickly(batches.values())
        slow = {id for id, batch in batches.items() if batch.slow}
    else:
        slow = set(batches)
    for batch in (batch for id, batch in batches.items() if id not in slow):
        flow.made[batch.job] += len(batch.executions)
        if batch.holder != batch.held_by:
            session.run("set_holder", batch.holder, batch.job)
    for one in fresh:
        if one.job.id in slow:
            recorder.one(jobs[one.job.id][0], one, counted=False)
    flow.close()
    return answers


def _known(
    session: Session, new: Sequence[NewExecution], jobs: dict[str, int]
) -> tuple[list[str], list[NewExecution]]:
    """The id that answers each request, and those that are to be recorded."""
    answers, fresh = [], []
    mine: dict[tuple[int, str], str] = {}
    for one in new:
        known = None
        if one.key is not None:
            place = jobs[one.job.id], clean(one.key) or ""
            known = mine.get(place) or session.value("request", *place)
            if known is None:
                mine[place] = one.id
        if known is None:
            fresh.append(one)
        answers.append(known or one.id)
    return answers, fresh


def _is_plain(new: Sequence[NewExecution]) -> bool:
    """Whether they may be written together: a fire is counted one by one, and no id comes twice."""
    fires = any(one.kind is Kind.FIRE for one in new)
    return not fires and len({one.id for one in new}) == len(new)
