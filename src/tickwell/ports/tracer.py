"""The tracer: spans of what engine and executors do. Without one nothing is called at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol


class PlanSpan(Protocol):
    """A step of the planner; recorded if it fired something."""

    def fired(self, executions: int, skipped: int, ids: Sequence[str]) -> None:
        """So many fire times became executions, with these ids, and so many were skipped."""
        ...


class RequestSpan(Protocol):
    """An outgoing HTTP request."""

    def headers(self) -> Mapping[str, str]:
        """What tells the receiver which span its own belong to."""
        ...

    def answered(self, status: int) -> None:
        """The status code of the response."""
        ...


class Tracer(Protocol):
    """Starts spans."""

    def plan_step(self) -> AbstractContextManager[PlanSpan]:
        """A step of the planner."""
        ...

    def request(self, method: str, url: str) -> AbstractContextManager[RequestSpan]:
        """An HTTP request to a URL as its job has it, before secrets are filled in."""
        ...
