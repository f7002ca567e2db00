"""Pauses of a whole project, and of everything: one record each, which every job follows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tickwell.domain.job import Pause, PauseScope

#: The kind of the records, which belong to the platform, under the name of the project.
PROJECT_PAUSE_KIND = "project_pause"
#: Milliseconds for which processes may still act by what they read before a pause began or ended.
SETTLES = 15_000
#: The key of the pause of all projects. No project can have this name.
EVERYTHING = "*"


class Phase(StrEnum):
    """How far a pause has come; any process completes what another one began."""

    #: In force, while its jobs are being paused.
    STARTING = "starting"
    #: In force, and written into its jobs.
    ON = "on"
    #: No longer in force, while its jobs are being resumed.
    ENDING = "ending"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectPause:
    """A pause of one project, or of all."""

    #: `EVERYTHING` for all of them.
    project: str
    #: As its jobs have it.
    pause: Pause
    phase: Phase = Phase.STARTING
    #: When a person ended it.
    ended_at: int | None = None

    @property
    def changed_at(self) -> int:
        """When it began, or was ended."""
        return self.pause.since if self.ended_at is None else self.ended_at

    def covers(self, project: str, now: int) -> bool:
        """Whether the jobs of the project are paused by it."""
        in_force = self.phase is not Phase.ENDING and self.pause.lasts(now)
        return in_force and self.project in {EVERYTHING, project}


def scope_of(project: str) -> PauseScope:
    """The scope of a pause under this key."""
    return PauseScope.PLATFORM if project == EVERYTHING else PauseScope.PROJECT


def covering(pauses: Iterable[ProjectPause], project: str, now: int) -> Pause | None:
    """The pause that the jobs of a project follow: that of everything before their project's."""
    found = {each.project: each.pause for each in pauses if each.covers(project, now)}
    return found.get(EVERYTHING, found.get(project))


def to_document(pause: ProjectPause) -> dict[str, Any]:
    """As the record keeps it, under its project."""
    note = pause.pause
    return {
        "by": note.by,
        "why": note.why,
        "since": note.since,
        "until": note.until,
        "phase": pause.phase.value,
        "ended_at": pause.ended_at,
    }


def from_document(project: str, document: dict[str, Any]) -> ProjectPause:
    """The pause of a record."""
    fields = dict(document)
    phase, ended_at = Phase(fields.pop("phase")), fields.pop("ended_at")
    pause = Pause(**fields, scope=scope_of(project))
    return ProjectPause(project=project, pause=pause, phase=phase, ended_at=ended_at)
