"""What people give for a field, made into what is kept."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

from tickwell.domain.naming import is_name
from tickwell.domain.trigger.duration import parse_duration
from tickwell.errors import InvalidInput, InvalidJob, InvalidTrigger

#: No count is larger: every store keeps it.
MOST = 2**31 - 1


def check_each(*checks: Callable[[], None]) -> None:
    """Check a record; if one check fails, all are made, so that every mistake is named at once."""
    try:
        for check in checks:
            check()
    except InvalidInput:
        wrong = [error for check in checks if (error := _failure(check))]
        raise wrong[0].along_with(wrong[1:]) from None


def _failure(check: Callable[[], None]) -> InvalidInput | None:
    try:
        check()
    except InvalidInput as error:
        return error
    return None


def make_durations(record: Any, at: str, *names: str) -> None:
    """Durations come as a timedelta, or as people write them: "5s", "1h30m"."""
    for name in names:
        value = getattr(record, name)
        if value is None and _may_be_left_out(record, name):
            continue
        try:
            millis = parse_duration(value)
        except InvalidTrigger as error:
            raise InvalidJob(error.reason, field=_path(at, name), hint=error.hint) from None
        object.__setattr__(record, name, millis)


def make_choice(record: Any, at: str, name: str, kind: type[StrEnum]) -> None:
    """A word of an enumeration comes as the member or as its text."""
    value = getattr(record, name)
    if isinstance(value, kind):
        return
    words = ", ".join(kind)
    try:
        object.__setattr__(record, name, kind(value))
    except ValueError:
        raise InvalidJob(f"{value!r} is not one of {words}", field=_path(at, name)) from None


def require_whole(record: Any, at: str, *names: str) -> None:
    """Counts are whole numbers."""
    for name in names:
        value = getattr(record, name)
        if value is None and _may_be_left_out(record, name):
            continue
        if type(value) is not int or abs(value) > MOST:
            raise InvalidJob(f"{value!r} is not a whole number in range", field=_path(at, name))


def require_numbers(record: Any, at: str, *names: str) -> None:
    """Shares and factors are numbers."""
    for name in names:
        value = getattr(record, name)
        if type(value) not in {int, float}:
            raise InvalidJob(f"{value!r} is not a number", field=_path(at, name))


def require_name(record: Any, name: str) -> None:
    """A name is short and printable."""
    value = getattr(record, name)
    if not isinstance(value, str) or not is_name(value):
        hint = ""
        if isinstance(value, str) and len(value) > 255:
            hint = f"Choose a shorter one: it has {len(value)}"
        elif isinstance(value, str) and value.isspace():
            hint = "Spaces alone are no name"
        raise InvalidJob("1 to 255 printable characters are needed", field=name, hint=hint)


def require_text(record: Any, name: str) -> None:
    """Free text; what is looked up by is short."""
    value, longest = getattr(record, name), 1_000_000 if name == "description" else 255
    if value is not None and (not isinstance(value, str) or len(value) > longest):
        raise InvalidJob(f"a text of {longest} characters at most is needed", field=name)
    _refuse_halves(value or "", name)


def make_texts(record: Any, name: str) -> None:
    """A few texts come as a tuple or a list, each once; a text alone is taken for neither."""
    values = getattr(record, name)
    if not isinstance(values, tuple | list):
        hint = f'For example {name}=("nightly",)'
        raise InvalidJob(f"{values!r} is not a tuple of texts", field=name, hint=hint)
    for value in values:
        if not isinstance(value, str):
            raise InvalidJob(f"{value!r} is not a text", field=name)
        _refuse_halves(value, name)
    object.__setattr__(record, name, tuple(dict.fromkeys(values)))


def require_target(record: Any) -> None:
    """A target says what a worker must be able to do."""
    if not callable(getattr(record.target, "ability_in", None)):
        raise InvalidJob(
            f"{record.target!r} is not a target",
            field="target",
            hint='For example Http("https://example.com/hook") or Call("report")',
        )


def require_kind(record: Any, name: str, kind: type) -> None:
    """A policy is an object of its class."""
    value = getattr(record, name)
    if not isinstance(value, kind):
        raise InvalidJob(
            f"{value!r} is not a {kind.__name__}",
            field=name,
            hint=f"For example {name}={kind.__name__}(…)",
        )


def check_key(key: object) -> None:
    """What makes requests one is short and printable; there may be none."""
    if key is None or (isinstance(key, str) and 0 < len(key) <= 255 and key.isprintable()):
        return
    raise InvalidInput("1 to 255 printable characters are needed", field="key")


def _may_be_left_out(record: Any, name: str) -> bool:
    return record.__dataclass_fields__[name].default is None


def _path(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _refuse_halves(text: str, field: str) -> None:
    """Half of a character can be written nowhere."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidJob("contains an unpaired surrogate", field=field) from None
