"""Firing: plan outside the write lock, then check and write under it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job, rank
from tickwell.domain.planning import Plan
from tickwell.domain.skips import uncovered
from tickwell.errors import StoreCorrupt
from tickwell.ports.records import Fired
from tickwell.ports.store import PlanMaker
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.codec import WAITING, cursor_from_row, moved_columns, skip_of, skip_row
from tickwell.stores.sql.placing import Batch
from tickwell.stores.sqlite.flow import Flow
from tickwell.stores.sqlite.recording import Recorder
from tickwell.stores.sqlite.session import Session


@dataclass(slots=True)
class Planned:
    """A job as it was read, and the plan made from that."""

    #: The columns of `due`.
    row: tuple[Any, ...]
    job: Job
    plan: Plan


@dataclass(slots=True)
class Draft:
    """Plans to be written."""

    plans: list[Planned]
    #: The limit was reached, or a plan said that it is not done.
    more: bool


def draft(
    session: Session,
    cache: JobCache,
    span: tuple[int, int],
    limit: int,
    plan: PlanMaker,
    *,
    in_turn: bool,
) -> Draft:
    """Read what is due and plan it. Nothing is locked meanwhile."""
    now, end = span
    left_out = json.dumps(cache.unreadable.keys(now, planning=True))
    if in_turn:
        rows, more = _due_in_turn(session, end, left_out, limit)
    else:
        rows = session.rows("due", end, left_out, limit)
        more = len(rows) == limit
    jobs = definitions(session, cache, rows, now)
    made = Draft([], more)
    for row in rows:
        job = jobs.get(row[0])
        if job is None:
            continue
        try:
            planned = plan(job, cursor_from_row(row[3:11]))
        except Exception as error:  # noqa: BLE001 - the other jobs are fired all the same
            cache.unreadable.add(row[0], job.id, error, now, planning=True)
            continue
        made.plans.append(Planned(row, job, planned))
        made.more = made.more or planned.more
    return made


def _due_in_turn(
    session: Session, end: int, left_out: str, limit: int
) -> tuple[list[tuple[Any, ...]], bool]:
    """Of each project its part, and whether some project had all of it."""
    projects = session.rows("due_projects", end, limit)
    part = limit // max(len(projects), 1)
    parts = [
        session.rows("due_of_project", end, left_out, project, part) for (project,) in projects
    ]
    return [row for rows in parts for row in rows], any(len(rows) == part for rows in parts)


def definitions(
    session: Session, cache: JobCache, rows: list[tuple[Any, ...]], now: int
) -> dict[int, Job]:
    """The definitions of jobs given as (key, id, version, …), by key; none that is unreadable."""
    wanted = {row[0]: (row[1], row[2]) for row in rows}
    known = zip(wanted, cache.many(wanted.values()), strict=True)
    found = {key: job for key, job in known if job is not None}
    missing = [key for key in wanted if key not in found]
    if missing:
        rows = session.rows("documents", json.dumps(missing))
        for key, *row in rows:
            job = cache.read(key, tuple(row), now)
            if job is not None:
                found[key] = job
        for key in {*missing} - {row[0] for row in rows}:
            gone = StoreCorrupt("its definition is gone; restore a backup")
            cache.unreadable.add(key, wanted[key][0], gone, now)
    return found


def write(session: Session, cache: JobCache, made: Draft, now: int, horizon: int) -> Fired:
    """Record the plans of all jobs that are unchanged since they were read."""
    flow = Flow(session, cache)
    recorder = Recorder(flow, now, horizon)
    standing, batches = _standing(session, made.plans)
    recorder.quickly(batches)
    session.many("move_cursor", [_moved(*pair) for pair in zip(standing, batches, strict=True)])
    fired = Fired(jobs=len(standing), more=made.more)
    skips = []
    for planned, batch in zip(standing, batches, strict=True):
        plan = planned.plan
        recorded = len(plan.executions)
        if batch.slow:
            recorded = recorder.slowly(batch)
            flow.give_back(planned.job, batch.job, len(plan.executions) - recorded, now)
        if plan.release_at is not None:
            release(flow, batch.job, planned.job, max(now, plan.release_at))
        fired.executions += recorded
        for skip in new_skips(session, planned.job, plan.skips):
            fired.skip([skip])
            skips.append(skip_row(batch.job, skip, planned.job.retention.age))
    session.many("insert_skips", skips)
    flow.close()
    return fired


def new_skips(session: Session, job: Job, skips: list[RangeSkip]) -> list[RangeSkip]:
    """What a job passed over by this definition, without what other ranges have answered."""
    found = []
    for skip in skips:
        rows = session.rows("list_skips", job.id, skip.last + 1, skip.first)
        new = uncovered(job, skip, [skip_of(job.id, row) for row in rows])
        if new is not None:
            found.append(new)
    return found


def release(flow: Flow, job: int, definition: Job, at: int) -> None:
    """Let what was held go on from this instant."""
    for (key,) in flow.session.rows("held", job, NEVER):
        row = flow.gates.load(key)
        if row is None:
            continue
        row.run_at = row.look_at = max(at, row.fire_time)
        row.rank = rank(row.run_at, definition.priority)
        flow.session.run("set_run_at", row.run_at, key)
        flow.gates.move(row, WAITING)


def _standing(session: Session, plans: list[Planned]) -> tuple[list[Planned], list[Batch[int]]]:
    """The plans whose jobs are as they were read; the others are still due."""
    keys = json.dumps([planned.row[0] for planned in plans])
    current = {row[0]: row for row in session.rows("cursors", keys)}
    standing, batches = [], []
    for planned in plans:
        before, now = planned.row, current.get(planned.row[0])
        if now is not None and now[:11] == before:
            standing.append(planned)
            batches.append(Batch(before[0], now[11], planned.plan.executions))
    return standing, batches


def _moved(planned: Planned, batch: Batch[int]) -> tuple[Any, ...]:
    made = 0 if batch.slow else len(batch.executions)
    return *moved_columns(planned.plan.cursor), batch.holder, made, batch.job
