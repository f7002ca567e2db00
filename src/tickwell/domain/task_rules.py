"""Which project may send which Celery task, by the rules of the setting `celery_tasks`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

#: Embedded, all jobs are in the project "default" and by the same people as the code.
DEFAULT_RULES = ("default:*",)


def is_rule(text: str) -> bool:
    """Whether it has both patterns, as "shop:shop.tasks.*"."""
    project, colon, task = text.partition(":")
    return bool(project and colon and task)


def why_forbidden(rules: Sequence[str], project: str, task: str) -> str:
    """Why the project may not send the task, and what to do; empty: it may."""
    for rule in rules:
        whose, _, pattern = rule.partition(":")
        if fnmatchcase(project, whose) and fnmatchcase(task, pattern):
            return ""
    return (
        f"project {project!r} may not send the Celery task {task[:80]!r}."
        f' Add "{project}:{task[:80]}" to the setting celery_tasks'
    )
