"""Queries for lists: the terms that every server takes alike."""

from __future__ import annotations

from collections.abc import Collection

from tickwell.domain.execution import ENDED, LIVE, State
from tickwell.ids import is_id
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql.codec import KIND_CODE, RUNNING, STATE_CODE
from tickwell.stores.sql.statements import Statements
from tickwell.stores.sql.terms import Terms
from tickwell.stores.sql.text import FIRST_ID, clean


def walk_jobs(terms: Terms, where: JobFilter) -> None:
    """What an index of jobs can tell, but for where to go on."""
    if where.app is not None:
        terms.add("job.app = ?", clean(where.app))
    if where.project is not None:
        terms.add("job.project = ?", clean(where.project))
    if where.auto_remove:
        terms.add("job.auto_remove = TRUE")


def place_of(where: JobFilter, cursor: str) -> list[str]:
    """Where a list of jobs goes on: project, name and id; by time, the instant and the id."""
    *place, id = [*cursor.split("\0"), "", ""][: 3 if where.fires_before is None else 2]
    return [*place, id if is_id(id) else FIRST_ID]


def executions(terms: Terms, where: ExecutionFilter, cursor: str | None, edge: str | None) -> None:
    """All that is asked of executions, but for their states."""
    if is_live(where):
        span(terms, "live.id", cursor, edge)
    walk_executions(terms, where, cursor, edge)
    for term, value in (
        ("execution.kind = ?", None if where.kind is None else KIND_CODE[where.kind]),
        ("execution.queue = ?", clean(where.queue)),
        ("execution.ability = ?", clean(where.ability)),
        ("execution.fire_time >= ?", where.since),
        ("execution.fire_time < ?", where.until),
        ("execution.run_at < ?", where.due_before),
    ):
        if value is not None:
            terms.add(term, value)


def walk_executions(
    terms: Terms, where: ExecutionFilter, cursor: str | None, edge: str | None = None
) -> None:
    """What an index of executions can tell."""
    if where.project is not None:
        terms.add("execution.project = ?", clean(where.project))
    if where.job_id is not None:
        if is_id(where.job_id):
            terms.add("execution.job = ?", where.job_id)
        else:
            terms.add("FALSE")
    span(terms, "execution.id", cursor, edge)


def span(terms: Terms, column: str, cursor: str | None, edge: str | None = None) -> None:
    """Ids below a cursor, down to an edge."""
    if cursor is not None and is_id(cursor):
        terms.add(f"{column} < ?", cursor)
    if edge is not None:
        terms.add(f"{column} >= ?", edge)


def is_live(where: ExecutionFilter) -> bool:
    """Whether only live executions are asked for."""
    return where.states is not None and where.states <= LIVE


def live_source(sql: Statements, states: Collection[State]) -> str:
    """Live executions are few: they are gathered from the narrow tables first."""
    parts = []
    pending = sorted(STATE_CODE[state] for state in states if state is not State.RUNNING)
    if pending:
        codes = ", ".join(map(str, pending))
        parts.append(sql["pending_ids"].format(codes=codes))
    if State.RUNNING in states:
        parts.append(sql["running_ids"])
    return sql["live"].format(live=" UNION ALL ".join(parts or [sql["no_ids"]]))


def state_column(states: Collection[State]) -> str:
    """Where the state of executions stands that are not all live."""
    if not ENDED.issuperset(states):
        return f"coalesce(execution.state, queue.state, {RUNNING})"
    # The index of what did not go well has no column that a success changes.
    return "execution.state" if State.SUCCEEDED in states else "execution.rare"
