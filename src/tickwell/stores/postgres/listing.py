"""Queries for lists: what to walk, and what to leave out on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql import filters
from tickwell.stores.sql.filters import Query, Where
from tickwell.stores.sql.rows.codec import JOB_STATE_CODE, STATE_CODE, clean
from tickwell.stores.sql.session import Session
from tickwell.stores.sql.statements import Statements


def _numbered(position: int) -> str:
    return f"${position}"


def jobs_edge(sql: Statements, where: JobFilter, cursor: str | None, reach: int) -> Query:
    """The last job of those that may be looked at; none where fewer are left."""
    terms = Where(_numbered)
    _walk_jobs(terms, where, cursor)
    return sql["jobs_edge"].format(where=terms, reach=reach - 1), terms.values


def jobs_query(
    sql: Statements, where: JobFilter, cursor: str | None, limit: int, edge: str | None = None
) -> Query:
    """Jobs by project and name, or the soonest first; up to an edge, if there is one."""
    terms = Where(_numbered)
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
    if where.auto_remove is False:
        terms.add("NOT job.auto_remove")
    return sql[name].format(where=terms, limit=limit), terms.values


def _walk_jobs(terms: Where, where: JobFilter, cursor: str | None) -> None:
    """What an index can tell."""
    filters.walk_jobs(terms, where)
    if cursor is not None:
        _go_on(terms, where, cursor)


def _go_on(terms: Where, where: JobFilter, cursor: str) -> None:
    position = filters.position_of(where, cursor)
    if where.fires_before is None:
        _bound(terms, where, ">", position)
    else:
        time, id = position
        asked = "(cursor.next_fire_time, cursor.job) > (?::bigint, ?::uuid)"
        terms.add(asked, int(time), id)


def _bound(terms: Where, where: JobFilter, sign: str, position: Sequence[str]) -> None:
    """One end of a walk along the index."""
    project, name, id = position
    if where.project is not None and clean(where.project) == project:
        # Without the project: next to the equality a row that has it ends no walk.
        terms.add(f"(job.name, job.id) {sign} (?, ?::uuid)", name, id)
    else:
        terms.add(f"(job.project, job.name, job.id) {sign} (?, ?, ?::uuid)", project, name, id)


def executions_reach(where: ExecutionFilter) -> int | None:
    """How many executions may be looked at; None: as many as it takes."""
    return filters.executions_reach(where)


def executions_edge(
    sql: Statements, where: ExecutionFilter, cursor: str | None, reach: int
) -> Query:
    """The last execution of those that may be looked at; none where fewer are left."""
    terms, name = Where(_numbered), "executions_edge"
    if filters.is_live(where):
        name = "pending_edge"
        filters.span(terms, "id", cursor)
    else:
        filters.walk_executions(terms, where, cursor)
    return sql[name].format(where=terms, reach=reach - 1), terms.values


def executions_query(
    sql: Statements,
    where: ExecutionFilter,
    cursor: str | None,
    limit: int,
    edge: str | None = None,
) -> Query:
    """Executions, newest id first; down to an edge, if there is one."""
    terms = Where(_numbered)
    source = _source(sql, terms, where)
    filters.executions(terms, where, cursor, edge)
    text = sql["list_executions"].format(source=source, where=terms, limit=limit)
    return text, terms.values


def one_query(sql: Statements) -> str:
    """One execution of a project, by its id."""
    where = "execution.id = $1::uuid AND execution.project = $2"
    return sql["list_executions"].format(source=sql["history"], where=where, limit=1)


async def lane_lengths(session: Session, code: int, limit: int) -> list[Any]:
    """The lanes of a state, by queue and ability."""
    return await session.query(session.sql["lane_lengths"].format(code=code), limit)


def _source(sql: Statements, terms: Where, where: ExecutionFilter) -> str:
    """Where executions in these states are found."""
    if where.states is not None:
        if filters.is_live(where):
            return filters.live_source(sql, where.states)
        column = filters.state_column(where.states)
        codes = [STATE_CODE[state] for state in where.states]
        if len(codes) == 1:
            terms.add(f"{column} = ?::smallint", codes[0])
        else:
            terms.add(f"{column} = ANY (?::smallint[])", codes)
    return sql["history"]
