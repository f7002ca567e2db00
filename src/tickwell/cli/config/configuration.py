"""Settings of a command: by option, environment, .env and tickwell.toml, the first one wins."""

from __future__ import annotations

import os
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
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
    kind, raw = KINDS[name], text.strip()
    if kind is Seconds:
        return _duration(raw, origin)
    try:
        if kind is bool:
            return _flag(raw)
        if kind in {int, float}:
            return kind(raw)
    except ValueError:
        raise _unfit(kind, text, origin) from None
    if kind is str:
        return raw
    return tuple(part.strip() for part in raw.split(",") if part.strip())


def _counted(text: str, origin: str, unit: str) -> Any:
    """A value of a variable that counts so by the convention of others; a unit may follow."""
    raw = text.strip()
    return _duration(f"{raw}{unit}" if raw.replace(".", "", 1).isdecimal() else raw, origin)


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


FILE, DOTENV, PREFIX = "tickwell.toml", ".env", "TICKWELL_"
#: Names that many services share, and our settings that they mean.
CUSTOMARY = {
    "DATABASE_URL": "store",
    "REDIS_URL": "notify",
    "SCHEDULER_POLL_INTERVAL": "poll",
    "SCHEDULER_TICK_INTERVAL": "poll",
    "SCHEDULER_BATCH_SIZE": "batch",
    "MAX_CONCURRENT_JOBS": "capacity",
}
#: Those that have numbers without a unit, and what they count.
_UNITS = {"SCHEDULER_POLL_INTERVAL": "ms", "SCHEDULER_TICK_INTERVAL": "s"}
#: What a command needs to ask a server, which is no setting of a process that runs jobs.
REMOTE = ("server", "key")
#: Variables of ours that are no settings.
OTHERS = (
    *("TICKWELL_PROJECT", "TICKWELL_SECRET_KEY", "TICKWELL_SECRET_KEYS"),
    *("TICKWELL_OIDC_SECRET", "TICKWELL_COMPLETE", "TICKWELL_APP"),
)
_NEAR = 0.78
_URLS = (
    *("DATABASE_URL", "REDIS_URL", "TICKWELL_STORE", "TICKWELL_NOTIFY", "TICKWELL_SERVER"),
    "TICKWELL_BROKER",
)
_LINE = re.compile(r"\s*(?:export\s+)?(\w+)\s*=\s*(.*?)\s*")
Found = Iterator[tuple[str, Any, str]]


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings, and where each one came from."""

    settings: Settings
    #: By name; what is missing has its default.
    origins: Mapping[str, str]
    #: The server to ask instead of a store; empty: none.
    server: str
    #: What to show it.
    key: str

    def require_own_server(self) -> None:
        """Refuse to send a key of the person's own to a server that a file in the folder names.

        The folder may be untrusted, an unpacked archive or a clone: its file must not decide
        where a key goes that it does not have.
        """
        server, key = self.origins.get("server", ""), self.origins.get("key", "")
        if key and _is_of_folder(server) and not _is_of_folder(key):
            raise InvalidSetting(
                "names the server, but the API key comes from another source",
                field=server,
                hint="Pass --server or export TICKWELL_SERVER if the key is meant for it",
            )

    @contextmanager
    def blaming(self) -> Iterator[None]:
        """A value that is refused only where it is used is named by its place too."""
        try:
            yield
        except InvalidSetting as error:
            raise _placed(error, self.origins) from error


def configure(
    store: str | None = None,
    environ: Mapping[str, str] | None = None,
    folder: Path | None = None,
    *,
    server: str | None = None,
    key: str | None = None,
) -> Configuration:
    """The settings of this process; an option wins over all, and a store by option over a server.

    An option that has the value of its variable is taken for the variable.
    """
    environ = os.environ if environ is None else environ
    folder = Path() if folder is None else folder
    found: dict[str, tuple[Any, str]] = {}
    for name, value, origin in (
        *_from_toml(folder / FILE),
        *_from_texts(_dotenv(folder / DOTENV), f"in {DOTENV}"),
        *_from_texts(environ, "in the environment"),
    ):
        found[name] = value, origin
    options = {"store": store, "server": server, "key": key}
    for name, raw in options.items():
        if raw is not None and raw != environ.get(f"{PREFIX}{name.upper()}"):
            found[name] = raw, "--api-key" if name == "key" else f"--{name}"
    _choose(found)
    origins = {name: origin for name, (_, origin) in found.items()}
    remote = {name: found.pop(name)[0] for name in REMOTE if name in found}
    values = {name: value for name, (value, _) in found.items()}
    return Configuration(
        _settings(values, origins), origins, remote.get("server", ""), remote.get("key", "")
    )


def _choose(found: dict[str, tuple[Any, str]]) -> None:
    """A store that was named for this command alone is not somewhere behind a server."""
    if found.get("store", ("", ""))[1] != "--store" or "server" not in found:
        return
    if found["server"][1] == "--server":
        raise InvalidSetting("--store and --server are mutually exclusive", hint="Pass one of them")
    del found["server"]


def _is_of_folder(origin: str) -> bool:
    return origin.endswith((f"in {DOTENV}", f"in {FILE}"))


def _settings(values: Mapping[str, Any], origins: Mapping[str, str]) -> Settings:
    try:
        return Settings(**values)
    except InvalidSetting as error:
        raise _placed(error, origins) from None


def _placed(error: InvalidSetting, origins: Mapping[str, str]) -> InvalidSetting:
    """The same, with the place that the value came from, and what it does not go with."""
    sources = [origins[name] for name in (error.field, error.beside) if name in origins]
    if not sources:
        return error
    by_default = [] if error.field in origins else [f"{error.field} by default"]
    origin = ", ".join([*by_default, *sources])
    return InvalidSetting(error.reason, field=origin, hint=error.hint)


def _from_toml(path: Path) -> Found:
    import tomllib

    if not path.is_file():
        return
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidSetting(f"cannot be read: {error}", field=FILE) from None
    for name, value in document.items():
        if name not in KINDS:
            near = get_close_matches(name, KINDS, n=1)
            hint = f"Is it {near[0]}?" if near else "tickwell config show lists them all"
            raise InvalidSetting(f"{name!r} is not a setting", field=FILE, hint=hint)
        origin = f"{name} in {FILE}"
        yield name, native(name, value, origin), origin


def _from_texts(texts: Mapping[str, str], where: str) -> Found:
    ours = {f"{PREFIX}{name.upper()}": name for name in KINDS}
    _refuse_misspelt(texts, [*ours, *OTHERS], where)
    for variable, name in {**CUSTOMARY, **ours}.items():
        text = texts.get(variable)
        # A URL that is there and empty is how containers say that there is none.
        if text or (text is not None and variable not in _URLS):
            origin = f"{variable} {where}"
            unit = _UNITS.get(variable)
            value = _counted(text, origin, unit) if unit else read(name, text, origin)
            yield name, _without_driver(value) if variable == "DATABASE_URL" else value, origin


def _refuse_misspelt(texts: Mapping[str, str], known: Sequence[str], where: str) -> None:
    """A variable that is nearly one of ours; others may begin like ours and be somebody else's."""
    names = [each.removeprefix(PREFIX) for each in known]
    for variable in texts:
        if not variable.startswith(PREFIX) or variable in known:
            continue
        near = get_close_matches(variable.removeprefix(PREFIX), names, n=1, cutoff=_NEAR)
        if near:
            origin = f"{variable} {where}"
            raise InvalidSetting("not a setting", field=origin, hint=f"Is it {PREFIX}{near[0]}?")


def _without_driver(url: str) -> str:
    """As others write it, mysql+pymysql://…, the scheme also names a library of theirs."""
    scheme, mark, rest = url.partition("://")
    if scheme == "mongodb+srv":
        return url
    return scheme.partition("+")[0] + mark + rest


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
    """Without its quotes, and without what is said after it."""
    quoted = re.fullmatch(r"""(["'])(.*?)\1(?:\s+#.*)?""", text)
    return quoted[2] if quoted else re.sub(r"\s+#.*", "", text)
