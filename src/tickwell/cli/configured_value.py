"""One value of the configuration: read from a text, or checked against what TOML made of it."""

from __future__ import annotations

import types
from typing import Any, get_args, get_type_hints

from tickwell.domain.seconds import Seconds
from tickwell.domain.trigger.duration import read_duration
from tickwell.errors import InvalidSetting, InvalidTrigger
from tickwell.settings import Settings

_YES, _NO = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _kind(hint: Any) -> type:
    """What a value is when it is there."""
    if isinstance(hint, types.UnionType):
        return _kind(next(each for each in get_args(hint) if each is not types.NoneType))
    return hint if isinstance(hint, type) else tuple


#: Every name that can be configured, and its kind; a tuple is of texts.
KINDS: dict[str, type] = {
    **{name: _kind(hint) for name, hint in get_type_hints(Settings).items()},
    "server": str,
    "key": str,
}


def native(name: str, value: Any, origin: str) -> Any:
    """A value of TOML, which has kinds of its own."""
    kind = KINDS[name]
    if kind is Seconds:
        return _duration(value, origin)
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = tuple(value)
    if type(value) is not kind:
        raise _unfit(kind, value, origin)
    return value


def read(name: str, text: str, origin: str) -> Any:
    """A value of the environment, which is always a text; a list has commas."""
    kind, given = KINDS[name], text.strip()
    if kind is Seconds:
        return _duration(given, origin)
    try:
        if kind is bool:
            return _flag(given)
        if kind in {int, float}:
            return kind(given)
    except ValueError:
        raise _unfit(kind, text, origin) from None
    if kind is str:
        return given
    return tuple(part.strip() for part in given.split(",") if part.strip())


def in_seconds(text: str, origin: str) -> Any:
    """A value of a variable that counts seconds by the convention of others; a unit may follow."""
    given = text.strip()
    return _duration(f"{given}s" if given.replace(".", "", 1).isdecimal() else given, origin)


def _duration(value: Any, origin: str) -> Any:
    try:
        return Seconds(read_duration(value, field=origin) / 1000)
    except InvalidTrigger as error:
        raise InvalidSetting(error.reason, field=origin, hint=error.hint) from None


def _flag(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        raise ValueError(text)
    return text.lower() in _YES


def _unfit(kind: type, value: Any, origin: str) -> InvalidSetting:
    wanted = _WORDS.get(kind, "a list of texts")
    return InvalidSetting(f"{value!r} is not {wanted}", field=origin)
