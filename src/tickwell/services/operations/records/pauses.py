"""Shapes of the pauses of a project and of everything."""

from __future__ import annotations

from tickwell.services.operations.records.job import Pause
from tickwell.services.operations.schema import Output, field


class Pauses(Output):
    """The pauses that the project is under."""

    project: Pause | None = field(description="Its own; null: it is not paused by itself.")
    platform: Pause | None = field(description="That of all projects; null: there is none.")


class PausesChanged(Pauses):
    """The pauses that the project is under now, and what became of executions."""

    withdrawn: int = field(description="Executions taken back before a worker claimed them.")
    cancelling: int = field(description="Executions that workers hold, asked to give up.")
