"""Triggers that applications define, known by a name in job documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from itertools import islice, pairwise
from math import isfinite
from typing import Any, ClassVar, dataclass_transform

from tickwell.clock import NEVER, to_datetime, to_millis, to_millis_from
from tickwell.domain.naming import is_name
from tickwell.domain.trigger.trigger import TRIED_FROM, Trigger, fill
from tickwell.domain.trigger.work import is_tried
from tickwell.errors import InvalidTrigger

_known: dict[str, type[CustomTrigger]] = {}
#: The first instant that a datetime in any zone can hold: 2 January of the year 1.
_FIRST = to_millis(datetime(1, 1, 2, tzinfo=UTC))
#: Fires that are looked at to tell how dense they are.
_SAMPLE = 64
_DAY, _MINUTE = 86_400_000, 60_000
_LONGEST = 1000


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class CustomTrigger(Trigger):
    """Base class of an application's own triggers. Annotated fields are the arguments.

        class Sunrise(CustomTrigger, name="sunrise"):
            latitude: float

            def next_fire(self, after: datetime) -> datetime | None: ...

    A subclass is a frozen dataclass, registered under its name when it is defined. Its arguments
    are strings, numbers, booleans, None, or lists of these.
    """

    #: The name in job documents.
    registered_as: ClassVar[str] = ""

    def __init_subclass__(cls, *, name: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        dataclass(frozen=True, kw_only=True)(cls)
        if not name:
            return
        known = _known.get(name)
        if not isinstance(name, str) or not is_name(name):
            raise InvalidTrigger(f"{name!r} cannot be the name of a trigger", field="name")
        if known is not None and _place(known) != _place(cls):
            reason = f"a trigger named {name!r} is defined in {known.__module__} already"
            raise InvalidTrigger(reason, field="name", hint="Choose another name")
        cls.registered_as = name
        _known[name] = cls

    def __post_init__(self) -> None:
        if not self.registered_as:
            hint = f'For example: class {type(self).__name__}(CustomTrigger, name="sunrise")'
            raise InvalidTrigger("the class has no name", field="custom.name", hint=hint)
        # a class without slots does not set the default of a slot
        plain = {each: _plain(getattr(self, each), each) for each in _arguments(type(self))}
        fill(self, _limits=None, **plain)
        try:
            self.check()
        except InvalidTrigger:
            raise
        except (TypeError, ValueError) as error:
            raise InvalidTrigger(str(error), field="custom.args") from error
        if not is_tried():
            self._try()
        Trigger.__post_init__(self)

    @abstractmethod
    def next_fire(self, after: datetime) -> datetime | None:
        """The first fire time strictly later than an instant in UTC; None: there is no other.

        It must be a pure function of its arguments: every process asks it, more than once.
        """

    def check(self) -> None:
        """Raise ValueError for arguments that cannot work."""

    def in_words(self) -> str:
        """What the trigger does, for people."""
        arguments = ", ".join(f"{name} {value}" for name, value in self.arguments.items())
        return f"{self.registered_as} ({arguments})" if arguments else self.registered_as

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments as JSON, by name; those that have their default are left out."""
        own = ((each, getattr(self, each.name)) for each in fields(self))
        names = _arguments(type(self))
        return {
            each.name: [*value] if isinstance(value, tuple) else value
            for each, value in own
            if each.name in names and value != each.default
        }

    def busiest(self) -> tuple[int, int]:
        """As dense as its first fires since 2024 are."""
        fires = [*islice(self.between(TRIED_FROM, NEVER), _SAMPLE)]
        least = min((later - one for one, later in pairwise(fires)), default=_DAY)
        return -(-_DAY // least), -(-_MINUTE // least)

    @property
    def _toil(self) -> int:
        return 25

    def _nominal(self, instant: int) -> int | None:
        instant = max(instant, _FIRST)
        if instant >= NEVER:
            return None
        after = to_datetime(instant)
        found = self.next_fire(after)
        if found is None:
            return None
        if not isinstance(found, datetime) or found.utcoffset() is None:
            raise self._broken(f"returned {found!r} and not a datetime with a time zone")
        fire = to_millis_from(found)  # cut off, it would be found again and again
        if fire <= instant:
            raise self._broken(f"returned {found}, which is not later than {after}")
        return fire

    def _try(self) -> None:
        """Refuse what never fires, and answers that depend on more than the question."""
        try:
            first = self._nominal(TRIED_FROM)
            again = None if first is None else self._nominal(first - 1)
        except InvalidTrigger:
            raise
        except Exception as error:
            raise self._broken(f"failed: {type(error).__name__}: {error}") from error
        if first is None:
            raise self._broken("never fires from 2024 on")
        if first != again or first != self._nominal(TRIED_FROM):
            hint = "Compute it from the arguments only, and read no clock"
            raise self._broken("gives different answers when it is asked again", hint)

    def _broken(self, reason: str, hint: str = "") -> InvalidTrigger:
        hint = hint or f"Change next_fire of {type(self).__qualname__}, or its arguments"
        return InvalidTrigger(f"{self.registered_as} {reason}", field="custom", hint=hint)

    def _rule_in_words(self) -> str:
        return self.in_words()


def custom_trigger(name: str, arguments: Mapping[str, Any], common: Mapping[str, Any]) -> Trigger:
    """The trigger of a registered class."""
    kind = _known.get(name)
    if kind is None:
        raise InvalidTrigger(
            f"this process knows no trigger {name[:100]!r}",
            field="custom.name",
            hint="Import the module that defines the class, in each process that plans the job",
        )
    allowed = _arguments(kind)
    for each in arguments:
        if each not in allowed:
            hint = f"The arguments are {', '.join(allowed)}" if allowed else "It has none"
            raise InvalidTrigger("unknown argument", field=f"custom.args.{each[:64]}", hint=hint)
    try:
        return kind(**arguments, **common)
    except TypeError as error:
        raise InvalidTrigger(str(error), field="custom.args") from None


def _arguments(kind: type[CustomTrigger]) -> tuple[str, ...]:
    common = {each.name for each in fields(Trigger)}
    return tuple(each.name for each in fields(kind) if each.name not in common)


def _place(kind: type) -> tuple[str, str]:
    return kind.__module__, kind.__qualname__


def _plain(value: object, name: str) -> object:
    """A value that JSON gives back as it is; a list as a tuple."""
    several = value if isinstance(value, list | tuple) else (value,)
    if len(several) > _LONGEST or not all(
        isinstance(each, str | int | None) or (isinstance(each, float) and isfinite(each))
        for each in several
    ):
        reason = f"must be a string, number, boolean, null or a list of up to {_LONGEST} of these"
        raise InvalidTrigger(reason, field=f"custom.args.{name}")
    return tuple(value) if isinstance(value, list) else value
