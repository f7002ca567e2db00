"""Queries for lists: which index to walk, and what to leave out on the way."""

from __future__ import annotations

import json
from typing import Any

from tickwell.domain.execution import ENDED, LIVE
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql import filters
from tickwell.stores.sql.filters import Query, Where, is_live
from tickwell.stores.sql.rows.codec import (
    JOB_STATE_CODE,
    KIND_CODE,
    PARKED,
    QUEUED,
    RUNNING,
    STATE_CODE,
    SUCCEEDED,
    clean,
)
from tickwell.stores.sql.session import Session
from tickwell.stores.sql.statements import Statements

#: Ids below the first, which is a cursor, and from the second on, which is an edge.
_Span = tuple[str | None, str | None]


def jobs_edge(sql: Statements, where: JobFilter, cursor: str | None, reach: int) -> Query:
    """The last job of those that may be looked at; none where fewer are left."""
    asked = Where()
    if where.project is not None:
        asked.add("job.project = ?", where.project)
    if where.app is not None:
        asked.add("job.app = ?", clean(where.app))
    if where.auto_remove:
        asked.add("job.auto_remove = 1")  # or the index of these cannot be walked
    if cursor is not None:
        _go_on(asked, where, cursor)
    query = sql["jobs_edge"].format(index=_job_index(where), where=asked)
    return query, [*asked.values, reach - 1]


def jobs_query(
    sql: Statements, where: JobFilter, cursor: str | None, limit: int, edge: str | None = None
) -> Query:
    """Jobs by project and name, or the soonest first; up to an edge, if there is one."""
    asked = Where()
    add = asked.add
    add(f"cursor.state IN ({_codes(JOB_STATE_CODE[state] for state in where.states)})")
    if where.project is not None:
        add("job.project = ?", where.project)
    if where.fires_before is not None:
        _soon(asked, where.fires_before, cursor)
        _pick(asked, where)
        return sql["list_jobs_by_time"].format(where=asked), [*asked.values, limit]
    if cursor is not None:
        _go_on(asked, where, cursor)
    if edge is not None:
        _go_on(asked, where, edge, "<=")
    _pick(asked, where)
    return sql["list_jobs"].format(index=_job_index(where), where=asked), [*asked.values, limit]


def _job_index(where: JobFilter) -> str:
    if where.app is not None:
        return "job_app"
    return "job_auto_remove" if where.auto_remove else "job_list"


def _soon(asked: Where, instant: int, cursor: str | None) -> None:
    asked.add("cursor.next_fire_time <= ?", instant)
    if cursor is not None:
        time, id = [*cursor.split("\0"), ""][:2]
        asked.add("(cursor.next_fire_time, cursor.id) > (?, ?)", int(time), id)


def _pick(asked: Where, where: JobFilter) -> None:
    add = asked.add
    if where.app is not None:
        add("job.app = ?", clean(where.app))
    if where.queue is not None:
        add("job.queue = ?", where.queue)
    if where.tag is not None:
        add(
            "EXISTS (SELECT 1 FROM json_each(job.tags) AS tag WHERE tag.value = ?)",
            clean(where.tag),
        )
    if where.search is not None:
        add("instr(job.folded, ?) > 0", where.search.lower())
    if where.auto_remove is not None:
        add(f"job.auto_remove = {int(where.auto_remove)}")


def _go_on(asked: Where, where: JobFilter, cursor: str, sign: str = ">") -> None:
    project, name, id = [*cursor.split("\0"), "", ""][:3]
    if where.project == project:
        # Without the project: next to the equality the planner would not seek the name.
        asked.add(f"(job.name, job.id) {sign} (?, ?)", name, id)
    else:
        asked.add(f"(job.project, job.name, job.id) {sign} (?, ?, ?)", project, name, id)


def executions_reach(where: ExecutionFilter) -> int | None:
    """How many executions may be looked at; None: as many as it takes."""
    # Live ones are gathered from narrow tables, which have no order to stop in.
    return None if is_live(where) else filters.executions_reach(where)


def executions_edge(
    sql: Statements, where: ExecutionFilter, cursor: str | None, reach: int
) -> Query:
    """The last execution of those that may be looked at; none where fewer are left."""
    asked = Where()
    if where.job_id is not None:
        asked.add("job = (SELECT key FROM job WHERE id = ?)", where.job_id)
    elif where.project is not None:
        asked.add("project = ?", where.project)
    if cursor is not None:
        asked.add("id < ?", cursor)
    query = sql["executions_edge"].format(index=_execution_index(where), where=asked)
    return query, [*asked.values, reach - 1]


def executions_query(
    sql: Statements,
    where: ExecutionFilter,
    cursor: str | None,
    limit: int,
    edge: str | None = None,
) -> Query:
    """Executions, newest id first; down to an edge, if there is one."""
    asked = Where()
    index, order = _walk(sql, where, (cursor, edge), limit, asked)
    if where.project is not None:
        asked.add("execution.project = ?", where.project)
    _narrow(asked, where, (cursor, edge), "execution")
    query = sql["list_executions"].format(index=index, where=asked, order=order)
    return query, [*asked.values, limit]


def one_query(sql: Statements) -> str:
    """One execution of a project, by its id."""
    return (
        sql["list_executions"]
        .format(
            index="INDEXED BY execution_id",
            where="execution.id = ? AND execution.project = ?",
            order="execution.id",
        )
        .replace("LIMIT ?", "LIMIT 1")
    )


async def lane_lengths(session: Session, code: int, limit: int) -> list[Any]:
    """The lanes of a state, by queue and ability."""
    index = {QUEUED: "queue_claim", PARKED: "queue_parked_lane"}[code]
    return await session.query(session.sql["lane_lengths"].format(code=code, index=index), limit)


def _narrow(asked: Where, where: ExecutionFilter, span: _Span, table: str) -> None:
    """What the execution table and the queue table can tell alike."""
    below, edge = span
    terms = (
        ("job = (SELECT key FROM job WHERE id = ?)", where.job_id),
        ("kind = ?", None if where.kind is None else KIND_CODE[where.kind]),
        ("queue = ?", where.queue),
        ("ability = ?", clean(where.ability)),
        ("fire_time >= ?", where.since),
        ("fire_time < ?", where.until),
        ("run_at < ?", where.due_before),
        ("id < ?", below),
        ("id >= ?", edge),
    )
    for term, value in terms:
        if value is not None:
            asked.add(f"{table}.{term}", value)


def _walk(
    sql: Statements, where: ExecutionFilter, span: _Span, limit: int, asked: Where
) -> tuple[str, str]:
    """The index to walk and the order to ask for, with the terms about states."""
    states, add = where.states, asked.add
    if states is not None and states <= LIVE:
        # Few and narrow rows: gathered first, then sorted.
        keys, parameters = _live_keys(sql, where, span, limit)
        add(f"execution.key IN ({keys})", *parameters)
        return "NOT INDEXED", "+execution.id"
    if states is not None:
        codes = _codes(STATE_CODE[state] for state in states)
        if states <= ENDED:
            alone = len(states) == 1
            add(f"execution.state = {codes}" if alone else f"execution.state IN ({codes})")
            rare = alone and int(codes) > SUCCEEDED
            if rare and where.project is not None and where.job_id is None:
                add(f"+execution.state > {SUCCEEDED}")  # what makes it an entry of the index
                return "INDEXED BY execution_ended", "execution.id"
        else:
            add(f"coalesce(execution.state, queue.state, {RUNNING}) IN ({codes})")
    return _execution_index(where), "execution.id"


def _execution_index(where: ExecutionFilter) -> str:
    if where.job_id is not None:
        return "INDEXED BY execution_job"
    if where.project is not None:
        return "INDEXED BY execution_project"
    return "INDEXED BY execution_id"


def _live_keys(sql: Statements, where: ExecutionFilter, span: _Span, limit: int) -> Query:
    """Where the live executions are found."""
    parts, values = [], []
    for code in sorted(STATE_CODE[state] for state in where.states or ()):
        asked = Where()
        if code == RUNNING:
            if where.job_id is not None:
                asked.add("job = (SELECT key FROM job WHERE id = ?)", where.job_id)
            parts.append(sql["running_keys"].format(where=asked))
        else:
            asked.add(f"state = {code}")
            _narrow(asked, where, span, "queue")
            # Which project they belong to is seen only after the join.
            order = f"ORDER BY id DESC LIMIT {limit}" if where.project is None else ""
            parts.append(sql["pending_keys"].format(where=asked, order=order))
        values += asked.values
    return " UNION ALL ".join(parts or ["SELECT NULL"]), values


def _codes(codes: Any) -> str:
    return json.dumps(sorted(codes))[1:-1] or "NULL"
