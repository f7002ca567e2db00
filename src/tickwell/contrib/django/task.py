"""Tasks of Django's framework that have a schedule and policies of Tickwell."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING, Any, cast

from tickwell.contrib.django.framework import InvalidTask, Task
from tickwell.declared.policies import Policies
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import Delivery, Misfire, Retry, Timeout
from tickwell.domain.trigger import Cron, Every, Trigger
from tickwell.domain.trigger.duration import Duration
from tickwell.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Policies that a task, or `OPTIONS` of the backend, may set; the framework has queue and priority.
POLICIES = (
    *(
        "retry",
        "misfire",
        "overlap",
        "concurrency",
        "rate",
        "rate_key",
        "only_if",
        "check_in",
        "unless",
        "unique_key",
        "debounce",
        "debounce_max",
        "delivery",
        "timeout",
        "expires",
        "pause_after",
    ),
    *("description", "tags"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class TickwellTask(Task):  # type: ignore[misc]
    """What `@task(cron="0 9 * * *", retry=5)` makes."""

    #: When it runs by itself: a cron expression, in the time zone `tz`.
    cron: str | None = None
    tz: str | None = None
    #: When it runs by itself: "15m", or a timedelta.
    every: Duration | None = None
    #: A policy, or how many attempts there are in all.
    retry: Retry | int | None = None
    misfire: Misfire | None = None
    overlap: Overlap | str | None = None
    concurrency: Concurrency | None = None
    rate: str | None = None
    rate_key: str | None = None
    only_if: str | Callable[..., Any] | None = None
    check_in: str | None = None
    unless: Duration | None = None
    unique_key: str | None = None
    debounce: Duration | None = None
    debounce_max: Duration | None = None
    delivery: Delivery | str | None = None
    timeout: Timeout | None = None
    expires: Duration | None = None
    pause_after: int | None = None
    description: str | None = None
    tags: tuple[str, ...] | None = None


def trigger_of(task: Any) -> Trigger | None:
    """When the task runs by itself; None: only when it is enqueued."""
    cron, every, tz = (getattr(task, name, None) for name in ("cron", "every", "tz"))
    if cron is not None and every is not None:
        raise InvalidInput("cron and every are mutually exclusive", field=task.name)
    if tz is not None and cron is None:
        raise InvalidInput("tz needs a cron expression", field=task.name)
    if cron is None and every is None:
        return None
    _require_no_arguments(task)
    if every is not None:
        return Every(every)
    return Cron(str(cron)) if tz is None else Cron(str(cron), tz=tz)


def policies_of(task: Any, options: Mapping[str, Any]) -> Policies:
    """The policies of a task's job: its own before those of the backend."""
    own = {name: getattr(task, name, None) for name in POLICIES}
    found = {**options, **{name: value for name, value in own.items() if value is not None}}
    found.setdefault("description", inspect.getdoc(task.func) or "")
    return cast("Policies", found | {"queue": task.queue_name, "priority": level(task.priority)})


def level(priority: int) -> int:
    """Tickwell's priority, 1 to 10, for Django's, -100 to 100: 0 is 5."""
    return floor(5 + priority / (20 if priority > 0 else 25) + 0.5)


def _require_no_arguments(task: Any) -> None:
    arguments = [None] if task.takes_context else []
    try:
        inspect.signature(task.func).bind(*arguments)
    except TypeError as error:
        raise InvalidTask(
            f"{task.module_path} has a schedule, which calls it without arguments: {error}. Give"
            " its parameters defaults"
        ) from None
