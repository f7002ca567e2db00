"""Queries for lists: what to walk, and what to leave out on the way."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tickwell.domain.execution import ENDED, LIVE, State
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql.codec import JOB_STATE_CODE, KIND_CODE, RUNNING, STATE_CODE, SUCCEEDED
from tickwell.stores.sql.statements import Statements
from tickwell.stores.sql.terms import Query, Terms
from tickwell.stores.sql.text import clean, is_id


def _numbered(place: int) -> str:
    return f"${place}"


def jobs_edge(sql: Statements, where: JobFilter, cursor: str | None, reach: int) -> Query:
    """The last job of those that may be looked at; none where fewer are left."""
    terms = Terms(_numbered)
    _walk_jobs(terms, where, cursor)
    return sql["jobs_edge"].format(where=terms, reach=reach - 1), terms.values


def jobs_query(
    sql: Statements, where: JobFilter, cursor: str | None, limit: int, edge: str | None = None
) -> Query:
    """Jobs by project and name, or the soonest first; up to an edge, if there is one."""
    terms = Terms(_numbered)
    codes = [JOB_STATE_CODE[state] for state in where.states]
    terms.add("cursor.state = ANY (?::smallint[])", codes)
    name = "list_jobs" if where.fires_before is None else "list_jobs_by_time"
    if where.fires_before is not None:
        terms.add("cursor.next_fire_time <= ?::bigint", where.fires_before)
    _walk_jobs(terms, where, cursor)
    if edge is not None:
        _bound(terms, where, "<=", edge.split("\0"))
    if where.queue is not None:
        terms.add("job.queue = ?", clean(where.queue))
    if where.tag is not None:
        terms.add("? = ANY (job.tags)", clean(where.tag))
    if where.search is not None:
        terms.add("position(? IN job.folded) > 0", clean(where.search.lower()))
    if where.auto_remove is not None:
        terms.add("job.auto_remove" if where.auto_remove else "NOT job.auto_remove")
    return sql[name].format(where=terms, limit=limit), terms.values


def _walk_jobs(terms: Terms, where: JobFilter, cursor: str | None) -> None:
    """What an index can tell."""
    if where.app is not None:
        terms.add("job.app = ?", clean(where.app))
    if where.project is not None:
        terms.add("job.project = ?", clean(where.project))
    if cursor is not None:
        _go_on(terms, where, cursor)


def _go_on(terms: Terms, where: JobFilter, cursor: str) -> None:
    *place, id = [*cursor.split("\0"), "", ""][: 3 if where.fires_before is None else 2]
    if not is_id(id):
        id = "00000000-0000-0000-0000-000000000000"
    if where.fires_before is None:
        _bound(terms, where, ">", [*place, id])
    else:
        asked = "(cursor.next_fire_time, cursor.job) > (?::bigint, ?::uuid)"
        terms.add(asked, int(place[0]), id)


def _bound(terms: Terms, where: JobFilter, sign: str, place: Sequence[str]) -> None:
    """One end of a walk along the index."""
    project, name, id = place
    if where.project is not None and clean(where.project) == project:
        # Without the project: next to the equality a row that has it ends no walk.
        terms.add(f"(job.name, job.id) {sign} (?, ?::uuid)", name, id)
    else:
        terms.add(f"(job.project, job.name, job.id) {sign} (?, ?, ?::uuid)", project, name, id)


def executions_edge(
    sql: Statements, where: ExecutionFilter, cursor: str | None, reach: int
) -> Query:
    """The last execution of those that may be looked at; none where fewer are left."""
    terms, name = Terms(_numbered), "executions_edge"
    if where.states is not None and where.states <= LIVE:
        name = "pending_edge"
        _span(terms, "id", cursor)
    else:
        _walk_executions(terms, where, cursor)
    return sql[name].format(where=terms, reach=reach - 1), terms.values


def executions_query(
    sql: Statements,
    where: ExecutionFilter,
    cursor: str | None,
    limit: int,
    edge: str | None = None,
) -> Query:
    """Executions, newest id first; down to an edge, if there is one."""
    terms = Terms(_numbered)
    if where.states is not None:
        _add_states(terms, where.states)
    source = _source(sql, where, terms, cursor, edge)
    _walk_executions(terms, where, cursor, edge)
    for term, value in (
        ("execution.kind = ?", None if where.kind is None else KIND_CODE[where.kind]),
        ("execution.queue = ?", clean(where.queue)),
        ("execution.fire_time >= ?", where.since),
        ("execution.fire_time < ?", where.until),
        ("execution.run_at < ?", where.due_before),
    ):
        if value is not None:
            terms.add(term, value)
    text = sql["list_executions"].format(source=source, where=terms, limit=limit)
    return text, terms.values


def _walk_executions(
    terms: Terms, where: ExecutionFilter, cursor: str | None, edge: str | None = None
) -> None:
    """What an index can tell."""
    if where.project is not None:
        terms.add("execution.project = ?", clean(where.project))
    if where.job_id is not None:
        if is_id(where.job_id):
            terms.add("execution.job = ?::uuid", where.job_id)
        else:
            terms.add("FALSE")
    _span(terms, "execution.id", cursor, edge)


def _span(terms: Terms, column: str, cursor: str | None, edge: str | None = None) -> None:
    if cursor is not None and is_id(cursor):
        terms.add(f"{column} < ?::uuid", cursor)
    if edge is not None:
        terms.add(f"{column} >= ?::uuid", edge)


def one_query(sql: Statements) -> str:
    """One execution of a project, by its id."""
    where = "execution.id = $1::uuid AND execution.project = $2"
    return sql["list_executions"].format(source=sql["history"], where=where, limit=1)


def _source(
    sql: Statements, where: ExecutionFilter, terms: Terms, cursor: str | None, edge: str | None
) -> str:
    """Live executions are few: they are gathered from the narrow tables first."""
    if where.states is None or not where.states <= LIVE:
        return sql["history"]
    _span(terms, "live.id", cursor, edge)
    parts = []
    pending = sorted(STATE_CODE[state] for state in where.states if state is not State.RUNNING)
    if pending:
        codes = ", ".join(map(str, pending))
        parts.append(sql["pending_ids"].format(codes=codes))
    if State.RUNNING in where.states:
        parts.append(sql["running_ids"])
    return sql["live"].format(live=" UNION ALL ".join(parts or [sql["no_ids"]]))


def _add_states(terms: Terms, states: Collection[State]) -> None:
    codes = [STATE_CODE[state] for state in states]
    if set(states) <= ENDED:
        # The index of what did not go well has no column that a success changes.
        rare = "execution.rare" if SUCCEEDED not in codes else "execution.state"
        if len(codes) == 1:
            terms.add(f"{rare} = ?::smallint", codes[0])
        else:
            terms.add(f"{rare} = ANY (?::smallint[])", codes)
    elif not set(states) <= LIVE:
        terms.add(f"coalesce(execution.state, queue.state, {RUNNING}) = ANY (?::smallint[])", codes)
