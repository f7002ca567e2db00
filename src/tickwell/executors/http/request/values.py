"""The values that names in a template stand for, in one attempt."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, Protocol

from tickwell.clock import to_datetime
from tickwell.domain.execution import Claim


class Sealed(Exception):
    """This process lacks the server key that a secret is sealed with; another may have it."""


class Secrets(Protocol):
    """Gives a project's secrets."""

    async def get(self, project: str, names: Mapping[str, Collection[str]]) -> Mapping[str, str]:
        """Those that exist, by name; asked for with the hosts that each would be sent to.

        Raises `Unsendable` where a secret may not be sent to one of them, and `Sealed` where one
        cannot be opened here.
        """
        ...


class NoSecrets:
    """A process without secrets."""

    async def get(self, project: str, names: Mapping[str, Collection[str]]) -> Mapping[str, str]:
        return {}


#: Characters that templates may add in one attempt: a short template can name a large field often.
BUDGET = 1024 * 1024


class Unsendable(Exception):
    """Why no request can be made of this target and this payload; trying again changes nothing."""


class Values:
    """Looks names up, and counts what they bring."""

    __slots__ = ("_claim", "_secrets", "_spent", "_texts")

    def __init__(self, claim: Claim, secrets: Mapping[str, str]) -> None:
        self._claim = claim
        self._secrets = secrets
        self._spent = 0
        self._texts: dict[str, str] = {}

    def value(self, name: str) -> Any:
        """The value as it stands in JSON."""
        self.text(name)  # counted by its size, and known to be there
        return self._look_up(name)

    def text(self, name: str) -> str:
        """The value as text: JSON for what is none."""
        text = self._texts.get(name)
        if text is None:
            found = self._look_up(name)
            text = found if isinstance(found, str) else json.dumps(found, ensure_ascii=False)
            self._texts[name] = text
        self._spent += len(text)
        if self._spent > BUDGET:
            raise Unsendable(f"the values of its templates are more than {BUDGET} characters")
        return text

    def _look_up(self, name: str) -> Any:
        kind, _, path = name.partition(".")
        if kind == "secret":
            return self._secrets[path]
        if path:
            return _field(self._claim.payload, path)
        return _OF_CLAIM[name](self._claim)


def in_words(instant: int) -> str:
    """RFC 3339, in UTC, with milliseconds."""
    return f"{_to_the_second(instant // 1000)}.{instant % 1000:03}Z"


@lru_cache(maxsize=256)
def _to_the_second(second: int) -> str:
    # An eighth of what strftime takes; without the offset, +00:00.
    return to_datetime(second * 1000).isoformat(timespec="seconds")[:-6]


_OF_CLAIM: Mapping[str, Callable[[Claim], Any]] = {
    "execution_id": lambda claim: claim.id,
    "attempt": lambda claim: claim.attempt,
    "fire_time": lambda claim: in_words(claim.fire_time),
    "job_id": lambda claim: claim.job.id,
    "job_name": lambda claim: claim.job.name,
    "project": lambda claim: claim.job.project,
    "payload": lambda claim: claim.payload,
}


def _field(payload: Any, path: str) -> Any:
    found = payload
    for step in path.split("."):
        if isinstance(found, dict) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise Unsendable(f"the payload has no field {path!r}, which the target names")
    return found
