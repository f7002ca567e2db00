"""Queries for lists: the terms that every server takes alike."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from tickwell.domain.execution import ENDED, LIVE, State
from tickwell.domain.job import JobState
from tickwell.ids import is_id
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql.rows.codec import FIRST_ID, KIND_CODE, RUNNING, STATE_CODE, clean
from tickwell.stores.sql.statements import Statements

#: A statement with its parameters.
Query = tuple[str, list[Any]]


class Where:
    """Conditions and their parameters; `?` stands for the next of them."""

    def __init__(self, placeholder: Callable[[int], str] | None = None) -> None:
        """Where parameters are numbered or written otherwise: how the n-th, from 1, is written."""
        self.values: list[Any] = []
        self._terms: list[str] = []
        self._placeholder = placeholder

    def add(self, term: str, *parameters: Any) -> None:
        """One more condition."""
        for parameter in parameters:
            self.values.append(parameter)
            if self._placeholder is not None:
                term = term.replace("?", self._placeholder(len(self.values)), 1)
        self._terms.append(term)

    def __str__(self) -> str:
        """All of them."""
        return " AND ".join(self._terms) or "TRUE"


_USUAL = frozenset(JobState) - {JobState.DELETED}
_RARE = ENDED - {State.SUCCEEDED}


def jobs_reach(where: JobFilter) -> int | None:
    """How many jobs may be looked at; None: nearly all match, or an index has those that do."""
    picks = where.queue, where.tag, where.search
    matches_most = where.states >= _USUAL and picks == (None, None, None)
    if where.fires_before is not None or (matches_most and where.auto_remove is not False):
        return None
    return where.look


def executions_reach(where: ExecutionFilter) -> int | None:
    """The same for executions."""
    picks = where.kind, where.queue, where.since, where.until, where.due_before
    if picks == (None,) * 5 and (where.states is None or _is_indexed(where)):
        return None
    return where.look


def _is_indexed(where: ExecutionFilter) -> bool:
    """What did not go well has an index for each of its states."""
    states = where.states
    return where.job_id is None and states is not None and len(states) == 1 and states <= _RARE


def walk_jobs(terms: Where, where: JobFilter) -> None:
    """What an index of jobs can tell, but for where to go on."""
    if where.app is not None:
        terms.add("job.app = ?", clean(where.app))
    if where.project is not None:
        terms.add("job.project = ?", clean(where.project))
    if where.auto_remove:
        terms.add("job.auto_remove = TRUE")


def position_of(where: JobFilter, cursor: str) -> list[str]:
    """Where a list of jobs goes on: project, name and id; by time, the instant and the id."""
    *position, id = [*cursor.split("\0"), "", ""][: 3 if where.fires_before is None else 2]
    return [*position, id if is_id(id) else FIRST_ID]


def executions(terms: Where, where: ExecutionFilter, cursor: str | None, edge: str | None) -> None:
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
    terms: Where, where: ExecutionFilter, cursor: str | None, edge: str | None = None
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


def span(terms: Where, column: str, cursor: str | None, edge: str | None = None) -> None:
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
