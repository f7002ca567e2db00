"""The policies that a declaration may set: the fields of a job, as people write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Any, Literal, TypedDict

from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import Delivery, Misfire, Retention, Retry, Timeout
from tickwell.domain.trigger.duration import Duration
from tickwell.errors import InvalidJob


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


def check_policies(names: Iterable[str]) -> None:
    """Name the policy that does not exist, and the one that was probably meant."""
    known = list(Policies.__annotations__)
    for policy in names:
        if policy not in known:
            near = get_close_matches(policy, known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(known)}"
            raise InvalidJob("is not a policy of a job", field=policy, hint=hint)
