"""Policies of a job besides trigger and gates: retry, misfire, timeout, delivery, retention."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from math import inf
from typing import TYPE_CHECKING, Literal, cast

from tickwell.domain.coercion import (
    check_each,
    make_choice,
    make_durations,
    require_numbers,
    require_whole,
)
from tickwell.domain.trigger.duration import Duration, Millis
from tickwell.errors import InvalidJob
from tickwell.ids import spread

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
#: Former definitions of a job that are kept however old; older ones as long as its history.
KEPT_VERSIONS = 100

#: Losses after which an execution is dead, unless its job says otherwise: a budget of its own, so
#: that a neighbour that kills the process does not eat up the failure budget of the others.
LOST_BUDGET = 3
#: Attempts that were lost at once with one worker from which on none of them is blamed for it.
MANY_LOST = 10
#: Milliseconds over which attempts that were lost together are spread when they are made again;
#: after a second loss fifteen times as many.
APART = 2_000
#: How often attempts are given back uncharged before they count: released and snoozed ones like
#: failures, those that were lost in a crowd like losses. A job may allow more snoozes, or fewer.
RETURN_BUDGET = 10
#: What it may allow: each leaves an attempt in the history.
MOST_SNOOZES = 1_000
#: Nobody else than the handler itself puts the next attempt off for longer.
LONGEST_WAIT = DAY
#: Dead letters that are revived a second, unless somebody says otherwise.
REVIVAL_RATE = 50


def policy_of(name: str, raw: object) -> object:
    """The policy that a short form stands for; anything else as it was given.

    `retry=3` is three attempts, `timeout="30s"` the hard timeout, `misfire="skip"` the policy.
    """
    if name == "retry" and type(raw) is int:
        return Retry(max_attempts=raw)
    # A bare number is refused there for having no unit.
    if name == "timeout" and isinstance(raw, str | timedelta | int | float):
        return Timeout(hard=cast("Duration", raw))
    if name == "misfire" and isinstance(raw, str):
        return Misfire(policy=cast("OnMisfire", raw))
    return raw


class Backoff(StrEnum):
    """How the delay grows from one failed attempt to the next."""

    #: The same each time.
    FIXED = "fixed"
    #: `delay`, twice `delay`, three times `delay`.
    LINEAR = "linear"
    #: `delay`, then `factor` times the one before.
    EXPONENTIAL = "exponential"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """How often and when a failed attempt is followed by another: `Retry(max_attempts=5)`.

    Durations are texts with a unit, "5s", or a timedelta; the attributes are milliseconds.
    """

    #: Attempts in all, the first included.
    max_attempts: int = 3
    backoff: Backoff = Backoff.EXPONENTIAL
    #: Before the second attempt.
    delay: int = Millis(5 * SECOND)
    factor: float = 2.0
    #: No delay is longer.
    cap: int = Millis(HOUR)
    #: Each delay is moved by up to this share of itself, up or down.
    jitter: float = 0.1
    #: Nothing is tried again later than this after the fire time.
    max_age: int | None = None
    #: Attempts that may be lost with their worker, the last one being final; None: any number.
    max_losses: int | None = LOST_BUDGET
    #: Snoozes that cost nothing; those after them count as attempts.
    max_snoozes: int = RETURN_BUDGET
    #: Exceptions of a handler after which another attempt follows, subclasses included: names such
    #: as `ConnectionError` or `shop.errors.Busy`. Empty: after all of them.
    on: tuple[str, ...] = ()
    #: Exceptions of a handler after which none follows, even if `on` has them too.
    unless: tuple[str, ...] = ()

    if TYPE_CHECKING:  # what is given may be written in more ways than it is kept

        def __init__(
            self,
            *,
            max_attempts: int = ...,
            backoff: Backoff | Literal["fixed", "linear", "exponential"] = ...,
            delay: Duration = ...,
            factor: float = ...,
            cap: Duration = ...,
            jitter: float = ...,
            max_age: Duration | None = ...,
            max_losses: int | None = ...,
            max_snoozes: int = ...,
            on: Sequence[type[BaseException] | str] = ...,
            unless: Sequence[type[BaseException] | str] = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        make_durations(self, "retry", "delay", "cap", "max_age")
        make_error_names(self, "on")
        make_error_names(self, "unless")
        make_choice(self, "retry", "backoff", Backoff)
        require_whole(self, "retry", "max_attempts", "max_snoozes")
        if self.max_losses is not None:
            require_whole(self, "retry", "max_losses")
        require_numbers(self, "retry", "factor", "jitter")
        check_each(
            self._check_attempts,
            self._check_losses,
            self._check_snoozes,
            self._check_delays,
            self._check_jitter,
            self._check_factor,
        )

    def _check_attempts(self) -> None:
        if not 1 <= self.max_attempts <= 100:
            raise InvalidJob(
                f"{self.max_attempts} attempts are not between 1 and 100",
                field="retry.max_attempts",
            )

    def _check_losses(self) -> None:
        if self.max_losses is not None and not 1 <= self.max_losses <= 100:
            raise InvalidJob(
                f"{self.max_losses} losses are not between 1 and 100",
                field="retry.max_losses",
                hint="null allows any number",
            )

    def _check_snoozes(self) -> None:
        if not 0 <= self.max_snoozes <= MOST_SNOOZES:
            raise InvalidJob(
                f"{self.max_snoozes} snoozes are not between 0 and {MOST_SNOOZES:,}",
                field="retry.max_snoozes",
                hint="Snooze for longer",
            )

    def _check_delays(self) -> None:
        if self.max_age is not None and self.max_age <= 0:
            raise InvalidJob("durations are not negative", field="retry")

    def _check_jitter(self) -> None:
        if not 0 <= self.jitter <= 1:
            raise InvalidJob(
                f"{self.jitter} is not a fraction between 0 and 1",
                field="retry.jitter",
                hint="0.1 moves each delay by up to a tenth",
            )

    def _check_factor(self) -> None:
        if not 1 <= self.factor < inf:
            raise InvalidJob(
                f"{self.factor} is not a number from 1 on", field="retry.factor", hint="Use 2"
            )

    def why_not_after(self, error: BaseException) -> str:
        """Why no attempt follows this exception of a handler; empty: that is decided elsewhere."""
        if not self.on and not self.unless:
            return ""
        kinds = [names_of(type(each)) for each in leaves_of(error)]
        for names in kinds:
            if found := names.intersection(self.unless):
                return f"retry.unless has {min(found)}"
        if self.on and not any(names.intersection(self.on) for names in kinds):
            return f"retry.on does not have {type(error).__qualname__}"
        return ""

    def delay_after(self, failures: int, seed: str) -> int:
        """Milliseconds to wait after this many failures; the seed fixes the jitter."""
        steps = max(failures, 1)
        if self.backoff is Backoff.FIXED:
            delay = float(self.delay)
        elif self.backoff is Backoff.LINEAR:
            delay = float(self.delay * steps)
        else:
            delay = self.delay * _power(self.factor, steps - 1)
        delay = min(delay, self.cap)
        reach = delay * self.jitter
        if reach >= 1:
            delay += spread(f"{seed}:{failures}", 2 * int(reach) + 1) - int(reach)
        return int(min(delay, self.cap))


#: Names of exceptions that one policy may have.
MOST_NAMES = 50


def make_error_names(retry: Retry, field: str) -> None:
    """Exceptions come as classes or as names, and are kept as names: a document has no classes."""
    raw: object = getattr(retry, field)
    if not raw and isinstance(raw, tuple):
        return
    if not isinstance(raw, tuple | list) or len(raw) > MOST_NAMES:
        raise InvalidJob(
            f"must be a list of up to {MOST_NAMES} exceptions; got {raw!r:.80}",
            field=f"retry.{field}",
            hint=f"For example {field}=(ConnectionError, TimeoutError)",
        )
    names = tuple(dict.fromkeys(_error_name(each, field) for each in raw))
    object.__setattr__(retry, field, names)


def _error_name(raw: object, field: str) -> str:
    if isinstance(raw, type) and issubclass(raw, BaseException):
        return min(_own_names(raw), key=len)
    if isinstance(raw, str) and _NAME.fullmatch(raw):
        return raw
    raise InvalidJob(
        f"{raw!r:.80} is not an exception",
        field=f"retry.{field}",
        hint="Use a class, or its name: ConnectionError, shop.errors.Busy",
    )


_NAME = re.compile(r"[^\W\d][\w.<>]{0,254}")


def _own_names(kind: type) -> set[str]:
    """The qualified name of a class; of a built-in one also its bare name."""
    names = {f"{kind.__module__}.{kind.__qualname__}"}
    return names | {kind.__qualname__} if kind.__module__ == "builtins" else names


def names_of(kind: type) -> set[str]:
    """The names of a class and of all that it derives from."""
    return {name for each in kind.__mro__ for name in _own_names(each)}


def leaves_of(error: BaseException) -> list[BaseException]:
    """The exceptions of a group, or the one that is none."""
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for each in error.exceptions for leaf in leaves_of(each)]


def _power(factor: float, steps: int) -> float:
    try:
        return factor**steps
    except OverflowError:
        # Any cap is reached long before: 64 doublings of a millisecond are 500 million years.
        return float(1 << 64)


class OnMisfire(StrEnum):
    """What happens to fire times that no process could act on."""

    #: None of them runs.
    SKIP = "skip"
    #: The newest one runs.
    LATEST = "latest"
    #: The newest `cap` inside the catch-up window run.
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfire:
    """What happens to fire times that were missed in an outage.

    Durations are texts with a unit, "1h", or a timedelta; the attributes are milliseconds.
    """

    policy: OnMisfire = OnMisfire.LATEST
    #: A fire time no older than this is on time.
    grace: int = Millis(10 * SECOND)
    #: `all` looks back this far.
    catchup_window: int = Millis(DAY)
    #: `all` runs at most this many.
    cap: int = 100

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            policy: OnMisfire | Literal["skip", "latest", "all"] = ...,
            grace: Duration = ...,
            catchup_window: Duration = ...,
            cap: int = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        make_durations(self, "misfire", "grace", "catchup_window")
        make_choice(self, "misfire", "policy", OnMisfire)
        require_whole(self, "misfire", "cap")
        if self.grace < 0 or self.catchup_window < 0:
            raise InvalidJob("durations are not negative", field="misfire")
        if not 1 <= self.cap <= 1000:
            raise InvalidJob(f"{self.cap} is not between 1 and 1000", field="misfire.cap")


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeout:
    """How long an attempt may take: `Timeout(soft="50s", hard="60s")`; kept as milliseconds."""

    #: The handler is asked to stop; not given: nine tenths of the hard timeout.
    soft: int = cast("int", None)
    #: The attempt ends as timed out, whatever the handler does.
    hard: int = Millis(300 * SECOND)

    if TYPE_CHECKING:

        def __init__(self, *, soft: Duration = ..., hard: Duration = ...) -> None: ...

    def __post_init__(self) -> None:
        make_durations(self, "timeout", "hard")
        if cast("int | None", self.soft) is None:
            object.__setattr__(self, "soft", Millis(max(self.hard * 9 // 10, 1)))
        make_durations(self, "timeout", "soft")
        if not 0 < self.soft <= self.hard:
            raise InvalidJob(
                "the soft timeout is positive and not longer than the hard one",
                field="timeout",
                hint="For example soft 270 s, hard 300 s",
            )


class Delivery(StrEnum):
    """What an unknown outcome means."""

    #: It is tried again.
    AT_LEAST_ONCE = "at_least_once"
    #: Once started, any outcome is final.
    AT_MOST_ONCE = "at_most_once"


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long ended executions are kept: `Retention(age="7d")`; kept as milliseconds."""

    age: int = Millis(30 * DAY)
    count: int = 1000
    dead: int = Millis(90 * DAY)

    if TYPE_CHECKING:

        def __init__(
            self, *, age: Duration = ..., count: int = ..., dead: Duration = ...
        ) -> None: ...

    def __post_init__(self) -> None:
        make_durations(self, "retention", "age", "dead")
        require_whole(self, "retention", "count")
        for name in ("age", "count", "dead"):
            if getattr(self, name) < 0:
                raise InvalidJob("retention is not negative", field=f"retention.{name}")
