"""Which project may send which Celery task, by the rules of the setting `celery_tasks`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from glob import escape

#: None: a broker that is set for the engine must not let jobs start every task of the Celery app.
DEFAULT_RULES: tuple[str, ...] = ()


def is_rule(text: str) -> bool:
    """Whether it has both patterns, as "shop:shop.tasks.*"."""
    project, colon, task = text.partition(":")
    return bool(project and colon and task)


def rule_for(project: str, task: str) -> str:
    """The rule that lets a project send this one task."""
    return f"{escape(project)}:{escape(task)}"


def why_forbidden(rules: Sequence[str], project: str, task: str) -> str:
    """Why the project may not send the task, and what to do; empty: it may."""
    for rule in rules:
        whose, _, pattern = rule.partition(":")
        if fnmatchcase(project, whose) and fnmatchcase(task, pattern):
            return ""
    return (
        f"project {project!r} may not send the Celery task {task[:80]!r}."
        f' Add "{rule_for(project, task[:80])}" to the setting celery_tasks'
    )
