"""Queries for lists: what to walk, and what to leave out on the way."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace

from tickwell.domain.execution import ENDED, LIVE, State
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql.codec import JOB_STATE_CODE, KIND_CODE, RUNNING, STATE_CODE, SUCCEEDED
from tickwell.stores.sql.statements import Statements
from tickwell.stores.sql.terms import Query, Terms
from tickwell.stores.sql.text import clean, is_id

_FIRST = "00000000-0000-0000-0000-000000000000"


def _numbered(place: int) -> str:
    return f"%({place})s"


def _codes(codes: Collection[int]) -> str:
    return f"({', '.join(map(str, codes)) or 'NULL'})"


def jobs_edge(sql: Statements, where: JobFilter, cursor: str | None, reach: int) -> Query:
    """The last job of those that may be looked at; none where fewer are left."""
    terms = Terms(_numbered)
    index = _walk_jobs(terms, where, cursor)
    return sql["jobs_edge"].format(where=terms, index=index, reach=reach - 1), terms.values


def jobs_query(
    sql: Statements, where: JobFilter, cursor: str | None, limit: int, edge: str | None = None
) -> Query:
    """Jobs by project and name, or the soonest first; up to an edge, if there is one."""
    terms = Terms(_numbered)
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
    if where.auto_remove is not None:
        terms.add(f"job.auto_remove = {int(where.auto_remove)}")
    return sql[name].format(where=terms, index=index, limit=limit), terms.values


def _walk_jobs(terms: Terms, where: JobFilter, cursor: str | None) -> str:
    """What an index can tell, and which."""
    if where.app is not None:
        terms.add("job.app = ?", clean(where.app))
    if where.project is not None:
        terms.add("job.project = ?", clean(where.project))
    if cursor is not None:
        _go_on(terms, where, cursor)
    if where.app is not None:
        return "FORCE INDEX (job_app)"
    return f"FORCE INDEX ({'job_auto_remove' if where.auto_remove else 'job_list'})"


def _stop_at(terms: Terms, edge: str) -> None:
    project, name, id = edge.split("\0")
    terms.add("job.project <= ?", project)
    terms.add(
        "(job.project < ? OR job.name < ? OR (job.name = ? AND job.id <= ?))",
        *(project, name, name, id),
    )


def _go_on(terms: Terms, where: JobFilter, cursor: str) -> None:
    *place, id = [*cursor.split("\0"), "", ""][: 3 if where.fires_before is None else 2]
    if not is_id(id):
        id = _FIRST
    if where.fires_before is not None:
        time = int(place[0])
        asked = "head.next_fire_time >= ? AND (head.next_fire_time > ? OR head.job > ?)"
        terms.add(asked, time, time, id)
        return
    project, name = place
    # The first term is a step of the index; a row as a whole would not be.
    terms.add("job.project >= ?", project)
    terms.add(
        "(job.project > ? OR job.name > ? OR (job.name = ? AND job.id > ?))",
        *(project, name, name, id),
    )


def executions_edge(
    sql: Statements, where: ExecutionFilter, cursor: str | None, reach: int
) -> Query:
    """The last execution of those that may be looked at; none where fewer are left."""
    terms = Terms(_numbered)
    if where.states is not None and where.states <= LIVE:
        _span(terms, "id", cursor)
        return sql["pending_edge"].format(where=terms, reach=reach - 1), terms.values
    _walk_executions(terms, where, cursor)
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
    terms = Terms(_numbered)
    if where.states is not None:
        _add_states(terms, where.states)
        if where.states <= LIVE:
            _span(terms, "live.id", cursor, edge)
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
    source = _source(sql, where)
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
            terms.add("execution.job = ?", where.job_id)
        else:
            terms.add("FALSE")
    _span(terms, "execution.id", cursor, edge)


def _span(terms: Terms, column: str, cursor: str | None, edge: str | None = None) -> None:
    if cursor is not None and is_id(cursor):
        terms.add(f"{column} < ?", cursor)
    if edge is not None:
        terms.add(f"{column} >= ?", edge)


def one_query(sql: Statements) -> str:
    """One execution of a project, by its id."""
    where = "execution.id = %(1)s AND execution.project = %(2)s"
    source = sql["history"].format(index="")
    return sql["list_executions"].format(source=source, where=where, limit=1)


def _source(sql: Statements, where: ExecutionFilter) -> str:
    """Live executions are few: they are gathered from the narrow tables first."""
    if where.states is None or not where.states <= LIVE:
        return sql["history"].format(index=_index(where))
    parts = []
    pending = sorted(STATE_CODE[state] for state in where.states if state is not State.RUNNING)
    if pending:
        codes = ", ".join(map(str, pending))
        parts.append(sql["pending_ids"].format(codes=codes))
    if State.RUNNING in where.states:
        parts.append(sql["running_ids"])
    return sql["live"].format(live=" UNION ALL ".join(parts or [sql["no_ids"]]))


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


def _add_states(terms: Terms, states: Collection[State]) -> None:
    codes = [STATE_CODE[state] for state in states]
    if set(states) <= ENDED:
        # The index of what did not go well has no column that a success changes.
        rare = "execution.rare" if SUCCEEDED not in codes else "execution.state"
        terms.add(f"{rare} IN {_codes(codes)}")
    elif not set(states) <= LIVE:
        terms.add(f"COALESCE(execution.state, queue.state, {RUNNING}) IN {_codes(codes)}")
