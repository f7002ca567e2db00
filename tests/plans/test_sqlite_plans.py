"""How SQLite means to run each statement: along an index, without sorting what is hot."""

import re
import sqlite3

import pytest

from tickwell.domain.execution import ENDED, LIVE, PENDING, Kind, State
from tickwell.domain.job import JobState
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sqlite.listing import executions_query, jobs_query
from tickwell.stores.sqlite.migrate import STEPS
from tickwell.stores.sqlite.session import SQL

TABLES = "job|cursor|execution|queue|running|gate|attempt|skip|tally|worker|record"
#: Few rows by their nature, or asked for as a whole.
WHOLE = {
    # Bounded by the slots of all workers; when a job is changed, not on the hot path.
    "ahead_of_job": "running",
    "list_workers": "worker",
    "prune_workers": "worker",
    # One row for each project and state.
    "ended_counts": "tally",
    # Counting is asking for all.
    "pending_counts": "queue",
    "running_count": "running",
    "live_counts": "queue|running",
    "queue_lengths": "queue|running",
    "job_counts": "cursor",
}
#: Sorts rows that are few: those of one worker, one job, or one batch.
SORTS = {
    "ahead_of_job",
    "blocked_before_job",
    "ended_counts",
    "count_pruned",
    "gates_of_jobs",
    "held",
    "held_claims",
    "job_counts",
    "jobs_of_pending",
    "live_counts",
    "orphans",
    "owned",
    "pending_counts",
    "pending_of_job",
    "queue_lengths",
    "still_waiting",
}
#: Filled in by what is asked for; below.
TEMPLATES = {name for name, text in SQL.items() if "{" in text}


@pytest.fixture(scope="module")
def schema():
    connection = sqlite3.connect(":memory:")
    for step in STEPS:
        connection.executescript(step.read_text("utf-8"))
    yield connection
    connection.close()


def plan(schema, query):
    """The lines of the plan. Values do not change it: there are no statistics."""
    numbers = [int(number) for number in re.findall(r"\?(\d+)", query)]
    values = max(numbers, default=query.count("?"))
    rows = schema.execute(f"EXPLAIN QUERY PLAN {query}", [None] * values)
    return [row[3] for row in rows]


def scans(lines):
    """Tables that are read from end to end; an index walked in order ends at the limit."""
    found = (re.match(rf"SCAN ({TABLES})(?! USING)\b", line) for line in lines)
    return {match[1] for match in found if match}


def sorts(lines):
    return [line for line in lines if "TEMP B-TREE" in line]


@pytest.mark.parametrize("name", sorted(SQL.keys() - TEMPLATES))
def test_no_statement_reads_a_whole_table(schema, name):
    allowed = set(WHOLE.get(name, "").split("|"))
    assert scans(plan(schema, SQL[name])) <= allowed


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("end_by_key", "INTEGER PRIMARY KEY (rowid=?)"),
        ("end_by_id", "COVERING INDEX execution_id (id=?)"),
    ],
)
def test_what_ends_together_is_found_by_its_key(schema, name, index):
    row = f"({', '.join('?' * 5)})"
    lines = plan(schema, SQL[name].format(rows=f"{row}, {row}"))
    assert f"SEARCH execution USING {index}" in lines
    assert scans(lines) == set()


@pytest.mark.parametrize("name", sorted(SQL.keys() - TEMPLATES - SORTS))
def test_no_hot_statement_sorts(schema, name):
    assert sorts(plan(schema, SQL[name])) == []


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("due", "cursor_due"),
        ("due_projects", "cursor_turn"),
        ("due_of_project", "cursor_turn"),
        ("next_fire", "cursor_due"),
        ("best_before_job", "queue_job"),
        ("pass_job_on", "queue_job"),
        ("best_before_gate", "queue_gate"),
        ("expired", "queue_expire"),
        ("past_age", "execution_job"),
        ("jobs_to_prune", "cursor_prune"),
        ("orphans", "running_worker"),
        ("orphans", "running_deadline"),
        ("reported", "execution_id"),
        ("running_rows", "execution_id"),
        ("requests", "execution_request"),
        ("same_live", "unique_run_live"),
        ("same_newest", "unique_run_newest"),
    ],
)
def test_the_hot_statements_use_their_indexes(schema, name, index):
    assert any(f"INDEX {index} " in f"{line} " for line in plan(schema, SQL[name]))


@pytest.mark.parametrize(
    "where",
    [
        JobFilter(),
        JobFilter(project="p"),
        JobFilter(app="a"),
        JobFilter(project="p", app="a"),
        JobFilter(auto_remove=True, states=frozenset({JobState.FINISHED})),
        JobFilter(project="p", queue="q", tag="t", search="s", auto_remove=False),
    ],
)
@pytest.mark.parametrize("cursor", [None, "p\0name\0id"])
def test_lists_of_jobs_walk_an_index_from_where_they_stopped(schema, where, cursor):
    query, _ = jobs_query(SQL, where, cursor, 100)
    lines = plan(schema, query)
    assert scans(lines) == set()
    assert sorts(lines) == []
    if cursor:
        assert "name,id)>(?,?" in lines[0]


@pytest.mark.parametrize(
    "where",
    [
        ExecutionFilter(),
        ExecutionFilter(project="p"),
        ExecutionFilter(job_id="j"),
        ExecutionFilter(project="p", job_id="j", kind=Kind.FIRE, queue="q", since=1, until=2),
        ExecutionFilter(project="p", states=frozenset({State.DEAD})),
        ExecutionFilter(project="p", states=ENDED),
        ExecutionFilter(project="p", states=LIVE | {State.DEAD}),
    ],
)
@pytest.mark.parametrize("cursor", [None, "id"])
def test_lists_of_executions_walk_an_index_from_where_they_stopped(schema, where, cursor):
    query, _ = executions_query(SQL, where, cursor, 100)
    lines = plan(schema, query)
    assert scans(lines) == set()
    assert sorts(lines) == []
    if cursor:
        assert "id<?" in lines[0]


@pytest.mark.parametrize("states", [PENDING, LIVE, {State.QUEUED}, {State.PARKED}])
def test_lists_of_live_executions_never_walk_history(schema, states):
    query, _ = executions_query(
        SQL, ExecutionFilter(project="p", states=frozenset(states)), None, 100
    )
    assert "SEARCH execution USING INTEGER PRIMARY KEY (rowid=?)" in plan(schema, query)
