"""Targets: what a job calls. The executor of that kind carries it out."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.ability import call_ability
from tickwell.domain.celery import Celery
from tickwell.domain.http import Http
from tickwell.errors import InvalidJob


@dataclass(frozen=True, slots=True)
class Call:
    """A Python handler, by the name under which it was registered, never by an import path."""

    handler: str

    def __post_init__(self) -> None:
        if not isinstance(self.handler, str) or not self.handler or len(self.handler) > 255:
            raise InvalidJob(
                "a handler has a name of 1 to 255 characters",
                field="target.call.handler",
                hint='For example {"call": {"handler": "send_report"}}',
            )

    def ability_in(self, project: str) -> str:
        """What a worker must be able to do to run this for a project."""
        return call_ability(project, self.handler)


Target = Call | Celery | Http
