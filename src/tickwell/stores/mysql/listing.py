"""Queries for lists: what to walk, and what to leave out on the way."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from itertools import chain
from typing import Any

from tickwell.domain.execution import ENDED, State
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql import filters
from tickwell.stores.sql.filters import Query, Where
from tickwell.stores.sql.rows.codec import JOB_STATE_CODE, STATE_CODE, clean
from tickwell.stores.sql.session import Session
from tickwell.stores.sql.statements import Statements

#: Lanes that one statement looks into.
LANES = 100


def _numbered(position: int) -> str:
    return f"%({position})s"


def _codes(codes: Collection[int]) -> str:
    return f"({', '.join(map(str, codes)) or 'NULL'})"


def jobs_edge(sql: Statements, where: JobFilter, cursor: str | None, reach: int) -> Query:
    """The last job of those that may be looked at; none where fewer are left."""
    terms = Where(_numbered)
    index = _walk_jobs(terms, where, cursor)
    return sql["jobs_edge"].format(where=terms, index=index, reach=reach - 1), terms.values


def jobs_query(
    sql: Statements, where: JobFilter, cursor: str | None, limit: int, edge: str | None = None
) -> Query:
    """Jobs by project and name, or the soonest first; up to an edge, if there is one."""
    terms = Where(_numbered)
    terms.add(f"head.state IN {_codes([JOB_STATE_CODE[state] for state in where.states])}")
    name = "list_jobs"
    if where.fires_before is not None:
        name = "list_jobs_by_time"
        terms.add("head.next_fire_time <= ?", where.fires_before)
    index = _walk_jobs(terms, where, cursor)
    if edge is not None:
        _stop_at(terms, edge)
    if where.queue is not None:
        terms.add("job.queue = ?", clean(where.queue))
    if where.tag is not None:
        terms.add("JSON_CONTAINS(job.tags, ?)", json.dumps(clean(where.tag)))
    if where.search is not None:
        terms.add("LOCATE(?, job.folded) > 0", clean(where.search.lower()))
    if where.auto_remove is False:
        terms.add("job.auto_remove = FALSE")
    return sql[name].format(where=terms, index=index, limit=limit), terms.values


def _walk_jobs(terms: Where, where: JobFilter, cursor: str | None) -> str:
    """What an index can tell, and which."""
    filters.walk_jobs(terms, where)
    if cursor is not None:
        _go_on(terms, where, cursor)
    if where.app is not None:
        return "FORCE INDEX (job_app)"
    return f"FORCE INDEX ({'job_auto_remove' if where.auto_remove else 'job_list'})"


def _stop_at(terms: Where, edge: str) -> None:
    project, name, id = edge.split("\0")
    terms.add("job.project <= ?", project)
    terms.add(
        "(job.project < ? OR job.name < ? OR (job.name = ? AND job.id <= ?))",
        *(project, name, name, id),
    )


def _go_on(terms: Where, where: JobFilter, cursor: str) -> None:
    *position, id = filters.position_of(where, cursor)
    if where.fires_before is not None:
        time = int(position[0])
        asked = "head.next_fire_time >= ? AND (head.next_fire_time > ? OR head.job > ?)"
        terms.add(asked, time, time, id)
        return
    project, name = position
    # The first term is a step of the index; a row as a whole would not be.
    terms.add("job.project >= ?", project)
    terms.add(
        "(job.project > ? OR job.name > ? OR (job.name = ? AND job.id > ?))",
        *(project, name, name, id),
    )


def executions_reach(where: ExecutionFilter) -> int | None:
    """How many executions may be looked at; None: as many as it takes."""
    return filters.executions_reach(where)


def executions_edge(
    sql: Statements, where: ExecutionFilter, cursor: str | None, reach: int
) -> Query:
    """The last execution of those that may be looked at; none where fewer are left."""
    terms = Where(_numbered)
    if filters.is_live(where):
        filters.span(terms, "id", cursor)
        return sql["pending_edge"].format(where=terms, reach=reach - 1), terms.values
    filters.walk_executions(terms, where, cursor)
    index = _index(replace(where, states=None))
    text = sql["executions_edge"].format(index=index, where=terms, reach=reach - 1)
    return text, terms.values


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
    where = "execution.id = %(1)s AND execution.project = %(2)s"
    source = sql["history"].format(index="")
    return sql["list_executions"].format(source=source, where=where, limit=1)


async def lane_lengths(session: Session, code: int, limit: int) -> list[Any]:
    """The lanes of a state, by queue and ability."""
    lanes = [lane for _, *lane in await session.rows("all_lanes", code)]
    found: list[Any] = []
    for first in range(0, len(lanes), LANES):
        some = lanes[first : first + LANES]
        pairs = ((_numbered(n), _numbered(n + 1)) for n in range(3, 3 + 2 * len(some), 2))
        texts = [session.sql["lane_length"].format(queue=q, ability=a) for q, a in pairs]
        text = " UNION ALL ".join(texts)
        found += await session.query(text, code, limit, *chain.from_iterable(some))
    return found


def _source(sql: Statements, terms: Where, where: ExecutionFilter) -> str:
    """Where executions in these states are found."""
    if where.states is not None:
        if filters.is_live(where):
            return filters.live_source(sql, where.states)
        codes = _codes([STATE_CODE[state] for state in where.states])
        terms.add(f"{filters.state_column(where.states)} IN {codes}")
    return sql["history"].format(index=_index(where))


def _index(where: ExecutionFilter) -> str:
    """The index that gives the order, whatever the server thinks that it knows of the table."""
    rare = where.states is not None and where.states <= ENDED - {State.SUCCEEDED}
    if where.job_id is not None:
        return "FORCE INDEX (execution_job)"
    if rare and where.states:
        return "FORCE INDEX (execution_rare)"
    if where.project is not None:
        return "FORCE INDEX (execution_project)"
    return "FORCE INDEX (PRIMARY)"
