"""Settings of a command: by option, environment, .env and tickwell.toml, the first one wins."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_type_hints

from tickwell.errors import InvalidSetting
from tickwell.settings import Settings

FILE, DOTENV, PREFIX = "tickwell.toml", ".env", "TICKWELL_"
_KINDS = get_type_hints(Settings)
_YES, _NO = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}
_LINE = re.compile(r"\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*")


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings, and where each one came from."""

    settings: Settings
    #: By name; what is missing has its default.
    origins: Mapping[str, str]


def configure(
    store: str | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> Configuration:
    """The settings of this process; an option for the store wins over all."""
    environ = os.environ if environ is None else environ
    folder = Path() if folder is None else folder
    found: dict[str, tuple[Any, str]] = {}
    for name, value, origin in (
        *_from_toml(folder / FILE),
        *_from_texts(_dotenv(folder / DOTENV), DOTENV),
        *_from_texts(environ, "environment"),
    ):
        found[name] = value, origin
    if store is not None and store != environ.get(f"{PREFIX}STORE"):
        found["store"] = store, "--store"
    settings = Settings(**{name: value for name, (value, _) in found.items()})
    return Configuration(settings, {name: origin for name, (_, origin) in found.items()})


def _from_toml(path: Path) -> Iterator[tuple[str, Any, str]]:
    import tomllib

    if not path.is_file():
        return
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"cannot be read: {error}", field=FILE) from None
    for name, value in document.items():
        if name not in _KINDS:
            near = get_close_matches(name, _KINDS, n=1)
            hint = f"Is it {near[0]}?" if near else "tickwell config show lists them all"
            raise InvalidSetting(f"{name!r} is no setting", field=FILE, hint=hint)
        yield name, _native(name, value), FILE


def _from_texts(texts: Mapping[str, str], origin: str) -> Iterator[tuple[str, Any, str]]:
    for field in fields(Settings):
        text = texts.get(f"{PREFIX}{field.name.upper()}")
        if text is not None:
            yield field.name, _read(field.name, text), origin


def _dotenv(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"cannot be read: {error}", field=DOTENV) from None
    found = (_LINE.fullmatch(line) for line in lines)
    return {each[1]: _unquoted(each[2]) for each in found if each}


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if is_quoted else text


def _native(name: str, value: Any) -> Any:
    """A value of TOML, which has kinds of its own."""
    kind = _KINDS[name]
    if kind is float and type(value) is int:
        return float(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = tuple(value)
    wanted = kind if isinstance(kind, type) else tuple
    if type(value) is not wanted:
        raise _unfit(name, value)
    return value


def _read(name: str, text: str) -> Any:
    """A value of the environment, which is always a text; a list has commas."""
    kind, given = _KINDS[name], text.strip()
    try:
        if kind is bool:
            return _flag(given)
        if kind in {int, float}:
            return kind(given)
    except ValueError:
        raise _unfit(name, text) from None
    if kind is str:
        return given
    return tuple(part.strip() for part in given.split(",") if part.strip())


def _flag(text: str) -> bool:
    if text.lower() not in _YES | _NO:
        raise ValueError(text)
    return text.lower() in _YES


def _unfit(name: str, value: Any) -> InvalidSetting:
    kind = _KINDS[name]
    words = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    wanted = words.get(kind, "a list of texts")
    return InvalidSetting(f"{value!r} is not {wanted}", field=name)
