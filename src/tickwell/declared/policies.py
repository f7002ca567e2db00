"""The policies that a declaration may set: the fields of a job, as people write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.key_template import placeholders
from tickwell.domain.policy import Delivery, Misfire, Retention, Retry, Timeout
from tickwell.domain.trigger.duration import Duration
from tickwell.errors import InvalidJob

if TYPE_CHECKING:
    from tickwell.domain.job import Job
    from tickwell.executors.handlers import Handler


class UniqueOptions(TypedDict, total=False):
    """What a request says of others for the same run; it goes before what its job says."""

    #: No run is made while the same one is live so, or was requested within a duration.
    unless: Literal["pending", "running", "never"] | Duration | None
    #: What makes two runs the same, in place of all arguments: "{payload.customer}".
    unique_key: str | None
    #: Each request puts the same run off, and the newest payload wins.
    debounce: Duration | None
    debounce_max: Duration | None


class RequestOptions(UniqueOptions, total=False):
    """What all requests of a declared function say."""

    key: str | None


class Policies(UniqueOptions, total=False):
    """What a job may be given besides its name, trigger and target."""

    #: The zone of a trigger that names none.
    tz: str
    queue: str
    payload: Any
    priority: int
    #: A number is that many attempts.
    retry: Retry | int
    #: A word is its policy.
    misfire: Misfire | Literal["skip", "latest", "all"]
    overlap: Overlap | Literal["skip", "queue_one", "queue_all", "cancel_running", "allow"]
    concurrency: Concurrency | None
    #: At most so many starts in any period: "100/1m".
    rate: str | None
    rate_key: str | None
    #: Asked before a fire runs: a function, the name of a handler, or a URL.
    only_if: str | Callable[..., Any] | None
    #: Told of starts and ends: a URL as of healthchecks.io, or a DSN of Sentry.
    check_in: str | None
    delivery: Delivery | Literal["at_least_once", "at_most_once"]
    #: A duration is the hard timeout.
    timeout: Timeout | Duration
    expires: Duration | None
    pause_after: int | None
    auto_remove: bool
    dedupe_key: str | None
    retention: Retention
    description: str
    tags: tuple[str, ...] | list[str]


#: What other schedulers call a policy.
_ELSEWHERE = {
    "max_instances": "overlap",
    "coalesce": "misfire",
    "misfire_grace_time": "misfire",
    "timezone": "tz",
    "args": "payload",
    "kwargs": "payload",
    "max_retries": "retry",
    "autoretry_for": "retry",
    "rate_limit": "rate",
    "time_limit": "timeout",
    "soft_time_limit": "timeout",
    "next_run_time": "trigger",
    "id": "name",
}
#: What they take beside the kind of a trigger.
_OF_TRIGGERS = {"seconds", "minutes", "hours", "days", "second", "minute", "hour", "day_of_week"}


def check_policies(names: Iterable[str]) -> None:
    """Name the policy that does not exist, and the one that was probably meant."""
    known = list(Policies.__annotations__)
    for policy in names:
        if policy not in known:
            raise InvalidJob("is not a policy of a job", field=policy, hint=_hint(policy, known))


def _hint(policy: str, known: list[str]) -> str:
    if policy in _OF_TRIGGERS:
        return 'It belongs to the trigger: Every("5m") or Cron("0 9 * * mon-fri")'
    near = [_ELSEWHERE[policy]] if policy in _ELSEWHERE else get_close_matches(policy, known, n=1)
    return f"Did you mean {near[0]}?" if near else f"Expected one of {', '.join(known)}"


def check_keys(job: Job, handler: Handler) -> None:
    """Refuse a key that names what the payload cannot have: all runs would have the same key."""
    limit = None if job.concurrency is None else job.concurrency.key
    keys = {"concurrency.key": limit, "rate_key": job.rate_key, "unique_key": job.unique_key}
    for field, key in keys.items():
        for placeholder in placeholders(key or ""):
            where, _, rest = placeholder.partition(".")
            if where == "payload":
                _check_parameter(rest.partition(".")[0], handler, field)
            elif field == "concurrency.key":
                raise InvalidJob(
                    f"{placeholder!r} is not a field of the payload",
                    field=field,
                    hint='For example "customer-{payload.customer}"',
                )


def _check_parameter(name: str, handler: Handler, field: str) -> None:
    if handler.may_name(name):
        return
    near = get_close_matches(name, handler.signature.parameters, n=1)
    hint = f"Did you mean {{payload.{near[0]}}}?" if near else handler.parameters_in_words
    raise InvalidJob(f"handler {handler.name!r} has no parameter {name!r}", field=field, hint=hint)
