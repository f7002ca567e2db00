"""The six fields of a cron expression: what each may hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from tickwell.errors import InvalidTrigger


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Field:
    """One field: its bounds, its names, and an example for its error message."""

    name: str
    low: int
    high: int
    #: How many distinct values there are; a longer step could never take a second one.
    size: int
    example: str
    #: The names of the values, from the lowest on.
    names: tuple[str, ...] = ()
    #: The highest value that a bare `H` takes: every month has a 28th.
    hash_high: int

    def refuse(self, reason: str, example: str = "") -> NoReturn:
        """Say what is wrong with this field, and what would do."""
        raise InvalidTrigger(
            f"{self.name} {reason}",
            field=f"cron.{self.name}",
            hint=f"For example: {example or self.example}",
        )

    @property
    def last(self) -> int:
        """The highest value that is no second name of another, as weekday 7 is."""
        return self.low + self.size - 1

    def values(self, low: int, high: int) -> list[int]:
        """The values from one to another, past the end of the field where that is smaller."""
        if low <= high:
            return list(range(low, high + 1))
        return [*range(low, self.last + 1), *range(self.low, high + 1)]

    def value(self, text: str) -> int:
        """The number that a figure or a name stands for."""
        if text.isdecimal():
            number = int(text)
            if not self.low <= number <= self.high:
                self.refuse(f"{text} is outside {self.low}-{self.high}")
            return number
        if not text:
            self.refuse("has a value missing")
        if text not in self.names:
            known = f"; the names are {', '.join(self.names)}" if self.names else ""
            self.refuse(f"cannot be {text!r}{known}")
        return self.low + self.names.index(text)


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec"
_WEEKDAYS = "sun mon tue wed thu fri sat"

SECOND = Field(name="second", low=0, high=59, size=60, example="*/10", hash_high=59)
MINUTE = Field(name="minute", low=0, high=59, size=60, example="*/5", hash_high=59)
HOUR = Field(name="hour", low=0, high=23, size=24, example="9-17", hash_high=23)
DAY = Field(name="day-of-month", low=1, high=31, size=31, example="1,15", hash_high=28)
MONTH = Field(
    name="month",
    low=1,
    high=12,
    size=12,
    example="jan,jul",
    names=tuple(_MONTHS.split()),
    hash_high=12,
)
WEEKDAY = Field(
    name="day-of-week",
    low=0,
    high=7,
    size=7,
    example="mon-fri",
    names=tuple(_WEEKDAYS.split()),
    hash_high=6,
)

FIELDS = (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY)
