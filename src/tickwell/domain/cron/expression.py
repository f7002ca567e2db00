"""An expression taken apart: aliases, field count, items."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tickwell.domain.cron.field import FIELDS
from tickwell.domain.cron.item import Item, read_items
from tickwell.errors import InvalidTrigger

LONGEST = 256

ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_EXAMPLE = "For example: 0 9 * * mon-fri"
#: A path or an address: part of the command that a line of a crontab has after its fields.
_COMMAND = re.compile(r"^[./~\[$]|/[A-Za-z_/]")
_ZONE = re.compile(r"(?:CRON_)?TZ=(\S+)", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20|21)[0-9]{2}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Expression:
    """What the six fields say, seconds first."""

    #: The text of each field.
    texts: tuple[str, ...]
    #: The items of each field.
    items: tuple[tuple[Item, ...], ...]
    #: Whether a day must match both day fields, where another rule than Vixie's applies.
    requires_both: bool | None = None
    #: The years in which it fires; None: in all.
    years: frozenset[int] | None = None
    #: Whether it was written in another dialect than cron's.
    is_translated: bool = False

    @property
    def both_days(self) -> bool:
        """Whether a day must match both day fields; Vixie: if either begins with a star."""
        if self.requires_both is not None:
            return self.requires_both
        return self.any_day or self.any_weekday

    @property
    def any_day(self) -> bool:
        """Whether the day-of-month begins with a star, and so does not restrict by Vixie's rule."""
        return self.texts[3][0] in "*?"

    @property
    def any_weekday(self) -> bool:
        """Whether the weekday begins with a star, and so does not restrict by Vixie's rule."""
        return self.texts[5][0] in "*?"

    @property
    def fixed_time(self) -> bool:
        """Whether this names times of day, as Debian cron tells: no star before the day fields.

        The others follow elapsed time through a change of the clocks.
        """
        return not any(text.startswith("*") for text in self.texts[:3])


def words(text: object) -> list[str]:
    """The fields of an expression in any dialect; refused before any real work."""
    if not isinstance(text, str):
        raise InvalidTrigger("a cron expression is a string", field="cron", hint=_EXAMPLE)
    if len(text) > LONGEST:
        reason = f"the expression has {len(text)} characters, {LONGEST} at most are taken"
        raise InvalidTrigger(reason, field="cron", hint="Split it into several with any_of")
    text = text.replace("\t", " ")
    if not (text.isascii() and text.isprintable()):
        reason = "the expression holds a control or non-ASCII character"
        raise InvalidTrigger(reason, field="cron", hint=_EXAMPLE)
    fields = text.split()
    if not fields:
        raise InvalidTrigger("the expression is empty", field="cron", hint=_EXAMPLE)
    if zone := _ZONE.fullmatch(fields[0]):
        raise InvalidTrigger(
            f"the expression begins with {fields[0]}; the time zone is a field of its own",
            field="cron",
            hint=f'Write "{" ".join(fields[1:])}" with tz="{zone[1]}"',
        )
    return fields


def split(text: object) -> list[str]:
    """The fields of an expression, five, six or seven, aliases replaced."""
    fields = words(text)
    end = 1 if fields[0].lower() in ALIASES else 5
    if any(map(_COMMAND.search, fields[end:])):
        times, command = " ".join(fields[:end]), " ".join(fields[end:])
        reason = f"the expression goes on with {command[:60]!r} after {times}"
        hint = "Leave the command out: it belongs to the job that this trigger fires"
        raise InvalidTrigger(reason, field="cron", hint=hint)
    if fields[0].startswith("@"):
        fields = _alias(fields)
    if len(fields) not in (5, 6, 7):
        reason = (
            f"the expression has {len(fields)} fields, not 5, or 6 with seconds first,"
            " or 7 with the year last"
        )
        raise InvalidTrigger(reason, field="cron", hint=_EXAMPLE)
    if len(fields) == 7 and "?" in (fields[3], fields[5]):
        reason = "the expression has a year and a ?, as those of Quartz have"
        hint = 'For Quartz, use dialect="quartz"; in cron write * instead of ?'
        raise InvalidTrigger(reason, field="cron", hint=hint)
    if len(fields) == 6 and _YEAR.match(fields[5]):
        raise InvalidTrigger(
            f"the last of 6 fields is {fields[5]}, a year; with 6 fields the first is seconds,"
            " the last is day-of-week",
            field="cron.day-of-week",
            hint=f'Write 7 fields: 0 {" ".join(fields)}; for EventBridge, use dialect="aws"',
        )
    return fields


def read(
    fields: Sequence[str],
    *,
    requires_both: bool | None = None,
    years: frozenset[int] | None = None,
    is_translated: bool = False,
) -> Expression:
    """The expression that five or six fields make."""
    texts = tuple(fields) if len(fields) == 6 else ("0", *fields)
    items = tuple(read_items(field, text) for field, text in zip(FIELDS, texts, strict=True))
    return Expression(
        texts=texts,
        items=items,
        requires_both=requires_both,
        years=years,
        is_translated=is_translated,
    )


def _alias(fields: list[str]) -> list[str]:
    name = fields[0].lower()
    if name == "@every":
        hint = 'Use Every(\'5m\'), in a document {"every": "5m"}'
        raise InvalidTrigger(
            "@every is an interval, not a cron expression", field="cron", hint=hint
        )
    if name == "@reboot":
        reason = "@reboot is an event, not a time that all processes compute alike"
        hint = 'Declare the job in code, with @scheduler.job(at_start="boot")'
        raise InvalidTrigger(reason, field="cron", hint=hint)
    if name not in ALIASES or len(fields) > 1:
        hint = f"The known ones are {', '.join(ALIASES)}"
        raise InvalidTrigger(f"{' '.join(fields)!r} is not a known alias", field="cron", hint=hint)
    return ALIASES[name].split()
