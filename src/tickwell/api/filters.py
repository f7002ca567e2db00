"""What lists can be asked for."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from tickwell.api.values import instant
from tickwell.domain.execution import Kind, State
from tickwell.domain.job import JobState
from tickwell.errors import InvalidInput
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.executions.dead_letters import DeadFilter


class _Query(BaseModel):
    """Parameters of a list; an unknown one is refused instead of being passed over."""

    model_config = ConfigDict(extra="forbid")

    cursor: str | None = Field(default=None, max_length=2000)
    limit: int = Field(default=100, ge=1, le=1000)


class JobQuery(_Query):
    """Which jobs."""

    state: list[Literal["active", "paused", "finished"]] = Field(default_factory=list)
    queue: str | None = Field(default=None, max_length=255)
    tag: str | None = Field(default=None, max_length=255)
    app: str | None = Field(default=None, max_length=255)
    #: A part of the name.
    search: str | None = Field(default=None, max_length=255)


class HistoryQuery(_Query):
    """Which executions of a job."""

    state: list[State] = Field(default_factory=list)
    kind: Kind | None = None
    #: Fire times from, inclusive, and to, exclusive.
    since: str | None = Field(default=None, json_schema_extra={"format": "date-time"})
    until: str | None = Field(default=None, json_schema_extra={"format": "date-time"})


class ExecutionQuery(HistoryQuery):
    """Which executions."""

    #: A job's name or id.
    job: str | None = Field(default=None, max_length=255)
    queue: str | None = Field(default=None, max_length=255)


class OutputQuery(BaseModel):
    """Which lines of an execution."""

    model_config = ConfigDict(extra="forbid")

    #: The attempt and the number of its line to read from: those that the last answer named.
    attempt: int = Field(default=1, ge=1, le=2**31)
    line: int = Field(default=0, ge=0, le=2**53)


def job_filter(given: dict[str, Any], states: list[Any] | None, at: str = "") -> JobFilter:
    """The filter of a query, or of a bulk action, where it stands at `filter.`."""
    for name, value in given.items():
        if value is not None and (not isinstance(value, str) or "\0" in value or len(value) > 255):
            raise InvalidInput("is not a text of 255 characters at most", field=at + name)
    if not states:
        return JobFilter(**given)
    try:
        chosen = frozenset(JobState(state) for state in states)
    except ValueError as error:
        raise InvalidInput(
            f"{error}", field=f"{at}states", hint="Use active, paused, finished"
        ) from None
    if JobState.DELETED in chosen:
        raise InvalidInput("deleted jobs are gone", field=f"{at}states")
    return JobFilter(**given, states=chosen)


def execution_filter(
    query: HistoryQuery, job_id: str | None, queue: str | None = None
) -> ExecutionFilter:
    """The filter of a query."""
    return ExecutionFilter(
        job_id=job_id,
        states=frozenset(query.state) or None,
        kind=query.kind,
        queue=queue,
        since=instant(query.since, "since"),
        until=instant(query.until, "until"),
    )


def dead_filter(given: Any, at: str = "") -> DeadFilter:
    """The filter of a query or a body."""
    known = ("job", "queue", "since", "until", "signature", "search")
    if not isinstance(given, dict):
        raise InvalidInput("is not an object", field=at.rstrip("."))
    for name, value in given.items():
        if name not in known:
            raise InvalidInput(
                "is not a known field", field=at + name, hint=f"Known are {', '.join(known)}"
            )
        if value is not None and not isinstance(value, str):
            raise InvalidInput("is not a text", field=at + name)
    return DeadFilter(
        job_id=given.get("job"),
        queue=given.get("queue"),
        since=instant(given.get("since"), at + "since"),
        until=instant(given.get("until"), at + "until"),
        signature=given.get("signature"),
        search=given.get("search"),
    )
