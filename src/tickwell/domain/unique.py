"""Uniqueness: a request that finds the same run makes none; debounce: the newest request wins.

The same run is one of the same job with the same arguments, requested under such a rule as well.
Scheduled fires have their slots and their overlap rule: they find nothing, and are not found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from tickwell.domain.key_template import check_template, fill_template
from tickwell.domain.trigger.duration import Duration, format_duration, parse_duration
from tickwell.errors import InvalidInput, InvalidJob, InvalidTrigger

if TYPE_CHECKING:
    from tickwell.domain.execution import NewExecution
    from tickwell.domain.job import Job

#: What a request asks for unless the same run is pending, or is live at all; or asks for anyway.
PENDING, RUNNING, NEVER = "pending", "running", "never"
#: Milliseconds of a debounce: a worker claims what is due half a second ahead.
SHORTEST_DEBOUNCE, LONGEST_DEBOUNCE = 1_000, 31 * 86_400_000
#: Milliseconds of a duration, which looks at history.
LONGEST_WITHIN = 366 * 86_400_000

_WORDS = (PENDING, RUNNING, NEVER)
_UNLESS = 'Give "pending", "running", or a duration such as "24h"'


@dataclass(frozen=True, slots=True, kw_only=True)
class Uniqueness:
    """What a job, or a single request, says of requests for the same run."""

    #: "pending", "running", "never", or a duration: "24h".
    unless: str | None = None
    #: What makes two runs the same, in place of the whole payload: "{payload.customer}".
    unique_key: str | None = None
    #: Milliseconds that a run is put off by each request for it.
    debounce: int | None = None
    #: Milliseconds after the first of these requests at which it starts whatever comes.
    debounce_max: int | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            unless: Duration | None = ...,
            unique_key: str | None = ...,
            debounce: Duration | int | None = ...,
            debounce_max: Duration | int | None = ...,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.unless is not None:
            object.__setattr__(self, "unless", _make_unless(self.unless))
        for name in ("debounce", "debounce_max"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _make_debounce(getattr(self, name), name))
        self._check_together()
        if self.unique_key is not None:
            check_template(self.unique_key, "unique_key")

    def _check_together(self) -> None:
        if self.unless is not None and self.debounce is not None:
            raise InvalidJob(
                "a run is refused or replaced by a later request for the same, not both",
                field="debounce",
                hint="Leave out `unless` or `debounce`",
            )
        if self.debounce_max is not None and self.debounce is None:
            raise InvalidJob("needs a debounce", field="debounce_max", hint='Add debounce="30s"')
        if self.debounce_max is not None and self.debounce_max < (self.debounce or 0):
            raise InvalidJob(
                "is shorter than the debounce itself",
                field="debounce_max",
                hint="Set it to a multiple of `debounce`",
            )
        if self.unique_key is not None and self.unless is None and self.debounce is None:
            raise InvalidJob(
                "needs `unless` or `debounce`", field="unique_key", hint='Add unless="pending"'
            )

    @property
    def within(self) -> int:
        """Milliseconds for which a run that was requested counts, however it ended."""
        return 0 if self.unless in {None, *_WORDS} else parse_duration(self.unless or "")


@dataclass(frozen=True, slots=True)
class Unique:
    """Which runs of its job are the same as a requested one, and what follows if one is there."""

    #: What the same runs have in common; those that are debounced are never found by others.
    name: str
    #: Pending ones count; running ones do.
    pending: bool = False
    running: bool = False
    #: Milliseconds for which one that was requested counts, however it ended.
    within: int = 0
    #: It is replaced if it is pending and was not tried.
    debounced: bool = False
    #: Milliseconds after the first request at which it is due whatever comes.
    most: int | None = None

    def answer(self, found: Iterable[Same], now: int) -> Same | None:
        """The newest of these runs that answers the request, if one does."""
        return max((one for one in found if self._is_answer(one, now)), default=None)

    def _is_answer(self, one: Same, now: int) -> bool:
        if self.debounced:
            return one.is_untried
        is_live = (one.is_pending and self.pending) or (one.is_running and self.running)
        return is_live or (self.within > 0 and now - one.requested_at < self.within)

    def due(self, run_at: int, requested_at: int) -> int:
        """When a run that was first requested then is due, if the last request says `run_at`."""
        return run_at if self.most is None else min(run_at, requested_at + self.most)


class Same(NamedTuple):
    """A run with the name that a request looks for; the newest is the greatest."""

    requested_at: int
    id: str
    is_pending: bool
    is_running: bool
    #: Pending, and no attempt has started.
    is_untried: bool


def uniqueness(options: Mapping[str, Any]) -> Uniqueness | None:
    """What a request says; None: nothing."""
    said = {name: value for name, value in options.items() if value is not None}
    return Uniqueness(**said) if said else None


def uniqueness_of(job: Job, call: Uniqueness | None) -> Uniqueness | None:
    """What a request says of itself, or else its job; the job's key and maximum hold for both."""
    if call is not None and (call.unless is not None or call.debounce is not None):
        added = dict[str, Any]()
        if call.unique_key is None and job.unique_key is not None:
            added["unique_key"] = job.unique_key
        if call.debounce is not None and call.debounce_max is None and job.debounce_max is not None:
            added["debounce_max"] = max(job.debounce_max, call.debounce)
        return replace(call, **added) if added else call
    if job.unless is None and job.debounce is None:
        return None
    return Uniqueness(
        unless=job.unless,
        unique_key=job.unique_key,
        debounce=job.debounce,
        debounce_max=job.debounce_max,
    )


def ruled(new: NewExecution, rule: Uniqueness, now: int, *, at_once: bool = True) -> NewExecution:
    """The request by this rule; debounced it is due later, and has no key: a repeated one is new.

    Refused is one that says itself when it is due, if more of them would put it off.
    """
    new.unique = unique_of(new.job, new.payload, rule)
    if rule.debounce is None:
        return new
    if not at_once:
        raise InvalidInput(
            "a debounced run starts when no more requests come",
            field="debounce",
            hint='Leave out the time, or request it with unless="never"',
        )
    later = now + rule.debounce - new.run_at
    return replace(
        new,
        fire_time=new.fire_time + later,
        run_at=new.run_at + later,
        rank=new.rank + later,
        key=None,
    )


def unique_of(job: Job, payload: Any, rule: Uniqueness) -> Unique:
    """The rule for a run with this payload; None is the job's own."""
    same = _same(job, payload, rule.unique_key)
    if rule.debounce is not None:
        return Unique(f"~{same}", debounced=True, most=rule.debounce_max)
    within = rule.within
    running = rule.unless == RUNNING or within > 0
    return Unique(f"={same}", running or rule.unless == PENDING, running, within)


def _same(job: Job, payload: Any, key: str | None) -> str:
    """A hash of the arguments, or of the key that is made of them."""
    given = job.payload if payload is None else payload
    text = f"key/{fill_template(key, job, given)}" if key is not None else _canonical(given)
    return blake2b(text.encode(errors="replace"), digest_size=16).hexdigest()


def _canonical(payload: Any) -> str:
    return json.dumps(payload, sort_keys=True, separators=(",", ":"))


def _make_unless(given: object) -> str:
    if isinstance(given, str) and given.strip() in _WORDS:
        return given.strip()
    if not isinstance(given, str | timedelta):
        raise InvalidJob(f"{given!r:.80} is not a text", field="unless", hint=_UNLESS)
    try:
        millis = parse_duration(given, field="unless")
    except InvalidTrigger as error:
        raise InvalidJob(error.reason, field="unless", hint=_UNLESS) from None
    if not 0 < millis <= LONGEST_WITHIN:
        raise InvalidJob(
            f"{format_duration(millis)} is not between 1ms and 366d", field="unless", hint=_UNLESS
        )
    return format_duration(millis)


def _make_debounce(given: Any, name: str) -> int:
    try:
        millis = parse_duration(given, field=name)
    except InvalidTrigger as error:
        raise InvalidJob(error.reason, field=name, hint=error.hint) from None
    if not SHORTEST_DEBOUNCE <= millis <= LONGEST_DEBOUNCE:
        raise InvalidJob(
            f"{format_duration(millis)} is not between 1s and 31d",
            field=name,
            hint='For example debounce="30s", debounce_max="5m"',
        )
    return millis
