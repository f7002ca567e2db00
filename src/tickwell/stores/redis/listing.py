"""What lists walk over, and what they leave out on the way."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.execution import LIVE, State
from tickwell.domain.job import Entry, Job, JobState
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.redis.rows import dumps, present
from tickwell.stores.sql.codec import JOB_STATE_CODE, KIND_CODE, STATE_CODE
from tickwell.stores.sql.text import clean


@dataclass(slots=True)
class Walk:
    """Where in an index of jobs a list is: from, exclusive, to, and how it is ordered."""

    index: str
    begin: str | bytes
    end: str
    order: str = "BYLEX"

    def bounds(self) -> tuple[str | bytes, ...]:
        """For the script."""
        return self.index, self.begin, self.end, self.order

    def go_on(self, last: bytes) -> None:
        """After the last one that was looked at."""
        self.begin = b"(" + last if self.order == "BYLEX" else last


def job_walk(where: JobFilter, cursor: str | None) -> Walk:
    """By project and name, or by the instant at which jobs are to be looked at."""
    if where.fires_before is not None:
        return Walk("fire", cursor or "", str(where.fires_before), "BYSCORE")
    project = clean(where.project)
    begin, end = ("-", "+") if project is None else (f"[{project}\0", f"[{project}\1")
    rare = where.states == {JobState.FINISHED} and where.auto_remove is True
    index = "removable" if rare else "jobs"
    return Walk(index, begin if cursor is None else b"(" + cursor.encode("utf-8", "replace"), end)


def place(entry: Entry, where: JobFilter) -> str:
    """Where a job stands in a list: by time, or by project, name, and id, since names repeat."""
    job = entry.job
    if where.fires_before is not None:
        return f"{entry.cursor.next_fire_time:015}\0{job.id}"
    return f"{job.project}\0{job.name}\0{job.id}"


def job_wanted(where: JobFilter) -> str:
    """What a script can judge of a filter: states, project, queue, search, auto_remove."""
    removable = None if where.auto_remove is None else 1 if where.auto_remove else 2
    search = None if where.search is None else clean(where.search.lower())
    states = [JOB_STATE_CODE[state] for state in where.states]
    values = states, clean(where.project), clean(where.queue), search, removable
    return dumps(present(values))


def matches(job: Job, where: JobFilter) -> bool:
    """The rest of the filter, which takes the definition."""
    return where.app in {None, job.app} and (where.tag is None or where.tag in job.tags)


def execution_source(where: ExecutionFilter) -> str:
    """The indexes that hold all that a filter may want, the narrowest that there are."""
    states = where.states
    if where.job_id is not None:
        if states is not None and states <= LIVE:
            return dumps({"key": "live", "prefix": f"{clean(where.job_id)}\0"})
        return dumps({"key": f"job:{clean(where.job_id)}"})
    if states is not None and State.SUCCEEDED not in states:
        codes = sorted(STATE_CODE[state] for state in states)
        return dumps({"indexes": [f"state:{code}:" for code in codes]})
    return dumps({"indexes": ["project:"]})


def execution_wanted(where: ExecutionFilter) -> str:
    """A filter for the script."""
    states = None if where.states is None else [STATE_CODE[state] for state in where.states]
    return dumps(
        present(
            (
                clean(where.project),
                clean(where.job_id),
                states,
                None if where.kind is None else KIND_CODE[where.kind],
                clean(where.queue),
                where.since,
                where.until,
                where.due_before,
                clean(where.ability),
            )
        )
    )
