"""Targets: what a job calls. The executor of that kind carries it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape

from tickwell.domain.ability import call_ability
from tickwell.domain.celery import Celery
from tickwell.domain.external import External
from tickwell.domain.http import Http
from tickwell.errors import InvalidJob

#: None: a broker that is set for the engine must not let jobs start every task of the Celery app.
DEFAULT_RULES: tuple[str, ...] = ()


def is_rule(text: str) -> bool:
    """Whether it has both patterns, as "shop:shop.tasks.*"."""
    project, colon, task = text.partition(":")
    return bool(project and colon and task)


def rule_for(project: str, task: str) -> str:
    """The rule that lets a project send this one task."""
    return f"{escape(project)}:{escape(task)}"


def is_allowed(rules: Sequence[str], project: str, name: str) -> bool:
    """Whether one of the rules is for the project and for this task, or host."""
    for rule in rules:
        whose, _, pattern = rule.partition(":")
        if fnmatchcase(project, whose) and fnmatchcase(name, pattern):
            return True
    return False


def why_forbidden(rules: Sequence[str], project: str, task: str) -> str:
    """Why the project may not send the task, and what to do; empty: it may."""
    if is_allowed(rules, project, task):
        return ""
    return (
        f"project {project!r} may not send the Celery task {task[:80]!r}."
        f' Add "{rule_for(project, task[:80])}" to the setting celery_tasks'
    )


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


Target = Call | Celery | External | Http
